"""Error and computing time of each method at each step size."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from biped.errors import InputError, IntegrationError
from experiments.timing import Spread, interleaved, slope
from experiments.work_precision.case import TREE, Case, Forms, Problem, StepSize, rms

#: Two numbers are a tie if their ratio is below this.
CLOSE = 1.15


@dataclass(frozen=True)
class Ranked:
    """The number by which a method or engine is compared, with its rank."""

    label: str  # name of the method or engine
    value: float | None  # the number, or None if there is no number
    ratio: float | None = None  # ratio to the best number; None if excluded
    at_least: bool = False  # True if the ratio is a lower bound, because the best number is below the floor
    best: bool = False  # True if no number is better
    note: str = ""  # reason for exclusion, or a remark that the number is below the floor


def ranked(
    values: Mapping[str, float | None], floor: float = 0.0, out: Mapping[str, str] | None = None
) -> list[Ranked]:
    """Return a rank for each number by its magnitude, in the order of ``values``.

    Numbers below ``floor`` count as equal; ``out`` has the reasons for exclusions, by name.
    """
    notes = {name: "has no number" for name, value in values.items() if value is None or not math.isfinite(value)}
    notes |= out or {}
    sizes = {name: abs(value) for name, value in values.items() if name not in notes and value is not None}
    least = min(sizes.values(), default=math.nan)
    best = max(least, floor)
    ranks = []
    for name in dict.fromkeys((*values, *notes)):
        if name in notes:
            ranks.append(Ranked(name, values.get(name), note=notes[name]))
            continue
        size = sizes[name]
        note = f"below {floor:g}" if size < floor else ""
        ratio = size / best if size > best else 1.0
        wins = len({**values, **notes}) > 1 and size <= CLOSE * best
        ranks.append(Ranked(name, values[name], ratio, least < floor <= size, wins, note))
    return ranks


Progress = Callable[[float], None]

#: Errors below this multiple of the reference's error cannot be resolved.
ABOVE_REFERENCE = 10.0
#: [m] largest error from which the order is estimated: larger errors are not in the range of convergence.
LARGE = 0.1
#: Largest fraction of subdivided steps of a motion from which the order is estimated.
RARE = 0.01
#: Approximate fraction of a comparison's time for errors; timings take the rest.
MEASURING = 0.6
#: Least number of step sizes to estimate an order.
LEAST = 3


@dataclass(frozen=True)
class Measurement:
    """Error and computing time of a method at one step size: a point of a work-precision diagram."""

    size: StepSize  # step size or tolerance
    error: float  # [m] root mean square distance of the problem's points to the reference, over all samples
    energy_error: float  # [J] largest difference from the energy of the reference
    iterations: float  # Newton iterations per step
    retried: float = 0.0  # fraction of the steps that were subdivided because they had no solution
    cost: Spread | None = None  # [s/s] computing time per second of motion; None if not timed

    @property
    def seconds(self) -> float:
        """Least computing time per second of motion [s/s]; other load on the machine only increases it."""
        return math.nan if self.cost is None else self.cost.least


@dataclass(frozen=True)
class Curve:
    """Errors and computing times of a method on a problem, at all step sizes."""

    method: str  # name of the method
    systems: str  # kind of systems that the method takes: ``case.TREE`` or ``case.LAGRANGIAN``
    traits: Any  # properties of the method: an object with ``order``, ``symplectic`` and the like
    floor: float  # [m] least resolvable error
    measurements: tuple[Measurement, ...]  # measurements, that with the longest step first
    failures: tuple[tuple[StepSize, str], ...] = ()  # step sizes without a solution, with the reasons

    @property
    def label(self) -> str:
        return self.method if self.systems == TREE else f"{self.method} (Lagrangian)"

    @property
    def order(self) -> float | None:
        """Order of convergence: slope of log error over log step; None for too few step sizes, or for tolerances.

        Measurements with many subdivided steps are left out.
        """
        clear = [
            m
            for m in self.measurements
            if self.floor < m.error < LARGE and m.size.tolerance is None and m.retried < RARE
        ][-4:]
        return slope([m.size.step for m in clear], [m.error for m in clear]) if len(clear) >= LEAST else None

    def cost_at(self, error: float) -> float | None:
        """Return the cost [s/s] of an error [m], interpolated by a power law; None if the error is not reached.

        A measurement that costs more than one with a smaller error is ignored.
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


@dataclass(frozen=True)
class Budget:
    """Amount of computation."""

    count: int | None  # largest number of step sizes of each method; None: all
    repeats: int  # number of repeats of each timing
    patience: float  # [s] computing time above which no shorter step is tried


FULL = Budget(None, 5, 2.0)
QUICK = Budget(4, 3, 0.2)


