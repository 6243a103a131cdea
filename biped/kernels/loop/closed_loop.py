"""The plant between two control ticks: steps with the joints' torques held, recorded as they go."""

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from biped.kernels.loop.log import ROWS, STRIDE, Log, is_full, log_contact_changes, observe, record_more, record_row
from biped.kernels.loop.measurement import Actuators, Measurement, SensorModel, apply_torques, measure
from biped.kernels.loop.projectile import ARMED, Thrown, collide, fly_thrown, time_before_impact
from biped.kernels.state.method import advance
from biped.kernels.state.pushes import Pushes
from biped.kernels.state.simulation_state import STEPS, Plant
from biped.kernels.state.status import COLLISION_FAILED, FELL, LOG_FULL, OK
from biped.kernels.step.step import count_step, time_of
from biped.kernels.tree.tree import FLOATING, Tree
from biped.kernels.variational.equations import Workspace
from biped.kernels.variational.free_body import STATE
from contact.arrays import Floats, Integers
from contact.ground import END, START, Ground, is_moving, to_floor
from contact.jit import (
    address_of,
    call,
    generic,
    is_part_compiled,
    kernel,
    number_of,
    packed,
    part,
    routine,
    routine_for_each,
    unpacked,
)


class FallLimits(NamedTuple):
    """Beyond these the tree has fallen; ``biped.Fall`` documents them."""

    height: float  # [m] least height of the root above the floor
    upright: float  # least cosine between the root's vertical axis and the world's
    rate: float  # [rad/s] greatest joint rate


# Places in ``World.parts``.
ADVANCE = 0
LOOK = 1
APPLY = 2
APPEND_ROW = 3
MEET_BOX = 4
PARTS = 5
NOT_COMPILED = -1


class World(NamedTuple):
    """All that a closed loop advances, in one argument."""

    tree: Tree
    ground: Ground
    plant: Plant
    pushes: Pushes
    work: Workspace
    method: Any  # one of ``biped.kernels.state.method``
    thrown: Thrown
    fall: FallLimits
    log: Log
    sensors: SensorModel
    measurement: Measurement  # what the controller is told
    torque: Floats  # (nv,) what it asks for
    actuators: Actuators
    parts: Integers  # (PARTS,) addresses of what is compiled by itself; see ``with_parts``


class Scene(NamedTuple):
    """The world but for the method: what works on it is compiled once for all of them."""

    tree: Tree
    ground: Ground
    plant: Plant
    pushes: Pushes
    work: Workspace
    thrown: Thrown
    fall: FallLimits
    log: Log
    sensors: SensorModel
    measurement: Measurement
    torque: Floats
    actuators: Actuators
    parts: Integers


@kernel
def scene_of(world):
    return Scene(
        world.tree, world.ground, world.plant, world.pushes, world.work, world.thrown, world.fall, world.log,
        world.sensors, world.measurement, world.torque, world.actuators, world.parts,
    )  # fmt: skip


class WithParts:
    """A routine of a world, for Python: it gets the world's parts compiled first."""

    def __init__(self, routine: Any) -> None:
        self.routine = routine
        functools.update_wrapper(self, routine)

    def __call__(self, world: World, *args: Any) -> Any:
        """Run it."""
        if world.parts[ADVANCE] == NOT_COMPILED:
            for place, (function, value, *numbers) in enumerate(_calls(world, scene_of(world))):
                world.parts[place] = address_of(function, value, *numbers)
        return self.routine(world, *args)


def with_parts(routine: Any) -> Any:
    """Without the addresses a routine of a world would jump to nowhere."""
    return WithParts(routine)


def interpreted(world: World, method: Any) -> World:
    """The same world for a caller that is interpreted, with another method, which is too."""
    numbers = [number_of(function) for function, *_ in _calls(world, scene_of(world))]
    return world._replace(method=method, parts=np.array(numbers))


@kernel
def has_fallen(tree, ground, plant, motion, fall):
    """Whether the root is too low above the floor or too far from upright, or a joint too fast; needs the rates.

    ``ground`` has the present frame of a moving floor as the END of the last step.
    """
    if tree.kind[0] != FLOATING:
        return False
    for dof in range(6, plant.rate.shape[0]):
        if abs(motion.rates[dof]) > fall.rate:
            return True
    height = to_floor(ground, END, (plant.q[0], plant.q[1], plant.q[2]))[2]
    return height < fall.height or motion.poses.rotation[0, 8] < fall.upright


@kernel
def reason_to_stop(world, period):
    """FELL, LOG_FULL or OK; needs the rates, if a joint can be too fast at all."""
    if has_fallen(world.tree, world.ground, world.plant, world.work.motion, world.fall):
        return FELL
    if is_full(world.log, period):
        return LOG_FULL
    return OK


@part
def look(place, period, shows):
    """FELL or LOG_FULL if the loop must stop before ``period`` more steps, else OK.

    With ``shows`` the controller is shown the plant then: it finds it in ``world.measurement``.
    """
    scene = unpacked(place)
    if shows or scene.fall.rate < math.inf:
        observe(scene.tree, scene.plant, scene.work.motion, scene.log)
    reason = reason_to_stop(scene, period)
    if shows and reason == OK:
        measure(scene.tree, scene.plant, scene.work.motion, scene.sensors, scene.measurement)
        scene.torque[:] = 0.0
    return reason


