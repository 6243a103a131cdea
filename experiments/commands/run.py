"""``biped run``: simulate an experiment, save it, draw it, report it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.cli.failures import INTERRUPTED, UNSOLVED
from experiments.cli.main import Parser, announce, fail
from experiments.cli.settings import (
    SHORTHANDS,
    add_experiment,
    add_metric_files,
    add_settings,
    changes_of,
    experiment_of,
)

if TYPE_CHECKING:
    from biped.runs.run import Run
    from experiments.catalogue.experiment import Experiment

_EXAMPLES = """\
examples:
  biped run stand-tilted
  biped run thrown-block --duration 5 --no-figures
  biped run thrown-block --set floor.mu_s=0.5 --set floor.mu_d=0.4
  biped run thrown-block --set controller.kp_position=50          one gain for x, y and z
  biped run thrown-block --set controller.kp_position=50,50,200   one for each
  biped run thrown-block --seed 7 --set initial.jitter=0.02       from scattered joint angles
  biped run box-drop --set initial.velocity=3,0,0

A file of gains holds a table [controller] with kp_position, kd_position, kp_orientation, kd_orientation;
what it leaves out keeps the published value, and --set overrides it.

The output folder gets run.parquet (one row per recorded step), summary.json, state.npz and the figures.
Exit status: 0 done (also where the human fell), 1 a step had no solution or the run is unreliable (a check of itself
failed), 2 bad input, 130 interrupted.
"""


def parser() -> Parser:
    own = Parser("biped run", "Run an experiment.", _EXAMPLES)
    add_experiment(own)
    add_settings(own, *SHORTHANDS)
    add_metric_files(own)
    own.add_out("results/EXPERIMENT")
    return own


def main(argv: Sequence[str]) -> int:
    options = parser().parse_args(argv)
    from biped.errors import IntegrationError, RunInterrupted
    from biped.runs.verdict import UNRELIABLE
    from experiments.cli.output import writable_folder
    from experiments.cli.progress import ProgressBar

    experiment = experiment_of(options)
    changes = changes_of(experiment, options)
    duration = experiment.build(changes).duration
    folder = writable_folder(options.out or Path("results") / experiment.name)
    try:
        with ProgressBar(duration) as bar:
            run = experiment.run(changes, progress=bar, announce=announce)
    except RunInterrupted as stopped:
        return _save_part(stopped.run, folder, experiment, INTERRUPTED, "interrupted")
    except IntegrationError as error:
        if error.run is None:
            raise
        return _save_part(error.run, folder, experiment, UNSOLVED, f"error: {error}")
    finish(run, experiment, folder, f"{experiment.name}: {experiment.title}", draw=not options.no_figures)
    return UNSOLVED if run.summary["verdict"] == UNRELIABLE else 0


def finish(run: "Run", experiment: "Experiment", folder: Path, title: str, *, draw: bool) -> None:
    """Save, draw and report; the report comes even where the files do not."""
    from experiments.cli.terminal import print_report

    files: list[Path] = []
    try:
        files += _save(run, folder, experiment)
        if draw:
            from experiments.visualization.figures.sheets import draw_figures

            files += draw_figures(run, folder, run.set_point, experiment.figures, title)
    finally:
        print_report(run, title, files)


def _save(run: "Run", folder: Path, experiment: "Experiment") -> list[Path]:
    """Save the run, and remove the figures of the run that was there before."""
    from biped.runs.run import MODEL, STATE, SUMMARY, TABLE
    from experiments.catalogue.figure_names import remove_figures
    from experiments.visualization.saved_runs import save_run

    remove_figures(folder, experiment.figures)
    save_run(run, folder)
    return [folder / name for name in (TABLE, SUMMARY, STATE, MODEL)]


def _save_part(run: "Run", folder: Path, experiment: "Experiment", status: int, what: str) -> int:
    _save(run, folder, experiment)
    return fail(f"{what}; what was computed up to {run.state.time:.4g} s is in {folder}", status, "")
