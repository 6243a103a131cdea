"""Objectives and limits of a tuning: weighted metrics of trials, in which falls count with given values."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from biped.errors import InputError
from biped.runs.verdict import RECOVERED, STEPPED
from experiments.studies.counting import FALLS, USUAL_LOSSES, WITHOUT_RESULT, WITHSTOOD, shares, withstood
from experiments.studies.trial import Result

#: Proportions: 1 for a trial with one of these verdicts, 0 for all others. Undecided trials count as failed, so that
#: they are no advantage for a candidate.
_VERDICTS = {"recovered": (RECOVERED,), "upright": (RECOVERED, STEPPED)}
PROPORTIONS = (*_VERDICTS, WITHSTOOD)
MEASURED = "measured"
MEAN, WORST = "mean", "worst"
MINIMIZE, MAXIMIZE = "minimize", "maximize"


@dataclass(frozen=True)
class Sample:
    """One trial of a candidate, with its result."""

    scenario: str  # name of the scenario
    replica: int
    weight: float  # weight of the scenario
    result: Result


@dataclass(frozen=True)
class Reading:
    """A metric as one number for each trial, and its mean or worst value over trials."""

    #: name of the metric; or a proportion: ``recovered``; ``upright``, which includes trials that ended in a step; or
    #: ``withstood``, trials that are not lost
    metric: str
    #: value for a trial that fell; ``"measured"``: the metric up to the fall
    fell: float | str | None = None
    failed: float | None = None  # value for a trial without a usable result; None: ``fell``
    missing: float | None = None  # value for a trial to which the metric does not apply; None: ``failed``
    scenarios: tuple[str, ...] = ("*",)  # names or patterns of the scenarios that count
    counts: tuple[str, ...] = USUAL_LOSSES  # verdicts that are losses for ``withstood``
    over: str = MEAN  # ``"mean"`` over trials, weighted by scenario, or ``"worst"``

    def __post_init__(self) -> None:
        if self.over not in (MEAN, WORST):
            raise InputError(f"{self.metric}: over = {self.over!r}: it must be {MEAN} or {WORST}")
        if self.metric in PROPORTIONS:
            if (self.fell, self.failed, self.missing) != (None, None, None):
                raise InputError(f"{self.metric}: a fall counts as 0; leave out fell, failed and missing")
            return
        if self.fell is None:
            raise InputError(f"{self.metric}: set the value for a fall: fell = NUMBER or fell = {MEASURED!r}")
        if isinstance(self.fell, str):
            if self.fell != MEASURED:
                raise InputError(f"{self.metric}: fell = {self.fell!r}: it must be a number or {MEASURED!r}")
            if self.failed is None:
                raise InputError(f"{self.metric}: set the value for a trial without a result: failed = NUMBER")

    def value(self, sample: Sample) -> float:
        verdict = sample.result["verdict"]
        if self.metric in PROPORTIONS:
            return float(self._is_success(str(verdict)))
        as_failed = self.fell if self.failed is None else self.failed
        if verdict in WITHOUT_RESULT:
            return _number(as_failed)
        if verdict in FALLS and self.fell != MEASURED:
            return _number(self.fell)
        value = sample.result.get(self.metric)
        if isinstance(value, (int, float)) and math.isfinite(value):
            return float(value)
        return _number(as_failed if self.missing is None else self.missing)

    def _is_success(self, verdict: str) -> bool:
        if self.metric == WITHSTOOD:
            return withstood(verdict, self.counts) is True
        return verdict in _VERDICTS[self.metric]

    def total(self, samples: Sequence[Sample], high_is_bad: bool) -> float:
        mine = [sample for sample in samples if any(fnmatchcase(sample.scenario, name) for name in self.scenarios)]
        if not mine:
            raise InputError(f"{self.metric}: scenarios = {list(self.scenarios)}: no scenario has one of these names")
        values = [self.value(sample) for sample in mine]
        if self.over == WORST:
            return max(values) if high_is_bad else min(values)
        weights = [sample.weight for sample in mine]
        return math.fsum(w * v for w, v in zip(weights, values, strict=True)) / math.fsum(weights)


def _number(value: float | str | None) -> float:
    assert isinstance(value, (int, float))
    return float(value)


@dataclass(frozen=True)
class Term:
    """Term of an objective: weight · value / per; with a target: weight · ((value − target) / per)²."""

    reading: Reading
    weight: float = 1.0
    per: float = 1.0
    target: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight != 0.0):
            raise InputError(f"{self.reading.metric}: weight = {self.weight!r}: it must be a number other than zero")
        if not (math.isfinite(self.per) and self.per > 0.0):
            raise InputError(f"{self.reading.metric}: per = {self.per!r}: it must be above zero")

    def value(self, samples: Sequence[Sample], high_is_bad: bool) -> float:
        """Return the value of the term; ``high_is_bad``: True if a larger value of the metric is worse."""
        total = self.reading.total(samples, high_is_bad)
        return self.weight * (total / self.per if self.target is None else ((total - self.target) / self.per) ** 2)


@dataclass(frozen=True)
class Objective:
    """A weighted sum of metrics, to be minimized or maximized."""

    name: str
    terms: tuple[Term, ...]
    goal: str = MINIMIZE

    def __post_init__(self) -> None:
        if self.goal not in (MINIMIZE, MAXIMIZE):
            raise InputError(f"objective {self.name!r}: goal = {self.goal!r}: it must be {MINIMIZE} or {MAXIMIZE}")
        if not self.terms:
            raise InputError(f"objective {self.name!r} has no terms: name a metric")

    @property
    def sign(self) -> float:
        """1 to minimize, -1 to maximize: optimizers minimize ``sign`` times the value."""
        return 1.0 if self.goal == MINIMIZE else -1.0

    def value(self, samples: Sequence[Sample]) -> float:
        return math.fsum(term.value(samples, self.sign * term.weight > 0.0) for term in self.terms)


@dataclass(frozen=True)
class Limit:
    """A bound of a metric that the winner must keep; a candidate beyond it has a penalty added to every cost."""

    name: str
    reading: Reading  # the limited metric
    bound: float  # largest or least value; with ``of_baseline`` a factor of the baseline's value
    least: bool = False  # True for a lower bound
    of_baseline: bool = False  # True for a bound relative to the baseline in the same trials
    penalty: float = 10.0  # number added to a cost for each 100 % beyond the bound
    #: safety margin during the search, as a fraction of the bound, so that fresh replicas keep the bound, too
    margin: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound):
            raise InputError(f"limit {self.name!r}: the bound {self.bound!r} must be a finite number")
        if not (math.isfinite(self.penalty) and self.penalty > 0.0):
            raise InputError(f"limit {self.name!r}: penalty = {self.penalty!r}: it must be above zero")
        if not 0.0 <= self.margin < 1.0:
            raise InputError(f"limit {self.name!r}: margin = {self.margin!r}: it must be from 0 to below 1")

    def value(self, samples: Sequence[Sample]) -> float:
        return self.reading.total(samples, not self.least)

    def bound_from(self, baseline: float | None) -> float:
        """Return the bound in the metric's unit, given the baseline's value."""
        if not self.of_baseline:
            return self.bound
        assert baseline is not None
        return self.bound * baseline

    def excess(self, value: float, bound: float) -> float:
        """Return the excess over the bound divided by the bound; zero or below if the bound is kept."""
        beyond = bound - value if self.least else value - bound
        return beyond / abs(bound) if bound else beyond

    def tuned_excess(self, value: float, bound: float) -> float:
        """Return the relative excess over the bound, tightened by the safety margin."""
        return self.excess(value, bound) + (self.margin if bound else 0.0)


@dataclass(frozen=True)
class Score:
    """Objectives, limits and costs of a candidate."""

    values: Mapping[str, float]  # values of the objectives, by name
    limits: Mapping[str, float]  # values of the limited metrics, by the limit's name
    excesses: Mapping[str, float]  # relative excess over each bound tightened by its margin, by the limit's name
    costs: tuple[float, ...]  # costs of the objectives with penalties, to be minimized
    verdicts: Mapping[str, int]  # number of trials with each verdict, by columns as in ``counting.shares``

    @property
    def keeps_limits(self) -> bool:
        return all(excess <= 0.0 for excess in self.excesses.values())


@dataclass(frozen=True)
class Scorer:
    """Objectives and limits by which candidates are scored."""

    objectives: tuple[Objective, ...]  # with more than one, the result is a Pareto front
    limits: tuple[Limit, ...] = ()

    def bounds(self, baseline: Sequence[Sample]) -> dict[str, float]:
        return {limit.name: limit.bound_from(limit.value(baseline)) for limit in self.limits}

    def score(self, samples: Sequence[Sample], bounds: Mapping[str, float]) -> Score:
        values = {objective.name: objective.value(samples) for objective in self.objectives}
        limited = {limit.name: limit.value(samples) for limit in self.limits}
        excesses = {limit.name: limit.tuned_excess(limited[limit.name], bounds[limit.name]) for limit in self.limits}
        penalty = math.fsum(limit.penalty * max(0.0, excesses[limit.name]) for limit in self.limits)
        costs = tuple(objective.sign * values[objective.name] + penalty for objective in self.objectives)
        ended = shares([str(sample.result["verdict"]) for sample in samples])
        return Score(values, limited, excesses, costs, ended)

    @property
    def readings(self) -> list[Reading]:
        terms = [term.reading for objective in self.objectives for term in objective.terms]
        return terms + [limit.reading for limit in self.limits]
