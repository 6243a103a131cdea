"""Gradients of whole trials, by adjoint: forward once, and once back."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.errors import InputError
from biped.gradients.law import LawTape, leaves_of, note_law
from biped.gradients.objectives import Trajectory, Value, Weights, evaluate
from biped.gradients.parameters import Effect, Parameter, effect_of, parameters_of
from biped.gradients.tape import Recorder
from biped.kernels.gradients.tape import evaluate_tape
from biped.kernels.gradients.trial import AT_KINKS, CHANGED, LEFT_AT, NO_ROOM, OTHER_BRANCH, TICKS, Trial
from biped.kernels.linearization.steps import TOO_MANY_PARTS, UNKNOWN_STEP
from biped.kernels.loop.closed_loop import Loop, Passive
from biped.kernels.loop.measurement import DELAY, PERFECT
from biped.kernels.state.simulation_state import INTO_TICK, SENSED
from biped.kernels.state.status import LIMITS, OK
from biped.kernels.tree.tree import MAX_EFFORT, Tree
from biped.linearization.kinks import AT_KINK, Kink, nearest_kinks
from biped.linearization.linearizer import check_scene
from biped.metrics.disturbance import start_time_of
from biped.presentation import as_html, as_text
from biped.simulation.plan import Plan
from biped.simulation.scene import Scene
from biped.simulation.snapshot import put_state
from contact.arrays import Floats
from contact.regimes import HEIGHT, PRESSURE, SLIP, SPEED, STRETCH

#: [s] Two times that differ by less are the same.
ROUNDING = 1e-9
#: Steps that may be taken in parts, of all, before there is more room for them.
SPARE = 512
#: Times that a law may be noted anew in one trial, since it branches otherwise.
MOST_BRANCHES = 64
#: Objectives of the actuators' torques.
_TORQUES = ("rms_torque", "peak_torque")
#: Those that are not measured so where the floor moves.
_ON_FLOORS_AT_REST = ("margin_of_stability_min", "margin_of_stability_end", "com_excursion")


class NoGradientError(InputError):
    """A trial that has no gradient: it fell, or a step had no solution.

    Attributes:
        time: [s] when it ended.
    """

    def __init__(self, message: str, time: float) -> None:
        super().__init__(message)
        self.time = time


@dataclass(frozen=True)
class Gradient:
    """The derivatives of one number that a trial comes to, the contact modes of all its steps held.

    Attributes:
        objective: its name; of a weighted sum, its terms.
        value: it.
        names: of the parameters.
        numbers: (parameters,) what they are.
        slopes: (parameters,) ∂(objective)/∂(parameter).
        start: (2 nv,) ∂(objective)/∂(start): displacements in tangent coordinates, then momenta.
        switched: how often a contact point went from one mode to another between two steps. Where a parameter moves
            such a change to another step, the trial jumps by a little, which no derivative knows of.
        kinks: how many kinks the trial is at, within rounding: there it has a derivative on either side, and this is
            one of them.
        nearest: the nearest kink of each contact point and kind, the nearest first.
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
        return [*slopes, ("modes changed", str(self.switched)), ("kinks met", str(self.kinks))]

    def __getitem__(self, name: str) -> float:
        return float(self.slopes[self.names.index(name)])


def gradient(scene: Scene, objective: str | Mapping[str, float], parameters: Sequence[str | Parameter]) -> Gradient:
    """The gradient of an objective of the whole scene, by adjoint.

    Its contact modes, the steps that are taken in parts, and the branches of the law are held as they are simulated;
    with these the derivative is exact, through the integrator's equations, contact, friction, and the sampled law.

    Args:
        scene: what is simulated, from its start over its duration.
        objective: one of ``DIFFERENTIABLE``, a metric; or several with their weights, of which it is the sum.
        parameters: names of the controller's numbers, ``controller.gains.kp_position[2]``, or ``Parameter``.

    Raises:
        InputError: the scene, the objective or a parameter has no gradient; the message says why.
        NoGradientError: the trial fell, or a step had no solution.
    """
    return Differentiator(scene, parameters).of(objective)


