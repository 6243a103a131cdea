"""Kernels of whole-body control by a quadratic program for accelerations and contact forces.

The tasks are desired accelerations with weights; the program minimizes the weighted sum of squared task errors, all in
m/s² or rad/s²: momenta are divided by m z² and forces by m. Positions are relative to the reference point O, the root's
centre of mass, in world axes.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.closed_loop import control
from biped.kernels.tree.dynamics import centre_of_mass, compose_mass_matrix
from biped.kernels.tree.tree import SPHERICAL
from biped.kernels.tree.whole_body import bias_at, bias_forces, drift, point_jacobian, velocity_at
from contact.arrays import Floats, Integers
from contact.point_law import touches
from contact.vectors import add, cross, load3, load4, load6, load9, mat_vec, quat_difference, quat_mul, scale, sub
from controllers.kernels import contact_qp
from kernelcache import kernel

# Outcomes of a tick, in addition to those of ``contact_qp``; recorded.
WITHOUT_RANGES = 1  # joint ranges and speeds were left out: no solution with them
HELD = 2  # no solution: the last torques are held


class Tasks(NamedTuple):
    """Gains and weights of the tasks."""

    capture: float  # [1/s] decay rate of the capture point's error
    height: tuple[float, float]  # [1/s², 1/s] height of the centre of mass
    trunk: tuple[float, float]  # orientation of the trunk
    momentum: float  # [1/s] decay rate of the angular momentum about the centre of mass
    feet: tuple[float, float]
    posture: tuple[float, float]
    weight_height: float  # the horizontal acceleration of the centre of mass has weight 1
    weight_trunk: float
    weight_momentum: float
    weight_feet: float
    weight_posture: float
    weight_force: float
    friction: float
    lift: float  # [m] height above the foot's lowest touching point up to which a point bears load
    look_ahead: float  # [s] time horizon of the joint range limits


class Stance(NamedTuple):
    """Reference posture, and stance feet."""

    com: Floats  # (3,) [m] centre of mass: x, y from the midpoint of the feet's, z above the floor
    posture: Floats  # (nq,) configuration; the root's position is not used
    foot: Integers  # (feet,) bodies
    foot_place: Floats  # (feet, 3) [m] their centres of mass, relative to the same origin
    foot_turn: Floats  # (feet, 4) orientations
    point: Integers  # (m,) the feet's contact points
    point_foot: Integers  # (m,) foot of each
    inset: Floats  # (m, 3) [m] foot's axes: offset of each assumed contact point towards the middle
    held: Floats  # (nv,) factor of the posture weight of each joint; almost zero for joints without torque


class Limits(NamedTuple):
    """Limits of joints of one degree of freedom."""

    torque_dof: Integers  # (·,)
    torque: Floats  # (·,) [N·m] limit of the controller, or inf
    reason: Floats  # (·,) [N·m] this limit, or a value that no posture needs
    range_dof: Integers  # (·,) joints with a range or a speed limit
    range_q: Integers  # (·,) coordinates of these joints
    lower: Floats  # (·,) [rad] lower end of the range, or −inf
    upper: Floats  # (·,) [rad] upper end of the range, or inf
    speed: Floats  # (·,) [rad/s] speed limit, or inf


class Buffers(NamedTuple):
    """Buffers of a tick."""

    mass: Floats  # (nv, nv)
    bias: Floats  # (nv,)
    jacobian: Floats  # (6, nv)
    push: Floats  # (nv, 3m) Jᵀ of the feet's points
    shares: Floats  # (feet,) share of each foot in the load; equal if there is no load
    most: Floats  # (feet,) [N] load limit of each foot, or inf
    more: Floats  # (k, nv) further rows of accelerations, at least ``least`` (as ranges)
    least: Floats  # (k,)
    rows: Integers  # (1,) number of these rows
    state: Floats  # (PLACES,) below


# Indices of ``Buffers.state``: centre of mass and feet's midpoint, from O, and the velocity of the support.
COM = 0
BETWEEN = 3
BEARING = 6  # (3,) velocity of the floor, estimated from the feet
HIGH = 9  # [m] height of the centre of mass above the floor, from the feet
PLACES = 10

#: Index of the yaw acceleration among a body's six.
YAW = 5


class WholeBodyLaw(NamedTuple):
    """Compiled controller."""

    tasks: Tasks
    stance: Stance
    limits: Limits
    qp: contact_qp.ContactQp
    buffers: Buffers


def new_buffers(nv: int, feet: int, points: int, more: int = 0) -> Buffers:
    """Return the buffers for a model, with ``more`` further rows."""
    return Buffers(
        mass=np.full((nv, nv), np.nan), bias=np.full(nv, np.nan), jacobian=np.full((6, nv), np.nan),
        push=np.zeros((nv, 3 * points)), shares=np.full(feet, np.nan), most=np.full(feet, math.inf),
        more=np.zeros((more, nv)), least=np.zeros(more), rows=np.zeros(1, dtype=np.int64),
        state=np.full(PLACES, np.nan),
    )  # fmt: skip


def new_program(nv: int, feet: int, points: int, limits: Limits, more: int = 0) -> contact_qp.ContactQp:
    """Return the program of a tick."""
    return contact_qp.new_contact_qp(nv, points, len(limits.torque_dof) + feet + len(limits.range_dof) + more)


@control.register(WholeBodyLaw)
def whole_body_torques(law, measurement, torque, recorded):
    """Write the torques of a tick; record the program's outcome and iterations."""
    see(law, measurement)
    write_base(law, measurement)
    clear_cost(law)
    balance_task(law, measurement)
    momentum_task(law, measurement)
    turn_task(law, measurement)
    feet_task(law, measurement)
    posture_task(law, measurement)
    recorded[0] = solve(law, measurement, torque)
    recorded[1] = float(law.qp.counts[contact_qp.ITERATIONS])


