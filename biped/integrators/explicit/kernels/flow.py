"""The equations of motion in continuous time, extended by the works and impulses of a step.

A point of the flow is a configuration q and a velocity v, followed by the works and impulses of the forces since the
start of the step. These integrals are integrated like q and v, by the same method with the same error. A method that
evaluates forces at instants needs that: the mean force of a step times its chord is its work to second order only.

    q̇ = v,  with ½ ω q for a quaternion q, ω in the axes that it maps to
    v̇ = M(q)⁻¹ (τ − C(q, v))                      Algorithm 3.3 of Wendlandt 1997, in O(n)

A quaternion is integrated as four numbers. The equations treat it as a unit quaternion and keep its length exactly;
the numerical errors of its length are scaled away at the step's end, so that no order is lost (Hairer, Lubich and
Wanner 2006, IV.4, on projection). Contact modes and anchors, held torques and the pushes' forces are constant through
the step.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.step.step import begin_substep
from biped.kernels.tree import dynamics
from biped.kernels.tree.factorization import solve_inboard, solve_outboard
from biped.kernels.tree.kinematics import copy_poses, move_bodies, place_bodies, point_of_body, quaternion_place
from biped.kernels.tree.tree import FLOATING, PRISMATIC, REVOLUTE
from biped.kernels.variational.equations import hand_to_parent, reference_point
from biped.kernels.variational.newton import place_push
from contact import vectors as vec
from contact.arrays import Floats
from contact.ground import floor_force
from contact.modes import NONE
from kernelcache import kernel


class Point(NamedTuple):
    """A point of the flow, or its rate of change."""

    q: Floats  # (nq,) configuration; a floating root's position is its displacement [m] since the step began
    v: Floats  # (nv,)
    joint_work: Floats  # (1,) [J]
    moment: Floats  # (3,) [N·m·s] angular impulse from outside, about O at the start
    contact_work: Floats  # (nc,) [J]
    contact_impulse: Floats  # (nc, 3) [N·s]
    flat: Floats  # all of the above in one array, of which they are views


class Flow(NamedTuple):
    """Buffers of the equations of motion, which are not valid after the step."""

    at: Point  # the point of evaluation
    slope: Point  # the rate of change there
    start: Floats  # ``at.flat`` at the start of the step
    total: Floats  # sums of slopes
    motion: dynamics.TreeData  # the tree there
    q: Floats  # (nq,) the configuration there, its quaternions unit
    force: Floats  # (nc, 3) [N] ground reaction forces
    torque: Floats  # (nv,) torques of the joints
    momentum: Floats  # (nv,) p at the end of the step


def new_point(nq: int, nv: int, nc: int) -> Point:
    """Return a point of the flow, filled with NaN."""
    shapes: tuple[tuple[int, ...], ...] = ((nq,), (nv,), (1,), (3,), (nc,), (nc, 3))
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    flat = np.full(int(ends[-1]), np.nan)
    parts = [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]
    return Point(*[*parts, flat])


def new_flow(n: int, nq: int, nv: int, nc: int) -> Flow:
    """Return buffers for the flow of a tree, filled with NaN."""
    at, slope = new_point(nq, nv, nc), new_point(nq, nv, nc)
    sizes: tuple[tuple[int, ...], ...] = ((nq,), (nc, 3), (nv,), (nv,))
    rest = [np.full(size, np.nan) for size in sizes]
    return Flow(at, slope, at.flat.copy(), at.flat.copy(), dynamics.new_tree_data(n, nv, nc), *rest)


@kernel
def begin_flow_step(tree, ground, state, pushes, scratch, flow, begin, h):
    """Begin a step: ``flow.at`` is the plant's state with zero works and impulses, and M is factored there."""
    begin_substep(tree, ground, state, pushes, scratch, begin, h)
    motion = flow.motion
    copy_poses(scratch.motion.poses, motion.poses)
    for i in range(tree.parent.shape[0]):
        vec.store9(motion.inertia, i, vec.load9(scratch.motion.inertia, i))
    dynamics.rates_from_momentum(tree, state.momentum, motion)
    flow.at.flat[:] = 0.0
    vec.copy1(state.q, flow.at.q)
    vec.copy1(motion.rates, flow.at.v)
    if tree.kind[0] == FLOATING:
        for axis in range(3):
            flow.at.q[axis] = 0.0
    vec.copy1(flow.at.flat, flow.start)


@kernel
def set_unit_coordinates(tree, source, target):
    """Copy a configuration with its quaternions scaled to length one."""
    vec.copy1(source, target)
    for i in range(tree.parent.shape[0]):
        if tree.kind[i] != REVOLUTE and tree.kind[i] != PRISMATIC:
            a = quaternion_place(tree, i)
            target[a], target[a + 1], target[a + 2], target[a + 3] = vec.quat_normalized(vec.quaternion_at(source, a))


