"""``biped live``: an experiment in real time, in the browser."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.errors import InputError
from biped.inputs.extras import need
from experiments.cli.main import Parser, announce, interrupted
from experiments.cli.settings import (
    add_experiment,
    add_serving_options,
    add_settings,
    changes_of,
    check_positive,
    experiment_of,
    open_browser,
)

if TYPE_CHECKING:
    from experiments.visualization.live.loop import Loop
    from experiments.visualization.live.settings import Settings

_DESCRIPTION = """\
Run an experiment in real time, in the browser: turn its gains while it balances, push it, throw blocks at it. What the
experiment sets itself (a moving floor, noise, a push at a time, ...) acts too; it goes on without end."""

_EXAMPLES = """\
examples:
  biped live balance
  biped live thrown-block --gains gains-push.toml
  biped live balance --set platform.motion=sum-of-sines --set platform.duration=1000
  biped live balance --host 0.0.0.0 --port 9000 --no-open
                                                   for browsers on other machines
  biped live balance --engine mujoco               the same in another engine
  biped live balance --measure 10                  whether this machine keeps up: nobody watches, 10 s

In the page: space pauses and goes on, R restarts, P pushes, T throws a block, Ctrl-drag pulls at a body. What falls
goes on limp. "Save gains" writes what `biped run EXPERIMENT --gains FILE` reads, only into the folder of --save-gains,
"Save run" what `biped view` opens. Ctrl-C here ends it.
Whoever has the whole address, which ends in a random token, controls the run, and may save gains and runs.
Exit status: 0 done (also by Ctrl-C), 2 bad input, or a port that is taken, 130 interrupted while it measured.
"""


def parser() -> Parser:
    own = Parser("biped live", _DESCRIPTION, _EXAMPLES)
    add_experiment(own)
    add_settings(own, "integrator")
    own.option("--save-gains", "FILE", "file that the page saves gains to (gains.toml)")
    own.option("--out", "FOLDER", "folder that the page saves runs in (results/live-EXPERIMENT)")
    add_serving_options(own)
    own.option("--measure", "S", "run for S seconds, say how well it keeps up, and end", float)
    return own


def main(options: Namespace) -> int:
    _check(options)
    need("viser", "trimesh", "websockets")
    experiment = experiment_of(options)
    from experiments.visualization.live.loop import Loop
    from experiments.visualization.live.settings import Settings

    settings = Settings(experiment, changes_of(experiment, options))
    loop = Loop(settings.build({}), announce, settings.build)
    if options.save_gains is not None and loop.gains is None:
        raise InputError(f"--save-gains {options.save_gains}: {experiment.name} has no gains that could be saved")
    return _watch(loop, settings, options)


def _check(options: Namespace) -> None:
    check_positive(options, "measure", what="number of seconds")
    if options.save_gains is not None and Path(options.save_gains).name in ("", ".."):
        raise InputError(f"--save-gains {options.save_gains}: it must be the name of a file")


def _watch(loop: "Loop", settings: "Settings", options: Namespace) -> int:
    from experiments.visualization.live.page import Page
    from experiments.visualization.live.runner import Runner
    from experiments.visualization.viewer.serve import serving, url_of

    experiment = settings.experiment
    title, runs = f"{experiment.name}: {experiment.title}", options.out or f"results/live-{experiment.name}"
    with serving(options.host, options.port, f"{experiment.name}, live") as server:
        page = Page(server, loop, title, options.save_gains or "gains.toml", settings, runs)
        page.runner = Runner(loop, page.show, page.complain)
        if options.measure is not None:
            try:
                print(measured(page.runner, options.measure))
            except KeyboardInterrupt:
                return interrupted(" before it was measured")
            return 0
        open_browser(url_of(server), options)
        try:
            page.runner.run()
        except KeyboardInterrupt:
            announce("ended")
    return 0


def measured(runner: Any, seconds: float) -> str:
    """One line about how well a runner keeps up, over so many seconds after the first one."""
    runner.run(1.0)
    reading = runner.measure(seconds)
    lost = f", {reading.dropped:.2f} s given up" if reading.dropped else ""
    idle, core = 100.0 * reading.idle, 100.0 * reading.core
    return f"real time × {reading.factor:.3f}, idle {idle:.1f} % of {seconds:g} s, {core:.1f} % of a core used{lost}"
