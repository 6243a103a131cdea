"""Findings of threshold studies, condition by condition, and differences between two studies."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from biped.capturability.pendulum import NoLimitError
from biped.errors import InputError
from biped.runs.verdict import FAILED, STEPPED
from experiments.studies.counting import column_of, shares
from experiments.studies.limits import Limit, limit_under
from experiments.studies.proportion import Proportion
from experiments.studies.threshold.search import Bracket, bracket_of
from experiments.studies.threshold.statistics import (
    Estimate,
    Interval,
    estimate,
    half_recovers,
    paired_difference,
    recovery_curve,
)

if TYPE_CHECKING:
    from experiments.studies.threshold.threshold import Condition, Threshold


@dataclass(frozen=True)
class Finding:
    """Findings of one condition."""

    condition: "Condition"
    plan: "Threshold"
    outcomes: Sequence[dict[float, bool | None]]  # for each replica, by value
    verdicts: Sequence[dict[float, str]]  # for each replica, by value

    @cached_property
    def brackets(self) -> list[Bracket]:
        return [bracket_of(outcomes) for outcomes in self.outcomes]

    @cached_property
    def estimate(self) -> Estimate:
        """Estimate of the thresholds; its median is NaN if it would be below zero."""
        found = estimate(self.brackets, self.plan.confidence)
        if self.plan.grid.start <= 0.0 and found.median.value == -math.inf:
            return replace(found, median=replace(found.median, value=math.nan))
        return found

    @cached_property
    def curve(self) -> Mapping[float, Proportion]:
        return recovery_curve(self.outcomes, self.plan.grid.values, self.plan.confidence)

    @cached_property
    def half(self) -> Interval:
        """Value at which half of the replicas recover, islands counted; its resolution is the grid's."""
        return half_recovers(self.curve, self.plan.confidence)

    @cached_property
    def limit(self) -> Limit | None:
        """Inverted pendulum's limit if a push or floor displacement acts alone on a standing model; else None."""
        if self.plan.swept.factor != 1.0:
            return None
        changes = {**self.plan.changes, **self.condition.changes}
        try:
            found = limit_under(self.plan.experiment, self.plan.swept.parameter, changes)
            return None if found is None else found.over(self.plan.masses[self.plan.conditions.index(self.condition)])
        except NoLimitError:
            return None

    @property
    def share(self) -> float | None:
        """Median threshold as a share of the pendulum's limit with the controller's own strategy.

        None without a median, or if trials with counted steps meet a limit of feet in place.
        """
        median, stepped = self.estimate.median.value, STEPPED not in self.plan.losses and self.shares["stepped_trials"]
        if self.limit is None or not math.isfinite(median) or (stepped and self.limit.steps is None):
            return None
        return median / self.limit.applicable

    @property
    def greatest(self) -> float:
        """Greatest tried value."""
        return max(max(tried) for tried in self.outcomes)

    def survivors(self, values: Iterable[float]) -> list[float]:
        """Return the proportion of known thresholds that are no less than each value."""
        lows = [bracket.low for bracket in self.brackets if bracket.is_judged]
        return [sum(low >= value for low in lows) / max(len(lows), 1) for value in values]

    @property
    def never_recovered(self) -> list[str]:
        """Verdicts at the least value of the replicas that were lost there."""
        found = zip(self.brackets, self.verdicts, strict=True)
        return [words[min(words)] for bracket, words in found if bracket.low == -math.inf]

    @property
    def gaps(self) -> list[Counter[str]]:
        """Undecided verdicts within each bracket that is wider than the tolerance."""
        most, pairs = self.plan.grid.tolerance * (1.0 + 1e-6), zip(self.brackets, self.verdicts, strict=True)
        wide = [(b.low, b.high, words.items()) for b, words in pairs if -math.inf < b.low < b.high - most]
        return [gap for low, high, ended in wide if (gap := Counter(word for at, word in ended if low < at < high))]

    def islands(self) -> dict[float, int]:
        """Return the number of replicas that recovered above a value at which they did not, by value."""
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
        """Verdicts at the thresholds, the least value at which each replica is lost; the most frequent first."""
        found = Counter(
            ended[bracket.high]
            for ended, bracket in zip(self.verdicts, self.brackets, strict=True)
            if bracket.high != math.inf
        )
        return dict(found.most_common())

    @property
    def limited_by(self) -> str:
        """Most frequent verdict at the thresholds; empty if no replica has one."""
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
        """Return a row for each condition: labels, median, interval, spread, counts; infinite if out of range."""
        return pd.DataFrame([_row(finding) for finding in self.conditions])

    def curves(self) -> pd.DataFrame:
        """Return a row for each condition and grid value: recovered and tried trials, and the interval."""
        return pd.DataFrame(
            [
                {**finding.condition.labels, "value": value, "recovered": found.count, "tried": found.of}
                | {"proportion": found.value, "ci_low": found.low, "ci_high": found.high}
                | shares([ended[value] for ended in finding.verdicts])
                for finding in self.conditions
                for value, found in finding.curve.items()
            ]
        )

    def by(self, label: str) -> "dict[str, Findings]":
        """Return the findings split by a label, which is then removed; empty if no condition has it."""
        parts: dict[str, list[Finding]] = {}
        for finding in self.conditions:
            labels = dict(finding.condition.labels)
            if label in labels:
                own = parts.setdefault(str(labels.pop(label)), [])
                own.append(replace(finding, condition=replace(finding.condition, labels=labels)))
        return {value: replace(self, conditions=tuple(found)) for value, found in parts.items()}

    def replicas(self) -> pd.DataFrame:
        """Return a row for each condition and replica: its bracket."""
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
    found = finding.estimate
    limits = {} if finding.limit is None else {**finding.limit.columns, "share": finding.share}
    return {
        **finding.condition.labels,
        "median": found.median.value, "ci_low": found.median.low, "ci_high": found.median.high,
        "confidence": found.median.confidence, "p10": found.low, "p90": found.high,
        "half": finding.half.value, "half_low": finding.half.low, "half_high": finding.half.high, **limits,
        "replicas": found.replicas, "non_monotone": found.non_monotone, "below_least": found.below,
        "above_all": found.above, "unknown": found.unknown,
        "limited_by": finding.limited_by, **finding.shares, "trials": finding.trials,
    }  # fmt: skip


