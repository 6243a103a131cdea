"""What a study of thresholds asks: which parameter, under which conditions, of which replicas."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from biped.errors import InputError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, Values, from_json, parameter_named
from experiments.catalogue.registry import experiment_named
from experiments.studies.store.config import Config, is_number
from experiments.studies.store.measured import metric_units
from experiments.studies.store.rows import CHANGES, FIRST
from experiments.studies.threshold.ensemble import Question
from experiments.studies.threshold.grid import Ladder, neat
from experiments.studies.threshold.replicas import KINDS, Scatter, check, replica_changes
from experiments.studies.threshold.statistics import CONFIDENCE, FEWEST, rank
from experiments.studies.trial import RECOVERED, STEPPED, Label, Trial

#: How many, where nothing is said.
REPLICAS = 21
#: Labels that every trial has.
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
    replicas: int = REPLICAS
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
        if self.dial.parameter in (*self.changes, *self._varied_besides):
            raise InputError(f"{self.dial.parameter} is what is turned: it can be neither set nor scattered")
        self._check_labels()
        for number, _ in enumerate(self.conditions):
            self.base.build(self.trial(Question(number, 0, 0, self.ladder.start)).changes)

    def _check_labels(self) -> None:
        """Each is a column of its own, of texts or of numbers."""
        names = {name for condition in self.conditions for name in condition.labels}
        of_others = {*OWN_LABELS, *FIRST, CHANGES, *self.varied, *(metric_units(self.base) if names else ())}
        taken = sorted(names & of_others)
        if taken:
            raise InputError(f"label {taken[0]!r} of a condition: it has another meaning in a study of thresholds")
        kinds: dict[str, bool] = {}
        for name, label in (item for condition in self.conditions for item in condition.labels.items()):
            if not isinstance(label, str) and not is_number(label):
                raise InputError(f"label {name} = {label!r} of a condition: it must be a text or a finite number")
            if kinds.setdefault(name, isinstance(label, str)) != isinstance(label, str):
                raise InputError(f"label {name!r}: it is a text of one condition and a number of another: choose one")

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
        return list(dict.fromkeys([self.dial.parameter, *self._varied_besides]))

    @property
    def _varied_besides(self) -> list[str]:
        """Those that conditions and scatters set."""
        of_conditions = [name for condition in self.conditions for name in condition.changes]
        return [*of_conditions, *(name for scatter in self.scatters for name in scatter.parameters)]

    @cached_property
    def _of_replica(self) -> dict[tuple[int, int], dict[str, Value]]:
        """All changes of a replica under a condition, but what is turned."""
        found = {}
        for number, condition in enumerate(self.conditions):
            changes = dict(self.changes) | dict(condition.changes)
            for replica in range(self.replicas):
                found[number, replica] = changes | replica_changes(
                    self.scatters, self.base, changes, self.seed, replica
                )
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

    @property
    def likely_trials(self) -> int:
        """How many trials it takes where no replica needs more than the first look."""
        halvings = math.ceil(math.log2(self.ladder.by / self.ladder.tolerance) - 1e-9)
        return len(self.conditions) * self.replicas * (len(self.ladder.rungs) + halvings)

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
            **({"scatter": [scatter.as_json() for scatter in self.scatters]} if self.scatters else {}),
            "condition": [
                {"set": Values(condition.changes).as_json(), "labels": dict(condition.labels)}
                for condition in self.conditions
            ],
        }


def plan_from(config: Config) -> Plan:
    """The plan of a configuration.

    Raises:
        InputError: a key is unknown or missing, or a value is impossible.
    """
    experiment = experiment_named(config.word("experiment"))
    plan = Plan(
        experiment=experiment.name,
        dial=_dial(config.table("dial")),
        ladder=_ladder(config.table("ladder")),
        conditions=tuple(_condition(table, experiment) for table in config.tables("condition", ())) or (Condition(),),
        changes=_changes(config.table("set", {}), experiment),
        scatters=tuple(_scatter(table) for table in config.tables("scatter", ())),
        replicas=config.whole("replicas", REPLICAS, FEWEST),
        seed=config.whole("seed", 0),
        count_stepping=config.switch("count_stepping", False),
        confidence=config.number("confidence", CONFIDENCE),
    )
    config.finish()
    return plan


def _dial(table: Config) -> Dial:
    return Dial(table.word("parameter"), table.number("factor", 1.0), table.word("label", ""), table.word("unit", ""))


def _ladder(table: Config) -> Ladder:
    begin, end = table.number("from"), table.number("to")
    return Ladder(begin, end, table.number("by"), table.number("tolerance", 0.0), table.number("limit", 0.0))


def _scatter(table: Config) -> Scatter:
    kind: Any = table.word("kind", choices=KINDS)
    return Scatter(tuple(table.words("parameters")), kind, table.number("width", 0.0))


def _condition(table: Config, experiment: Experiment) -> Condition:
    return Condition(_changes(table.table("set", {}), experiment), table.table("labels", {}).parameters())


def _changes(table: Config, experiment: Experiment) -> dict[str, Value]:
    found = table.parameters()
    return {name: from_json(parameter_named(name, experiment.parameters), value) for name, value in found.items()}
