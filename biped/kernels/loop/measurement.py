"""Sensors and actuators: measurements for a controller and its torques, with delays, noise and limits.

A controller reads a ``Measurement`` and writes torques. Both are separate arrays, so that a controller can affect the
plant by torques only.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.random import normal
from biped.kernels.state.simulation_state import GIVEN, JOINTS_DISSIPATED, SENSED, TICKS
from biped.kernels.step.step import time_of
from biped.kernels.tree.dynamics import TreeData, new_tree_data, turn_inertias
from biped.kernels.tree.kinematics import copy_poses, place_bodies
from biped.kernels.tree.tree import FLOATING, MAX_EFFORT, MIN_EFFORT, REST, Tree
from biped.kernels.variational.joints import stop_energy
from contact import vectors as vec
from contact.analytic import cos
from contact.arrays import Floats, Integers
from contact.point_law import touches
from kernelcache import kernel

# Kinds of the numbers in a row of ``SimulationState.past``.
NOT_NOISY = 0  # the state of a contact, or the last three numbers of a quaternion
SCALAR = 1
TURN = 2  # the first number of a quaternion
FORCE = 3  # noisy only while the point touches

# Rows of ``SimulationState.past`` after those of the ticks.
START = 0  # the sensor values at the start
COLOURED = 1  # the last coloured noise
SHOWN = 2  # the sensor values of this tick
ROWS = 3


class Measurement(NamedTuple):
    """Sensor values at a tick, which a controller may also overwrite."""

    tree: Tree  # the plant that the controller assumes
    time: Floats  # (1,) [s]
    q: Floats  # (nq,)
    motion: TreeData  # poses, inertias and rates; the rest is a workspace
    force: Floats  # (nc, 3) [N] ground reaction force on each contact point in the last step, world axes
    contact_state: Integers  # (nc,) contact state at its end (``contact.modes``)
    # Always exact:
    held: Floats  # (nv,) [N·m] torques of the actuators since the last tick
    least: Floats  # (nv,) [N·m] least torque that they can exert
    most: Floats  # (nv,) [N·m] greatest torque that they can exert
    # Written by the controller:
    planned: Floats  # (nv,) [rad/s²] accelerations that it plans until the next tick; NaN without a plan


class SensorModel(NamedTuple):
    """Sensor parameters for each number in a row of ``SimulationState.past``; of width zero for perfect sensors."""

    seed: Integers  # (1,)
    depth: Integers  # (1,) number of ticks in ``past``; ``ROWS`` more rows follow them
    kind: Integers  # (width,)
    channel: Integers  # (width,) channel of the random numbers; a quaternion has this one and the next two
    late: Integers  # (width,) [control ticks] delay
    noise: Floats  # (width,) standard deviation
    share: Floats  # (width,) standard deviation / distance from the value at the start
    kept: Floats  # (width,) share of the last noise that the next tick keeps; 0 for white noise
    threshold: Floats  # (width,) dead zone: distance from the start below which a change is not shown
    offset: Floats  # (3,) [m] root axes: from the root's centre of mass to the one that the controller assumes


class Actuators(NamedTuple):
    """Parameters of the actuators."""

    limit: Floats  # (nv,) [N·m], or infinite
    noise: Floats  # (nv,) [N·m] standard deviation
    share: Floats  # (nv,) standard deviation / size of the torque
    seed: Integers  # (1,) negative for ideal actuators
    span: Floats  # (1,) [s] control period
    strength: Floats  # (nv or 0, 2, 6) strength of a joint by angle and rate, in both directions (``strength_at``)
    kept: Floats  # (1,) share of the last tick's torque that a lag keeps
    rise: Floats  # (nv,) [N·m] greatest change of a torque in a tick, or infinite
    bounds: Integers  # (nv,) 1 where they exert an impedance too, which ``Tree.passive`` bounds in the steps
    tone: Floats  # (2, nv) intrinsic stiffness [N·m/rad] and damping [N·m·s/rad] of muscles; (2, 0) without any


def new_measurement(tree: Tree, nq: int, nv: int, more_points: int = 0) -> Measurement:
    """Return a measurement for a controller that assumes this tree.

    The plant may have more contact points after the tree's; they are part of the poses, and no law reads them.
    """
    assumed = Tree._make(array.copy() for array in tree)
    nc = tree.contact_body.shape[0] + more_points
    motion = new_tree_data(tree.parent.shape[0], nv, nc)
    touch = np.full((nc, 3), np.nan), np.zeros(nc, dtype=np.int64)
    torques = np.full(nv, np.nan), np.full(nv, -np.inf), np.full(nv, np.inf)
    return Measurement(assumed, np.full(1, np.nan), np.full(nq, np.nan), motion, *touch, *torques, np.full(nv, np.nan))


def perfect_sensors() -> SensorModel:
    """Return the model of perfect sensors."""
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    return SensorModel(
        np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64), none, none, none, nothing, nothing, nothing, nothing,
        np.zeros(3),
    )  # fmt: skip


def ideal_actuators(nv: int, span: float) -> Actuators:
    """Return the model of ideal actuators, which exert any torque."""
    z = np.zeros
    all_of_it, seed = np.full(nv, np.inf), np.array([-1])
    none = np.zeros(nv, dtype=np.int64)
    return Actuators(
        all_of_it, z(nv), z(nv), seed, np.array([span]), z((0, 2, 6)), z(1), all_of_it.copy(), none, z((2, 0))
    )


@kernel
def measure(tree, state, motion, sensors, actuators, measurement):
    """Fill ``measurement`` from the plant, whose ``motion.rates`` are known; once per control tick."""
    measurement.time[0] = time_of(state)
    measure_touch(state, measurement)
    measure_abilities(tree, state, motion.rates, actuators, measurement)
    shown = measurement.motion
    if sensors.late.shape[0] == 0:
        vec.copy1(state.q, measurement.q)
        vec.copy1(motion.rates, shown.rates)
        copy_poses(motion.poses, shown.poses)
        copy_inertias(motion.inertia, shown.inertia)
        return
    keep_tick(state, motion.rates, sensors)
    row = state.past[sensors.depth[0] + SHOWN]
    take_late(state, sensors, row)
    if tree.kind[0] == FLOATING:
        move_root(sensors, row, state.q.shape[0])
    if state.counts[SENSED] == 0 or state.counts[TICKS] == 0:
        keep_start(state, sensors, row, state.q.shape[0] + motion.rates.shape[0])
    blur(state, sensors, row)
    show(row, measurement)
    place_measured(measurement)
    state.counts[SENSED] += 1


@kernel
def keep_tick(state, rates, sensors):
    """Store the present tick until its delay has passed: (q, v), then ground reaction forces and contact states."""
    nq, nv, nc = state.q.shape[0], rates.shape[0], state.force.shape[0]
    newest = state.past[state.counts[SENSED] % sensors.depth[0]]
    for k in range(nq):
        newest[k] = state.q[k]
    for k in range(nv):
        newest[nq + k] = rates[k]
    for c in range(nc):
        for axis in range(3):
            newest[nq + nv + 3 * c + axis] = state.force[c, axis]
        newest[nq + nv + 3 * nc + c] = state.contact_state[c]


@kernel
def take_late(state, sensors, row):
    """Read each number from the tick that precedes the present one by the delay of this number."""
    for k in range(row.shape[0]):
        row[k] = state.past[max(state.counts[SENSED] - sensors.late[k], 0) % sensors.depth[0], k]


@kernel
def keep_start(state, sensors, row, count):
    """Store configuration and velocity at the start, to which noise and dead zone refer; forces refer to zero."""
    for k in range(count):
        state.past[sensors.depth[0] + START, k] = row[k]


@kernel
def show(row, measurement):
    """Copy a row into the arrays that the controller reads."""
    q, rates, nc = measurement.q, measurement.motion.rates, measurement.force.shape[0]
    nq, first = q.shape[0], q.shape[0] + rates.shape[0]
    for k in range(nq):
        q[k] = row[k]
    for k in range(rates.shape[0]):
        rates[k] = row[nq + k]
    for c in range(nc):
        for axis in range(3):
            measurement.force[c, axis] = row[first + 3 * c + axis]
        measurement.contact_state[c] = int(row[first + 3 * nc + c])


@kernel
def measure_touch(state, measurement):
    vec.copy1(state.contact_state, measurement.contact_state)
    vec.copy1(state.torque, measurement.held)
    measurement.planned[:] = math.nan
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
    """Set poses and inertias of the measured configuration."""
    place_bodies(measurement.tree, measurement.q, measurement.motion.poses)
    turn_inertias(measurement.tree, measurement.motion.poses, measurement.motion.inertia)


@kernel
def copy_inertias(source, target):
    for i in range(source.shape[0]):
        for k in range(9):
            target[i, k] = source[i, k]


@kernel
def move_root(sensors, row, nq):
    """Shift the root's centre of mass to that without the root's load, which the controller does not know."""
    arm = vec.mat_vec(vec.quat_matrix((row[3], row[4], row[5], row[6])), vec.triple(sensors.offset))
    moving = vec.cross((row[nq + 3], row[nq + 4], row[nq + 5]), arm)
    for axis in range(3):
        row[axis] += arm[axis]
        row[nq + axis] += moving[axis]


@kernel
def blur(state, sensors, row):
    """Add the noise of each number and apply its threshold."""
    nc = state.force.shape[0]
    states = row.shape[0] - nc
    for k in range(row.shape[0]):
        kind = sensors.kind[k]
        if kind == SCALAR or (kind == FORCE and touches(int(row[states + (k - states + 3 * nc) // 3]))):
            row[k] = blurred(state, sensors, k, row[k])
        elif kind == TURN:
            blur_turn(state, sensors, k, row)


@kernel
def blurred(state, sensors, k, value):
    """Return a number with noise, reduced by its dead zone."""
    begun, threshold = state.past[sensors.depth[0] + START, k], sensors.threshold[k]
    spread = sensors.noise[k] + sensors.share[k] * abs(value - begun)
    if spread > 0.0:
        value += spread * noise_of(state, sensors, k, 0)
    return begun + beyond(value - begun, threshold) if threshold > 0.0 else value


@kernel
def beyond(away, threshold):
    """Return the part of a distance outside the dead zone: zero if the distance is within ``threshold``."""
    return max(away - threshold, 0.0) + min(away + threshold, 0.0)


@kernel
def noise_of(state, sensors, k, axis):
    """Return standard normal noise: white, or coloured by the previous value and stationary from the first on."""
    drawn, kept = normal(sensors.seed[0], state.counts[TICKS], sensors.channel[k] + axis), sensors.kept[k]
    if kept == 0.0:
        return drawn
    coloured = state.past[sensors.depth[0] + COLOURED]
    if coloured[k + axis] != 0.0:  # zero before the first
        drawn = kept * coloured[k + axis] + math.sqrt(1.0 - kept * kept) * drawn
    coloured[k + axis] = drawn
    return drawn


@kernel
def blur_turn(state, sensors, a, q):
    """Turn the quaternion at q[a] by noise, and back by the threshold, in the axes to which it maps."""
    begun, threshold = state.past[sensors.depth[0] + START], sensors.threshold[a]
    start = begun[a], begun[a + 1], begun[a + 2], begun[a + 3]
    spread = sensors.noise[a]
    if sensors.share[a] > 0.0:
        away = vec.rotation_vector(vec.quat_mul((q[a], q[a + 1], q[a + 2], q[a + 3]), vec.quat_conj(start)))
        spread += sensors.share[a] * vec.norm(away)
    if spread > 0.0:
        x, y, z = noise_of(state, sensors, a, 0), noise_of(state, sensors, a, 1), noise_of(state, sensors, a, 2)
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


#: [rad/s] Greatest rate of lengthening on which strength depends; faster lengthening counts as this rate (our choice).
FASTEST_BACK = 0.5 * math.pi


@kernel
def strength_at(strength, angle, rate):
    """Return the greatest torque in a direction at an angle and a rate in that direction (Anderson et al. 2007).

    ``strength`` holds the numbers of ``biped.model.strength.Strength``.
    """
    peak, width, centre = strength[0], strength[1], strength[2]
    gain, loss, lengthening = strength[3], strength[4], strength[5]
    turn = width * (angle - centre)
    if abs(turn.real) >= 0.5 * math.pi:
        return 0.0
    speed = rate if rate.real >= 0.0 else -rate if -rate.real < FASTEST_BACK else FASTEST_BACK
    share = 1.0 + gain * speed
    most = peak * cos(turn) * (0.0 if share.real <= 0.0 else share) / (1.0 + loss * speed)
    return most if rate.real >= 0.0 else most * (1.0 + lengthening * speed)


@kernel
def range_of_torque(state, rates, actuators, dof, q_index):
    """Return the least and the greatest torque that a joint of one degree of freedom can exert now."""
    low, high = -actuators.limit[dof], actuators.limit[dof]
    if actuators.strength.shape[0] > 0:
        ahead, back = actuators.strength[dof, 0], actuators.strength[dof, 1]
        high = min(high, strength_at(ahead, state.q[q_index], rates[dof]))
        low = max(low, -strength_at(back, state.q[q_index], -rates[dof]))
    return low, high


@kernel
def demanded_torque(state, rates, dof, q_index):
    """Return the demanded torque of a joint of one degree of freedom: the held torque and its impedance."""
    torque = state.torque[dof]
    torque -= state.stiffness[dof] * (state.q[q_index] - state.setpoint[dof])
    torque -= state.damping[dof] * rates[dof]
    return torque


@kernel
def set_rest_angles(tree, state, actuators, measurement, torque):
    """Set the rest angles of intrinsic stiffness so that it exerts no torque in the measured motion.

    The springs' change of energy counts as dissipation. Within the tick, stiffness K and damping D resist the motion
    that the controller plans, on average by (D v̇ + K v) h/2: as if D h/2 were added to the joint's inertia, several
    times that of a foot. The muscles' torque is raised by as much.
    """
    half = 0.5 * actuators.span[0]
    for i in range(tree.parent.shape[0] if actuators.tone.shape[1] > 0 else 0):
        dof, a = tree.first_v[i], tree.first_q[i]
        if tree.dofs[i] == 1 and actuators.tone[0, dof] > 0.0:
            before = stop_energy(tree, i, state.q[a])
            pace = actuators.tone[1, dof] / actuators.tone[0, dof]
            rate, planned = measurement.motion.rates[dof], measurement.planned[dof]
            state.setpoint[dof] = measurement.q[a] + pace * rate
            if not math.isnan(planned):
                torque[dof] += half * (actuators.tone[1, dof] * planned + actuators.tone[0, dof] * rate)
            tree.passive[i, REST] = state.setpoint[dof]
            state.ledger.works[JOINTS_DISSIPATED] += before - stop_energy(tree, i, state.q[a])


@kernel
def put_effort(tree, state, i):
    """Bound the torque of joint i's actuator within steps by its range at the last tick."""
    dof = tree.first_v[i]
    tree.passive[i, MIN_EFFORT], tree.passive[i, MAX_EFFORT] = state.effort[0, dof], state.effort[1, dof]


@kernel
def held_torque(tree, state, rates, actuators, i):
    """Return the torque of joint i's actuator, of one degree of freedom, at the end of a tick.

    Muscles that exert an impedance exert all of it at the start of a motion.
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
    """Hold torques for a tick with lag, limits and noise of the actuators; a floating root has none.

    The time at a limit is counted here, or in the steps if these bound the torque together with an impedance. The
    noise has separate channels, after those of ``blur``, and is independent of sensor noise with the same seed.
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

    The torque of its impedance lags too, since stiffness and damping are reduced to the lag's share, and the steps
    bound the sum.
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
