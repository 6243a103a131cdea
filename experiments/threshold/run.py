"""Run a study of thresholds: in rounds, all conditions and replicas side by side."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.study.engine import run_trials
from experiments.study.executors import Executor
from experiments.study.folder import Study
from experiments.threshold.ensemble import Question
from experiments.threshold.findings import KIND, Findings, find
from experiments.threshold.plan import Plan
from experiments.trial import Result


def open_study(plan: Plan, folder: Path, kind: str = KIND, view: Mapping[str, Any] | None = None) -> Study:
    """Begin the study of a plan, or go on with it.

    Args:
        plan: of it.
        folder: its.
        kind: of study.
        view: what its pages and figures need to know besides.

    Raises:
        InputError, OSError: as ``Study.create``.
    """
    own = dict.fromkeys(label for condition in plan.conditions for label in condition.labels)
    units = {"value": plan.unit} | {name: "°" for name in own if name == "direction"}
    return Study.create(
        folder,
        kind,
        plan.experiment,
        {"plan": plan.as_json(), **dict(view or {})},
        varied=tuple(plan.varied),
        units=units,
        seed=plan.seed,
    )


def run_study(
    plan: Plan, study: Study, executor: Executor, progress: Callable[[float], None] | None = None
) -> Findings:
    """Run what is missing of a study, and say what it found."""

    def answer(questions: Sequence[Question]) -> list[Result]:
        trials = [plan.trial(question) for question in questions]
        results = run_trials(study, trials, executor, progress)
        return [results[trial.number] for trial in trials]

    return find(plan, answer)