@kernel
def see(law, measurement):
    """Compute mass matrix, bias forces, and the support: touching points, shares of the load, velocity."""
    stance, buffers = law.stance, law.buffers
    tree, motion = measurement.tree, measurement.motion
    drift(tree, motion)
    compose_mass_matrix(tree, motion, buffers.mass)
    bias_forces(tree, motion, buffers.bias)
    buffers.shares[:] = 0.0
    total = 0.0
    for k in range(stance.point.shape[0]):
        point = stance.point[k]
        load = max(measurement.force[point, 2], 0.0)
        buffers.shares[stance.point_foot[k]] += load
        total += load
    find_carriers(law, measurement)
    share_weight(law, measurement)
    feet = stance.foot.shape[0]
    com = centre_of_mass(tree, motion.poses)
    high = 0.0
    for axis in range(3):
        buffers.state[COM + axis] = com[axis]
        buffers.state[BETWEEN + axis] = 0.0
        buffers.state[BEARING + axis] = 0.0
    for k in range(feet):
        i = stance.foot[k]
        place = load3(motion.poses.com, i)
        moving = velocity_at(motion, i, place)
        for axis in range(3):
            buffers.state[BETWEEN + axis] += place[axis] / feet
        buffers.shares[k] = buffers.shares[k] / total if total > 0.0 else 1.0 / feet
        for axis in range(3):
            buffers.state[BEARING + axis] += buffers.shares[k] * moving[axis]
        high += buffers.shares[k] * (place[2] - stance.foot_place[k, 2])
    buffers.state[HIGH] = com[2] - high


@kernel
def find_carriers(law, measurement):
    """Set the load-bearing points: touching points, and slightly lifted points of a touching foot."""
    stance, carries = law.stance, law.qp.carries
    places = measurement.motion.poses.contact
    for k in range(stance.point.shape[0]):
        lowest = lowest_touch(stance, measurement, stance.point_foot[k])
        carries[k] = 1 if lowest < math.inf and places[stance.point[k], 2] < lowest + law.tasks.lift else 0


@kernel
def is_in_flight(law):
    """Return True if no contact point carries the body."""
    for k in range(law.qp.carries.shape[0]):
        if law.qp.carries[k]:
            return False
    return True


