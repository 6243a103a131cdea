"""``biped run``: simulate an experiment, save it, draw it, report it."""

import logging
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from biped.errors import IntegrationError, RunInterrupted
from biped.runs.verdict import UNRELIABLE
from experiments.cli import settings
from experiments.cli.failures import INTERRUPTED, UNSOLVED
from experiments.cli.main import Parser, announce, fail, interrupted
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.reply import reply
from experiments.lookup.figure_names import remove_figures

if TYPE_CHECKING:
    from biped.runs.run import Run
    from experiments.catalogue.experiment import Experiment

_log = logging.getLogger("biped")

_EXAMPLES = """\
examples:
  biped run thrown-block --duration 5 --no-figures
  biped run balance --set push.impulse=8 --set push.azimuth=90deg -v
  biped run thrown-block --set controller.kp_position=50,50,200
  biped run thrown-block --seed 7 --set initial.jitter=0.02       from random joint angles
  biped run balance --set push.impulse=12 --check                 compared with a run at half the time step

A fall is a result (exit status 0). Exit status 1: a time step had no solution, or a check of the run failed.
"""


def parser() -> Parser:
    command = Parser("biped run", "Simulate, save, draw and report an experiment.", _EXAMPLES, page="run-an-experiment")
    settings.add_experiment(command)
    settings.add_settings(command, *settings.SHORTHANDS)
    settings.add_metric_files(command)
    command.switch("--check", "repeat the run with half the time step, and compare")
    settings.add_after(command)
    command.add_out("results/EXPERIMENT")
    command.add_verbose()
    command.add_forms()
    command.add_figure_look()
    return command


def main(options: Namespace) -> int:
    settings.check_positive(options, "after", what="number of seconds")
    from biped.simulation.collapse import collapse, has_fallen
    from experiments.catalogue.parameters.disturbances import idle
    from experiments.commands.half_step import check_step

    experiment = settings.experiment_of(options)
    changes = settings.changes_of(experiment, options)
    scene = experiment.build(changes)
    for sentence in idle(experiment.values(changes), changes):
        _log.warning("biped: %s", sentence)
    folder = writable_folder(options.out or Path("results") / experiment.name)
    try:
        with ProgressBar(scene.duration) as bar:
            run = experiment.run(changes, progress=bar, announce=announce)
    except RunInterrupted as stopped:
        return _save_part(stopped.run, folder, INTERRUPTED, "interrupted")
    except IntegrationError as error:
        if error.run is None:
            raise
        return _save_part(error.run, folder, UNSOLVED, f"error: {error}")
    if options.check:
        with ProgressBar(scene.duration) as bar, suppress(RunInterrupted):  # the run so far is available
            check_step(experiment, changes, run, progress=bar, announce=announce)
    if options.after is not None and has_fallen(run):
        run.after = collapse(scene, options.after)
    status = finish(run, experiment, folder, experiment.name, draw=not options.no_figures, verbose=options.verbose)
    return status or (UNSOLVED if run.summary["verdict"] == UNRELIABLE else 0)


def finish(run: "Run", experiment: "Experiment", folder: Path, whose: str, *, draw: bool, verbose: bool = False) -> int:
    """Save, draw and report a run of the experiment or trial ``whose``; return the exit status.

    The report is printed even if files cannot be written.
    """
    from experiments.visualization.report.run_facts import print_report

    files: list[Path] = []
    replaced = saved_at(folder)
    try:
        files += save(run, folder)
        if draw:
            from experiments.visualization.figures.sheets import draw_figures

            files += draw_figures(run, folder, experiment.figures, whose)
    except KeyboardInterrupt:
        if not files:
            raise
        return interrupted(f" while figures were drawn; the run is in {folder}")
    finally:
        answer(run, folder, files)
        title = f"{whose}: {experiment.title}" if whose == experiment.name else whose
        print_report(run, title, files, replaced, verbose=verbose)
    return 0


def answer(run: "Run", folder: Path, files: Sequence[Path]) -> None:
    """Reply with the saved summary and its files."""
    reply(run.to_json() | {"folder": folder, "files": [file.name for file in files]})


def saved_at(folder: Path) -> str:
    """Return the time when the run in a folder was saved; empty if there is none."""
    from biped.runs.run import SUMMARY

    if not (folder / SUMMARY).is_file():
        return ""
    return datetime.fromtimestamp((folder / SUMMARY).stat().st_mtime).strftime("%Y-%m-%d %H:%M")


def save(run: "Run", folder: Path) -> list[Path]:
    """Save the run, and remove the figures of an earlier run."""
    from biped.runs.run import MODEL, STATE, SUMMARY, TABLE
    from experiments.visualization.viewer.saved_runs import save_run

    remove_figures(folder)
    save_run(run, folder)
    return [folder / name for name in (TABLE, SUMMARY, STATE, MODEL)]


def _save_part(run: "Run", folder: Path, status: int, what: str) -> int:
    answer(run, folder, save(run, folder))
    return fail(f"{what}; what was computed up to {run.state.time:.4g} s is in {folder}", status, "")