@kernel
def place_flow(tree, flow):
    """Place the tree at ``flow.at``, and factor its mass matrix."""
    set_unit_coordinates(tree, flow.at.q, flow.q)
    place_bodies(tree, flow.q, flow.motion.poses)
    dynamics.turn_inertias(tree, flow.motion.poses, flow.motion.inertia)
    dynamics.factor_mass_matrix(tree, flow.motion, 0)


@kernel
def set_slope(tree, ground, state, pushes, flow, ahead, h):
    """Set the rate of change at ``flow.at``; the tree must be placed there.

    Forces and accelerations are those at ``flow.at``. Coordinates, works and impulses use velocities that are
    ``ahead``·h later: 0, or 1 for a method whose positions move with the new velocities.
    """
    motion = flow.motion
    vec.copy1(flow.at.v, motion.rates)
    move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    set_floor_forces(tree, ground, state, flow)
    set_joint_torques(tree, state, flow)
    dynamics.load_bias_forces(tree, motion, 0)
    add_outer_forces(tree, pushes, flow, h)
    solve_inboard(tree, motion.poses.motion, flow.torque, motion.factors, 0)
    solve_outboard(tree, motion.poses.motion, motion.factors, flow.slope.v)
    if ahead != 0.0:
        for dof in range(motion.rates.shape[0]):
            motion.rates[dof] += ahead * h * flow.slope.v[dof]
        move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    set_coordinate_slopes(tree, flow)
    set_work_slopes(tree, flow)
    set_moment_slope(tree, pushes, flow, h)


@kernel
def displacement(tree, flow):
    """Return the displacement of O since the start of the step."""
    if tree.kind[0] == FLOATING:
        return vec.triple(flow.at.q)
    return 0.0, 0.0, 0.0


@kernel
def contact_velocity(tree, motion, c):
    """Return the velocity of a contact point; needs ``motion.velocity``."""
    twist = vec.load6(motion.velocity, tree.contact_body[c])
    return vec.add(twist[:3], vec.cross(twist[3:], vec.load3(motion.poses.contact, c)))


@kernel
def set_floor_forces(tree, ground, state, flow):
    """Set the forces of the contact law at the points' present positions and velocities."""
    origin = vec.add(reference_point(tree, state.q), displacement(tree, flow))
    for c in range(tree.contact_body.shape[0]):
        force = (0.0, 0.0, 0.0)
        if state.mode[c] != NONE:
            place = vec.add(origin, vec.load3(flow.motion.poses.contact, c))
            velocity = contact_velocity(tree, flow.motion, c)
            force = floor_force(ground, state, c, place, velocity)
        vec.store3(flow.force, c, force)


@kernel
def set_joint_torques(tree, state, flow):
    """Set the joints' torques: the held ones, and the impedance at this instant."""
    for i in range(tree.parent.shape[0]):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            torque = state.torque[dof]
            if tree.dofs[i] == 1:
                torque -= state.stiffness[dof] * (flow.at.q[tree.first_q[i]] - state.setpoint[dof])
                torque -= state.damping[dof] * flow.at.v[dof]
            flow.torque[dof] = torque


@kernel
def push_force(pushes, j, h):
    """Return the mean force of push j in a step, whose impulse is exact for any step."""
    return vec.scale(1.0 / h, vec.load3(pushes.impulse, j))


@kernel
def push_arm(pushes, flow, j):
    return point_of_body(flow.motion.poses, pushes.body[j], vec.load3(pushes.offset, j))


@kernel
def add_outer_forces(tree, pushes, flow, h):
    """Subtract ground reaction forces and pushes from the wrenches that the joints must exert."""
    wrench = flow.motion.factors.wrench
    for c in range(tree.contact_body.shape[0]):
        dynamics.take_off(
            wrench, tree.contact_body[c], vec.load3(flow.motion.poses.contact, c), vec.load3(flow.force, c)
        )
    for j in range(pushes.body.shape[0]):
        dynamics.take_off(wrench, pushes.body[j], push_arm(pushes, flow, j), push_force(pushes, j, h))


@kernel
def set_coordinate_slopes(tree, flow):
    """Set q̇ from ``motion.rates``."""
    rates, q, slope = flow.motion.rates, flow.at.q, flow.slope.q
    for i in range(tree.parent.shape[0]):
        kind, first, dof = tree.kind[i], tree.first_q[i], tree.first_v[i]
        if kind == REVOLUTE or kind == PRISMATIC:
            slope[first] = rates[dof]
        else:
            if kind == FLOATING:
                for axis in range(3):
                    slope[first + axis] = rates[dof + axis]
            a = quaternion_place(tree, i)
            wx, wy, wz = joint_turning(tree, flow.motion, i)
            turning = (0.0, 0.5 * wx, 0.5 * wy, 0.5 * wz)
            slope[a], slope[a + 1], slope[a + 2], slope[a + 3] = vec.quat_mul(turning, vec.quaternion_at(q, a))