@kernel
def lowest_touch(stance, measurement, foot):
    """Return the height [m], from O, of a foot's lowest touching point; infinite if none touches."""
    lowest = math.inf
    for k in range(stance.point.shape[0]):
        point = stance.point[k]
        if stance.point_foot[k] == foot and touches(measurement.contact_state[point]):
            lowest = min(lowest, measurement.motion.poses.contact[point, 2])
    return lowest


@kernel
def share_weight(law, measurement):
    """Set the preferred forces to equal shares of the weight, so that standing upright costs nothing."""
    qp, carrying = law.qp, 0
    for k in range(qp.carries.shape[0]):
        carrying += qp.carries[k]
    weight = -law.buffers.mass[0, 0] * measurement.tree.gravity[2]
    for k in range(qp.carries.shape[0]):
        qp.preferred[3 * k + 2] = weight / carrying if qp.carries[k] else 0.0


@kernel
def write_base(law, measurement):
    """Write the program's equality: the first six rows of M v̇ + h = τ + Jᵀ f, which have no torque."""
    stance, buffers, qp = law.stance, law.buffers, law.qp
    tree, poses = measurement.tree, measurement.motion.poses
    for k in range(stance.point.shape[0]):
        j = tree.contact_body[stance.point[k]]  # the foot, or its toes
        p = add(load3(poses.contact, stance.point[k]), mat_vec(load9(poses.rotation, j), load3(stance.inset, k)))
        while j >= 0:
            for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
                s = load6(poses.motion, dof)
                moved = add(s[:3], cross(s[3:], p))
                for axis in range(3):
                    buffers.push[dof, 3 * k + axis] = moved[axis]
            j = tree.parent[j]
    for row in range(contact_qp.BASE):
        qp.load[row] = -buffers.bias[row]
        for dof in range(buffers.mass.shape[0]):
            qp.base[row, dof] = buffers.mass[row, dof]
        for column in range(buffers.push.shape[1]):
            qp.grasp[row, column] = buffers.push[row, column]


@kernel
def clear_cost(law):
    qp = law.qp
    qp.hessian[:] = 0.0
    qp.gradient[:] = 0.0
    qp.friction[0] = law.tasks.friction


@kernel
def add_row(qp, row, weight, desired):
    """Add ½ w (row · v̇ − wanted)² to the cost (lower triangle of H)."""
    n = qp.hessian.shape[0]
    for i in range(n):
        part = weight * row[i]
        if part != 0.0:
            qp.gradient[i] += part * desired
            for k in range(i + 1):
                qp.hessian[i, k] += part * row[k]


@kernel
def add_entry(qp, dof, weight, desired):
    """Add the cost of one acceleration to the program."""
    qp.gradient[dof] += weight * desired
    qp.hessian[dof, dof] += weight


@kernel
def balance_task(law, measurement):
    """Add the CoM tasks: the capture point moves to its set point, and the height is held.

    ξ = x + ẋ/ω, ω² = g/z, and ξ̇ = ω (ξ − p) with p the centre of pressure (Koolen et al. 2012), so that p = ξ + (k/ω)
    (ξ − ξ_d) makes the error decay as e^{−kt}; ẍ = ω² (x − p). Positions and velocities are relative to the feet's.
    """
    tasks, buffers, qp = law.tasks, law.buffers, law.qp
    tree, rates = measurement.tree, measurement.motion.rates
    mass = buffers.mass[0, 0]
    gravity = -tree.gravity[2]
    omega = math.sqrt(gravity / max(buffers.state[HIGH], 0.1 * law.stance.com[2]))
    for axis in range(3):
        row = buffers.jacobian[axis]
        moving = -buffers.state[BEARING + axis]
        for dof in range(row.shape[0]):
            row[dof] = buffers.mass[axis, dof] / mass
            moving += row[dof] * rates[dof]
        if axis < 2:
            x = buffers.state[COM + axis] - buffers.state[BETWEEN + axis] - law.stance.com[axis]
            capture = x + moving / omega
            desired = -omega * (moving + tasks.capture * capture)
            weight = 1.0
        else:
            stiffness, damping = tasks.height
            desired = stiffness * (law.stance.com[2] - buffers.state[HIGH]) - damping * moving
            weight = tasks.weight_height
        add_row(qp, row, weight, desired - buffers.bias[axis] / mass - tree.gravity[axis])
    qp.spread[0] = tasks.weight_force / (mass * mass)


