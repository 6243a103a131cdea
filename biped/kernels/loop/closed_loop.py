"""The plant between two control ticks: steps with the joints' torques held, recorded as they go."""

import math
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop.following import follow, follows
from biped.kernels.loop.log import (
    ABSENT,
    ROWS,
    STRIDE,
    Log,
    is_full,
    log_contact_changes,
    observe,
    record_more,
    record_row,
)
from biped.kernels.loop.measurement import Actuators, Measurement, SensorModel, apply_torques, measure
from biped.kernels.loop.projectile import (
    ARMED,
    ELAPSED,
    Projectile,
    collide,
    fly_projectile,
    passes,
    time_before_impact,
)
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
from kernelcache import (
    Entry,
    Packed,
    addresses,
    are_ready,
    call,
    generic,
    kernel,
    number_of,
    part,
    routine,
)


class FallLimits(NamedTuple):
    """Beyond these the tree has fallen; ``biped.Fall`` documents them."""

    height: float  # [m] least height of the root above the floor
    upright: float  # least cosine between the root's vertical axis and the world's
    rate: float  # [rad/s] greatest joint rate


# What ``advance_world`` gives back, besides what ``biped.kernels.state.status`` lists: a thrown box is near.
BOX_IS_NEAR = 100

# Places in ``World.parts``.
ADVANCE = 0
MEASURE = 1
APPLY = 2
APPEND_ROW = 3
MEET_BOX = 4
TAKE_STEPS = 5
PARTS = 6


class World(NamedTuple):
    """All that a closed loop advances, in one argument."""

    tree: Tree
    ground: Ground
    state: SimulationState
    pushes: Pushes
    scratch: Scratch
    projectile: Projectile
    fall: FallLimits
    log: Log
    sensors: SensorModel
    measurement: Measurement  # input of the controller
    torque: Floats  # (nv,) output of the controller
    actuators: Actuators
    parts: Integers  # (PARTS,) addresses of the parts below
    method: Any  # one of ``biped.kernels.state.method``


#: A world of any method: what is compiled for it serves all methods. It begins in memory as a ``World`` does.
AnyWorld = namedtuple("AnyWorld", World._fields[:-1])  # type: ignore[misc]


def interpreted(world: World, method: Any) -> World:
    """Return the world for a caller that is interpreted, with another method, which is too."""
    parts: tuple[Any, ...] = advance_world, measure_part, apply_part, append_row_to, meet_box, take_steps
    return world._replace(method=method, parts=np.array([number_of(one) for one in parts]))


