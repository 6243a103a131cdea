"""Continuous dynamics of mechanisms, and usual integrators of them, for comparison with the variational integrator.

Equations (28), (29) and (36) of Johnson & Murphey 2009. As in (36b), only the second derivatives of the constraints are
enforced, so the error of the constraints grows with time; with the variational integrator it does not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from scipy.integrate import DOP853

from biped.kernels.solve.causes import NOT_FINITE
from biped.runs.march import Progress, chunk_of, march
from contact.arrays import Floats
from formulations.mechanism.engine import Engine, no_parts
from formulations.mechanism.errors import MechanismError
from formulations.mechanism.inputs import Input, sampled, table_of_inputs
from formulations.mechanism.kernels import continuous as kernels
from formulations.mechanism.simulation import Motion, Settings, checked_motions, columns_of, motion_of, start_of
from formulations.mechanism.singularity import cause_of

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism, Vector

#: Classical Runge-Kutta method of order 4 with a fixed step; Dormand-Prince method of order 8 with adaptive steps.
Method = Literal["rk4", "dop853"]

# [s] Time difference for rates and accelerations of prescribed motions.
DIFFERENCE = 2e-3
# SciPy refuses a relative tolerance below 100 roundings.
LEAST_TOLERANCE = 2.3e-14


@dataclass(frozen=True)
class Acceleration:
    """Accelerations and constraint forces at a state: solution of (36a, b) of Johnson & Murphey 2009.

    Attributes:
        coordinates: (n,) accelerations q̈ [rad/s² or m/s²], including those given for kinematic variables.
        multipliers: (m,) forces λ of the constraints [N or N·m], in the order of ``Mechanism.constraint_names``.
    """

    coordinates: Floats
    multipliers: Floats


def accelerations(
    mechanism: Mechanism, q: Vector, v: Vector, *, time: float = 0.0, given: Vector | None = None
) -> Acceleration:
    """Return accelerations and constraint forces at a state (Johnson & Murphey 2009, (29) or, with constraints, (36)).

    Args:
        mechanism: the mechanism.
        q: configuration that satisfies the constraints.
        v: rates of the configuration that satisfy the constraints.
        time: [s] time at which torques and other functions of time are evaluated.
        given: accelerations of kinematic variables, an array or a dict {name: value}; missing ones are zero.

    Raises:
        MechanismError: the mass matrix is singular, the constraints depend on each other, or an argument does not fit
            the mechanism.
    """
    state = np.concatenate([mechanism.configuration(q), mechanism.rates(v), [0.0]])
    engine = _engine(mechanism, state, np.zeros((0, 0)))
    table = np.stack([state[: mechanism.size], state[mechanism.size : -1], mechanism.rates(given)])
    engine.take_in(given=table[None], inputs=table_of_inputs(mechanism.inputs, np.array([time])))
    rates = engine.world.rates
    rates.stage[:] = state
    failed = engine.enter(kernels.SLOPE, 0, 0)
    if failed:
        raise MechanismError(f"{mechanism.name} at q: {cause_of(mechanism, engine.world.buffers, failed)}")
    return Acceleration(rates.acceleration, rates.multiplier)


def integrate(
    mechanism: Mechanism,
    duration: float,
    step: float = 0.01,
    *,
    method: Method = "rk4",
    q: Vector | None = None,
    v: Vector | None = None,
    kinematic: Mapping[str, Input] | None = None,
    tolerance: float = 1e-10,
    record_every: int = 1,
    start: float = 0.0,
    progress: Progress | None = None,
) -> Motion:
    """Simulate with a standard integrator of ODEs; the motion has the columns of ``Mechanism.simulate``.

    Args:
        mechanism: mechanism to simulate.
        duration: [s] duration, a whole number of time steps.
        step: [s] time step of "rk4"; "dop853" chooses its time steps, and its rows are at multiples of ``step``.
        method: "rk4", Runge-Kutta of order 4, or "dop853", Dormand-Prince of order 8.
        q: configuration at the start, which satisfies the constraints: an array, or a dict {name: value}; missing
            variables are zero.
        v: rates at the start, an array or a dict; they must satisfy the constraints.
        kinematic: motions of all kinematic variables, by name. They must be smooth: their rates and accelerations are
            computed by differences over milliseconds.
        tolerance: relative and absolute tolerance of "dop853".
        record_every: number of time steps between rows of the motion.
        start: [s] time of the first row.
        progress: function that is called repeatedly with the completed fraction, 0 to 1.

    Raises:
        MechanismError: an argument does not fit the mechanism, see ``Mechanism.simulate``.
        IntegrationError: the mass matrix became singular, the constraints dependent, or a number infinite;
            ``error.run`` is the motion until then.
    """
    if method not in get_args(Method):
        raise MechanismError(f"method = {method!r}: it must be one of {', '.join(get_args(Method))}")
    settings = Settings(
        duration=duration, step=step, alpha=0.5, tolerance=tolerance, max_iterations=1, record_every=record_every,
        start=start,
    )  # fmt: skip
    given = checked_motions(mechanism, kinematic or {})
    driven = _motions_at(mechanism, given, np.array([start]))[0, kernels.RATE]
    began = np.concatenate([*start_of(mechanism, settings, q, v, given, driven), [0.0]])
    kind = _FixedSteps if method == "rk4" else _AdaptiveSteps
    return march(kind(mechanism, settings, began, given), settings.steps, progress)


def _engine(mechanism: Mechanism, state: Floats, rows: Floats, step: float = 0.0) -> Engine:
    """Return the kernels with buffers for an integration."""
    steps = mechanism.engine()  # has the buffers for evaluations at a state, and the user-defined components
    flow = kernels.Flow(
        mechanics=mechanism.mechanics, buffers=steps.world.buffers,
        rates=kernels.new_rates(mechanism.size, len(mechanism.labels)), state=state, step=step,
        inputs=np.zeros((0, 1 + len(mechanism.inputs))), given=np.zeros((0, 3, mechanism.size)), rows=rows,
        parts=no_parts(kernels.PARTS),
    )  # fmt: skip
    return Engine(flow, kernels.FUNCTIONS, kernels.CALLS, steps)


def _motions_at(mechanism: Mechanism, given: Mapping[str, Input], times: Floats) -> Floats:
    """Return an array (times, 3, n): prescribed positions, rates and accelerations, by differences of order four."""
    table = np.zeros((len(times), 3, mechanism.size))
    for name, value in given.items():
        column, what = mechanism.coordinates.index(name), f"motion of {name!r}"
        x = [sampled(value, times + k * DIFFERENCE, what) for k in (-2, -1, 0, 1, 2)]
        rate = (8.0 * (x[3] - x[1]) - (x[4] - x[0])) / (12.0 * DIFFERENCE)
        bend = (16.0 * (x[3] - 2.0 * x[2] + x[1]) - (x[4] - 2.0 * x[2] + x[0])) / (12.0 * DIFFERENCE**2)
        for place, values in ((kernels.PLACE, x[2]), (kernels.RATE, rate), (kernels.ACCELERATION, bend)):
            table[:, place, column] = values
    return table


class _Integration(ABC):
    """State, buffers and rows of one motion."""

    def __init__(self, mechanism: Mechanism, settings: Settings, state: Floats, given: Mapping[str, Input]) -> None:
        self.mechanism, self.settings, self.given = mechanism, settings, given
        self.rows = np.full((settings.steps // settings.record_every + 1, len(columns_of(mechanism))), np.nan)
        self.times = settings.start + settings.step * settings.record_every * np.arange(
            len(self.rows), dtype=np.float64
        )
        self.state = state
        self.engine = _engine(mechanism, state, self.rows, float(settings.step))
        self.rates: kernels.Rates = self.engine.world.rates
        self.chunk = chunk_of(settings.record_every)
        self.evaluations = 0
        self.reached = settings.start

    def look_up(self, times: Floats) -> None:
        """Evaluate the functions of time at ``times``."""
        self.engine.take_in(
            inputs=table_of_inputs(self.mechanism.inputs, times), given=_motions_at(self.mechanism, self.given, times)
        )

    def slope(self, t: float, state: Floats) -> Floats:
        """Return the time derivative of a state."""
        self.look_up(np.array([t]))
        self.rates.stage[:] = state
        failed = NOT_FINITE if not np.all(np.isfinite(state)) else self.engine.enter(kernels.SLOPE, 0, 0)
        if failed:
            raise _NoSlopeError(failed, t)
        return self.rates.slope[0].copy()

    def record(self, t: float, state: Floats, row: int) -> None:
        """Record a state in a row of the motion."""
        self.slope(t, state)
        self.state[:] = state
        self.engine.enter(kernels.RECORD, 0, row)

    def advance(self, first: int, count: int) -> int:
        """Take ``count`` time steps; return 0 or a cause of failure."""
        return self._caught(self.take, first, count)

    def finish(self, steps: int) -> int:
        """Record the end; return 0 or a cause of failure."""
        return self._caught(self.end, steps)

    @abstractmethod
    def take(self, first: int, count: int) -> None:
        """Take ``count`` steps and record their rows."""

    @abstractmethod
    def end(self, steps: int) -> None:
        """Record the rows missing after the last step."""

    def _caught(self, part: Callable[..., None], *arguments: int) -> int:
        try:
            part(*arguments)
        except _NoSlopeError as failed:
            self.reached = failed.time
            return failed.cause
        return 0

    def failure(self, cause: int) -> str:
        """Return the message for the cause that ended the motion."""
        reason = cause_of(self.mechanism, self.engine.world.buffers, cause)
        return f"{self.mechanism.name} at t = {self.reached:.9g} s: {reason}; try a smaller step or tolerance"

    def recorded(self, seconds: float, failure: str) -> Motion:
        """Return the motion of all recorded rows."""
        metrics = {
            "step": self.settings.step,
            "steps": self.settings.steps,
            "evaluations": self.evaluations,
            "newton_mean": 0.0,
            "newton_max": 0,
        }
        kept = ~np.isnan(self.rows[:, 0]) if failure else slice(None)
        rows, times = self.rows[kept], self.times[kept]
        return motion_of(self.mechanism, times, rows, metrics, seconds, failure, ("newton_iterations",))


class _NoSlopeError(Exception):
    """Error: the accelerations at a ``time`` [s] cannot be computed; ``cause`` is the status of the kernel."""

    def __init__(self, cause: int, time: float) -> None:
        super().__init__(cause)
        self.cause, self.time = cause, time


class _FixedSteps(_Integration):
    """Integration by the classical Runge-Kutta method of order 4."""

    def look_ahead(self, first: int, count: int) -> None:
        """Evaluate the functions of time at both ends and in the middle of time steps."""
        halves = np.arange(2 * first, 2 * (first + count) + 1, dtype=np.float64)
        self.look_up(self.settings.start + 0.5 * self.settings.step * halves)

    def take(self, first: int, count: int) -> None:
        """Take ``count`` steps in compiled code."""
        every = self.settings.record_every
        failed = self.engine.enter(kernels.TAKE_STEPS, count, every, first // every)
        self.evaluations += 4 * count
        if failed:
            raise _NoSlopeError(failed, self.settings.start + self.settings.step * (first + int(self.rates.steps[0])))

    def end(self, steps: int) -> None:
        """Record the last row."""
        self.record(self.settings.start + self.settings.step * steps, self.state, len(self.rows) - 1)


class _AdaptiveSteps(_Integration):
    """Integration by Dormand and Prince's method of order 8 with adaptive time steps and interpolated rows."""

    solver: DOP853[np.float64] | None = None
    row = 0

    def look_ahead(self, first: int, count: int) -> None:
        """Do nothing: each evaluation looks up the functions at its time."""

    def take(self, first: int, count: int) -> None:
        """Take adaptive time steps until all rows up to the end of ``count`` steps are recorded."""
        solver, times = self.begun(), self.times
        while self.row < (first + count) // self.settings.record_every:
            if solver.step() is not None:  # no step size is small enough
                raise _NoSlopeError(NOT_FINITE, solver.t)
            between = solver.dense_output()
            while self.row + 1 < len(times) and times[self.row + 1] <= solver.t:
                self.row += 1
                self.record(times[self.row], between(times[self.row]), self.row)
        self.evaluations = solver.nfev

    def begun(self) -> DOP853[np.float64]:
        """Return the solver, after recording the first row."""
        if self.solver is None:
            begin, tolerance = self.settings.start, self.settings.tolerance
            self.record(begin, self.state, 0)
            relative = max(tolerance, LEAST_TOLERANCE)
            self.solver = DOP853(self.slope, begin, self.state.copy(), self.times[-1], rtol=relative, atol=tolerance)
        return self.solver

    def end(self, steps: int) -> None:
        """Record the first row of a motion without steps; all other rows exist."""
        self.begun()