@kernel
def momentum_task(law, measurement):
    """Add the task of decaying angular momentum about the centre of mass."""
    buffers, rates = law.buffers, measurement.motion.rates
    scaled = buffers.mass[0, 0] * law.stance.com[2] * law.stance.com[2]
    com = (buffers.state[COM], buffers.state[COM + 1], buffers.state[COM + 2])
    for axis in range(3):
        row = buffers.jacobian[axis]
        now = 0.0
        for dof in range(row.shape[0]):
            turning = (buffers.mass[3, dof], buffers.mass[4, dof], buffers.mass[5, dof])
            shift = cross(com, (buffers.mass[0, dof], buffers.mass[1, dof], buffers.mass[2, dof]))
            row[dof] = sub(turning, shift)[axis] / scaled
            now += row[dof] * rates[dof]
        turning = (buffers.bias[3], buffers.bias[4], buffers.bias[5])
        bias = sub(turning, cross(com, (buffers.bias[0], buffers.bias[1], buffers.bias[2])))[axis] / scaled
        add_row(law.qp, row, law.tasks.weight_momentum, -law.tasks.momentum * now - bias)


@kernel
def turn_task(law, measurement):
    """Add the trunk orientation task. The error is the quaternion's vector part (Wendlandt 1997, equation 4.24)."""
    rates, q = measurement.motion.rates, measurement.q
    stiffness, damping = law.tasks.trunk
    home = law.stance.posture
    _, x, y, z = quat_difference((q[3], q[4], q[5], q[6]), (home[3], home[4], home[5], home[6]))
    error = (2.0 * x, 2.0 * y, 2.0 * z)
    for axis in range(3):
        desired = -stiffness * error[axis] - damping * rates[3 + axis]
        add_entry(law.qp, 3 + axis, law.tasks.weight_trunk, desired)


@kernel
def feet_task(law, measurement):
    """Add the foot tasks: stance feet stay still; an unloaded foot is put back flat at its reference position."""
    falls = is_in_flight(law)  # feet that are held in place would never come down
    for k in range(law.stance.foot.shape[0]):
        foot_task(law, measurement, k, falls)


@kernel
def foot_task(law, measurement, k, falls):
    """Add the task of a foot; ``falls``: True if no contact point carries the body."""
    stance, buffers, tasks = law.stance, law.buffers, law.tasks
    tree, motion = measurement.tree, measurement.motion
    stiffness, damping = tasks.feet
    i = stance.foot[k]
    arm = load3(motion.poses.com, i)
    touching, points = touch(law, k)
    point_jacobian(tree, motion.poses, i, arm, buffers.jacobian)
    moving, bias = velocity_at(motion, i, arm), bias_at(motion, i, arm)
    _, x, y, z = quat_difference(load4(motion.poses.quaternion, i), load4(stance.foot_turn, k))
    away = displaced(law, k, arm)
    error = (away[0], away[1], away[2], 2.0 * x, 2.0 * y, 2.0 * z)
    for axis in range(6):
        floor = buffers.state[BEARING + axis] if axis < 3 else 0.0
        desired = -damping * (moving[axis] - floor)
        # Friction holds touching points, except for a foot that pivots on a corner; a flat foot is held completely.
        if axis == YAW or (touching < points and (touching == 0 or axis > 1)):
            desired -= stiffness * error[axis]
        if falls and axis < 3:
            desired += tree.gravity[axis]
        add_row(law.qp, buffers.jacobian[axis], tasks.weight_feet, desired - bias[axis])