class Differentiator:
    """A scene whose trial is simulated once, and gone back through for each objective.

    Args:
        scene: as in ``gradient``.
        parameters: as there.
        effect: what the parameters change, where that is known: then only their names are taken.

    Raises:
        InputError: the scene, or a parameter, has no gradient.
        NoGradientError: the trial fell, or a step had no solution.
    """

    def __init__(self, scene: Scene, parameters: Sequence[str | Parameter], effect: Effect | None = None) -> None:
        self.scene = scene
        names = [one for one in parameters if isinstance(one, str)]
        by_name = {} if effect is not None else {one.name: one for one in parameters_of(scene, names)}
        self.plan = scene.prepare()
        self.asks = self.plan.law is not None and not isinstance(self.plan.law, Passive)
        check_scene(self.plan, scene, self.asks)
        _check_clock(self.plan)
        if effect is None:
            self.parameters = tuple(one if isinstance(one, Parameter) else by_name[one] for one in parameters)
            self.names = tuple(one.name for one in self.parameters)
            self.numbers = np.array([one.value for one in self.parameters])
            effect = effect_of(scene, self.parameters)
        else:
            self.names = tuple(one if isinstance(one, str) else one.name for one in parameters)
            self.numbers = np.full(len(self.names), np.nan)
        self.effect = effect
        self._loop = Loop(self.plan.world, self.plan.law)
        self._begin = self.plan.state.copy()
        self._tape = self._noted(self._begin.q, self._begin.momentum)
        self._forward()

    # --- forwards ---

    def _forward(self) -> None:
        clock, world = self.plan.clock, self.plan.world
        ticks = clock.steps // clock.steps_per_tick
        room = clock.steps + SPARE
        reason = NO_ROOM
        while reason == NO_ROOM:
            self._trial = Trial(self._loop, room, ticks, self._tape.tape, len(self.effect.paths))
            put_state(self._begin, self.plan.state, world)
            reason = self._trial.take(ticks, clock.steps_per_tick)
            room *= 2
        if reason != OK:
            raise _failure(reason, self.plan.state.time)
        self._end = self.plan.state.copy()
        self._delay = 0 if world.sensors.how[PERFECT] == 1 else int(world.sensors.how[DELAY])
        if self._delay and int(self._begin.arrays.counts[SENSED]):
            raise InputError("sensors that are late have seen what was before the start: begin with a run's start")
        self._kept = float(world.actuators.kept[0])
        self._limits()
        self.trajectory = self._seen()

    def _limits(self) -> None:
        """Which actuators were at their limits, and how many just so."""
        record, world = self._trial.record, self.plan.world
        before = np.vstack([self._begin.arrays.torque[None], record.held[:-1]])
        wanted = self._kept * before + (1.0 - self._kept) * record.asked
        given = np.isclose(record.held, wanted, rtol=1e-12, atol=1e-12)
        if len(world.actuators.strength) and not given.all():
            raise InputError("an actuator is at the limit of a strength that varies with its angle: no gradient")
        record.passes[:] = given
        most = world.actuators.limit
        near = np.isfinite(most) & (np.abs(np.abs(wanted) - most) < AT_KINK * most)
        self._at_limits = int(near.sum()) if world.actuators.seed[0] >= 0 else 0

    def _seen(self) -> Trajectory:
        record, point = self._trial.record, self.plan.set_point
        rows = record.first
        start = start_time_of(self.scene.disturbances)
        first = 0 if start is None else int(np.searchsorted(record.time, start - ROUNDING))
        return Trajectory(
            model=self.plan.model,
            time=record.time.copy(),
            q=record.q[rows].copy(),
            momentum=record.momentum[rows].copy(),
            torque=np.vstack([record.held, record.held[-1:]]),
            down=record.down[rows].copy(),
            first=first,
            set_point=None if point is None else (np.array(point.position), np.array(point.orientation)),
        )

    # --- the law ---

    def _noted(self, q: Floats, momentum: Floats) -> LawTape:
        if not self.asks:
            return LawTape(Recorder().tape((), ()), 0)
        plan = self.plan
        recorded = 0 if plan.controller is None else len(plan.controller.recorded)
        return _tape_of(plan.law, plan.nominal_model.tree, q, momentum, recorded, self.effect)

    # --- backwards ---

    def of(self, objective: str | Mapping[str, float]) -> Gradient:
        """The gradient of an objective of this trial.

        Raises:
            InputError: it has no gradient, or the law's torques do not follow from what it was shown.
        """
        terms = {objective: 1.0} if isinstance(objective, str) else dict(objective)
        values = {name: self._value(name) for name in terms}
        record = self._trial.record
        self._clear()
        for name, weight in terms.items():
            found = values[name][1]
            record.of_q[:] += weight * found.q
            record.of_momentum[:] += weight * found.momentum
            record.of_torque[:] += weight * found.torque
        self._back()
        position = sum(weight * values[name][1].position for name, weight in terms.items())
        impedance = np.einsum("pkj,kj->p", self.effect.impedance, record.impedance)
        slopes = self.effect.law @ record.numbers + impedance + self.effect.position @ position
        at_kinks = int(record.taken[AT_KINKS]) + self._at_limits + sum(value[1].kinks for value in values.values())
        return Gradient(
            objective=" + ".join(terms) if isinstance(objective, str) else _told(terms),
            value=sum(weight * values[name][0] for name, weight in terms.items()),
            names=self.names,
            numbers=self.numbers,
            slopes=slopes,
            start=np.concatenate([record.weight.q, record.weight.momentum]),
            switched=int(record.taken[CHANGED]),
            kinks=at_kinks,
            nearest=self._nearest(),
        )

    def weights(self, name: str) -> Weights:
        """The derivatives of an objective by the states and torques of the trial, before anything is gone back through.

        Raises:
            InputError: it has no gradient.
        """
        return self._value(name)[1]

    def _value(self, name: str) -> Value:
        state, world = self._begin.arrays, self.plan.world
        if name.startswith(_TORQUES):
            if state.stiffness.any() or state.damping.any():
                raise InputError(f"{name} has no gradient where joints have impedance, whose torques are a part of it")
            passive = world.tree.passive
            if len(passive) and np.isfinite(passive[:, MAX_EFFORT]).any():
                raise InputError(f"{name} has no gradient where joints have effort limits of their own")
        point = self.plan.set_point
        if self.plan.world.ground.motion.first.shape[0] > 1 and (
            name in _ON_FLOORS_AT_REST or (point is not None and point.on_floor)
        ):
            raise InputError(f"{name} has no gradient on a floor that moves")
        return evaluate(name, self.trajectory)

    def _clear(self) -> None:
        record = self._trial.record
        for rows in (
            *record.weight,
            record.of_q,
            record.of_momentum,
            record.of_torque,
            record.numbers,
            record.impedance,
        ):
            rows[:] = 0.0
        record.switch[:], record.at[:] = np.inf, 0
        record.taken[[AT_KINKS, CHANGED]] = 0
        scales = _scales(self.scene)
        record.scale[:] = [scales[kind] for kind in range(len(record.scale))]
        record.share[:] = self._kept, self._delay, float(self.asks)

    def _back(self) -> None:
        record, tick, is_left = self._trial.record, int(self._trial.record.taken[TICKS]) - 1, False
        put_state(self._end, self.plan.state, self.plan.world)
        record.weight.q[:], record.weight.momentum[:] = record.of_q[tick + 1], record.of_momentum[tick + 1]
        for _ in range(MOST_BRANCHES):
            reason = self._trial.go_back(self._tape.tape, tick, is_left)
            if reason == OK:
                return
            if reason != OTHER_BRANCH or (is_left and tick == int(record.taken[LEFT_AT])):
                break
            tick, is_left = int(record.taken[LEFT_AT]), True
            row = record.first[max(tick - self._delay, 0)]
            self._tape = self._noted(record.q[row], record.momentum[row])
        raise InputError(_cause(reason))

    def _nearest(self) -> tuple[Kink, ...]:
        """The nearest kinks, with the steps in which they were."""
        record, mode = self._trial.record, np.full((1, self.plan.model.nc), 2)
        names = self.plan.model.contact_names
        found = nearest_kinks(names, self.scene.floor, record.switch[None], mode, known_modes=False)
        steps = [int(record.at[kink.index, kink.switch]) for kink in found]
        return tuple(
            Kink(one.point, one.what, one.value, one.unit, step, one.share, one.switch, one.index)
            for one, step in zip(found, steps, strict=True)
        )


