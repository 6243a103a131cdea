"""Simulation of a Lagrangian system: checks of the start, arguments and results of steps, and the recorded columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biped.dynamics.numerics import check_on_constraints
from biped.errors import InputError, IntegrationError
from biped.integrators.causes import why
from biped.kernels.solve.causes import NO_VELOCITY, NOT_FINITE
from biped.runs.march import Progress, chunk_of, drift_check, energy_check, march, parts_of_run, whole_steps
from biped.runs.run import Run
from biped.runs.trust import Check
from biped.runs.world import Plot, World
from contact.arrays import Floats
from formulations.lagrangian.build import built
from formulations.lagrangian.methods import LagrangianMethod, lagrangian_method_named
from formulations.lagrangian.system import System

# Number of steps between two calls of ``progress``: a few tenths of a second.
CHUNK = 50_000
#: Tolerance of a step's relative residual, most Newton iterations, and most halvings of a Newton iteration.
#: If rounding exceeds the tolerance, Newton's method stops when the residual no longer decreases.
SOLVER = (1e-14, 50, 20)
#: Unit of quantities without a declared unit.
UNDECLARED_UNIT = "SI"


@dataclass(kw_only=True, eq=False, repr=False)
class Trajectory(Run):
    """Recorded motion of a system with the Lagrangian L(q, v) and the constraints g(q) = 0.

    The columns of ``frame`` are ``time``, the coordinates q, their momenta ``p_…`` = ∂L/∂v and rates ``v_…``, the
    energy ``energy`` = v · ∂L/∂v − L, and the system's ``conserved`` expressions. Rates are computed from momenta.
    Momenta exclude their part along the rows of the constraint Jacobian Dg, except in ``energy-momentum``.

    Attributes:
        multipliers: table of ``time`` at the start of each time step, and multipliers λ of Dgᵀ λ in the equations of
            motion, ``multiplier_1`` …; mean over the substeps of a composition. It has no row for the last row of
            ``frame``, nor for the first step after a start from two configurations. The first row of
            ``midpoint-dvp``, ``first-order-dvp`` and ``shake`` is λ/2, as no earlier half step contributes.
        method: integration method.
    """

    multipliers: pd.DataFrame
    method: LagrangianMethod

    @property
    def seconds(self) -> float:
        """Wall-clock time [s] of all steps, without derivation, compilation, checks and tables."""
        return float(self.summary["wall_time"])


def integrate(
    system: System,
    name: str,
    q0: ArrayLike,
    v0: ArrayLike | None,
    *,
    q1: ArrayLike | None,
    step: float,
    duration: float,
    every: int,
    composition: Sequence[float],
    progress: Progress | None,
) -> Trajectory:
    """Return the motion of a system; ``System.integrate`` describes the arguments."""
    method = lagrangian_method_named(name)
    weights = _weights(method, composition, q1)
    steps = whole_steps(duration, step, every, named="every")
    if (v0 is None) == (q1 is None):
        raise InputError("give either a velocity v0 or a second configuration q1, but not both")
    module = built(system, name)
    motion = _Motion(system, module, method, step, weights, steps, every)
    motion.start(_vector(q0, "q0", module.NAMES), v0, q1)
    return march(motion, steps, progress)


def _weights(method: LagrangianMethod, composition: Sequence[float], q1: ArrayLike | None) -> Floats:
    weights = np.array(composition, dtype=np.float64)
    if weights.ndim != 1 or not weights.size or not np.all(np.isfinite(weights)) or np.any(weights == 0.0):
        raise InputError(f"composition {composition!r}: it must be one or more weights, none of them zero")
    if abs(weights.sum() - 1.0) > 1e-12:
        raise InputError(f"composition {composition!r}: the weights must add up to 1, but add up to {weights.sum()}")
    if weights.size > 1 and not method.symmetric:
        raise InputError(f"a composition needs a symmetric method, and {method.name} is not; use composition = (1.0,)")
    if weights.size > 1 and q1 is not None:
        raise InputError("a composition cannot start from two configurations: give v0 in place of q1")
    return weights


def _vector(values: ArrayLike, name: str, coordinates: Sequence[str]) -> Floats:
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (len(coordinates),):
        raise InputError(f"{name} has shape {vector.shape}; it must be ({len(coordinates)},): {', '.join(coordinates)}")
    if not np.all(np.isfinite(vector)):
        raise InputError(f"{name} = {vector}: it must be finite")
    return vector


class _Motion:
    """State and buffers of one simulation."""

    def __init__(
        self, system: System, module: ModuleType, method: LagrangianMethod, step: float, weights: Floats, steps: int,
        every: int,
    ) -> None:  # fmt: skip
        self.system, self.module, self.method, self.step, self.weights = system, module, method, step, weights
        self.c = system.parameter_values
        self.done = self.began = 0
        size, unknowns, rows = module.SIZE, module.UNKNOWNS, module.VELOCITY_ROWS
        self.state = np.zeros((2, size))
        self.past = np.zeros((weights.size, 3, unknowns))
        self.report = np.zeros(4)
        self.steps, self.every, self.chunk = steps, every, chunk_of(every, CHUNK // weights.size)
        self.table = np.full((steps // every + 1, 3 * size + module.OBSERVED), np.nan)
        self.multipliers = np.zeros((steps // every, unknowns - module.MOTIONS))
        self.work = (
            *(np.zeros(max(unknowns, rows)), np.zeros(unknowns), np.zeros(unknowns), np.zeros(unknowns)),
            *(np.zeros(unknowns), np.zeros(size), np.zeros(size), np.zeros(rows)),
            *(np.zeros((unknowns, unknowns)), np.zeros((rows, rows))),
        )

    def constraints(self, q: Floats) -> tuple[Floats, Floats]:
        """Return the constraints g(q) and their Jacobian Dg(q)."""
        g, G = np.zeros(self.module.CONSTRAINTS), np.zeros((self.module.CONSTRAINTS, self.module.SIZE))
        self.module.set_constraints(q, self.c, g, G)
        return g, G

    def check_constraints(self, q: Floats, name: str, v: Floats | None = None) -> None:
        """Check that ``q`` and ``v`` satisfy the constraints, and that the constraints are independent there."""
        g, G = self.constraints(q)
        names = [f"constraint {i + 1}" for i in range(len(g))]
        scale = np.abs(G) @ np.abs(q) + np.finfo(float).tiny
        leaving = "v0 leaves the constraints: {name} changes at {value:.3g}/s; its rate must be zero"
        v = v if self.module.HIDDEN else None
        check_on_constraints(g, G, v, names, what=name, scale=scale, leaving=leaving)

    def start(self, q: Floats, v0: ArrayLike | None, q1: ArrayLike | None) -> None:
        """Set the state before the first step or, for a start from two configurations, after it."""
        if v0 is not None:
            v = _vector(v0, "v0", self.module.NAMES)
            self.check_constraints(q, "q0", v)
            p = np.zeros_like(q)
            self.module.set_momentum(q, v, self.c, p)
            self.check_mass(q, p)
            self.state[:] = q, p
            self.guess_velocity(v)
        else:
            assert q1 is not None
            self.check_constraints(q, "q0")
            self.start_from_two(q, _vector(q1, "q1", self.module.NAMES))

    def guess_velocity(self, v: Floats) -> None:
        """Set the first guess for computing the initial velocity from the initial momentum."""
        self.work[7][: v.size] = v

    def check_mass(self, q: Floats, p: Floats) -> None:
        """Check that the momentum determines a velocity."""
        rows = self.module.VELOCITY_ROWS
        r, A = np.zeros(rows), np.zeros((rows, rows))
        self.module.set_velocity_equations(q, p, np.zeros(rows), self.c, r, A)
        if not np.all(np.isfinite(A)) or np.linalg.matrix_rank(A) < rows:
            raise InputError("at q0 the mass matrix is singular or not finite, and no constraint fixes that direction")

    def start_from_two(self, q: Floats, second: Floats) -> None:
        """Set the state after the first step by the discrete Legendre transforms of that step."""
        module = self.module
        if not module.STARTS_FROM_TWO:
            raise InputError(f"{self.method.name} has no discrete Lagrangian: give v0 in place of q1")
        self.check_constraints(second, "q1")
        u, p, p_end = (second - q) / self.step, np.zeros_like(q), np.zeros_like(q)
        module.set_first_momenta(q, u, self.step, self.c, p, p_end)
        self.check_mass(q, p)
        self.state[:] = q, p
        self.guess_velocity(u)
        if self.call(0, self.table):
            raise IntegrationError(self.failure(NO_VELOCITY))
        self.state[:] = second, p_end
        self.past[:, 0, : module.MOTIONS] = u
        self.done = self.began = 1

    def call(self, rows: int, table: Floats, first: int = 0, ahead: int = 0) -> int:
        """Take the steps of ``rows`` rows from ``first`` on, ``ahead`` of which are done; return 0 or a cause."""
        return int(self.module.advance(
            self.state, self.past, self.done, ahead, self.c, float(self.step), self.weights, rows, self.every,
            table, self.multipliers[first : first + rows], self.work, SOLVER, self.report,
        ))  # fmt: skip

    def look_ahead(self, first: int, count: int) -> None:
        """Prepare the next steps: nothing to do, since a system does not depend on time."""

    def advance(self, first: int, count: int) -> int:
        """Take ``count`` steps, and record a row after each ``every`` steps; return 0 or a cause of failure."""
        row, rows = first // self.every, count // self.every
        failed = self.call(rows, self.table[row : row + rows + 1], row, self.done - first)
        self.done = first + count
        return failed

    def finish(self, steps: int) -> int:
        """Record the only row of a motion without steps; return 0, or a cause of failure if a number is not finite."""
        if not steps and not self.began and self.call(0, self.table):
            return NO_VELOCITY
        return 0 if np.all(np.isfinite(self.table)) else NOT_FINITE

    def failure(self, cause: int) -> str:
        """Return a message about the cause of failure that ended the motion."""
        if cause == NOT_FINITE:
            bad = int(np.argmax(~np.all(np.isfinite(self.table), axis=1)))
            return f"{self.method.name} at t = {self.step * self.every * bad:.9g} s: the motion is not finite"
        at = f"{self.method.name} at t = {self.step * self.report[0]:.9g} s:"
        if cause == NO_VELOCITY:
            return f"{at} {why(cause)}"
        return (
            f"{at} the step of {self.step:.3g} s could not be solved; its relative residual is {self.report[1]:.3g} "
            f"instead of {SOLVER[0]:.3g}; try a smaller step"
        )

    def recorded(self, seconds: float, failure: str) -> Trajectory:
        """Return the run with the rows until the first one that is not finite."""
        module, names = self.module, list(self.module.NAMES)
        bad = ~np.all(np.isfinite(self.table), axis=1)
        rows = int(np.argmax(bad)) if bad.any() else len(self.table)
        times = np.arange(rows, dtype=np.float64) * (self.step * self.every)
        named = [*names, *(f"p_{name}" for name in names), *(f"v_{name}" for name in names), *module.OBSERVED_NAMES]
        columns = {name: self.table[:rows, k] for k, name in enumerate(named)}
        units = dict.fromkeys(named, UNDECLARED_UNIT) | {"energy": "J"}
        held = self.multipliers[: max(rows - 1, 0)]
        multipliers = pd.DataFrame(held, columns=[f"multiplier_{i + 1}" for i in range(held.shape[1])])
        multipliers.insert(0, "time", times[:-1])
        solved = max(1, self.steps - self.began) * self.weights.size
        metrics = {
            "step": float(self.step),
            "steps": self.steps,
            "newton_mean": float(self.report[2]) / solved,
            "newton_max": int(self.report[3]),
            "residual": float(self.report[1]),
        }
        name = f"{self.method.name} of {', '.join(names[:3])}{', …' if len(names) > 3 else ''}"
        world = World("a Lagrangian system", name, float(self.step), tuple(self.plots()))
        return Trajectory(
            multipliers=multipliers.iloc[self.began :].reset_index(drop=True),
            method=self.method,
            **parts_of_run(
                world, times, columns, units, seconds=seconds, failure=failure, metrics=metrics,
                checks=list(self.checks(columns)) if rows else [],
            ),
        )  # fmt: skip

    @property
    def conserved(self) -> list[str]:
        """Names of conserved quantities, as the system declares them."""
        return [name for name in self.system.conserved if name in self.module.OBSERVED_NAMES]

    def plots(self) -> Iterator[Plot]:
        """Yield plots of coordinates, momenta and rates, energy, and conserved quantities."""
        names = self.module.NAMES
        for title, prefix in (("Coordinates", ""), ("Momenta", "p_"), ("Rates", "v_")):
            yield Plot(title, UNDECLARED_UNIT, tuple(f"{prefix}{name}" for name in names))
        yield Plot("Energy", "J", ("energy",))
        for name in self.conserved:
            yield Plot(name.replace("_", " "), UNDECLARED_UNIT, (name,))

    def checks(self, columns: Mapping[str, Floats]) -> Iterator[Check]:
        """Yield checks of the energy, unless forces act, and of the system's ``conserved`` expressions."""
        names = self.module.NAMES
        kinetic = 0.5 * np.abs(sum(columns[f"p_{name}"] * columns[f"v_{name}"] for name in names))
        if self.system.forces is None:
            yield energy_check(columns["energy"] - columns["energy"][0], kinetic, columns["energy"])
        for name in self.conserved:
            yield drift_check(name.replace("_", " "), columns[name], UNDECLARED_UNIT)