@kernel
def touch(law, k):
    """Return the number of a foot's touching points, and its number of points."""
    touching, points = 0, 0
    for c in range(law.stance.point.shape[0]):
        if law.stance.point_foot[c] == k:
            points += 1
            touching += law.qp.carries[c]
    return touching, points


@kernel
def displaced(law, k, place):
    """Return a foot's displacement [m]: horizontal relative to the other feet, height relative to loaded ones."""
    stance, state = law.stance, law.buffers.state
    between = (state[BETWEEN], state[BETWEEN + 1], state[BETWEEN + 2])
    away = sub(sub(place, between), load3(stance.foot_place, k))
    feet = stance.foot.shape[0]
    # The mean moves with the foot itself by 1 / feet.
    away = scale(feet / (feet - 1.0), away) if feet > 1 else away
    high = state[COM + 2] - state[HIGH]
    return away[0], away[1], place[2] - stance.foot_place[k, 2] - high


@kernel
def posture_task(law, measurement):
    """Add the joint posture task, which determines motions that other tasks leave free."""
    tree, rates = measurement.tree, measurement.motion.rates
    stiffness, damping = law.tasks.posture
    for i in range(1, tree.parent.shape[0]):
        error = joint_error(law, measurement, i)
        for axis in range(tree.dofs[i]):
            dof = tree.first_v[i] + axis
            weight = law.tasks.weight_posture * law.stance.held[dof]
            add_entry(law.qp, dof, weight, -stiffness * error[axis] - damping * rates[dof])


@kernel
def joint_error(law, measurement, i):
    """Return a joint's displacement from the posture, in the axes of its rates (spherical joint: world axes)."""
    tree, poses, home = measurement.tree, measurement.motion.poses, law.stance.posture
    first = tree.first_q[i]
    if tree.kind[i] != SPHERICAL:
        return measurement.q[first] - home[first], 0.0, 0.0
    desired = quat_mul(
        load4(poses.quaternion, tree.parent[i]), (home[first], home[first + 1], home[first + 2], home[first + 3])
    )
    _, x, y, z = quat_difference(load4(poses.quaternion, i), desired)
    return 2.0 * x, 2.0 * y, 2.0 * z


@kernel
def torque_range(law, measurement, most, k):
    """Return the torque range of a joint: the controller's limit and the actuator's current range."""
    dof = law.limits.torque_dof[k]
    return max(measurement.least[dof], -most[k]), min(measurement.most[dof], most[k])


@kernel
def keep_torques_in_range(law, measurement, most, torque):
    for k in range(law.limits.torque_dof.shape[0]):
        dof = law.limits.torque_dof[k]
        low, high = torque_range(law, measurement, most, k)
        torque[dof] = min(max(torque[dof], low), high)


@kernel
def write_torque_limits(law, measurement, most):
    """Write least ≤ M v̇ + h − Jᵀ f ≤ most for joints with limits; return their number."""
    limits, buffers, qp = law.limits, law.buffers, law.qp
    nv, row = buffers.mass.shape[0], 0
    for k in range(limits.torque_dof.shape[0]):
        dof = limits.torque_dof[k]
        low, high = torque_range(law, measurement, most, k)
        if low > -math.inf or high < math.inf:
            for i in range(nv):
                qp.rows[row, i] = buffers.mass[dof, i]
            for column in range(buffers.push.shape[1]):
                qp.rows[row, nv + column] = -buffers.push[dof, column]
            qp.lower[row], qp.upper[row] = low - buffers.bias[dof], high - buffers.bias[dof]
            row += 1
    return row


@kernel
def write_load_limits(law, first):
    """Write Σ f_z ≤ most for each foot with a load limit; return the number of rows."""
    stance, buffers, qp = law.stance, law.buffers, law.qp
    nv, row = buffers.mass.shape[0], first
    for k in range(buffers.most.shape[0]):
        if buffers.most[k] < math.inf:
            qp.rows[row] = 0.0
            for point in range(stance.point.shape[0]):
                if stance.point_foot[point] == k:
                    qp.rows[row, nv + 3 * point + 2] = 1.0
            qp.lower[row], qp.upper[row] = -math.inf, buffers.most[k]
            row += 1
    return row


