"""``biped run``: simulate an experiment, save it, draw it, report it."""

from argparse import Namespace
from pathlib import Path

from biped.errors import InputError, IntegrationError, RunInterrupted
from biped.run import STATE, SUMMARY, TABLE, Run
from experiments.cli.failures import INTERRUPTED, UNSOLVED
from experiments.cli.main import announce, fail
from experiments.cli.output import writable_folder
from experiments.cli.progress import ProgressBar
from experiments.experiment import Experiment
from experiments.parameters.parameter import Value
from experiments.registry import experiment_named

#: Options that are short for ``--set`` of a parameter.
SHORTHANDS = {
    "duration": "run.duration",
    "step": "run.step",
    "integrator": "integrator.name",
    "seed": "initial.seed",
}


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


def changes_of(experiment: Experiment, options: Namespace) -> dict[str, Value]:
    """The values that differ from the published ones: the file of gains, then the options, then ``--set``.

    Raises:
        InputError: a name or a value is wrong.
        OSError: the file of gains cannot be read.
    """
    changes: dict[str, Value] = {}
    if options.gains is not None:
        changes |= _gains(experiment, options.gains)
    texts = {name: getattr(options, short) for short, name in SHORTHANDS.items() if getattr(options, short) is not None}
    for assignment in options.assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"--set {assignment}: it must be NAME=VALUE, such as --set floor.mu_s=0.5")
        texts[name.strip()] = text
    return changes | experiment.parse(texts)


def _gains(experiment: Experiment, file: str) -> dict[str, Value]:
    from controllers.gains import read_gains

    if not any(parameter.name.startswith("controller.") for parameter in experiment.parameters):
        raise InputError(f"--gains: {experiment.name} has no controller")
    return {f"controller.{name}": value for name, value in read_gains(file).items()}


def finish(run: Run, experiment: Experiment, folder: Path, title: str, *, draw: bool) -> None:
    """Save, draw and report; the report comes even where the files do not."""
    from experiments.report import print_report

    files: list[Path] = []
    try:
        files += _save(run, folder, experiment)
        if draw:
            from experiments.figures.plates import draw_figures

            files += draw_figures(run, folder, run.set_point, experiment.figures, title)
    finally:
        print_report(run, title, files)


def _save(run: Run, folder: Path, experiment: Experiment) -> list[Path]:
    """Save the run, and remove the figures of the run that was there before."""
    from experiments.figures.names import remove_figures

    remove_figures(folder, experiment.figures)
    run.save(folder)
    return [folder / name for name in (TABLE, SUMMARY, STATE)]


def _keep(run: Run, folder: Path, experiment: Experiment, status: int, what: str) -> int:
    """Save what was computed of a run that did not get to its end."""
    _save(run, folder, experiment)
    return fail(f"{what}; what was computed up to {run.state.time:.4g} s is in {folder}", status, "")
