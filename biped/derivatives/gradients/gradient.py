"""Gradients of whole trials by the adjoint method: one forward simulation, one backward pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biped.derivatives.gradients.kernels.trial import AT_KINKS, CHANGED, FULL, LEFT_AT, OTHER_BRANCH, TICKS, Trial
from biped.derivatives.gradients.objectives import Trajectory, value_of, weights_of
from biped.derivatives.gradients.parameters import Effect, Parameter, effect_of, parameters_of
from biped.derivatives.gradients.plant import PlantSlopes
from biped.derivatives.linearization.kernels.steps import TOO_MANY_PARTS, UNKNOWN_STEP
from biped.derivatives.linearization.kinks import (
    AT_KINK,
    Kink,
    joint_scales,
    nearest_joint_kinks,
    nearest_kinks,
    point_scales,
)
from biped.derivatives.linearization.linearizer import check_scene
from biped.derivatives.tape.kernels import Tape
from biped.derivatives.tape.law import TREE, LawTapes
from biped.derivatives.tape.recorder import Recorder
from biped.disturbances.sensors import shared_delay
from biped.errors import InputError
from biped.kernels.loop.closed_loop import Loop, Passive
from biped.kernels.state.simulation_state import INTO_TICK, SENSED
from biped.kernels.state.status import LIMITS, OK
from biped.kernels.tree.tree import MAX_EFFORT
from biped.metrics.disturbance import start_time_of
from biped.presentation import as_html, as_text
from biped.simulation.plan import Plan
from biped.simulation.scene import Scene
from biped.simulation.snapshot import put_state
from contact.arrays import Floats

#: Number of parts of steps, in addition to the steps, for which buffers are made at first.
SPARE = 512
#: Greatest number of tapes of a law in one trial, one for each change of its branches.
MOST_BRANCHES = 64
#: Objectives that depend on the actuators' torques.
_TORQUES = ("rms_torque", "peak_torque")
#: Objectives without a gradient on a moving floor.
_ON_FLOORS_AT_REST = ("margin_of_stability_min", "margin_of_stability_end", "com_excursion")


class NoGradientError(InputError):
    """Error: a trial has no gradient, because the model fell or a time step had no solution.

    Attributes:
        time: [s] time at which the trial ended.
    """

    def __init__(self, message: str, time: float) -> None:
        super().__init__(message)
        self.time = time


@dataclass(frozen=True)
class Gradient:
    """The derivatives of an objective of a trial, with the contact modes of all time steps held fixed.

    Attributes:
        objective: name of the objective, or a weighted sum in words, such as "1 rms_torque + 2 com_excursion".
        value: value of the objective.
        names: names of the parameters.
        numbers: (parameters,) values of the parameters.
        slopes: (parameters,) ∂(objective)/∂(parameter).
        start: (2 nv,) ∂(objective)/∂(initial state): displacements in tangent coordinates, then generalized momenta.
        switched: number of changes of contact modes (none, sticking, sliding) between time steps. If a parameter moves
            such a change to another step, the objective jumps a little; the derivative does not contain these jumps.
        kinks: number of kinks (see ``Kink``) that the trial meets, to rounding; there the derivative is one-sided.
        nearest: closest approach of each contact point or joint to each kind of kink, the closest first.
    """

    objective: str
    value: float
    names: tuple[str, ...]
    numbers: Floats
    slopes: Floats
    start: Floats
    switched: int
    kinks: int
    nearest: tuple[Kink, ...]

    def __repr__(self) -> str:
        return as_text(self._title, self._facts)

    def _repr_html_(self) -> str:
        return as_html(self._title, self._facts)

    @property
    def _title(self) -> str:
        return f"gradient of {self.objective} = {self.value:.6g}"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        slopes = [(f"by {name}", f"{slope:+.6g}") for name, slope in zip(self.names, self.slopes, strict=True)]
        return [*slopes, ("changes of contact modes", str(self.switched)), ("kinks met", str(self.kinks))]

    def __getitem__(self, name: str) -> float:
        return float(self.slopes[self.names.index(name)])


def gradient(scene: Scene, objective: str | Mapping[str, float], parameters: Sequence[str | Parameter]) -> Gradient:
    """Return the gradient of an objective of a whole trial, by the adjoint method.

    Contact modes, places where time steps were divided, and branches taken in the controller's code are held fixed. The
    derivative is then exact: it includes the integrator's equations, contact, friction, and the sampled controller.

    Args:
        scene: scene of the trial, which is simulated from its start for its ``duration``.
        objective: name of a metric in ``DIFFERENTIABLE``, or a dictionary of names and weights for a weighted sum.
        parameters: names such as ``controller.gains.kp_position[2]``, ``model.trunk.mass`` or ``floor.mu_s``, or
            ``Parameter`` objects.

    Raises:
        InputError: there is no gradient for this scene, objective or parameter; the message says why.
        NoGradientError: the model fell, or a time step had no solution.
    """
    return Differentiator(scene, parameters).of(objective)


class Differentiator:
    """A trial that is simulated once and differentiated backward for each objective.

    Args:
        scene: scene of the trial, which is simulated from its start for its ``duration``.
        parameters: names of parameters, or ``Parameter`` objects, as in ``gradient``.
        effect: the parameters' effect on the controller, from ``effect_of(scene, parameters)``; None: computed.

    Raises:
        InputError: there is no gradient for this scene or parameter; the message says why.
        NoGradientError: the model fell, or a time step had no solution.
    """

    def __init__(self, scene: Scene, parameters: Sequence[str | Parameter], effect: Effect | None = None) -> None:
        if scene.settle is not None:
            raise InputError(
                "no gradient: the scene has a run-in (settle), whose end depends on the parameters; use "
                "scene.settled(), which has a fixed start"
            )
        self.scene = scene
        self.plan = scene.prepare()
        self.has_law = self.plan.law is not None and not isinstance(self.plan.law, Passive)
        check_scene(self.plan, scene, self.has_law)
        _check_clock(self.plan)
        self.parameters = tuple(
            item if isinstance(item, Parameter) else parameters_of(scene, (item,))[0] for item in parameters
        )
        self.names = tuple(item.name for item in self.parameters)
        self.numbers = np.array([item.value for item in self.parameters])
        self.effect = effect_of(scene, self.parameters) if effect is None else effect
        self._loop = Loop(self.plan.world, self.plan.law)
        self._begin = self.plan.state.copy()
        self._tapes = self._law_tapes()
        self._tape = self._noted(self._begin.q, self._begin.momentum)
        self._forward()

    # --- forwards ---

    def _forward(self) -> None:
        clock, world = self.plan.clock, self.plan.world
        ticks = clock.steps // clock.steps_per_tick
        buffers = clock.steps + SPARE
        reason = FULL
        while reason == FULL:
            self._trial = Trial(self._loop, buffers, ticks, self._tape, self._numbers, keeps=any(self.effect.plant))
            put_state(self._begin, self.plan.state, world)
            reason = self._trial.take(ticks, clock.steps_per_tick)
            buffers *= 2
        if reason != OK:
            raise _failure(reason, self.plan.state.time)
        self._end = self.plan.state.copy()
        self._delay = shared_delay(world.sensors)
        if self._delay and int(self._begin.arrays.counts[SENSED]):
            raise InputError("delayed sensors still have values from before the trial: start at the beginning of a run")
        self._kept = float(world.actuators.kept[0])
        self._limits()
        self.trajectory = self._seen()

    def _limits(self) -> None:
        """Determine the torques at actuator limits, and the number of torques close to a limit."""
        record, world = self._trial.record, self.plan.world
        before = np.vstack([self._begin.arrays.torque[None], record.held[:-1]])
        desired = self._kept * before + (1.0 - self._kept) * record.asked
        given = np.isclose(record.held, desired, rtol=1e-12, atol=1e-12)
        held = (world.state.stiffness > 0.0) | (world.state.damping > 0.0)
        saturated = self._end.arrays.ledger.saturated > self._begin.arrays.ledger.saturated
        if len(world.actuators.strength) and not (given.all() and not saturated[held].any()):
            raise InputError(
                "no gradient: an actuator is at a strength limit that varies with joint angle; set actuators.limit only"
            )
        record.passes[:] = given
        most = world.actuators.limit
        near = np.isfinite(most) & (np.abs(np.abs(desired) - most) < AT_KINK * most)
        self._at_limits = int(near.sum()) if world.actuators.seed[0] >= 0 else 0

    def _seen(self) -> Trajectory:
        record = self._trial.record
        rows = record.first
        return Trajectory(
            model=self.plan.model,
            time=record.time.copy(),
            q=record.q[rows].copy(),
            momentum=record.momentum[rows].copy(),
            torque=np.vstack([record.held, record.held[-1:]]),
            down=record.down[rows].copy(),
            start_time=start_time_of(self.scene.disturbances),
            set_point=self.plan.set_point,
        )

    # --- the law ---

    def _law_tapes(self) -> LawTapes | None:
        if not self.has_law:
            self._numbers, self._chosen = 0, np.zeros(0, dtype=np.int64)
            return None
        plan = self.plan
        recorded = 0 if plan.controller is None else len(plan.controller.recorded)
        by_tree = any(path[0] == TREE for path in self.effect.paths)
        tapes = LawTapes(plan.law, plan.nominal_model.tree, recorded, by_tree)
        self._numbers = len(tapes.paths)
        self._chosen = np.array([tapes.paths.index(path) for path in self.effect.paths], dtype=np.int64)
        return tapes

    def _noted(self, q: Floats, momentum: Floats) -> Tape:
        return Recorder().tape((), ()) if self._tapes is None else self._tapes.at(q, momentum)

    # --- backwards ---

    def of(self, objective: str | Mapping[str, float]) -> Gradient:
        """Return the gradient of an objective of this trial.

        Raises:
            InputError: the objective has no gradient, or the torques depend on more than configuration and velocity.
        """
        terms = {objective: 1.0} if isinstance(objective, str) else dict(objective)
        values = {name: self._value(name) for name in terms}
        weights = {name: weights_of(name, self.trajectory, value) for name, value in values.items()}
        record = self._trial.record
        self._clear()
        for name, weight in terms.items():
            derivatives = weights[name]
            record.of_q[:] += weight * derivatives.q
            record.of_momentum[:] += weight * derivatives.momentum
            record.of_torque[:] += weight * derivatives.torque
        self._back()
        position = sum(weight * weights[name].position for name, weight in terms.items())
        at_kinks = int(record.taken[AT_KINKS]) + self._at_limits + sum(term.kinks for term in weights.values())
        return Gradient(
            objective=" + ".join(terms) if isinstance(objective, str) else _sum_of(terms),
            value=sum(weight * values[name] for name, weight in terms.items()),
            names=self.names,
            numbers=self.numbers,
            slopes=self._slopes(terms) + self.effect.position @ position,
            start=np.concatenate([record.weight.q, record.weight.momentum]),
            switched=int(record.taken[CHANGED]),
            kinks=at_kinks,
            nearest=self._nearest(),
        )

    def of_end(self, q: Floats, momentum: Floats) -> Floats:
        """Return the derivatives (parameters,) of a weighted sum over the final state.

        Args:
            q: (nv,) weights of displacements in tangent coordinates.
            momentum: (nv,) weights of momenta.

        Raises:
            InputError: the controller's torques depend on more than configuration and velocity.
        """
        self._clear()
        self._trial.record.of_q[-1], self._trial.record.of_momentum[-1] = q, momentum
        self._back()
        return self._slopes({})

    def _slopes(self, terms: Mapping[str, float]) -> Floats:
        """Sum the effects of the parameters through controller, impedance and plant after the backward pass."""
        record = self._trial.record
        impedance = np.einsum("pkj,kj->p", self.effect.impedance, record.impedance)
        slopes: Floats = self.effect.law @ record.numbers[self._chosen] + impedance
        plant = PlantSlopes(self._trial, self.plan, self._begin, self.trajectory, terms)
        for k in np.flatnonzero(self.effect.plant):
            slopes[k] += plant.slope(self.parameters[k])
        return slopes

    def _value(self, name: str) -> float:
        state, world = self._begin.arrays, self.plan.world
        if name.startswith(_TORQUES):
            if state.stiffness.any() or state.damping.any():
                raise InputError(f"no gradient of {name} with a joint impedance: leave the impedance out")
            passive = world.tree.passive
            if len(passive) and np.isfinite(passive[:, MAX_EFFORT]).any():
                raise InputError(f"no gradient of {name} for a model with effort limits of joints: remove these limits")
        point = self.plan.set_point
        if self.plan.world.ground.motion.first.shape[0] > 1 and (
            name in _ON_FLOORS_AT_REST or (point is not None and point.on_floor)
        ):
            raise InputError(f"no gradient of {name} on a moving floor: leave out the floor's motion")
        return value_of(name, self.trajectory)

    def _clear(self) -> None:
        record = self._trial.record
        of_states = record.of_q, record.of_momentum, record.of_torque
        for rows in (*record.weight, *of_states, record.numbers, record.impedance):
            rows[:] = 0.0
        for nearest, scales in (
            (record.nearest, point_scales(self.scene.floor)), (record.nearest_joint, joint_scales(self.plan.world.tree))
        ):  # fmt: skip
            nearest.switch[:], nearest.at[:], nearest.scale[:] = np.inf, 0, scales
        record.taken[[AT_KINKS, CHANGED]] = 0
        record.share[:] = self._kept, self._delay, float(self.has_law)

    def _back(self) -> None:
        record, tick, is_left = self._trial.record, int(self._trial.record.taken[TICKS]) - 1, False
        put_state(self._end, self.plan.state, self.plan.world)
        record.weight.q[:], record.weight.momentum[:] = record.of_q[tick + 1], record.of_momentum[tick + 1]
        for _ in range(MOST_BRANCHES):
            reason = self._trial.go_back(self._tape, tick, is_left)
            if reason == OK:
                return
            if reason != OTHER_BRANCH or (is_left and tick == int(record.taken[LEFT_AT])):
                break
            tick, is_left = int(record.taken[LEFT_AT]), True
            row = record.first[max(tick - self._delay, 0)]
            self._tape = self._noted(record.q[row], record.momentum[row])
        raise InputError(_cause(reason))

    def _nearest(self) -> tuple[Kink, ...]:
        """Return the nearest kinks, with their steps."""
        record, mode, names = self._trial.record, np.full((1, self.plan.model.nc), 2), self.plan.model.contact_names
        points, joints = record.nearest, record.nearest_joint
        of_points = nearest_kinks(names, self.scene.floor, points.switch[None], mode, False)
        of_joints = nearest_joint_kinks(self.plan.model, self.plan.world.tree, joints.switch[None])
        known = [
            replace(kink, step=int(nearest.at[kink.index, kink.switch]))
            for kinks, nearest in ((of_points, points), (of_joints, joints))
            for kink in kinks
        ]
        return tuple(sorted(known, key=lambda kink: kink.share))


def _sum_of(terms: Mapping[str, float]) -> str:
    return " + ".join(f"{weight:g} {name}" for name, weight in terms.items())


def _check_clock(plan: Plan) -> None:
    clock = plan.clock
    if clock.steps % clock.steps_per_tick or clock.stride != clock.steps_per_tick:
        raise InputError(
            "gradients need whole control periods, each with one recorded row: set the duration to a multiple of the "
            "controller's period, and leave out record_every"
        )
    if int(plan.state.arrays.counts[INTO_TICK]):
        raise InputError("the state is within a control period: run to the end of the period first")
    if plan.delays_impedance:
        raise InputError("no gradient: use either actuators with lag or limited rate, or a joint impedance, not both")


def _failure(reason: int, time: float) -> InputError:
    if reason in LIMITS:
        return NoGradientError(f"no gradient: the model fell at {time:g} s", time)
    if reason in (TOO_MANY_PARTS, UNKNOWN_STEP):
        return InputError(_cause(reason))
    return NoGradientError(f"no gradient: the time step from {time:g} s on has no solution", time)


def _cause(reason: int) -> str:
    if reason == TOO_MANY_PARTS:
        return "no gradient: a time step had to be divided into more than 256 parts; choose a smaller time step"
    if reason == UNKNOWN_STEP:
        return "no gradient: the model was moved by something other than the integrator's equations"
    return (
        "no gradient: the controller's torques are not a function of configuration and velocity alone (it has a "
        "memory, or depends on forces or time), or it branches too often"
    )
