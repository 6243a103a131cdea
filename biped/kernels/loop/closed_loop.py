"""The plant between two control ticks: steps with the joints' torques held, recorded as they go."""

import math
from collections.abc import Sequence
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
    Call,
    Entry,
    Packed,
    addresses,
    are_ready,
    call,
    generic,
    kernel,
    loaded,
    number_of,
    part,
    part_for_each,
    routine,
    unpacked,
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
    method: Any  # one of ``biped.kernels.state.method``
    projectile: Projectile
    fall: FallLimits
    log: Log
    sensors: SensorModel
    measurement: Measurement  # what the controller is told
    torque: Floats  # (nv,) what it asks for
    actuators: Actuators
    parts: Integers  # (PARTS,) addresses of what is compiled by itself


class CommonWorld(NamedTuple):
    """The world but for the method: what works on it is compiled once for all of them."""

    tree: Tree
    ground: Ground
    state: SimulationState
    pushes: Pushes
    scratch: Scratch
    projectile: Projectile
    fall: FallLimits
    log: Log
    sensors: SensorModel
    measurement: Measurement
    torque: Floats
    actuators: Actuators
    parts: Integers


def common_of(world: World) -> CommonWorld:
    """The world but for the method."""
    return CommonWorld(**{name: getattr(world, name) for name in CommonWorld._fields})


def interpreted(world: World, method: Any) -> World:
    """The same world for a caller that is interpreted, with another method, which is too."""
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


# Below, what branches or loops takes addresses.


@kernel
def observe_in(place):
    common = unpacked(place)
    observe(common.tree, common.state, common.scratch.motion, common.log)


@kernel
def reason_in(place, period):
    return reason_to_stop(unpacked(place), period)


@kernel
def is_followed_by_floor(place):
    return follows(unpacked(place).ground.motion)


@kernel
def let_floor_follow(place, period):
    common = unpacked(place)
    follow(common.tree, common.ground, common.state, common.scratch.motion.poses, period)


@kernel
def is_rate_limited(place):
    return unpacked(place).fall.rate < math.inf


@kernel
def measure_in(place):
    common = unpacked(place)
    measure(common.tree, common.state, common.scratch.motion, common.sensors, common.actuators, common.measurement)


@kernel
def ask_for_nothing(place):
    torque = unpacked(place).torque
    for dof in range(torque.shape[0]):
        torque[dof] = 0.0


# What ``measure_part`` shows a controller.
NOT_SHOWN = 0
SHOWN = 1
SHOWN_ANYWAY = 2


@part
def measure_part(place, period, shows):
    """A limit of a fall or LOG_FULL if the loop must stop before ``period`` more steps, else OK.

    With ``shows`` the controller is shown the plant, and finds it in ``world.measurement``: SHOWN if the loop goes on,
    SHOWN_ANYWAY in any case. A floor that turns with the body sees it, too.
    """
    if period > 0 and is_followed_by_floor(place):
        let_floor_follow(place, period)
    if shows or is_rate_limited(place):
        observe_in(place)
    reason = reason_in(place, period)
    if shows == SHOWN_ANYWAY or (shows == SHOWN and reason == OK):
        measure_in(place)
        ask_for_nothing(place)
    return reason


@part
def apply_part(place):
    """Apply the torques in ``world.torque``, until the next tick."""
    common = unpacked(place)
    apply_torques(common.tree, common.state, common.scratch.motion.rates, common.actuators, common.torque)
    return OK


@part_for_each
def ask(law, place):
    """``control`` as a part: one for each class of laws."""
    common = unpacked(place)
    control(loaded(law), common.measurement, common.torque, common.log.extra)
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
def append_row_to(place):
    """``append_row`` as a part."""
    common = unpacked(place)
    append_row(common.tree, common.ground, common.state, common.scratch, common.projectile, common.log)
    return OK


@kernel
def now_in(place):
    """Time, and length of a step [s]."""
    state = unpacked(place).state
    return time_of(state), state.clock[STEP_LENGTH]


@kernel
def set_back(place, begin):
    """After an impact, box and tree are where they collided."""
    state = unpacked(place).state
    state.clock[TIME_ORIGIN] += begin - time_of(state)


