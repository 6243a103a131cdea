"""The stages of a comparison, in order; each leaves what it finds in the results as it goes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from biped.errors import InputError
from biped.simulation.session import Announce
from experiments.benchmarks.comparison import cost, flight, precision, standing, step_refinement
from experiments.benchmarks.comparison.backends import Contestant
from experiments.benchmarks.comparison.budget import Effort, Progress, part
from experiments.benchmarks.comparison.outcome import outcome_of
from experiments.benchmarks.comparison.results import (
    COST,
    EQUAL_RUNS,
    FLIGHTS,
    HALVING,
    NATURAL_RUNS,
    NATURAL_STANCE,
    PRECISION,
    STANCE,
    Results,
)
from experiments.benchmarks.comparison.standing import EQUAL, NATURAL
from experiments.benchmarks.flight_energy import MOTIONS
from experiments.benchmarks.timing import one_core
from experiments.catalogue.parameters.parameter import Value
from experiments.engines.rollout import Rollout

#: The time between two recorded rows.
RECORD = "run.record_every"


@dataclass(frozen=True)
class Work:
    """What a stage is given.

    Attributes:
        results: what it adds to.
        effort: how much is measured.
        progress: called with the fraction that is done.
        announce: called with a sentence before kernels are compiled, and about who does not take what.
    """

    results: Results
    effort: Effort
    progress: Progress
    announce: Announce


@dataclass(frozen=True)
class Stage:
    """A part of a comparison.

    Attributes:
        title: in a few words.
        measure: measures it.
    """

    title: str
    measure: Callable[[Work], None]


def stages(*, natural: bool, stance: bool) -> tuple[Stage, ...]:
    """The stages, with or without natural settings and the standing human."""
    every = [
        Stage(EQUAL_RUNS, run_equal),
        *([Stage(NATURAL_RUNS, run_natural)] if natural else []),
        *([Stage(STANCE, stand_equal)] if stance else []),
        *([Stage(NATURAL_STANCE, stand_natural)] if stance and natural else []),
        Stage(FLIGHTS, run_flights),
        Stage(HALVING, halve),
        Stage(COST, time_steps),
        Stage(PRECISION, climb),
    ]
    return tuple(every)


def natural_changes(contestant: Contestant, results: Results) -> dict[str, Value]:
    """The changes for an engine's natural settings: its own step and period; those of ours are the defaults.

    Rows are recorded as by default: what was asked for may be no multiple of a step that is the engine's own.
    """
    changes = {name: value for name, value in results.changes.items() if name not in ("run.step", RECORD)}
    natural = contestant.natural
    if natural is None:
        return changes
    changes["run.step"] = natural.step
    if "controller.period" in results.experiment.values():
        changes["controller.period"] = natural.period
    return changes


def natural_of(contestant: Contestant) -> Contestant:
    """The same engine in its natural settings."""
    if contestant.natural is None:
        return contestant
    return Contestant(contestant.label, contestant.title, contestant.natural.engine)


def run_equal(work: Work) -> None:
    """The experiment in all engines at equal settings."""
    results, progress = work.results, work.progress
    duration = results.experiment.build(results.changes).duration
    for k, one in enumerate(results.contestants):
        try:
            made = one.run(
                results.experiment,
                results.changes,
                part(progress, k, len(results.contestants), duration),
                work.announce,
            )
        except InputError as error:
            _refuse(work, results.refused, one, f"does not take it: {error}")
            continue
        first = next(iter(results.equal.values())).run if results.equal else None
        results.equal[one.label] = made
        values = dict(results.experiment.values(results.changes))
        results.outcomes.append(outcome_of(one.label, made, values, first))
    if not results.equal:
        raise InputError("; ".join(f"{results.titles[name]} {why}" for name, why in results.refused.items()))


def run_natural(work: Work) -> None:
    """The experiment in all engines, each as its own users know it."""
    results, progress = work.results, work.progress
    duration = results.experiment.build(results.changes).duration
    for k, one in enumerate(results.able):
        changes = natural_changes(one, results)
        ticking = part(progress, k, len(results.able), duration)
        try:
            made = natural_of(one).run(results.experiment, changes, ticking, work.announce)
        except InputError as error:
            _refuse(work, results.refused_natural, one, f"does not take it in its natural settings: {error}")
            continue
        first = next(iter(results.natural.values())).run if results.natural else None
        results.natural[one.label] = made
        results.natural_outcomes.append(outcome_of(one.label, made, dict(results.experiment.values(changes)), first))


def _refuse(work: Work, refused: dict[str, str], one: Contestant, words: str) -> None:
    """Keep why an engine is left out, and tell it."""
    refused[one.label] = words
    work.announce(f"{one.title} {words}")


def stand_equal(work: Work) -> None:
    """Creep at equal settings."""
    _stand(work, EQUAL)


def stand_natural(work: Work) -> None:
    """Creep in natural settings."""
    _stand(work, NATURAL)


def _stand(work: Work, settings: str) -> None:
    results, duration, progress = work.results, work.effort.standing, work.progress
    for k, one in enumerate(results.able):
        equal = settings == EQUAL
        who, changes = (one, results.changes) if equal else (natural_of(one), natural_changes(one, results))
        ticking = part(progress, k, len(results.able), standing.SETTLED + duration)
        row, drift, made = standing.stand(who, settings, changes, duration, ticking, work.announce)
        results.creeps.append(row)
        if drift is not None:
            results.drifts[settings, one.label] = drift
        if made is not None:
            results.standing[settings, one.label] = made


def run_flights(work: Work) -> None:
    """Free flight, gentle and fast, also in what engines have for smooth motion."""
    results, effort, progress = work.results, work.effort, work.progress
    cases = [(motion, one) for motion in MOTIONS for one in results.everyone]
    for k, (motion, one) in enumerate(cases):
        ticking = part(progress, k, len(cases), effort.flight)
        made = partial(flight.fly, one, motion, effort.flight, results.changes, ticking, work.announce)
        row, flown = flight.flight_row(one, motion, effort.flight, made)
        results.flights.append(row)
        if flown is not None:
            results.flown[motion, one.label] = flown


def halve(work: Work) -> None:
    """The experiment at halved steps; the rollouts at equal settings serve again where the step is theirs."""
    results, effort, progress = work.results, work.effort, work.progress
    steps = step_refinement.ladder(results.experiment, results.changes, effort.halvings)
    duration = results.experiment.build(results.changes).duration
    changes = {name: value for name, value in results.changes.items() if name != RECORD}  # each step divides its own
    whole = sum(1.0 / step for step in steps) * len(results.able)
    done = 0.0
    for one in results.able:
        made: dict[float, tuple[Rollout | None, str]] = {}
        for step in steps:
            share = 1.0 / step / whole
            if abs(step - results.step) < 1e-12 and changes == results.changes:
                made[step] = (results.equal[one.label], "")
            else:
                ticking = _share(progress, done, share / duration)
                made[step] = step_refinement.climb(one, results.experiment, changes, step, ticking)
            done += share
        rungs = step_refinement.rungs_of(one.label, made)
        results.rungs += rungs
        results.orders.append(step_refinement.convergence_of(one.label, rungs))


def _share(progress: Progress, done: float, rate: float) -> Progress:
    return lambda time: progress(min(1.0, done + rate * time))


def time_steps(work: Work) -> None:
    """Cost of a step of the experiment."""
    results, effort, progress = work.results, work.effort, work.progress
    changes = timed_changes(results, effort.timed)
    with one_core():
        rows, results.refused_cost = cost.measure(results.able, results.experiment, changes, effort.repeats, progress)
    results.costs += rows
    for name, why in results.refused_cost.items():
        work.announce(f"{results.titles[name]} {why}")


def timed_changes(results: Results, most: float) -> Mapping[str, Value]:
    """The changes for a timed run, which is no longer than so many seconds, where the experiment allows that."""
    duration = results.experiment.build(results.changes).duration
    shorter = {**results.changes, "run.duration": min(duration, most)}
    try:
        results.experiment.build(shorter)
    except InputError:  # such as a push that begins later
        return results.changes
    return shorter


def climb(work: Work) -> None:
    """Work and precision in flight."""
    results, effort, progress = work.results, work.effort, work.progress
    results.precision = precision.measure(results.contestants, results.changes, effort, progress)
