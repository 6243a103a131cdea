"""``biped live``: an experiment in real time, in the browser."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import InputError
from biped.inputs.extras import need
from experiments.cli import settings as cli
from experiments.cli.main import Parser, announce

if TYPE_CHECKING:
    from experiments.visualization.live.loop import Loop
    from experiments.visualization.live.settings import Settings

_DESCRIPTION = """\
Run an experiment in real time, in the browser: change gains while the human balances, push it, throw blocks at it. The
experiment's disturbances act, too, and the run does not end."""

_EXAMPLES = """\
examples:
  biped live balance
  biped live thrown-block --gains gains-push.toml
  biped live balance --engine mujoco
  biped live balance --host 0.0.0.0 --port 9000 --no-open         for browsers on other machines

Space pauses, R restarts, P pushes, T throws a block, Ctrl-drag pulls a body. Ctrl-C ends the server. Anyone with the
whole address, including its token, controls the run and can save gains and runs.
"""


def parser() -> Parser:
    command = Parser("biped live", _DESCRIPTION, _EXAMPLES, page="live")
    cli.add_experiment(command)
    cli.add_settings(command, "integrator")
    command.option("--save-gains", "FILE", "file for gains that the page saves (gains.toml)")
    command.option("--out", "FOLDER", "folder for runs that the page saves (results/live-EXPERIMENT)")
    cli.add_serving_options(command)
    return command


def main(options: Namespace) -> int:
    if options.save_gains is not None and Path(options.save_gains).name in ("", ".."):
        raise InputError(f"--save-gains {options.save_gains}: it must be the name of a file")
    need("viser", "trimesh", "websockets")
    experiment = cli.experiment_of(options)
    from experiments.visualization.live.loop import Loop
    from experiments.visualization.live.settings import Settings

    settings = Settings(experiment, cli.changes_of(experiment, options))
    loop = Loop(settings.build({}), announce, settings.build)
    if options.save_gains is not None and loop.gains is None:
        raise InputError(f"--save-gains {options.save_gains}: {experiment.name} has no gains to save; leave it out")
    return _watch(loop, settings, options)


def _watch(loop: "Loop", settings: "Settings", options: Namespace) -> int:
    from experiments.visualization.live.page import Page
    from experiments.visualization.live.runner import Runner
    from experiments.visualization.viewer.serve import serving, url_of

    experiment = settings.experiment
    title, runs = f"{experiment.name}: {experiment.title}", options.out or f"results/live-{experiment.name}"
    with serving(options.host, options.port) as server:
        page = Page(server, loop, title, options.save_gains or "gains.toml", settings, runs)
        page.runner = Runner(loop, page.show, page.complain)
        cli.open_browser(url_of(server), options)
        try:
            page.runner.run()
        except KeyboardInterrupt:
            announce("ended")
    return 0
