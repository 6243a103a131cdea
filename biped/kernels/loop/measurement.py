"""What a controller is told of the plant, and what comes of its torques: delays, noise, limits.

A controller reads a ``Measurement`` and asks for torques. Both are in arrays of their own: whatever a controller does
with them, the plant only gets torques.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.random import normal
from biped.kernels.state.simulation_state import GIVEN, SENSED, TICKS
from biped.kernels.step.step import time_of
from biped.kernels.tree.dynamics import TreeData, new_tree_data, turn_inertias
from biped.kernels.tree.kinematics import copy_poses, place_bodies
from biped.kernels.tree.tree import FLOATING, MAX_EFFORT, MIN_EFFORT, Tree
from contact import vectors as vec
from contact.analytic import cos, positive
from contact.arrays import Floats, Integers
from contact.point_law import touches
from kernelcache import kernel

# Places in ``SensorModel.how``.
PERFECT = 0  # 1 where the plant is measured as it is
BY_CHANNEL = 1  # 1 where ``SimulationState.past`` has more than states: forces, and rows behind those of ticks
SEED = 2
LATE = 3  # [control ticks] of each channel
DEPTH = 7  # ticks that ``past`` keeps; behind them: what was shown at the start, and coloured noise
HOW = 8

# Channels.
VESTIBULAR = 0
VISUAL = 1
PROPRIOCEPTIVE = 2
FORCE = 3

# Places in ``SensorModel.noise`` of standard deviations and, from ``THRESHOLD`` on, of thresholds.
POSITION = 0  # [m]
ORIENTATION = 1  # [rad]
JOINT = 2  # [rad or m]
VELOCITY = 3  # [m/s]
ANGULAR_VELOCITY = 4  # [rad/s]
JOINT_RATE = 5  # [rad/s or m/s]
PRESSURE = 6  # [N]
# Of each channel:
SHARE = 7  # standard deviation over distance from the start
KEPT = 11  # of its last noise, what that of the next tick keeps; 0 for white noise
THRESHOLD = 15
NOISE = 22


class Measurement(NamedTuple):
    """What a controller is told at a tick: its own to read, and to use as room."""

    tree: Tree  # what it takes the plant for
    time: Floats  # (1,) [s]
    q: Floats  # (nq,)
    motion: TreeData  # poses, inertias and rates there; the rest of it is room
    force: Floats  # (nc, 3) [N] of the floor on each contact point in the last step, world axes
    found: Integers  # (nc,) the contact state found at its end (``contact.modes``)
    # Neither delayed nor noisy, whatever the sensors:
    held: Floats  # (nv,) [N·m] what the actuators have given since the last tick
    least: Floats  # (nv,) [N·m] and
    most: Floats  # (nv,) [N·m] what they can give at most, towards either side


class SensorModel(NamedTuple):
    """How the plant is measured."""

    how: Integers  # (HOW,)
    noise: Floats  # (NOISE,) standard deviations, their shares and colours, thresholds
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
    rise: Floats  # (nv,) [N·m] the most by which a torque changes in a tick, or infinite
    bounds: Integers  # (nv,) 1 where they give what an impedance exerts too: ``Tree.passive`` bounds it in the steps


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
    how = np.zeros(HOW, dtype=np.int64)
    how[PERFECT] = how[DEPTH] = 1
    return SensorModel(how, np.zeros(NOISE), np.zeros(3))


def ideal_actuators(nv: int, span: float) -> Actuators:
    """Whatever is asked for."""
    z = np.zeros
    all_of_it, seed = np.full(nv, np.inf), np.array([-1])
    none = np.zeros(nv, dtype=np.int64)
    return Actuators(all_of_it, z(nv), z(nv), seed, np.array([span]), z((0, 2, 6)), z(1), all_of_it.copy(), none)


@kernel
def measure(tree, state, motion, sensors, actuators, measurement):
    """Fill ``measurement`` from the plant, whose ``motion.rates`` are known; once a control tick."""
    measurement.time[0] = time_of(state)
    measure_touch(state, measurement)
    measure_abilities(tree, state, motion.rates, actuators, measurement)
    shown = measurement.motion
    if sensors.how[PERFECT] == 1:
        vec.copy1(state.q, measurement.q)
        vec.copy1(motion.rates, shown.rates)
        copy_poses(motion.poses, shown.poses)
        copy_inertias(motion.inertia, shown.inertia)
        return
    keep_tick(state, motion.rates, sensors)
    show_late(tree, state, sensors, measurement)
    if tree.kind[0] == FLOATING:
        move_root(sensors, measurement)
    if sensors.how[BY_CHANNEL] == 1 and (state.counts[SENSED] == 0 or state.counts[TICKS] == 0):
        keep_start(state, sensors, measurement)
    blur(tree, state, sensors, measurement)
    place_measured(measurement)
    state.counts[SENSED] += 1


@kernel
def keep_tick(state, rates, sensors):
    """What there is now, for when its delay has passed: (q, v), and behind them forces and contacts of the floor."""
    nq, nv, nc = state.q.shape[0], rates.shape[0], state.force.shape[0]
    newest = state.past[state.counts[SENSED] % sensors.how[DEPTH]]
    for k in range(nq):
        newest[k] = state.q[k]
    for k in range(nv):
        newest[nq + k] = rates[k]
    if sensors.how[BY_CHANNEL] == 1:
        for c in range(nc):
            for axis in range(3):
                newest[nq + nv + 3 * c + axis] = state.force[c, axis]
            newest[nq + nv + 3 * nc + c] = state.found[c]


@kernel
def shown_row(state, sensors, channel):
    """The row of the tick that a channel shows now."""
    return max(state.counts[SENSED] - sensors.how[LATE + channel], 0) % sensors.how[DEPTH]


@kernel
def show_late(tree, state, sensors, measurement):
    """Each channel as it was a delay of its own ago."""
    q, rates = measurement.q, measurement.motion.rates
    nq, nv, nc = q.shape[0], rates.shape[0], measurement.force.shape[0]
    past, seen = state.past, state.past[shown_row(state, sensors, PROPRIOCEPTIVE)]
    for k in range(nq):
        q[k] = seen[k]
    for k in range(nv):
        rates[k] = seen[nq + k]
    if tree.kind[0] == FLOATING:
        turned, placed = past[shown_row(state, sensors, VESTIBULAR)], past[shown_row(state, sensors, VISUAL)]
        for axis in range(3):
            q[axis], rates[axis], rates[3 + axis] = placed[axis], placed[nq + axis], turned[nq + 3 + axis]
        for k in range(3, 7):
            q[k] = turned[k]
    if sensors.how[BY_CHANNEL] == 1:
        felt = past[shown_row(state, sensors, FORCE)]
        for c in range(nc):
            for axis in range(3):
                measurement.force[c, axis] = felt[nq + nv + 3 * c + axis]
            measurement.found[c] = int(felt[nq + nv + 3 * nc + c])


@kernel
def keep_start(state, sensors, measurement):
    """What is shown at the start, from which thresholds and what grows with a signal count."""
    begun, nq = state.past[sensors.how[DEPTH]], measurement.q.shape[0]
    for k in range(nq):
        begun[k] = measurement.q[k]
    for k in range(measurement.motion.rates.shape[0]):
        begun[nq + k] = measurement.motion.rates[k]


@kernel
def measure_touch(state, measurement):
    vec.copy1(state.found, measurement.found)
    vec.copy1(state.torque, measurement.held)
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
    arm = vec.mat_vec(vec.quat_matrix((q[3], q[4], q[5], q[6])), vec.triple(sensors.offset))
    moving = vec.cross((rates[3], rates[4], rates[5]), arm)
    for axis in range(3):
        q[axis] += arm[axis]
        rates[axis] += moving[axis]


@kernel
def blur(tree, state, sensors, measurement):
    """Noise and thresholds of everything that is measured; each number has a channel of random numbers of its own."""
    q, rates = measurement.q, measurement.motion.rates
    nq, nv = q.shape[0], rates.shape[0]
    begun = state.past[sensors.how[DEPTH] if sensors.how[BY_CHANNEL] == 1 else 0]
    for i in range(tree.parent.shape[0]):
        a, dof = tree.first_q[i], tree.first_v[i]
        if tree.dofs[i] == 1:
            q[a] = blurred(state, sensors, PROPRIOCEPTIVE, JOINT, dof, q[a], begun[a])
            rates[dof] = blurred(state, sensors, PROPRIOCEPTIVE, JOINT_RATE, nv + dof, rates[dof], begun[nq + dof])
        elif tree.kind[i] == FLOATING:
            for axis in range(3):
                k = dof + axis
                q[a + axis] = blurred(state, sensors, VISUAL, POSITION, k, q[a + axis], begun[a + axis])
                rates[k] = blurred(state, sensors, VISUAL, VELOCITY, nv + k, rates[k], begun[nq + k])
            blur_turn(state, sensors, VESTIBULAR, ORIENTATION, dof + 3, q, a + 3, begun)
            for k in range(dof + 3, dof + 6):
                rates[k] = blurred(state, sensors, VESTIBULAR, ANGULAR_VELOCITY, nv + k, rates[k], begun[nq + k])
        else:
            blur_turn(state, sensors, PROPRIOCEPTIVE, JOINT, dof, q, a, begun)
            for k in range(dof, dof + 3):
                rates[k] = blurred(state, sensors, PROPRIOCEPTIVE, JOINT_RATE, nv + k, rates[k], begun[nq + k])
    if sensors.how[BY_CHANNEL] == 1:
        for c in range(measurement.force.shape[0]):
            if touches(measurement.found[c]):
                for axis in range(3):
                    number, force = 3 * (nv + c) + axis, measurement.force[c, axis]
                    measurement.force[c, axis] = blurred(state, sensors, FORCE, PRESSURE, number, force, 0.0)


@kernel
def blurred(state, sensors, channel, quantity, number, value, begun):
    """A number that began as ``begun`` as its channel shows it: with noise, and nothing of it within the threshold."""
    noise = sensors.noise
    spread, threshold = noise[quantity] + noise[SHARE + channel] * abs(value - begun), noise[THRESHOLD + quantity]
    if spread > 0.0:
        value += spread * noise_of(state, sensors, channel, number)
    return begun + beyond(value - begun, threshold) if threshold > 0.0 else value


@kernel
def beyond(away, threshold):
    """What is left of a distance behind a dead zone."""
    return max(away - threshold, 0.0) + min(away + threshold, 0.0)


@kernel
def noise_of(state, sensors, channel, number):
    """A number of standard normal noise: white, or coloured by the one before it, stationary from its first on."""
    drawn, kept = normal(sensors.how[SEED], state.counts[TICKS], number), sensors.noise[KEPT + channel]
    if kept == 0.0:
        return drawn
    coloured = state.past[sensors.how[DEPTH] + 1]
    if coloured[number] != 0.0:  # it is none before the first
        drawn = kept * coloured[number] + math.sqrt(1.0 - kept * kept) * drawn
    coloured[number] = drawn
    return drawn


@kernel
def blur_turn(state, sensors, channel, quantity, number, q, a, begun):
    """Turn the quaternion at q[a] by noise, and back by the threshold, in the axes that it maps to."""
    noise, threshold = sensors.noise, sensors.noise[THRESHOLD + quantity]
    start = begun[a], begun[a + 1], begun[a + 2], begun[a + 3]
    spread = noise[quantity]
    if noise[SHARE + channel] > 0.0:
        away = vec.rotation_vector(vec.quat_mul((q[a], q[a + 1], q[a + 2], q[a + 3]), vec.quat_conj(start)))
        spread += noise[SHARE + channel] * vec.norm(away)
    if spread > 0.0:
        x = noise_of(state, sensors, channel, number)
        y = noise_of(state, sensors, channel, number + 1)
        z = noise_of(state, sensors, channel, number + 2)
        turn_by(q, a, vec.scale(spread, (x, y, z)))
    if threshold > 0.0:
        x, y, z = vec.rotation_vector(vec.quat_mul((q[a], q[a + 1], q[a + 2], q[a + 3]), vec.quat_conj(start)))
        q[a], q[a + 1], q[a + 2], q[a + 3] = start
        turn_by(q, a, (beyond(x, threshold), beyond(y, threshold), beyond(z, threshold)))


@kernel
def turn_by(q, a, phi):
    q[a], q[a + 1], q[a + 2], q[a + 3] = vec.quat_normalized(
        vec.quat_mul(vec.quat_exp(phi), (q[a], q[a + 1], q[a + 2], q[a + 3]))
    )


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
def demanded_torque(state, rates, dof, q_index):
    """What a joint of one degree of freedom is to exert now: the held torque and its impedance."""
    torque = state.torque[dof]
    torque -= state.stiffness[dof] * (state.q[q_index] - state.setpoint[dof])
    torque -= state.damping[dof] * rates[dof]
    return torque


@kernel
def put_effort(tree, state, i):
    """Bound all that the actuator of joint i gives in the steps by what it could give at the last tick."""
    dof = tree.first_v[i]
    tree.passive[i, MIN_EFFORT], tree.passive[i, MAX_EFFORT] = state.effort[0, dof], state.effort[1, dof]


@kernel
def held_torque(tree, state, rates, actuators, i):
    """What the actuator of joint i, of one degree of freedom, has come to exert by the end of a tick.

    Muscles that hold a joint by an impedance exert all of it already where a motion begins.
    """
    dof = tree.first_v[i]
    if actuators.bounds[dof] == 0:
        return state.torque[dof]
    torque = demanded_torque(state, rates, dof, tree.first_q[i])
    if state.counts[GIVEN] == 0:
        return torque / (1.0 - actuators.kept[0])
    return min(max(torque, state.effort[0, dof]), state.effort[1, dof])


@kernel
def apply_torques(tree, state, rates, actuators, torque):
    """Torques as the actuators give them for a tick: late, within the limits, with noise. A floating root has none.

    The time in which more than the limit was asked for is counted: here, or in the steps where these bound the torque
    together with what an impedance exerts. The noise has channels of its own, after those of ``blur``: with the same
    seed it is still independent of what the sensors add.
    """
    kept, gives = actuators.kept[0], 0
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            give(tree, state, rates, actuators, torque, i)
            gives = max(gives, actuators.bounds[tree.first_v[i]])
        elif tree.kind[i] != FLOATING:
            for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
                state.torque[dof] = kept * state.torque[dof] + (1.0 - kept) * torque[dof]
    state.counts[TICKS] += 1
    state.counts[GIVEN] += gives


@kernel
def give(tree, state, rates, actuators, torque, i):
    """Hold a torque on joint i, of one degree of freedom.

    What its impedance exerts besides is late, as its stiffness and damping are but a lag's share of what they would be,
    and the steps bound the sum.
    """
    dof, kept = tree.first_v[i], actuators.kept[0]
    last = held_torque(tree, state, rates, actuators, i)
    state.torque[dof] = kept * last + (1.0 - kept) * torque[dof]
    if actuators.seed[0] < 0:
        return
    low, high = range_of_torque(state, rates, actuators, dof, tree.first_q[i])
    rise = actuators.rise[dof]
    if rise < math.inf:
        low, high = min(max(last - rise, low), high), max(min(last + rise, high), low)
    bounds, asked = actuators.bounds[dof] == 1, state.torque[dof]
    if bounds:
        asked = demanded_torque(state, rates, dof, tree.first_q[i])
        state.effort[0, dof], state.effort[1, dof] = low, high
        put_effort(tree, state, i)
    elif not low <= asked <= high:
        state.ledger.saturated[dof] += actuators.span[0]
    given = min(max(asked, low), high)
    spread = actuators.noise[dof] + actuators.share[dof] * abs(given)
    noise = spread * normal(actuators.seed[0], state.counts[TICKS], 2 * state.torque.shape[0] + dof)
    state.torque[dof] = state.torque[dof] + noise if bounds else min(max(given + noise, low), high)
