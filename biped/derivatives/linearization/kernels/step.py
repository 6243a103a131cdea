"""The exact derivative of one variational step with contact modes held.

The step solves e(q_k, p_k, τ, a, q_{k+1}) = 0 and gives p_{k+1} (``biped.kernels.variational.equations``), so that

    A δq_{k+1} = ∂e/∂q_k δq_k + δp_k + h/2 δτ + ∂e/∂a δa,        A = −∂e/∂q_{k+1}, Newton's matrix,
    δp_{k+1} = ∂p'/∂q_k δq_k + ∂p'/∂q_{k+1} δq_{k+1} + h/2 δτ + ∂p'/∂a δa

for the anchors a of contact points. Each δq is in the unit twists of its own configuration: turns of a floating or
spherical joint are rotation vectors in world axes.

**One block per body is enough.** A discrete Lagrangian that does not change under translations and turns of the whole
step has one momentum wrench W of each body about a fixed point, equal at both ends of the step, which transforms like a
wrench under displacements of the body. For twists V of the body at k and V' at k + 1

    δW = G V' + (V ×* W − G V),

with the G of Newton's matrix: for a displacement V at both ends, W changes by V ×* W. So no further derivatives of the
discrete body are needed, and the formulas hold for any ``body`` of a variational method.

The remaining terms are due to the points where wrenches act. B = W ∓ h/2 f at the two ends, e_j = … − s_j⁻ · Σ B⁻,
p_j' = s_j⁺ · Σ B⁺: s_j moves with the joint, δs_j = V × s_j (the Lie bracket), and forces f move with their points.

All wrenches and twists of both ends are about O at k, except displaced twists at k + 1, which are about O at k + 1.
"""

from typing import NamedTuple

import numpy as np

from biped.derivatives.linearization.kernels import points as contact_slopes
from biped.derivatives.linearization.kernels.joints import JointDerivatives, differentiate_joints, new_joint_derivatives
from biped.kernels.step.step import prepare
from biped.kernels.tree.factorization import Factors, add_block, add_matrix, column_dot, eliminate, row_dot
from biped.kernels.tree.kinematics import spherical_centre
from biped.kernels.tree.tree import FLOATING, SPHERICAL
from biped.kernels.variational.discrete_body import store_body_block
from biped.kernels.variational.equations import add_external_impulses, hand_to_parent
from biped.kernels.variational.newton import evaluate, place_push
from contact import vectors as v
from contact.arrays import Floats
from kernelcache import kernel, routine


class StepDerivative(NamedTuple):
    """The derivative of a step, with buffers."""

    start_residual: Floats  # (nv, nv) ∂e/∂q_k
    start_momentum: Floats  # (nv, nv) ∂p'/∂q_k
    end_momentum: Floats  # (nv, nv) ∂p'/∂q_{k+1}
    points: contact_slopes.PointDerivatives
    joints: JointDerivatives
    u: Floats  # (nv, 6) Newton's matrix at the solution, factored
    w: Floats  # (nv, 6)
    d: Floats  # (nv,)
    left: Floats  # (nv, 6) unit twists at k + 1, about O at k
    arm: Floats  # (nc, 3) contact points at k + 1, relative to O at k
    body: Floats  # (n, 6, 6) G of the bodies
    moved: Floats  # (n, 6, 6) V ×* W − G V, W without forces
    block: Floats  # (n, 6, 6) with forces
    momentum: Floats  # (n, 6) W of all bodies outboard
    start: Floats  # (n, 6) B⁻ of all bodies outboard, about O at k
    end: Floats  # (n, 6) B⁺ of all bodies outboard, about O at k + 1


