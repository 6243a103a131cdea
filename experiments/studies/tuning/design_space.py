"""Trials of a candidate: each disturbance, from each of a few randomized starts."""

import difflib
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product

from biped.errors import InputError
from biped.metrics.measurement import Measurement
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, Values, split_name
from experiments.studies.config import Config
from experiments.studies.randomization import Randomization, check, replica_changes
from experiments.studies.seeds import seed_of
from experiments.studies.slopes import Slopes, SlopeTerm, sums_in
from experiments.studies.store.measured import metric_units
from experiments.studies.study_kind import Evaluate, StudyKind
from experiments.studies.trial import OUTCOME, Label, Result, Trial
from experiments.studies.tuning.design_variable import DesignVariable, changes_of, check_variables, point_of
from experiments.studies.tuning.objective import PROPORTIONS, Sample

TUNING, CONFIRMATION = "tuning", "confirmation"
BASELINE = 0
#: First number of confirmation trials, far beyond those of any tuning.
FIRST_FRESH = 1_000_000_000
LABELS = ("phase", "candidate", "scenario", "replica")


@dataclass(frozen=True)
class Scenario:
    """One disturbance: its settings, and its weight."""

    name: str
    changes: Mapping[str, Value]
    weight: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight > 0.0):
            raise InputError(f"scenario {self.name!r}: weight = {self.weight!r}: it must be above zero")


@dataclass(frozen=True)
class Candidate:
    """A numbered set of values to try; ``point`` of the baseline (0) is empty if a value is outside its range."""

    number: int
    point: Mapping[str, float]
    changes: Mapping[str, Value]


@dataclass(frozen=True)
class DesignSpace:
    """Variables of a tuning, and all else that determines a candidate's trials."""

    experiment: Experiment
    fixed: Mapping[str, Value]  # changes in all trials
    variables: tuple[DesignVariable, ...]
    scenarios: tuple[Scenario, ...]
    replicas: int  # replicas of each scenario
    randomizations: tuple[Randomization, ...]  # differences between replicas
    seed: int
    slopes: tuple[SlopeTerm, ...] = ()  # sums of metrics to differentiate by the variables
    reads: Callable[[Measurement], Result] | None = None  # reads further results from runs, in addition to metrics
    base: Values = field(init=False)

    def __post_init__(self) -> None:
        check_variables(self.variables, self.experiment)
        check(self.randomizations, self.experiment)
        if self.replicas > 1 and not self.randomizations:
            raise InputError(f"replicas = {self.replicas}: without any [[randomization]] they would all be alike")
        object.__setattr__(self, "base", self.experiment.values(self.fixed))
        self._check_names()
        taken = {split_name(name)[0] for name in self.targets}
        scattered = {split_name(name)[0] for found in self.randomizations for name in found.parameters}
        if taken & scattered:
            raise InputError(f"{(taken & scattered).pop()} is both varied and randomized: leave one out")
        names: set[str] = set()
        for scenario in self.scenarios:
            if scenario.name in names:
                raise InputError(f"two scenarios are called {scenario.name!r}: give each a name of its own")
            names.add(scenario.name)
            both = taken & {split_name(name)[0] for name in scenario.changes}
            if both:
                raise InputError(f"scenario {scenario.name!r} sets {both.pop()}, which is varied: leave one out")
            self.experiment.values({**self.fixed, **scenario.changes})
        self._check_corners()

    def _check_names(self) -> None:
        metrics = metric_units(self.experiment, self.fixed)
        for variable in self.variables:
            if variable.name in (*LABELS, *OUTCOME, "trial", "changes"):
                raise InputError(f"a parameter cannot be called {variable.name!r}: that is a column of its own")
            if variable.name in metrics:
                raise InputError(
                    f"a parameter cannot be called {variable.name!r}: that is a metric; give it another name"
                )

    def _check_corners(self) -> None:
        """Check that scenarios and the variables' bounds can be simulated."""
        for scenario in self.scenarios:
            self.experiment.build({**self.fixed, **scenario.changes})
        for part in (0.0, 1.0):
            self.experiment.build(self.trials(self.candidate_at(1, [part] * len(self.variables)))[0].changes)

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(target for variable in self.variables for target in variable.targets)

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of the study's columns except the variables' own names."""
        named = {variable.name for variable in self.variables}
        return tuple(target for target in self.targets if target not in named)

    @property
    def units(self) -> dict[str, str]:
        """Units of the variables; a damping ratio has none."""
        return {v.name: "" if v.is_ratio else self.experiment.parameter(v.targets[0]).unit for v in self.variables}

    @property
    def size(self) -> int:
        return len(self.scenarios) * self.replicas

    @property
    def baseline(self) -> Candidate:
        """Candidate that all others are compared with: no changes but the fixed ones."""
        return Candidate(BASELINE, point_of(self.variables, self.base) or {}, {})

    def candidate(self, number: int, point: Mapping[str, float]) -> Candidate:
        return Candidate(number, dict(point), changes_of(self.variables, point, self.base))

    def candidate_at(self, number: int, parts: Iterable[float]) -> Candidate:
        """Return the candidate at these fractions, 0 … 1, of the variables' ranges."""
        pairs = zip(self.variables, parts, strict=True)
        return self.candidate(number, {variable.name: variable.from_unit(float(part)) for variable, part in pairs})

    def trials(self, candidate: Candidate) -> list[Trial]:
        return self._trials(candidate, TUNING, self.replicas, candidate.number * self.size)

    def fresh_trials(self, candidate: Candidate, replicas: int) -> list[Trial]:
        first = FIRST_FRESH + candidate.number * len(self.scenarios) * replicas
        return self._trials(candidate, CONFIRMATION, replicas, first)

    def _trials(self, candidate: Candidate, phase: str, replicas: int, first: int) -> list[Trial]:
        return [
            self._trial(candidate, phase, scenario, replica, first + place)
            for place, (scenario, replica) in enumerate(product(self.scenarios, range(replicas)))
        ]

    def _trial(self, candidate: Candidate, phase: str, scenario: Scenario, replica: int, number: int) -> Trial:
        # Starts are equal for all candidates, for a fair comparison, but differ between scenarios, so that no candidate
        # is good at one start only.
        common = {**self.fixed, **scenario.changes}
        seed = seed_of(self.seed, phase, scenario.name)
        drawn = replica_changes(self.randomizations, self.experiment, common, seed, replica)
        words = (phase, candidate.number, scenario.name, replica)
        labels: dict[str, Label] = {**dict(zip(LABELS, words, strict=True)), **candidate.point}
        sums = sums_in(self.slopes, scenario.name) if candidate.point and phase == TUNING else {}
        wanted = Slopes(sums, self.variables, candidate.point, self.base) if sums else None
        return Trial(number, {**common, **candidate.changes, **drawn}, labels, wanted, self.reads)

    def evaluated(
        self, trials: Sequence[Sequence[Trial]], evaluate: Evaluate, of_results: Container[str] | None = None
    ) -> list[list[Sample]]:
        """Return the samples of each list of trials, with whole results or only the names in ``of_results``."""
        results = evaluate([trial for mine in trials for trial in mine])
        return [self._samples(mine, results, of_results) for mine in trials]

    def _samples(
        self, trials: Sequence[Trial], results: Mapping[int, Result], of_results: Container[str] | None
    ) -> list[Sample]:
        weights = {scenario.name: scenario.weight for scenario in self.scenarios}
        found = []
        for trial in trials:
            scenario, replica = str(trial.labels["scenario"]), int(trial.labels["replica"])
            result = results[trial.number]
            if of_results is not None:
                result = {name: value for name, value in result.items() if name in of_results}
            found.append(Sample(scenario, replica, weights[scenario], result))
        return found


