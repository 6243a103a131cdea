"""The closed loop: measurement, controller, and recorded steps with the joints' torques held."""

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop import log as logs
from biped.kernels.loop import projectile as projectiles
from biped.kernels.loop.estimator import Estimator, estimate, estimates, memory_of
from biped.kernels.loop.following import follow, follows
from biped.kernels.loop.measurement import Actuators, Measurement, SensorModel, apply_torques, measure, set_rest_angles
from biped.kernels.loop.part_indices import ADVANCE, APPEND_ROW, APPLY, ESTIMATE, MEASURE, MEET_BOX, PARTS, TAKE_STEPS
from biped.kernels.solve.causes import COLLISION_FAILED
from biped.kernels.state.method import advance
from biped.kernels.state.pushes import Pushes
from biped.kernels.state.simulation_state import SENSED, STEP_LENGTH, STEPS, TIME_ORIGIN, SimulationState
from biped.kernels.state.status import JOINT_TOO_FAST, LOG_FULL, OK, TOO_LOW, TOO_TILTED
from biped.kernels.step.step import count_step, time_of
from biped.kernels.tree.tree import FLOATING, Tree
from biped.kernels.variational.equations import Scratch
from contact.arrays import Floats, Integers
from contact.ground import END, START, Ground, to_floor
from contact.vectors import copy1
from kernelcache import Entry, Packed, addresses, are_ready, call, generic, kernel, number_of, part, places_of, routine


class FallLimits(NamedTuple):
    """Limits at which a run counts as a fall, documented by ``biped.Fall``."""

    height: float  # [m] least height of the root above the floor
    upright: float  # least cosine between the root's vertical axis and the world's
    rate: float  # [rad/s] greatest joint rate


# Return value of ``advance_world`` besides those of ``biped.kernels.state.status``: a thrown box is near.
BOX_IS_NEAR = 100


class World(NamedTuple):
    """All data of a closed loop, in one argument."""

    tree: Tree
    ground: Ground
    state: SimulationState
    pushes: Pushes
    scratch: Scratch
    projectile: projectiles.Projectile
    fall: FallLimits
    log: logs.Log
    sensors: SensorModel
    measurement: Measurement  # input of the controller
    torque: Floats  # (nv,) output of the controller
    actuators: Actuators
    estimator: Estimator
    parts: Integers  # (PARTS,) addresses of the parts below
    method: Any  # a method of ``biped.kernels.state.method``


#: A world without its method, with the same memory layout: parts compiled for it serve all methods.
AnyWorld = namedtuple("AnyWorld", World._fields[:-1])  # type: ignore[misc]


def interpreted(world: World, method: Any) -> World:
    """Return the world for a caller that is not compiled, with another method that is not compiled either."""
    parts: tuple[Any, ...] = advance_world, measure_part, apply_part, append_row_to, meet_box, take_steps, estimate_part
    return world._replace(method=method, parts=np.array([number_of(part) for part in parts]))


@kernel
def limit_hit(tree, ground, state, motion, fall):
    """Return the exceeded limit of a fall (root height above the floor, tilt, joint rate), or OK; needs the rates.

    The present frame of a moving floor is that of the END of the last step.
    """
    if tree.kind[0] != FLOATING:
        return OK
    if to_floor(ground, END, (state.q[0], state.q[1], state.q[2]))[2] < fall.height:
        return TOO_LOW
    if motion.poses.rotation[0, 8] < fall.upright:
        return TOO_TILTED
    for dof in range(6, state.cache.rate.shape[0]):
        if abs(motion.rates[dof]) > fall.rate:
            return JOINT_TOO_FAST
    return OK


@generic("law")
def control(law, measurement, torque, recorded):
    """Compute the controller's torques at a control tick from ``measurement``.

    The law may write to all arguments. ``torque`` (nv,) [N·m] has an entry for each degree of freedom, zero before.
    ``recorded`` takes the numbers named by the controller's ``recorded``, which appear in the rows until the next tick.
    """


class Passive(NamedTuple):
    """The law of a plant without a controller."""


class AtRest(NamedTuple):
    """The law of a plant with actuators but no controller: zero torques at every tick."""


