"""Mechanism as a discrete system x' = f(x, u), with exact first and second derivatives.

Johnson, Schultz & Murphey 2014, "Structured linearization of discrete mechanical systems for analysis and optimal
control". The map is the step of ``Mechanism.simulate``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from biped.errors import IntegrationError
from biped.inputs.checks import above_zero, is_finite
from biped.kernels.solve.causes import DEPENDENT, NOT_FINITE, SINGULAR
from contact.arrays import Floats, Integers
from formulations.mechanism.coupling import Coupling
from formulations.mechanism.custom_derivatives import CustomDerivatives
from formulations.mechanism.engine import Engine
from formulations.mechanism.errors import MechanismError, SingularStepError
from formulations.mechanism.inputs import DrivenTorques, checked_vector
from formulations.mechanism.kernels import chain as kernels
from formulations.mechanism.kernels import system as places
from formulations.mechanism.kernels.linearization import Sizes, derive_part, new_derivatives
from formulations.mechanism.kernels.system import Rule as SolverRule
from formulations.mechanism.simulation import MAX_BACKTRACKS
from formulations.mechanism.singularity import cause_of
from kernelcache import Entry, Packed

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism, Vector

_MAX_ITERATIONS = 50


@dataclass(frozen=True, eq=False)
class DiscreteMechanism:
    """One time step of a mechanism as a map x' = f(x, u), with the state x = (q_d, q_k, p, v_k) and u = (torques, ρ).

    It is (7) of Johnson et al. 2014. q_d are the dynamic coordinates and p their momenta. q_k are the kinematic
    coordinates, ρ their values at the end of the step, and v_k their rates in the step before; v_k' = (ρ − q_k)/h.
    The multipliers are not part of the state, since x and u determine them.

    Attributes:
        mechanism: mechanism to simulate.
        step: [s] time step h.
        alpha: parameter of the generalized midpoint rule, 0 to 1.
        force_share: share σ of the impulse of torques, dampers and wrenches that acts at the start of the step: ½ in
            ``simulate`` and in Johnson & Murphey 2009, 1 in Johnson et al. 2014.
        tolerance: largest error of a time step's equations [N·s or N·m·s] and of constraints [m or rad].

    Raises:
        MechanismError: a number is out of range.
    """

    mechanism: Mechanism
    step: float
    alpha: float = 0.5
    force_share: float = 0.5
    tolerance: float = 1e-12

    def __post_init__(self) -> None:
        above_zero(self.step, "step")
        above_zero(self.tolerance, "tolerance")
        for what, value in (("alpha", self.alpha), ("force_share", self.force_share)):
            if not (is_finite(value) and 0.0 <= value <= 1.0):
                raise MechanismError(f"{what} = {value!r}: it must be from 0 to 1")

    # --- parts ---

    @cached_property
    def _dynamic(self) -> Integers:
        return np.flatnonzero(self.mechanism.mechanics.prescribed == 0)

    @cached_property
    def _kinematic(self) -> Integers:
        return np.flatnonzero(self.mechanism.mechanics.prescribed != 0)

    @cached_property
    def _driven(self) -> DrivenTorques:
        return DrivenTorques(self.mechanism)

    @cached_property
    def state_names(self) -> tuple[str, ...]:
        """Names of x: coordinates, momenta ``momentum_NAME`` of dynamic ones, rates ``rate_NAME`` of kinematic ones."""
        m = self.mechanism
        dynamic, kinematic = m.dynamic_coordinates, m.kinematic_coordinates
        return (
            *dynamic, *kinematic, *(f"momentum_{name}" for name in dynamic), *(f"rate_{name}" for name in kinematic)
        )  # fmt: skip

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """Names of u: torques ``torque_NAME``, and the kinematic coordinates at the end of the step."""
        return (*self._driven.names, *self.mechanism.kinematic_coordinates)

    @property
    def states(self) -> int:
        """Number of entries of x."""
        return len(self.state_names)

    @property
    def inputs(self) -> int:
        """Number of entries of u."""
        return len(self.input_names)

    def state(self, q: Vector | None = None, v: Vector | None = None, momentum: Vector | None = None) -> Floats:
        """Return x for a configuration with rates or momenta; each is an array or a dict {name: value}.

        Args:
            q: configuration of all coordinates; missing ones are zero.
            v: rates of all coordinates; missing ones are zero.
            momentum: momenta; None: the momenta that belong to ``v``.

        Raises:
            MechanismError: an argument does not fit the mechanism.
        """
        m = self.mechanism
        place, rates = m.configuration(q), m.rates(v)
        p = m.momentum(place, rates) if momentum is None else m.configuration(momentum)
        d, k = self._dynamic, self._kinematic
        return np.concatenate([place[d], place[k], p[d], rates[k]])

    def configuration_of(self, x: Floats) -> Floats:
        """Return the configuration (n,) or (…, n), in the mechanism's order, of one or more states x."""
        x = np.asarray(x, dtype=float)
        q = np.empty((*x.shape[:-1], self.mechanism.size))
        nd = self._dynamic.size
        q[..., self._dynamic] = x[..., :nd]
        q[..., self._kinematic] = x[..., nd : self.mechanism.size]
        return q

    # --- the map ---

    def advance(self, x: Floats, u: Floats, time: float = 0.0) -> Floats:
        """Return x' = f(x, u) after the time step that begins at ``time`` [s].

        Raises:
            IntegrationError: the time step has no solution; the message has the cause.
            MechanismError: x or u has another size, or is not finite.
        """
        return self._solved(x, u, time).next_state

    def linearize(self, x: Floats, u: Floats, time: float = 0.0) -> Linearization:
        """Return the time step that begins at ``time`` [s] and its first derivatives, (9).

        Raises:
            SingularStepError: the step has a solution, but no derivative there.
            IntegrationError, MechanismError: the step has no solution, or x or u is invalid, see ``advance``.
        """
        return Linearization(self, self._solved(x, u, time))

    def _solved(self, x: Floats, u: Floats, time: float) -> Solved:
        x, u = checked_vector(x, self.state_names, "x"), checked_vector(u, self.input_names, "u")
        engine, d, k, torques = self._engine, self._dynamic, self._kinematic, len(self._driven.names)
        world, motion = engine.world, engine.world.motion
        q = self.configuration_of(x)
        motion.q[:], motion.momentum[:] = q, 0.0
        motion.momentum[d] = x[q.size : q.size + d.size]
        motion.multiplier[:], motion.past[:], motion.counts[:] = 0.0, 0.0, 0
        world.given[:] = q
        world.given[1, k] = u[torques:]
        world.inputs[0] = self._driven.row(u[:torques], time + self.alpha * self.step)
        self._guess(q, (world.given[1] - q) / self.step)
        engine.enter(places.BEGIN)
        iterations = engine.enter(places.SOLVE, 0, _MAX_ITERATIONS, MAX_BACKTRACKS)
        if iterations < 0:
            self._fail(iterations, time)
        multiplier = motion.multiplier.copy()
        engine.enter(places.COMMIT, 0, iterations)
        end = u[torques:]
        after = np.concatenate([motion.q[d], end, motion.momentum[d], (end - q[k]) / self.step])
        return Solved(x, u, time, q, motion.past[0].copy(), multiplier, world.inputs.copy(), after)

    def _guess(self, q: Floats, given_rates: Floats) -> None:
        """Set the first guess of the displacement from the rates of the momentum; zero if these are not unique."""
        buffers, motion = self._engine.world.buffers, self._engine.world.motion
        buffers.node_q[:], buffers.node_momentum[:], buffers.given_rates[:] = q, motion.momentum, given_rates
        if self._engine.enter(places.RATES) == 0:
            motion.past[0] = self.step * buffers.node_rates
            motion.counts[places.KNOWN] = 1

    def _fail(self, failed: int, time: float) -> None:
        error = SingularStepError if failed in (SINGULAR, DEPENDENT) else IntegrationError
        world = self._engine.world
        cause = cause_of(self.mechanism, world.buffers, failed, self.step, _MAX_ITERATIONS)
        raise error(
            f"{self.mechanism.name}: time step of {self.step:g} s at t = {time:g} s: {cause}; the residual is "
            f"{world.motion.residual[0]:.3g}; try a smaller step"
        )

    @cached_property
    def _engine(self) -> Engine:
        share, tolerance = float(self.force_share), float(self.tolerance)
        rule = SolverRule(float(self.alpha), float(self.step), tolerance, _MAX_ITERATIONS, MAX_BACKTRACKS, share)
        engine = self.mechanism.engine(rule)
        engine.take_in(inputs=np.zeros((1, 1 + len(self.mechanism.inputs))), given=np.zeros((2, self.mechanism.size)))
        return engine

    @cached_property
    def _first(self) -> Derivation:
        return Derivation(self, 2)

    @cached_property
    def _second(self) -> Derivation:
        return Derivation(self, 3)

    def _chain(self, solved: Solved, derivation: Derivation) -> kernels.Chain:
        """Return the first derivatives of the map of a time step.

        Raises:
            SingularStepError: the step has no derivative.
        """
        failed = derivation.differentiate(solved)
        if failed:
            raise SingularStepError(f"{self.mechanism.name}: {self._reason(failed, derivation.step)}")
        return derivation.step.chain

    def _reason(self, failed: int, step: kernels.SolvedStep) -> str:
        """Return why a time step has no derivative."""
        if failed == NOT_FINITE:
            return "the step's equations have derivatives that are not finite"
        names = self.mechanism.dynamic_coordinates
        if failed == SINGULAR:
            worst = names[int(np.argmin(np.abs(np.diag(step.chain.mass)) / step.chain.sizes[: len(names)]))]
            return (
                f"the step has no derivative: its matrix M = ∂E/∂q' is singular (det M = 0) at {worst!r}; a coordinate "
                "moves no mass, or the step is too long"
            )
        return (
            "the step has no derivative: Dh(q') M⁻¹ Dh(q)ᵀ is singular; leave out constraints that others imply, or "
            "take a smaller step"
        )


