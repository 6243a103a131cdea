"""What a controller is told of the plant, and what comes of its torques: delays, noise, limits.

A controller reads a ``Measurement`` and asks for torques. Both are in arrays of their own: whatever a controller does
with them, the plant only gets torques.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.random import normal
from biped.kernels.state.simulation_state import SENSED, TICKS
from biped.kernels.step.step import time_of
from biped.kernels.tree.dynamics import TreeData, new_tree_data, turn_inertias
from biped.kernels.tree.kinematics import copy_poses, place_bodies
from biped.kernels.tree.tree import FLOATING, Tree
from contact.analytic import cos, positive
from contact.arrays import Floats, Integers
from contact.jit import kernel
from contact.vectors import (
    copy1,
    cross,
    mat_vec,
    norm,
    quat_about,
    quat_matrix,
    quat_mul,
    quat_normalized,
    scale,
    triple,
)

# Places in ``SensorModel.how``.
PERFECT = 0  # 1 where the plant is measured as it is
DELAY = 1  # [control ticks]
SEED = 2

# Places in ``SensorModel.noise``.
POSITION = 0  # [m]
ORIENTATION = 1  # [rad]
JOINT = 2  # [rad or m]
VELOCITY = 3  # [m/s]
ANGULAR_VELOCITY = 4  # [rad/s]
JOINT_RATE = 5  # [rad/s or m/s]


class Measurement(NamedTuple):
    """What a controller is told at a tick: its own to read, and to use as room."""

    tree: Tree  # what it takes the plant for
    time: Floats  # (1,) [s]
    q: Floats  # (nq,)
    motion: TreeData  # poses, inertias and rates there; the rest of it is room
    # Neither delayed nor noisy, whatever the sensors:
    force: Floats  # (nc, 3) [N] of the floor on each contact point in the last step, world axes
    found: Integers  # (nc,) the contact state found at its end (``contact.modes``)
    held: Floats  # (nv,) [N·m] what the actuators have given since the last tick
    least: Floats  # (nv,) [N·m] and
    most: Floats  # (nv,) [N·m] what they can give at most, towards either side


class SensorModel(NamedTuple):
    """How the plant is measured."""

    how: Integers  # (3,)
    noise: Floats  # (6,) standard deviations
    offset: Floats  # (3,) [m] root axes: from the root's centre of mass to where the controller takes it to be


class Actuators(NamedTuple):
    """What comes of the torques that are asked for."""

    limit: Floats  # (nv,) [N·m], or infinite
    noise: Floats  # (nv,) [N·m] standard deviation
    share: Floats  # (nv,) the same as a share of the torque's size
    seed: Integers  # (1,) negative where torques are delivered as they are
    span: Floats  # (1,) [s] of a control tick
    strength: Floats  # (nv or 0, 2, 6) what a joint can do by angle and rate, towards either side (``able``)
    kept: Floats  # (1,) of what was given since the last tick, the share that a lag keeps


def new_measurement(tree: Tree, nq: int, nv: int, more_points: int = 0) -> Measurement:
    """Room for what a controller is told of a plant that it takes for this tree.

    The plant may have more contact points behind the tree's; they come with the poses, and no law reads them.
    """
    own = Tree._make(array.copy() for array in tree)
    nc = tree.contact_body.shape[0] + more_points
    motion = new_tree_data(tree.parent.shape[0], nv, nc)
    touch = np.full((nc, 3), np.nan), np.zeros(nc, dtype=np.int64)
    torques = np.full(nv, np.nan), np.full(nv, -np.inf), np.full(nv, np.inf)
    return Measurement(own, np.full(1, np.nan), np.full(nq, np.nan), motion, *touch, *torques)


def perfect_sensors() -> SensorModel:
    """The plant as it is."""
    return SensorModel(np.array([1, 0, 0]), np.zeros(6), np.zeros(3))


def ideal_actuators(nv: int, span: float) -> Actuators:
    """Whatever is asked for."""
    z = np.zeros
    return Actuators(np.full(nv, np.inf), z(nv), z(nv), np.array([-1]), np.array([span]), z((0, 2, 6)), z(1))


@kernel
def measure(tree, state, motion, sensors, actuators, measurement):
    """Fill ``measurement`` from the plant, whose ``motion.rates`` are known; once a control tick."""
    measurement.time[0] = time_of(state)
    measure_touch(state, measurement)
    measure_abilities(tree, state, motion.rates, actuators, measurement)
    shown = measurement.motion
    if sensors.how[PERFECT] == 1:
        copy1(state.q, measurement.q)
        copy1(motion.rates, shown.rates)
        copy_poses(motion.poses, shown.poses)
        copy_inertias(motion.inertia, shown.inertia)
        return
    nq, nv = state.q.shape[0], motion.rates.shape[0]
    depth, tick = state.past.shape[0], state.counts[SENSED]
    newest = state.past[tick % depth]
    for k in range(nq):
        newest[k] = state.q[k]
    for k in range(nv):
        newest[nq + k] = motion.rates[k]
    delayed = state.past[max(tick - sensors.how[DELAY], 0) % depth]
    for k in range(nq):
        measurement.q[k] = delayed[k]
    for k in range(nv):
        shown.rates[k] = delayed[nq + k]
    if tree.kind[0] == FLOATING:
        move_root(sensors, measurement)
    add_noise(tree, state, sensors, measurement)
    place_measured(measurement)
    state.counts[SENSED] += 1


@kernel
def measure_touch(state, measurement):
    copy1(state.found, measurement.found)
    copy1(state.torque, measurement.held)
    for c in range(state.force.shape[0]):
        for axis in range(3):
            measurement.force[c, axis] = state.force[c, axis]


@kernel
def measure_abilities(tree, state, rates, actuators, measurement):
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            dof = tree.first_v[i]
            low, high = range_of_torque(state, rates, actuators, dof, tree.first_q[i])
            measurement.least[dof], measurement.most[dof] = low, high


@kernel
def place_measured(measurement):
    """Poses and inertias of the configuration that was measured."""
    place_bodies(measurement.tree, measurement.q, measurement.motion.poses)
    turn_inertias(measurement.tree, measurement.motion.poses, measurement.motion.inertia)


@kernel
def copy_inertias(source, target):
    for i in range(source.shape[0]):
        for k in range(9):
            target[i, k] = source[i, k]


@kernel
def move_root(sensors, measurement):
    """From the root's centre of mass to that of the root without its load, of which the controller knows nothing."""
    q, rates = measurement.q, measurement.motion.rates
    arm = mat_vec(quat_matrix((q[3], q[4], q[5], q[6])), triple(sensors.offset))
    moving = cross((rates[3], rates[4], rates[5]), arm)
    for axis in range(3):
        q[axis] += arm[axis]
        rates[axis] += moving[axis]


