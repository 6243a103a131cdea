"""Threshold studies: the largest value of a swept parameter that is recovered, under conditions, over replicas."""

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
#: Key of the table of people; each condition is repeated for each of them.
SUBJECTS = "subjects"
#: Labels of every trial.
TRIAL_LABELS = ("condition", "replica", "turn", "value")
#: Units of the labels of the presets' conditions.
LABEL_UNITS = {"direction": "°", "height": "m"}


@dataclass(frozen=True)
class SweptParameter:
    """Parameter whose threshold for recovery is searched, and its ratio to the values of the ``Grid``."""

    parameter: str  #: name of the parameter; ``block.velocity[0]`` is one number of a tuple
    factor: float = 1.0  #: parameter divided by the grid's value, such as −1 for a speed along −x
    label: str = ""  #: label of the values on a figure's axis; empty: the parameter's name
    unit: str = ""  #: unit of the grid's values; empty: the parameter's unit
    per_kg: bool = False  #: True if the grid's values are per kilogram of body mass, to compare bodies of any size

    def __post_init__(self) -> None:
        if not math.isfinite(self.factor) or self.factor == 0.0:
            raise InputError(f"factor = {self.factor:g}: it must be a finite number other than zero")


@dataclass(frozen=True)
class Condition:
    """Condition of a threshold study: changes of parameters, and labels in tables, such as ``{"direction": 15.0}``."""

    changes: Mapping[str, Value] = field(default_factory=dict)
    labels: Mapping[str, Label] = field(default_factory=dict)
    is_reference: bool = False  #: True if the body may fall undisturbed: the study is then done all the same


