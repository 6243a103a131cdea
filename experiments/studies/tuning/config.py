"""A tuning's configuration, from a TOML file: what is varied, under which disturbances, for which objectives."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from biped.errors import InputError
from contact.errors import BipedError
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, parameter_named, shown, split_name
from experiments.catalogue.registry import experiment_named
from experiments.studies.store.config import Config, changes_from, is_number, read_config
from experiments.studies.store.measured import metric_units
from experiments.studies.threshold.replicas import KINDS, Scatter
from experiments.studies.trial import RECOVERED
from experiments.studies.tuning.design_variable import DAMPING_RATIO, LINEAR, SCALES, Knob
from experiments.studies.tuning.objective import (
    MAXIMIZE,
    MEAN,
    MEASURED,
    MINIMIZE,
    SHARES,
    WORST,
    Judge,
    Limit,
    Objective,
    Reading,
    Term,
)
from experiments.studies.tuning.optimizers import OPTIMIZERS, check_optimizer
from experiments.studies.tuning.plan import Plan, Scenario

KIND = "tune"
T = TypeVar("T")


@dataclass(frozen=True)
class Tuning:
    """A tuning as its file says it.

    Attributes:
        name: of the study.
        plan: which trials a candidate has.
        judge: what they are worth.
        optimizer: its name.
        candidates: how many to try.
        batch: how many are asked for at a time.
        confirm: fresh replicas for the comparison of the winner with the baseline.
        choice: weights of the objectives, by which a member of a Pareto front is the winner; empty if none is to be.
        data: the file, as it is.
    """

    name: str
    plan: Plan
    judge: Judge
    optimizer: str
    candidates: int
    batch: int
    confirm: int
    choice: Mapping[str, float]
    data: Mapping[str, Any]

    @property
    def is_front(self) -> bool:
        """Whether there are several objectives."""
        return len(self.judge.objectives) > 1


def load_tuning(path: str | Path) -> Tuning:
    """Read a tuning.

    Raises:
        InputError: the file is not TOML, or something in it is wrong; the message names the line.
        OSError: it cannot be read.
    """
    return tuning_from(read_config(path), Path(path).stem)


def tuning_from(config: Config, name: str = "tune") -> Tuning:
    """A tuning from its configuration; raises InputError as ``load_tuning`` does."""
    name = config.word("name", name)
    experiment = experiment_named(config.word("experiment"))
    seed = config.whole("seed", 0)
    fixed = changes_from(config.table("set", {}), experiment)
    knobs = tuple(knob_from(table, experiment) for table in config.tables("parameter"))
    scenarios = _scenarios(config, experiment)
    objectives = _objectives(config)
    limits = tuple(_limit(table) for table in config.tables("limit")) if "limit" in config else ()
    table = config.table("tune", {})
    optimizer = table.word("optimizer", "cma", OPTIMIZERS)
    batch = table.whole("batch", 16, least=1)
    candidates = table.whole("candidates", 1000, least=1)
    replicas = table.whole("replicas", 1, least=1)
    confirm = table.whole("confirm", 32, least=2)
    choice = _choice(config, objectives)
    scatters = scatters_from(config, experiment)
    config.finish()
    within(table, lambda: check_optimizer(optimizer, len(knobs), len(objectives), batch))
    plan = within(config, lambda: Plan(experiment, fixed, knobs, scenarios, replicas, scatters, seed))
    within(config, lambda: check_corners(plan))
    if not scatters:
        raise config.error("there is no [[scatter]], and without one fresh replicas cannot confirm anything")
    judge = Judge(objectives, limits)
    _check_patterns(config, scenarios, objectives, limits)
    check_metrics(config, judge.metrics, experiment, {**fixed, **scenarios[0].changes})
    return Tuning(name, plan, judge, optimizer, candidates, batch, confirm, choice, config.data)


def within(config: Config, make: "Any") -> Any:
    """What is made of a table; an error names its file and line.

    Raises:
        InputError: that of ``make``, with the place before it.
    """
    try:
        return make()
    except BipedError as error:
        raise config.error(str(error)) from None


def knob_from(config: Config, experiment: Experiment) -> Knob:
    """What one ``[[parameter]]`` varies.

    Raises:
        InputError: something in it is wrong.
    """
    places = tuple(config.words("sets")) if isinstance(config.take("sets"), list) else (config.word("sets"),)
    for place in places:
        try:
            parameter_named(place, experiment.parameters)
        except InputError as error:
            raise config.error(str(error), "sets") from None
    as_ratio = config.word("as", "", [DAMPING_RATIO]) == DAMPING_RATIO
    name = config.word("name", f"{places[0]} as a damping ratio" if as_ratio else places[0])
    low, high = config.number("from"), config.number("to")
    scale = config.word("scale", LINEAR, SCALES)
    knob: Knob = within(config, lambda: Knob(name, places, float(low), float(high), scale, as_ratio))
    return knob


def check_corners(plan: Plan) -> None:
    """Raise the error of a scenario, or of the knobs at their least or greatest, that no simulation can use."""
    for scenario in plan.scenarios:
        plan.experiment.build({**plan.fixed, **scenario.changes})
    for share in (0.0, 1.0):
        corner = plan.candidate(1, {knob.name: knob.from_unit(share) for knob in plan.knobs})
        plan.experiment.build(plan.trials(corner)[0].changes)


def check_metrics(config: Config, metrics: Iterable[str], experiment: Experiment, changes: Mapping[str, Value]) -> None:
    """Raise InputError if trials of the experiment do not have one of these metrics."""
    known = [*SHARES, *metric_units(experiment, changes)]
    for metric in metrics:
        if metric not in known:
            close = difflib.get_close_matches(metric, known, n=3)
            hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(known)}"
            raise config.error(f"unknown metric {metric!r}; {hint}")


def scatters_from(config: Config, experiment: Experiment) -> tuple[Scatter, ...]:
    """How replicas differ: as each ``[[scatter]]`` says, or by the seed of the start, if the experiment has one."""
    if "scatter" not in config:
        seeded = any(parameter.name == "initial.seed" for parameter in experiment.parameters)
        return (Scatter(("initial.seed",), "seed"),) if seeded else ()
    found = []
    for table in config.tables("scatter"):
        names, kind = table.words("parameters"), table.word("kind", choices=KINDS)
        width = table.number("width", 0.0)
        found.append(within(table, lambda n=names, k=kind, w=width: Scatter(tuple(n), k, float(w))))
    return tuple(found)


def _scenarios(config: Config, experiment: Experiment) -> tuple[Scenario, ...]:
    if "scenario" not in config:
        return (Scenario(experiment.name, {}),)
    return tuple(scenario for table in config.tables("scenario") for scenario in _grid(table, experiment))


def _grid(config: Config, experiment: Experiment) -> list[Scenario]:
    """One scenario, or one for each combination of the values in ``each``."""
    name, weight = config.word("name"), float(config.number("weight", 1.0))
    common = changes_from(config.table("set", {}), experiment)
    each = config.table("each", {})
    axes = {key: _values(each, key, value, experiment) for key, value in each.parameters().items()}
    found: list[Scenario] = []
    for combination in product(*axes.values()):
        own = dict(zip(axes, combination, strict=True))
        words = [f"{split_name(key)[0].rpartition('.')[2]}={shown(value)}" for key, value in own.items()]
        label = " ".join([name, *words])
        found.append(within(config, lambda n=label, c={**common, **own}: Scenario(n, c, weight)))
    return found


def _values(config: Config, key: str, values: Any, experiment: Experiment) -> list[Value]:
    if not isinstance(values, list) or not values:
        raise config.error(f"{key} = {values!r}: it must be a list of values", key)
    try:
        parameter = parameter_named(key, experiment.parameters)
        return [parameter.checked(tuple(value) if isinstance(value, list) else value) for value in values]
    except InputError as error:
        raise config.error(str(error), key) from None


def _objectives(config: Config) -> tuple[Objective, ...]:
    if "objective" not in config:
        return (Objective(RECOVERED, (Term(Reading(RECOVERED)),), MAXIMIZE),)
    found = tuple(_objective(table) for table in config.tables("objective"))
    names = [objective.name for objective in found]
    if len(set(names)) < len(names):
        raise config.error("two objectives have the same name: give each one of its own")
    return found


def _objective(config: Config) -> Objective:
    goal = config.word("goal", MINIMIZE, (MINIMIZE, MAXIMIZE))
    if "term" in config:
        terms = tuple(_term(table) for table in config.tables("term"))
        name = config.word("name", " and ".join(term.reading.metric for term in terms))
    else:
        terms = (_term(config),)
        name = config.word("name", terms[0].reading.metric)
    return within(config, lambda: Objective(name, terms, goal))


def _term(config: Config) -> Term:
    reading = _reading(config)
    weight, per = float(config.number("weight", 1.0)), float(config.number("per", 1.0))
    return within(config, lambda: Term(reading, weight, per))


def _reading(config: Config) -> Reading:
    metric = config.word("metric")
    fell = config.take("fell", None)
    if fell is not None and not is_number(fell) and fell != MEASURED:
        raise config.wrong("fell", f"a number, or {MEASURED!r}")
    failed, missing = config.number("failed", None), config.number("missing", None)
    scenarios = tuple(config.words("scenarios", ["*"]))
    over = config.word("over", MEAN, (MEAN, WORST))
    return within(config, lambda: Reading(metric, fell, failed, missing, scenarios, over))


def _limit(config: Config) -> Limit:
    reading = _reading(config)
    if ("at_most" in config) == ("at_least" in config):
        raise config.error("a limit has one of at_most and at_least")
    least = "at_least" in config
    bound = float(config.number("at_least" if least else "at_most"))
    relative = config.word("of", "", ("baseline",)) == "baseline"
    name = config.word("name", reading.metric)
    penalty, margin = float(config.number("penalty", 10.0)), float(config.number("margin", 0.0))
    return within(config, lambda: Limit(name, reading, bound, least, relative, penalty, margin))


def _choice(config: Config, objectives: tuple[Objective, ...]) -> dict[str, float]:
    if "choice" not in config:
        return {}
    table = config.table("choice")
    if len(objectives) < 2:
        raise config.error("[choice] is for several objectives: leave it out")
    return {objective.name: float(table.number(objective.name)) for objective in objectives}


def _check_patterns(
    config: Config, scenarios: tuple[Scenario, ...], objectives: tuple[Objective, ...], limits: tuple[Limit, ...]
) -> None:
    """Each pattern of scenarios has to fit one."""
    from fnmatch import filter as matching

    readings = [term.reading for objective in objectives for term in objective.terms]
    readings += [limit.reading for limit in limits]
    names = [scenario.name for scenario in scenarios]
    for reading in readings:
        for pattern in reading.scenarios:
            if not matching(names, pattern):
                raise config.error(f"scenarios: {pattern!r} fits none of {', '.join(names)}")
