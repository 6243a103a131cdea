"""The adjoint of one variational step: ``biped.derivatives.linearization.kernels.tangent.carry``, transposed.

With Newton's matrix A and the derivatives of a step of ``biped.derivatives.linearization.kernels.step``, weights λ of
(q', p', a') become those of (q, p, a) and of the held torque:

    Aᵀ μ = λ_q' + (∂p'/∂q')ᵀ λ_p' + (∂a'/∂q')ᵀ λ_a'
    λ_q = (∂e/∂q)ᵀ μ + (∂p'/∂q)ᵀ λ_p' + (∂a'/∂q)ᵀ λ_a',     λ_p = μ,     λ_τ = h/2 (μ + λ_p')

and, in the same way, λ_a. The factors of Aᵀ are those of A, with the two ends of the step exchanged.
"""

from typing import NamedTuple

import numpy as np

from biped.derivatives.linearization.kernels.points import set_point_jacobian
from biped.derivatives.linearization.kernels.tangent import is_held
from biped.kernels.tree.factorization import Factors, solve
from contact.arrays import Floats
from contact.vectors import load3
from kernelcache import kernel, routine


class Adjoint(NamedTuple):
    """Weights of a state: the derivatives of a number by it."""

    q: Floats  # (nv,) in the unit twists of the configuration
    momentum: Floats  # (nv,)
    anchor: Floats  # (nc, 2)
    torque: Floats  # (nv,) by the held torque, summed over the steps of a tick
    # Buffers:
    load: Floats  # (nv,)
    solution: Floats  # (nv,) μ


def new_adjoint(nv: int, nc: int) -> Adjoint:
    """Return zero weights of a tree's state."""
    z = np.zeros
    return Adjoint(z(nv), z(nv), z((nc, 2)), z(nv), z(nv), z(nv))


@kernel
def add_transposed(matrix, weights, target):
    """Add matrixᵀ weights to ``target``."""
    for i in range(matrix.shape[0]):
        weight = weights[i]
        for j in range(matrix.shape[1]):
            target[j] += matrix[i, j] * weight


@kernel
def point_moves(jacobian, along):
    """Return the displacement of a contact point for displacements ``along`` the unit twists."""
    x = y = z = 0.0
    for dof in range(jacobian.shape[0]):
        x += along[dof] * jacobian[dof, 0]
        y += along[dof] * jacobian[dof, 1]
        z += along[dof] * jacobian[dof, 2]
    return x, y, z


@kernel
def add_point_weight(jacobian, weight, target):
    """Add Jᵀ weight to ``target``, with J the Jacobian of a contact point."""
    for dof in range(jacobian.shape[0]):
        x, y, z = jacobian[dof, 0], jacobian[dof, 1], jacobian[dof, 2]
        target[dof] += x * weight[0] + y * weight[1] + z * weight[2]


@kernel
def weight_of_place(M, first, x, y):
    """Return the transposed 2 x 3 matrix that begins at ``first`` times the weights of an anchor."""
    return M[first] * x + M[first + 3] * y, M[first + 1] * x + M[first + 4] * y, M[first + 2] * x + M[first + 5] * y


@routine
def pull_back(tree, scratch, D, weights, h):
    """Change the weights of the state after a step to those of the state before; ``D`` is the step's derivative."""
    now, later, points = scratch.motion.poses, scratch.next, D.points
    load, mu = weights.load, weights.solution
    for dof in range(load.shape[0]):
        load[dof] = weights.q[dof]
        weights.q[dof] = 0.0
    add_transposed(D.end_momentum, weights.momentum, load)
    for c in range(tree.contact_body.shape[0]):
        if points.moves[c] == 1:
            x, y = weights.anchor[c, 0], weights.anchor[c, 1]
            place = weight_of_place(points.anchor[c], 6, x, y)
            set_point_jacobian(tree, later.motion, c, load3(later.contact, c), points.jacobian)
            add_point_weight(points.jacobian, place, load)
    # Factors of Aᵀ: those of A with the two ends exchanged.
    factors = Factors(scratch.motion.factors.block, D.w, D.u, D.d, scratch.wrench, scratch.motion.factors.twist,
                      scratch.motion.factors.epsilon)  # fmt: skip
    solve(tree, later.motion, now.motion, load, factors, mu)
    add_transposed(D.start_residual, mu, weights.q)
    add_transposed(D.start_momentum, weights.momentum, weights.q)
    pull_anchors(tree, scratch, D, weights, h)
    for dof in range(mu.shape[0]):
        weights.torque[dof] += 0.5 * h * D.joints.given[dof] * (mu[dof] + weights.momentum[dof])
    for dof in range(mu.shape[0]):
        weights.momentum[dof] = mu[dof]


@kernel
def pull_anchors(tree, scratch, D, weights, h):
    """Change the weights of anchors to those before the step, and add dragged ones to the weights of q."""
    now, points = scratch.motion.poses, D.points
    for c in range(tree.contact_body.shape[0]):
        x, y = weights.anchor[c, 0], weights.anchor[c, 1]
        if points.moves[c] == 1:
            M = points.anchor[c]
            set_point_jacobian(tree, now.motion, c, load3(now.contact, c), points.jacobian)
            add_point_weight(points.jacobian, weight_of_place(M, 0, x, y), weights.q)
            x, y = M[12] * x + M[14] * y, M[13] * x + M[15] * y
        if is_held(points, c):
            force, F = force_weight(tree, scratch, D, weights, c, h), points.by_anchor[c]
            x += F[0] * force[0] + F[2] * force[1] + F[4] * force[2]
            y += F[1] * force[0] + F[3] * force[1] + F[5] * force[2]
        weights.anchor[c, 0], weights.anchor[c, 1] = x, y


@kernel
def force_weight(tree, scratch, D, weights, c, h):
    """Return the weight of the ground reaction force on contact point c, world axes, half its impulse at each end."""
    now, jacobian = scratch.motion.poses, D.points.jacobian
    set_point_jacobian(tree, now.motion, c, load3(now.contact, c), jacobian)
    begin = point_moves(jacobian, weights.solution)
    set_point_jacobian(tree, D.left, c, load3(D.arm, c), jacobian)
    end = point_moves(jacobian, weights.momentum)
    half = 0.5 * h
    return half * (begin[0] + end[0]), half * (begin[1] + end[1]), half * (begin[2] + end[2])
