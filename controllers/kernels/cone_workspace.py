"""Kernels of the workspace controller with unilateral contact: Algorithm 4.5 of Wendlandt 1997 in friction cones.

Algorithms 4.1 to 4.4 and 4.6 are those of ``controllers.kernels.workspace``. Each leg is to exert a wrench F on the
central body. A part Q of F is due to the weight and motion of the leg itself; the articulated-body recursion of
Algorithm 4.3 provides it as the force of the legs on their fixed feet. So

    F = G f + Q + L a

with f the contact forces on the leg, G their grasp matrix, and a the deviation of the central body from the desired
acceleration, by which Q changes at the rate L. The nearest such wrenches replace the desired wrenches:

    minimize    ½ |P a|² + ½ ε |f − f⁰|²
    subject to  (P − Σ L) a − Σ G f = Σ Q − F^bd        the legs' wrenches sum up to F^bd + P a
                each f in its pyramid, |τ| ≤ limit

with P the central body's articulated inertia, so that P a is the error of the wrench F^bd (its moment has a separate
weight), and f⁰ the forces of least norm that give each foot the wrench of Algorithm 4.5. If f⁰ fulfils all constraints,
nothing is solved and the torques are the thesis's.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.closed_loop import control
from biped.kernels.tree.dynamics import body_bias
from biped.kernels.tree.whole_body import velocity_at
from contact import vectors as v
from contact.arrays import Floats, Integers
from contact.point_law import touches
from controllers.kernels import contact_qp
from controllers.kernels import workspace as thesis_law
from controllers.kernels.set_point import desired_motion
from controllers.kernels.whole_body import HELD, is_in_flight, keep_torques_in_range, lowest_touch, torque_range
from kernelcache import kernel, routine

#: Outcome of a tick, besides SOLVED and HELD: the program has a solution only without torque limits.
WITHOUT_LIMITS = 1
#: Relative pivot of a foot's Gram matrix below which a moment is unavailable (contact on an edge or a point).
DAMPING = 1e-10
#: [N, N·m] Tolerance within which the points' forces match a foot's wrench.
MISSED = 1e-3


class Tasks(NamedTuple):
    """Gains and weights."""

    feet: tuple[float, float]  # [1/s², 1/s] gains for a foot that does not stand flat
    weight_moment: float  # [1/m²] weight of the moment error; the force error has weight 1
    lift: float  # [m] height above the foot's lowest touching point up to which a point bears load


class Stance(NamedTuple):
    """Reference stance of the feet."""

    foot_place: Floats  # (feet, 3) [m] positions of their centres of mass
    foot_turn: Floats  # (feet, 4) orientations
    point: Integers  # (m,) the feet's contact points
    point_foot: Integers  # (m,) foot of each


class Limits(NamedTuple):
    """Limits of the leg joints."""

    torque_dof: Integers  # (r,)
    leg: Integers  # (r,)
    torque: Floats  # (r,) [N·m] torque limit, or inf


class Buffers(NamedTuple):
    """Buffers of a tick; wrenches and twists about O, the central body's centre of mass."""

    acceleration: Floats  # (6,) desired acceleration of the central body
    planned: Floats  # (feet, 6) planned accelerations of the feet
    bias: Floats  # (feet, 6) Q
    response: Floats  # (feet, 6, 6) L


class ConeWorkspaceLaw(NamedTuple):
    """Compiled controller."""

    workspace: thesis_law.WorkspaceLaw
    tasks: Tasks
    stance: Stance
    limits: Limits
    qp: contact_qp.ContactQp
    buffers: Buffers


def new_buffers(feet: int) -> Buffers:
    """Return the buffers for a model."""
    shapes: tuple[tuple[int, ...], ...] = ((6,), (feet, 6), (feet, 6), (feet, 6, 6))
    return Buffers(*(np.full(shape, np.nan) for shape in shapes))


