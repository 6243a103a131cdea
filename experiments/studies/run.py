"""Functions that run, continue or read the study in a folder, for all kinds of studies."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biped.errors import InputError
from biped.inputs.modules import saved_names
from biped.simulation.simulate import Announce
from experiments.studies.execution.executors import Executor, executor_for
from experiments.studies.execution.runner import Progress, run_trials
from experiments.studies.registry import imported, kind_named
from experiments.studies.store.folder import Study
from experiments.studies.study_kind import Evaluate, Say, StudyKind
from experiments.studies.trial import Result, Trial

#: Largest number of trials of a study; more would take over 10 GB of memory and 100 GB of the disk.
MOST_TRIALS = 10_000_000


def open_study(plan: StudyKind, folder: str | Path) -> Study:
    """Create the folder of a planned study, or open it to continue; at most ``MOST_TRIALS`` trials.

    Raises:
        InputError, OSError: as ``Study.create``; InputError also for a study with more trials.
    """
    if plan.likely_trials > MOST_TRIALS:
        remedy = "take fewer values or replicas, or several studies in different folders"
        raise InputError(f"{plan.likely_trials:,} trials are more than {MOST_TRIALS:,}: {remedy}")
    return Study.create(
        folder, plan.kind, plan.experiment.address, plan.configuration, varied=plan.varied, units=plan.units,
        metrics=plan.metrics, seed=plan.seed,
        sources={k: v for changes in plan.samples for k, v in plan.experiment.under(changes).sources.items()},
        metric_files=[entry.name for entry in plan.experiment.metrics],
        controller=plan.experiment.controller if plan.experiment.is_driven_by_another else None,
        robot=plan.experiment.robot,
    )  # fmt: skip


def run_study(
    plan: StudyKind,
    study: Study,
    executor: Executor | None = None,
    progress: Progress | None = None,
    announce: Announce | None = None,
    say: Say = lambda _: None,
) -> Any:
    """Run the missing trials of a study, and return its findings.

    Args:
        plan: plan of the study.
        study: study that is open for writing, as ``open_study`` returns it.
        executor: executor of the trials; None: the one that ``executor_for`` chooses, on all cores.
        progress: called with the number of finished trials.
        announce: called with a sentence before kernels are compiled.
        say: called with a short text on the progress.

    Raises:
        InputError: a metric is missing, or a stored trial differs from the planned one.
        OSError, KeyboardInterrupt: as ``run_trials``; finished trials are stored.
    """
    before = 0
    executor = executor_for(plan.experiment, samples=plan.samples) if executor is None else executor

    def evaluate(trials: Sequence[Trial]) -> Mapping[int, Result]:
        nonlocal before
        shift = before
        counted = None if progress is None else lambda done: progress(shift + done)
        results = run_trials(study, trials, executor, counted, announce)
        before += len(trials)
        return results

    return plan.run(study, evaluate, say)


@saved_names()
def plan_of(study: Study) -> Any:
    """Return the plan of a stored study; raises InputError if its kind is not in ``registry.kinds()``."""
    return imported(kind_named(study.header.kind).study).from_configuration(study.configuration)


@saved_names()
def recall(study: Study) -> tuple[Any, Any]:
    """Return the plan and the findings of a stored study; raises InputError if results are missing."""
    plan = plan_of(study)
    return plan, plan.recall(study, _stored(study))


def _stored(study: Study) -> Evaluate:
    def evaluate(trials: Sequence[Trial]) -> Mapping[int, Result]:
        numbers = [trial.number for trial in trials]
        missing = set(numbers) - study.finished
        if missing:
            raise InputError(
                f"{study.folder}: {len(missing)} of {len(numbers)} trials are not finished yet: repeat the command "
                "that began the study"
            )
        return study.results(numbers)

    return evaluate