@kernel
def impact_in(place, h):
    common = unpacked(place)
    return time_before_impact(common.tree, common.state, common.scratch.motion.poses, common.projectile, h)


@kernel
def fly_in(place, h):
    common = unpacked(place)
    return fly_projectile(common.tree, common.projectile, h)


@kernel
def collide_in(place, begin, rest):
    common = unpacked(place)
    outcome = collide(common.tree, common.state, common.scratch.motion, common.projectile, common.log, begin)
    if outcome == OK:
        unpacked(place).projectile.state[ELAPSED] = rest
    return outcome


@part
def meet_box(place, whole):
    """One step of the tree and of the thrown box: in two parts with the collision between them if they meet."""
    begin, h = now_in(place)
    part_of_it = impact_in(place, h)
    rest = h - part_of_it
    for _ in range(2):
        if part_of_it > 0.0:
            reason = call(part_in(place, ADVANCE), whole, place, 0, begin, part_of_it)
            if reason != OK:
                set_back(place, begin)
                return reason
            if not fly_in(place, part_of_it):
                return COLLISION_FAILED
        if rest == 0.0:
            break
        begin += part_of_it
        if collide_in(place, begin, rest) != OK:
            return COLLISION_FAILED
        part_of_it, rest = rest, 0.0
    return OK


@kernel
def part_in(place, number):
    return unpacked(place).parts[number]


@kernel
def is_armed(place):
    return unpacked(place).projectile.status[ARMED] == 1


@kernel
def finish_step(place):
    common = unpacked(place)
    count_step(common.state)
    log_contact_changes(common.state, common.log, time_of(common.state))


@kernel
def is_row_due(place):
    common = unpacked(place)
    return common.state.counts[STEPS] % common.log.cursor[STRIDE] == 0


@kernel
def record_if_due(place):
    if is_row_due(place):
        call(part_in(place, APPEND_ROW), place)


@kernel
def box_passes(place, h):
    common = unpacked(place)
    return passes(common.tree, common.state, common.scratch.motion.poses, common.projectile, h)


@kernel
def steps_done(place):
    return unpacked(place).state.counts[STEPS]


@part
def advance_world(whole, place, steps, begin, h):
    """``steps`` steps, recorded, or those before the first in which a thrown box may be met, which is BOX_IS_NEAR.

    With no steps only ``advance`` from ``begin`` by ``h``. The only part that knows the method. It takes several steps
    at once because it takes a while to get at the arrays.
    """
    world = loaded(whole)
    tree, ground, state, pushes, scratch = world.tree, world.ground, world.state, world.pushes, world.scratch
    method = world.method
    has_box = steps > 0 and is_armed(place)
    for _ in range(max(steps, 1)):
        if steps > 0:
            record_if_due(place)
            begin, h = now_in(place)
            if has_box and not box_passes(place, h):
                return BOX_IS_NEAR
        reason = advance(tree, ground, state, pushes, scratch, method, begin, h)
        if steps == 0 or reason != OK:
            return reason
        if has_box and not fly_in(place, h):
            return COLLISION_FAILED
        finish_step(place)
    return OK


@kernel
def take_step(place, whole):
    """One step of the tree, and of the thrown box if there is one."""
    if is_armed(place):
        reason = call(part_in(place, MEET_BOX), place, whole)
    else:
        begin, h = now_in(place)
        reason = call(part_in(place, ADVANCE), whole, place, 0, begin, h)
    if reason == OK:
        finish_step(place)
    return reason


@part
def take_steps(place, whole, steps):
    """Take ``steps`` steps, recording every ``stride``-th state before it is left; OK, or a cause of failure."""
    end = steps_done(place) + steps
    while steps_done(place) < end:
        reason = call(part_in(place, ADVANCE), whole, place, end - steps_done(place), 0.0, 0.0)
        if reason == BOX_IS_NEAR:
            reason = take_step(place, whole)
        if reason != OK:
            return reason
    return OK


# The address of a controller that is not there, and where that of one is among the parts.
NOBODY = -1
ASK = PARTS


