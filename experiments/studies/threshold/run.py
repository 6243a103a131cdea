"""Run a study of thresholds: in rounds, all conditions and replicas side by side."""

from collections.abc import Sequence
from pathlib import Path

from biped.simulation.simulate import Announce
from experiments.studies.execution.executors import Executor
from experiments.studies.execution.runner import Progress, run_trials
from experiments.studies.store.folder import Study
from experiments.studies.threshold.ensemble import Question
from experiments.studies.threshold.findings import KIND, Findings, find
from experiments.studies.threshold.plan import Plan
from experiments.studies.trial import Result

#: Of labels that conditions of the commands' own studies have.
LABEL_UNITS = {"direction": "°", "height": "m"}


def open_study(plan: Plan, folder: Path, kind: str = KIND) -> Study:
    """Begin the study of a plan, or go on with it.

    Args:
        plan: of it.
        folder: its.
        kind: of study.

    Raises:
        InputError, OSError: as ``Study.create``.
    """
    own = dict.fromkeys(label for condition in plan.conditions for label in condition.labels)
    units = {"value": plan.unit} | {name: unit for name, unit in LABEL_UNITS.items() if name in own}
    return Study.create(
        folder,
        kind,
        plan.experiment,
        {"plan": plan.as_json()},
        varied=tuple(plan.varied),
        units=units,
        seed=plan.seed,
    )


def run_study(
    plan: Plan,
    study: Study,
    executor: Executor,
    progress: Progress | None = None,
    announce: Announce | None = None,
) -> Findings:
    """Run what is missing of a study, and say what it found.

    Args:
        plan: of it.
        study: open to be written.
        executor: where trials run.
        progress: called with the number of trials that are done.
        announce: called with a sentence before kernels are compiled.

    Raises:
        OSError, KeyboardInterrupt: as ``run_trials``.
    """
    before = 0

    def answer(questions: Sequence[Question]) -> list[Result]:
        nonlocal before
        trials = [plan.trial(question) for question in questions]
        shift = before

        def count(done: float) -> None:
            if progress is not None:
                progress(shift + done)

        results = run_trials(study, trials, executor, count, announce)
        before += len(trials)
        return [results[trial.number] for trial in trials]

    return find(plan, answer)
