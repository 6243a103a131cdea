"""The equations of one variational step of a tree in generalized coordinates, and their derivative.

Between two configurations each body has a discrete momentum P and, about its centre of mass, ℓ⁻ at the start and
ℓ⁺ at the end (``biped.kernels.variational.discrete_body``). Forces act at the middle of the step, half of
their impulse at each end (Wendlandt 1997, equation 5.2). The step solves

    e_j = p_j + h/2 τ_j − s_j⁻ · Σ_{i outboard of j} [P − h/2 F ; ℓ⁻ − h/2 N]_i = 0      for q_{k+1},

the sum taken about the common reference point at k, and then

    p_j' = s_j⁺ · Σ_{i outboard of j} [P + h/2 F ; ℓ⁺ + h/2 N]_i + h/2 τ_j.

A rotor driven by a joint has the discrete Lagrangian a Δq²/2h, and so the momentum a Δq/h at both ends, which is
subtracted in e_j and added in p_j'.

By Theorem 2.1 of the thesis this is the trajectory of the thesis's maximal-coordinate equations (5.11), if the discrete
body is the thesis's.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.state.checkpoint import Checkpoint, new_checkpoint
from biped.kernels.tree.dynamics import TreeData, new_tree_data
from biped.kernels.tree.factorization import add_point_block
from biped.kernels.tree.kinematics import Poses, new_poses
from biped.kernels.tree.tree import FLOATING, PRISMATIC, REVOLUTE
from biped.kernels.variational import discrete_body
from biped.kernels.variational.joints import dof_torque, rotor_momentum, set_joint_diagonal
from contact import vectors as v
from contact.arrays import Floats
from contact.ground import END, START, floor_force, floor_force_derivative, is_moving, to_floor
from contact.modes import NONE
from kernelcache import kernel, routine


class Scratch(NamedTuple):
    """Buffers of one step; after the step, only the poses and inertias of ``motion`` are still valid."""

    motion: TreeData  # the tree at k; its factors serve Newton's method too
    next: Poses  # the tree at k + 1, for the candidate
    checkpoint: Checkpoint  # the start of a step that is taken in parts
    shift: Floats  # (3,) [m] displacement of O in the step
    q: Floats  # (nq,) the candidate for q_{k+1}; a floating root's position is in ``shift``
    base_shift: Floats  # (3,) start of the line search
    base_q: Floats  # (nq,)
    turn: Floats  # (n, 4) (c, u)
    linear: Floats  # (n, 3) [N·s] P
    angular: Floats  # (n, 3) [N·m·s] ℓ⁻, or ℓ⁺ once the step is solved
    wrench: Floats  # (n, 6)
    residual: Floats  # (nv,) e
    delta: Floats  # (nv,) Newton's step
    diagonal: Floats  # (nv,) diagonal terms of the joints' torques and rotors
    mean_force: Floats  # (nc, 3) [N] mean forces of the completed parts of a step


def new_scratch(n: int, nq: int, nv: int, nc: int) -> Scratch:
    """Return buffers for the steps of a tree, filled with NaN."""
    shapes: tuple[tuple[int, ...], ...] = (
        (3,), (nq,), (3,), (nq,), (n, 4), (n, 3), (n, 3), (n, 6), (nv,), (nv,), (nv,), (nc, 3),
    )  # fmt: skip
    rooms = [np.full(shape, np.nan) for shape in shapes]
    return Scratch(new_tree_data(n, nv, nc), new_poses(n, nv, nc), new_checkpoint(nq, nv, nc), *rooms)


@kernel
def displace(tree, poses, q, shift, factor, delta, new_q, new_shift):
    """Write q ⊕ factor·δ, with δ in the unit twists of ``poses``; correct to second order in turns."""
    for i in range(tree.parent.shape[0]):
        kind, a, j = tree.kind[i], tree.first_q[i], tree.first_v[i]
        if kind == REVOLUTE or kind == PRISMATIC:
            new_q[a] = q[a] + factor * delta[j]
        elif kind == FLOATING:
            for axis in range(3):
                new_shift[axis] = shift[axis] + factor * delta[j + axis]
            phi = (factor * delta[j + 3], factor * delta[j + 4], factor * delta[j + 5])
            turned = v.quat_turned((q[a + 3], q[a + 4], q[a + 5], q[a + 6]), phi)
            new_q[a + 3], new_q[a + 4], new_q[a + 5], new_q[a + 6] = turned
        else:
            phi = (factor * delta[j], factor * delta[j + 1], factor * delta[j + 2])
            if tree.parent[i] >= 0:
                phi = v.mat_t_vec(v.load9(poses.rotation, tree.parent[i]), phi)
            turned = v.quat_turned((q[a], q[a + 1], q[a + 2], q[a + 3]), phi)
            new_q[a], new_q[a + 1], new_q[a + 2], new_q[a + 3] = turned


@kernel
def set_rates(tree, q, scratch, h, rate):
    """Write the displacement from q to ``scratch.q`` over h, the inverse of ``displace`` from the poses at k."""
    for i in range(tree.parent.shape[0]):
        kind, a, j = tree.kind[i], tree.first_q[i], tree.first_v[i]
        if kind == REVOLUTE or kind == PRISMATIC:
            rate[j] = (scratch.q[a] - q[a]) / h
        elif kind == FLOATING:
            for axis in range(3):
                rate[j + axis] = scratch.shift[axis] / h
            factor = 2.0 / (h * scratch.turn[i, 0])
            for axis in range(3):
                rate[j + 3 + axis] = factor * scratch.turn[i, 1 + axis]
        else:
            after = (scratch.q[a], scratch.q[a + 1], scratch.q[a + 2], scratch.q[a + 3])
            c, ux, uy, uz = v.quat_difference(after, (q[a], q[a + 1], q[a + 2], q[a + 3]))
            u = (ux, uy, uz)
            if tree.parent[i] >= 0:
                u = v.mat_vec(v.load9(scratch.motion.poses.rotation, tree.parent[i]), u)
            rate[j], rate[j + 1], rate[j + 2] = v.scale(2.0 / (h * c), u)


@routine
def reference_point(tree, q):
    """Return the position of O: the root's centre of mass if the root floats, else the inertial origin."""
    if tree.kind[0] == FLOATING:
        return q[0], q[1], q[2]
    return 0.0, 0.0, 0.0