@control.register(ConeWorkspaceLaw)
def cone_workspace_torques(law, measurement, torque, recorded):
    """Write the torques of a tick; record the workspace controller's columns, outcome and iterations."""
    workspace = law.workspace
    gains, legs, scratch = workspace.gains, workspace.legs, workspace.scratch
    tree, motion = measurement.tree, measurement.motion
    desired = desired_motion(workspace.path, gains.target_position, gains.target_orientation, measurement.time[0])
    thesis_law.initialize_and_move(tree, motion)  # Algorithms 4.1 and 4.2
    find_carriers(law, measurement)
    plan_feet(law, measurement)
    thesis_law.workspace_dynamics(tree, gains.big_base, legs, motion, scratch)  # Algorithm 4.3
    thesis_law.desired_wrench(gains, desired, legs, measurement.q, motion, scratch)  # Algorithm 4.4
    thesis_law.distribute_wrench(legs, motion, scratch)  # Algorithm 4.5
    bias_wrenches(law, measurement)
    thesis_law.joint_torques(tree, legs, motion, scratch, torque)  # Algorithm 4.6
    ended = contact_qp.SOLVED
    if not (prefer_forces(law, measurement) and is_within_limits(law, measurement, torque)):
        ended = nearest_wrenches(law, measurement, torque)
    thesis_law.servo_torques(tree, legs, workspace.servo, measurement, torque)
    thesis_law.record(workspace, desired, recorded)
    last = recorded.shape[0] - 1
    recorded[last - 1], recorded[last] = float(ended), float(law.qp.counts[contact_qp.ITERATIONS])


@kernel
def find_carriers(law, measurement):
    """Set the load-bearing points: touching points, and slightly lifted points of a touching foot."""
    stance, carries = law.stance, law.qp.carries
    places = measurement.motion.poses.contact
    for k in range(law.stance.foot_place.shape[0]):
        lowest = lowest_touch(stance, measurement, k)
        for c in range(stance.point.shape[0]):
            if stance.point_foot[c] == k:
                point = stance.point[c]
                near = lowest < math.inf and places[point, 2] < lowest + law.tasks.lift
                carries[c] = 1 if touches(measurement.contact_state[point]) or near else 0


@routine
def plan_feet(law, measurement):
    """Plan the motion of feet that do not stand flat, back to their stance.

    The big base of Algorithm 4.3 then moves as planned: velocity-dependent accelerations are relative to it.
    """
    motion, planned = measurement.motion, law.buffers.planned
    in_flight = is_in_flight(law)
    for k in range(planned.shape[0]):
        v.store6(planned, k, foot_acceleration(law, measurement, k, in_flight))
        i = law.workspace.legs.foot[k]
        for axis in range(6):
            motion.acceleration[i, axis] -= planned[k, axis]


@kernel
def foot_acceleration(law, measurement, k, in_flight):
    """Return the desired acceleration of a foot: zero if flat, else a rotation back about its touching points.

    A foot without contact returns to its reference position relative to the other feet.
    """
    tree, motion = measurement.tree, measurement.motion
    i = law.workspace.legs.foot[k]
    touching, points, place = middle_of_touch(law, motion, k)
    if touching == points:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    stiffness, damping = law.tasks.feet
    still = (0.0, 0.0, 0.0)
    linear = still
    if touching == 0:
        place = v.load3(motion.poses.com, i)
        away, moving = from_others(law, motion, k)
        linear = v.add(v.scale(-stiffness, away), v.scale(-damping, moving))
    if in_flight:
        linear = v.add(linear, v.triple(tree.gravity))
    velocity = velocity_at(motion, i, place)
    omega = velocity[3:]
    _, x, y, z = v.quat_difference(v.load4(motion.poses.quaternion, i), v.load4(law.stance.foot_turn, k))
    alpha = v.add(v.scale(-2.0 * stiffness, (x, y, z)), v.scale(-damping, omega))
    # From the acceleration of the point there to the rate of change of the twist at O.
    return v.sub(v.sub(linear, v.cross(alpha, place)), v.cross(omega, velocity[:3])) + alpha


@kernel
def middle_of_touch(law, motion, k):
    """Return the numbers of load-bearing points and of all points of a foot, and the middle of the former."""
    stance, carries = law.stance, law.qp.carries
    touching, points = 0, 0
    middle = (0.0, 0.0, 0.0)
    for c in range(stance.point.shape[0]):
        if stance.point_foot[c] == k:
            points += 1
            if carries[c]:
                touching += 1
                middle = v.add(middle, v.load3(motion.poses.contact, stance.point[c]))
    return touching, points, v.scale(1.0 / max(touching, 1), middle)