@control.register(AtRest)
def ask_for_no_torques(law, measurement, torque, recorded):
    """Leave the torques at zero."""


@kernel
def reason_to_stop(world, period):
    """Return the exceeded limit of a fall, LOG_FULL or OK; needs the rates if joint rates have a limit."""
    reason = limit_hit(world.tree, world.ground, world.state, world.scratch.motion, world.fall)
    if reason == OK and logs.is_full(world.log, period):
        return LOG_FULL
    return reason


# Values of ``shows`` in ``measure_part``.
NOT_SHOWN = 0
SHOWN = 1
ALWAYS_SHOWN = 2


@part
def measure_part(world, period, shows):
    """Return a limit of a fall or LOG_FULL if the loop must stop before ``period`` more steps, else OK.

    ``world.measurement`` is written with SHOWN if the loop continues, with ALWAYS_SHOWN in any case. A sway-referenced
    floor is moved first.
    """
    motion = world.scratch.motion
    if period > 0 and follows(world.ground.motion):
        follow(world.tree, world.ground, world.state, motion.poses, period)
    if shows or world.fall.rate < math.inf:
        logs.observe(world.tree, world.state, motion, world.log)
    reason = reason_to_stop(world, period)
    if shows == ALWAYS_SHOWN or (shows == SHOWN and reason == OK):
        measure(world.tree, world.state, motion, world.sensors, world.actuators, world.measurement)
        if estimates(world.estimator):
            call(world.parts[ESTIMATE], world)
        world.torque[:] = 0.0
    return reason


@part
def estimate_part(world):
    """Replace the measurement by the estimate of the present state."""
    estimate(world.estimator, world.state, world.sensors, world.torque, world.measurement)
    return OK


@part
def apply_part(world):
    """Apply the torques in ``world.torque``, until the next tick."""
    set_rest_angles(world.tree, world.state, world.actuators, world.measurement, world.torque)
    apply_torques(world.tree, world.state, world.scratch.motion.rates, world.actuators, world.torque)
    return OK


@part
def ask(law, world):
    """Call ``control``: the part that is compiled for each class of control laws."""
    control(law, world.measurement, world.torque, world.log.extra)
    return OK


@kernel
def append_row(tree, ground, state, scratch, projectile, estimator, log):
    """Append a row for the present state."""
    logs.observe(tree, state, scratch.motion, log)
    logs.record_row(tree, ground, state, scratch.motion, log, time_of(state))
    row, layout = log.rows[log.cursor[logs.ROWS] - 1], log.layout
    logs.record_more(tree, state, scratch, log.more, row, layout.integrator)
    if layout.platform != logs.ABSENT:
        frame = ground.frame[START]
        copy1(frame[0:3], row[layout.platform :])
        copy1(frame[12:16], row[layout.platform + 3 :])
    if layout.projectile != logs.ABSENT:
        copy1(projectile.state[0:7], row[layout.projectile :])
    if layout.estimate != logs.ABSENT:
        copy1(estimator.state.q, row[layout.estimate :])
        copy1(estimator.capture, row[layout.estimate + state.q.shape[0] :])


@part
def append_row_to(world):
    """Call ``append_row``, as a part."""
    append_row(world.tree, world.ground, world.state, world.scratch, world.projectile, world.estimator, world.log)
    return OK


@part
def advance_world(world, steps, begin, h):
    """Take ``steps`` recorded steps; stop with BOX_IS_NEAR before a step that may meet a thrown box.

    With ``steps`` zero only ``advance`` from ``begin`` by ``h``. This is the only part that depends on the method.
    """
    state, projectile = world.state, world.projectile
    has_box = steps > 0 and projectile.status[projectiles.ARMED] == 1
    for _ in range(max(steps, 1)):
        if steps > 0:
            if state.counts[STEPS] % world.log.cursor[logs.STRIDE] == 0:
                call(world.parts[APPEND_ROW], world)
            begin, h = time_of(state), state.clock[STEP_LENGTH]
            if has_box and not projectiles.passes(world.tree, state, world.scratch.motion.poses, projectile, h):
                return BOX_IS_NEAR
        reason = advance(world.tree, world.ground, state, world.pushes, world.scratch, world.method, begin, h)
        if steps == 0 or reason != OK:
            return reason
        if has_box and not projectiles.fly_projectile(world.tree, projectile, h):
            return COLLISION_FAILED
        finish_step(world)
    return OK