@dataclass(frozen=True, eq=False)
class Solved:
    """Solved time step.

    Attributes:
        x, u, time: state, inputs and time [s] at the start of the step.
        q: (n,) configuration at the start.
        moved: (n,) change of the configuration.
        multiplier: (m,) impulses λ of the constraints [N·s or N·m·s].
        row: (1, 1 + all inputs) time and functions of time in the step.
        next_state: f(x, u).
    """

    x: Floats
    u: Floats
    time: float
    q: Floats
    moved: Floats
    multiplier: Floats
    row: Floats
    next_state: Floats


class Derivation:
    """Kernels that differentiate the time steps of a system.

    Attributes:
        step: the differentiated step, with arrays for its derivatives.
    """

    def __init__(self, system: DiscreteMechanism, order: int) -> None:
        """Compile for an ``order`` of derivatives of the step's equations: 2, or 3 for second derivatives of f."""
        mechanism, self._order = system.mechanism, order
        mechanics, n, coupling = mechanism.mechanics, mechanism.size, Coupling(mechanism.mechanics, mechanism.customs)
        m, near = len(mechanism.labels), [coupling.near[j] for j in system._dynamic]
        sizes = coupling.sizes if order >= 3 else Sizes(0, 0, 0)
        self.step = kernels.SolvedStep(
            mechanics, float(system.alpha), float(system.step), float(system.force_share), np.zeros(n), np.zeros(n),
            np.zeros(m), np.zeros((1, 1 + len(mechanism.inputs))),
            new_derivatives(n, m, mechanics.points.body.shape[0], sizes), kernels.new_chain(
                system._dynamic, system._kinematic, system._driven.coordinates, near, coupling.held, order
            ),
        )  # fmt: skip
        self._customs = CustomDerivatives(coupling, mechanism.customs) if mechanism.customs else None
        self._packed = Packed(self.step)
        self._derive, self._first = Entry(derive_part, self._packed, order), Entry(kernels.first_part, self._packed)

    def differentiate(self, solved: Solved) -> int:
        """Set all first derivatives of the map of a time step; return 0, or the cause if they do not exist."""
        step = self.step
        step.q[:], step.moved[:], step.multiplier[:] = solved.q, solved.moved, solved.multiplier
        step.inputs[:] = solved.row
        self._derive(self._order)
        if self._customs is not None:
            self._customs.add(step, self._order)
        return self._first()

    @cached_property
    def twice(self) -> Entry:
        """Kernel of all second derivatives; call after ``differentiate``."""
        return Entry(kernels.second_part, self._packed)

    @cached_property
    def add_up(self) -> Entry:
        """Kernel of one weighted sum of second derivatives; call after ``differentiate``."""
        return Entry(kernels.weighted_part, self._packed)


