"""What a study of thresholds asks: which parameter, under which conditions, of which replicas."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from biped.errors import InputError
from experiments.experiment import Experiment
from experiments.parameter import Value, Values, from_json, parameter_named
from experiments.registry import experiment_named
from experiments.threshold.ensemble import Question
from experiments.threshold.ladder import Ladder, neat
from experiments.threshold.replicas import Scatter, check, replica_changes
from experiments.threshold.statistics import CONFIDENCE, rank
from experiments.trial import RECOVERED, STEPPED, Label, Trial

#: Labels that every trial has; a condition's own cannot have their names.
OWN_LABELS = ("condition", "replica", "turn", "value")


@dataclass(frozen=True)
class Dial:
    """The number that is turned.

    Attributes:
        parameter: its name; ``block.velocity[0]`` is one number of a tuple.
        factor: the parameter is this times the value, such as −1 for a speed along −x.
        label: what the value is, for a figure's axis; the parameter's name if not given.
        unit: of the value; the parameter's if not given.
    """

    parameter: str
    factor: float = 1.0
    label: str = ""
    unit: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.factor) or self.factor == 0.0:
            raise InputError(f"factor = {self.factor:g}: it must be a finite number other than zero")


@dataclass(frozen=True)
class Condition:
    """One of the circumstances under which a threshold is looked for.

    Attributes:
        changes: what differs from the plan's.
        labels: what it is known by, such as ``{"direction": 15.0}``.
    """

    changes: Mapping[str, Value] = field(default_factory=dict)
    labels: Mapping[str, Label] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """A study of thresholds, whole: the same plan asks the same questions.

    Attributes:
        experiment: its name.
        dial: what is turned, and it must make recovery harder as the value grows.
        ladder: the values.
        conditions: at least one.
        changes: what differs from the experiment's defaults throughout.
        scatters: how replicas differ.
        replicas: how many.
        seed: of the replicas.
        count_stepping: whether to have stepped counts as having stayed up.
        confidence: of the intervals.

    Raises:
        InputError: for what does not fit together.
    """

    experiment: str
    dial: Dial
    ladder: Ladder
    conditions: tuple[Condition, ...] = (Condition(),)
    changes: Mapping[str, Value] = field(default_factory=dict)
    scatters: tuple[Scatter, ...] = ()
    replicas: int = 21
    seed: int = 0
    count_stepping: bool = False
    confidence: float = CONFIDENCE

    def __post_init__(self) -> None:
        rank(self.replicas, self.confidence)
        if self.seed < 0:
            raise InputError(f"seed = {self.seed}: it must be zero or above")
        if not self.conditions:
            raise InputError("give at least one condition")
        check(self.scatters, self.base)
        if not isinstance(parameter_named(self.dial.parameter, self.base.parameters).default, float):
            raise InputError(
                f"{self.dial.parameter} cannot be turned: it must be one real number, as in NAME or NAME[0]"
            )
        for condition in self.conditions:
            taken = sorted(set(condition.labels) & set(OWN_LABELS))
            if taken:
                raise InputError(f"label {taken[0]!r} of a condition: it has another meaning in a study of thresholds")
        for number, _ in enumerate(self.conditions):
            self.base.build(self.trial(Question(number, 0, 0, self.ladder.start)).changes)

    @cached_property
    def base(self) -> Experiment:
        """The experiment."""
        return experiment_named(self.experiment)

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Those that count as recovered."""
        return (RECOVERED, STEPPED) if self.count_stepping else (RECOVERED,)

    @property
    def unit(self) -> str:
        """Of the values."""
        return self.dial.unit or parameter_named(self.dial.parameter, self.base.parameters).unit

    @property
    def label(self) -> str:
        """What the values are."""
        return self.dial.label or self.dial.parameter

    @cached_property
    def varied(self) -> list[str]:
        """The parameters that differ between trials."""
        of_conditions = [name for condition in self.conditions for name in condition.changes]
        scattered = [name for scatter in self.scatters for name in scatter.parameters]
        return list(dict.fromkeys([self.dial.parameter, *of_conditions, *scattered]))

    @cached_property
    def _of_replica(self) -> dict[tuple[int, int], dict[str, Value]]:
        """All changes of a replica under a condition, but what is turned."""
        found = {}
        for number, condition in enumerate(self.conditions):
            changes = dict(self.changes) | dict(condition.changes)
            values = self.base.values(changes)
            for replica in range(self.replicas):
                found[number, replica] = changes | replica_changes(self.scatters, values, self.seed, replica)
        return found

    def trial(self, question: Question) -> Trial:
        """The trial that answers a question; its number is the question's, whenever and wherever it is asked."""
        changes = self._of_replica[question.condition, question.replica]
        turned: dict[str, Value] = {self.dial.parameter: neat(self.dial.factor * question.value)}
        labels: dict[str, Label] = {
            **self.conditions[question.condition].labels,
            "condition": question.condition,
            "replica": question.replica,
            "turn": question.turn,
            "value": question.value,
        }
        return Trial(self.number(question), changes | turned, labels)

    def number(self, question: Question) -> int:
        """Trials are numbered condition by condition, replica by replica, in the order in which each asks."""
        place = question.condition * self.replicas + question.replica
        return place * self.ladder.most_trials + question.turn

    def as_json(self) -> dict[str, Any]:
        """As a configuration file has it, and as ``plan_from`` reads it."""
        ladder = self.ladder
        return {
            "experiment": self.experiment,
            "replicas": self.replicas,
            "seed": self.seed,
            "count_stepping": self.count_stepping,
            "confidence": self.confidence,
            "dial": asdict(self.dial),
            "ladder": {
                "from": ladder.start,
                "to": ladder.stop,
                "by": ladder.by,
                "tolerance": ladder.tolerance,
                "limit": ladder.limit,
            },
            "set": Values(self.changes).as_json(),
            "scatter": [scatter.as_json() for scatter in self.scatters],
            "condition": [
                {"set": Values(condition.changes).as_json(), "labels": dict(condition.labels)}
                for condition in self.conditions
            ],
        }


