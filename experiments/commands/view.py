"""``biped view``: saved runs in three dimensions, in the browser."""

import argparse
import math
import webbrowser
from collections.abc import Sequence
from typing import TYPE_CHECKING

from experiments.cli.failures import INTERRUPTED
from experiments.cli.main import Parser, announce, fail

if TYPE_CHECKING:
    from experiments.visualization.viewer.page import Page

_DESCRIPTION = """\
Show saved runs in three dimensions, in the browser: the human (or any other model), the floor, what is thrown, pushes,
contact forces coloured by the state of their contact, centres of mass and pressure, and the support polygon; with time
controls, and plots in step. Of several runs the first is solid; the others are laid over it as ghosts in colours of
their own."""

_EXAMPLES = """\
examples:
  biped run thrown-block
  biped view results/thrown-block                  play it
  biped view results/thrown-block --speed 0.1 --start 0.05
                                                   the block's hit in slow motion
  biped view results/mine results/yours            one laid over the other
  biped view results/mine results/yours --side-by-side 1
                                                   or beside it, 1 m apart
  biped view results/thrown-block --host 0.0.0.0 --port 9000 --no-open
                                                   for browsers on other machines
  biped view results/thrown-block --measure        how many pictures a second get through

In the page: drag to turn, scroll to come closer, right-drag to move; space bar plays and pauses, the arrow keys step by
a recorded row. Ctrl-C here ends it. Whoever reaches the address of --host may play and scrub, for all.
Exit status: 0 done (also by Ctrl-C), 2 bad input, or a port that is taken, 130 interrupted while it measured.
"""


def parser() -> argparse.ArgumentParser:
    """The options of ``biped view``."""
    own = Parser(
        prog="biped view",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    own.add_argument("runs", metavar="RUN", nargs="+", help="folder of a saved run; several are laid over one another")
    own.add_argument("--side-by-side", metavar="M", type=float, default=0.0, help="metres from one run to the next")
    own.add_argument("--speed", metavar="X", type=float, default=1.0, help="seconds of the run in a second (1)")
    own.add_argument("--start", metavar="S", type=float, help="time to start at (default: the first row)")
    own.add_argument("--paused", action="store_true", help="do not play yet")
    own.add_argument("--rate", metavar="HZ", type=float, default=60.0, help="pictures a second (60)")
    own.add_argument("--port", metavar="N", type=int, help="port to listen at (8080, or the next one that is free)")
    own.add_argument("--host", default="127.0.0.1", help="address to listen at (127.0.0.1: this machine only)")
    own.add_argument("--no-open", action="store_true", help="do not open a browser")
    own.add_argument("--measure", action="store_true", help="measure pictures a second in a headless Chromium, and end")
    return own


def main(argv: Sequence[str]) -> int:
    """Do what the command line after ``view`` says; the exit status."""
    options = parser().parse_args(argv)
    _check(options)
    from biped.extras import need
    from experiments.visualization.viewer.loaded_runs import cast_of
    from experiments.visualization.viewer.page import Page
    from experiments.visualization.viewer.playback import Transport
    from experiments.visualization.viewer.serve import serving, url_of

    need("viser", "websockets")
    if options.measure:
        from experiments.visualization.viewer.endings import cleaning_up_when_told
        from experiments.visualization.viewer.measure import find_browser, measure

        find_browser()
    roles = cast_of(options.runs)
    begins, ends = min(role.film.begins for role in roles), max(role.film.ends for role in roles)
    transport = Transport(begins, ends, options.speed, playing=not options.paused or options.measure)
    if options.start is not None:
        if not begins <= options.start <= ends:
            _refuse(f"--start {options.start:g}: it must be a time of the runs, which go from {begins:g} to {ends:g} s")
        transport.seek(options.start)
    with serving(options.host, options.port) as server:
        page = Page(server, roles, transport, options.side_by_side)
        if options.measure:
            try:
                with cleaning_up_when_told():
                    for line in measure(page, options.rate):
                        print(line)
            except KeyboardInterrupt:
                return fail("interrupted before all was measured", INTERRUPTED, "")
            return 0
        try:
            _play(page, url_of(server), options)
        except KeyboardInterrupt:
            announce("ended")
    return 0


def _play(page: "Page", url: str, options: argparse.Namespace) -> None:
    announce(f"at {url} until Ctrl-C")
    if not options.no_open and not webbrowser.open(url):
        announce("no browser could be opened: open that address in one")
    page.run(options.rate)


def _check(options: argparse.Namespace) -> None:
    for name, least in (("speed", 0.0), ("rate", 0.0)):
        value = getattr(options, name)
        if not (math.isfinite(value) and value > least):
            _refuse(f"--{name} {value:g}: it must be a number above zero")
    if not math.isfinite(options.side_by_side):
        _refuse(f"--side-by-side {options.side_by_side:g}: it must be a number of metres")


def _refuse(message: str) -> None:
    from biped.errors import InputError

    raise InputError(message)
