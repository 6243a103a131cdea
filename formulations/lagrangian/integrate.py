"""Motions of a system: what is checked before the first step, what steps take and leave, and their columns."""

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

# Steps between two calls of ``progress``: a few tenths of a second.
CHUNK = 50_000
#: Tolerance on the relative residual of a step, most Newton iterations, and most halvings of a Newton step.
#: If rounding exceeds the tolerance, Newton's method stops when the residual no longer decreases.
SOLVER = (1e-14, 50, 20)
#: Unit of quantities without a declared unit.
OWN_UNIT = "SI"


@dataclass(kw_only=True, eq=False, repr=False)
class Trajectory(Run):
    """Run of a Lagrangian system.

    Its frame has one row per recorded time: ``time``, the coordinates, ``p_…`` their momenta D₂L(q, v) and ``v_…``
    their rates (those of the state's momentum; for constrained methods without its part along Dᵀg, but for
    ``energy-momentum``, whose momenta have one), ``energy`` = D₂L·v − L, and the system's ``conserved`` expressions.

    Attributes:
        multipliers: ``time`` at the start of a step and ``multiplier_1`` …, those of Dᵀg λ in the equations of motion.
            One row for each row of ``frame`` but the last (and but the first where the motion was started from two
            configurations). In the first step of ``midpoint-dvp``, ``first-order-dvp`` and ``shake`` it is half of
            that, because the momentum comes without an earlier half step's. Mean over the substeps of a composition.
        method: integration method.
    """

    multipliers: pd.DataFrame
    method: LagrangianMethod

    @property
    def seconds(self) -> float:
        """Wall-clock time [s] of the steps, without derivation, compilation, checks and tables."""
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
    """See ``System.integrate``."""
    method = lagrangian_method_named(name)
    weights = _weights(method, composition, q1)
    steps = whole_steps(duration, step, every, named="every")
    if (v0 is None) == (q1 is None):
        raise InputError("give either a velocity v0 or a second configuration q1, and not both")
    module = built(system, name)
    motion = _Motion(system, module, method, step, weights, steps, every)
    motion.start(_vector(q0, "q0", module.NAMES), v0, q1)
    return march(motion, steps, progress)


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


def _vector(values: ArrayLike, name: str, coordinates: Sequence[str]) -> Floats:
    vector = np.array(values, dtype=np.float64)
    if vector.shape != (len(coordinates),):
        raise InputError(f"{name} has shape {vector.shape}: it must be {len(coordinates)}: {', '.join(coordinates)}")
    if not np.all(np.isfinite(vector)):
        raise InputError(f"{name} = {vector}: it must be finite")
    return vector