def new_step_derivative(n: int, nv: int, nc: int) -> StepDerivative:
    """Return buffers for the derivative of a step of a tree."""
    z = np.zeros
    square, six, blocks, wrench = (nv, nv), (nv, 6), (n, 6, 6), (n, 6)
    return StepDerivative(
        z(square), z(square), z(square), contact_slopes.new_point_derivatives(nv, nc), new_joint_derivatives(nv),
        z(six), z(six), z(nv), z(six), z((nc, 3)),
        z(blocks), z(blocks), z(blocks), z(wrench), z(wrench), z(wrench),
    )  # fmt: skip


@kernel
def newton_factors(scratch, D):
    """Return separate factors of Newton's matrix at the solution, so that the next step is not affected."""
    buffers = scratch.motion.factors
    return Factors(buffers.block, D.u, D.w, D.d, buffers.wrench, buffers.twist, buffers.epsilon)


@kernel
def differentiate_step(body, tree, ground, state, end_q, pushes, scratch, D, step, h):
    """Fill ``D`` for the step from ``state`` to ``end_q``; return the norm of its residual [N·s].

    Args:
        body: the discrete body of the method.
        tree: the tree.
        ground: the ground with frames and regions of the step.
        state: the state at the start of the step, with the held torques.
        end_q: (nq,) q_{k+1}.
        pushes: pushes with their impulses in the step.
        scratch: buffers, which receive the poses of both ends and the displacement.
        D: receives the derivative.
        step: number of the step; switches of a step's start count in the first step only.
        h: [s] length of the step.
    """
    prepare(tree, state, scratch)
    set_candidate(tree, state.q, end_q, scratch)
    for j in range(pushes.body.shape[0]):
        place_push(scratch.motion.poses, pushes, j, pushes.left)
    norm = evaluate(body, tree, ground, state, pushes, scratch, h)
    copy_rows(scratch.wrench, D.start)
    contact_slopes.differentiate_points(tree, ground, state, scratch, D.points, h)
    differentiate_joints(tree, state, scratch, D.joints, step, h)
    place_ends(scratch, D)
    store_momenta(tree, scratch, D)
    store_end_wrenches(tree, state, pushes, scratch, D, h)
    store_moved_blocks(body, tree, scratch, D, h)
    differentiate_residual(tree, state, pushes, scratch, D, h)
    differentiate_momentum(tree, state, pushes, scratch, D, h)
    add_joints(D.joints, D)
    factor_newton(tree, state, scratch, D, h)
    return norm


@kernel
def set_candidate(tree, begin_q, end_q, scratch):
    """Set the candidate to q_{k+1}; the position of a floating root is its displacement."""
    v.copy1(end_q, scratch.q)
    for axis in range(3):
        scratch.shift[axis] = end_q[axis] - begin_q[axis] if tree.kind[0] == FLOATING else 0.0


@kernel
def copy_rows(source, target):
    for i in range(source.shape[0]):
        v.store6(target, i, v.load6(source, i))


@kernel
def factor_newton(tree, state, scratch, D, h):
    """Factor A from the bodies' blocks G_i of Newton's matrix and the contact forces in their regimes."""
    block = scratch.motion.factors.block
    load_blocks(D.body, block)
    left, right = scratch.motion.poses.contact, scratch.next.contact
    contact_slopes.add_points(tree, state, D.points, block, left, right, D.points.by_end, -0.5 * h, 0)
    left, right = scratch.motion.poses.motion, scratch.next.motion
    eliminate(tree, left, right, D.joints.diagonal, newton_factors(scratch, D), 0)


@kernel
def place_ends(scratch, D):
    """Set unit twists and contact points at k + 1 relative to O at k."""
    shift = v.triple(scratch.shift)
    for dof in range(D.left.shape[0]):
        s = v.load6(scratch.next.motion, dof)
        v.store_twist(D.left, dof, v.add(s[:3], v.cross(shift, s[3:])), s[3:])
    for c in range(D.arm.shape[0]):
        at = v.add(shift, v.load3(scratch.next.contact, c))
        D.arm[c, 0], D.arm[c, 1], D.arm[c, 2] = at


