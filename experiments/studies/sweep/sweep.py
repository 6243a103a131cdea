"""Sweep of an experiment: all combinations of parameter values, with replicas."""

import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biped.runs.verdict import FAILED
from contact.errors import BipedError, did_you_mean
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.controllers import NAME as CONTROLLER
from experiments.catalogue.parameters.initial import SCATTER
from experiments.catalogue.parameters.parameter import Value, shown, split_name
from experiments.studies.config import Config
from experiments.studies.execution.executors import Executor
from experiments.studies.execution.runner import Progress
from experiments.studies.run import open_study, run_study
from experiments.studies.seeds import seed_of
from experiments.studies.store.measured import metric_units, trace_units
from experiments.studies.study_kind import Evaluate, Say, StudyKind
from experiments.studies.sweep.axis import Axis, grid_axis, sample_axis, subjects_axis, together_axis
from experiments.studies.trial import Result, Trial

if TYPE_CHECKING:
    import pandas as pd

    from experiments.studies.store.folder import Study


#: Keys of tables in ``[vary]`` that are not parameters.
TOGETHER, SAMPLE, SUBJECTS = "together", "sample", "subjects"
#: Groups of parameters whose noise differs between replicas, if a parameter of the group is set.
NOISY = frozenset({"sensors", "actuators", "force"})
#: Largest number of combinations that are checked before the first trial; if there are more, an even selection.
MOST_CHECKED = 500


@dataclass(frozen=True)
class Sweep(StudyKind):
    """Plan of a sweep: all combinations of the axes' points, each with replicas."""

    experiment: Experiment
    fixed: Mapping[str, Value]  # changes of the experiment's defaults in all trials
    axes: tuple[Axis, ...]  # varied parameters; all combinations of their points are run
    replicas: int = 1  # number of replicas of each combination, with scattered starts if more than one
    seed: int = 0
    metrics: tuple[str, ...] | None = None  # stored metrics; None for all
    data: Mapping[str, Any] = field(default_factory=dict)  # the configuration
    counts: tuple[str, ...] = ()  # verdicts that count as losses; empty for ``USUAL_LOSSES``
    traces: tuple[str, ...] = ()  # columns whose mean and standard deviation over replicas are computed over time
    people: Axis | None = None  # people, one for each replica, the same in all combinations; None for no population
    kind = "sweep"

    def failure(self, findings: "pd.DataFrame") -> str:
        failed = findings[findings["verdict"] == FAILED]
        if failed.empty:
            return ""
        first = failed.iloc[0]
        count = f"{len(failed)} of {len(findings)} trials could not be computed; the first is {first['trial']}"
        return f"{count}: {first['failure']}: {first['message']}"

    @classmethod
    def from_configuration(cls, configuration: Mapping[str, Any]) -> "Sweep":
        return sweep_from(Config(configuration))

    @property
    def configuration(self) -> dict[str, Any]:
        return dict(self.data)

    @property
    def samples(self) -> Sequence[Mapping[str, Value]]:
        axes = [axis for axis in self.axes if {CONTROLLER, "integrator.name"} & set(axis.names)]
        chosen = [dict(zip(axis.names, point, strict=True)) for axis in axes for point in axis.points]
        return [dict(self.fixed) | values for values in chosen] or [self.fixed]

    @property
    def varied(self) -> tuple[str, ...]:
        return tuple(name for axis in self.axes for name in axis.names)

    @property
    def title(self) -> str:
        """Title of the sweep; it names the robot, unless the robot is varied."""
        return self.experiment.title_over((*self.varied, *(self.people.names if self.people else ())))

    @property
    def points(self) -> int:
        return math.prod(len(axis.points) for axis in self.axes)

    @property
    def likely_trials(self) -> int:
        return self.points * self.replicas

    def trials(self) -> list[Trial]:
        """Return all trials, ordered by combination (the last axis varies fastest), then by replica."""
        return [
            Trial(point * self.replicas + replica, self.changes(values, replica), {"point": point, "replica": replica})
            for point, values in enumerate(product(*(axis.points for axis in self.axes)))
            for replica in range(self.replicas)
        ]

    def changes(self, values: Sequence[tuple[Value, ...]], replica: int) -> dict[str, Value]:
        flat = [value for part in values for value in part]
        changes = dict(self.fixed) | dict(zip(self.varied, flat, strict=True))
        if self.people is not None:
            changes |= dict(zip(self.people.names, self.people.points[replica], strict=True))
        if self.replicas > 1:  # equal starts and noise for every combination, for a fair comparison
            noisy = {name.partition(".")[0] for name in changes} & NOISY
            for group in noisy:
                changes.setdefault(f"{group}.seed", seed_of(self.seed, "replica", replica, group))
            if not (noisy and changes.get("initial.jitter") == 0.0):  # noise alone, if jitter = 0 is set
                changes["initial.seed"] = seed_of(self.seed, "replica", replica)
                changes.setdefault("initial.jitter", SCATTER)
        return changes

    def find(self, evaluate: Evaluate) -> Mapping[int, Result]:
        return evaluate(self.trials())

    def run(self, study: "Study", evaluate: Evaluate, say: Say) -> "pd.DataFrame":
        self.find(evaluate)
        return study.frame()