class Linearization:
    """Linearized time step δx' = A δx + B δu of a mechanism; ``second`` returns second derivatives.

    Attributes:
        system: linearized system.
        next_state: state x' = f(x, u) at the end of the step.
        A: (states, states) ∂x'/∂x.
        B: (states, inputs) ∂x'/∂u.
        multipliers: (m,) mean constraint forces [N or N·m] in the step; −λ/h of Johnson & Murphey 2009, eq. (45).
        multipliers_by_state: (m, states) derivatives of the multipliers with respect to x.
        multipliers_by_input: (m, inputs) derivatives of the multipliers with respect to u.
        determinant: det M_{k+1} of (8) of Johnson et al. 2014: if it is not zero, f(x, u) exists. It is also zero,
            although f exists, if constraints hold a variable that moves no mass.
        constraint_determinant: det[Dh(q') M⁻¹ Dh(q)ᵀ] of the constraints h; 1 without them, inf with such a variable.

    Raises:
        SingularStepError: the time step has no derivative, since one of these two matrices is singular.
    """

    def __init__(self, system: DiscreteMechanism, solved: Solved) -> None:
        self.system, self._solved = system, solved
        self.next_state, self.multipliers = solved.next_state, -solved.multiplier / system.step
        chain = system._chain(solved, system._first)
        self._set_maps(chain)
        self.determinant, self.constraint_determinant = map(float, chain.determinant)
        if system.mechanism.loose:  # determinant of M with ballast: M itself has a column of zeros
            self.determinant, self.constraint_determinant = 0.0, float("inf")

    def _set_maps(self, chain: kernels.Chain) -> None:
        """Set A, B and the multipliers' derivatives from the chain's w, which excludes the rates in x."""
        system, nd, h = self.system, self.system._dynamic.size, self.system.step
        n = system.mechanism.size
        known, nk = n + nd, n - nd
        A, B = np.zeros((system.states, system.states)), np.zeros((system.states, system.inputs))
        A[:nd, :known], B[:nd] = chain.end[:nd, :known], chain.end[:nd, known:]
        A[n:known, :known], B[n:known] = chain.momentum[:, :known], chain.momentum[:, known:]
        kinematic, first = np.arange(nk), system.inputs - nk
        B[nd + kinematic, first + kinematic] = 1.0
        A[known + kinematic, nd + kinematic], B[known + kinematic, first + kinematic] = -1.0 / h, 1.0 / h
        self.A, self.B = A, B
        self.multipliers_by_state = np.zeros((self.multipliers.size, system.states))
        self.multipliers_by_state[:, :known] = -chain.solved[nd:, :known] / h
        self.multipliers_by_input = -chain.solved[nd:, known:] / h

    def second(self) -> Floats:
        """Return ∂²x'/∂(x, u)² (states, N, N), N = states + inputs: (16)-(27), (31), (32) of Johnson et al. 2014."""
        chain, nd = self.system._chain(self._solved, self.system._second), self.system._dynamic.size
        self.system._second.twice()
        rows, n = chain.matrix.shape[0], self.system.mechanism.size
        result = np.empty((self.system.states, *2 * (self.system.states + self.system.inputs,)))
        result[nd:n] = result[n + nd :] = 0.0
        self._spread(chain.bends[:nd], -1.0, result[:nd])
        self._spread(chain.bends[rows:], 1.0, result[n : n + nd])
        return result

    def weighted_second(self, weights: Floats) -> Floats:
        """Return Σ w_i ∂²x'_i/∂(x, u)² (N, N) for weights (states,), at about the cost of ``linearize``."""
        system, n, nd = self.system, self.system.mechanism.size, self.system._dynamic.size
        weights = np.asarray(weights, dtype=float)
        chain = system._chain(self._solved, system._second)
        chain.on_rows[0], chain.on_rows[1] = weights[:nd], weights[n : n + nd]
        system._second.add_up()
        result = np.empty((1, *2 * (system.states + system.inputs,)))
        self._spread(chain.bends[:1], 1.0, result)
        return result[0]

    def _spread(self, bends: Floats, sign: float, result: Floats) -> None:
        """Unpack rows of derivatives by w into matrices by (x, u)."""
        system = self.system
        nd, nk = system._dynamic.size, system._kinematic.size
        kernels.spread_bends(bends, sign, 2 * nd + nk, nk, system._second.step.chain.t_row, result)
