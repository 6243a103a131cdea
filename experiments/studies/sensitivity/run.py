"""A sensitivity analysis in its study's folder: run, gone on with, or recalled."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from biped.errors import InputError
from biped.simulation.simulate import Announce
from experiments.studies.execution.executors import Executor
from experiments.studies.execution.runner import run_trials
from experiments.studies.sensitivity.analysis import Indices, analyze
from experiments.studies.sensitivity.config import KIND, Sensitivity, sensitivity_from
from experiments.studies.sensitivity.design import candidates_of, shares_of
from experiments.studies.store.config import Config
from experiments.studies.store.folder import Study
from experiments.studies.trial import Result, Trial

Evaluate = Callable[[Sequence[Trial]], Mapping[int, Result]]


def open_sensitivity(sensitivity: Sensitivity, folder: Path) -> Study:
    """Begin the study of an analysis, or go on with it.

    Raises:
        InputError, OSError: as ``Study.create``.
    """
    return Study.create(
        folder,
        KIND,
        sensitivity.plan.experiment.name,
        {"name": sensitivity.name, "sensitivity": dict(sensitivity.data)},
        varied=sensitivity.plan.varied,
        units=sensitivity.plan.units,
        seed=sensitivity.plan.seed,
    )


def trials_of(sensitivity: Sensitivity) -> list[Trial]:
    """All trials."""
    return [trial for candidate in candidates_of(sensitivity) for trial in sensitivity.plan.trials(candidate)]


def indices_of(sensitivity: Sensitivity, evaluate: Evaluate) -> list[Indices]:
    """The indices of all metrics, from trials that ``evaluate`` runs or recalls.

    Raises:
        InputError: as ``analyze``.
    """
    plan = sensitivity.plan
    trials = [plan.trials(candidate) for candidate in candidates_of(sensitivity)]
    results = evaluate([trial for mine in trials for trial in mine])
    return analyze(sensitivity, shares_of(sensitivity), [plan.samples(mine, results) for mine in trials])


def run_sensitivity(
    sensitivity: Sensitivity,
    study: Study,
    executor: Executor,
    progress: Callable[[float], None] | None = None,
    announce: Announce | None = None,
) -> list[Indices]:
    """Run what is missing of an analysis, and analyze it.

    Raises:
        InputError: as ``analyze``, or the study's trials are others.
        OSError: the folder cannot be written.
        KeyboardInterrupt: what is finished is kept.
    """
    return indices_of(sensitivity, lambda trials: run_trials(study, trials, executor, progress, announce))


def recall(study: Study) -> tuple[Sensitivity, list[Indices]]:
    """An analysis from its folder, without running anything.

    Raises:
        InputError: the folder holds another kind of study, or some of its trials are missing.
    """
    if study.header.kind != KIND:
        raise InputError(f"{study.folder} holds a study of kind {study.header.kind!r}, not a sensitivity analysis")
    sensitivity = sensitivity_from(Config(study.configuration["sensitivity"]), study.configuration["name"])

    def recalled(trials: Sequence[Trial]) -> Mapping[int, Result]:
        missing = {trial.number for trial in trials} - study.finished
        if missing:
            raise InputError(f"{len(missing)} of {len(trials)} trials are not finished yet")
        return study.results(trial.number for trial in trials)

    return sensitivity, indices_of(sensitivity, recalled)
