"""Motions of a system: what is checked before the first step, steps in chunks, and a table of what came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biped.causes import why
from biped.checks import is_finite
from biped.errors import InputError, IntegrationError
from biped.kernels.solve.causes import NO_VELOCITY
from biped.lagrangian.build import built
from biped.lagrangian.methods import LagrangianMethod, lagrangian_method_named
from biped.lagrangian.system import System
from contact.arrays import Floats

#: Called with the fraction that is done.
Progress = Callable[[float], None]

# A start is on the constraints, and its velocity on theirs, up to this, relative to what the terms amount to.
ON_CONSTRAINTS = 1e-9
# Singular values of a constraint Jacobian below this, relative to the largest, are zero.
RANK = 1e-12
# Steps between two calls of ``progress``: some tenths of a second.
CHUNK = 50_000


@dataclass(frozen=True)
class Trajectory:
    """A motion, as recorded.

    Attributes:
        frame: one row per recorded time: ``time``, the coordinates, ``p_…`` their momenta D₂L(q, v) and ``v_…`` their
            rates (those of the state's momentum; for constrained methods without its part along Dᵀg, but for
            ``energy-momentum``, whose momenta have one), ``energy`` = D₂L·v − L, and what the system says is conserved.
        multipliers: ``time`` at the start of a step and ``multiplier_1`` …, those of Dᵀg λ in the equations of motion.
            One row for each row of ``frame`` but the last (and but the first where the motion was started from two
            configurations). In the first step of ``midpoint-dvp``, ``first-order-dvp`` and ``shake`` it is half of
            that, because the momentum comes without an earlier half step's. Mean over the substeps of a composition.
        method: that was used.
        step: [s].
        steps: how many.
        mean_iterations, most_iterations: of Newton's method in a step (in a substep).
        residual: the largest relative one that was accepted.
        seconds: [s] that the steps took, without what is derived, compiled, checked or put into tables.
    """

    frame: pd.DataFrame
    multipliers: pd.DataFrame
    method: LagrangianMethod
    step: float
    steps: int
    mean_iterations: float
    most_iterations: int
    residual: float
    seconds: float


def integrate(
    system: System,
    method: LagrangianMethod | str,
    q0: ArrayLike,
    v0: ArrayLike | None,
    *,
    q1: ArrayLike | None,
    step: float,
    duration: float,
    every: int,
    composition: Sequence[float],
    progress: Progress | None,
    announce: Callable[[str], None] | None,
) -> Trajectory:
    """See ``System.integrate``."""
    if isinstance(method, str):
        method = lagrangian_method_named(method)
    weights = _weights(method, composition, q1)
    steps = _whole_steps(step, duration, every)
    if (v0 is None) == (q1 is None):
        raise InputError("give either a velocity v0 or a second configuration q1, and not both")
    module = built(system, method, announce)
    run = _Run(system, module, method, step, weights)
    run.start(_vector(q0, "q0", module.NAMES), v0, q1)
    return run.advance(steps, every, progress)


def prepare(system: System, method: LagrangianMethod | str, announce: Callable[[str], None] | None = None) -> None:
    """See ``System.compile``."""
    if isinstance(method, str):
        method = lagrangian_method_named(method)
    module = built(system, method, announce)
    run = _Run(system, module, method, 1.0, np.ones(1))
    run.done = 1  # nothing to record, and no steps: what is compiled is called, and no more
    run.call(0, 1, np.zeros((1, run.columns)), np.zeros((0, module.UNKNOWNS - module.MOTIONS)))


def _weights(method: LagrangianMethod, composition: Sequence[float], q1: ArrayLike | None) -> Floats:
    weights = np.array(composition, dtype=np.float64)
    if weights.ndim != 1 or not weights.size or not np.all(np.isfinite(weights)) or np.any(weights == 0.0):
        raise InputError(f"composition {composition!r}: it must be one weight or more, none of them zero")
    if abs(weights.sum() - 1.0) > 1e-12:
        raise InputError(f"composition {composition!r}: the weights must add up to 1, and add up to {weights.sum()}")
    if weights.size > 1 and not method.symmetric:
        raise InputError(f"{method.name} is not symmetric: compositions are for methods that are")
    if weights.size > 1 and q1 is not None:
        raise InputError("a composition starts from a velocity v0, not from two configurations")
    return weights


def _whole_steps(step: float, duration: float, every: int) -> int:
    if not is_finite(step) or step <= 0.0:
        raise InputError(f"step = {step!r}: it must be finite and above zero")
    if not is_finite(duration) or duration < 0.0:
        raise InputError(f"duration = {duration!r}: it must be finite and not negative")
    if not (every >= 1 and float(every).is_integer()):
        raise InputError(f"every = {every!r}: it must be a whole number above zero")
    steps = round(duration / step)
    if abs(steps * step - duration) > 1e-6 * step:
        raise InputError(f"duration = {duration}: it must be a whole number of steps of {step}")
    if steps % every:
        raise InputError(f"every = {every}: {steps} steps are not a whole number of times as many")
    return steps


def _vector(values: ArrayLike, name: str, coordinates: Sequence[str]) -> Floats:
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (len(coordinates),):
        raise InputError(f"{name} has shape {vector.shape}: it must be {len(coordinates)}: {', '.join(coordinates)}")
    if not np.all(np.isfinite(vector)):
        raise InputError(f"{name} = {vector}: it must be finite")
    return vector


class _Run:
    """State and scratch of one motion."""

    def __init__(
        self, system: System, module: ModuleType, method: LagrangianMethod, step: float, weights: Floats
    ) -> None:
        self.module, self.method, self.step, self.weights = module, method, step, weights
        self.c = system.parameter_values
        self.done = 0
        self.seconds = 0.0
        size, unknowns, rows = module.SIZE, module.UNKNOWNS, module.VELOCITY_ROWS
        self.state = np.zeros((2, size))
        self.past = np.zeros((weights.size, 3, unknowns))
        self.report = np.zeros(4)
        self.first_row: Floats | None = None
        self.work = (
            *(np.zeros(max(unknowns, rows)), np.zeros(unknowns), np.zeros(unknowns), np.zeros(unknowns)),
            *(np.zeros(unknowns), np.zeros(size), np.zeros(size), np.zeros(rows)),
            *(np.zeros((unknowns, unknowns)), np.zeros((rows, rows))),
        )

    @property
    def solver(self) -> tuple[float, int, int]:
        return float(self.method.tolerance), self.method.max_iterations, self.method.max_backtracks

    def constraints(self, q: Floats) -> tuple[Floats, Floats]:
        """g(q), Dg(q)."""
        g, G = np.zeros(self.module.CONSTRAINTS), np.zeros((self.module.CONSTRAINTS, self.module.SIZE))
        self.module.set_constraints(q, self.c, g, G)
        return g, G

    def check_place(self, q: Floats, name: str) -> Floats:
        """Dg(q), of a configuration on the constraints where they are independent."""
        g, G = self.constraints(q)
        if not (np.all(np.isfinite(g)) and np.all(np.isfinite(G))):
            raise InputError(f"{name}: the constraints or their derivatives are not finite there")
        if not g.size:
            return G
        singular = np.linalg.svd(G, compute_uv=False)
        if singular[-1] <= RANK * singular[0]:
            raise InputError(
                f"{name}: the Jacobian of the constraints is singular there (singular values {singular[0]:.3g} … "
                f"{singular[-1]:.3g}); constraints must be independent where the motion goes"
            )
        scale = np.abs(G) @ np.abs(q) + np.finfo(float).tiny
        worst = int(np.argmax(np.abs(g) / scale))
        if abs(g[worst]) > ON_CONSTRAINTS * scale[worst]:
            raise InputError(f"{name} is off the constraints: constraint {worst + 1} is {g[worst]:.3g} there, not zero")
        return G

    def start(self, q: Floats, v0: ArrayLike | None, q1: ArrayLike | None) -> None:
        """Sets the state before the first step, or after it."""
        G = self.check_place(q, "q0")
        if v0 is not None:
            v = _vector(v0, "v0", self.module.NAMES)
            off, scale = np.abs(G @ v), np.abs(G) @ np.abs(v) + np.finfo(float).tiny
            if self.module.HIDDEN and np.any(off > ON_CONSTRAINTS * scale):
                worst = int(np.argmax(off / scale))
                raise InputError(
                    f"v0 leaves the constraints: constraint {worst + 1} changes at {(G @ v)[worst]:.3g}/s, and must not"
                )
            p = np.zeros_like(q)
            self.module.set_momentum(q, v, self.c, p)
            self.check_mass(q, p)
            self.state[:] = q, p
            self.guess_velocity(v)
        else:
            assert q1 is not None
            self.start_from_two(q, _vector(q1, "q1", self.module.NAMES))

    def guess_velocity(self, v: Floats) -> None:
        """Where the search for the velocity of the first momentum starts."""
        self.work[7][: v.size] = v

    def check_mass(self, q: Floats, p: Floats) -> None:
        """That the momentum determines a velocity."""
        rows = self.module.VELOCITY_ROWS
        r, A = np.zeros(rows), np.zeros((rows, rows))
        self.module.set_velocity_equations(q, p, np.zeros(rows), self.c, r, A)
        if not np.all(np.isfinite(A)) or np.linalg.matrix_rank(A) < rows:
            raise InputError("the mass matrix is singular or not finite at q0, in a direction that no constraint fixes")

    def start_from_two(self, q: Floats, second: Floats) -> None:
        """The state after the first step, from the discrete Legendre transforms of that step."""
        module = self.module
        if not module.STARTS_FROM_TWO:
            raise InputError(f"{self.method.name} has no discrete Lagrangian: start it from a velocity v0")
        self.check_place(second, "q1")
        u, p, p_end = (second - q) / self.step, np.zeros_like(q), np.zeros_like(q)
        module.set_first_momenta(q, u, self.step, self.c, p, p_end)
        self.check_mass(q, p)
        self.state[:] = q, p
        self.guess_velocity(u)
        self.first_row = self.record_state()
        self.state[:] = second, p_end
        self.past[:, 0, : module.MOTIONS] = u
        self.done = 1

    def record_state(self) -> Floats:
        """The row of the state as it is."""
        table = np.zeros((1, self.columns))
        self.call(0, 1, table, np.zeros((0, self.module.UNKNOWNS - self.module.MOTIONS)))
        row: Floats = table[0]
        return row

    @property
    def columns(self) -> int:
        return 3 * self.module.SIZE + self.module.OBSERVED

    def call(self, rows: int, every: int, table: Floats, multipliers: Floats, ahead: int = 0) -> None:
        """Steps, ``ahead`` of them done before, or an error that says where they ended."""
        module = self.module
        begin = time.perf_counter()
        outcome = module.advance(
            self.state, self.past, self.done, ahead, self.c, float(self.step), self.weights, rows, every,
            table, multipliers, self.work, self.solver, self.report,
        )  # fmt: skip
        self.seconds += time.perf_counter() - begin
        if outcome == module.DONE:
            return
        reached = self.step * self.report[0]
        if outcome == NO_VELOCITY:
            raise IntegrationError(f"{self.method.name} at t = {reached:.9g} s: {why(outcome)}")
        raise IntegrationError(
            f"{self.method.name} at t = {reached:.9g} s: the step of {self.step:.3g} s could not be solved; the "
            f"relative residual is {self.report[1]:.3g} and should be {self.method.tolerance:.3g}; try a smaller step"
        )

    def advance(self, steps: int, every: int, progress: Progress | None) -> Trajectory:
        """All steps, in chunks."""
        rows = steps // every
        constraints = self.module.UNKNOWNS - self.module.MOTIONS
        table = np.zeros((rows + 1, self.columns))
        multipliers = np.zeros((rows, constraints))
        from_two = self.done
        if not rows:
            table[0] = self.record_state() if self.first_row is None else self.first_row
        chunk = max(1, CHUNK // (every * self.weights.size))
        for first in range(0, rows, chunk):
            count = min(chunk, rows - first)
            self.call(
                count,
                every,
                table[first : first + count + 1],
                multipliers[first : first + count],
                self.done - first * every,
            )
            self.done = (first + count) * every
            if progress is not None:
                progress((first + count) / rows)
        if self.first_row is not None:
            table[0] = self.first_row
        return self.trajectory(table, multipliers, steps, every, from_two)

    def trajectory(self, table: Floats, multipliers: Floats, steps: int, every: int, from_two: int) -> Trajectory:
        """Tables with names."""
        module = self.module
        names = [*module.NAMES, *(f"p_{name}" for name in module.NAMES), *(f"v_{name}" for name in module.NAMES)]
        if not np.all(np.isfinite(table)):
            bad = int(np.argmax(~np.all(np.isfinite(table), axis=1)))
            raise IntegrationError(
                f"{self.method.name} at t = {self.step * every * bad:.9g} s: the motion is not finite"
            )
        times = np.arange(len(table)) * (self.step * every)
        frame = pd.DataFrame(table, columns=[*names, *module.OBSERVED_NAMES])
        frame.insert(0, "time", times)
        held = pd.DataFrame(multipliers, columns=[f"multiplier_{i + 1}" for i in range(multipliers.shape[1])])
        held.insert(0, "time", times[:-1])
        solved = max(1, steps - from_two) * self.weights.size
        return Trajectory(
            frame,
            held.iloc[from_two:].reset_index(drop=True),
            self.method,
            float(self.step),
            steps,
            float(self.report[2]) / solved,
            int(self.report[3]),
            float(self.report[1]),
            self.seconds,
        )
