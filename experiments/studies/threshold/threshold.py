"""Threshold studies: the swept parameter, the conditions, the replicas."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from biped.errors import InputError
from biped.metrics.definitions.gait import STEPPING_ON
from biped.runs.verdict import STEPPED, verdict_line
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.disturbances import switches
from experiments.catalogue.parameters.parameter import Value, Values
from experiments.studies.config import Config, is_number
from experiments.studies.counting import USUAL_LOSSES, checked_losses, more_steps_than, withstood
from experiments.studies.grid import Grid, neat
from experiments.studies.proportion import CONFIDENCE
from experiments.studies.randomization import Randomization, check, replica_changes
from experiments.studies.store.folder import Study
from experiments.studies.store.measured import metric_units
from experiments.studies.store.table import CHANGES, FIRST, changes_text
from experiments.studies.study_kind import Evaluate, StudyKind
from experiments.studies.sweep.axis import subjects_axis
from experiments.studies.threshold.findings import Finding, Findings
from experiments.studies.threshold.search import Query, next_values, search
from experiments.studies.threshold.statistics import FEWEST, rank
from experiments.studies.trial import Label, Result, Trial

#: Default number of replicas.
REPLICAS = 21
#: Table of people; each condition is repeated for each of them.
SUBJECTS = "subjects"
#: Labels of every trial.
OWN_LABELS = ("condition", "replica", "turn", "value")
#: Units of the labels of the presets' conditions.
LABEL_UNITS = {"direction": "°", "height": "m"}


@dataclass(frozen=True)
class SweptParameter:
    """The parameter whose threshold is searched."""

    parameter: str  #: name of the parameter; ``block.velocity[0]`` is one number of a tuple
    factor: float = 1.0  #: the parameter is this times the value, such as −1 for a speed along −x
    label: str = ""  #: label of the value on a figure's axis; the parameter's name if not given
    unit: str = ""  #: unit of the value; the parameter's if not given
    per_kg: bool = False  #: True for values per kilogram of the body's mass, comparable between sizes

    def __post_init__(self) -> None:
        if not math.isfinite(self.factor) or self.factor == 0.0:
            raise InputError(f"factor = {self.factor:g}: it must be a finite number other than zero")


@dataclass(frozen=True)
class Condition:
    """Changes that define a condition, and its labels, such as ``{"direction": 15.0}``."""

    changes: Mapping[str, Value] = field(default_factory=dict)
    labels: Mapping[str, Label] = field(default_factory=dict)


@dataclass(frozen=True)
class Threshold(StudyKind):
    """A threshold study; equal studies ask equal queries."""

    experiment: Experiment
    swept: SweptParameter  #: the parameter; it must make recovery harder as the value grows
    grid: Grid
    conditions: tuple[Condition, ...] = (Condition(),)
    changes: Mapping[str, Value] = field(default_factory=dict)  #: changes of the experiment's defaults in all trials
    randomizations: tuple[Randomization, ...] = ()  #: differences between replicas
    replicas: int = field(default=REPLICAS, metadata={"least": FEWEST})
    seed: int = field(default=0, metadata={"least": 0})
    count_stepping: bool = False  #: True to count trials that stepped as recovered
    #: largest number of steps of a recovered trial; 0: any number with ``count_stepping``, and none without
    most_steps: int = field(default=0, metadata={"least": 0})
    #: verdicts that count as lost; by default all but recovered, and but stepped with ``count_stepping``. Undecided and
    #: unreliable trials are neither lost nor recovered, unless they are named
    counts: tuple[str, ...] = ()
    confidence: float = CONFIDENCE
    kind: str = "threshold"  #: ``"threshold"`` or the name of the preset

    def __post_init__(self) -> None:
        rank(self.replicas, self.confidence)
        object.__setattr__(self, "counts", checked_losses(self.counts))
        if self.counts and (self.count_stepping or self.most_steps):
            name = "count_stepping" if self.count_stepping else "most_steps"
            raise InputError(f"{name} cannot be given with counts: leave stepped out of counts instead")
        for name in ("seed", "most_steps"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} = {getattr(self, name)}: it must be zero or above")
        if not self.conditions:
            raise InputError("give at least one condition")
        check(self.randomizations, self.experiment)
        name = self.swept.parameter
        if not isinstance(self.experiment.parameter(name).default, float):
            raise InputError(f"{name} cannot be swept: it must be one real number, as in NAME or NAME[0]")
        if name in (*self.changes, *self._varied_besides):
            raise InputError(f"{name} is swept: it can be neither set nor randomized; leave it out there")
        self._check_labels()
        for number, _ in enumerate(self.conditions):
            self.experiment.build(self.trial(Query(number, 0, 0, self.grid.start)).changes)

    def _check_labels(self) -> None:
        """Check that labels are columns of their own, of texts or of numbers."""
        names = {name for condition in self.conditions for name in condition.labels}
        metrics = metric_units(self.experiment) if names else ()
        taken = sorted(names & {*OWN_LABELS, *FIRST, CHANGES, *self.varied, *metrics})
        if taken:
            raise InputError(f"label {taken[0]!r} of a condition: a column of the study has this name; choose another")
        kinds: dict[str, bool] = {}
        for name, label in (item for condition in self.conditions for item in condition.labels.items()):
            if not isinstance(label, str) and not is_number(label):
                raise InputError(f"label {name} = {label!r} of a condition: it must be a text or a finite number")
            if kinds.setdefault(name, isinstance(label, str)) != isinstance(label, str):
                raise InputError(f"label {name!r}: a text in one condition and a number in another: choose one")

    @property
    def losses(self) -> tuple[str, ...]:
        """Verdicts that count as lost."""
        if self.counts:
            return self.counts
        usual = tuple(word for word in USUAL_LOSSES if word != STEPPED)
        if self.most_steps:
            return more_steps_than(self.most_steps), *usual
        return usual if self.count_stepping else USUAL_LOSSES

    def ended(self, result: Result) -> str:
        """Return how a trial ended: its verdict, or the label for too many steps."""
        verdict = str(result["verdict"])
        steps = math.inf if result.get("reason") == STEPPING_ON else float(result.get("footsteps") or 0.0)
        too_many = self.most_steps and verdict == STEPPED and steps > self.most_steps
        return more_steps_than(self.most_steps) if too_many else verdict

    @property
    def unit(self) -> str:
        own = self.experiment.parameter(self.swept.parameter).unit
        return self.swept.unit or (f"{own}/kg" if self.swept.per_kg else own)

    @cached_property
    def masses(self) -> tuple[float, ...]:
        """Body mass [kg] under each condition if values are per kilogram; else 1."""
        if not self.swept.per_kg:
            return (1.0,) * len(self.conditions)
        return tuple(self.experiment.build(changes).model.total_mass for changes in self.samples)

    @property
    def label(self) -> str:
        return self.swept.label or self.swept.parameter

    @cached_property
    def varied(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([self.swept.parameter, *self._varied_besides]))

    @property
    def _varied_besides(self) -> list[str]:
        of_conditions = [name for condition in self.conditions for name in condition.changes]
        return [*of_conditions, *(name for found in self.randomizations for name in found.parameters)]

    @property
    def units(self) -> dict[str, str]:  # type: ignore[override]
        """Units of the swept parameter and of labels, by column."""
        labels = {name for condition in self.conditions for name in condition.labels}
        return {"value": self.unit} | {name: unit for name, unit in LABEL_UNITS.items() if name in labels}

    @cached_property
    def _of_replica(self) -> dict[tuple[int, int], dict[str, Value]]:
        """All changes of a replica under a condition, except the swept parameter."""
        found = {}
        for number, condition in enumerate(self.conditions):
            changes = dict(self.changes) | dict(condition.changes)
            for replica in range(self.replicas):
                drawn = replica_changes(self.randomizations, self.experiment, changes, self.seed, replica)
                found[number, replica] = changes | drawn
        return found

    def trial(self, query: Query) -> Trial:
        """Return the trial that answers a query; its number depends on the query alone."""
        changes = self._of_replica[query.condition, query.replica]
        factor = self.swept.factor * self.masses[query.condition]
        swept: dict[str, Value] = {self.swept.parameter: neat(factor * query.value)}
        labels: dict[str, Label] = {**self.conditions[query.condition].labels, **query._asdict()}
        return Trial(self.number(query), changes | swept, labels)

    def number(self, query: Query) -> int:
        """Return a query's number: ordered by condition, then replica, then the order of each replica's queries."""
        place = query.condition * self.replicas + query.replica
        return place * self.grid.most_trials + query.turn

    @property
    def samples(self) -> Sequence[Mapping[str, Value]]:
        return [dict(self.changes) | dict(condition.changes) for condition in self.conditions]

    @property
    def likely_trials(self) -> int:
        """Number of trials if no replica needs more than the grid and its halvings."""
        halvings = math.ceil(math.log2(self.grid.by / self.grid.tolerance) - 1e-9)
        return len(self.conditions) * self.replicas * (len(self.grid.values) + halvings)

    def planned_trials(self, study: object) -> None:
        return None

    def check_first(self, evaluate: Evaluate) -> None:
        """Raise InputError unless the body stands undisturbed, if the swept parameter can be switched off."""
        trials = self._undisturbed()
        for result in evaluate(trials).values() if trials else ():
            kept, steps = withstood(self.ended(result), self.losses), result["verdict"] == STEPPED
            how = "to count steps, give --count-stepping" if steps else "check gains and the order of joints first"
            if not kept:
                who, line = self.experiment.who, result["message"] or verdict_line(result)
                raise InputError(f"{who} does not stand undisturbed, with {self.swept.parameter} = 0: {line}; {how}")

    def _undisturbed(self) -> list[Trial]:
        """Return an undisturbed trial of each controller, engine and body; none if no disturbance is swept."""
        group = self.swept.parameter.partition(".")[0]
        if switches().get(group, {}).get(self.swept.parameter) != 0.0:
            return []
        found: dict[str, Trial] = {}
        for number, _ in enumerate(self.conditions):
            trial = self.trial(Query(number, 0, 0, 0.0))
            others = {name: value for name, value in trial.changes.items() if not name.startswith(f"{group}.")}
            found.setdefault(changes_text(others), trial)
        return list(found.values())

    def find(self, evaluate: Evaluate) -> Findings:
        ended: list[list[dict[float, str]]] = [[{} for _ in range(self.replicas)] for _ in self.conditions]

        def recovered(queries: Sequence[Query]) -> list[bool | None]:
            results = evaluate([self.trial(query) for query in queries])
            for query in queries:
                ended[query.condition][query.replica][query.value] = self.ended(results[self.number(query)])
            return [withstood(ended[query.condition][query.replica][query.value], self.losses) for query in queries]

        outcomes = search(self.grid, len(self.conditions), self.replicas, recovered)
        rows = zip(self.conditions, outcomes, ended, strict=True)
        return Findings(self, tuple(Finding(condition, self, found, words) for condition, found, words in rows))

    @property
    def configuration(self) -> dict[str, Any]:
        return {"kind": self.kind, "plan": self.as_json()}

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> "Threshold":
        return threshold_from(Config(configuration["plan"]), configuration["kind"])

    def as_json(self) -> dict[str, Any]:
        """Return the study as a configuration that ``threshold_from`` reads."""
        grid = asdict(self.grid)
        names = ("replicas", "seed", "count_stepping", "confidence")
        return {
            "experiment": self.experiment.address,
            **({"robot": self.experiment.robot} if self.experiment.robot else {}),
            **({"controller": self.experiment.controller} if self.experiment.is_driven_by_another else {}),
            **({"metric_files": [entry.name for entry in self.experiment.metrics]} if self.experiment.metrics else {}),
            **{name: getattr(self, name) for name in names},
            **({"most_steps": self.most_steps} if self.most_steps else {}),
            **({"counts": list(self.counts)} if self.counts else {}),
            "swept": {name: value for name, value in asdict(self.swept).items() if value or name != "per_kg"},
            "grid": {"from": grid.pop("start"), "to": grid.pop("stop"), **grid},
            "set": Values(self.changes).as_json(),
            **({"randomization": [item.as_json() for item in self.randomizations]} if self.randomizations else {}),
            "condition": [
                {"set": Values(condition.changes).as_json(), "labels": dict(condition.labels)}
                for condition in self.conditions
            ],
        }


def threshold_from(config: Config, kind: str = "threshold") -> Threshold:
    """Read a study from its configuration; raises InputError for unknown or missing keys and impossible values."""
    experiment = config.experiment()
    table, grid = config.table("swept"), config.table("grid")
    swept = table.make(SweptParameter)
    parameter = table.within(lambda: experiment.parameter(swept.parameter), "parameter")
    if not swept.unit:
        grid.read_angles(parameter, "from", "to", "by", "tolerance", "limit")
    plan = config.make(
        Threshold,
        experiment=experiment,
        swept=swept,
        grid=grid.make(Grid),
        conditions=_conditions(config, experiment),
        changes=config.table("set", {}).changes(experiment),
        randomizations=tuple(table.make(Randomization) for table in config.tables("randomization", ())),
        kind=kind,
    )
    config.finish()
    return plan


def _conditions(config: Config, experiment: Experiment) -> tuple[Condition, ...]:
    """Return the conditions, each combined with all ``[subjects]`` if there are any."""
    found = tuple(
        Condition(table.table("set", {}).changes(experiment), table.table("labels", {}).parameters())
        for table in config.tables("condition", ())
    ) or (Condition(),)
    if SUBJECTS not in config:
        return found
    people = config.table(SUBJECTS)
    drawn = subjects_axis(people, experiment, config.integer("seed", 0), people.integer("count", least=1))
    return tuple(
        Condition(
            {**one.changes, **dict(zip(drawn.names, who, strict=True))},
            {**one.labels, "subject": str(who[0]).removeprefix("subject:")},
        )
        for one in found
        for who in drawn.points
    )


def findings_so_far(plan: Threshold, study: Study) -> Findings:
    """Return the findings of conditions tried on the whole grid, at the resolution reached so far."""
    results = study.results()
    found = []
    for number, condition in enumerate(plan.conditions):
        ended = [_known(plan, results, number, replica) for replica in range(plan.replicas)]
        if all(ended):
            found.append(Finding(condition, plan, [_outcomes(plan, one) for one in ended], ended))
    if not found:
        raise InputError(f"{study.folder}: no condition has been tried at all values of the grid")
    return Findings(plan, tuple(found))


def _known(plan: Threshold, results: Mapping[int, Result], condition: int, replica: int) -> dict[float, str]:
    """Return verdicts by value from all complete rounds of the search."""
    known: dict[float, str] = {}
    while values := next_values(_outcomes(plan, known), plan.grid):
        queries = [Query(condition, replica, len(known) + k, value) for k, value in enumerate(values)]
        numbers = [plan.number(query) for query in queries]
        if any(number not in results for number in numbers):
            break
        known |= {value: plan.ended(results[number]) for value, number in zip(values, numbers, strict=True)}
    return known


def _outcomes(plan: Threshold, ended: Mapping[float, str]) -> dict[float, bool | None]:
    return {value: withstood(verdict, plan.losses) for value, verdict in ended.items()}
