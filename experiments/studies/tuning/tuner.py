"""Loop of a tuning: ask the optimizer for a batch of candidates, run their trials, report the costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biped.errors import InputError
from experiments.studies.proportion import CONFIDENCE
from experiments.studies.slopes import NO_GRADIENT
from experiments.studies.study_kind import Evaluate
from experiments.studies.tuning.confirm import Comparison, compare
from experiments.studies.tuning.cost_slopes import cost_slopes
from experiments.studies.tuning.descents import Start
from experiments.studies.tuning.design_space import Candidate, DesignSpace
from experiments.studies.tuning.objective import Limit, Objective, Sample, Score, Scorer
from experiments.studies.tuning.optimizers import Optimizer

#: Function that makes the optimizer from the baseline (None if it is outside the ranges).
Begin = Callable[[Start | None], Optimizer]


@dataclass(frozen=True)
class Evaluation:
    """A candidate and its score."""

    candidate: Candidate
    score: Score
    slopes: Mapping[str, float] = field(default_factory=dict)  # derivatives of the cost by variable; empty if unknown

    @property
    def number(self) -> int:
        return self.candidate.number


@dataclass
class History:
    """Evaluated candidates of a tuning."""

    baseline: Evaluation  # the baseline, and its score
    bounds: Mapping[str, float]  # bounds of the limits by the limits' names, in the metrics' units
    evaluations: list[Evaluation] = field(default_factory=list)  # all candidates but the baseline

    @property
    def best(self) -> Evaluation | None:
        """Candidate with the least cost of the first objective among those that keep all limits; None if none does."""
        return min(self._admissible, key=lambda evaluation: evaluation.score.costs[0], default=None)

    @property
    def _admissible(self) -> list[Evaluation]:
        return [evaluation for evaluation in self.evaluations if evaluation.score.keeps_limits]

    @property
    def cheapest(self) -> Evaluation | None:
        return min(self.evaluations, key=lambda evaluation: evaluation.score.costs[0], default=None)

    @property
    def front(self) -> list[Evaluation]:
        """Candidates that keep all limits and are dominated by no other: the Pareto front."""
        kept = self._admissible
        return [kept[place] for place in front_of([evaluation.score.costs for evaluation in kept])] if kept else []

    @property
    def message(self) -> str:
        if len(self.baseline.score.values) > 1:
            return f"{len(self.front)} on the front"
        best = self.best
        if best is None:
            return "no candidate keeps all limits yet"
        ((name, value),) = best.score.values.items()
        return f"best {name} {value:.4g}"


class Tuner:
    """Loop that evaluates candidates (sets of values) of ``space`` in batches, and reports costs to the optimizer.

    ``scorer`` computes costs from objectives and limits; ``evaluate`` runs trials, and returns their results by number.
    """

    def __init__(self, space: DesignSpace, scorer: Scorer, evaluate: Evaluate) -> None:
        self.space, self.scorer, self._evaluate = space, scorer, evaluate

    def begin(self) -> History:
        """Return a history with the evaluated baseline, which also sets the bounds of limits with ``of_baseline``."""
        baseline = self.space.baseline
        samples = self._samples([baseline])[0]
        self._check_gradients(samples)
        bounds = self.scorer.bounds(samples)
        slopes = self._slopes_of(samples, bounds) if baseline.point else {}
        return History(Evaluation(baseline, self.scorer.score(samples, bounds), slopes), bounds)

    def _check_gradients(self, samples: Sequence[Sample]) -> None:
        """Raise InputError if derivatives are needed and no trial of the baseline has any."""
        reasons = [str(sample.result.get(NO_GRADIENT, "")) for sample in samples]
        if self.space.slopes and self.space.baseline.point and all(reasons):
            raise InputError(f"the optimizer needs derivatives, but no trial of the baseline has any: {reasons[0]}")

    def start_of(self, history: History) -> Start | None:
        baseline, point = history.baseline, history.baseline.candidate.point
        return Start(point, baseline.score.costs, baseline.slopes) if point else None

    def run(self, begin: Begin, candidates: int, batch: int, watch: Callable[[History], None] | None = None) -> History:
        """Evaluate the baseline and a number of candidates, and return their history.

        ``begin`` makes the optimizer, which proposes ``batch`` candidates at a time; ``watch`` is called with the
        history after each batch. The candidates depend on the batch size, but not on the number of workers.
        """
        history = self.begin()
        optimizer = begin(self.start_of(history))
        while len(history.evaluations) < candidates:
            first = len(history.evaluations) + 1
            points = optimizer.ask(min(batch, candidates - len(history.evaluations)))
            asked = [self.space.candidate(first + place, point) for place, point in enumerate(points)]
            scored = self.score(asked, history.bounds)
            slopes = [evaluation.slopes for evaluation in scored] if self.space.slopes else []
            optimizer.tell(points, [evaluation.score.costs for evaluation in scored], slopes)
            history.evaluations += scored
            if watch is not None:
                watch(history)
        return history

    def score(self, candidates: Sequence[Candidate], bounds: Mapping[str, float]) -> list[Evaluation]:
        samples = self._samples(candidates)
        return [
            Evaluation(candidate, self.scorer.score(mine, bounds), self._slopes_of(mine, bounds))
            for candidate, mine in zip(candidates, samples, strict=True)
        ]

    def _slopes_of(self, samples: Sequence[Sample], bounds: Mapping[str, float]) -> dict[str, float]:
        if not self.space.slopes:
            return {}
        return cost_slopes(self.scorer, samples, bounds, [variable.name for variable in self.space.variables])

    def _samples(self, candidates: Sequence[Candidate]) -> list[list[Sample]]:
        return self.space.evaluated([self.space.trials(candidate) for candidate in candidates], self._evaluate)

    def confirm(self, winner: Candidate, bounds: Mapping[str, float], replicas: int) -> "Confirmation":
        """Compare a winner with the baseline on fresh replicas, the same for both."""
        pair = [self.space.fresh_trials(candidate, replicas) for candidate in (self.space.baseline, winner)]
        before, after = self.space.evaluated(pair, self._evaluate)
        return confirmation(self.scorer, before, after, bounds, self.space.seed)


@dataclass(frozen=True)
class Confirmation:
    """Comparison of a winner with the baseline on fresh replicas."""

    objectives: tuple[Comparison, ...]  # objectives compared with the baseline
    limits: tuple[Comparison, ...]  # limited metrics compared with the baseline
    bounds: Mapping[str, float]  # bounds of the limits by name; relative bounds refer to the baseline's fresh replicas
    #: by objective: True if it is better, that is, its interval of the difference has improvements only, and p is at
    #: most 0.05 divided by the number of objectives (Bonferroni's correction)
    better: Mapping[str, bool]
    within: Mapping[str, bool]  # by limit: True if the winner's mean keeps it
    worse: tuple[str, ...]  # objectives whose interval of the difference excludes improvements

    @property
    def holds(self) -> bool:
        """True if at least one objective is better, none is shown to be worse, and all limits are kept."""
        return any(self.better.values()) and not self.worse and all(self.within.values())

    @property
    def reasons(self) -> list[str]:
        reasons = [f"{name} is worse" for name in self.worse]
        if not any(self.better.values()):
            reasons += self._doubts
        return reasons + [f"{name} is beyond its limit" for name, within in self.within.items() if not within]

    @property
    def _doubts(self) -> list[str]:
        """Reasons why no objective is better: intervals that include zero, or too few replicas."""
        clear = [c for c in self.objectives if c.name not in self.worse and (c.low > 0.0 or c.high < 0.0)]
        if not clear:
            return [f"no interval of the difference in {' or '.join(self.better)} excludes zero"]
        level = level_of(len(self.objectives))
        return [f"{c.name} is not significantly better: p = {c.chance:.2g} is above {level:.2g}" for c in clear]


def level_of(objectives: int) -> float:
    """Return the significance level for each of several objectives, with Bonferroni's correction."""
    return (1.0 - CONFIDENCE) / objectives