@kernel
def joint_turning(tree, motion, i):
    """Return the angular velocity of a floating or spherical joint in the axes to which its quaternion maps."""
    rates = motion.rates
    if tree.kind[i] == FLOATING:
        dof = tree.first_v[i] + 3
        return rates[dof], rates[dof + 1], rates[dof + 2]
    dof, parent = tree.first_v[i], tree.parent[i]
    omega = (rates[dof], rates[dof + 1], rates[dof + 2])
    if parent < 0:
        return omega
    return vec.mat_t_vec(vec.load9(motion.poses.rotation, parent), omega)


@kernel
def set_work_slopes(tree, flow):
    """Set the powers of joints and contacts, and the contacts' forces; needs ``motion.rates`` and velocities."""
    power = 0.0
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            dof = tree.first_v[i]
            power += flow.torque[dof] * flow.motion.rates[dof]
    flow.slope.joint_work[0] = power
    for c in range(tree.contact_body.shape[0]):
        force = vec.load3(flow.force, c)
        flow.slope.contact_work[c] = vec.dot(force, contact_velocity(tree, flow.motion, c))
        vec.store3(flow.slope.contact_impulse, c, force)


@kernel
def set_moment_slope(tree, pushes, flow, h):
    """Set the moment of gravity, contacts and pushes about the position of O at the start of the step."""
    poses, shift = flow.motion.poses, displacement(tree, flow)
    moment = (0.0, 0.0, 0.0)
    for i in range(tree.parent.shape[0]):
        weight = vec.scale(tree.mass[i], vec.triple(tree.gravity))
        moment = vec.add(moment, vec.cross(vec.add(shift, vec.load3(poses.com, i)), weight))
    for c in range(tree.contact_body.shape[0]):
        moment = vec.add(moment, vec.cross(vec.add(shift, vec.load3(poses.contact, c)), vec.load3(flow.force, c)))
    for j in range(pushes.body.shape[0]):
        moment = vec.add(moment, vec.cross(vec.add(shift, push_arm(pushes, flow, j)), push_force(pushes, j, h)))
    flow.slope.moment[0], flow.slope.moment[1], flow.slope.moment[2] = moment


@kernel
def arrive(tree, state, pushes, scratch, flow, h):
    """Make ``flow.at`` the end of the step, with the results of ``solve_step``; return False if a number is not finite.

    In that case the plant is not changed.
    """
    for k in range(flow.at.flat.shape[0]):
        if not math.isfinite(flow.at.flat[k]):
            return False
    place_end(tree, pushes, scratch, flow.at.q, displacement(tree, flow))
    set_momentum(tree, scratch.next, flow.at.v, flow.motion, flow.momentum)
    kinetic = 0.0
    for dof in range(flow.momentum.shape[0]):
        kinetic += flow.momentum[dof] * flow.at.v[dof]
    if not math.isfinite(kinetic):
        return False
    for c in range(state.mode.shape[0]):
        vec.store3(state.force, c, vec.scale(1.0 / h, vec.load3(flow.at.contact_impulse, c)))
    return True


@kernel
def place_end(tree, pushes, scratch, q, shift):
    """Set the end of the step from a configuration, whose quaternions need not be unit, and a displacement of O."""
    set_unit_coordinates(tree, q, scratch.q)
    scratch.shift[0], scratch.shift[1], scratch.shift[2] = shift
    place_bodies(tree, scratch.q, scratch.next)
    for j in range(pushes.body.shape[0]):
        place_push(scratch.next, pushes, j, pushes.right)
    for i in range(tree.parent.shape[0]):
        vec.store4(
            scratch.turn,
            i,
            vec.quat_difference(vec.load4(scratch.next.quaternion, i), vec.load4(scratch.motion.poses.quaternion, i)),
        )


@kernel
def set_momentum(tree, poses, rates, motion, momentum):
    """Set p = M(q) v: the bodies' momenta about O, summed inboard, and the rotors'.

    ``motion`` is a buffer that receives inertias and velocities.
    """
    dynamics.turn_inertias(tree, poses, motion.inertia)
    move_bodies(tree, poses, rates, motion.velocity, motion.bias)
    wrench = motion.factors.wrench
    for i in range(tree.parent.shape[0]):
        linear, angular = dynamics.spatial_momentum(tree, poses, motion, i)
        vec.store_twist(wrench, i, linear, angular)
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        b = vec.load6(wrench, i)
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            momentum[dof] = vec.dot6(vec.load6(poses.motion, dof), b) + tree.armature[dof] * rates[dof]
        hand_to_parent(tree, wrench, i, b)
