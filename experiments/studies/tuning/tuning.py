"""Tuning of parameters: variables, disturbances, objectives, and the outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import filter as matching
from itertools import product
from typing import TYPE_CHECKING, Any

from biped.derivatives.gradients import DIFFERENTIABLE, is_differentiable
from biped.inputs.checks import zero_or_above
from biped.runs.verdict import RECOVERED
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value, shown, split_name
from experiments.studies.config import Config
from experiments.studies.counting import USUAL_LOSSES, WITHSTOOD
from experiments.studies.run import recall
from experiments.studies.seeds import seed_of
from experiments.studies.study_kind import Evaluate, Say
from experiments.studies.tuning import design_space
from experiments.studies.tuning.cost_slopes import slope_terms
from experiments.studies.tuning.descents import Start
from experiments.studies.tuning.objective import MAXIMIZE, Limit, Objective, Reading, Scorer, Term
from experiments.studies.tuning.optimizers import GRADIENTS, OPTIMIZERS, Optimizer, check_optimizer, make_optimizer
from experiments.studies.tuning.targets import Targets, targets_from, with_noise
from experiments.studies.tuning.tuner import Confirmation, Evaluation, History, Tuner

if TYPE_CHECKING:
    from experiments.studies.store.folder import Study


@dataclass(frozen=True)
class Settings:
    """Settings of the search, from the table ``[tune]``."""

    optimizer: str = "cma"  # one of ``OPTIMIZERS``
    candidates: int = field(default=1000, metadata={"least": 1})  # number of candidates to try
    batch: int = field(default=16, metadata={"least": 1})  # number of candidates per batch
    replicas: int = field(default=1, metadata={"least": 1})  # number of replicas of each scenario
    #: number of fresh replicas for the comparison of the winner with the baseline
    confirm: int = field(default=32, metadata={"least": 2})
    #: cost of a backward pass through a trial, in multiples of the cost of a trial
    gradient_cost: float = 4.0

    def __post_init__(self) -> None:
        zero_or_above(self.gradient_cost, "tune.gradient_cost")


@dataclass(frozen=True)
class Outcome:
    """Outcome of a tuning."""

    history: History  # all evaluated candidates
    #: best candidate that keeps all limits, or the candidate of the Pareto front that the weights choose; None: none
    winner: Evaluation | None
    confirmation: Confirmation | None  # comparison on fresh replicas; None without a winner, or before it is complete

    @property
    def is_confirmed(self) -> bool:
        return self.confirmation is not None and self.confirmation.holds


@dataclass(frozen=True)
class Tuning(design_space.DesignStudy):
    """Plan of a tuning."""

    name: str
    space: design_space.DesignSpace  # variables, and the trials of a candidate
    scorer: Scorer  # objectives and limits
    settings: Settings  # settings of the search
    #: weights of the objectives that choose the winner from a Pareto front; empty to choose none
    choice: Mapping[str, float]
    data: Mapping[str, Any]  # contents of the file
    counts: tuple[str, ...] = ()  # verdicts that are losses for ``withstood``; empty for ``USUAL_LOSSES``
    kind = "tune"
    reads_more = True

    @property
    def price(self) -> float:
        """Cost of a candidate in units of the budget: 1, and ``gradient_cost`` for each backward pass."""
        return 1.0 + self.settings.gradient_cost * len({term.called for term in self.space.slopes})

    @property
    def tried(self) -> int:
        """Number of candidates that the budget allows."""
        return max(1, int(self.settings.candidates / self.price))

    @property
    def is_front(self) -> bool:
        return len(self.scorer.objectives) > 1

    @property
    def configuration(self) -> dict[str, Any]:
        return {"name": self.name, "tuning": dict(self.data)}

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> "Tuning":
        return tuning_from(Config(configuration["tuning"]), configuration["name"])

    @property
    def likely_trials(self) -> int:
        return (1 + self.tried) * self.space.size + self._fresh

    @property
    def _fresh(self) -> int:
        return 2 * self.settings.confirm * len(self.space.scenarios)

    def planned_trials(self, study: "Study") -> int:
        """Return the number of trials, without those of the confirmation if a finished search has no winner."""
        searched = self.likely_trials - self._fresh
        without = len(study.finished) == searched and recall(study)[1].winner is None
        return searched if without else self.likely_trials

    def find(self, evaluate: Evaluate, say: Say = lambda _: None) -> Outcome:
        tuner = Tuner(self.space, self.scorer, evaluate)
        settings = self.settings
        history = tuner.run(self.optimizer, self.tried, settings.batch, lambda state: say(f"tuning, {state.message}"))
        return self._outcome(tuner, history)

    def run(self, study: "Study", evaluate: Evaluate, say: Say) -> Outcome:
        return self.find(evaluate, say)

    def optimizer(self, start: Start | None) -> Optimizer:
        """Return the optimizer with this start; None: no known start."""
        seed = seed_of(self.seed, "optimizer") % 2**32
        settings, objectives = self.settings, len(self.scorer.objectives)
        return make_optimizer(settings.optimizer, self.space.variables, seed, settings.batch, objectives, start)

    def _outcome(self, tuner: Tuner, history: History) -> Outcome:
        winner = self.winner_of(history)
        if winner is None:
            return Outcome(history, None, None)
        return Outcome(history, winner, tuner.confirm(winner.candidate, history.bounds, self.settings.confirm))

    def winner_of(self, history: History) -> Evaluation | None:
        """Return the best candidate; from a Pareto front, that with the least weighted sum, or None without weights."""
        if not self.is_front:
            return history.best
        if not self.choice:
            return None
        weights = {item.name: item.sign * self.choice[item.name] for item in self.scorer.objectives}
        return min(
            history.front,
            key=lambda member: sum(weights[name] * value for name, value in member.score.values.items()),
            default=None,
        )

    def recall(self, study: "Study", evaluate: Evaluate) -> Outcome:
        """Return the outcome from the stored complete candidates; raises InputError if the baseline is incomplete."""
        tuner = Tuner(self.space, self.scorer, evaluate)
        history = tuner.begin()
        history.evaluations = tuner.score(self._finished_candidates(study), history.bounds)
        winner = self.winner_of(history)
        if winner is not None:
            pair, count = (self.space.baseline, winner.candidate), self.settings.confirm
            fresh = {trial.number for candidate in pair for trial in self.space.fresh_trials(candidate, count)}
            if study.finished >= fresh:
                return self._outcome(tuner, history)
        return Outcome(history, winner, None)

    def _finished_candidates(self, study: "Study") -> list[design_space.Candidate]:
        frame: Any = study.frame()
        mine = frame[(frame["phase"] == design_space.TUNING) & (frame["candidate"] > 0)]
        counts = mine["candidate"].value_counts()
        complete = sorted(int(number) for number, count in counts.items() if count == self.space.size)
        first = mine.drop_duplicates("candidate").set_index("candidate")
        names = [variable.name for variable in self.space.variables]
        points = [{name: float(first.loc[number, name]) for name in names} for number in complete]
        return [self.space.candidate(number, point) for number, point in zip(complete, points, strict=True)]


def tuning_from(config: Config, name: str = "tune") -> Tuning:
    """Return the tuning described by ``config``, by default called ``name``; raises InputError for invalid values."""
    table = config.table("tune", {})
    table.word("optimizer", "cma", OPTIMIZERS)
    settings = table.make(Settings)
    experiment = config.experiment()
    scenarios = [scenario for item in config.tables("scenario", ()) for scenario in _scenarios(item, experiment)]
    space = design_space.design_space_from(config, settings.replicas, scenarios, must_scatter=True)
    counts = config.losses()
    losses = counts or USUAL_LOSSES
    targets = targets_from(table, space)
    if targets is not None:
        space = replace(space if "randomization" in config else with_noise(space), reads=targets.reads)
        if settings.optimizer in GRADIENTS:
            raise table.error(f"{settings.optimizer} cannot use targets: set another one, such as cma", "optimizer")
    scorer = Scorer(
        _objectives(config, losses, targets), tuple(_limit(item, losses) for item in config.tables("limit", ()))
    )
    name, choice = config.word("name", config.stem or name), _choice(config, scorer.objectives)
    config.finish()
    sizes = len(space.variables), len(scorer.objectives), settings.batch
    table.within(lambda: check_optimizer(settings.optimizer, *sizes))
    _check_patterns(config, space, scorer.readings)
    checked = set() if targets is None else {term.reading.metric for term in targets.terms}
    design_space.check_metrics(
        config, [reading.metric for reading in scorer.readings if reading.metric not in checked], space
    )
    if settings.optimizer in GRADIENTS:
        _check_differentiable(config, scorer, space)
        weights = {scenario.name: scenario.weight for scenario in space.scenarios}
        space = replace(space, slopes=slope_terms(scorer, weights, space.replicas))
    return Tuning(name, space, scorer, settings, choice, config.data, counts)


def _check_differentiable(config: Config, scorer: Scorer, space: design_space.DesignSpace) -> None:
    """Raise InputError unless all metrics of objectives and limits have gradients."""
    metrics = tuple(dict.fromkeys(reading.metric for reading in scorer.readings))
    joints = space.experiment.build(space.fixed).model.joint_names
    for metric in metrics:
        if not is_differentiable(metric, joints):
            raise config.error(
                f"{metric} has no gradient, which lbfgs needs; metrics with one are {', '.join(DIFFERENTIABLE)}, and "
                "the last two for each joint: choose one of them, or another optimizer"
            )


def _scenarios(config: Config, experiment: Experiment) -> list[design_space.Scenario]:
    """Return the scenario of a table, or one for each combination of the values in its table ``each``."""
    common = config.table("set", {}).changes(experiment)
    each = config.table("each", {})
    axes: dict[str, list[Value]] = {}
    for key, values in each.parameters().items():
        if not isinstance(values, list) or not values:
            raise each.error(f"{key} = {values!r}: it must be a list of values", key)
        axes[key] = [each.value(experiment, key, value) for value in values]
    scenarios: list[design_space.Scenario] = []
    for combination in product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        name = [f"{split_name(key)[0].rpartition('.')[2]}={shown(value)}" for key, value in values.items()]
        changes = {**common, **values}
        scenarios.append(
            config.make(design_space.Scenario, name=" ".join([config.word("name"), *name]), changes=changes)
        )
    return scenarios


def _objectives(config: Config, losses: tuple[str, ...], targets: Targets | None) -> tuple[Objective, ...]:
    to_targets = () if targets is None else (targets.objective,)
    if "objective" not in config:
        if to_targets:
            return to_targets
        usual = Reading(WITHSTOOD if "counts" in config else RECOVERED, counts=losses)
        return (Objective(usual.metric, (Term(usual),), MAXIMIZE),)
    objectives = (*(_objective(table, losses) for table in config.tables("objective")), *to_targets)
    names = [objective.name for objective in objectives]
    if len(set(names)) < len(names):
        raise config.error("two objectives have the same name: give them different names")
    return objectives


def _objective(config: Config, losses: tuple[str, ...]) -> Objective:
    tables = config.tables("term") if "term" in config else [config]
    terms = tuple(table.make(Term, reading=table.make(Reading, counts=losses)) for table in tables)
    name = config.word("name", " and ".join(term.reading.metric for term in terms))
    return config.make(Objective, name=name, terms=terms)


def _limit(config: Config, losses: tuple[str, ...]) -> Limit:
    reading = config.make(Reading, counts=losses)
    if ("at_most" in config) == ("at_least" in config):
        raise config.error("a limit needs either at_most or at_least")
    least = "at_least" in config
    return config.make(
        Limit,
        name=config.word("name", reading.metric),
        reading=reading,
        bound=config.get("at_least" if least else "at_most", float),
        least=least,
        of_baseline=config.word("of", "", ("baseline",)) == "baseline",
    )


def _choice(config: Config, objectives: tuple[Objective, ...]) -> dict[str, float]:
    if "choice" not in config:
        return {}
    table = config.table("choice")
    if len(objectives) < 2:
        raise config.error("[choice] needs several objectives, but there is one: leave [choice] out")
    return {objective.name: table.get(objective.name, float) for objective in objectives}


def _check_patterns(config: Config, space: design_space.DesignSpace, readings: Sequence[Reading]) -> None:
    names = [scenario.name for scenario in space.scenarios]
    for pattern in (pattern for reading in readings for pattern in reading.scenarios):
        if not matching(names, pattern):
            raise config.error(f"scenarios: {pattern!r} matches no scenario; scenarios are {', '.join(names)}")