def confirmation(
    scorer: Scorer, before: Sequence[Sample], after: Sequence[Sample], bounds: Mapping[str, float], seed: int
) -> Confirmation:
    first, second = _by_replica(before), _by_replica(after)
    fresh = dict(bounds) | {limit.name: limit.bound_from(limit.value(before)) for limit in scorer.limits}

    def compared(item: Objective | Limit) -> Comparison:
        return compare(item.name, [item.value(s) for s in first], [item.value(s) for s in second], seed)

    objectives, limits = tuple(map(compared, scorer.objectives)), tuple(map(compared, scorer.limits))
    signs = {objective.name: objective.sign for objective in scorer.objectives}
    return Confirmation(
        objectives,
        limits,
        fresh,
        {c.name: c.is_better(signs[c.name], level_of(len(objectives))) for c in objectives},
        {item.name: item.excess(item.value(after), fresh[item.name]) <= 0.0 for item in scorer.limits},
        tuple(c.name for c in objectives if c.is_clear(-signs[c.name])),
    )


def _by_replica(samples: Sequence[Sample]) -> list[list[Sample]]:
    replicas = sorted({sample.replica for sample in samples})
    return [[sample for sample in samples if sample.replica == replica] for replica in replicas]


def front_of(costs: Sequence[Sequence[float]]) -> list[int]:
    """Return the indices of the non-dominated rows of costs, by increasing first cost; the first one of equal rows.

    A row dominates another if none of its costs is greater and at least one is less.
    """
    rows, first = np.unique(np.asarray(costs, dtype=float), axis=0, return_index=True)
    beaten = [np.any(np.all(rows <= row, axis=1) & np.any(rows < row, axis=1)) for row in rows]
    return [int(place) for place, worse in zip(first, beaten, strict=True) if not worse]