#: Keys of each table of a configuration, and whether they must be there.
_KEYS = {
    "": {
        "experiment": True,
        "ladder": True,
        "dial": True,
        **dict.fromkeys(("replicas", "seed", "count_stepping", "confidence", "set", "scatter", "condition"), False),
    },
    "dial": {"parameter": True, "factor": False, "label": False, "unit": False},
    "ladder": {"from": True, "to": True, "by": True, "tolerance": False, "limit": False},
    "scatter": {"parameters": True, "kind": True, "width": False},
    "condition": {"set": False, "labels": False},
}


def plan_from(document: Mapping[str, Any]) -> Plan:
    """The plan of a configuration, as TOML or JSON have it.

    Raises:
        InputError: a key is unknown or missing, or a value is impossible.
    """
    _check(document, "")
    for name in ("dial", "ladder"):
        _check(document[name], name)
    for name in ("scatter", "condition"):
        for table in document.get(name, []):
            _check(table, name)
    experiment = experiment_named(document["experiment"])
    ladder = {"start": "from", "stop": "to"}
    return Plan(
        experiment=experiment.name,
        dial=Dial(**document["dial"]),
        ladder=Ladder(
            **{
                name: _number(document["ladder"][key], f"ladder.{key}")
                for name in (item.name for item in fields(Ladder))
                if (key := ladder.get(name, name)) in document["ladder"]
            }
        ),
        conditions=tuple(
            Condition(checked_changes(experiment, table.get("set", {})), table.get("labels", {}))
            for table in document.get("condition", [{}])
        ),
        changes=checked_changes(experiment, document.get("set", {})),
        scatters=tuple(Scatter(**table) for table in document.get("scatter", [])),
        **{name: document[name] for name in ("replicas", "seed", "count_stepping", "confidence") if name in document},
    )


def checked_changes(experiment: Experiment, table: Mapping[str, Any], prefix: str = "") -> dict[str, Value]:
    """The parameters of a table, in which a dotted name may be a table in a table.

    Raises:
        InputError: a parameter does not exist, or a value is not of its kind.
    """
    changes: dict[str, Value] = {}
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            changes |= checked_changes(experiment, value, f"{name}.")
        else:
            changes[name] = from_json(parameter_named(name, experiment.parameters), value)
    return changes


def _check(table: Any, name: str) -> None:
    where = f"[{name}]: " if name else ""
    if not isinstance(table, Mapping):
        raise InputError(f"{where or 'configuration: '}it must be a table")
    keys = _KEYS[name]
    for key in table:
        if key not in keys:
            raise InputError(f"{where}unknown key {key!r}; keys are {', '.join(keys)}")
    for key, required in keys.items():
        if required and key not in table:
            raise InputError(f"{where}{key} is missing")


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{name} = {value!r}: it must be a number")
    return float(value)