@kernel
def from_others(law, motion, k):
    """Return a foot's displacement [m] from its reference position relative to the other feet, and velocity [m/s]."""
    foot = law.workspace.legs.foot
    away, moving = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    share = 1.0 / max(foot.shape[0] - 1, 1)
    here = v.sub(v.load3(motion.poses.com, foot[k]), v.load3(law.stance.foot_place, k))
    for other in range(foot.shape[0]):
        if other != k:
            there = v.sub(v.load3(motion.poses.com, foot[other]), v.load3(law.stance.foot_place, other))
            away = v.add(away, v.scale(share, v.sub(here, there)))
            moving = v.add(
                moving, v.scale(share, v.sub(com_velocity(motion, foot[k]), com_velocity(motion, foot[other])))
            )
    return away, moving


@kernel
def com_velocity(motion, i):
    """Return the velocity [m/s] of a body's centre of mass."""
    return velocity_at(motion, i, v.load3(motion.poses.com, i))[:3]


@kernel
def bias_wrenches(law, measurement):
    """Compute Q, the part of a leg's wrench that is not from the floor, at the desired accelerations.

    It follows from Newton's and Euler's equations of the foot. In Algorithm 4.3 the foot is a big base: the leg's force
    on it is its (big) inertia times its (tiny) deviation from the planned acceleration. The floor carries the foot too.
    """
    tree, motion, buffers = measurement.tree, measurement.motion, law.buffers
    legs = law.workspace.legs
    accelerate_legs(law, motion, tree)
    for k in range(legs.foot.shape[0]):
        i = legs.foot[k]
        beyond = v.add6(v.load6(motion.factors.twist, i), v.load6(motion.acceleration, i))
        inertia = big_inertia(tree, law.workspace.gains.big_base, motion, i)
        pressed = base_wrench(law, tree, motion, i, inertia, beyond)
        v.store6(buffers.bias, k, v.add_scaled6(pressed, -1.0, body_bias(tree, motion, i, v.load6(buffers.planned, k))))


@kernel
def accelerate_legs(law, motion, tree):
    """Compute V̇_1 = P_1⁻¹ (F^bd − z_1) and the outboard recursion, without joint torques."""
    gram, desired = law.workspace.scratch.gram, law.buffers.acceleration
    factors = motion.factors
    for row in range(6):
        desired[row] = law.workspace.scratch.wrench[row] - factors.wrench[0, row]
        for column in range(row + 1):
            gram[row, column] = factors.block[0, row, column]
    thesis_law.solve_symmetric6(gram, desired)
    for axis in range(6):
        factors.twist[0, axis] = desired[axis]
    for i in range(1, tree.parent.shape[0]):
        a = v.load6(factors.twist, tree.parent[i])
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            delta = (factors.epsilon[dof] - v.dot6(v.load6(factors.w, dof), a)) * factors.d[dof]
            a = v.add_scaled6(a, delta, v.load6(motion.poses.motion, dof))
        v.store6(factors.twist, i, a)


@kernel
def big_inertia(tree, big_base, motion, i):
    """Return the inertia [kg m²] of a foot as big base, about its centre of mass."""
    return v.congruence(v.load9(motion.poses.rotation, i), v.mat_scale(big_base, v.load9(tree.inertia, 0)))


@kernel
def base_wrench(law, tree, motion, i, inertia, a):
    """Return the wrench about O that gives a foot as big base the acceleration a, without the bias wrench."""
    com = v.load3(motion.poses.com, i)
    force = v.scale(law.workspace.gains.big_base * tree.mass[0], v.add(a[:3], v.cross(a[3:], com)))
    return force + v.add(v.mat_vec(inertia, a[3:]), v.cross(com, force))


@kernel
def bias_response(law, measurement):
    """Compute L = ∂Q/∂a, a the central body's acceleration, by the same recursion with six columns."""
    tree, motion = measurement.tree, measurement.motion
    legs, factors = law.workspace.legs, motion.factors
    for k in range(legs.foot.shape[0]):
        T = law.buffers.response[k]
        for row in range(6):
            for column in range(6):
                T[row, column] = 1.0 if row == column else 0.0
        for i in range(1, tree.parent.shape[0]):
            if legs.leg[i] == k:
                for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
                    accelerate_column_wise(
                        T, v.load6(motion.poses.motion, dof), v.load6(factors.w, dof), factors.d[dof]
                    )
        i = legs.foot[k]
        inertia = big_inertia(tree, law.workspace.gains.big_base, motion, i)
        for column in range(6):
            a = (T[0, column], T[1, column], T[2, column], T[3, column], T[4, column], T[5, column])
            wrench = base_wrench(law, tree, motion, i, inertia, a)
            for row in range(6):
                T[row, column] = wrench[row]


