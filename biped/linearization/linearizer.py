"""From a scene and a state to the exact derivative of a step, or of a control period with its law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from biped import dynamics
from biped.disturbances.sorting import sorted_disturbances
from biped.errors import InputError
from biped.kernels.linearization.law import LawDifferentiator
from biped.kernels.linearization.steps import SUBSTEPS, TOO_MANY_PARTS, UNKNOWN_STEP
from biped.kernels.linearization.steps import Linearizer as StepLinearizer
from biped.kernels.loop.closed_loop import Loop, Passive
from biped.kernels.loop.measurement import DELAY, PERFECT
from biped.kernels.loop.projectile import ARMED
from biped.kernels.state.method import Variational
from biped.kernels.state.simulation_state import INTO_TICK, SENSED
from biped.kernels.state.status import OK
from biped.linearization.coordinates import (
    anchor_names,
    configuration_names,
    displacement,
    momentum_names,
    torque_names,
)
from biped.linearization.kinks import AT_KINK, Kink, KinkError, nearest_kinks
from biped.linearization.linearization import Linearization
from biped.runs.state import State
from biped.simulation.plan import Plan
from biped.simulation.scene import Scene
from biped.simulation.snapshot import put_state
from contact.arrays import Floats

#: Parts of steps of which is noted what the contacts did.
MOST_NOTED = 1024

Span = Literal["step", "period"]


def linearize(
    scene: Scene, state: State | None = None, *, span: Span = "period", closed_loop: bool = True
) -> Linearization:
    """The exact derivative of what the scene does next.

    Args:
        scene: model, floor, integrator, step, controller, sensors, actuators, pushes.
        state: where; where the scene begins, if not given. It is not changed.
        span: a control period, or one step of the integrator with the torques of ``state`` held.
        closed_loop: whether the controller's torques follow the state; else they are what it asks for here, held.

    Returns:
        x' = A x + B u: x in tangent coordinates at the state, x' in those where the span ends; u are torques on the
        joints, held through the span, on top of the controller's.

    Raises:
        InputError: for what cannot be linearized; the message says why.
        KinkError: the map has no derivative there, but one on either side.
    """
    return Linearizer(scene, span=span, closed_loop=closed_loop).at(state)


@dataclass(frozen=True)
class _Tick:
    """What a control tick did."""

    asked: Floats  # (nv, 2 nv) ∂(torque asked for)/∂(q, p), of what the sensors saw
    passes: Floats  # (nv,) 1, or 0 where an actuator is at its limit
    kinks: tuple[Kink, ...]


class Linearizer:
    """A scene whose spans are linearized, at any number of states: kernels are loaded once.

    Args:
        scene: what is simulated.
        span: as in ``linearize``.
        closed_loop: as there.

    Raises:
        InputError: the scene has something in it that cannot be linearized.
    """

    def __init__(self, scene: Scene, *, span: Span = "period", closed_loop: bool = True) -> None:
        if span not in ("step", "period"):
            raise InputError(f"span = {span!r}: it must be 'step' or 'period'")
        self.scene, self.span = scene, span
        self.plan = scene.prepare()
        self.model = self.plan.model
        self.asks = span == "period" and self.plan.law is not None and not isinstance(self.plan.law, Passive)
        self.closed_loop = closed_loop and self.asks
        check_scene(self.plan, scene, self.closed_loop)
        world = self.plan.world
        self.steps = self.plan.clock.steps_per_tick if span == "period" else 1
        self.period = self.steps * self.plan.clock.step
        self.delay = 0 if world.sensors.how[PERFECT] == 1 else int(world.sensors.how[DELAY])
        self.loop = Loop(world, self.plan.law)
        nv, nc = self.model.nv, self.model.nc
        self._held = slice(2 * nv + 2 * nc, 3 * nv + 2 * nc)
        self._steps = StepLinearizer(self.loop, 3 * nv + 2 * nc, MOST_NOTED)
        self._law = _law_of(self.plan) if self.closed_loop else None
        self._begin = self.plan.state.copy()
        _, _, self._inputs = torque_names(self.model)

    def at(self, state: State | None = None) -> Linearization:
        """The linearization there.

        Raises:
            InputError: the state is another model's, or within a control period; it falls, or a step has no solution.
            KinkError: the map has no derivative there, but one on either side.
        """
        start = self._begin if state is None else self._fitting(state)
        found, here = self._go(start, None)
        if here:
            raise KinkError(here, (found, self._go(start, here[0])[0]) if here[0].index >= 0 else (found,))
        return found

    def _fitting(self, state: State) -> State:
        state.check_model(self.model)
        if int(state.arrays.counts[INTO_TICK]):
            raise InputError("the state is within a control period: run it to the end of one before it is linearized")
        state = state.copy()
        first = self._begin.arrays
        state.make_room(first.cache.history.shape, first.past.shape[0])
        state.set_step(self.plan.clock.step)
        for name in ("stiffness", "damping", "setpoint"):
            getattr(state.arrays, name)[:] = getattr(first, name)
        return state

    def _go(self, start: State, turned: Kink | None) -> tuple[Linearization, tuple[Kink, ...]]:
        """The linearization with one switch taken from its other side, and the kinks that the state is at."""
        world, live = self.plan.world, self.plan.state
        put_state(start, live, world)
        tick = self._tick() if self.asks else None
        room = self._steps.room
        self._seed()
        room.derivative.points.turned[:] = (-1,) * 3 if turned is None else (turned.step, turned.index, turned.switch)
        reason = self._steps.take(self.steps)
        if reason != OK:
            raise InputError(_cause(reason, start.time))
        taken = int(room.taken[SUBSTEPS])
        kinks = nearest_kinks(
            self.model.contact_names, self.scene.floor, room.switch[:taken], room.mode[:taken], known_modes=True
        )
        at_kinks = tuple(kink for kink in kinks if kink.share < AT_KINK) + (() if tick is None else tick.kinks)
        return self._assembled(start, tick, kinks, taken), at_kinks

    def _seed(self) -> None:
        """Each variation is one of a displacement, a momentum, an anchor, a torque."""
        tangent, nv, nc = self._steps.room.tangent, self.model.nv, self.model.nc
        for rows in (tangent.q, tangent.momentum, tangent.anchor, tangent.torque):
            rows[:] = 0.0
        tangent.q[:, :nv] = tangent.momentum[:, nv : 2 * nv] = np.eye(nv)
        tangent.anchor[:, 2 * nv : 2 * nv + 2 * nc] = np.eye(2 * nc)
        tangent.torque[:, self._held] = np.eye(nv)
        self._steps.room.taken[:] = 0

    def _tick(self) -> _Tick:
        """Let the controller set its torques; the derivative of what it asks for."""
        world, nv = self.plan.world, self.model.nv
        if self.delay and int(world.state.counts[SENSED]) < self.delay:
            raise InputError("the sensors' delay has not passed: linearize a state from a run that took longer")
        before = world.state.torque.copy()
        done, reason = self.loop.run(1, 0)
        if reason != OK or not done:
            raise InputError("the model has fallen there, by the scene's limits: nothing to linearize")
        kept = float(world.actuators.kept[0])
        wanted = kept * before + (1.0 - kept) * world.torque
        given = np.isclose(world.state.torque, wanted, rtol=1e-12, atol=1e-12)
        if len(world.actuators.strength) and not given[self._inputs].all():
            raise InputError("an actuator is at the limit of a strength that varies with its angle: not linearized")
        asked = np.zeros((nv, 2 * nv))
        if self._law is not None:
            asked = self._asked()
        return _Tick(asked, given.astype(float), self._limits(wanted))

    def _asked(self) -> Floats:
        """∂(torque)/∂(q, p) of the law, where the sensors show it to be."""
        assert self._law is not None
        seen, state = self.plan.world.measurement, self.plan.world.state
        q, momentum = state.q, state.momentum
        if self.delay:
            q = seen.q.copy()
            momentum = dynamics.mass_matrix(self.model, q) @ seen.motion.rates
        found = self._law.at(q, momentum, float(seen.time[0])).copy()
        if not np.isfinite(found).all():
            raise InputError(
                "the controller's torques depend on what the floor or the actuators did in the last step, which is no "
                "part of the state here: linearize with closed_loop=False, or another controller"
            )
        return found

    def _limits(self, wanted: Floats) -> tuple[Kink, ...]:
        """Actuators that are just at their limit."""
        most, joints = self.plan.world.actuators.limit, []
        if self.plan.world.actuators.seed[0] < 0:
            return ()
        for dof in self._inputs:
            if np.isfinite(most[dof]):
                away = abs(float(wanted[dof])) - float(most[dof])
                if abs(away) < AT_KINK * most[dof]:
                    name = self.model.velocity_names[dof]
                    joints.append(Kink(name, "reaches its limit", away, "N·m", 0, abs(away) / float(most[dof])))
        return tuple(joints)

    def _assembled(self, start: State, tick: _Tick | None, kinks: tuple[Kink, ...], taken: int) -> Linearization:
        model, room, live = self.model, self._steps.room, self.plan.state
        tangent = room.tangent
        whole = np.vstack([tangent.q, tangent.momentum, tangent.anchor])
        nx, nv = len(whole), model.nv
        A, by_torque = whole[:, :nx].copy(), whole[:, self._held].copy()
        names, units = _names(model)
        kept = float(self.plan.world.actuators.kept[0]) if tick is not None else 0.0
        passes = np.ones(nv) if tick is None else tick.passes
        by_torque *= passes
        B = by_torque[:, self._inputs]
        asked = np.zeros((nv, 2 * nv)) if tick is None else (1.0 - kept) * tick.asked
        if self.delay == 0:
            A[:, : 2 * nv] += by_torque @ asked
        if kept:
            A, B, names, units = self._with_lag(A, B, by_torque, asked, kept, passes, names, units)
        if self.delay:
            A, B, names, units = self._with_delay(A, B, by_torque, asked, kept, passes, names, units)
        joints, torque_units, _ = torque_names(model)
        moved = np.concatenate([
            displacement(model, start.q, live.q),
            live.momentum - start.momentum,
            (live.arrays.anchor - start.arrays.anchor).ravel(),
        ])  # fmt: skip
        return Linearization(
            A=A,
            B=B,
            states=tuple(names),
            state_units=tuple(units),
            inputs=tuple(joints),
            input_units=tuple(torque_units),
            period=self.period,
            time=start.time,
            moved=moved,
            modes=room.mode[:taken].copy(),
            regimes=room.regime[:taken].copy(),
            kinks=kinks,
            closed_loop=self.closed_loop,
            model=model,
        )

    def _with_lag(
        self, A: Floats, B: Floats, by_torque: Floats, asked: Floats, kept: float, passes: Floats,
        names: list[str], units: list[str],
    ) -> tuple[Floats, Floats, list[str], list[str]]:  # fmt: skip
        """What actuators gave is a state, of which the next torque keeps a part."""
        own, own_units, dofs = torque_names(self.model)
        nx, nt, nv = len(A), len(dofs), self.model.nv
        lower = np.zeros((nt, nx))
        if self.delay == 0:
            lower[:, : 2 * nv] = (passes[:, None] * asked)[dofs]
        A = np.block([[A, kept * by_torque[:, dofs]], [lower, kept * np.diag(passes[dofs])]])
        B = np.vstack([B, np.diag(passes[dofs])])
        return A, B, names + [f"held_{name}" for name in own], units + own_units

    def _with_delay(
        self, A: Floats, B: Floats, by_torque: Floats, asked: Floats, kept: float, passes: Floats,
        names: list[str], units: list[str],
    ) -> tuple[Floats, Floats, list[str], list[str]]:  # fmt: skip
        """What sensors have yet to show is a state: (q, p) of the ticks before."""
        nv, nx, d = self.model.nv, len(A), self.delay
        size = nx + 2 * nv * d
        grown = np.zeros((size, size))
        grown[:nx, :nx] = A
        oldest = slice(size - 2 * nv, size)
        grown[: len(by_torque), oldest] = by_torque @ asked
        if kept:
            dofs = torque_names(self.model)[2]
            grown[len(by_torque) : nx, oldest] = (passes[:, None] * asked)[dofs]
        grown[nx : nx + 2 * nv, : 2 * nv] = np.eye(2 * nv)
        for k in range(1, d):
            row = nx + 2 * nv * k
            grown[row : row + 2 * nv, row - 2 * nv : row] = np.eye(2 * nv)
        past = [f"{name}[-{k}]" for k in range(1, d + 1) for name in names[: 2 * nv]]
        return grown, np.vstack([B, np.zeros((2 * nv * d, B.shape[1]))]), names + past, units + units[: 2 * nv] * d


def _names(model: Any) -> tuple[list[str], list[str]]:
    parts = configuration_names(model), momentum_names(model), anchor_names(model)
    return [name for names, _ in parts for name in names], [unit for _, units in parts for unit in units]


def _law_of(plan: Plan) -> LawDifferentiator:
    recorded = 0 if plan.controller is None else len(plan.controller.recorded)
    return LawDifferentiator(plan.law, plan.nominal_model.tree, plan.model.nq, plan.model.nv, recorded)


def check_scene(plan: Plan, scene: Scene, closed_loop: bool) -> None:
    """Refuse what cannot be linearized."""
    if not isinstance(plan.world.method, Variational):
        raise InputError(
            f"integrator {plan.stepping.name!r} is not linearized: take a variational one in generalized coordinates, "
            "such as recursive"
        )
    if plan.world.projectile.status[ARMED] == 1:
        raise InputError("a thrown box collides: linearize without it")
    if plan.controller is not None and plan.law is None:
        raise InputError(
            f"{type(plan.controller).__name__} is not compiled, and has no exact derivative: linearize a scene without "
            "a controller, or write the law as a kernel"
        )
    if closed_loop and plan.controller is not None and not plan.controller.analytic:
        raise InputError(
            f"{type(plan.controller).__name__} has no exact derivative: a law by a quadratic program, or one that "
            "remembers, is no analytic function of the state. Linearize with closed_loop=False, or take a law that is "
            "analytic, such as WorkspaceController or JointPD (one of your own says so: Controller.analytic)"
        )
    acting = sorted_disturbances(scene.disturbances)
    sensors, actuators = acting.sensors, acting.actuators
    if sensors is not None and plan.world.sensors.noise.any():
        raise InputError("sensors with noise: what they will show is no function of the state; linearize without noise")
    if actuators is not None and (plan.world.actuators.noise.any() or plan.world.actuators.share.any()):
        raise InputError("actuators with noise: what they will give is no function of the state; linearize without it")
    if acting.loads and plan.controller is not None:
        raise InputError("a load that the controller does not know of is not linearized: leave it out")


def _cause(reason: int, time: float) -> str:
    if reason == TOO_MANY_PARTS:
        return f"a step from {time:g} s on had to be taken in more than 256 parts: not linearized"
    if reason == UNKNOWN_STEP:
        return f"something else than the equations of a step moved the model after {time:g} s: not linearized"
    return f"a step from {time:g} s on has no solution: not linearized"