@part
def apply(place):
    """Apply the torques in ``world.torque``, until the next tick."""
    scene = unpacked(place)
    apply_torques(scene.tree, scene.plant, scene.actuators, scene.torque)
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


@generic("law", otherwise=True)
def tick(law, world, scene, period):
    """All of a control tick but its steps: measure, control, apply. OK, or why it must stop before them."""
    reason = call(world.parts[LOOK], scene, period, True)
    if reason == OK:
        control(law, world.measurement, world.torque, world.log.extra)
        call(world.parts[APPLY], scene)
    return reason


@tick.register(Passive)
def leave_alone(law, world, scene, period):
    return call(world.parts[LOOK], scene, period, False)


@with_parts
@routine
def begin_tick(world, period, shows):
    """``look`` for a controller that is not compiled."""
    return call(world.parts[LOOK], packed(scene_of(world)), period, shows)


@with_parts
@routine
def end_tick(world):
    """``apply`` for a controller that is not compiled."""
    return call(world.parts[APPLY], packed(scene_of(world)))


@kernel
def append_row(tree, ground, plant, work, thrown, log):
    """Append a row for the present state."""
    observe(tree, plant, work.motion, log)
    place = record_row(tree, ground, plant, work.motion, log, time_of(plant))
    row = log.rows[log.cursor[ROWS] - 1]
    place = record_more(tree, plant, work, log.more, row, place)
    place = record_platform(ground, row, place)
    if thrown.status[ARMED] == 1:
        for k in range(7):
            row[place + k] = thrown.state[k]


@kernel
def record_platform(ground, row, place):
    """The pose of a floor that moves; the place after it."""
    if not is_moving(ground):
        return place
    frame = ground.frame[START]
    for k in range(3):
        row[place + k] = frame[k]
    for k in range(4):
        row[place + 3 + k] = frame[12 + k]
    return place + 7


@part
def append_row_to(place):
    """``append_row`` as a part."""
    scene = unpacked(place)
    append_row(scene.tree, scene.ground, scene.plant, scene.work, scene.thrown, scene.log)
    return OK


@with_parts
@routine
def record(world):
    """Append a row for the present state."""
    return call(world.parts[APPEND_ROW], packed(scene_of(world)))


@part
def advance_world(place, begin, h):
    """``advance`` as a part, which knows the method."""
    world = unpacked(place)
    return advance(world.tree, world.ground, world.plant, world.pushes, world.work, world.method, begin, h)


@part
def meet_box(place, whole):
    """One step of the tree and of the thrown box: in two parts with the collision between them if they meet."""
    scene = unpacked(place)
    tree, plant, work, thrown = scene.tree, scene.plant, scene.work, scene.thrown
    begin, h = time_of(plant), plant.clock[1]
    before = time_before_impact(tree, plant, work.motion.poses, thrown, h)
    rest = h - before
    for _ in range(2):
        if before > 0.0:
            reason = call(scene.parts[ADVANCE], whole, begin, before)
            if reason != OK:
                plant.clock[0] += begin - time_of(plant)  # after an impact, box and tree are where they collided
                return reason
            if not fly_thrown(tree, thrown, before):
                return COLLISION_FAILED
        if rest == 0.0:
            break
        begin += before
        if collide(tree, plant, work.motion, thrown, scene.log, begin) != OK:
            return COLLISION_FAILED
        thrown.state[STATE + 1] = rest
        before, rest = rest, 0.0
    return OK


@kernel
def take_step(world, scene, whole):
    """One step of the tree, and of the thrown box; ``scene`` and ``whole`` are the addresses of scene and world."""
    plant = world.plant
    if world.thrown.status[ARMED] == 1:
        reason = call(world.parts[MEET_BOX], scene, whole)
    else:
        reason = call(world.parts[ADVANCE], whole, time_of(plant), plant.clock[1])
    if reason == OK:
        count_step(plant)
        log_contact_changes(plant, world.log, time_of(plant))
    return reason


@kernel
def take_steps(world, scene, whole, steps):
    """Take ``steps`` steps, recording every ``stride``-th state before it is left; OK, or a cause of failure."""
    for _ in range(steps):
        if world.plant.counts[STEPS] % world.log.cursor[STRIDE] == 0:
            call(world.parts[APPEND_ROW], scene)
        reason = take_step(world, scene, whole)
        if reason != OK:
            return reason
    return OK


@with_parts
@routine
def hold(world, steps):
    """``take_steps`` with the torques as they are."""
    return take_steps(world, packed(scene_of(world)), packed(world), steps)


@with_parts
@routine_for_each("law")
def closed_loop(world, law, ticks, period):
    """``ticks`` control ticks of ``period`` steps; how many were done, and why it ended."""
    scene, whole = packed(scene_of(world)), packed(world)
    for done in range(ticks):
        reason = tick(law, world, scene, period)
        if reason == OK:
            reason = take_steps(world, scene, whole, period)
        if reason != OK:
            return done, reason
    return ticks, OK


def are_parts_compiled(world: World) -> bool:
    """Whether ``with_parts`` compiles nothing for a world."""
    return all(is_part_compiled(*call) for call in _calls(world, scene_of(world)))


def _calls(world: World, scene: Scene) -> tuple[tuple[Any, ...], ...]:
    """Each part, what it works on, and numbers, in the order of ``World.parts``."""
    return (
        (advance_world, world, 0.0, 0.0), (look, scene, 0, True), (apply, scene), (append_row_to, scene),
        (meet_box, scene, 0),
    )  # fmt: skip
