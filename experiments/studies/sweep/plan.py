"""A sweep: which parameters take which values, how often, and so which trials there are."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from biped.errors import InputError
from contact.errors import BipedError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.initial import SCATTER
from experiments.catalogue.parameters.parameter import Value, parameter_named, shown, split_name
from experiments.catalogue.registry import experiment_named
from experiments.studies.seeds import seed_of
from experiments.studies.store.config import Config, changes_from, read_config
from experiments.studies.store.measured import metric_units
from experiments.studies.sweep.axis import Axis, grid_axis, sample_axis, together_axis
from experiments.studies.trial import Trial

T = TypeVar("T")

#: Tables in [vary] that are no parameters.
TOGETHER, SAMPLE = "together", "sample"
#: At most so many combinations are tried to be set up before the first trial; of more, so many spread evenly.
MOST_CHECKED = 500


@dataclass(frozen=True)
class Plan:
    """A sweep, checked.

    Attributes:
        experiment: what is run.
        fixed: what differs from its defaults in all trials.
        axes: what is varied; all combinations of their points are run.
        replicas: of each combination, from scattered starts where there is more than one.
        seed: of samples and replicas.
        metrics: those that are kept; None for all.
        configuration: what it was made from.
    """

    experiment: Experiment
    fixed: Mapping[str, Value]
    axes: tuple[Axis, ...]
    replicas: int = 1
    seed: int = 0
    metrics: tuple[str, ...] | None = None
    configuration: Mapping[str, Any] = field(default_factory=dict)

    @property
    def varied(self) -> tuple[str, ...]:
        """The names of all parameters that are varied."""
        return tuple(name for axis in self.axes for name in axis.names)

    @property
    def points(self) -> int:
        """How many combinations there are."""
        return math.prod(len(axis.points) for axis in self.axes)

    @property
    def total(self) -> int:
        """How many trials there are."""
        return self.points * self.replicas

    def trials(self) -> list[Trial]:
        """All trials: combination by combination, the last axis fastest, then the replicas of one."""
        return [
            Trial(point * self.replicas + replica, self.changes(values, replica), {"point": point, "replica": replica})
            for point, values in enumerate(product(*(axis.points for axis in self.axes)))
            for replica in range(self.replicas)
        ]

    def changes(self, values: Sequence[tuple[Value, ...]], replica: int) -> dict[str, Value]:
        """Of a replica at a point of each axis."""
        flat = [value for part in values for value in part]
        changes = dict(self.fixed) | dict(zip(self.varied, flat, strict=True))
        if self.replicas > 1:  # the same starts for every combination: what differs is not luck
            changes["initial.seed"] = seed_of(self.seed, "replica", replica)
            changes.setdefault("initial.jitter", SCATTER)
        return changes


def load_plan(path: str | Path) -> Plan:
    """The sweep in a TOML file.

    Raises:
        InputError: something in it is wrong; the message names file and line.
        OSError: it cannot be read.
    """
    return plan_from(read_config(path))


def plan_from(config: Config) -> Plan:
    """The sweep of a configuration; raises what ``load_plan`` raises."""
    try:
        experiment = experiment_named(config.word("experiment"))
    except InputError as error:
        raise config.error(str(error).removeprefix(config.source + ": "), "experiment") from None
    seed = config.whole("seed", 0)
    replicas = config.whole("replicas", 1, least=1)
    fixed = changes_from(config.table("set", {}), experiment)
    metrics = _metrics(config, experiment, fixed)
    axes = _axes(config.table("vary"), experiment, seed)
    config.finish()
    plan = Plan(experiment, fixed, axes, replicas, seed, metrics, dict(config.data))
    _check_names(plan, config)
    _check_values(plan, config)
    return plan


def _metrics(config: Config, experiment: Experiment, fixed: Mapping[str, Value]) -> tuple[str, ...] | None:
    if "metrics" not in config:
        config.take("metrics", None)
        return None
    try:
        known = metric_units(experiment, fixed)
    except BipedError as error:
        raise config.error(str(error), "set") from None
    found: dict[str, None] = {}
    for pattern in config.words("metrics"):
        names = [name for name in known if fnmatchcase(name, pattern)]
        if not names:
            raise config.error(f"metrics: there is no {pattern!r}; there are {', '.join(known)}", "metrics")
        found |= dict.fromkeys(names)
    return tuple(found)


def _axes(config: Config, experiment: Experiment, seed: int) -> tuple[Axis, ...]:
    axes = [
        grid_axis(config, name, spec, experiment) for name, spec in config.parameters(but=(TOGETHER, SAMPLE)).items()
    ]
    if TOGETHER in config:
        axes.append(together_axis(config.table(TOGETHER), experiment))
    if SAMPLE in config:
        axes.append(sample_axis(config.table(SAMPLE), experiment, seed))
    if not axes:
        raise config.error("[vary] is empty: name a parameter with a list of values, such as floor.mu_s = [0.4, 0.6]")
    return tuple(axes)


def _check_names(plan: Plan, config: Config) -> None:
    """No parameter is set in two places."""
    seen: set[str] = set()
    for name in plan.varied:
        whole = split_name(name)[0]
        if name in seen or (name != whole and whole in seen) or any(split_name(other)[0] == name for other in seen):
            raise config.error(f"{name} is varied twice", "vary")
        seen.add(name)
    for name in plan.fixed:
        if name in seen or any(split_name(varied)[0] == split_name(name)[0] and "[" not in varied for varied in seen):
            raise config.error(f"{name} is both set and varied: leave one of them out", "set")
    if plan.replicas > 1:
        parameter_named("initial.seed", plan.experiment.parameters)
        if "initial.seed" in seen or "initial.seed" in plan.fixed:
            raise config.error("initial.seed: replicas have seeds of their own; leave it or replicas out", "replicas")


def _check_values(plan: Plan, config: Config) -> None:
    """What is run can be set up: each value of each axis, and of their combinations all or many."""
    tried, wrong, first = 0, 0, ""
    for values in _tried(plan.axes):
        tried += 1
        try:
            plan.experiment.build(plan.changes(values, 0)).prepare()
        except BipedError as error:
            wrong += 1
            first = first or f"{_told(plan.varied, values)}: {error}"
    if wrong == tried:
        raise config.error(first.partition(": ")[2] if tried == 1 else f"no combination can be run; {first}")
    if wrong:
        raise config.error(f"{wrong} of {tried} combinations cannot be run; the first is {first}", "vary")


def _tried(axes: Sequence[Axis]) -> Iterator[tuple[tuple[Value, ...], ...]]:
    """Combinations to try: all of few; of many, each point of each axis once, and some spread evenly."""
    count = math.prod(len(axis.points) for axis in axes)
    if count <= MOST_CHECKED:
        yield from product(*(axis.points for axis in axes))
        return
    base = tuple(axis.points[0] for axis in axes)
    for place, axis in enumerate(axes):
        for point in _spread(axis.points, MOST_CHECKED):
            yield (*base[:place], point, *base[place + 1 :])
    for k in range(MOST_CHECKED):
        yield _combination(axes, k * count // MOST_CHECKED)


def _spread(points: Sequence[T], most: int) -> list[T]:
    return list(points) if len(points) <= most else [points[k * len(points) // most] for k in range(most)]


def _combination(axes: Sequence[Axis], number: int) -> tuple[tuple[Value, ...], ...]:
    """The combination of this number, the last axis fastest."""
    found: list[tuple[Value, ...]] = []
    for axis in reversed(axes):
        number, place = divmod(number, len(axis.points))
        found.append(axis.points[place])
    return tuple(reversed(found))


def _told(names: Sequence[str], values: Sequence[tuple[Value, ...]]) -> str:
    flat = [value for part in values for value in part]
    return ", ".join(f"{name} = {shown(value)}" for name, value in zip(names, flat, strict=True))
