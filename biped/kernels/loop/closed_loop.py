"""The plant between two control ticks: steps with the joints' torques held, recorded as they go."""

import math
from typing import Any, NamedTuple

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
from contact.arrays import Floats
from contact.ground import END, START, Ground, is_moving, to_floor
from contact.jit import generic, kernel, routine, routine_for_each


class FallLimits(NamedTuple):
    """Beyond these the tree has fallen; ``biped.Fall`` documents them."""

    height: float  # [m] least height of the root above the floor
    upright: float  # least cosine between the root's vertical axis and the world's
    rate: float  # [rad/s] greatest joint rate


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


@generic("law")
def control(law, measurement, torque, recorded):
    """What a controller does at a control tick: from ``measurement`` to the torques that it asks for.

    All of the arguments are its own, to write as it likes. ``torque`` (nv,) [N·m] has an entry for each degree of
    freedom, zero before. ``recorded`` is for the numbers that the controller's ``recorded`` names: they stand in the
    rows until the next tick.
    """


class Passive(NamedTuple):
    """The law of a plant that is left to itself."""


@kernel
def look(world, period):
    """Show the plant to the controller; FELL or LOG_FULL if the loop must stop before ``period`` more steps, else OK.

    The controller finds it in ``world.measurement``, and leaves the torques it asks for in ``world.torque``.
    """
    observe(world.tree, world.plant, world.work.motion, world.log)
    reason = reason_to_stop(world, period)
    if reason == OK:
        measure(world.tree, world.plant, world.work.motion, world.sensors, world.measurement)
    return reason


@kernel
def reason_to_stop(world, period):
    """FELL, LOG_FULL or OK; needs the rates, if a joint can be too fast at all."""
    if has_fallen(world.tree, world.ground, world.plant, world.work.motion, world.fall):
        return FELL
    if is_full(world.log, period):
        return LOG_FULL
    return OK


@generic("law", otherwise=True)
def tick(law, world, period):
    """All of a control tick but its steps: measure, control, apply. OK, or why it must stop before them."""
    reason = look(world, period)
    if reason == OK:
        world.torque[:] = 0.0
        control(law, world.measurement, world.torque, world.log.extra)
        apply_torques(world.tree, world.plant, world.actuators, world.torque)
    return reason


@tick.register(Passive)
def leave_alone(law, world, period):
    if world.fall.rate < math.inf:
        observe(world.tree, world.plant, world.work.motion, world.log)
    return reason_to_stop(world, period)


@routine
def begin_tick(world, period):
    """``look`` for a controller that is not compiled."""
    return look(world, period)


@routine
def check_room(world, period):
    """``look`` without showing anything to a controller."""
    observe(world.tree, world.plant, world.work.motion, world.log)
    return reason_to_stop(world, period)


@routine
def end_tick(world):
    """Apply the torques that a controller asks for that is not compiled."""
    apply_torques(world.tree, world.plant, world.actuators, world.torque)


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


@routine
def record(tree, ground, plant, work, thrown, log):
    """``append_row`` for a loop that is not compiled."""
    append_row(tree, ground, plant, work, thrown, log)


@kernel
def take_step(tree, ground, plant, pushes, work, method, thrown, log):
    """One step of the tree, and of the thrown box: in two parts with the collision between them if they meet."""
    begin, h = time_of(plant), plant.clock[1]
    armed = thrown.status[ARMED] == 1
    part = h
    if armed:
        part = time_before_impact(tree, plant, work.motion.poses, thrown, h)
    rest = h - part
    for _ in range(2):
        if part > 0.0:
            reason = advance(tree, ground, plant, pushes, work, method, begin, part)
            if reason != OK:
                plant.clock[0] += begin - time_of(plant)  # after an impact, box and tree are where they collided
                return reason
            if armed and not fly_thrown(tree, thrown, part):
                return COLLISION_FAILED
        if rest == 0.0:
            break
        begin += part
        if collide(tree, plant, work.motion, thrown, log, begin) != OK:
            return COLLISION_FAILED
        thrown.state[STATE + 1] = rest
        part, rest = rest, 0.0
    count_step(plant)
    return OK


@routine
def hold(world, steps):
    """Take ``steps`` steps, recording every ``stride``-th state before it is left; OK, or a cause of failure."""
    tree, ground, plant, pushes, work, log = world.tree, world.ground, world.plant, world.pushes, world.work, world.log
    method, thrown = world.method, world.thrown
    for _ in range(steps):
        if plant.counts[STEPS] % log.cursor[STRIDE] == 0:
            append_row(tree, ground, plant, work, thrown, log)
        reason = take_step(tree, ground, plant, pushes, work, method, thrown, log)
        if reason != OK:
            return reason
        log_contact_changes(plant, log, time_of(plant))
    return OK


@routine_for_each("law")
def closed_loop(world, law, ticks, period):
    """``ticks`` control ticks of ``period`` steps; how many were done, and why it ended."""
    for done in range(ticks):
        reason = tick(law, world, period)
        if reason == OK:
            reason = hold(world, period)
        if reason != OK:
            return done, reason
    return ticks, OK
