"""``biped run``: simulate an experiment, save it, draw it, report it."""

from argparse import Namespace
from pathlib import Path

from biped.errors import IntegrationError, RunInterrupted
from biped.runs.run import STATE, SUMMARY, TABLE, Run
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.registry import experiment_named
from experiments.cli.failures import INTERRUPTED, UNSOLVED
from experiments.cli.main import announce, fail
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.cli.settings import changes_of


def main(options: Namespace) -> int:
    """Run an experiment; the exit status."""
    experiment = experiment_named(options.experiment)
    changes = changes_of(experiment, options)
    duration = experiment.build(changes).duration
    folder = writable_folder(options.out or Path("results") / experiment.name)
    try:
        with ProgressBar(duration) as bar:
            run = experiment.run(changes, progress=bar, announce=announce)
    except RunInterrupted as stopped:
        return _keep(stopped.run, folder, experiment, INTERRUPTED, "interrupted")
    except IntegrationError as error:
        if error.run is None:
            raise
        return _keep(error.run, folder, experiment, UNSOLVED, f"error: {error}")
    finish(run, experiment, folder, f"{experiment.name}: {experiment.title}", draw=not options.no_figures)
    return 0


def finish(run: Run, experiment: Experiment, folder: Path, title: str, *, draw: bool) -> None:
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


def _save(run: Run, folder: Path, experiment: Experiment) -> list[Path]:
    """Save the run, and remove the figures of the run that was there before."""
    from experiments.catalogue.figure_names import remove_figures

    remove_figures(folder, experiment.figures)
    run.save(folder)
    return [folder / name for name in (TABLE, SUMMARY, STATE)]


def _keep(run: Run, folder: Path, experiment: Experiment, status: int, what: str) -> int:
    """Save what was computed of a run that did not get to its end."""
    _save(run, folder, experiment)
    return fail(f"{what}; what was computed up to {run.state.time:.4g} s is in {folder}", status, "")