def _told(terms: Mapping[str, float]) -> str:
    return " + ".join(f"{weight:g} {name}" for name, weight in terms.items())


def _scales(scene: Scene) -> dict[int, float]:
    """Of switches, as ``biped.linearization.kinks`` has them."""
    millimetre = 1e-3
    force = scene.floor.k_n * millimetre
    return {PRESSURE: force, SLIP: force, SPEED: scene.floor.stiction_velocity, HEIGHT: millimetre, STRETCH: millimetre}


def _check_clock(plan: Plan) -> None:
    clock = plan.clock
    if clock.steps % clock.steps_per_tick or clock.stride != clock.steps_per_tick:
        raise InputError("gradients are of whole control periods, a row for each: duration and record_every must fit")
    if int(plan.state.arrays.counts[INTO_TICK]):
        raise InputError("the state is within a control period: run it to the end of one")


def _failure(reason: int, time: float) -> InputError:
    if reason in LIMITS:
        return NoGradientError(f"the trial fell at {time:g} s: it has no gradient", time)
    if reason in (TOO_MANY_PARTS, UNKNOWN_STEP):
        return InputError(_cause(reason))
    return NoGradientError(f"a step from {time:g} s on has no solution: the trial has no gradient", time)


def _cause(reason: int) -> str:
    if reason == TOO_MANY_PARTS:
        return "a step had to be taken in more than 256 parts: no gradient"
    if reason == UNKNOWN_STEP:
        return "something else than the equations of a step moved the model: no gradient"
    return (
        "the controller's torques do not follow from configuration and velocity alone, as its law was noted: it has a "
        "memory, looks at forces or time, or branches too often; no gradient"
    )


