"""What a study of thresholds found: from its stored trials, condition by condition."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from biped.errors import InputError
from experiments.studies.store.config import Config
from experiments.studies.threshold.ensemble import Question, search
from experiments.studies.threshold.plan import Condition, Plan, plan_from
from experiments.studies.threshold.search import Bracket, bracket_of
from experiments.studies.threshold.statistics import (
    Estimate,
    Interval,
    Share,
    estimate,
    half_recovers,
    paired_difference,
    recovery_curve,
)
from experiments.studies.trial import FAILED, Result

if TYPE_CHECKING:
    from experiments.studies.store.folder import Study

KIND = "threshold"


@dataclass(frozen=True)
class Finding:
    """One condition's.

    Attributes:
        condition: which.
        plan: of the study.
        outcomes: replica by replica, by value.
        failed: trials that ended in an error; they count as not recovered.
    """

    condition: Condition
    plan: Plan
    outcomes: Sequence[dict[float, bool]]
    failed: int

    @cached_property
    def brackets(self) -> list[Bracket]:
        """Of each replica."""
        return [bracket_of(outcomes) for outcomes in self.outcomes]

    @cached_property
    def estimate(self) -> Estimate:
        """Median, interval and spread."""
        return estimate(self.brackets, self.plan.confidence)

    @cached_property
    def curve(self) -> tuple[Share, ...]:
        """The share that recovers at each rung of the first look."""
        return recovery_curve(self.outcomes, self.plan.ladder.rungs, self.plan.confidence)

    @cached_property
    def half(self) -> Interval:
        """The value at which half of the replicas recover, islands counted; as sharp as the first look is fine."""
        return half_recovers(self.curve, self.plan.confidence)

    def survivors(self, values: Iterable[float]) -> list[float]:
        """The share of replicas whose threshold is no less than each value."""
        return [sum(bracket.low >= value for bracket in self.brackets) / len(self.brackets) for value in values]

    def islands(self) -> dict[float, int]:
        """By value, how many replicas recovered there above a value at which they had not."""
        seen = Counter(
            value
            for outcomes, bracket in zip(self.outcomes, self.brackets, strict=True)
            for value, recovered in outcomes.items()
            if recovered and value > bracket.high
        )
        return dict(sorted(seen.items()))

    @property
    def trials(self) -> int:
        """How many."""
        return sum(map(len, self.outcomes))


@dataclass(frozen=True)
class Findings:
    """Of all conditions, in the plan's order."""

    plan: Plan
    conditions: tuple[Finding, ...]

    def frame(self) -> pd.DataFrame:
        """A row for each condition: labels, median, interval, spread, counts; infinite where out of range."""
        return pd.DataFrame([_row(finding) for finding in self.conditions])

    def curves(self) -> pd.DataFrame:
        """A row for each condition and rung: how many recovered, and the interval of the probability."""
        return pd.DataFrame(
            [
                {**finding.condition.labels, "value": s.value, "recovered": s.recovered, "tried": s.tried}
                | {"share": s.recovered / s.tried, "ci_low": s.low, "ci_high": s.high}
                for finding in self.conditions
                for s in finding.curve
            ]
        )

    def replicas(self) -> pd.DataFrame:
        """A row for each condition and replica: its bracket, with infinities as ``Bracket`` has them."""
        return pd.DataFrame(
            [
                {**finding.condition.labels, "replica": number} | asdict(bracket)
                for finding in self.conditions
                for number, bracket in enumerate(finding.brackets)
            ]
        )


def _row(finding: Finding) -> dict[str, object]:
    found = finding.estimate
    return {
        **finding.condition.labels,
        "median": found.median.value,
        "ci_low": found.median.low,
        "ci_high": found.median.high,
        "confidence": found.median.confidence,
        "p10": found.low,
        "p90": found.high,
        "half": finding.half.value,
        "half_low": finding.half.low,
        "half_high": finding.half.high,
        "replicas": found.replicas,
        "non_monotone": found.non_monotone,
        "below_least": found.below,
        "above_all": found.above,
        "failed_trials": finding.failed,
        "trials": finding.trials,
    }