@kernel
def add_noise(tree, state, sensors, measurement):
    """White noise on everything that is measured, drawn anew at each tick."""
    seed, tick = sensors.how[SEED], state.counts[TICKS]
    q, rates, noise, nv = measurement.q, measurement.motion.rates, sensors.noise, measurement.motion.rates.shape[0]
    for i in range(tree.parent.shape[0]):
        a, dof = tree.first_q[i], tree.first_v[i]
        if tree.dofs[i] == 1:
            q[a] += noise[JOINT] * normal(seed, tick, dof)
            rates[dof] += noise[JOINT_RATE] * normal(seed, tick, nv + dof)
        elif tree.kind[i] == FLOATING:
            for axis in range(3):
                q[a + axis] += noise[POSITION] * normal(seed, tick, dof + axis)
                rates[dof + axis] += noise[VELOCITY] * normal(seed, tick, nv + dof + axis)
            add_turn_noise(seed, tick, q, a + 3, noise[ORIENTATION], dof + 3)
            for axis in range(3, 6):
                rates[dof + axis] += noise[ANGULAR_VELOCITY] * normal(seed, tick, nv + dof + axis)
        else:
            add_turn_noise(seed, tick, q, a, noise[JOINT], dof)
            for axis in range(3):
                rates[dof + axis] += noise[JOINT_RATE] * normal(seed, tick, nv + dof + axis)


@kernel
def add_turn_noise(seed, tick, q, a, size, channel):
    """Turn the quaternion at q[a] by a random rotation vector, in the axes that it maps to."""
    if size > 0.0:
        x, y, z = normal(seed, tick, channel), normal(seed, tick, channel + 1), normal(seed, tick, channel + 2)
        phi = scale(size, (x, y, z))
        angle = norm(phi)
        turn = quat_about(scale(1.0 / angle, phi), angle)
        turned = quat_normalized(quat_mul(turn, (q[a], q[a + 1], q[a + 2], q[a + 3])))
        q[a], q[a + 1], q[a + 2], q[a + 3] = turned


#: [rad/s] A joint that is turned back faster is taken to be as strong as at this rate (our choice).
FASTEST_BACK = 0.5 * math.pi


@kernel
def able(strength, angle, rate):
    """The greatest torque towards a side at an angle and the rate towards it (Anderson et al. 2007).

    ``strength`` has the numbers of ``biped.model.strength.Strength``.
    """
    peak, width, centre = strength[0], strength[1], strength[2]
    gain, loss, lengthening = strength[3], strength[4], strength[5]
    turn = width * (angle - centre)
    if abs(turn.real) >= 0.5 * math.pi:
        return 0.0
    speed = rate if rate.real >= 0.0 else -rate if -rate.real < FASTEST_BACK else FASTEST_BACK
    most = peak * cos(turn) * positive(1.0 + gain * speed) / (1.0 + loss * speed)
    return most if rate.real >= 0.0 else most * (1.0 + lengthening * speed)


@kernel
def range_of_torque(state, rates, actuators, dof, q_index):
    """The least and the greatest torque that a joint of one degree of freedom can exert now."""
    low, high = -actuators.limit[dof], actuators.limit[dof]
    if actuators.strength.shape[0] > 0:
        ahead, back = actuators.strength[dof, 0], actuators.strength[dof, 1]
        high = min(high, able(ahead, state.q[q_index], rates[dof]))
        low = max(low, -able(back, state.q[q_index], -rates[dof]))
    return low, high


@kernel
def apply_torques(tree, state, rates, actuators, torque):
    """Torques as the actuators give them for a tick: late, within the limits, with noise. A floating root has none.

    The time in which more than the limit was asked for is counted. The noise has channels of its own, after those of
    ``add_noise``: with the same seed it is still independent of what the sensors add.
    """
    seed, tick, channel = actuators.seed[0], state.counts[TICKS], 2 * state.torque.shape[0]
    kept = actuators.kept[0]
    state.counts[TICKS] += 1
    for i in range(tree.parent.shape[0]):
        if tree.kind[i] != FLOATING:
            for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
                state.torque[dof] = kept * state.torque[dof] + (1.0 - kept) * torque[dof]
    if seed < 0:
        return
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            dof = tree.first_v[i]
            low, high = range_of_torque(state, rates, actuators, dof, tree.first_q[i])
            if not low <= state.torque[dof] <= high:
                state.ledger.saturated[dof] += actuators.span[0]
            given = min(max(state.torque[dof], low), high)
            spread = actuators.noise[dof] + actuators.share[dof] * abs(given)
            given += spread * normal(seed, tick, channel + dof)
            state.torque[dof] = min(max(given, low), high)
