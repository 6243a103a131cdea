"""The exact derivative of a step, or of a control period with its controller, at a state of a scene."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from biped import dynamics
from biped.derivatives.linearization import coordinates
from biped.derivatives.linearization.kernels import steps
from biped.derivatives.linearization.kernels.steps import Linearizer as StepLinearizer
from biped.derivatives.linearization.kinks import AT_KINK, Kink, KinkError, nearest_joint_kinks, nearest_kinks
from biped.derivatives.linearization.law import LawDerivative
from biped.derivatives.linearization.limits import ActuatorLimits
from biped.derivatives.linearization.linearization import Linearization
from biped.disturbances.sensors import is_noisy, shared_delay
from biped.disturbances.sorting import sorted_disturbances
from biped.errors import InputError
from biped.kernels.loop.closed_loop import Loop, Passive, World, is_ready
from biped.kernels.loop.projectile import ARMED
from biped.kernels.state.method import Variational
from biped.kernels.state.simulation_state import INTO_TICK, SENSED
from biped.kernels.state.status import OK
from biped.kernels.variational.discrete_body import store_body_block
from biped.runs.state import State
from biped.simulation.driver import Announce
from biped.simulation.plan import Plan
from biped.simulation.scene import Scene
from biped.simulation.snapshot import put_numbers
from contact.arrays import Floats, Integers
from kernelcache import Packed, are_ready

#: Number of parts of steps for which modes, regimes and switches are recorded.
MOST_NOTED = 1024

Span = Literal["step", "period"]


def linearize(
    scene: Scene, state: State | None = None, *, span: Span = "period", closed_loop: bool = True
) -> Linearization:
    """Return the exact linearization of the next time step or control period of a scene.

    Args:
        scene: the scene to linearize, with its controller, sensors, actuators and pushes.
        state: the state to linearize at, which is not changed; None: the start of the scene.
        span: "period" for a control period, "step" for one time step with the torques of ``state`` held.
        closed_loop: True: the controller's torques respond to the state. False: its torques at the state are held.

    Returns:
        x' = A x + B u, for deviations x at the state and x' at the end of the span, both in tangent coordinates, and
        additional joint torques u, held through the span.

    Raises:
        InputError: the scene or state cannot be linearized; the message says why.
        KinkError: the state is at a kink, with one-sided derivatives only.
    """
    return Linearizer(scene, span=span, closed_loop=closed_loop).at(state)


@dataclass(frozen=True)
class _Tick:
    """A linearized control tick."""

    asked: Floats  # (nv, 2 nv) ∂(demanded torque)/∂(q, p) at the state that the sensors show
    passes: Floats  # (nv,) 1, or 0 where an actuator is at its limit
    limits: Floats  # (nv, 2 nv) ∂(limit)/∂(q, p) where one acts, and zero elsewhere
    kinks: tuple[Kink, ...]


class Linearizer:
    """A scene that is linearized at any number of states; the kernels are loaded once.

    Args:
        scene: the scene to linearize.
        span: "period" for a control period, "step" for one time step of the integrator.
        closed_loop: True: the controller's torques respond to the state. False: its torques at the state are held.
        announce: function that is called with a message before kernels are compiled; None: no message.

    Raises:
        InputError: a part of the scene cannot be linearized.
    """

    def __init__(
        self, scene: Scene, *, span: Span = "period", closed_loop: bool = True, announce: Announce | None = None
    ) -> None:
        if span not in ("step", "period"):
            raise InputError(f"span = {span!r}: it must be 'step' or 'period'")
        self.scene, self.span = scene, span
        self.plan = scene.prepare()
        self.model = self.plan.model
        self.has_law = span == "period" and self.plan.law is not None and not isinstance(self.plan.law, Passive)
        self.closed_loop = closed_loop and self.has_law
        check_scene(self.plan, scene, self.closed_loop)
        world = self.plan.world
        self.steps = self.plan.clock.steps_per_tick if span == "period" else 1
        self.period = self.steps * self.plan.clock.step
        self.delay = shared_delay(world.sensors)
        joints, units, inputs = coordinates.torque_names(self.model)
        self._inputs = np.array(inputs, dtype=np.int64)
        if announce is not None and not (is_ready(world, self.plan.law) and are_steps_ready(world, self._inputs)):
            announce("compiling the kernels of linearizations, once: a minute or two")
        self.loop = Loop(world, self.plan.law)
        self._law = _law_derivative(self.plan) if self.closed_loop else None
        self._begin = self.plan.state.copy()
        self._steps = StepLinearizer(self.loop, self._inputs, MOST_NOTED)
        self._names, self._input_names = _names(self.model), (joints, units)

    def at(self, state: State | None = None) -> Linearization:
        """Return the linearization at a state, by default the start of the scene.

        Raises:
            InputError: the state is another model's or within a control period, the model falls, or a step has no
                solution.
            KinkError: the state is at a kink, with one-sided derivatives only.
        """
        start = self._begin if state is None else self._fitting(state)
        tick, taken = self.carry(start)
        buffers = self._steps.buffers
        kinks = nearest_kinks(
            self.model.contact_names, self.scene.floor, buffers.switch[:taken], buffers.mode[:taken], known_modes=True
        )
        kinks += nearest_joint_kinks(self.model, self.plan.world.tree, buffers.joint_switch[:taken]) + (
            () if tick is None else tick.kinks
        )
        kinks = tuple(sorted(kinks, key=lambda kink: kink.share))
        at_kinks = tuple(kink for kink in kinks if kink.share < AT_KINK)
        if at_kinks:
            raise KinkError(at_kinks)
        return self._assembled(start, tick, kinks, taken)

    def _fitting(self, state: State) -> State:
        state.check_model(self.model)
        if int(state.arrays.counts[INTO_TICK]):
            raise InputError("the state is within a control period: run to the end of the period, then linearize")
        state = state.copy()
        first = self._begin.arrays
        state.set_memory_shape(first.past.shape)
        state.set_step(self.plan.clock.step)
        for name in ("stiffness", "damping", "setpoint"):
            getattr(state.arrays, name)[:] = getattr(first, name)
        return state

    def carry(self, start: State) -> tuple[_Tick | None, int]:
        """Propagate all variations through the span into the buffers; return the tick and the number of steps."""
        put_numbers(start, self.plan.state, self.plan.world)
        self._steps.set_off()
        tick = self._tick() if self.has_law else None
        reason = self._steps.take(self.steps)
        if reason != OK:
            raise InputError(_cause(reason, start.time))
        return tick, int(self._steps.buffers.taken[steps.SUBSTEPS])

    def _tick(self) -> _Tick:
        """Let the controller set its torques; return the derivatives of its demand and of the limits."""
        world, nv = self.plan.world, self.model.nv
        if self.delay and int(world.state.counts[SENSED]) < self.delay:
            raise InputError("the run is still shorter than the sensors' delay: linearize a later state of the run")
        before = world.state.torque.copy()
        done, reason = self.loop.run(1, 0, 0)
        if reason != OK or not done:
            raise InputError("the model has fallen at this state (scene.fall): linearize an earlier state")
        kept = float(world.actuators.kept[0])
        demanded = kept * before + (1.0 - kept) * world.torque
        asked = np.zeros((nv, 2 * nv)) if self._law is None else self._asked()
        if world.actuators.seed[0] < 0:
            return _Tick(asked, np.ones(nv), np.zeros((nv, 2 * nv)), ())
        limited = self._limits.at(demanded)
        return _Tick(asked, limited.passes, limited.slopes, limited.kinks)

    @cached_property
    def _limits(self) -> ActuatorLimits:
        return ActuatorLimits(self.model, self.plan.world)

    def _asked(self) -> Floats:
        """Return ∂(torque)/∂(q, p) of the law at the state that the sensors show."""
        assert self._law is not None
        seen, state = self.plan.world.measurement, self.plan.world.state
        q, momentum = state.q, state.momentum
        if self.delay:
            q = seen.q.copy()
            momentum = dynamics.mass_matrix(self.model, q) @ seen.motion.rates
        jacobian = self._law.at(q, momentum, float(seen.time[0]), self.plan.world.torque)
        if not np.isfinite(jacobian).all():
            raise InputError(
                "the controller's torques depend on ground reaction forces or actuator torques of the last step, which "
                "are not in the state of a linearization: use closed_loop=False, or another controller"
            )
        return jacobian

    def _assembled(self, start: State, tick: _Tick | None, kinks: tuple[Kink, ...], taken: int) -> Linearization:
        model, buffers, live = self.model, self._steps.buffers, self.plan.state
        tangent = buffers.tangent
        stacked = np.vstack([tangent.q, tangent.momentum, tangent.anchor])
        nx, nv = len(stacked), model.nv
        A, by_torque = stacked[:, :nx].copy(), np.zeros((nx, nv))
        by_torque[:, self._inputs] = stacked[:, nx:]
        names, units = (list(known) for known in self._names)
        kept = float(self.plan.world.actuators.kept[0]) if tick is not None else 0.0
        passes = np.ones(nv) if tick is None else tick.passes
        limits = np.zeros((nv, 2 * nv)) if tick is None else tick.limits
        A[:, : 2 * nv] += by_torque @ limits
        by_torque *= passes
        B = by_torque[:, self._inputs]
        asked = np.zeros((nv, 2 * nv)) if tick is None else (1.0 - kept) * tick.asked
        if self.delay == 0:
            A[:, : 2 * nv] += by_torque @ asked
        if kept:
            A, B, names, units = self._with_lag(A, B, by_torque, asked, limits, kept, passes, names, units)
        if self.delay:
            A, B, names, units = self._with_delay(A, B, by_torque, asked, kept, passes, names, units)
        joints, torque_units = self._input_names
        moved = np.concatenate([
            coordinates.displacement(model, start.q, live.q),
            live.momentum - start.momentum,
            (live.arrays.anchor - start.arrays.anchor).ravel(),
        ])  # fmt: skip
        return Linearization(
            A=A, B=B, states=tuple(names), state_units=tuple(units), inputs=tuple(joints),
            input_units=tuple(torque_units), period=self.period, time=start.time, moved=moved,
            modes=buffers.mode[:taken].copy(), regimes=buffers.regime[:taken].copy(), kinks=kinks,
            closed_loop=self.closed_loop, model=model,
        )  # fmt: skip

    def _with_lag(
        self, A: Floats, B: Floats, by_torque: Floats, asked: Floats, limits: Floats, kept: float, passes: Floats,
        names: list[str], units: list[str],
    ) -> tuple[Floats, Floats, list[str], list[str]]:  # fmt: skip
        """Return the system with the lagging torques of the actuators as further states."""
        torques, torque_units, dofs = coordinates.torque_names(self.model)
        nx, nt, nv = len(A), len(dofs), self.model.nv
        lower = np.zeros((nt, nx))
        lower[:, : 2 * nv] = limits[dofs]
        if self.delay == 0:
            lower[:, : 2 * nv] += (passes[:, None] * asked)[dofs]
        A = np.block([[A, kept * by_torque[:, dofs]], [lower, kept * np.diag(passes[dofs])]])
        B = np.vstack([B, np.diag(passes[dofs])])
        return A, B, names + [f"held_{name}" for name in torques], units + torque_units

    def _with_delay(
        self, A: Floats, B: Floats, by_torque: Floats, asked: Floats, kept: float, passes: Floats,
        names: list[str], units: list[str],
    ) -> tuple[Floats, Floats, list[str], list[str]]:  # fmt: skip
        """Return the system with (q, p) of earlier ticks, for delayed sensors, as further states."""
        nv, nx, d = self.model.nv, len(A), self.delay
        size = nx + 2 * nv * d
        grown = np.zeros((size, size))
        grown[:nx, :nx] = A
        oldest = slice(size - 2 * nv, size)
        grown[: len(by_torque), oldest] = by_torque @ asked
        if kept:
            dofs = coordinates.torque_names(self.model)[2]
            grown[len(by_torque) : nx, oldest] = (passes[:, None] * asked)[dofs]
        grown[nx : nx + 2 * nv, : 2 * nv] = np.eye(2 * nv)
        for k in range(1, d):
            row = nx + 2 * nv * k
            grown[row : row + 2 * nv, row - 2 * nv : row] = np.eye(2 * nv)
        past = [f"{name}[-{k}]" for k in range(1, d + 1) for name in names[: 2 * nv]]
        return grown, np.vstack([B, np.zeros((2 * nv * d, B.shape[1]))]), names + past, units + units[: 2 * nv] * d


def _law_derivative(plan: Plan) -> LawDerivative:
    recorded = 0 if plan.controller is None else len(plan.controller.recorded)
    return LawDerivative(plan.law, plan.nominal_model.tree, recorded)


def _names(model: Any) -> tuple[list[str], list[str]]:
    parts = coordinates.configuration_names(model), coordinates.momentum_names(model), coordinates.anchor_names(model)
    return [name for names, _ in parts for name in names], [unit for _, units in parts for unit in units]


def are_steps_ready(world: World, driven: Integers) -> bool:
    """Return True if the kernels of a linearizer of this world's steps are compiled; its loop may not be."""
    buffers = Packed(steps.new_linearized(world, 1, driven, 1))
    return are_ready([*steps.step_calls(buffers), (steps.linearize_steps, buffers, 0, 0)])