@kernel
def accelerate_column_wise(T, s, w, d):
    """Replace T by (1 − s wᵀ d) T."""
    for column in range(6):
        delta = -d * (
            (w[0] * T[0, column] + w[1] * T[1, column] + w[2] * T[2, column])
            + (w[3] * T[3, column] + w[4] * T[4, column] + w[5] * T[5, column])
        )
        for row in range(6):
            T[row, column] += s[row] * delta


@kernel
def prefer_forces(law, measurement):
    """Compute f⁰, the forces of least norm with each foot's wrench of Algorithm 4.5; return True if successful.

    With arms from the foot's centre of mass they are λ_f − arm × λ_n, where G Gᵀ λ is the wrench.
    """
    motion, qp = measurement.motion, law.qp
    exact = True
    for k in range(law.buffers.bias.shape[0]):
        exact = prefer_forces_of_foot(law, motion, k) and exact
    for i in range(contact_qp.BASE):
        qp.unknown[i] = 0.0
    for i in range(qp.preferred.shape[0]):
        qp.unknown[contact_qp.BASE + i] = qp.preferred[i]
    qp.counts[contact_qp.ITERATIONS] = 0
    return exact and contact_qp.most_violated(qp, 0)[0] < 0


@kernel
def prefer_forces_of_foot(law, motion, k):
    stance, qp, scratch = law.stance, law.qp, law.workspace.scratch
    com = v.load3(motion.poses.com, law.workspace.legs.foot[k])
    wrench = v.add_scaled6(v.load6(scratch.leg_wrench, k), -1.0, v.load6(law.buffers.bias, k))
    moment = v.sub(wrench[3:], v.cross(com, wrench[:3]))
    gram, multiplier = scratch.gram, scratch.multiplier
    gram[:] = 0.0
    for axis in range(3):
        multiplier[axis], multiplier[3 + axis] = wrench[axis], moment[axis]
    for c in range(stance.point.shape[0]):
        if stance.point_foot[c] == k and qp.carries[c]:
            thesis_law.add_gram(gram, v.sub(v.load3(motion.poses.contact, stance.point[c]), com))
            for axis in range(3, 6):
                gram[axis, axis] -= 1.0  # a point exerts no moment
    for axis in range(6):
        gram[axis, axis] += DAMPING
    thesis_law.solve_symmetric6(gram, multiplier)
    exact = True
    for axis in range(6):
        exact = exact and DAMPING * abs(multiplier[axis]) < MISSED
    m = multiplier
    for c in range(stance.point.shape[0]):
        if stance.point_foot[c] == k:
            force = (0.0, 0.0, 0.0)
            if qp.carries[c]:
                arm = v.sub(v.load3(motion.poses.contact, stance.point[c]), com)
                force = v.sub((m[0], m[1], m[2]), v.cross(arm, (m[3], m[4], m[5])))
            for axis in range(3):
                qp.preferred[3 * c + axis] = force[axis]
    return exact


@kernel
def is_within_limits(law, measurement, torque):
    for k in range(law.limits.torque_dof.shape[0]):
        low, high = torque_range(law, measurement, law.limits.torque, k)
        if not low <= torque[law.limits.torque_dof[k]] <= high:
            return False
    return True


@routine
def nearest_wrenches(law, measurement, torque):
    """Write the torques of the nearest wrenches that floor and joints allow; return the program's outcome.

    The program has torque limits only if its solution without them exceeds them. If none exists with them, they
    are left out, and torques are clipped. After a numerical failure the last torques are held.
    """
    qp = law.qp
    bias_response(law, measurement)
    write_cost(law, measurement.motion)
    write_balance(law, measurement.motion)
    contact_qp.factor_contact_qp(qp)
    bounded, ended, before = 0, HELD, 0
    for attempt in range(2):  # without torque limits, then with them; a single call site, as each is compiled
        if contact_qp.solve_contact_qp(qp, bounded) != contact_qp.SOLVED:
            break
        take_wrenches(law, measurement, torque)
        ended = contact_qp.SOLVED
        if attempt == 1 or is_within_limits(law, measurement, torque):
            break
        ended, before = WITHOUT_LIMITS, qp.counts[contact_qp.ITERATIONS]
        bounded = write_limits(law, measurement)
    qp.counts[contact_qp.ITERATIONS] += before
    if ended == HELD:
        for dof in range(contact_qp.BASE, torque.shape[0]):
            torque[dof] = measurement.held[dof]
    keep_torques_in_range(law, measurement, law.limits.torque, torque)
    return ended