@kernel
def store_momenta(tree, scratch, D):
    """Store W of each body, about O at k."""
    for i in range(tree.parent.shape[0]):
        linear = v.load3(scratch.linear, i)
        moment = v.add(v.load3(scratch.angular, i), v.cross(v.load3(scratch.motion.poses.com, i), linear))
        v.store_twist(D.momentum, i, linear, moment)


@kernel
def store_end_wrenches(tree, state, pushes, scratch, D, h):
    """Store B⁺ of each body and all bodies outboard of it, about O at k + 1."""
    shift = v.triple(scratch.shift)
    half = 0.5 * h
    for i in range(tree.parent.shape[0]):
        W = v.load6(D.momentum, i)
        weight = v.scale(half * tree.mass[i], v.triple(tree.gravity))
        moment = v.add(v.sub(W[3:], v.cross(shift, W[:3])), v.cross(v.load3(scratch.next.com, i), weight))
        v.store_twist(scratch.wrench, i, v.add(W[:3], weight), moment)
    add_external_impulses(tree, state, pushes, scratch, scratch.next.contact, pushes.right, half, 1.0)
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        hand_to_parent(tree, scratch.wrench, i, v.load6(scratch.wrench, i))
    copy_rows(scratch.wrench, D.end)


@kernel
def store_moved_blocks(body, tree, scratch, D, h):
    """Store G of each body, and V ×* W − G V with V about O at k."""
    shift = v.triple(scratch.shift)
    for i in range(tree.parent.shape[0]):
        store_body_block(body, tree, scratch, D.body, i, h)
        W = v.load6(D.momentum, i)
        force, moment = v.hat(W[:3]), v.hat(W[3:])
        for row in range(6):
            g = (D.body[i, row, 0], D.body[i, row, 1], D.body[i, row, 2])
            turned = v.cross(shift, g)
            for axis in range(3):
                D.moved[i, row, axis] = -g[axis]
                D.moved[i, row, 3 + axis] = -D.body[i, row, 3 + axis] - turned[axis]
        add_matrix(D.moved, i, 0, 3, v.mat_scale(-1.0, force))
        add_matrix(D.moved, i, 3, 0, v.mat_scale(-1.0, force))
        add_matrix(D.moved, i, 3, 3, v.mat_scale(-1.0, moment))


@kernel
def load_blocks(source, block):
    for i in range(block.shape[0]):
        for row in range(6):
            for column in range(6):
                block[i, row, column] = source[i, row, column]


@kernel
def add_loads(tree, pushes, block, com, arms, half, share):
    """Add weights and pushes to the blocks of the end at which they act."""
    for i in range(tree.parent.shape[0]):
        contact_slopes.add_load_block(block, i, v.load3(com, i), v.scale(half * tree.mass[i], v.triple(tree.gravity)))
    for j in range(pushes.body.shape[0]):
        contact_slopes.add_load_block(
            block, pushes.body[j], v.load3(arms, j), v.scale(share, v.load3(pushes.impulse, j))
        )


@routine
def compose(tree, block):
    """Add to each body's block those of all bodies outboard of it."""
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        if tree.parent[i] >= 0:
            add_block(block, tree.parent[i], i)


@kernel
def differentiate_residual(tree, state, pushes, scratch, D, h):
    """Set ∂e/∂q_k without the torques in joints."""
    poses, points = scratch.motion.poses, D.points
    load_blocks(D.moved, D.block)
    contact_slopes.add_points(tree, state, points, D.block, poses.contact, poses.contact, points.by_start, -0.5 * h, 1)
    add_loads(tree, pushes, D.block, poses.com, pushes.left, -0.5 * h, -0.5)
    compose(tree, D.block)
    D.start_residual[:] = 0.0
    add_products(tree, D.block, poses.motion, poses.motion, -1.0, D.start_residual)
    add_turned_twists(tree, poses, D.start, -1.0, D.start_residual)


