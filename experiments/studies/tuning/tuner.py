"""The loop of a tuning: ask for a batch, run its trials, tell what they are worth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from experiments.studies.trial import Result, Trial
from experiments.studies.tuning.confirm import CONFIDENCE, Comparison, compare
from experiments.studies.tuning.front import front_of
from experiments.studies.tuning.objective import Judge, Sample, Score
from experiments.studies.tuning.optimizers import Optimizer, Start
from experiments.studies.tuning.plan import Candidate, Plan

#: Runs trials, or recalls them: the results by number.
Evaluate = Callable[[Sequence[Trial]], Mapping[int, Result]]
#: Makes the optimizer, once it is known what the baseline costs.
Begin = Callable[[Start | None], Optimizer]


@dataclass(frozen=True)
class Tried:
    """A candidate and its score."""

    candidate: Candidate
    score: Score

    @property
    def number(self) -> int:
        """Of the candidate."""
        return self.candidate.number


@dataclass
class Tuned:
    """What a tuning has found so far.

    Attributes:
        baseline: its candidate and score.
        bounds: of the limits, by name, in the metrics' units.
        tried: all candidates but the baseline.
    """

    baseline: Tried
    bounds: Mapping[str, float]
    tried: list[Tried] = field(default_factory=list)

    @property
    def best(self) -> Tried | None:
        """Of one objective: the best candidate that keeps all limits, if there is one; ties go to the first."""
        able = [tried for tried in self.tried if tried.score.keeps_limits]
        return min(able, key=lambda tried: tried.score.costs[0], default=None)

    @property
    def cheapest(self) -> Tried | None:
        """The candidate of the least first cost, penalties included; None before there is one."""
        return min(self.tried, key=lambda tried: tried.score.costs[0], default=None)

    @property
    def front(self) -> list[Tried]:
        """The candidates that keep all limits and that no other of these beats in everything."""
        able = [tried for tried in self.tried if tried.score.keeps_limits]
        return [able[place] for place in front_of([tried.score.costs for tried in able])] if able else []

    @property
    def in_words(self) -> str:
        """The best so far, in a few words."""
        if len(self.baseline.score.values) > 1:
            return f"{len(self.front)} on the front"
        best = self.best
        if best is None:
            return "none keeps all limits yet"
        ((name, value),) = best.score.values.items()
        return f"best {name} {value:.4g}"


class Tuner:
    """Tunes: candidates in batches, each told in the order of its number.

    Attributes:
        plan: which trials a candidate has.
        judge: what they are worth.
    """

    def __init__(self, plan: Plan, judge: Judge, evaluate: Evaluate) -> None:
        self.plan, self.judge, self._evaluate = plan, judge, evaluate

    def begin(self) -> Tuned:
        """Evaluate the baseline, from which the limits follow."""
        baseline = self.plan.baseline
        samples = self._samples([baseline])[0]
        bounds = self.judge.bounds(samples)
        return Tuned(Tried(baseline, self.judge.score(samples, bounds)), bounds)

    def start_of(self, tuned: Tuned) -> Start | None:
        """The baseline as a point of the knobs, if it is one."""
        baseline = tuned.baseline
        return Start(baseline.candidate.point, baseline.score.costs) if baseline.candidate.point else None

    def run(self, begin: Begin, candidates: int, batch: int, watch: Callable[[Tuned], None] | None = None) -> Tuned:
        """Try so many candidates.

        Args:
            begin: makes the optimizer.
            candidates: how many.
            batch: how many are asked for before any of them is told; the result depends on it, and on no number of
                workers.
            watch: called after each batch.
        """
        tuned = self.begin()
        optimizer = begin(self.start_of(tuned))
        while len(tuned.tried) < candidates:
            first = len(tuned.tried) + 1
            points = optimizer.ask(min(batch, candidates - len(tuned.tried)))
            asked = [self.plan.candidate(first + place, point) for place, point in enumerate(points)]
            scored = self.score(asked, tuned.bounds)
            optimizer.tell(points, [tried.score.costs for tried in scored])
            tuned.tried += scored
            if watch is not None:
                watch(tuned)
        return tuned

    def score(self, candidates: Sequence[Candidate], bounds: Mapping[str, float]) -> list[Tried]:
        """Run the trials of some candidates at once, and score each."""
        samples = self._samples(candidates)
        return [
            Tried(candidate, self.judge.score(mine, bounds))
            for candidate, mine in zip(candidates, samples, strict=True)
        ]

    def _samples(self, candidates: Sequence[Candidate]) -> list[list[Sample]]:
        trials = [self.plan.trials(candidate) for candidate in candidates]
        results = self._evaluate([trial for mine in trials for trial in mine])
        return [self.plan.samples(mine, results) for mine in trials]

    def confirm(self, winner: Candidate, bounds: Mapping[str, float], replicas: int) -> "Confirmation":
        """Compare a winner with the baseline on fresh replicas, the same for both."""
        pair = [self.plan.fresh_trials(candidate, replicas) for candidate in (self.plan.baseline, winner)]
        results = self._evaluate([trial for trials in pair for trial in trials])
        before, after = (self.plan.samples(trials, results) for trials in pair)
        return confirmation(self.judge, before, after, bounds, self.plan.seed)


@dataclass(frozen=True)
class Confirmation:
    """What fresh replicas say of a winner.

    Attributes:
        objectives: compared with the baseline.
        limits: the same for what is limited.
        bounds: of the limits; those relative to the baseline from the same fresh replicas.
        better: whether each objective is better: its interval is on the good side of zero, and chance explains that in
            one of twenty cases at most, of all objectives together (Bonferroni's correction); by name.
        kept: whether the winner's mean keeps each limit, by name.
        worse: the objectives whose whole interval is on the bad side of zero.
    """

    objectives: tuple[Comparison, ...]
    limits: tuple[Comparison, ...]
    bounds: Mapping[str, float]
    better: Mapping[str, bool]
    kept: Mapping[str, bool]
    worse: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether at least one objective is better, none is shown to be worse, and all limits are kept."""
        return any(self.better.values()) and not self.worse and all(self.kept.values())

    @property
    def reasons(self) -> list[str]:
        """Why it does not hold, in words; empty where it does."""
        found = [f"{name} is worse" for name in self.worse]
        if not any(self.better.values()):
            found += self._doubts
        return found + [f"{name} is beyond its limit" for name, kept in self.kept.items() if not kept]

    @property
    def _doubts(self) -> list[str]:
        """Why none is better: no interval says so, or too few replicas do."""
        clear = [c for c in self.objectives if c.name not in self.worse and (c.low > 0.0 or c.high < 0.0)]
        if not clear:
            return [f"no interval of the difference in {' or '.join(self.better)} keeps clear of zero"]
        level = level_of(len(self.objectives))
        return [f"{c.name} is better by chance with p = {c.chance:.2g}, above {level:.2g}" for c in clear]


def level_of(objectives: int) -> float:
    """The greatest probability of chance with which one of so many objectives is better."""
    return (1.0 - CONFIDENCE) / objectives


def confirmation(
    judge: Judge, before: Sequence[Sample], after: Sequence[Sample], bounds: Mapping[str, float], seed: int
) -> Confirmation:
    """From the samples of the baseline and of the winner, replica by replica."""
    first, second = _by_replica(before), _by_replica(after)
    fresh = dict(bounds) | {limit.name: limit.bound_from(limit.value(before)) for limit in judge.limits}
    objectives = tuple(
        compare(o.name, [o.value(s) for s in first], [o.value(s) for s in second], seed) for o in judge.objectives
    )
    limits = tuple(
        compare(item.name, [item.value(s) for s in first], [item.value(s) for s in second], seed)
        for item in judge.limits
    )
    signs = {objective.name: objective.sign for objective in judge.objectives}
    return Confirmation(
        objectives,
        limits,
        fresh,
        {c.name: c.is_better(signs[c.name], level_of(len(objectives))) for c in objectives},
        {item.name: item.excess(item.value(after), fresh[item.name]) <= 0.0 for item in judge.limits},
        tuple(c.name for c in objectives if c.is_clear(-signs[c.name])),
    )


def _by_replica(samples: Sequence[Sample]) -> list[list[Sample]]:
    replicas = sorted({sample.replica for sample in samples})
    return [[sample for sample in samples if sample.replica == replica] for replica in replicas]
