"""Thresholds of the person under several conditions, in a study that is not kept."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.registry import experiment_named
from experiments.papers.item import Progress
from experiments.studies.grid import Grid
from experiments.studies.mean import Mean
from experiments.studies.randomization import Randomization
from experiments.studies.run import open_study, run_study
from experiments.studies.threshold.findings import Findings
from experiments.studies.threshold.search import Bracket
from experiments.studies.threshold.statistics import Interval, median_interval
from experiments.studies.threshold.threshold import Condition, SweptParameter, Threshold

Changes = Mapping[str, Value]
NAME = "name"


def thresholds(
    law: str,
    swept: SweptParameter,
    grid: Grid,
    conditions: Mapping[str, Changes],
    changes: Changes,
    *,
    replicas: int,
    progress: Progress,
    scattered: str = "sensors.seed",
    count_stepping: bool = False,
) -> dict[str, list[Bracket]]:
    """Return each condition's thresholds, replica by replica; the same replicas meet all of them.

    They differ by the seed ``scattered``. With ``count_stepping`` who steps and stays up has withstood it.
    """
    plan = Threshold(
        experiment_named("balance").driven_by(law), swept, grid,
        tuple(Condition(own, {NAME: name}) for name, own in conditions.items()), dict(changes),
        (Randomization((scattered,), "seed"),), replicas, count_stepping=count_stepping,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, open_study(plan, Path(folder) / "study") as study:
        found: Findings = run_study(plan, study, progress=lambda done: progress(min(1.0, done / plan.likely_trials)))
    return {str(one.condition.labels[NAME]): one.brackets for one in found.conditions}


def median(brackets: Sequence[Bracket], scale: float = 1.0) -> Mean:
    """The median, with its interval, times a scale."""
    lows = [scale * one.low for one in brackets]
    return _as_mean(median_interval(lows, lows, [scale * one.high for one in brackets]), len(brackets))


def ratio(ours: Sequence[Bracket], theirs: Sequence[Bracket]) -> Mean:
    """The median over replicas of ours over theirs, with its interval."""
    pairs = list(zip(ours, theirs, strict=True))
    values = [a.low / b.low for a, b in pairs]
    found = median_interval(values, [a.low / b.high for a, b in pairs], [a.high / b.low for a, b in pairs])
    return _as_mean(found, len(pairs))


def _as_mean(found: Interval, count: int) -> Mean:
    return Mean(found.value, count, found.low, found.high)