def check_scene(plan: Plan, scene: Scene, closed_loop: bool) -> None:
    """Refuse scenes that cannot be linearized."""
    plan.model.check_tree("the derivative of a step")
    if not isinstance(plan.world.method, Variational):
        raise InputError(
            f"integrator {plan.stepping.name!r} cannot be linearized: choose a variational integrator in generalized "
            "coordinates, such as 'recursive'"
        )
    if type(plan.world.method.body) not in store_body_block.table.implementations:
        raise InputError(
            f"integrator {plan.stepping.name!r} cannot be linearized: choose 'recursive', or, for the midpoint rule, "
            "build the system as a formulations.mechanism.DiscreteMechanism"
        )
    if plan.world.projectile.status[ARMED] == 1:
        raise InputError("a thrown box cannot be linearized, since it collides: leave it out")
    if plan.controller is not None and (plan.law is None or plan.controller.acts):
        raise InputError(
            f"{type(plan.controller).__name__} runs in Python and has no exact derivative: linearize a scene without "
            "a controller, or write the controller as a compiled kernel"
        )
    if closed_loop and plan.controller is not None and not plan.controller.analytic:
        raise InputError(
            f"{type(plan.controller).__name__} has no exact derivative: controllers with a quadratic program or a "
            "memory are not analytic functions of the state. Linearize with closed_loop=False, or use an analytic "
            "controller such as WorkspaceController or JointPD (your own controller: set Controller.analytic)"
        )
    disturbances = sorted_disturbances(scene.disturbances, scene.model)
    actuators = disturbances.actuators
    if plan.internal is not None:
        raise InputError("a state estimator cannot be linearized: set Sensors(estimator='none')")
    if actuators is not None and actuators.has_tone:
        raise InputError("intrinsic stiffness cannot be linearized, since its rest angles follow the controller: use 0")
    if is_noisy(plan.world.sensors):
        raise InputError("sensor noise cannot be linearized, since it does not depend on the state: leave it out")
    if actuators is not None and (plan.world.actuators.noise.any() or plan.world.actuators.share.any()):
        raise InputError("actuator noise cannot be linearized, since it does not depend on the state: leave it out")
    if plan.delays_impedance:
        raise InputError("to linearize, use either actuators with lag or limited rate, or a joint impedance, not both")
    if disturbances.loads and plan.controller is not None:
        raise InputError("a load that the controller does not know of cannot be linearized: leave the load out")


def _cause(reason: int, time: float) -> str:
    if reason == steps.TOO_MANY_PARTS:
        return f"not linearized: a step after {time:g} s was divided into more than 256 parts; choose a smaller step"
    if reason == steps.UNKNOWN_STEP:
        return f"not linearized: something other than the integrator's equations moved the model after {time:g} s"
    return f"not linearized: a step after {time:g} s has no solution; choose a smaller step"