@kernel
def write_cost(law, motion):
    """Write H = P W P; W are the weights of force and moment."""
    hessian, P = law.qp.hessian, motion.factors.block[0]
    for row in range(6):
        for column in range(row + 1):
            force = P[row, 0] * P[column, 0] + P[row, 1] * P[column, 1] + P[row, 2] * P[column, 2]
            moment = P[row, 3] * P[column, 3] + P[row, 4] * P[column, 4] + P[row, 5] * P[column, 5]
            hessian[row, column] = force + law.tasks.weight_moment * moment
            hessian[column, row] = hessian[row, column]


@kernel
def write_balance(law, motion):
    """Write the equality (P − Σ L) a − Σ G f = Σ Q − F^bd."""
    qp, buffers, stance = law.qp, law.buffers, law.stance
    for row in range(contact_qp.BASE):
        qp.load[row] = -law.workspace.scratch.wrench[row]
        for column in range(contact_qp.BASE):
            qp.base[row, column] = motion.factors.block[0, row, column]
    for k in range(buffers.bias.shape[0]):
        for row in range(contact_qp.BASE):
            qp.load[row] += buffers.bias[k, row]
            for column in range(contact_qp.BASE):
                qp.base[row, column] -= buffers.response[k, row, column]
    for c in range(stance.point.shape[0]):
        x, y, z = v.load3(motion.poses.contact, stance.point[c])
        first = 3 * c
        for axis in range(3):
            qp.grasp[axis, first + axis] = 1.0
        qp.grasp[4, first], qp.grasp[5, first] = z, -y
        qp.grasp[3, first + 1], qp.grasp[5, first + 1] = -z, x
        qp.grasp[3, first + 2], qp.grasp[4, first + 2] = y, -x


@kernel
def write_limits(law, measurement):
    """Write least ≤ −s · (G f + Q + L a) ≤ most for joints with limits; return their number."""
    limits, qp, buffers, stance = law.limits, law.qp, law.buffers, law.stance
    row = 0
    for k in range(limits.torque_dof.shape[0]):
        s, leg = v.load6(measurement.motion.poses.motion, limits.torque_dof[k]), limits.leg[k]
        low, high = torque_range(law, measurement, law.limits.torque, k)
        if low > -math.inf or high < math.inf:
            qp.rows[row] = 0.0
            for column in range(contact_qp.BASE):
                for axis in range(6):
                    qp.rows[row, column] -= s[axis] * buffers.response[leg, axis, column]
            for c in range(stance.point.shape[0]):
                if stance.point_foot[c] == leg:
                    for column in range(3 * c, 3 * c + 3):
                        for axis in range(6):
                            qp.rows[row, contact_qp.BASE + column] -= s[axis] * qp.grasp[axis, column]
            bias = -v.dot6(s, v.load6(buffers.bias, leg))
            qp.lower[row], qp.upper[row] = low - bias, high - bias
            row += 1
    return row


@kernel
def take_wrenches(law, measurement, torque):
    """Set F = G f + Q + L a of each leg, and the torques."""
    qp, buffers, stance, motion = law.qp, law.buffers, law.stance, measurement.motion
    wrench = law.workspace.scratch.leg_wrench
    for k in range(buffers.bias.shape[0]):
        for row in range(6):
            total = buffers.bias[k, row]
            for column in range(6):
                total += buffers.response[k, row, column] * qp.unknown[column]
            wrench[k, row] = total
    for c in range(stance.point.shape[0]):
        k, first = stance.point_foot[c], contact_qp.BASE + 3 * c
        force = (qp.unknown[first], qp.unknown[first + 1], qp.unknown[first + 2])
        moment = v.cross(v.load3(motion.poses.contact, stance.point[c]), force)
        for axis in range(3):
            wrench[k, axis] += force[axis]
            wrench[k, 3 + axis] += moment[axis]
    thesis_law.joint_torques(measurement.tree, law.workspace.legs, motion, law.workspace.scratch, torque)