class _Motion:
    """State and scratch of one motion."""

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
        """g(q), Dg(q)."""
        g, G = np.zeros(self.module.CONSTRAINTS), np.zeros((self.module.CONSTRAINTS, self.module.SIZE))
        self.module.set_constraints(q, self.c, g, G)
        return g, G

    def check_constraints(self, q: Floats, name: str, v: Floats | None = None) -> None:
        """Check that ``q`` and ``v`` satisfy the constraints, and that the constraints are independent there."""
        g, G = self.constraints(q)
        names = [f"constraint {i + 1}" for i in range(len(g))]
        scale = np.abs(G) @ np.abs(q) + np.finfo(float).tiny
        leaving = "v0 leaves the constraints: {name} changes at {value:.3g}/s, and must not"
        v = v if self.module.HIDDEN else None
        check_on_constraints(g, G, v, names, what=name, scale=scale, leaving=leaving)

    def start(self, q: Floats, v0: ArrayLike | None, q1: ArrayLike | None) -> None:
        """Set the state before the first step, or after it."""
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
        """Set the first guess of the velocity that belongs to the first momentum."""
        self.work[7][: v.size] = v

    def check_mass(self, q: Floats, p: Floats) -> None:
        """Check that the momentum determines a velocity."""
        rows = self.module.VELOCITY_ROWS
        r, A = np.zeros(rows), np.zeros((rows, rows))
        self.module.set_velocity_equations(q, p, np.zeros(rows), self.c, r, A)
        if not np.all(np.isfinite(A)) or np.linalg.matrix_rank(A) < rows:
            raise InputError("the mass matrix is singular or not finite at q0, in a direction that no constraint fixes")

    def start_from_two(self, q: Floats, second: Floats) -> None:
        """Set the state after the first step from the discrete Legendre transforms of that step."""
        module = self.module
        if not module.STARTS_FROM_TWO:
            raise InputError(f"{self.method.name} has no discrete Lagrangian: start it from a velocity v0")
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
        """So many rows of steps from row ``first`` on, ``ahead`` of the steps done before; 0, or why it ended."""
        return int(self.module.advance(
            self.state, self.past, self.done, ahead, self.c, float(self.step), self.weights, rows, self.every,
            table, self.multipliers[first : first + rows], self.work, SOLVER, self.report,
        ))  # fmt: skip

    def look_ahead(self, first: int, count: int) -> None:
        """Nothing is a function of time."""

    def advance(self, first: int, count: int) -> int:
        """Take ``count`` steps, with a row after every ``every`` steps; return 0 or a cause of failure."""
        row, rows = first // self.every, count // self.every
        failed = self.call(rows, self.table[row : row + rows + 1], row, self.done - first)
        self.done = first + count
        return failed

    def finish(self, steps: int) -> int:
        """Record the only row if there are no steps; return 0, or a cause if a number is not finite."""
        if not steps and not self.began and self.call(0, self.table):
            return NO_VELOCITY
        return 0 if np.all(np.isfinite(self.table)) else NOT_FINITE

    def failure(self, cause: int) -> str:
        """Return a sentence about the cause that ended the motion."""
        if cause == NOT_FINITE:
            bad = int(np.argmax(~np.all(np.isfinite(self.table), axis=1)))
            return f"{self.method.name} at t = {self.step * self.every * bad:.9g} s: the motion is not finite"
        at = f"{self.method.name} at t = {self.step * self.report[0]:.9g} s:"
        if cause == NO_VELOCITY:
            return f"{at} {why(cause)}"
        return (
            f"{at} the step of {self.step:.3g} s could not be solved; the relative residual is {self.report[1]:.3g} "
            f"and should be {SOLVER[0]:.3g}; try a smaller step"
        )

    def recorded(self, seconds: float, failure: str) -> Trajectory:
        """Tables with names, of the rows that there are."""
        module, names = self.module, list(self.module.NAMES)
        bad = ~np.all(np.isfinite(self.table), axis=1)
        rows = int(np.argmax(bad)) if bad.any() else len(self.table)
        times = np.arange(rows, dtype=np.float64) * (self.step * self.every)
        named = [*names, *(f"p_{name}" for name in names), *(f"v_{name}" for name in names), *module.OBSERVED_NAMES]
        columns = {name: self.table[:rows, k] for k, name in enumerate(named)}
        units = dict.fromkeys(named, OWN_UNIT) | {"energy": "J"}
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
        """Coordinates, momenta and rates, energy, and what is conserved."""
        names = self.module.NAMES
        for title, prefix in (("Coordinates", ""), ("Momenta", "p_"), ("Rates", "v_")):
            yield Plot(title, OWN_UNIT, tuple(f"{prefix}{name}" for name in names))
        yield Plot("Energy", "J", ("energy",))
        for name in self.conserved:
            yield Plot(name.replace("_", " "), OWN_UNIT, (name,))

    def checks(self, columns: Mapping[str, Floats]) -> Iterator[Check]:
        """Energy, unless forces do work, and the system's ``conserved`` expressions."""
        names = self.module.NAMES
        kinetic = 0.5 * np.abs(sum(columns[f"p_{name}"] * columns[f"v_{name}"] for name in names))
        if self.system.forces is None:
            yield energy_check(columns["energy"] - columns["energy"][0], kinetic, columns["energy"])
        for name in self.conserved:
            yield drift_check(name.replace("_", " "), columns[name], OWN_UNIT)