def sweep(
    experiment: str,
    vary: Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
    *,
    controller: str | None = None,
    replicas: int = 1,
    seed: int = 0,
    metrics: list[str] | None = None,
    counts: Sequence[str] = (),
    out: str | Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Run an experiment at all combinations of some parameters' values, and return a table of the trials.

    Args:
        experiment: name of the experiment.
        vary: for each parameter, a list of values or a range such as ``{"from": 1, "to": 2, "count": 5}``. The key
            ``together`` maps parameters to lists of equal length, varied in parallel; ``sample`` maps parameters to
            ranges for random points; ``subjects`` describes random people: their number ``count`` (without it, each
            replica is another person), ``sex``, ``age`` [years], and push ``impulse_per_kg`` of body mass [m/s].
        changes: changes of the experiment's defaults in all trials.
        controller: name, ``FILE.py:NAME`` or ``module:NAME``; None: the experiment's own.
        replicas: number of runs of each combination; if more than one, each starts from another random state.
        seed: seed of the random points, people and replicas.
        metrics: names or patterns of the metrics, such as ``peak_torque_*``; None: all.
        counts: verdicts of trials that count as lost, such as ``["fell"]``; empty: stepped, fell, lost control, failed.
        out: folder of the study, whose finished trials are not run again; None: the study is not stored.
        executor: executor of the trials; None: the one that ``executor_for`` chooses, on all cores.
        progress: called with the number of finished trials.

    Returns:
        A row for each trial, in the order of their numbers: ``verdict``, the varied parameters, the metrics.

    Raises:
        InputError: a name or a value is wrong, or the folder holds another study.
        OSError: the folder cannot be written.
    """
    data: dict[str, Any] = {
        "experiment": experiment, "seed": seed, "replicas": replicas, "set": dict(changes or {}), "vary": dict(vary)
    }  # fmt: skip
    if controller is not None:
        data["controller"] = controller
    if metrics is not None:
        data["metrics"] = metrics
    if counts:
        data["counts"] = list(counts)
    plan = Sweep.from_configuration(data)
    with tempfile.TemporaryDirectory(prefix="biped-sweep-") as passing, open_study(plan, out or passing) as study:
        frame: pd.DataFrame = run_study(plan, study, executor, progress)
    return frame


def sweep_from(config: Config) -> Sweep:
    experiment = config.experiment()
    seed = config.integer("seed", 0)
    replicas = config.integer("replicas", 1, least=1)
    fixed = config.table("set", {}).changes(experiment)
    metrics = _metrics(config, experiment, fixed)
    counts = config.losses()
    axes, people = _axes(config.table("vary"), experiment, seed, replicas)
    traces = config.get("traces", tuple[str, ...], ())
    config.finish()
    plan = Sweep(experiment, fixed, axes, replicas, seed, metrics, config.data, counts, traces, people)
    _check_names(plan, config)
    _check_values(plan, config)
    _check_traces(plan, config)
    return plan


def _metrics(config: Config, experiment: Experiment, fixed: Mapping[str, Value]) -> tuple[str, ...] | None:
    patterns = config.get("metrics", tuple[str, ...], ())
    if not patterns:
        return None
    known = config.within(lambda: metric_units(experiment, fixed), "set")
    chosen: dict[str, None] = {}
    for pattern in patterns:
        names = [name for name in known if fnmatchcase(name, pattern)]
        if not names:
            raise config.error(f"metrics: no metric {pattern!r}; metrics are {', '.join(known)}", "metrics")
        chosen |= dict.fromkeys(names)
    return tuple(chosen)


def _axes(config: Config, experiment: Experiment, seed: int, replicas: int) -> tuple[tuple[Axis, ...], Axis | None]:
    """Return the axes, and the people of the replicas (None if people are an axis, or there are none)."""
    single = config.parameters(but=(TOGETHER, SAMPLE, SUBJECTS))
    axes = [grid_axis(config, name, spec, experiment) for name, spec in single.items()]
    if TOGETHER in config:
        axes.append(together_axis(config.table(TOGETHER), experiment))
    if SAMPLE in config:
        axes.append(sample_axis(config.table(SAMPLE), experiment, seed))
    people = None
    if SUBJECTS in config:
        subjects = config.table(SUBJECTS)
        counted = "count" in subjects
        count = subjects.integer("count", least=1) if counted else replicas
        people = subjects_axis(subjects, experiment, seed, count)
        if counted:
            axes, people = [*axes, people], None
    if not axes:
        raise config.error("[vary] is empty: name a parameter with a list of values, such as floor.mu_s = [0.4, 0.6]")
    return tuple(axes), people


def _check_names(plan: Sweep, config: Config) -> None:
    seen: set[str] = set()
    for name in (*plan.varied, *(plan.people.names if plan.people else ())):
        parameter = split_name(name)[0]
        if name in seen or parameter in seen or any(split_name(other)[0] == name for other in seen):
            raise config.error(f"{name} is varied twice: leave one of them out", "vary")
        seen.add(name)
    for name in plan.fixed:
        if name in seen or any(split_name(varied)[0] == split_name(name)[0] and "[" not in varied for varied in seen):
            raise config.error(f"{name} is both set and varied: leave one of them out", "set")
    if plan.replicas > 1:
        plan.experiment.parameter("initial.seed")
        if "initial.seed" in seen or "initial.seed" in plan.fixed:
            raise config.error("replicas set initial.seed: leave replicas out, or initial.seed", "replicas")


def _check_traces(plan: Sweep, config: Config) -> None:
    if plan.traces and plan.replicas < 2:
        raise config.error("traces are means over replicas: set replicas to 2 or above, or leave traces out", "traces")
    known = trace_units(plan.experiment, plan.fixed) if plan.traces else {}
    for name in plan.traces:
        if name not in known:
            raise config.error(f"traces: no column {name!r}; {did_you_mean(name, known)}columns are {', '.join(known)}")


def _check_values(plan: Sweep, config: Config) -> None:
    """Raise InputError unless all values of each axis, and all or many of their combinations, can be set up."""
    tried, wrong, first = 0, 0, ""
    for values in _checked_points(plan.axes):
        tried += 1
        changes = plan.changes(values, 0)
        try:
            replace(plan.experiment.build(changes), settle=None).prepare()
        except BipedError as error:
            wrong += 1
            place = ", ".join(f"{name} = {shown(changes[name])}" for name in plan.varied)
            first = first or f"{place}: {error}"
    if wrong == tried:
        raise config.error(first.partition(": ")[2] if tried == 1 else f"no combination can be run; {first}")
    if wrong:
        raise config.error(f"{wrong} of {tried} combinations cannot be run; the first is {first}", "vary")


def _checked_points(axes: Sequence[Axis]) -> Iterator[tuple[tuple[Value, ...], ...]]:
    """Yield all combinations if they are few; otherwise points of each axis in turn, and evenly spread combinations."""
    if (count := math.prod(len(axis.points) for axis in axes)) > MOST_CHECKED:
        base = tuple(axis.points[0] for axis in axes)
        for place, axis in enumerate(axes):
            for point in axis.points[:: -(-len(axis.points) // MOST_CHECKED)]:
                yield (*base[:place], point, *base[place + 1 :])
    yield from islice(product(*(axis.points for axis in axes)), 0, None, -(-count // MOST_CHECKED))
