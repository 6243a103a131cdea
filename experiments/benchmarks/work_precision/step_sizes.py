"""Climbing the ladders: every method on every rung, its error and its cost."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from biped.errors import InputError, IntegrationError
from experiments.benchmarks.timing import Spread, interleaved
from experiments.benchmarks.work_precision.case import TREE, Case, Rung
from experiments.benchmarks.work_precision.problem import Forms, Problem
from experiments.benchmarks.work_precision.reference import rms

Progress = Callable[[float], None]

#: An error below so many of the reference's own is not told from it.
ABOVE_REFERENCE = 10.0
#: [m] errors above this are no approximation of the motion, and show no order.
LARGE = 0.1
#: Part of the steps of a rung that may have been taken in parts.
RARE = 0.01
#: The least rungs from which an order is told.
LEAST_RUNGS = 3


@dataclass(frozen=True)
class Measurement:
    """A method on a rung.

    Attributes:
        rung: how finely.
        error: [m] root mean square distance of the problem's points to the reference, over all samples.
        energy_error: [J] the largest difference of the energy from the reference's.
        iterations: of Newton's method, a step.
        retried: part of the steps that were taken in parts, since they had no solution as a whole.
        cost: [s] of computation for a second of motion; None if it was not timed.
    """

    rung: Rung
    error: float
    energy_error: float
    iterations: float
    retried: float = 0.0
    cost: Spread | None = None

    @property
    def seconds(self) -> float:
        """[s/s] the least cost: what else ran on the machine only ever adds."""
        return math.nan if self.cost is None else self.cost.least


@dataclass(frozen=True)
class Curve:
    """A method on a problem.

    Attributes:
        method: its name.
        systems: what it takes: ``case.TREE`` or ``case.LAGRANGIAN``.
        traits: what it says of itself: an object with ``order``, ``symplectic`` and the like.
        floor: [m] below this an error is not told from that of the reference.
        measurements: from the coarsest rung on.
        failures: on rungs without a solution: why.
    """

    method: str
    systems: str
    traits: Any
    floor: float
    measurements: tuple[Measurement, ...]
    failures: tuple[tuple[Rung, str], ...] = ()

    @property
    def label(self) -> str:
        """Its name, and what it takes where that is no tree."""
        return self.method if self.systems == TREE else f"{self.method} (Lagrangian)"

    @property
    def order(self) -> float | None:
        """The slope of log error over log step where it is one; None for too few rungs, or for tolerances.

        Rungs on which steps were taken in parts are none of their step.
        """
        told = [
            m
            for m in self.measurements
            if self.floor < m.error < LARGE and m.rung.tolerance is None and m.retried < RARE
        ]
        if len(told) < LEAST_RUNGS:
            return None
        finest = told[-4:]
        steps, errors = ([math.log(value) for value in values] for values in zip(*_points(finest), strict=True))
        return float(np.polyfit(steps, errors, 1)[0])

    def cost_at(self, error: float) -> float | None:
        """[s/s] that an error [m] costs, between rungs by a power law; None if it is not reached.

        A rung that costs more than a finer one counts for nothing.
        """
        points = [(m.error, m.seconds) for m in self.measurements]
        if not points or min(e for e, _ in points) > error:
            return None
        reached = [cost for e, cost in points if e <= error]
        between = [
            math.exp(np.interp(math.log(error), [math.log(e1), math.log(e0)], [math.log(c1), math.log(c0)]))
            for (e0, c0), (e1, c1) in pairwise(points)
            if e1 <= error < e0
        ]
        return float(min(reached + between))


def _points(measurements: Iterable[Measurement]) -> list[tuple[float, float]]:
    return [(m.rung.step, m.error) for m in measurements]


@dataclass(frozen=True)
class Effort:
    """How much is computed.

    Attributes:
        rungs: of each ladder, at most; all if None.
        repeats: of every timing.
        patience: [s] of computation after which a ladder is not climbed further.
    """

    rungs: int | None
    repeats: int
    patience: float


FULL = Effort(None, 5, 2.0)
QUICK = Effort(4, 3, 0.2)


@dataclass(frozen=True)
class Comparison:
    """All methods on a problem.

    Attributes:
        problem: the problem.
        forms: its forms, with their references.
        curves: of the methods that take it.
        refusals: by method, why it does not take it.
    """

    problem: Problem
    forms: Forms
    curves: tuple[Curve, ...]
    refusals: Mapping[str, str] = field(default_factory=dict)


def compare(problem: Problem, effort: Effort, only: Sequence[str], progress: Progress) -> Comparison:
    """Climb all ladders of a problem, then time all rungs in turn.

    Args:
        problem: the problem.
        effort: how much is computed.
        only: names or patterns of the methods; all for none.
        progress: called with the fraction that is done.
    """
    forms = problem.forms()
    chosen = [
        (case, name, traits)
        for case in forms.cases
        for name, traits in case.methods().items()
        if not only or any(fnmatch(name, pattern) for pattern in only)
    ]
    refusals: dict[str, str] = {}
    climbed: list[tuple[Case, Curve]] = []
    for k, (case, name, traits) in enumerate(chosen):
        try:
            climbed.append((case, climb(problem, case, name, traits, effort)))
        except InputError as refusal:
            refusals[name] = str(refusal)
        progress(0.6 * (k + 1) / len(chosen))
    curves = _timed(problem, climbed, effort.repeats)
    progress(1.0)
    return Comparison(problem, forms, curves, refusals)


def climb(problem: Problem, case: Case, name: str, traits: Any, effort: Effort) -> Curve:
    """Errors of a method on all rungs that are worth it.

    Raises:
        InputError: the method does not take the problem.
    """
    truth = case.reference
    floor = ABOVE_REFERENCE * truth.error
    measurements: list[Measurement] = []
    failures: list[tuple[Rung, str]] = []
    for rung in case.rungs(name, problem.steps(effort.rungs), problem.duration / problem.samples):
        try:
            motion = case.move(name, rung, problem.duration, problem.samples)
            cost = case.seconds(name, rung, problem.duration)
        except IntegrationError as error:
            failures.append((rung, str(error)))
            continue
        found = rms(motion.places, truth.places)
        if not math.isfinite(found):
            failures.append((rung, "the motion is not finite"))
            continue
        drift = float(np.abs(motion.energy - truth.energy).max())
        measurements.append(Measurement(rung, found, drift, motion.iterations, motion.retried))
        if found < floor or cost > effort.patience:
            break
    return Curve(name, case.systems, traits, floor, tuple(measurements), tuple(failures))


def _timed(problem: Problem, climbed: Sequence[tuple[Case, Curve]], repeats: int) -> tuple[Curve, ...]:
    """The curves with their costs: all rungs of all methods in turn, so that a busy machine is busy for all."""
    work = {
        (k, j): partial(case.seconds, curve.method, measurement.rung, problem.duration)
        for k, (case, curve) in enumerate(climbed)
        for j, measurement in enumerate(curve.measurements)
    }
    seconds = interleaved(work, repeats)
    curves = []
    for k, (_, curve) in enumerate(climbed):
        timed = tuple(
            replace(m, cost=Spread.of([max(value, 1e-9) / problem.duration for value in seconds[k, j]]))
            for j, m in enumerate(curve.measurements)
        )
        curves.append(replace(curve, measurements=timed))
    return tuple(curves)