@kernel
def set_discrete_momenta(body, tree, scratch, h):
    """Set P and ℓ⁻ of every body from the poses at both ends."""
    for i in range(tree.parent.shape[0]):
        turn = v.quat_difference(v.load4(scratch.next.quaternion, i), v.load4(scratch.motion.poses.quaternion, i))
        v.store4(scratch.turn, i, turn)
        inertia = v.load9(scratch.motion.inertia, i)
        linear, angular = discrete_body.body_momentum(
            body, tree.mass[i], inertia, turn, discrete_body.body_displacement(scratch, i), h
        )
        v.store3(scratch.linear, i, linear)
        v.store3(scratch.angular, i, angular)


@kernel
def load_body_wrenches(tree, scratch, poses, half):
    """Set wrenches to the bodies' discrete momenta and gravity impulses, ``half`` = ±h/2, about O at ``poses``."""
    for i in range(tree.parent.shape[0]):
        weight = half * tree.mass[i]
        gravity = (weight * tree.gravity[0], weight * tree.gravity[1], weight * tree.gravity[2])
        force = v.add(v.load3(scratch.linear, i), gravity)
        moment = v.add(v.load3(scratch.angular, i), v.cross(v.load3(poses.com, i), force))
        v.store_twist(scratch.wrench, i, force, moment)


@kernel
def add_impulse(scratch, i, arm, impulse):
    """Add an impulse at ``arm`` from O to the wrench of body i."""
    moment = v.cross(arm, impulse)
    for axis in range(3):
        scratch.wrench[i, axis] += impulse[axis]
        scratch.wrench[i, 3 + axis] += moment[axis]


@kernel
def world_chord(scratch, c):
    """Return the displacement of a contact point in the step, in world axes."""
    return v.add(
        v.triple(scratch.shift), v.sub(v.load3(scratch.next.contact, c), v.load3(scratch.motion.poses.contact, c))
    )


@kernel
def contact_chord(tree, ground, state, scratch, h, c):
    """Return the middle of a contact point's chord and the chord's velocity, in the floor's frame."""
    moved = world_chord(scratch, c)
    start = v.add(reference_point(tree, state.q), v.load3(scratch.motion.poses.contact, c))
    if is_moving(ground):
        end = to_floor(ground, END, v.add(start, moved))
        start = to_floor(ground, START, start)
        moved = v.sub(end, start)
    return v.add(start, v.scale(0.5, moved)), v.scale(1.0 / h, moved)


@kernel
def set_contact_forces(tree, ground, state, scratch, h):
    """Set the ground reaction forces on the contact points for the present chords."""
    for c in range(tree.contact_body.shape[0]):
        force = (0.0, 0.0, 0.0)
        if state.mode[c] != NONE:
            middle, velocity = contact_chord(tree, ground, state, scratch, h, c)
            force = floor_force(ground, state, c, middle, velocity)
        v.store3(state.force, c, force)


