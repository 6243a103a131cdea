"""Findings of threshold studies for each condition, and differences between two studies."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from biped.capturability.pendulum import NoLimitError
from biped.errors import InputError
from biped.runs.verdict import FAILED, STEPPED
from experiments.studies.counting import column_of, shares
from experiments.studies.limits import Limit, limit_under
from experiments.studies.proportion import Proportion
from experiments.studies.threshold import statistics
from experiments.studies.threshold.search import Bracket, bracket_of

if TYPE_CHECKING:
    from experiments.studies.threshold.threshold import Condition, Threshold


@dataclass(frozen=True)
class Finding:
    """Findings of one condition."""

    condition: "Condition"
    plan: "Threshold"  # the study
    outcomes: Sequence[dict[float, bool | None]]  # outcomes of each replica by value, as in ``search.Outcomes``
    verdicts: Sequence[dict[float, str]]  # verdicts of each replica by value

    @cached_property
    def brackets(self) -> list[Bracket]:
        return [bracket_of(outcomes) for outcomes in self.outcomes]

    @cached_property
    def estimate(self) -> statistics.Estimate:
        """Summary of the thresholds; its median is NaN if it would be below zero."""
        thresholds = statistics.estimate(self.brackets, self.plan.confidence)
        if self.plan.grid.start <= 0.0 and thresholds.median.value == -math.inf:
            return replace(thresholds, median=replace(thresholds.median, value=math.nan))
        return thresholds

    @cached_property
    def curve(self) -> Mapping[float, Proportion]:
        return statistics.recovery_curve(self.outcomes, self.plan.grid.values, self.plan.confidence)

    @cached_property
    def half(self) -> statistics.Interval:
        """Value at which half of the replicas recover, as ``half_recovers`` computes it from the grid's values."""
        return statistics.half_recovers(self.curve, self.plan.confidence)

    @cached_property
    def limit(self) -> Limit | None:
        """Limit of the inverted pendulum; None unless a push or floor displacement is the only disturbance."""
        if self.plan.swept.factor != 1.0:
            return None
        changes = {**self.plan.changes, **self.condition.changes}
        try:
            limit = limit_under(self.plan.experiment, self.plan.swept.parameter, changes)
            return None if limit is None else limit.over(self.plan.masses[self.plan.conditions.index(self.condition)])
        except NoLimitError:
            return None

    @property
    def share(self) -> float | None:
        """Median threshold divided by ``limit.applicable``, the pendulum's limit for the controller.

        None if one of them is unknown, or if trials with steps count as recovered but the limit is for feet in place.
        """
        median, stepped = self.estimate.median.value, STEPPED not in self.plan.losses and self.shares["stepped_trials"]
        if self.limit is None or not math.isfinite(median) or (stepped and self.limit.steps is None):
            return None
        return median / self.limit.applicable

    @property
    def greatest(self) -> float:
        """Largest tried value."""
        return max(max(tried) for tried in self.outcomes)

    def survivors(self, values: Iterable[float]) -> list[float]:
        """Return for each value the proportion of known thresholds that are at least this value."""
        lows = [bracket.low for bracket in self.brackets if bracket.is_judged]
        return [sum(low >= value for low in lows) / max(len(lows), 1) for value in values]

    @property
    def never_recovered(self) -> list[str]:
        """Verdicts at the least value, of the replicas that were lost at it."""
        pairs = zip(self.brackets, self.verdicts, strict=True)
        return [words[min(words)] for bracket, words in pairs if bracket.low == -math.inf]

    @property
    def gaps(self) -> list[Counter[str]]:
        """Numbers of undecided verdicts within each bracket that is wider than the tolerance."""
        most, pairs = self.plan.grid.tolerance * (1.0 + 1e-6), zip(self.brackets, self.verdicts, strict=True)
        wide = [(b.low, b.high, words.items()) for b, words in pairs if -math.inf < b.low < b.high - most]
        return [gap for low, high, ended in wide if (gap := Counter(word for at, word in ended if low < at < high))]

    def islands(self) -> dict[float, int]:
        """Return for each value the number of replicas that recovered at it after they were lost at a lower value."""
        seen = Counter(
            value
            for outcomes, bracket in zip(self.outcomes, self.brackets, strict=True)
            for value, recovered in outcomes.items()
            if recovered and value > bracket.high
        )
        return dict(sorted(seen.items()))

    @property
    def shares(self) -> dict[str, int]:
        """Number of trials with each verdict, by column."""
        return shares([word for ended in self.verdicts for word in ended.values()])

    @property
    def failed(self) -> int:
        """Number of trials that could not be computed."""
        return self.shares[column_of(FAILED)]

    @cached_property
    def limits(self) -> dict[str, int]:
        """Numbers of verdicts at the least value at which each replica was lost; the most frequent verdict first."""
        verdicts = Counter(
            ended[bracket.high]
            for ended, bracket in zip(self.verdicts, self.brackets, strict=True)
            if bracket.high != math.inf
        )
        return dict(verdicts.most_common())

    @property
    def limited_by(self) -> str:
        """Most frequent verdict at the least lost value; empty if no replica was lost."""
        return next(iter(self.limits), "")

    @property
    def trials(self) -> int:
        return sum(map(len, self.outcomes))