@kernel
def write_ranges(law, measurement, first):
    """Write the acceleration limits that keep joints within range and speed.

    With a = 1/T: θ̈ ≥ −2a θ̇ − a² (θ − lower) reaches the end of the range critically damped; θ̈ ≤ a (most − θ̇).
    """
    limits, qp = law.limits, law.qp
    pace = 1.0 / law.tasks.look_ahead
    for k in range(limits.range_dof.shape[0]):
        dof = limits.range_dof[k]
        angle, rate = measurement.q[limits.range_q[k]], measurement.motion.rates[dof]
        qp.rows[first + k] = 0.0
        qp.rows[first + k, dof] = 1.0
        down = -2.0 * pace * rate - pace * pace * (angle - limits.lower[k])
        up = -2.0 * pace * rate + pace * pace * (limits.upper[k] - angle)
        qp.lower[first + k] = max(down, -pace * (limits.speed[k] + rate))
        qp.upper[first + k] = min(up, pace * (limits.speed[k] - rate))
    write_more(law, first + limits.range_dof.shape[0])


@kernel
def write_more(law, first):
    """Write the further rows into the program."""
    buffers, qp = law.buffers, law.qp
    for k in range(buffers.rows[0]):
        qp.rows[first + k] = 0.0
        for dof in range(buffers.more.shape[1]):
            qp.rows[first + k, dof] = buffers.more[k, dof]
        qp.lower[first + k], qp.upper[first + k] = buffers.least[k], math.inf


@kernel
def solve(law, measurement, torque):
    """Write the torques of the program's solution; return the outcome.

    A joint without a limit gets a row only if its torque exceeds ``reason``, since a row that is fulfilled anyway does
    not change the solution. After a numerical failure the last torques are held, within the joints' limits.
    """
    limits, nv = law.limits, law.buffers.mass.shape[0]
    contact_qp.factor_contact_qp(law.qp)
    ended = HELD
    for most in (limits.torque, limits.reason):
        ended = solve_within(law, measurement, most, torque)
        if ended == HELD or is_within_reason(law, torque):
            break
    if ended == HELD:
        for dof in range(contact_qp.BASE, nv):
            torque[dof] = measurement.held[dof]
    keep_torques_in_range(law, measurement, limits.reason, torque)
    return float(ended)


@kernel
def solve_within(law, measurement, most, torque):
    """Write the torques of the solution with torque limits ``most``; return the outcome.

    If there is no solution with joint ranges, they are left out: then a solution always exists, that of limp joints in
    free fall.
    """
    limits, qp = law.limits, law.qp
    bounded = write_load_limits(law, write_torque_limits(law, measurement, most))
    write_ranges(law, measurement, bounded)
    for ended in range(HELD):  # SOLVED, or else WITHOUT_RANGES; a single call site, as each is compiled separately
        contact_qp.solve_contact_qp(
            qp, bounded + (limits.range_dof.shape[0] + law.buffers.rows[0] if ended == contact_qp.SOLVED else 0)
        )
        if qp.counts[contact_qp.ENDED] == contact_qp.SOLVED:
            write_torques(law, torque)
            for dof in range(torque.shape[0]):
                measurement.planned[dof] = qp.unknown[dof]
            return ended
    return HELD


@kernel
def is_within_reason(law, torque):
    limits = law.limits
    for k in range(limits.torque_dof.shape[0]):
        if abs(torque[limits.torque_dof[k]]) > limits.reason[k]:
            return False
    return True


@kernel
def write_torques(law, torque):
    """Write the joint torques M v̇ + h − Jᵀ f."""
    buffers, qp = law.buffers, law.qp
    nv = buffers.mass.shape[0]
    for dof in range(contact_qp.BASE, nv):
        torque[dof] = buffers.bias[dof]
        for i in range(nv):
            torque[dof] += buffers.mass[dof, i] * qp.unknown[i]
        for column in range(buffers.push.shape[1]):
            torque[dof] -= buffers.push[dof, column] * qp.unknown[nv + column]
