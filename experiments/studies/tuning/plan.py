"""Which trials a candidate has: each disturbance, from each of a few jittered starts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, Values, parameter_named, split_name
from experiments.studies.seeds import seed_of
from experiments.studies.threshold.replicas import Scatter, check, replica_changes
from experiments.studies.trial import OUTCOME, Label, Result, Trial
from experiments.studies.tuning.design_variable import Knob, changes_of, check_knobs, point_of
from experiments.studies.tuning.objective import Sample

TUNING, CONFIRMATION = "tuning", "confirmation"
BASELINE = 0
#: Trials of confirmations count from here, far beyond those of any tuning.
FIRST_FRESH = 1_000_000_000
LABELS = ("phase", "candidate", "scenario", "replica")


@dataclass(frozen=True)
class Scenario:
    """One disturbance: what it sets, and how much it weighs."""

    name: str
    changes: Mapping[str, Value]
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight > 0.0):
            raise InputError(f"scenario {self.name!r}: weight = {self.weight!r}: it must be above zero")


@dataclass(frozen=True)
class Candidate:
    """A set of values to try.

    Attributes:
        number: 0 is the baseline.
        point: the knobs' values; empty where the baseline has none.
        changes: the parameters that it changes.
    """

    number: int
    point: Mapping[str, float]
    changes: Mapping[str, Value]


@dataclass(frozen=True)
class Plan:
    """All that decides which trials a candidate has.

    Attributes:
        experiment: what is run.
        fixed: changes that all trials have.
        knobs: what is varied.
        scenarios: the disturbances.
        replicas: starts of each.
        scatters: how replicas differ.
        seed: of the study.

    Raises:
        InputError: something does not fit the experiment or the rest.
    """

    experiment: Experiment
    fixed: Mapping[str, Value]
    knobs: tuple[Knob, ...]
    scenarios: tuple[Scenario, ...]
    replicas: int
    scatters: tuple[Scatter, ...]
    seed: int
    base: Values = field(init=False)

    def __post_init__(self) -> None:
        check_knobs(self.knobs, self.experiment)
        check(self.scatters, self.experiment)
        if self.replicas > 1 and not self.scatters:
            raise InputError(f"replicas = {self.replicas}: without any [[scatter]] they would all be alike")
        object.__setattr__(self, "base", self.experiment.values(self.fixed))
        for knob in self.knobs:
            if knob.name in (*LABELS, *OUTCOME, "trial", "changes"):
                raise InputError(f"a parameter cannot be called {knob.name!r}: that is a column of its own")
        taken = {split_name(name)[0] for name in self.places}
        scattered = {split_name(name)[0] for scatter in self.scatters for name in scatter.parameters}
        if taken & scattered:
            raise InputError(f"{(taken & scattered).pop()} is both varied and scattered: leave one out")
        names: set[str] = set()
        for scenario in self.scenarios:
            if scenario.name in names:
                raise InputError(f"two scenarios are called {scenario.name!r}: give each a name of its own")
            names.add(scenario.name)
            both = taken & {split_name(name)[0] for name in scenario.changes}
            if both:
                raise InputError(f"scenario {scenario.name!r} sets {both.pop()}, which is varied: leave one out")
            self.experiment.values({**self.fixed, **scenario.changes})

    @property
    def places(self) -> tuple[str, ...]:
        """The numbers that are varied."""
        return tuple(place for knob in self.knobs for place in knob.places)

    @property
    def varied(self) -> tuple[str, ...]:
        """Those that are columns of the study beside the knobs: all but what a knob is called."""
        named = {knob.name for knob in self.knobs}
        return tuple(place for place in self.places if place not in named)

    @property
    def units(self) -> dict[str, str]:
        """Of the knobs, by name: a damping ratio has none."""
        of = {knob.name: "" if knob.is_ratio else knob.places[0] for knob in self.knobs}
        return {n: parameter_named(place, self.experiment.parameters).unit if place else "" for n, place in of.items()}

    @property
    def size(self) -> int:
        """Trials of a candidate."""
        return len(self.scenarios) * self.replicas

    @property
    def baseline(self) -> Candidate:
        """What all candidates are compared with: no changes but the fixed ones."""
        return Candidate(BASELINE, point_of(self.knobs, self.base) or {}, {})

    def candidate(self, number: int, point: Mapping[str, float]) -> Candidate:
        """The candidate at a point."""
        return Candidate(number, dict(point), changes_of(self.knobs, point, self.base))

    def trials(self, candidate: Candidate) -> list[Trial]:
        """The trials by which a candidate is judged."""
        return self._trials(candidate, TUNING, self.replicas, candidate.number * self.size)

    def fresh_trials(self, candidate: Candidate, replicas: int) -> list[Trial]:
        """Trials from starts that no tuning has seen."""
        first = FIRST_FRESH + candidate.number * len(self.scenarios) * replicas
        return self._trials(candidate, CONFIRMATION, replicas, first)

    def _trials(self, candidate: Candidate, phase: str, replicas: int, first: int) -> list[Trial]:
        return [
            self._trial(candidate, phase, scenario, replica, first + place)
            for place, (scenario, replica) in enumerate(product(self.scenarios, range(replicas)))
        ]

    def _trial(self, candidate: Candidate, phase: str, scenario: Scenario, replica: int, number: int) -> Trial:
        # The same starts for all candidates, so that differences are due to these; others for each scenario, so that
        # no candidate is good at one start only.
        common = {**self.fixed, **scenario.changes}
        seed = seed_of(self.seed, phase, scenario.name)
        scattered = replica_changes(self.scatters, self.experiment, common, seed, replica)
        words = (phase, candidate.number, scenario.name, replica)
        labels: dict[str, Label] = {**dict(zip(LABELS, words, strict=True)), **candidate.point}
        return Trial(number, {**common, **candidate.changes, **scattered}, labels)

    def samples(self, trials: Sequence[Trial], results: Mapping[int, Result]) -> list[Sample]:
        """The results of these trials, with what they weigh."""
        weights = {scenario.name: scenario.weight for scenario in self.scenarios}
        return [
            Sample(
                str(trial.labels["scenario"]),
                int(trial.labels["replica"]),
                weights[str(trial.labels["scenario"])],
                results[trial.number],
            )
            for trial in trials
        ]