@kernel
def limit_hit(tree, ground, state, motion, fall):
    """The limit of a fall that is hit: the root's height above the floor, its tilt, a joint's rate; needs the rates.

    ``ground`` has the present frame of a moving floor as the END of the last step.
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
    """What a controller does at a control tick: from ``measurement`` to the torques that it asks for.

    All of the arguments are its own, to write as it likes. ``torque`` (nv,) [N·m] has an entry for each degree of
    freedom, zero before. ``recorded`` is for the numbers that the controller's ``recorded`` names: they stand in the
    rows until the next tick.
    """


class Passive(NamedTuple):
    """The law of a plant that is left to itself."""


class AtRest(NamedTuple):
    """The law of one whose actuators are asked for nothing, at every tick."""


@control.register(AtRest)
def ask_for_no_torques(law, measurement, torque, recorded):
    """They are zero before."""


@kernel
def reason_to_stop(world, period):
    """A limit of a fall, LOG_FULL or OK; needs the rates, if a joint can be too fast at all."""
    reason = limit_hit(world.tree, world.ground, world.state, world.scratch.motion, world.fall)
    if reason == OK and is_full(world.log, period):
        return LOG_FULL
    return reason


# What ``measure_part`` shows a controller.
NOT_SHOWN = 0
SHOWN = 1
SHOWN_ANYWAY = 2


@part
def measure_part(world, period, shows):
    """Return a limit of a fall or LOG_FULL if the loop must stop before ``period`` more steps, else OK.

    With ``shows`` the controller is shown the plant in ``world.measurement``: with SHOWN if the loop goes on, with
    SHOWN_ANYWAY in any case. A floor that turns with the body follows it first.
    """
    motion = world.scratch.motion
    if period > 0 and follows(world.ground.motion):
        follow(world.tree, world.ground, world.state, motion.poses, period)
    if shows or world.fall.rate < math.inf:
        observe(world.tree, world.state, motion, world.log)
    reason = reason_to_stop(world, period)
    if shows == SHOWN_ANYWAY or (shows == SHOWN and reason == OK):
        measure(world.tree, world.state, motion, world.sensors, world.actuators, world.measurement)
        world.torque[:] = 0.0
    return reason


@part
def apply_part(world):
    """Apply the torques in ``world.torque``, until the next tick."""
    apply_torques(world.tree, world.state, world.scratch.motion.rates, world.actuators, world.torque)
    return OK


@part
def ask(law, world):
    """``control`` as a part, compiled for each class of laws."""
    control(law, world.measurement, world.torque, world.log.extra)
    return OK


@kernel
def append_row(tree, ground, state, scratch, projectile, log):
    """Append a row for the present state."""
    observe(tree, state, scratch.motion, log)
    record_row(tree, ground, state, scratch.motion, log, time_of(state))
    row, layout = log.rows[log.cursor[ROWS] - 1], log.layout
    record_more(tree, state, scratch, log.more, row, layout.integrator)
    if layout.platform != ABSENT:
        frame = ground.frame[START]
        copy1(frame[0:3], row[layout.platform :])
        copy1(frame[12:16], row[layout.platform + 3 :])
    if layout.projectile != ABSENT:
        copy1(projectile.state[0:7], row[layout.projectile :])


@part
def append_row_to(world):
    """``append_row`` as a part."""
    append_row(world.tree, world.ground, world.state, world.scratch, world.projectile, world.log)
    return OK


@part
def advance_world(world, steps, begin, h):
    """Take ``steps`` recorded steps, or those before the first that may meet a thrown box, which is BOX_IS_NEAR.

    With no steps only ``advance`` from ``begin`` by ``h``. The only part that knows the method.
    """
    state, projectile = world.state, world.projectile
    has_box = steps > 0 and projectile.status[ARMED] == 1
    for _ in range(max(steps, 1)):
        if steps > 0:
            if state.counts[STEPS] % world.log.cursor[STRIDE] == 0:
                call(world.parts[APPEND_ROW], world)
            begin, h = time_of(state), state.clock[STEP_LENGTH]
            if has_box and not passes(world.tree, state, world.scratch.motion.poses, projectile, h):
                return BOX_IS_NEAR
        reason = advance(world.tree, world.ground, state, world.pushes, world.scratch, world.method, begin, h)
        if steps == 0 or reason != OK:
            return reason
        if has_box and not fly_projectile(world.tree, projectile, h):
            return COLLISION_FAILED
        finish_step(world)
    return OK


@kernel
def finish_step(world):
    """Count the step that was taken, and log what touched or lifted."""
    count_step(world.state)
    log_contact_changes(world.state, world.log, time_of(world.state))


@part
def meet_box(world):
    """Take one step of the tree and of the thrown box: in two parts with the collision between them if they meet."""
    tree, state, motion, projectile = world.tree, world.state, world.scratch.motion, world.projectile
    begin, h = time_of(state), state.clock[STEP_LENGTH]
    length = time_before_impact(tree, state, motion.poses, projectile, h)
    rest = h - length
    for _ in range(2):
        if length > 0.0:
            reason = call(world.parts[ADVANCE], world, 0, begin, length)
            if reason != OK:
                state.clock[TIME_ORIGIN] += begin - time_of(state)  # box and tree are where they collided
                return reason
            if not fly_projectile(tree, projectile, length):
                return COLLISION_FAILED
        if rest == 0.0:
            break
        begin += length
        if collide(tree, state, motion, projectile, world.log, begin) != OK:
            return COLLISION_FAILED
        projectile.state[ELAPSED] = rest
        length, rest = rest, 0.0
    return OK


@kernel
def take_step(world):
    """Take one step of the tree, and of the thrown box if there is one."""
    if world.projectile.status[ARMED] == 1:
        reason = call(world.parts[MEET_BOX], world)
    else:
        reason = call(world.parts[ADVANCE], world, 0, time_of(world.state), world.state.clock[STEP_LENGTH])
    if reason == OK:
        finish_step(world)
    return reason


@part
def take_steps(world, steps):
    """Take ``steps`` steps, recording every ``stride``-th state before it is left; OK, or a cause of failure."""
    end = world.state.counts[STEPS] + steps
    while world.state.counts[STEPS] < end:
        reason = call(world.parts[ADVANCE], world, end - world.state.counts[STEPS], 0.0, 0.0)
        if reason == BOX_IS_NEAR:
            reason = take_step(world)
        if reason != OK:
            return reason
    return OK


# The address of a controller that is not there, and where that of one is among the parts.
NOBODY = -1
ASK = PARTS


@routine
def run_ticks(parts, world, asked, law, ticks, period):
    """Run the closed loop, by addresses; ``asked`` is that of ``ask``, and NOBODY where there is no controller."""
    for done in range(ticks):
        reason = call(parts[MEASURE], world, period, NOT_SHOWN if asked == NOBODY else SHOWN)
        if reason == OK:
            if asked != NOBODY:
                call(asked, law, world)
                call(parts[APPLY], world)
            reason = call(parts[TAKE_STEPS], world, period)
        if reason != OK:
            return done, reason
    return ticks, OK


@routine
def hold_each(parts, worlds, period, reasons, begin, end):
    """Take a control period of the worlds from ``begin`` to ``end``, with the torques that are in them; then measure.

    Args:
        parts: (worlds, PARTS) those of each.
        worlds: (worlds,) addresses.
        period: steps.
        reasons: (worlds,) why each ended; a world that has ended, and whose reason is not OK, stays where it is.
        begin: first world.
        end: behind the last.
    """
    for k in range(begin, end):
        if reasons[k] == OK:
            call(parts[k, APPLY], worlds[k])
            reason = call(parts[k, TAKE_STEPS], worlds[k], period)
            seen = call(parts[k, MEASURE], worlds[k], period, SHOWN_ANYWAY)
            reasons[k] = seen if reason == OK else reason


class Loop:
    """A world and a law, ready to run: everything is compiled, or loaded, once it is made.

    Args:
        world: what it advances.
        law: of the controller, or None.

    Attributes:
        packed: what parts work on.
        place: its address.
    """

    def __init__(self, world: World, law: Any) -> None:
        self.world, self.law = world, law
        self.packed, self._law = _seen(Packed(world)), _packed_law(law)
        self.place, self.law_address = self.packed.place, self._law.place
        uses = _uses(Packed(world), self._law)
        found = dict(zip(uses, addresses(list(uses.values())), strict=True))
        self.asked = int(found.pop(ASK, NOBODY))
        world.parts[list(found)] = list(found.values())
        self._measure, self._apply = Entry(measure_part, self.packed, 0, 0), Entry(apply_part, self.packed)
        self._append_row = Entry(append_row_to, self.packed)
        self._take_steps = Entry(take_steps, self.packed, 0)
        self.run(0, 1)
        self.rollout(0)

    def run(self, ticks: int, period: int) -> tuple[int, int]:
        """``ticks`` control ticks of ``steps_per_tick`` steps; how many were done, and why it ended."""
        done, reason = run_ticks(self.world.parts, self.place, self.asked, self.law_address, ticks, period)
        return int(done), int(reason)

    def rollout(self, steps: int) -> int:
        """Take ``steps`` steps with the torques as they are; OK, or a cause of failure."""
        return self._take_steps(steps)

    def measure(self, period: int, shows: int) -> int:
        """The start of a tick, for a controller that is not compiled."""
        return self._measure(period, shows)

    def begin(self, period: int) -> int:
        """The start of a run for ``hold_each``, which ends every tick with that of the next."""
        return self._measure(period, SHOWN_ANYWAY)

    def look(self) -> int:
        """A limit of a fall or OK, and what a controller would be shown; it changes nothing, and can be done again."""
        counts, past, depth = self.world.state.counts, self.world.state.past, int(self.world.sensors.depth[0])
        sensed = counts[SENSED]
        written = [sensed % depth, *range(depth, past.shape[0])]
        before = past[written]
        reason = self._measure(0, SHOWN_ANYWAY)
        past[written] = before
        counts[SENSED] = sensed
        return reason

    def apply_torques(self) -> None:
        """The end of it."""
        self._apply()

    def record(self) -> None:
        """Append a row for the present state."""
        self._append_row()


def record(world: World) -> None:
    """Append a row for the present state of a world that a ``Loop`` is there for."""
    Entry(append_row_to, _seen(Packed(world)))()


def is_ready(world: World, law: Any) -> bool:
    """Return whether ``Loop`` compiles nothing."""
    return are_ready(list(_uses(Packed(world), _packed_law(law)).values()))


def _seen(world: Packed) -> Packed:
    return world.seen_as(AnyWorld)


def _packed_law(law: Any) -> Packed:
    return Packed(Passive() if law is None else law)


def _uses(stepped: Packed, law: Packed) -> dict[int, tuple[Any, ...]]:
    """Each part that is needed and what it is called with, by its place in ``World.parts``, and ``ask``."""
    world = _seen(stepped)
    uses: dict[int, tuple[Any, ...]] = {
        ADVANCE: (advance_world, stepped, 0, 0.0, 0.0), MEASURE: (measure_part, world, 0, 0),
        APPLY: (apply_part, world), APPEND_ROW: (append_row_to, world), TAKE_STEPS: (take_steps, world, 0),
    }  # fmt: skip
    if world.value.projectile.status[ARMED] == 1:
        uses[MEET_BOX] = meet_box, world
    if not isinstance(law.value, Passive):
        uses[ASK] = ask, law, world
    return uses
