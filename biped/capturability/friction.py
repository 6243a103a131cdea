"""The largest recoverable push on a floor with limited friction, computed by a linear program.

Centre of pressure and flywheels act together at a point q. The horizontal ground reaction force is m ω² (c − q) and at
most μ m g, so that q is within μ z of the centre of mass, |q − c| ≤ μ z. This limit moves with the centre of mass, so
that there is no closed form. With centre of pressure and torques constant in intervals, all constraints are linear in
these and in the impulse. The friction circle is replaced by an inscribed polygon with a corner opposite to the push. A
step extends the support by its length; the support includes the area between the feet, as in double support.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from biped.capturability.flywheel import Flywheel
from biped.capturability.pendulum import Pendulum
from biped.capturability.steps import IN_PLACE, Footholds, Steps
from biped.errors import InputError
from biped.signals import Signal
from contact.arrays import Floats

#: [s] Length of the intervals during push and delay, and the growth factor of later intervals.
FINE, GROWTH = 0.01, 1.05
#: Slices of the starts and of the ends of all intervals.
FIRST, LAST = slice(None, -1), slice(1, None)
#: [1/ω] Time after push and delay at which the pendulum must be captured.
SETTLED = 8.0
#: Status of SciPy's ``linprog`` if its solver reports no status.
NO_STATUS = 4
#: Number of sides of the friction polygon; with 16 sides its inner radius is 0.98 of the outer radius.
SIDES = 16


@dataclass(frozen=True)
class Case:
    """Input of the linear program: a push on a pendulum with support polygon, flywheels and limited friction.

    Attributes:
        pendulum: pendulum that stands for the body, at rest.
        corners: (k, 2) [m] corners of the support polygon, from the projection of the centre of mass on the floor.
        flywheels: two flywheels, which act along the first and the second axis; empty: none.
        friction: coefficient of friction of the floor.
        direction: (2,) unit vector of the push.
        shape: share of the push's impulse delivered up to a time; it ends at one.
        delay: [s] reaction time.
        steps: recovery steps, which begin after the delay; default: none.
    """

    pendulum: Pendulum
    corners: Floats
    flywheels: tuple[Flywheel, ...]
    friction: float
    direction: Floats
    shape: Signal
    delay: float
    steps: Steps | Footholds = IN_PLACE

    @property
    def landings(self) -> Floats:
        """Landing times [s] of the steps."""
        return self.delay + self.steps.landings(self.pendulum)


def largest_impulse(case: Case) -> float:
    """Return the largest impulse [N·s] from which the pendulum can be captured.

    Since controls are constant in each interval and friction limits only their mean, the error is up to 0.5 %.

    Raises:
        InputError: the solver finds no solution.
    """
    from scipy.optimize import linprog

    program = _Program(case)
    for axis in (0, 1):
        program.move(axis)
        if case.flywheels:
            program.turn(axis, case.flywheels[axis])
    program.stay_within()
    rows = *program.least.matrix(), *program.equal.matrix()
    for presolve in (True, False):  # presolve saves time, but HiGHS then fails on some programs, without status
        result = linprog(program.goal, *rows, bounds=(None, None), method="highs", options={"presolve": presolve})
        if result.status != NO_STATUS:
            break
    if not result.success:
        raise InputError(f"the largest push with friction = {case.friction:g} was not found; solver: {result.message}")
    return -float(result.fun or 0.0) * case.pendulum.mass * case.pendulum.rate


def _times(case: Case) -> Floats:
    """Return the ends [s] of the intervals, which include the ends of delay and push and the landing times."""
    marks = sorted({0.0, case.delay, case.shape.ends})
    pieces = [np.linspace(a, b, math.ceil((b - a) / FINE), endpoint=False) for a, b in pairwise(marks)]
    landings = case.landings
    span = SETTLED / case.pendulum.rate + max(0.0, landings.max(initial=0.0) - marks[-1])
    count = math.ceil(math.log1p(span / FINE * (GROWTH - 1.0)) / math.log(GROWTH))
    growing = FINE * GROWTH ** np.arange(count)
    just_before = np.maximum(landings - FINE / 10.0, case.delay)  # when the mass is farthest from the rear foot
    times = np.concatenate([*pieces, marks[-1:], marks[-1] + np.cumsum(growing), just_before, landings])
    return np.unique(times.round(9))


class _Rows:
    """Rows of a sparse matrix with their right-hand side, collected in groups."""

    def __init__(self, width: int) -> None:
        self.width, self.count = width, 0
        self._parts: list[tuple[Any, Any, Any]] = []
        self._right: list[Floats] = []

    def add(self, *terms: tuple[Any, Any], right: Any = 0.0) -> None:
        """Add a row for each column of the first term: the sum of all terms (columns, factors), and its right side."""
        size = np.size(terms[0][0])
        rows = self.count + np.arange(size)
        for columns, factors in terms:
            self._parts.append((rows, np.broadcast_to(columns, size), np.broadcast_to(factors, size)))
        self._right.append(np.broadcast_to(np.asarray(right, dtype=float), size))
        self.count += size

    def matrix(self) -> tuple[Any, Floats]:
        from scipy.sparse import coo_array

        rows, columns, factors = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        return coo_array((factors, (rows, columns)), shape=(self.count, self.width)).tocsr(), np.concatenate(
            self._right
        )


class _Program:
    """Linear program with variables c, ċ/ω, p, τ/(m g), flywheel angle and rate for each axis, and J/(m ω) last."""

    def __init__(self, case: Case) -> None:
        self.case, self.times = case, _times(case)
        self.spans = np.diff(self.times)
        n = len(self.spans)
        sizes = [n + 1, n + 1, n, *([n, n + 1, n + 1] if case.flywheels else [])]
        columns = np.split(np.arange(2 * sum(sizes)), np.cumsum(2 * sizes)[:-1])
        self.of_axis = columns[: len(sizes)], columns[len(sizes) :]
        self.impulse = 2 * sum(sizes)
        self.goal = np.zeros(self.impulse + 1)
        self.goal[-1] = -1.0
        self.equal, self.least = _Rows(self.impulse + 1), _Rows(self.impulse + 1)
        self.waits = np.flatnonzero(self.times[:-1] < case.delay - 1e-9)

    def point(self, axis: int, intervals: Any = slice(None)) -> list[tuple[Any, float]]:
        """Return terms for the point q at which centre of pressure and flywheel act together."""
        _, _, pressure, *wheel = self.of_axis[axis]
        return [(pressure[intervals], 1.0), *((torque[intervals], 1.0) for torque in wheel[:1])]

    def move(self, axis: int) -> None:
        """Constrain the motion from rest along an axis to the pendulum's exact solution for constant p, τ and force."""
        place, speed, pressure, *_ = self.of_axis[axis]
        rate = self.case.pendulum.rate
        cosh, sinh = np.cosh(rate * self.spans), np.sinh(rate * self.spans)
        force = np.diff(self.case.shape(self.times)) / self.spans / rate * self.case.direction[axis]
        point = self.point(axis)
        self.equal.add((place[1:], 1.0), (place[:-1], -cosh), (speed[:-1], -sinh), (self.impulse, (1.0 - cosh) * force),
                       *((column, cosh - 1.0) for column, _ in point))  # fmt: skip
        self.equal.add((speed[1:], 1.0), (place[:-1], -sinh), (speed[:-1], -cosh), (self.impulse, -sinh * force),
                       *((column, sinh) for column, _ in point))  # fmt: skip
        for at_rest in (place[:1], speed[:1], pressure[self.waits]):
            self.equal.add((at_rest, 1.0))

    def turn(self, axis: int, wheel: Flywheel) -> None:
        """Constrain a flywheel's angle and torque to their limits, and its final rate to zero."""
        *_, torque, angle, rate = self.of_axis[axis]
        gain = self.case.pendulum.weight / wheel.inertia * self.spans
        self.equal.add((rate[1:], 1.0), (rate[:-1], -1.0), (torque, -gain))
        self.equal.add(
            (angle[1:], 1.0), (angle[:-1], -1.0), (rate[:-1], -self.spans), (torque, -0.5 * self.spans * gain)
        )
        for still in (angle[:1], rate[:1], rate[-1:], torque[self.waits]):
            self.equal.add((still, 1.0))
        for side, sign in enumerate((1.0, -1.0)):
            self.least.add((angle, sign), right=wheel.angles[side])
            self.least.add((torque, sign), right=wheel.torques[side] / self.case.pendulum.weight)

    def stay_within(self) -> None:
        """Constrain the centre of pressure to the support and the force to the friction cone, also at the end."""
        (c, s, p, *_), (other_c, other_s, other_p, *_) = self.of_axis
        case, since = self.case, self.times[:-1] - self.case.delay + 1e-6
        for (x, y), offsets in case.steps.sides(case.corners, case.direction, case.pendulum, since):
            self.least.add((p, x), (other_p, y), right=offsets)
            self.least.add((c[-1:], x), (s[-1:], x), (other_c[-1:], y), (other_s[-1:], y), right=offsets[-1])
        ahead = math.atan2(self.case.direction[1], self.case.direction[0])
        apothem = self.case.friction * self.case.pendulum.height * math.cos(math.pi / SIDES)
        for angle in ahead + (np.arange(SIDES) + 0.5) * 2.0 * math.pi / SIDES:
            x, y = math.cos(angle), math.sin(angle)
            along = [(column, x) for column, _ in self.point(0)] + [(column, y) for column, _ in self.point(1)]
            means = [(place[end], -0.5 * way) for place, way in ((c, x), (other_c, y)) for end in (FIRST, LAST)]
            self.least.add(*along, *means, right=apothem)
            self.least.add((s[-1:], x), (other_s[-1:], y), right=apothem)