@routine
def run_ticks(parts, common, whole, asked, law, ticks, period):
    """The closed loop by addresses; ``asked`` is that of ``ask``, and NOBODY where there is no controller."""
    for done in range(ticks):
        reason = call(parts[MEASURE], common, period, NOT_SHOWN if asked == NOBODY else SHOWN)
        if reason == OK:
            if asked != NOBODY:
                call(asked, law, common)
                call(parts[APPLY], common)
            reason = call(parts[TAKE_STEPS], common, whole, period)
        if reason != OK:
            return done, reason
    return ticks, OK


@routine
def hold_each(parts, common, whole, period, reasons, begin, end):
    """A control period of the worlds from ``begin`` to ``end``, with the torques that are in them, and a look at them.

    Args:
        parts: (worlds, PARTS) those of each.
        common: (worlds,) addresses.
        whole: (worlds,) addresses.
        period: steps.
        reasons: (worlds,) why each ended; those that have, and are not OK, stay where they are.
        begin: first world.
        end: behind the last.
    """
    for k in range(begin, end):
        if reasons[k] == OK:
            call(parts[k, APPLY], common[k])
            reason = call(parts[k, TAKE_STEPS], common[k], whole[k], period)
            seen = call(parts[k, MEASURE], common[k], period, SHOWN_ANYWAY)
            reasons[k] = seen if reason == OK else reason


class Loop:
    """A world and a law, ready to run: everything is compiled, or loaded, once it is made.

    Args:
        world: what it advances.
        law: of the controller, or None.
        beside: what compiles more that will be needed, on other cores.

    Attributes:
        packed: what parts work on: the world but for its method, and all of it.
    """

    def __init__(self, world: World, law: Any, beside: Sequence[Call] = ()) -> None:
        self.world, self.law = world, law
        self.packed = common, whole = Packed(common_of(world)), Packed(world)
        self._law = _packed_law(law)
        self.common, self.whole, self.law_address = common.place, whole.place, self._law.place
        uses = _uses(common, whole, self._law)
        found = dict(zip(uses, addresses(list(uses.values()), beside), strict=True))
        self.asked = int(found.pop(ASK, NOBODY))
        world.parts[list(found)] = list(found.values())
        self._measure, self._apply = Entry(*uses[MEASURE]), Entry(*uses[APPLY])
        self._append_row, self._take_steps = Entry(*uses[APPEND_ROW]), Entry(*uses[TAKE_STEPS])
        self.run(0, 1)
        self.rollout(0)

    def run(self, ticks: int, period: int) -> tuple[int, int]:
        """``ticks`` control ticks of ``steps_per_tick`` steps; how many were done, and why it ended."""
        done, reason = run_ticks(self.world.parts, self.common, self.whole, self.asked, self.law_address, ticks, period)
        return int(done), int(reason)

    def rollout(self, steps: int) -> int:
        """Take ``steps`` steps with the torques as they are; OK, or a cause of failure."""
        return self._take_steps(self.whole, steps)

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
    Entry(append_row_to, Packed(common_of(world)))()


def is_ready(world: World, law: Any) -> bool:
    """Whether ``Loop`` compiles nothing."""
    return are_ready(list(_uses(Packed(common_of(world)), Packed(world), _packed_law(law)).values()))


def _packed_law(law: Any) -> Packed:
    return Packed(Passive() if law is None else law)


def _uses(common: Packed, whole: Packed, law: Packed) -> dict[int, tuple[Any, ...]]:
    """Each part that is needed and what it is called with, by its place in ``World.parts``, and ``ask``."""
    uses: dict[int, tuple[Any, ...]] = {
        ADVANCE: (advance_world, whole, common, 0, 0.0, 0.0), MEASURE: (measure_part, common, 0, 0),
        APPLY: (apply_part, common), APPEND_ROW: (append_row_to, common), TAKE_STEPS: (take_steps, common, 0, 0),
    }  # fmt: skip
    if whole.value.projectile.status[ARMED] == 1:  # a box that nobody throws is met by nobody
        uses[MEET_BOX] = meet_box, common, 0
    if not isinstance(law.value, Passive):
        uses[ASK] = ask.of(type(law.value)), law, common
    return uses
