"""The stages of a comparison, in order; each leaves what it finds in the results as it goes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from biped.errors import InputError
from biped.simulation.driver import Announce
from experiments.benchmarks.comparison import cost, flight, precision, standing, step_refinement
from experiments.benchmarks.comparison.backends import Backend
from experiments.benchmarks.comparison.budget import Budget, Progress, part
from experiments.benchmarks.comparison.outcome import outcome_of
from experiments.benchmarks.comparison.results import (
    COST,
    EQUAL,
    FLIGHTS,
    PRECISION,
    REFINEMENT,
    RUNS,
    SETTINGS,
    STANCES,
    VENDOR,
    Results,
)
from experiments.benchmarks.free_flight import MOTIONS
from experiments.benchmarks.timing import one_core
from experiments.catalogue.parameters.parameter import Value
from experiments.catalogue.rollout import Rollout

#: The time between two recorded rows.
RECORD = "run.record_every"


@dataclass(frozen=True)
class Work:
    """The input of a stage of the comparison."""

    results: Results  # what it adds to
    budget: Budget  # how much is measured
    progress: Progress  # called with the fraction that is done
    announce: Announce  # called with a sentence before kernels are compiled, and about who does not take what

    def refuse(self, stage: str, one: Backend, why: str) -> None:
        self.results.refuse(stage, one, why)
        self.announce(f"{one.title} {why}")


@dataclass(frozen=True)
class Stage:
    """A part of a comparison: its title, and what measures it."""

    title: str
    measure: Callable[[Work], None]


def stages(*, vendor: bool, stance: bool) -> tuple[Stage, ...]:
    settings = [name for name in SETTINGS if vendor or name != VENDOR]
    return (
        *(Stage(RUNS[name], partial(run_experiment, name)) for name in settings),
        *(Stage(STANCES[name], partial(stand, name)) for name in settings if stance),
        Stage(FLIGHTS, run_flights),
        Stage(REFINEMENT, refine),
        Stage(COST, time_steps),
        Stage(PRECISION, measure_precision),
    )


def case_in(settings: str, one: Backend, results: Results) -> tuple[Backend, Mapping[str, Value]]:
    """An engine in these settings, and the changes of the experiment: with vendor defaults its own step.

    The controller is asked as often as in all others: a step that does not divide its period is shortened. Rows are
    recorded as by default: what was asked for may be no multiple of a step that is the engine's.
    """
    if settings == EQUAL:
        return one, results.changes
    changes = {name: value for name, value in results.changes.items() if name not in ("run.step", RECORD)}
    if one.vendor_defaults is not None:
        values, default = results.experiment.values(changes), one.vendor_defaults
        is_controlled = "controller.period" in values
        changes["run.step"] = default.step_within(values.number("controller.period")) if is_controlled else default.step
    return one.with_vendor_defaults, changes


def run_experiment(settings: str, work: Work) -> None:
    results, experiment = work.results, work.results.experiment
    duration = experiment.build(results.changes).duration
    chosen = results.backends if settings == EQUAL else results.able
    runs = results.runs[settings]
    for k, one in enumerate(chosen):
        who, changes = case_in(settings, one, results)
        try:
            made = who.run(experiment, changes, part(work.progress, k, len(chosen), duration), work.announce)
        except InputError as error:
            with_ = "" if settings == EQUAL else f" with {SETTINGS[settings]}"
            work.refuse(RUNS[settings], one, f"does not take it{with_}: {error}")
            continue
        first = next(iter(runs.values())).run if runs else None
        runs[one.label] = made
        results.outcomes[settings].append(outcome_of(one.label, made, dict(experiment.values(changes)), first))
    if settings == EQUAL and not runs:
        refused = results.refused[RUNS[EQUAL]]
        raise InputError("; ".join(f"{results.titles[name]} {why}" for name, why in refused.items()))


def stand(settings: str, work: Work) -> None:
    results, duration = work.results, work.budget.standing
    for k, one in enumerate(results.able):
        who, changes = case_in(settings, one, results)
        progress = part(work.progress, k, len(results.able), standing.SETTLED + duration)
        row, drift, made = standing.stand(who, settings, changes, duration, progress, work.announce)
        results.creeps.append(row)
        if drift is not None:
            results.drifts[settings, one.label] = drift
        if made is not None:
            results.standing[settings, one.label] = made


def run_flights(work: Work) -> None:
    """Gentle and fast, also in what engines have for smooth motion."""
    results, duration = work.results, work.budget.flight
    cases = [(motion, one) for motion in MOTIONS for one in results.everyone]
    for k, (motion, one) in enumerate(cases):
        progress = part(work.progress, k, len(cases), duration)
        made = partial(flight.fly, one, motion, duration, results.changes, progress, work.announce)
        row, flown = flight.flight_row(one, motion, duration, made)
        results.flights.append(row)
        if flown is not None:
            results.flown[motion, one.label] = flown


def refine(work: Work) -> None:
    """The experiment at finer and finer steps; rollouts at equal settings serve again where the step is theirs."""
    results = work.results
    steps = step_refinement.step_sizes(results.experiment, results.changes, work.budget.refinements)
    duration = results.experiment.build(results.changes).duration
    changes = {name: value for name, value in results.changes.items() if name != RECORD}  # each step divides its own
    whole = sum(1.0 / step for step in steps) * len(results.able)
    done = 0.0
    for one in results.able:
        made: dict[float, tuple[Rollout | None, str]] = {}
        for step in steps:
            proportion = 1.0 / step / whole
            if abs(step - results.step) < 1e-12 and changes == results.changes:
                made[step] = (results.runs[EQUAL][one.label], "")
            else:
                progress = _from(work.progress, done, proportion / duration)
                made[step] = step_refinement.run_at(one, results.experiment, changes, step, progress)
            done += proportion
        rows = step_refinement.refinements_of(one.label, made)
        results.refinements += rows
        results.convergences.append(step_refinement.convergence_of(one.label, rows))


def _from(progress: Progress, done: float, rate: float) -> Progress:
    return lambda time: progress(min(1.0, done + rate * time))


def time_steps(work: Work) -> None:
    results, budget = work.results, work.budget
    changes = timed_changes(results, budget.timed)
    with one_core():
        rows, refused = cost.measure(results.able, results.experiment, changes, budget.repeats, work.progress)
    results.costs += rows
    for one in results.able:
        if one.label in refused:
            work.refuse(COST, one, refused[one.label])


def timed_changes(results: Results, most: float) -> Mapping[str, Value]:
    """The changes for a timed run, which is no longer than so many seconds, where the experiment allows that."""
    duration = results.experiment.build(results.changes).duration
    shorter = {**results.changes, "run.duration": min(duration, most)}
    try:
        results.experiment.build(shorter)
    except InputError:  # such as a push that begins later
        return results.changes
    return shorter


def measure_precision(work: Work) -> None:
    results = work.results
    results.precision = precision.measure(results.everyone, results.changes, work.budget, work.progress)