@dataclass(frozen=True)
class Findings:
    """Findings of all conditions, in the plan's order."""

    plan: "Threshold"
    conditions: tuple[Finding, ...]

    def frame(self) -> pd.DataFrame:
        """Return a row for each condition: labels, median, interval, spread, counts; ±inf: beyond the tried values."""
        return pd.DataFrame([_row(finding) for finding in self.conditions])

    def curves(self) -> pd.DataFrame:
        """Return a row for each condition and grid value: recovered and tried trials, and the interval."""
        return pd.DataFrame(
            [
                {**finding.condition.labels, "value": value, "recovered": share.count, "tried": share.of}
                | {"proportion": share.value, "ci_low": share.low, "ci_high": share.high}
                | shares([ended[value] for ended in finding.verdicts])
                for finding in self.conditions
                for value, share in finding.curve.items()
            ]
        )

    def by(self, label: str) -> "dict[str, Findings]":
        """Return the findings for each value of a label, without this label; empty if no condition has it."""
        parts: dict[str, list[Finding]] = {}
        for finding in self.conditions:
            labels = dict(finding.condition.labels)
            if label in labels:
                part = parts.setdefault(str(labels.pop(label)), [])
                part.append(replace(finding, condition=replace(finding.condition, labels=labels)))
        return {value: replace(self, conditions=tuple(part)) for value, part in parts.items()}

    def replicas(self) -> pd.DataFrame:
        """Return a row for each condition and replica: the bracket of the threshold."""
        return pd.DataFrame(
            [
                {**finding.condition.labels, "replica": number}
                | asdict(bracket)
                | {"limited_by": finding.verdicts[number].get(bracket.high, "")}
                for finding in self.conditions
                for number, bracket in enumerate(finding.brackets)
            ]
        )


def _row(finding: Finding) -> dict[str, object]:
    summary = finding.estimate
    limits = {} if finding.limit is None else {**finding.limit.columns, "share": finding.share}
    return {
        **finding.condition.labels,
        "median": summary.median.value, "ci_low": summary.median.low, "ci_high": summary.median.high,
        "confidence": summary.median.confidence, "p10": summary.low, "p90": summary.high,
        "half": finding.half.value, "half_low": finding.half.low, "half_high": finding.half.high, **limits,
        "replicas": summary.replicas, "non_monotone": summary.non_monotone, "below_least": summary.below,
        "above_all": summary.above, "unknown": summary.unknown,
        "limited_by": finding.limited_by, **finding.shares, "trials": finding.trials,
    }  # fmt: skip


def read_findings(folder: str | Path) -> Findings:
    """Return the findings of a threshold study's folder; raises InputError for another kind or missing trials."""
    from experiments.studies.run import recall
    from experiments.studies.store.folder import Study

    study = Study.read(folder)
    if "plan" not in study.configuration:
        raise InputError(f"{study.folder}: the kind of this study is {study.header.kind!r}; choose a threshold study")
    findings: Findings = recall(study)[1]
    return findings


@dataclass(frozen=True)
class Difference:
    """Difference between two studies under one condition."""

    theirs: Finding  # finding of the reference study
    ours: Finding  # finding of the compared study
    change: statistics.Interval  # median over replicas of the differences of thresholds, ours minus theirs


def compare(theirs: Findings, ours: Findings) -> list[Difference]:
    """Compare the thresholds of two studies' common conditions by replica; raises InputError if replicas differ."""
    check_pairs(theirs.plan, ours.plan)
    known = {_key(finding): finding for finding in theirs.conditions}
    pairs = [(known[_key(finding)], finding) for finding in ours.conditions if _key(finding) in known]
    if not pairs:
        raise InputError("the two studies have no condition in common")
    least = max(theirs.plan.grid.start, ours.plan.grid.start)
    return [
        Difference(a, b, statistics.paired_difference(a.brackets, b.brackets, least, ours.plan.confidence))
        for a, b in pairs
    ]


def changes_of_engines(findings: Findings) -> dict[str, list[Difference]]:
    """Return the differences of each engine from the first one, by the engine's name; empty for a single engine."""
    reference, *rest = findings.by("engine").items() or [("", findings)]
    return {name: compare(reference[1], of_engine) for name, of_engine in rest}


def _key(finding: Finding) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(finding.condition.labels.items()))


def _drawn(plan: "Threshold", name: str) -> Any:
    """Return a field of a study that decides which random values its replicas have."""
    value = getattr(plan, name)
    return [replace(r, width=1.0) if r.kind == "uniform" else r for r in value] if name == "randomizations" else value


def check_pairs(theirs: "Threshold", ours: "Threshold") -> None:
    """Raise InputError unless two studies have equal replicas, with the same random values.

    The width of uniform values may differ: pushes at the same phase of different gaits are the same replica.
    """
    if theirs.experiment.address != ours.experiment.address:
        raise InputError(f"different experiments cannot be compared: {theirs.experiment.name}, {ours.experiment.name}")
    for name, what in (
        ("seed", "seeds"),
        ("replicas", "numbers of replicas"),
        ("randomizations", "randomizations"),
        ("losses", "verdicts that count as lost"),
    ):
        if _drawn(theirs, name) != _drawn(ours, name):
            raise InputError(f"studies with different {what} cannot be compared: they have no replicas in common")
    if replace(theirs.swept, label="", unit="") != replace(ours.swept, label="", unit=""):
        swept = f"{theirs.swept.parameter} and {ours.swept.parameter}"
        raise InputError(f"studies with different swept parameters or factors cannot be compared: {swept}")