#: Tapes that were noted, by law and all that is constant in them: the trials of a tuning have one.
_tapes: dict[Any, LawTape] = {}
MOST_TAPES = 16
_access = threading.Lock()


def _tape_of(law: Any, tree: Tree, q: Floats, momentum: Floats, recorded: int, effect: Effect) -> LawTape:
    """The law's tape, noted at a state, or before where all branches were the same; with the law's present numbers."""
    leaves = dict(leaves_of(law))
    chosen = set(effect.paths)
    constants = tuple(number for path, number in leaves.items() if path not in chosen)
    key = type(law), effect.paths, constants, tuple(array.tobytes() for array in tree), recorded
    numbers = [leaves[path] for path in effect.paths]
    with _access:
        known = _tapes.get(key)
    found = None if known is None else _own(known, q, momentum, numbers)
    if found is None or not evaluate_tape(found.tape):
        known = note_law(law, tree, q, momentum, recorded, effect.paths)
        found = _own(known, q, momentum, numbers)
        with _access:
            _tapes.pop(key, None)
            _tapes[key] = known
            while len(_tapes) > MOST_TAPES:
                del _tapes[next(iter(_tapes))]
    return found


def _own(known: LawTape, q: Floats, momentum: Floats, numbers: list[float]) -> LawTape:
    """A tape with numbers of its own."""
    tape = known.tape._replace(value=known.tape.value.copy(), weight=known.tape.weight.copy())
    given = np.concatenate([q, np.zeros(len(momentum)), momentum, numbers])
    tape.value[: len(given)] = given
    return LawTape(tape, known.numbers)
