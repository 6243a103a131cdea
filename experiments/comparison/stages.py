"""Stages of a comparison, in order, and the results that each adds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from biped.errors import InputError
from biped.simulation.driver import Announce, Progress
from experiments.catalogue.experiment import Experiment
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout
from experiments.comparison import flight, outcome, precision, step_refinement
from experiments.comparison.backends import Backend
from experiments.comparison.table import quantity, table_of
from experiments.timing import part
from experiments.work_precision import step_sizes

#: Settings that are equal in all engines where possible, and each vendor's defaults.
EQUAL, VENDOR = "equal", "vendor"
SETTINGS = {EQUAL: "equal settings", VENDOR: "vendor defaults"}
#: Titles of the stages.
RUNS = {EQUAL: "the experiment at equal settings", VENDOR: "the experiment with vendor defaults"}
STANCES = {EQUAL: "creep in stance", VENDOR: "creep in stance, vendor defaults"}
FLIGHTS, REFINEMENT, PRECISION = "free flight", "the experiment at refined steps", "work and precision"
#: Repeats of the timings of work and precision.
REPEATS = 3
#: Parameter of the time between two recorded rows.
RECORD = "run.record_every"
#: Names of all tables.
TABLES = (*SETTINGS, "creep", "flight", "step_refinement", "precision", "ranking")


@dataclass(frozen=True)
class Budget:
    """Amounts of work of a comparison."""

    standing: float  # [s] duration of the creep measurement
    flight: float  # [s] duration of the free flight
    refinements: int  # number of step sizes of the experiment
    precisions: int  # number of step sizes of the work-precision comparison
    patience: float  # [s] computing time after which step sizes are not refined further


FULL = Budget(20.0, 60.0, 5, 7, 0.6)
#: Budget with ``--quick``.
QUICK = Budget(10.0, 10.0, 4, 4, 0.2)


@dataclass(frozen=True)
class PrecisionRow:
    """Row of the work-precision table: an engine at one step size of the flight."""

    engine: str = quantity("", "name of the engine")
    step: float = quantity("s", "time step")
    error: float | None = quantity("m", "position error of the centres of mass, RMS over bodies and times")
    cost_least: float | None = quantity("s/s", "least computing time per simulated second, of several repeats")
    cost_median: float | None = quantity("s/s", "median computing time per simulated second, of several repeats")
    order: float | None = quantity("1", "order of convergence: slope of log error over log step")
    failure: str = quantity("", "reason for missing numbers", "")


@dataclass
class Results:
    """Results of the finished stages of a comparison of engines; fields of the other stages are empty."""

    experiment: Experiment  # compared experiment
    changes: Mapping[str, Value]  # changes of its parameters
    backends: tuple[Backend, ...]  # compared backends, in order
    missing: tuple[str, ...] = ()  # a sentence about each engine that is not installed
    #: reason why an engine cannot run a stage, by the stage's title and the engine's label
    refused: dict[str, dict[str, str]] = field(default_factory=dict)
    #: rollouts by settings and label, and their rows by settings
    runs: dict[str, dict[str, Rollout]] = field(default_factory=lambda: {name: {} for name in SETTINGS})
    outcomes: dict[str, list[outcome.Outcome]] = field(default_factory=lambda: {name: [] for name in SETTINGS})
    #: rollouts of the standing human, and drift of the feet, by settings and label
    standing: dict[tuple[str, str], Rollout] = field(default_factory=dict)
    drifts: dict[tuple[str, str], outcome.Drift] = field(default_factory=dict)
    flown: dict[tuple[str, str], flight.Flight] = field(default_factory=dict)  # flights by motion and label
    creeps: list[outcome.Creep] = field(default_factory=list)
    flights: list[flight.FlightRow] = field(default_factory=list)
    refinements: list[step_refinement.Refinement] = field(default_factory=list)
    precision: step_sizes.Comparison | None = None  # work-precision comparison in flight
    #: titles of incomplete stages, whose measures have no ranking
    undone: list[str] = field(default_factory=list)
    stopped: str = "Interrupted"  # reason why stages are incomplete

    @property
    def usable(self) -> tuple[Backend, ...]:
        refused = self.refused.get(RUNS[EQUAL], {})
        return tuple(backend for backend in self.backends if backend.label not in refused)

    @property
    def everyone(self) -> tuple[Backend, ...]:
        """All backends, each followed by its variants with settings for smooth motion."""
        return tuple({other.label: other for backend in self.backends for other in (backend, *backend.smooth)}.values())

    @property
    def titles(self) -> dict[str, str]:
        return {backend.label: backend.title for backend in self.everyone}

    @property
    def step(self) -> float:
        """Time step [s] of the runs with equal settings."""
        return self.experiment.values(self.changes).number("run.step")

    @property
    def common_step(self) -> float:
        """Refined time step [s] at which engines are compared: the one nearest to the experiment's step."""
        coarser = sorted({row.step for row in self.refinements})[1:] or [self.step]
        return min(coarser, key=lambda step: abs(step - self.step))

    @property
    def root(self) -> str:
        return self.experiment.build(self.changes).model.root.name.replace("_", " ")

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all tables that have rows, by name, with units in ``attrs["units"]``; ``measures`` has the ranking."""
        rows: dict[str, list[Any]] = {
            **self.outcomes,
            "creep": self.creeps,
            "flight": self.flights,
            "step_refinement": self.refinements,
            "precision": list(self.precision_rows()),
        }
        return {name: table_of(type(table[0]), table) for name, table in rows.items() if table}

    def precision_rows(self) -> Iterator[PrecisionRow]:
        for curve in () if self.precision is None else self.precision.curves:
            for m in curve.measurements:
                least, median = (None, None) if m.cost is None else (m.cost.least, m.cost.median)
                yield PrecisionRow(curve.method, m.size.step, m.error, least, median, curve.order)
            for size, why in curve.failures:
                yield PrecisionRow(curve.method, size.step, None, None, None, curve.order, why)


@dataclass(frozen=True)
class Work:
    """Arguments of a stage of the comparison: results to add to, amount of work, and callbacks."""

    results: Results  # results to add to
    budget: Budget  # amount of work
    progress: Progress  # function that is called with the finished fraction
    announce: Announce  # function that is called with a sentence, before kernels are compiled or if an engine fails

    def refuse(self, stage: str, backend: Backend, why: str) -> None:
        self.results.refused.setdefault(stage, {})[backend.label] = why
        self.announce(f"{backend.title} {why}")


def stages(*, vendor: bool, stance: bool) -> dict[str, Callable[[Work], None]]:
    """Return the functions that measure each stage, by title, in order."""
    settings = [name for name in SETTINGS if vendor or name != VENDOR]
    return {
        **{RUNS[name]: partial(run_experiment, name) for name in settings},
        **{STANCES[name]: partial(stand, name) for name in settings if stance},
        FLIGHTS: run_flights,
        REFINEMENT: refine,
        PRECISION: measure_precision,
    }


def case_in(settings: str, backend: Backend, results: Results) -> tuple[Backend, Mapping[str, Value]]:
    """Return a backend with these settings, and the changes of the experiment; vendor defaults include the time step.

    The control period is the same for all engines: a step that does not divide it is shortened. Rows are recorded at
    the default interval, because the requested one may be no multiple of the vendor's step.
    """
    if settings == EQUAL:
        return backend, results.changes
    changes = {name: value for name, value in results.changes.items() if name not in ("run.step", RECORD)}
    default = backend.vendor_defaults
    if default is None:
        return backend, changes
    values, period = results.experiment.values(changes), "controller.period"
    changes["run.step"] = default.step_within(values.number(period)) if period in values else default.step
    return replace(backend, engine=default.engine), changes


def run_experiment(settings: str, work: Work) -> None:
    """Run the experiment in all engines with ``EQUAL`` or ``VENDOR`` settings, and add the runs to ``work.results``."""
    results, experiment = work.results, work.results.experiment
    duration = experiment.build(results.changes).duration
    chosen = results.backends if settings == EQUAL else results.usable
    runs = results.runs[settings]
    for k, backend in enumerate(chosen):
        who, changes = case_in(settings, backend, results)
        try:
            made = who.run(experiment, changes, part(work.progress, k, len(chosen), duration), work.announce)
        except InputError as error:
            with_ = "" if settings == EQUAL else f" with {SETTINGS[settings]}"
            work.refuse(RUNS[settings], backend, f"cannot simulate the experiment{with_}: {error}")
            continue
        first = next(iter(runs.values())).run if runs else None
        runs[backend.label] = made
        row = outcome.outcome_of(backend.label, made, dict(experiment.values(changes)), first)
        results.outcomes[settings].append(row)
    if settings == EQUAL and not runs:
        refused = results.refused[RUNS[EQUAL]]
        raise InputError("; ".join(f"{results.titles[name]} {why}" for name, why in refused.items()))


def stand(settings: str, work: Work) -> None:
    results, duration = work.results, work.budget.standing
    for k, backend in enumerate(results.usable):
        who, changes = case_in(settings, backend, results)
        progress = part(work.progress, k, len(results.usable), outcome.SETTLED + duration)
        row, drift, made = outcome.stand(who, settings, changes, duration, progress, work.announce)
        results.creeps.append(row)
        if drift is not None:
            results.drifts[settings, backend.label] = drift
        if made is not None:
            results.standing[settings, backend.label] = made


def run_flights(work: Work) -> None:
    """Simulate gentle and fast flights, with all backends and their settings for smooth motion."""
    results, duration = work.results, work.budget.flight
    cases = [(motion, backend) for motion in flight.MOTIONS for backend in results.everyone]
    for k, (motion, backend) in enumerate(cases):
        progress = part(work.progress, k, len(cases), duration)
        made = partial(flight.fly, backend, motion, duration, results.changes, progress, work.announce)
        row, flown = flight.flight_row(backend, motion, duration, made)
        results.flights.append(row)
        if flown is not None:
            results.flown[motion, backend.label] = flown


def refine(work: Work) -> None:
    """Run the experiment at finer and finer time steps; rollouts at equal settings are reused if their step fits."""
    results = work.results
    steps = step_refinement.step_sizes(results.experiment, results.changes, work.budget.refinements)
    duration = results.experiment.build(results.changes).duration
    changes = {name: value for name, value in results.changes.items() if name != RECORD}  # rows at each control period
    total = sum(1.0 / step for step in steps) * len(results.usable)
    done = 0.0
    for backend in results.usable:
        made: dict[float, Rollout | InputError] = {}
        for step in steps:
            share = 1.0 / step / total
            if abs(step - results.step) < 1e-12 and changes == results.changes:
                made[step] = results.runs[EQUAL][backend.label]
            else:
                progress = partial(_advance, work.progress, done, share / duration)
                made[step] = step_refinement.run_at(backend, results.experiment, changes, step, progress)
            done += share
        results.refinements += step_refinement.refinements_of(backend.label, made)


def _advance(progress: Progress, done: float, rate: float, time: float) -> None:
    progress(min(1.0, done + rate * time))


def measure_precision(work: Work) -> None:
    results, budget = work.results, work.budget
    most = step_sizes.Budget(budget.precisions, REPEATS, budget.patience)
    results.precision = precision.measure(results.everyone, results.changes, most, work.progress)
