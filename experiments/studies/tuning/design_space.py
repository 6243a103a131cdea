"""Design space: variables, and the trials of a candidate, one for each scenario and replica."""

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
#: Number of the first confirmation trial, far above those of any tuning.
FIRST_FRESH = 1_000_000_000
LABELS = ("phase", "candidate", "scenario", "replica")


@dataclass(frozen=True)
class Scenario:
    """A disturbance that each candidate is tried under."""

    name: str
    changes: Mapping[str, Value]  # changes of parameters that define the disturbance
    weight: float = 1.0  # weight in means over trials

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight > 0.0):
            raise InputError(f"scenario {self.name!r}: weight = {self.weight!r}: it must be above zero")


@dataclass(frozen=True)
class Candidate:
    """A set of values of the variables to try."""

    number: int  # 0 for the baseline
    point: Mapping[str, float]  # values by variable; empty for a baseline with a value outside its range
    changes: Mapping[str, Value]  # changes of parameters by these values


@dataclass(frozen=True)
class DesignSpace:
    """Variables, and everything else that determines the trials of a candidate."""

    experiment: Experiment
    fixed: Mapping[str, Value]  # changes in all trials
    variables: tuple[DesignVariable, ...]
    scenarios: tuple[Scenario, ...]
    replicas: int  # number of replicas of each scenario
    randomizations: tuple[Randomization, ...]  # differences between replicas
    seed: int
    slopes: tuple[SlopeTerm, ...] = ()  # terms of the sums of metrics to differentiate
    reads: Callable[[Measurement], Result] | None = None  # function that reads more than metrics from runs
    base: Values = field(init=False)  # values of all parameters under ``fixed``

    def __post_init__(self) -> None:
        check_variables(self.variables, self.experiment)
        check(self.randomizations, self.experiment)
        if self.replicas > 1 and not self.randomizations:
            raise InputError(f"replicas = {self.replicas}: all would be equal: add a [[randomization]], or set 1")
        object.__setattr__(self, "base", self.experiment.values(self.fixed))
        self._check_names()
        taken = {split_name(name)[0] for name in self.targets}
        scattered = {split_name(name)[0] for item in self.randomizations for name in item.parameters}
        if taken & scattered:
            raise InputError(f"{(taken & scattered).pop()} is both varied and randomized: leave one out")
        names: set[str] = set()
        for scenario in self.scenarios:
            if scenario.name in names:
                raise InputError(f"two scenarios are called {scenario.name!r}: give them different names")
            names.add(scenario.name)
            both = taken & {split_name(name)[0] for name in scenario.changes}
            if both:
                raise InputError(f"scenario {scenario.name!r} sets {both.pop()}, which is varied: leave one out")
            self.experiment.values({**self.fixed, **scenario.changes})
        self._check_corners()

    def _check_names(self) -> None:
        metrics = metric_units(self.experiment, self.fixed)
        for variable in self.variables:
            name = f"a parameter cannot be called {variable.name!r}"
            if variable.name in (*LABELS, *OUTCOME, "trial", "changes"):
                raise InputError(f"{name}: the table of trials has a column of this name; set another name")
            if variable.name in metrics:
                raise InputError(f"{name}: a metric has this name; set another name")

    def _check_corners(self) -> None:
        """Raise InputError if a scenario, or the variables' lower or upper bounds, cannot be set up."""
        for scenario in self.scenarios:
            self.experiment.build({**self.fixed, **scenario.changes})
        for part in (0.0, 1.0):
            self.experiment.build(self.trials(self.candidate_at(1, [part] * len(self.variables)))[0].changes)

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(target for variable in self.variables for target in variable.targets)

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of the parameters that are columns in addition to the variables."""
        named = {variable.name for variable in self.variables}
        return tuple(target for target in self.targets if target not in named)

    @property
    def units(self) -> dict[str, str]:
        """Units by variable; empty for a damping ratio."""
        return {v.name: "" if v.is_ratio else self.experiment.parameter(v.targets[0]).unit for v in self.variables}

    @property
    def size(self) -> int:
        return len(self.scenarios) * self.replicas

    @property
    def baseline(self) -> Candidate:
        """Candidate with the untuned values, with which all others are compared."""
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
        # All candidates have equal starts, for a fair comparison. Starts differ between scenarios, so that no candidate
        # is good at a single start only.
        common = {**self.fixed, **scenario.changes}
        seed = seed_of(self.seed, phase, scenario.name)
        drawn = replica_changes(self.randomizations, self.experiment, common, seed, replica)
        words = (phase, candidate.number, scenario.name, replica)
        labels: dict[str, Label] = {**dict(zip(LABELS, words, strict=True)), **candidate.point}
        sums = sums_in(self.slopes, scenario.name) if candidate.point and phase == TUNING else {}
        slopes = Slopes(sums, self.variables, candidate.point, self.base) if sums else None
        return Trial(number, {**common, **candidate.changes, **drawn}, labels, slopes, self.reads)

    def evaluated(
        self, trials: Sequence[Sequence[Trial]], evaluate: Evaluate, of_results: Container[str] | None = None
    ) -> list[list[Sample]]:
        """Run lists of trials, and return each list's samples; ``of_results``: entries to keep in them (None: all)."""
        results = evaluate([trial for mine in trials for trial in mine])
        return [self._samples(mine, results, of_results) for mine in trials]

    def _samples(
        self, trials: Sequence[Trial], results: Mapping[int, Result], of_results: Container[str] | None
    ) -> list[Sample]:
        weights = {scenario.name: scenario.weight for scenario in self.scenarios}
        samples = []
        for trial in trials:
            scenario, replica = str(trial.labels["scenario"]), int(trial.labels["replica"])
            result = results[trial.number]
            if of_results is not None:
                result = {name: value for name, value in result.items() if name in of_results}
            samples.append(Sample(scenario, replica, weights[scenario], result))
        return samples