@dataclass(frozen=True)
class Comparison:
    """Results of all methods on a problem."""

    problem: Problem  # the problem
    forms: Forms  # forms of the problem, with their references
    curves: tuple[Curve, ...]  # results of the methods that can solve the problem
    refusals: Mapping[str, str] = field(default_factory=dict)  # reasons why the other methods cannot, by name


def compare(problem: Problem, budget: Budget, only: Sequence[str], progress: Progress) -> Comparison:
    """Measure the errors of all integrators, then their times; ``only``: their names or patterns, empty for all."""
    forms = problem.forms()
    chosen = [
        (case, name, traits)
        for case in forms.cases
        for name, traits in case.methods().items()
        if not only or any(fnmatch(name, pattern) for pattern in only)
    ]
    refusals: dict[str, str] = {}
    measured: list[tuple[Case, Curve]] = []
    for k, (case, name, traits) in enumerate(chosen):
        try:
            measured.append((case, measure(problem, case, name, traits, budget)))
        except InputError as refusal:
            refusals[name] = str(refusal)
        progress(MEASURING * (k + 1) / len(chosen))
    curves = _timed(problem, measured, budget.repeats, lambda part: progress(MEASURING + (1.0 - MEASURING) * part))
    return Comparison(problem, forms, curves, refusals)


def measure(problem: Problem, case: Case, name: str, traits: Any, budget: Budget) -> Curve:
    """Return an integrator's errors, from the longest step down to an unresolvable error or too slow a run."""
    truth = case.reference
    floor = ABOVE_REFERENCE * truth.error
    measurements: list[Measurement] = []
    failures: list[tuple[StepSize, str]] = []
    for size in case.grid(name, problem.steps(budget.count), problem.duration / problem.samples):
        try:
            motion = case.move(name, size, problem.duration, problem.samples)
            cost = case.seconds(name, size, problem.duration)
        except IntegrationError as error:
            failures.append((size, str(error)))
            continue
        distance = rms(motion.places, truth.places)
        if not math.isfinite(distance):
            failures.append((size, "the motion is not finite"))
            continue
        drift = float(np.abs(motion.energy - truth.energy).max())
        measurements.append(Measurement(size, distance, drift, motion.iterations, motion.retried))
        if distance < floor or cost > budget.patience:
            break
    return Curve(name, case.systems, traits, floor, tuple(measurements), tuple(failures))


def _timed(
    problem: Problem, measured: Sequence[tuple[Case, Curve]], repeats: int, progress: Progress
) -> tuple[Curve, ...]:
    """Return the curves with their costs; all cases are timed in turn, so that load on the machine affects all."""
    work = {
        (k, j): partial(case.seconds, curve.method, measurement.size, problem.duration)
        for k, (case, curve) in enumerate(measured)
        for j, measurement in enumerate(curve.measurements)
    }
    seconds = interleaved(work, repeats, progress=progress)
    curves = []
    for k, (_, curve) in enumerate(measured):
        timed = tuple(
            replace(m, cost=Spread.of([max(value, 1e-9) / problem.duration for value in seconds[k, j]]))
            for j, m in enumerate(curve.measurements)
        )
        curves.append(replace(curve, measurements=timed))
    return tuple(curves)


#: [m] accuracies of the ranking, from coarse to fine.
ACCURACIES = tuple(10.0**-k for k in range(2, 11))


def ranked_methods(comparison: Comparison, accuracy: float) -> list[Ranked]:
    """Return the cost [s/s] of an accuracy [m] with each method; empty if no method reaches it."""
    costs = {curve.label: curve.cost_at(accuracy) for curve in comparison.curves}
    if all(cost is None for cost in costs.values()):
        return []
    out = {name: "does not reach it" for name, cost in costs.items() if cost is None}
    refused = {name: f"cannot solve it: {why}" for name, why in comparison.refusals.items()}
    return ranked(costs, 0.0, out | refused)


def cheapest_lines(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return rows of a table: accuracy [m], cheapest methods, their cost [ms/s], next method, ratio of its cost."""
    lines: list[tuple[str, ...]] = []
    for accuracy in ACCURACIES:
        reached = sorted(
            (m for m in ranked_methods(comparison, accuracy) if m.ratio is not None and m.value is not None),
            key=lambda method: method.value or 0.0,
        )
        if not reached:
            continue
        best = [method.label for method in reached if method.best] or [reached[0].label]
        rest = [method for method in reached if method.label not in best]
        rival = (rest[0].label, f"{rest[0].ratio:.1f}") if rest else ("none reaches it", "")
        lines.append((f"{accuracy:.0e}", ", ".join(best), f"{1e3 * (reached[0].value or 0.0):.3g}", *rival))
    return lines


#: Headings of ``cheapest_lines``.
HEADINGS = ("error [m]", "cheapest", "cost [ms/s]", "next", "ratio of costs")