@kernel
def differentiate_momentum(tree, state, pushes, scratch, D, h):
    """Set ∂p'/∂q_k and ∂p'/∂q_{k+1} without the torques in joints."""
    now, later, points = scratch.motion.poses, scratch.next, D.points
    load_blocks(D.moved, D.block)
    contact_slopes.add_points(tree, state, points, D.block, D.arm, now.contact, points.by_start, 0.5 * h, 0)
    compose(tree, D.block)
    D.start_momentum[:] = 0.0
    add_products(tree, D.block, D.left, now.motion, 1.0, D.start_momentum)
    load_blocks(D.body, D.block)
    # The moment of a force that moves with its point has the same block about O at k and at k + 1.
    contact_slopes.add_points(tree, state, points, D.block, D.arm, later.contact, points.by_end, 0.5 * h, 1)
    add_loads(tree, pushes, D.block, later.com, pushes.right, 0.5 * h, 0.5)
    compose(tree, D.block)
    D.end_momentum[:] = 0.0
    add_products(tree, D.block, D.left, later.motion, 1.0, D.end_momentum)
    add_turned_twists(tree, later, D.end, 1.0, D.end_momentum)


@routine
def add_products(tree, block, left, right, sign, result):
    """Add sign s_j · C s_l' to ``result``, with C the sum of blocks outboard of both joints; zero off common paths."""
    for i in range(tree.parent.shape[0]):
        for j in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            s, t = v.load6(left, j), v.load6(right, j)
            u = (row_dot(block, i, 0, t), row_dot(block, i, 1, t), row_dot(block, i, 2, t),
                 row_dot(block, i, 3, t), row_dot(block, i, 4, t), row_dot(block, i, 5, t))  # fmt: skip
            w = (column_dot(block, i, 0, s), column_dot(block, i, 1, s), column_dot(block, i, 2, s),
                 column_dot(block, i, 3, s), column_dot(block, i, 4, s), column_dot(block, i, 5, s))  # fmt: skip
            for other in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
                result[j, other] += sign * v.dot6(w, v.load6(right, other))
            k = tree.parent[i]
            while k >= 0:
                for other in range(tree.first_v[k], tree.first_v[k] + tree.dofs[k]):
                    result[j, other] += sign * v.dot6(w, v.load6(right, other))
                    result[other, j] += sign * v.dot6(v.load6(left, other), u)
                k = tree.parent[k]


@routine
def add_turned_twists(tree, poses, wrench, sign, result):
    """Add sign δs_j · B_j to ``result``: unit twists move with their joints.

    Those of a hinge or a slider move with the parent. Those of a floating or spherical joint keep the world's axes, so
    that only their point moves.
    """
    for i in range(tree.parent.shape[0]):
        b = v.load6(wrench, i)
        for j in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            s = v.load6(poses.motion, j)
            k = tree.parent[i]
            if tree.kind[i] == FLOATING:
                g = v.cross(s[3:], b[:3]) + (0.0, 0.0, 0.0)
                k = i
            elif tree.kind[i] == SPHERICAL:
                pull = v.cross(s[3:], b[:3])
                g = pull + v.cross(spherical_centre(tree, poses, i), pull)
            else:
                g = v.cross(s[3:], b[:3]) + v.add(v.cross(s[:3], b[:3]), v.cross(s[3:], b[3:]))
            while k >= 0:
                for other in range(tree.first_v[k], tree.first_v[k] + tree.dofs[k]):
                    result[j, other] += sign * v.dot6(g, v.load6(poses.motion, other))
                k = tree.parent[k]


@kernel
def add_joints(joints, D):
    """Add the terms of actuators, bearings, stops and rotors to the diagonals."""
    for dof in range(joints.diagonal.shape[0]):
        D.start_residual[dof, dof] += joints.start_residual[dof]
        D.start_momentum[dof, dof] += joints.start_momentum[dof]
        D.end_momentum[dof, dof] += joints.end_momentum[dof]