@kernel
def add_external_impulses(tree, state, pushes, scratch, arms, push_arms, half, sign):
    """Add half of the impulses of contacts and pushes to the wrenches: sign −1 at the step's start, +1 at its end."""
    for c in range(tree.contact_body.shape[0]):
        if state.mode[c] != NONE:
            add_impulse(scratch, tree.contact_body[c], v.load3(arms, c), v.scale(half, v.load3(state.force, c)))
    for j in range(pushes.body.shape[0]):
        add_impulse(scratch, pushes.body[j], v.load3(push_arms, j), v.scale(0.5 * sign, v.load3(pushes.impulse, j)))


@kernel
def load_start_wrenches(body, tree, ground, state, pushes, scratch, h):
    """Write the bodies' discrete momenta and half of all impulses on them, about O at k, to ``scratch.wrench``."""
    set_discrete_momenta(body, tree, scratch, h)
    set_contact_forces(tree, ground, state, scratch, h)
    load_wrenches_at_start(tree, state, pushes, scratch, h)


@kernel
def load_wrenches_at_start(tree, state, pushes, scratch, h):
    """Write the wrenches of ``load_start_wrenches`` for known momenta and forces."""
    load_body_wrenches(tree, scratch, scratch.motion.poses, -0.5 * h)
    add_external_impulses(tree, state, pushes, scratch, scratch.motion.poses.contact, pushes.left, -0.5 * h, -1.0)


@kernel
def set_residual(body, tree, ground, state, pushes, scratch, h):
    """Set e and return its squared norm; the poses at k + 1 must be those of ``scratch.q``."""
    load_start_wrenches(body, tree, ground, state, pushes, scratch, h)
    return gather_residual(tree, state, scratch, h)


@kernel
def gather_residual(tree, state, scratch, h):
    """Set e from the wrenches at the start, and return its squared norm."""
    total = 0.0
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        b = v.load6(scratch.wrench, i)
        for offset in range(tree.dofs[i]):
            dof = tree.first_v[i] + offset
            torque = dof_torque(tree, state, scratch, h, i, dof)
            e = state.momentum[dof] + 0.5 * h * torque - v.dot6(v.load6(scratch.motion.poses.motion, dof), b)
            e -= rotor_momentum(tree, state, scratch, h, i, dof)
            scratch.residual[dof] = e
            total += e * e
        hand_to_parent(tree, scratch.wrench, i, b)
    return total


@kernel
def hand_to_parent(tree, wrench, i, b):
    parent = tree.parent[i]
    if parent >= 0:
        for axis in range(6):
            wrench[parent, axis] += b[axis]


def set_discrete_momentum(body, tree, state, pushes, scratch, h):
    """Set p at k + 1.

    The remaining e is carried over, so that the solver's tolerance has no effect on the momentum.
    """
    discrete_body.turn_to_end(body, tree, scratch)
    load_body_wrenches(tree, scratch, scratch.next, 0.5 * h)
    add_external_impulses(tree, state, pushes, scratch, scratch.next.contact, pushes.right, 0.5 * h, 1.0)
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        b = v.load6(scratch.wrench, i)
        for offset in range(tree.dofs[i]):
            dof = tree.first_v[i] + offset
            torque = dof_torque(tree, state, scratch, h, i, dof)
            p = v.dot6(v.load6(scratch.next.motion, dof), b) + 0.5 * h * torque
            p += rotor_momentum(tree, state, scratch, h, i, dof)
            state.momentum[dof] = p + scratch.residual[dof]
        hand_to_parent(tree, scratch.wrench, i, b)
    if tree.kind[0] == FLOATING:
        move_residual(state.momentum, scratch)


discrete_body.set_momentum.register(discrete_body.MidpointBody)(set_discrete_momentum)


@kernel
def move_residual(momentum, scratch):
    """Correct the residual's moment for the motion of O: the carried residual is a wrench fixed in space."""
    shift = v.triple(scratch.shift)
    moment = v.cross(shift, (scratch.residual[0], scratch.residual[1], scratch.residual[2]))
    for axis in range(3):
        momentum[3 + axis] -= moment[axis]


@kernel
def set_newton_blocks(body, tree, ground, state, scratch, h):
    """Set G_i of every body and the joints' diagonal, for ``factorization.eliminate``."""
    block = scratch.motion.factors.block
    for i in range(tree.parent.shape[0]):
        discrete_body.store_body_block(body, tree, scratch, block, i, h)
    for c in range(tree.contact_body.shape[0]):
        if state.force[c, 2] != 0.0:
            middle, velocity = contact_chord(tree, ground, state, scratch, h, c)
            D = floor_force_derivative(ground, state, c, middle, velocity, h)
            C = v.mat_scale(-0.5 * h, D)
            add_point_block(
                block,
                tree.contact_body[c],
                v.load3(scratch.motion.poses.contact, c),
                v.load3(scratch.next.contact, c),
                C,
            )
    set_joint_diagonal(tree, state, scratch, h)
