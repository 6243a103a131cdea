"""Trajectories of least cost, by Hauser's projection operator.

The search varies a trajectory of a discrete system x' = f(x, u), with a feedback about the trajectory that is optimal
for small deviations. Any curve (x̄, ū) is projected to a trajectory that follows the curve under this feedback,

    u(k) = ū(k) − K(k) (x(k) − x̄(k)),      x(k + 1) = f(x(k), u(k)),

and the cost of the projection is minimized without constraints. A descent direction (z, v) is a trajectory of the
linearized system that minimizes the cost's slope and a quadratic model, by a Riccati recursion:

    steepest: the unit matrix;    quasi-Newton: the second derivatives of the cost;
    Newton: these plus those of f, weighted by the costates, which is the second derivative of the projected cost.

The step along it is the largest of 1, β, β², … that reduces the cost enough (Armijo). Johnson, Schultz & Murphey 2014,
eq. (37) and section VIII-A: with the second derivatives Newton's method converges in a few iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from biped.errors import InputError, IntegrationError
from biped.optimal.kernels import new_sweep, sweep_back, sweep_forward
from biped.optimal.linear import regulator
from contact.arrays import Floats

Method = Literal["steepest", "quasi-newton", "newton"]
#: Methods for a descent direction, the cheapest first.
METHODS: tuple[Method, ...] = get_args(Method)
#: Armijo's rule: β, greatest number of step lengths to try, and the required share of the predicted decrease.
SHRINK, TRIES, ENOUGH = 0.7, 30, 1e-5


class NoDescentError(IntegrationError):
    """Error: no step along a descent direction reduces the cost of a trajectory."""


class LinearizedStep(Protocol):
    """The derivatives of one step f(x, u) of a system: A (n, n) with respect to the state, B (n, m) to the input."""

    A: Floats
    B: Floats

    def weighted_second(self, weights: Floats) -> Floats:
        """Return Σ w_i ∂²f_i by (x, u), (n + m, n + m), for weights w (n,)."""


class DiscreteSystem(Protocol):
    """A discrete system x' = f(x, u) of states x and inputs u, such as ``formulations.mechanism.DiscreteMechanism``."""

    def advance(self, x: Floats, u: Floats) -> Floats:
        """Return f(x, u)."""

    def linearize(self, x: Floats, u: Floats) -> LinearizedStep:
        """Return the derivatives of f at (x, u)."""


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A trajectory of N steps: states x (N + 1, n), and inputs u (N, m) between them."""

    x: Floats
    u: Floats


@dataclass(frozen=True, eq=False)
class QuadraticCost:
    """The quadratic cost Σ ½ [(x − x_d)·Q (x − x_d) + (u − u_d)·R (u − u_d)] + ½ (x_N − x_dN)·Q (x_N − x_dN).

    Attributes:
        desired: desired states x_d and inputs u_d, N steps; they need not be a trajectory of the system.
        state: (n, n) weight matrix Q of deviations of the state.
        input: (m, m) weight matrix R of deviations of the input.
    """

    desired: Trajectory
    state: Floats
    input: Floats

    def __post_init__(self) -> None:
        n, m = self.desired.x.shape[1], self.desired.u.shape[1]
        if len(self.desired.x) != len(self.desired.u) + 1:
            raise InputError(f"desired: {len(self.desired.x)} states, {len(self.desired.u)} inputs: add one state more")
        for what, matrix, size in (("state", self.state, n), ("input", self.input, m)):
            if matrix.shape != (size, size) or not np.allclose(matrix, matrix.T):
                raise InputError(f"{what} has shape {matrix.shape}; it must be a symmetric ({size}, {size}) matrix")

    def value(self, path: Trajectory) -> float:
        """Return the cost of a trajectory."""
        x, u = path.x - self.desired.x, path.u - self.desired.u
        total = np.einsum("ki,ij,kj->", x[:-1], self.state, x[:-1]) + np.einsum("ki,ij,kj->", u, self.input, u)
        return float(0.5 * (total + x[-1] @ self.state @ x[-1]))

    def slopes(self, path: Trajectory) -> Trajectory:
        """Return the derivatives of the cost by the states, as ``x`` (N + 1, n), and by the inputs, as ``u`` (N, m)."""
        x, u = path.x - self.desired.x, path.u - self.desired.u
        by_x = x @ self.state
        by_x[-1] = self.state @ x[-1]
        return Trajectory(by_x, u @ self.input)


@dataclass(frozen=True, eq=False)
class Descent:
    """A descent direction at a trajectory.

    Attributes:
        direction: changes (z, v) of states and inputs, a trajectory of the linearized system.
        slope: derivative of the cost along the direction, below zero.
        gains: (N, m, n) feedback gains that project the sum of trajectory and step to a trajectory of the system.
        method: method used: the requested one or, if its quadratic model is not convex, a cheaper one.
    """

    direction: Trajectory
    slope: float
    gains: Floats
    method: Method


@dataclass(frozen=True)
class Iteration:
    """One iteration of ``optimize``: initial cost, its slope along the descent direction, method, step size (≤ 1)."""

    cost: float
    slope: float
    method: Method
    part: float


@dataclass(frozen=True, eq=False)
class Optimum:
    """The result of a search for an optimal trajectory.

    Attributes:
        path: the trajectory found.
        cost: cost of the trajectory.
        slope: derivative of the cost along the last descent direction.
        converged: True if the absolute slope is below the tolerance.
        history: one entry per iteration.
    """

    path: Trajectory
    cost: float
    slope: float
    converged: bool
    history: tuple[Iteration, ...]


def rollout(system: DiscreteSystem, x: Floats, u: Floats) -> Trajectory:
    """Return the trajectory of a system from the state ``x`` (n,) under the inputs ``u`` (N, m)."""
    states = [np.asarray(x, dtype=float)]
    for row in u:
        states.append(system.advance(states[-1], row))
    return Trajectory(np.array(states), np.array(u, dtype=float))


def closed_loop(system: DiscreteSystem, desired: Trajectory, gains: Floats, x: Floats | None = None) -> Trajectory:
    """Return the trajectory that follows ``desired`` by feedback, from the state ``x`` (None: ``desired.x[0]``)."""
    state = np.array(desired.x[0] if x is None else x, dtype=float)
    states, inputs = [state], []
    for k in range(len(desired.u)):
        inputs.append(desired.u[k] - gains[k] @ (states[-1] - desired.x[k]))
        states.append(system.advance(states[-1], inputs[-1]))
    return Trajectory(np.array(states), np.array(inputs))


def descent_direction(
    system: DiscreteSystem, cost: QuadraticCost, path: Trajectory, method: Method = "newton"
) -> Descent:
    """Return a descent direction of the cost at ``path``; its ``gains`` are those of the regulator with unit weights.

    Raises:
        InputError: the method is unknown.
    """
    if method not in METHODS:
        raise InputError(f"unknown method {method!r}; methods are {', '.join(METHODS)}")
    n, m = path.x.shape[1], path.u.shape[1]
    steps = [system.linearize(x, u) for x, u in zip(path.x, path.u, strict=False)]
    A, B = np.array([step.A for step in steps]), np.array([step.B for step in steps])
    gains = regulator(A, B, np.eye(n), np.eye(m)).gains
    slopes, maps = cost.slopes(path), np.concatenate([A, B], axis=2)
    for used in METHODS[METHODS.index(method) :: -1]:
        models = _models(steps, cost, slopes, gains, used)
        direction = _least(maps, slopes, *models)
        if direction is not None:
            slope = float(np.sum(slopes.x * direction.x) + np.sum(slopes.u * direction.u))
            if slope <= 0.0:
                return Descent(direction, slope, gains, used)
    raise NoDescentError("no descent direction: the cost or its slope is not finite; start from another trajectory")


def _models(
    steps: list[LinearizedStep], cost: QuadraticCost, slopes: Trajectory, gains: Floats, method: Method
) -> tuple[Floats, Floats]:
    """Return quadratic models: (N, n + m, n + m) for the steps, or (1, …) for all steps, and (n, n) for the end."""
    n, m = slopes.x.shape[1], slopes.u.shape[1]
    if method == "steepest":
        return np.eye(n + m)[None], np.eye(n)
    plain = np.block([[cost.state, np.zeros((n, m))], [np.zeros((m, n)), cost.input]])
    if method == "quasi-newton":
        return plain[None], cost.state
    models, costate = np.empty((len(steps), n + m, n + m)), slopes.x[-1]
    for k in range(len(steps) - 1, -1, -1):
        models[k] = plain + steps[k].weighted_second(costate)
        closed = steps[k].A - steps[k].B @ gains[k]
        costate = slopes.x[k] - slopes.u[k] @ gains[k] + costate @ closed
    return models, cost.state


def _least(maps: Floats, slopes: Trajectory, models: Floats, end: Floats) -> Trajectory | None:
    """Return the trajectory (z, v) of the linear system from z = 0 with least model cost; None without a minimum."""
    count, n, m = *maps.shape[:2], slopes.u.shape[1]
    sweep = new_sweep(count, n, m)
    along = np.concatenate([slopes.x[:-1], slopes.u], axis=1)
    if sweep_back(maps, models, along, np.ascontiguousarray(end), slopes.x[-1], sweep) >= 0:
        return None
    z, v = np.empty((count + 1, n)), np.empty((count, m))
    sweep_forward(maps, sweep.gain, sweep.offset, z, v)
    return Trajectory(z, v)


def optimize(
    system: DiscreteSystem,
    cost: QuadraticCost,
    start: Trajectory,
    *,
    method: Method = "newton",
    first_iterations: int = 0,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
    progress: Callable[[Iteration], None] | None = None,
) -> Optimum:
    """Search for the trajectory of least cost near the trajectory ``start``; the initial state is kept.

    Args:
        system: the discrete system.
        cost: the cost of a trajectory.
        start: first trajectory of the search; it must be a trajectory of the system.
        method: method for descent directions, one of ``METHODS``.
        first_iterations: number of quasi-Newton iterations before ``method``, for a start far from the optimum.
        tolerance: absolute slope of the cost along the descent direction below which a trajectory is an optimum.
        max_iterations: greatest number of iterations; if it is reached, ``converged`` of the result may be False.
        progress: function that is called with each iteration.

    Raises:
        InputError: a method is unknown.
        NoDescentError: no step reduces the cost although the slope is above the tolerance.
    """
    path, value, history, slope = start, cost.value(start), [], -np.inf
    for iteration in range(max_iterations + 1):
        chosen: Method = "quasi-newton" if iteration < first_iterations else method
        descent = descent_direction(system, cost, path, chosen)
        slope = descent.slope
        if abs(slope) < tolerance or iteration == max_iterations:
            break
        before, part = value, 1.0
        for _ in range(TRIES):
            tried = _projected(system, path, descent, part)
            if tried is not None and (value := cost.value(tried)) < before + ENOUGH * part * slope:
                path = tried
                break
            part *= SHRINK
        else:
            raise NoDescentError(
                f"line search: even {part:.1e} of the step does not reduce the cost {before:.9g}, whose slope is "
                f"{slope:.3g}: raise first_iterations (quasi-Newton iterations before {method!r}) or the tolerance"
            )
        history.append(Iteration(before, slope, descent.method, part))
        if progress is not None:
            progress(history[-1])
    return Optimum(path, value, slope, abs(slope) < tolerance, tuple(history))


def _projected(system: DiscreteSystem, path: Trajectory, descent: Descent, part: float) -> Trajectory | None:
    """Return the projection after ``part`` of the descent step; None if a time step of the system has no solution."""
    curve = Trajectory(path.x + part * descent.direction.x, path.u + part * descent.direction.u)
    try:
        return closed_loop(system, curve, descent.gains)
    except IntegrationError:
        return None