@kernel
def finish_step(world):
    """Count the step and log changes of contact."""
    count_step(world.state)
    logs.log_contact_changes(world.state, world.log, time_of(world.state))


@part
def meet_box(world):
    """Take one step of the tree and of the thrown box, in two parts with the collision between them if they meet."""
    tree, state, motion, projectile = world.tree, world.state, world.scratch.motion, world.projectile
    begin, h = time_of(state), state.clock[STEP_LENGTH]
    length = projectiles.time_before_impact(tree, state, motion.poses, projectile, h)
    rest = h - length
    for _ in range(2):
        if length > 0.0:
            reason = call(world.parts[ADVANCE], world, 0, begin, length)
            if reason != OK:
                state.clock[TIME_ORIGIN] += begin - time_of(state)  # box and tree are at the collision
                return reason
            if not projectiles.fly_projectile(tree, projectile, length):
                return COLLISION_FAILED
        if rest == 0.0:
            break
        begin += length
        if projectiles.collide(tree, state, motion, projectile, world.log, begin) != OK:
            return COLLISION_FAILED
        projectile.state[projectiles.ELAPSED] = rest
        length, rest = rest, 0.0
    return OK


@kernel
def take_step(world):
    """Take one step of the tree, and of the thrown box if there is one."""
    if world.projectile.status[projectiles.ARMED] == 1:
        reason = call(world.parts[MEET_BOX], world)
    else:
        reason = call(world.parts[ADVANCE], world, 0, time_of(world.state), world.state.clock[STEP_LENGTH])
    if reason == OK:
        finish_step(world)
    return reason


@part
def take_steps(world, steps):
    """Take ``steps`` steps and record every ``stride``-th state before the step; return OK or a cause of failure."""
    end = world.state.counts[STEPS] + steps
    while world.state.counts[STEPS] < end:
        reason = call(world.parts[ADVANCE], world, end - world.state.counts[STEPS], 0.0, 0.0)
        if reason == BOX_IS_NEAR:
            reason = take_step(world)
        if reason != OK:
            return reason
    return OK


# The address that stands for no controller, and the key of the controller's part in ``_uses``.
NOT_ASKED = -1
ASK = PARTS


@routine
def run_ticks(parts, world, asked, law, ticks, period, steps):
    """Run the closed loop; return the number of ticks done and the reason to stop.

    ``parts`` are addresses of the loop's parts; ``asked`` is that of ``ask``, or NOT_ASKED. Of the ``period`` steps of
    a tick, ``steps`` are taken.
    """
    for done in range(ticks):
        reason = call(parts[MEASURE], world, period, NOT_SHOWN if asked == NOT_ASKED else SHOWN)
        if reason == OK:
            if asked != NOT_ASKED:
                call(asked, law, world)
                call(parts[APPLY], world)
            reason = call(parts[TAKE_STEPS], world, steps)
        if reason != OK:
            return done, reason
    return ticks, OK


@routine
def hold_each(parts, worlds, period, reasons, begin, end):
    """Advance the worlds from ``begin`` to before ``end`` by a control period with their torques, then measure them.

    Args:
        parts: (worlds, PARTS) addresses of the parts of each world.
        worlds: (worlds,) addresses.
        period: steps of a control period.
        reasons: (worlds,) reasons to stop; a world whose reason is not OK is not advanced.
        begin: first world.
        end: end of the worlds, exclusive.
    """
    for k in range(begin, end):
        if reasons[k] == OK:
            call(parts[k, APPLY], worlds[k])
            reason = call(parts[k, TAKE_STEPS], worlds[k], period)
            seen = call(parts[k, MEASURE], worlds[k], period, ALWAYS_SHOWN)
            reasons[k] = seen if reason == OK else reason


