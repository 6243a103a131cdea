"""``biped view``: saved runs in three dimensions, in the browser."""

import math
from argparse import Namespace

from biped.errors import InputError
from biped.inputs.extras import need
from biped.inputs.modules import saved_names
from experiments.cli.main import Parser, announce
from experiments.cli.settings import add_after, add_serving_options, check_positive, open_browser

_DESCRIPTION = """\
Show saved runs in three dimensions, in the browser: bodies, floor, pushes, contact forces, centres of mass and
pressure, and the support polygon, with plots. The first run is drawn solid, others as transparent ghosts."""

_EXAMPLES = """\
examples:
  biped view results/thrown-block --speed 0.1 --start 0.05        the block's hit in slow motion
  biped view results/mine results/yours --side-by-side 1          two runs, 1 m apart
  biped view results/subject --record subject.csv                 with a measured record in the plots
  biped view results/thrown-block --host 0.0.0.0 --no-open        for browsers on other machines

Drag turns, scroll zooms, space pauses, arrow keys move by one recorded row. Ctrl-C ends the server. Anyone with the
whole address, including its token, can control the page.
"""


def parser() -> Parser:
    command = Parser("biped view", _DESCRIPTION, _EXAMPLES, page="view")
    command.add_argument("runs", metavar="RUN", nargs="+", help="folder of a saved run; several are overlaid")
    add_after(command)
    command.option("--record", "FILE", "record to plot over the first run: CSV, C3D, ..., or TOML with [[record]]")
    command.option("--side-by-side", "M", "distance between neighbouring runs, in metres", 0.0)
    command.option("--speed", "X", "playback speed: simulated seconds per second", 1.0)
    command.option("--start", "S", "time of the run at which the playback starts (default: the first row)", float)
    command.add_trust()
    command.switch("--paused", "start paused")
    command.option("--rate", "HZ", "frames per second", 60.0)
    add_serving_options(command)
    return command


@saved_names()
def main(options: Namespace) -> int:
    _check(options)
    need("viser", "trimesh", "websockets")
    from experiments.visualization.viewer.loaded_runs import load_runs

    runs = load_runs(options.runs, options.after, options.record)
    from experiments.visualization.viewer.page import Page
    from experiments.visualization.viewer.playback import Playback
    from experiments.visualization.viewer.serve import serving, url_of

    begins, ends = min(r.trajectory.begins for r in runs), max(r.trajectory.ends for r in runs)
    playback = Playback(begins, ends, options.speed, playing=not options.paused)
    if options.start is not None:
        if not begins <= options.start <= ends:
            raise InputError(
                f"--start {options.start:g}: it must be a time within the runs, from {begins:g} to {ends:g} s"
            )
        playback.seek(options.start)
    with serving(options.host, options.port) as server:
        page = Page(server, runs, playback, options.side_by_side)
        try:
            open_browser(url_of(server), options)
            page.run(options.rate)
        except KeyboardInterrupt:
            announce("ended")
    return 0


def _check(options: Namespace) -> None:
    check_positive(options, "after", what="number of seconds")
    check_positive(options, "speed", "rate")
    if not math.isfinite(options.side_by_side):
        raise InputError(f"--side-by-side {options.side_by_side:g}: it must be a distance in metres")