def read_findings(folder: str | Path) -> Findings:
    """Read the findings of a study's folder; raises InputError for another kind or missing trials."""
    from experiments.studies.run import recall
    from experiments.studies.store.folder import Study

    study = Study.read(folder)
    if "plan" not in study.configuration:
        raise InputError(f"{study.folder}: a study of kind {study.header.kind!r}; choose a study of thresholds")
    findings: Findings = recall(study)[1]
    return findings


@dataclass(frozen=True)
class Difference:
    """Change under one condition: median over replicas of the difference of thresholds, and its interval."""

    theirs: Finding
    ours: Finding
    change: Interval


def compare(theirs: Findings, ours: Findings) -> list[Difference]:
    """Compare the common conditions replica by replica; raises InputError if replicas or units do not match."""
    check_pairs(theirs.plan, ours.plan)
    known = {_key(finding): finding for finding in theirs.conditions}
    pairs = [(known[_key(finding)], finding) for finding in ours.conditions if _key(finding) in known]
    if not pairs:
        raise InputError("the two studies have no condition in common")
    least = max(theirs.plan.grid.start, ours.plan.grid.start)
    return [Difference(a, b, paired_difference(a.brackets, b.brackets, least, ours.plan.confidence)) for a, b in pairs]


def changes_of_engines(findings: Findings) -> dict[str, list[Difference]]:
    """Return the changes from the first engine to each other one, for conditions that differ in the engine."""
    reference, *others = findings.by("engine").items() or [("", findings)]
    return {name: compare(reference[1], found) for name, found in others}


def _key(finding: Finding) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(finding.condition.labels.items()))


def check_pairs(theirs: "Threshold", ours: "Threshold") -> None:
    """Raise InputError unless both have equal replicas: those with equal draws."""
    if theirs.experiment.address != ours.experiment.address:
        raise InputError(f"{theirs.experiment.name} and {ours.experiment.name} are different experiments")
    for name, what in (
        ("seed", "seeds"),
        ("replicas", "numbers of replicas"),
        ("randomizations", "randomizations"),
        ("losses", "meanings of recovered"),
    ):
        if getattr(theirs, name) != getattr(ours, name):
            raise InputError(f"studies with different {what} have no replicas in common: they cannot be compared")
    if replace(theirs.swept, label="", unit="") != replace(ours.swept, label="", unit=""):
        raise InputError(f"one study sweeps {theirs.swept.parameter}, the other {ours.swept.parameter}")