class DesignStudy(StudyKind):
    """Base class of studies that vary a design space."""

    space: DesignSpace

    def as_planned(self, trial: Trial) -> Trial:
        return replace(trial, reads=self.space.reads)

    @property
    def experiment(self) -> Experiment:  # type: ignore[override]
        return self.space.experiment

    @property
    def seed(self) -> int:  # type: ignore[override]
        return self.space.seed

    @property
    def samples(self) -> Sequence[Mapping[str, Value]]:
        return [dict(self.space.fixed) | dict(scenario.changes) for scenario in self.space.scenarios]

    @property
    def varied(self) -> tuple[str, ...]:
        return self.space.varied

    @property
    def units(self) -> Mapping[str, str]:  # type: ignore[override]
        return self.space.units


def design_space_from(
    config: Config,
    replicas: int,
    scenarios: Sequence[Scenario] = (),
    *,
    must_scatter: bool = False,
    of_each: Callable[[Config], None] = lambda _: None,
) -> DesignSpace:
    """Read a design space from ``experiment``, ``seed``, ``[set]``, ``[[parameter]]`` and ``[[randomization]]``.

    ``of_each`` reads what a kind of study adds to a ``[[parameter]]``. By default replicas start from different seeds
    if the experiment has one.
    """
    experiment = config.experiment()
    seed = config.integer("seed", 0)
    fixed = config.table("set", {}).changes(experiment)
    tables = config.tables("parameter")
    variables = tuple(_variable(table, experiment) for table in tables)
    for table in tables:
        of_each(table)
    randomizations = tuple(table.make(Randomization) for table in config.tables("randomization", ()))
    seeded = any(parameter.name == "initial.seed" for parameter in experiment.parameters)
    if not randomizations and seeded and (replicas > 1 or must_scatter):
        randomizations = (Randomization(("initial.seed",), "seed"),)
    if must_scatter and not randomizations:
        raise config.error("there is no [[randomization]], and without one fresh replicas cannot confirm anything")
    chosen = tuple(scenarios) or (Scenario(experiment.name, {}),)
    return config.within(lambda: DesignSpace(experiment, fixed, variables, chosen, replicas, randomizations, seed))


def _variable(config: Config, experiment: Experiment) -> DesignVariable:
    found = config.get("sets", str | tuple[str, ...])
    targets = (found,) if isinstance(found, str) else found
    for target in targets:
        config.within(partial(experiment.parameter, target), "sets")
    is_ratio = config.word("as", "", ["damping-ratio"]) == "damping-ratio"
    name = config.word("name", f"{targets[0]} as a damping ratio" if is_ratio else targets[0])
    if not is_ratio:
        one = f"{targets[0]}[0]" if isinstance(experiment.parameter(targets[0]).default, tuple) else targets[0]
        config.read_angles(experiment.parameter(one), "from", "to")
    return config.make(DesignVariable, name=name, targets=targets, is_ratio=is_ratio)


def check_metrics(config: Config, metrics: Iterable[str], space: DesignSpace) -> None:
    known = [*PROPORTIONS, *metric_units(space.experiment, {**space.fixed, **space.scenarios[0].changes})]
    for metric in metrics:
        if metric not in known:
            close = difflib.get_close_matches(metric, known, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
            raise config.error(f"unknown metric {metric!r}; {hint}")
