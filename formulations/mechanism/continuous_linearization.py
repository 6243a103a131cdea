"""A mechanism's continuous dynamics ẋ = f(x, u), with their exact first derivatives, constraints included.

What (29) and (36a, b) of Johnson & Murphey 2009 say is differentiated as Johnson, Schultz & Murphey 2014 do it with a
step. With y = (q̈_d, λ), d being the dynamic and k the kinematic coordinates, and w = (q, v, torques, q̈_k),

    F = (L_vv q̈ + L_vq v − L_q − f − Dhᵀ λ)_d = 0,      ḧ = Dh q̈ + vᵀ D²h v = 0,
    K y_w = −F_w,      K = [M  −Dhᵀ; Dh  0]_d.

The masses' part of F and ḧ are differentiated by `formulations.mechanism.moving_tree`, potentials and forces by the
kernels that differentiate a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from contact.arrays import Floats, Integers
from formulations.mechanism.continuous import Accelerator
from formulations.mechanism.curvature import curvature_rates
from formulations.mechanism.derivation import Derivation
from formulations.mechanism.inputs import DrivenTorques, checked_vector
from formulations.mechanism.moving_tree import MovingTree

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism, Vector

# [s] a length for the kernels that differentiate a step: a power of two, so that a rate times it over it is the rate.
INSTANT = 2.0**-20


@dataclass(frozen=True, eq=False)
class ContinuousMechanism:
    """The continuous dynamics of a mechanism: state x = (q, q̇), inputs u = (torques, q̈_k of kinematic coordinates).

    Attributes:
        mechanism: whose they are.
        torques: the coordinates whose ``Torque`` is an input in place of its function of time; all by default.

    Raises:
        ModelError: a coordinate has no torque.
    """

    mechanism: Mechanism
    torques: Sequence[str] | None = None

    def __post_init__(self) -> None:
        _ = self._driven

    @cached_property
    def _driven(self) -> DrivenTorques:
        return DrivenTorques(self.mechanism, self.torques)

    @cached_property
    def _accelerator(self) -> Accelerator:
        return Accelerator(self.mechanism)

    @cached_property
    def _derivation(self) -> Derivation:
        forced = self._driven.coordinates
        return Derivation(self.mechanism, 2, alpha=0.0, h=INSTANT, share=1.0, forced=forced)

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """Of x: the coordinates, and ``rate_…`` of each."""
        names = self.mechanism.coordinates
        return (*names, *(f"rate_{name}" for name in names))

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """Of u: ``torque_…``, and ``acceleration_…`` of the kinematic coordinates."""
        return (*self._driven.names, *(f"acceleration_{name}" for name in self.mechanism.kinematic_coordinates))

    @property
    def states(self) -> int:
        """How many."""
        return len(self.state_names)

    @property
    def inputs(self) -> int:
        """How many."""
        return len(self.input_names)

    def state(self, q: Vector | None = None, v: Vector | None = None) -> Floats:
        """X of a configuration and rates, each by name, or all in the mechanism's order.

        Raises:
            MechanismError: something does not fit.
        """
        return np.concatenate([self.mechanism.configuration(q), self.mechanism.rates(v)])

    def rate(self, x: Floats, u: Floats, time: float = 0.0) -> Floats:
        """(states,) ẋ = f(x, u) at a ``time`` [s].

        Raises:
            MechanismError: x or u has another size, or is not finite; M is singular there, or the constraints depend on
                each other.
        """
        return self._solved(x, u, time).rate

    def linearize(self, x: Floats, u: Floats, time: float = 0.0) -> ContinuousLinearization:
        """The dynamics and their derivatives.

        Raises:
            MechanismError: as of ``rate``.
        """
        return ContinuousLinearization(self, self._solved(x, u, time))

    def _solved(self, x: Floats, u: Floats, time: float) -> Instant:
        x, u = checked_vector(x, self.state_names, "x"), checked_vector(u, self.input_names, "u")
        n, torques = self.mechanism.size, len(self._driven.names)
        given = np.zeros(n)
        given[self.mechanism.mechanics.prescribed != 0] = u[torques:]
        row = self._driven.row(u[:torques], time)
        found = self._accelerator.at(x[:n], x[n:], given, row)
        return Instant(x[:n], x[n:], found.coordinates, found.multipliers, row)


class Instant(NamedTuple):
    """A state whose accelerations are known."""

    q: Floats  # (n,)
    v: Floats  # (n,)
    a: Floats  # (n,) q̈
    multipliers: Floats  # (m,) λ
    row: Floats  # (1 + all inputs,)

    @property
    def rate(self) -> Floats:
        """(2 n,) ẋ."""
        return np.concatenate([self.v, self.a])


class ContinuousLinearization:
    """δẋ = A δx + B δu in continuous time, with the constraint forces and their derivatives.

    Attributes:
        system: whose it is.
        rate: (states,) ẋ.
        A: (states, states) ∂ẋ/∂x.
        B: (states, inputs) ∂ẋ/∂u.
        multipliers: (m,) λ, the constraints' forces [N or N·m] in the order of ``constraint_names``.
        multipliers_by_state: (m, states) ∂λ/∂x.
        multipliers_by_input: (m, inputs) ∂λ/∂u.
    """

    def __init__(self, system: ContinuousMechanism, now: Instant) -> None:
        self.system, self.rate, self.multipliers = system, now.rate, now.multipliers
        n, solved = system.mechanism.size, _Equations(system, now, system._derivation).solved
        states = system.states
        whole = np.zeros((states, states + system.inputs))
        whole[:n, n:states] = np.eye(n)
        whole[n:] = solved[:n]
        self.A, self.B = whole[:, :states].copy(), whole[:, states:].copy()
        self.multipliers_by_state, self.multipliers_by_input = solved[n:, :states].copy(), solved[n:, states:].copy()


class _Equations:
    """F = 0 and ḧ = 0 at one state, solved for q̈ and λ; all coordinates in the mechanism's order.

    Attributes:
        solved: (n + m, N) ∂(q̈, λ)/∂w.
    """

    def __init__(self, system: ContinuousMechanism, now: Instant, derivation: Derivation) -> None:
        self.mechanism, mechanics = system.mechanism, system.mechanism.mechanics
        n, m = self.mechanism.size, len(self.mechanism.labels)
        derivation.place(now.q, np.zeros(n), now.multipliers, now.row)
        self.known = derivation.derive_at_rest(now.v)
        moving = MovingTree(mechanics.tree, derivation.coupling.above, now.q, now.v, now.a)
        self.inertial = moving.inertial()
        self.rows, self.curvature = self.known.rows[0], self.known.curvature[0]
        self.changing = curvature_rates(self.mechanism, derivation, moving)
        self.given = np.flatnonzero(mechanics.prescribed != 0)
        self.unknown = np.concatenate([np.flatnonzero(mechanics.prescribed == 0), np.arange(n, n + m)])
        self.matrix = np.block([[self.inertial.mass, -self.rows.T], [self.rows, np.zeros((m, m))]])
        self.factors = lu_factor(self.matrix[np.ix_(self.unknown, self.unknown)])
        self.solved = self._solve(self._slopes(now, system._driven.coordinates))
        self.solved[self.given, self.solved.shape[1] - self.given.size :] = np.eye(self.given.size)

    def _slopes(self, now: Instant, forced: Integers) -> Floats:
        """(n + m, N) of F and ḧ by w, with torques along the coordinates ``forced``."""
        n, inertial, known = self.mechanism.size, self.inertial, self.known
        by_q = inertial.by_q - known.hessian[:n, :n] - known.force[:, :n]
        by_q -= np.tensordot(now.multipliers, self.curvature, 1)
        upper = np.hstack([by_q, inertial.by_v - known.force[:, n:]])
        lower = np.hstack([self.curvature @ now.a + self.changing @ now.v, 2.0 * self.curvature @ now.v])
        torques = np.zeros((len(self.matrix), forced.size))
        torques[forced, np.arange(forced.size)] = -1.0
        return np.hstack([np.vstack([upper, lower]), torques, self.matrix[:, self.given]])

    def _solve(self, left: Floats) -> Floats:
        """(n + m, …) −K⁻¹ of rows of F and ḧ; zero of what is given."""
        found, chosen = np.zeros_like(left), left[self.unknown]
        found[self.unknown] = -lu_solve(self.factors, chosen.reshape(len(chosen), -1)).reshape(chosen.shape)
        return found