class DesignStudy(StudyKind):
    """Base class of studies that try candidates of a design space."""

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
    """Return a design space from ``experiment``, ``seed``, ``[set]``, ``[[parameter]]`` and ``[[randomization]]``.

    ``of_each`` is called with each ``[[parameter]]``, to read a study's additional keys. Without ``[[randomization]]``,
    replicas differ in ``initial.seed`` if the experiment has it. ``must_scatter``: raise InputError unless they differ.
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
        raise config.error("[[randomization]] is missing: fresh replicas must differ, in order to confirm the winner")
    chosen = tuple(scenarios) or (Scenario(experiment.name, {}),)
    return config.within(lambda: DesignSpace(experiment, fixed, variables, chosen, replicas, randomizations, seed))


def _variable(config: Config, experiment: Experiment) -> DesignVariable:
    names = config.get("sets", str | tuple[str, ...])
    targets = (names,) if isinstance(names, str) else names
    for target in targets:
        config.within(partial(experiment.parameter, target), "sets")
    is_ratio = config.word("as", "", ["damping-ratio"]) == "damping-ratio"
    name = config.word("name", f"{targets[0]} as a damping ratio" if is_ratio else targets[0])
    if not is_ratio:
        number = f"{targets[0]}[0]" if isinstance(experiment.parameter(targets[0]).default, tuple) else targets[0]
        config.read_angles(experiment.parameter(number), "from", "to")
    return config.make(DesignVariable, name=name, targets=targets, is_ratio=is_ratio)


def check_metrics(config: Config, metrics: Iterable[str], space: DesignSpace) -> None:
    known = [*PROPORTIONS, *metric_units(space.experiment, {**space.fixed, **space.scenarios[0].changes})]
    for metric in metrics:
        if metric not in known:
            close = difflib.get_close_matches(metric, known, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else f"metrics are {', '.join(known)}"
            raise config.error(f"unknown metric {metric!r}; {hint}")