@dataclass(frozen=True)
class Threshold(StudyKind):
    """Plan of a threshold study, which searches the largest value of a parameter at which the body recovers."""

    experiment: Experiment
    swept: SweptParameter  #: swept parameter; recovery must become harder as its grid value grows
    grid: Grid  #: values to try
    conditions: tuple[Condition, ...] = (Condition(),)  #: conditions; each has its own thresholds
    changes: Mapping[str, Value] = field(default_factory=dict)  #: changes of the experiment's defaults in all trials
    randomizations: tuple[Randomization, ...] = ()  #: differences between replicas
    replicas: int = field(default=REPLICAS, metadata={"least": FEWEST})  #: number of replicas of each condition
    seed: int = field(default=0, metadata={"least": 0})  #: seed of the replicas
    count_stepping: bool = False  #: True to count trials that stepped as recovered
    #: largest number of steps of a recovered trial; 0: any number with ``count_stepping``, and none without
    most_steps: int = field(default=0, metadata={"least": 0})
    #: verdicts that count as lost; empty: ``USUAL_LOSSES``, without ``stepped`` if ``count_stepping``. Undecided and
    #: unreliable trials are neither lost nor recovered unless they are named here
    counts: tuple[str, ...] = ()
    confidence: float = CONFIDENCE  #: confidence of the intervals
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
        if name in (*self.changes, *self._other_varied):
            raise InputError(f"{name} is swept: it cannot also be set or randomized; leave it out there")
        self._check_labels()
        for number, _ in enumerate(self.conditions):
            self.experiment.build(self.trial(Query(number, 0, 0, self.grid.start)).changes)

    def _check_labels(self) -> None:
        """Check that no label has the name of another column, and that its values are all texts or all numbers."""
        names = {name for condition in self.conditions for name in condition.labels}
        metrics = metric_units(self.experiment) if names else ()
        taken = sorted(names & {*TRIAL_LABELS, *FIRST, CHANGES, *self.varied, *metrics})
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
        unit = self.experiment.parameter(self.swept.parameter).unit
        return self.swept.unit or (f"{unit}/kg" if self.swept.per_kg else unit)

    @cached_property
    def masses(self) -> tuple[float, ...]:
        """Body mass [kg] under each condition if the grid's values are per kilogram; otherwise 1."""
        if not self.swept.per_kg:
            return (1.0,) * len(self.conditions)
        return tuple(self.experiment.build(changes).model.total_mass for changes in self.samples)

    @property
    def label(self) -> str:
        return self.swept.label or self.swept.parameter

    @cached_property
    def varied(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([self.swept.parameter, *self._other_varied]))

    @property
    def _other_varied(self) -> list[str]:
        of_conditions = [name for condition in self.conditions for name in condition.changes]
        return [*of_conditions, *(name for item in self.randomizations for name in item.parameters)]

    @property
    def units(self) -> dict[str, str]:  # type: ignore[override]
        """Units of the grid's values and of labels, by column."""
        labels = {name for condition in self.conditions for name in condition.labels}
        return {"value": self.unit} | {name: unit for name, unit in LABEL_UNITS.items() if name in labels}

    @cached_property
    def _of_replica(self) -> dict[tuple[int, int], dict[str, Value]]:
        """Changes by (condition, replica), without the swept parameter."""
        of_replica = {}
        for number, condition in enumerate(self.conditions):
            changes = dict(self.changes) | dict(condition.changes)
            for replica in range(self.replicas):
                drawn = replica_changes(self.randomizations, self.experiment, changes, self.seed, replica)
                of_replica[number, replica] = changes | drawn
        return of_replica

    def trial(self, query: Query) -> Trial:
        """Return the trial that answers a query; its number depends on the query alone."""
        changes = self._of_replica[query.condition, query.replica]
        factor = self.swept.factor * self.masses[query.condition]
        swept: dict[str, Value] = {self.swept.parameter: neat(factor * query.value)}
        labels: dict[str, Label] = {**self.conditions[query.condition].labels, **query._asdict()}
        return Trial(self.number(query), changes | swept, labels)

    def number(self, query: Query) -> int:
        """Return the number of a query's trial: trials are ordered by condition, replica, and turn."""
        place = query.condition * self.replicas + query.replica
        return place * self.grid.most_trials + query.turn

    @property
    def samples(self) -> Sequence[Mapping[str, Value]]:
        return [dict(self.changes) | dict(condition.changes) for condition in self.conditions]

    @property
    def likely_trials(self) -> int:
        """Number of trials if no replica needs more than the grid and the halvings of a bracket."""
        halvings = math.ceil(math.log2(self.grid.by / self.grid.tolerance) - 1e-9)
        return len(self.conditions) * self.replicas * (len(self.grid.values) + halvings)

    def planned_trials(self, study: object) -> None:
        return None

    def check_first(self, evaluate: Evaluate) -> None:
        """Raise InputError if the swept disturbance can be switched off, and the body falls without it."""
        trials = self._undisturbed()
        for result in evaluate(trials).values() if trials else ():
            kept, steps = withstood(self.ended(result), self.losses), result["verdict"] == STEPPED
            how = "to count steps, give --count-stepping" if steps else "check gains and the order of joints first"
            if not kept:
                who, line = self.experiment.who, result["message"] or verdict_line(result)
                raise InputError(f"{who} does not stand undisturbed, with {self.swept.parameter} = 0: {line}; {how}")

    def _undisturbed(self) -> list[Trial]:
        """Return an undisturbed trial of each controller, engine and body that has to stand.

        The list is empty if no disturbance is swept.
        """
        group = self.swept.parameter.partition(".")[0]
        if switches().get(group, {}).get(self.swept.parameter) != 0.0:
            return []
        trials: dict[str, Trial] = {}
        for number, condition in enumerate(self.conditions):
            if condition.is_reference:
                continue
            trial = self.trial(Query(number, 0, 0, 0.0))
            rest = {name: value for name, value in trial.changes.items() if not name.startswith(f"{group}.")}
            trials.setdefault(changes_text(rest), trial)
        return list(trials.values())

    def find(self, evaluate: Evaluate) -> Findings:
        ended: list[list[dict[float, str]]] = [[{} for _ in range(self.replicas)] for _ in self.conditions]

        def recovered(queries: Sequence[Query]) -> list[bool | None]:
            results = evaluate([self.trial(query) for query in queries])
            for query in queries:
                ended[query.condition][query.replica][query.value] = self.ended(results[self.number(query)])
            return [withstood(ended[query.condition][query.replica][query.value], self.losses) for query in queries]

        outcomes = search(self.grid, len(self.conditions), self.replicas, recovered)
        rows = zip(self.conditions, outcomes, ended, strict=True)
        return Findings(self, tuple(Finding(condition, self, tried, words) for condition, tried, words in rows))

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
    """Make a study from its configuration; raises InputError for unknown or missing keys and impossible values."""
    experiment = config.experiment()
    table, grid = config.table("swept"), config.table("grid")
    swept = table.make(SweptParameter)
    parameter = table.within(lambda: experiment.parameter(swept.parameter), "parameter")
    if not swept.unit:
        grid.read_angles(parameter, "from", "to", "by", "tolerance", "limit")
    plan = config.make(
        Threshold, experiment=experiment, swept=swept, grid=grid.make(Grid),
        conditions=_conditions(config, experiment), changes=config.table("set", {}).changes(experiment),
        randomizations=tuple(table.make(Randomization) for table in config.tables("randomization", ())), kind=kind,
    )  # fmt: skip
    config.finish()
    return plan


def _conditions(config: Config, experiment: Experiment) -> tuple[Condition, ...]:
    """Return the conditions, each combined with all people of ``[subjects]`` if the table is given."""
    conditions = tuple(
        Condition(table.table("set", {}).changes(experiment), table.table("labels", {}).parameters())
        for table in config.tables("condition", ())
    ) or (Condition(),)
    if SUBJECTS not in config:
        return conditions
    people = config.table(SUBJECTS)
    drawn = subjects_axis(people, experiment, config.integer("seed", 0), people.integer("count", least=1))
    return tuple(
        Condition(
            {**condition.changes, **dict(zip(drawn.names, who, strict=True))},
            {**condition.labels, "subject": str(who[0]).removeprefix("subject:")},
        )
        for condition in conditions
        for who in drawn.points
    )


def findings_so_far(plan: Threshold, study: Study) -> Findings:
    """Return the findings of a running study, for conditions that were tried at all values of the grid."""
    results = study.results()
    findings = []
    for number, condition in enumerate(plan.conditions):
        ended = [_known(plan, results, number, replica) for replica in range(plan.replicas)]
        if all(ended):
            findings.append(Finding(condition, plan, [_outcomes(plan, verdicts) for verdicts in ended], ended))
    if not findings:
        raise InputError(f"{study.folder}: no condition has been tried at all values of the grid yet")
    return Findings(plan, tuple(findings))


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