def find(plan: Plan, answer: Callable[[Sequence[Question]], Sequence[Result]]) -> Findings:
    """Search all thresholds, with results for questions from wherever they come."""
    failed = [0] * len(plan.conditions)

    def recovered(questions: Sequence[Question]) -> list[bool]:
        verdicts = [result["verdict"] for result in answer(questions)]
        for question, verdict in zip(questions, verdicts, strict=True):
            failed[question.condition] += verdict == FAILED
        return [verdict in plan.verdicts for verdict in verdicts]

    ensemble = search(plan.ladder, len(plan.conditions), plan.replicas, recovered)
    rows = zip(plan.conditions, ensemble, failed, strict=True)
    return Findings(plan, tuple(Finding(condition, plan, outcomes, count) for condition, outcomes, count in rows))


def findings_of(study: "Study") -> Findings:
    """What a finished study found.

    Raises:
        InputError: it is of another kind, or not finished.
    """
    plan = plan_of(study)
    verdicts = study.results()

    def stored(questions: Sequence[Question]) -> list[Result]:
        numbers = [plan.number(question) for question in questions]
        missing = sum(number not in verdicts for number in numbers)
        if missing:
            raise InputError(f"{study.folder}: the study is not finished: give the command that began it again")
        return [verdicts[number] for number in numbers]

    return find(plan, stored)


def plan_of(study: "Study") -> Plan:
    """The plan of a study of thresholds.

    Raises:
        InputError: it is a study of another kind.
    """
    configuration = study.configuration
    if "plan" not in configuration:
        raise InputError(f"{study.folder}: a study of kind {study.header.kind!r}, and not of thresholds")
    return plan_from(Config(configuration["plan"]))


def read_findings(folder: str | Path) -> Findings:
    """Of the study in a folder; raises what ``findings_of`` and ``Study.read`` raise."""
    from experiments.studies.store.folder import Study

    return findings_of(Study.read(folder))


@dataclass(frozen=True)
class Difference:
    """What changed between two studies under one condition.

    Attributes:
        theirs: the other's finding.
        ours: this one's.
        change: the median over replicas of the difference of thresholds, and its interval.
    """

    theirs: Finding
    ours: Finding
    change: Interval


def compare(theirs: Findings, ours: Findings) -> list[Difference]:
    """Condition by condition, for those that both have, replica by replica.

    Raises:
        InputError: they have no condition in common, turn different numbers, or have different replicas.
    """
    check_pairs(theirs.plan, ours.plan)
    known = {_key(finding): finding for finding in theirs.conditions}
    pairs = [(known[_key(finding)], finding) for finding in ours.conditions if _key(finding) in known]
    if not pairs:
        raise InputError("the two studies have no condition in common")
    least = max(theirs.plan.ladder.start, ours.plan.ladder.start)
    return [Difference(a, b, paired_difference(a.brackets, b.brackets, least, ours.plan.confidence)) for a, b in pairs]


def _key(finding: Finding) -> tuple[tuple[str, object], ...]:
    return tuple(sorted(finding.condition.labels.items()))


def check_pairs(theirs: Plan, ours: Plan) -> None:
    """Whether both have the same replicas: those with the same draws."""
    for name, what in (
        ("experiment", "experiments"),
        ("seed", "seeds"),
        ("replicas", "numbers of replicas"),
        ("scatters", "scatters"),
        ("count_stepping", "meanings of recovered"),
    ):
        if getattr(theirs, name) != getattr(ours, name):
            raise InputError(f"studies with different {what} have no replicas in common: they cannot be compared")
    if (theirs.dial.parameter, theirs.dial.factor) != (ours.dial.parameter, ours.dial.factor):
        raise InputError(f"one study turns {theirs.dial.parameter}, the other {ours.dial.parameter}")