class Loop:
    """A world and a control law, ready to run; the constructor compiles or loads all kernels.

    Args:
        world: the world to advance.
        law: the control law, or None.
        internal: the world of the estimator's internal simulation, if there is one.

    Attributes:
        packed: the packed world, the argument of the parts.
        place: memory address of ``packed``.
    """

    def __init__(self, world: World, law: Any, internal: World | None = None) -> None:
        self.world, self.law = world, law
        self._internal: Loop | None = None
        if internal is not None:
            self._internal = Loop(internal, None)
            world.estimator.place[:1] = places_of([self._internal.packed])
            world.estimator.place[1:] = internal.parts
        self.packed: Packed = _seen(Packed(world))
        self._law = _packed_law(law)
        self.place, self.law_address = self.packed.place, self._law.place
        uses = _uses(Packed(world), self._law)
        calls = dict(zip(uses, addresses(list(uses.values())), strict=True))
        self.asked = int(calls.pop(ASK, NOT_ASKED))
        world.parts[list(calls)] = list(calls.values())
        self._measure, self._apply = Entry(measure_part, self.packed, 0, 0), Entry(apply_part, self.packed)
        self._append_row = Entry(append_row_to, self.packed)
        self._take_steps = Entry(take_steps, self.packed, 0)
        self.run(0, 1, 1)
        self.rollout(0)

    def run(self, ticks: int, period: int, steps: int) -> tuple[int, int]:
        """Run control ticks of ``period`` steps; return the number of completed ticks, and OK or a reason to stop.

        ``steps`` is ``period``, or 0 if only torques are computed, and the steps are taken elsewhere.
        """
        done, reason = run_ticks(self.world.parts, self.place, self.asked, self.law_address, ticks, period, steps)
        return int(done), int(reason)

    def rollout(self, steps: int) -> int:
        """Take ``steps`` steps with the present torques; return OK or a cause of failure."""
        return self._take_steps(steps)

    def measure(self, period: int, shows: int) -> int:
        """Begin a tick with a measurement, for a controller that is not compiled; return OK or a reason to stop."""
        return self._measure(period, shows)

    def begin(self, period: int) -> int:
        """Begin a run for ``hold_each``, which ends every tick with the measurement of the next."""
        return self._measure(period, ALWAYS_SHOWN)

    def look(self) -> int:
        """Measure the present state without changing it; return a limit of a fall, or OK."""
        counts, past, depth = self.world.state.counts, self.world.state.past, int(self.world.sensors.depth[0])
        sensed = counts[SENSED]
        written = [sensed % depth, *range(depth, past.shape[0])]
        before, memory = past[written], memory_of(self.world.estimator, self.world.torque)
        arrays = [(array, array.copy()) for array in memory]
        reason = self._measure(0, ALWAYS_SHOWN)
        past[written] = before
        for array, copied in arrays:
            array[...] = copied
        counts[SENSED] = sensed
        return reason

    def apply_torques(self) -> None:
        """End the measurement of a tick by applying the torques in ``world.torque``."""
        self._apply()

    def record(self) -> None:
        """Append a row for the present state."""
        self._append_row()


def record(world: World) -> None:
    """Append a row for the present state of a world for which a ``Loop`` has been made."""
    Entry(append_row_to, _seen(Packed(world)))()


def is_ready(world: World, law: Any) -> bool:
    """Return True if ``Loop`` has nothing to compile."""
    return are_ready(list(_uses(Packed(world), _packed_law(law)).values()))


def _seen(world: Packed) -> Packed:
    return world.seen_as(AnyWorld)


def _packed_law(law: Any) -> Packed:
    return Packed(Passive() if law is None else law)


def _uses(stepped: Packed, law: Packed) -> dict[int, tuple[Any, ...]]:
    """Return each part that is needed with its arguments, by its index in ``World.parts`` or ``ASK``."""
    world = _seen(stepped)
    uses: dict[int, tuple[Any, ...]] = {
        ADVANCE: (advance_world, stepped, 0, 0.0, 0.0), MEASURE: (measure_part, world, 0, 0),
        APPLY: (apply_part, world), APPEND_ROW: (append_row_to, world), TAKE_STEPS: (take_steps, world, 0),
    }  # fmt: skip
    if world.value.projectile.status[projectiles.ARMED] == 1:
        uses[MEET_BOX] = meet_box, world
    if estimates(world.value.estimator):
        uses[ESTIMATE] = estimate_part, world
    if not isinstance(law.value, Passive):
        uses[ASK] = ask, law, world
    return uses
