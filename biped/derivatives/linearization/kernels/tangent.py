"""Variations of a state, one column each, and their propagation through steps.

With the identity as columns the result is the derivative of a step, or of a control period.
"""

from typing import NamedTuple

import numpy as np

from biped.derivatives.linearization.kernels.points import set_point_jacobian
from biped.kernels.solve.dense import add_rows
from biped.kernels.tree.factorization import Factors
from contact.arrays import Floats, Integers
from contact.regimes import FREE
from contact.vectors import load3
from kernelcache import kernel


class Tangent(NamedTuple):
    """Set of m variations, a column each; rows are contiguous, since loops run over the variations."""

    q: Floats  # (nv, m) in the unit twists of the configuration
    momentum: Floats  # (nv, m)
    anchor: Floats  # (2 nc, m) positions on the floor: x and y of one point after the other
    torque: Floats  # (nv, m) held torques
    single: Integers  # (2 nc,) column of the only nonzero, a 1, in each row of ``anchor``; −1 for a general row
    # Buffers:
    load: Floats  # (nv, m)
    moved: Floats  # (3, m) displacements of a contact point
    wrench: Floats  # (n, 6, m)


def new_tangent(n: int, nv: int, nc: int, m: int) -> Tangent:
    """Return m zero variations of a tree."""
    z = np.zeros
    rows, points, single = z((nv, m)), z((2 * nc, m)), np.full(2 * nc, -1)
    return Tangent(rows, rows.copy(), points, rows.copy(), single, rows.copy(), z((3, m)), z((n, 6, m)))


@kernel
def seed(tangent, driven):
    """Set a unit variation of each displacement, momentum and anchor, and of the torques on ``driven``."""
    nv, points = tangent.q.shape[0], tangent.anchor.shape[0]
    tangent.q[:] = 0.0
    tangent.momentum[:] = 0.0
    tangent.anchor[:] = 0.0
    tangent.torque[:] = 0.0
    for dof in range(nv):
        tangent.q[dof, dof] = tangent.momentum[dof, nv + dof] = 1.0
    for k in range(points):
        tangent.anchor[k, 2 * nv + k] = 1.0
        tangent.single[k] = 2 * nv + k
    for k in range(driven.shape[0]):
        tangent.torque[driven[k], 2 * nv + points + k] = 1.0


@kernel
def add_row(target, factor, source):
    """Add factor source to ``target``."""
    if factor == 0.0:
        return
    for m in range(target.shape[0]):
        target[m] += factor * source[m]


@kernel
def add_product(matrix, rows, target):
    """Add matrix rows to ``target``; zeros of the matrix, as between joints on different branches, cost nothing."""
    for i in range(matrix.shape[0]):
        add_rows(target[i], 1.0, matrix[i], rows, 0, matrix.shape[1], 0, rows.shape[1])


@kernel
def copy_row(source, target):
    for m in range(target.shape[0]):
        target[m] = source[m]


@kernel
def solve_columns(tree, left, right, load, factors, wrench, solution):
    """Solve for many loads together, as ``biped.kernels.tree.factorization.solve`` does; ε replaces the loads.

    It works on two rows at a time: for more, LLVM cannot prove that they do not overlap, and does not vectorize.
    """
    wrench[:] = 0.0
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        first, b = tree.first_v[i], wrench[i]
        for dof in range(first + tree.dofs[i] - 1, first - 1, -1):
            epsilon = load[dof]
            for k in range(6):
                add_row(epsilon, -left[dof, k], b[k])
            for k in range(6):
                add_row(b[k], factors.d[dof] * factors.u[dof, k], epsilon)
        if tree.parent[i] >= 0:
            for k in range(6):
                add_row(wrench[tree.parent[i], k], 1.0, b[k])
    for i in range(tree.parent.shape[0]):
        first, a = tree.first_v[i], wrench[i]
        for k in range(6):
            if tree.parent[i] >= 0:
                copy_row(wrench[tree.parent[i], k], a[k])
            else:
                a[k, :] = 0.0
        for dof in range(first, first + tree.dofs[i]):
            delta = solution[dof]
            copy_row(load[dof], delta)
            for k in range(6):
                add_row(delta, -factors.w[dof, k], a[k])
            for m in range(delta.shape[0]):
                delta[m] *= factors.d[dof]
            for k in range(6):
                add_row(a[k], right[dof, k], delta)


@kernel
def move_point(jacobian, rows, moved):
    """Write the displacement of a contact point in each variation to the rows of ``moved``."""
    moved[:] = 0.0
    for dof in range(jacobian.shape[0]):
        for axis in range(3):
            add_row(moved[axis], jacobian[dof, axis], rows[dof])


@kernel
def push_joints(jacobian, c, factor, D, tangent, target):
    """Add factor Jᵀ ∂F/∂a δa to ``target`` for contact point c, with J its Jacobian."""
    for dof in range(jacobian.shape[0]):
        for axis in range(2):
            weight = factor * along_anchor(jacobian, dof, D, axis)
            column = tangent.single[2 * c + axis]
            if column >= 0:
                target[dof, column] += weight
            else:
                add_row(target[dof], weight, tangent.anchor[2 * c + axis])


@kernel
def along_anchor(jacobian, dof, D, axis):
    """Return s · ∂F/∂a of one degree of freedom, by one of the anchor's two coordinates."""
    return jacobian[dof, 0] * D[axis] + jacobian[dof, 1] * D[2 + axis] + jacobian[dof, 2] * D[4 + axis]


@kernel
def is_held(points, c):
    """Return True if the force at contact point c depends on its anchor."""
    D = points.by_anchor[c]
    return points.regime[c] != FREE and (D[0] != 0.0 or D[3] != 0.0)


@kernel
def carry(tree, scratch, D, tangent, h):
    """Propagate the variations through the step with derivative ``D``."""
    now, later, points, load = scratch.motion.poses, scratch.next, D.points, tangent.load
    half = 0.5 * h
    for dof in range(load.shape[0]):
        for m in range(load.shape[1]):
            load[dof, m] = tangent.momentum[dof, m] + half * D.joints.given[dof] * tangent.torque[dof, m]
            tangent.momentum[dof, m] = half * D.joints.given[dof] * tangent.torque[dof, m]
    add_product(D.start_residual, tangent.q, load)
    add_product(D.start_momentum, tangent.q, tangent.momentum)
    for c in range(tree.contact_body.shape[0]):
        if is_held(points, c):
            force = points.by_anchor[c]
            set_point_jacobian(tree, now.motion, c, load3(now.contact, c), points.jacobian)
            push_joints(points.jacobian, c, half, force, tangent, load)
            set_point_jacobian(tree, D.left, c, load3(D.arm, c), points.jacobian)
            push_joints(points.jacobian, c, half, force, tangent, tangent.momentum)
    # The anchors need the old variations of q, which the solve overwrites.
    carry_anchors_from_start(tree, now, points, tangent)
    factors = Factors(scratch.motion.factors.block, D.u, D.w, D.d, scratch.wrench, scratch.wrench, scratch.delta)
    solve_columns(tree, now.motion, later.motion, load, factors, tangent.wrench, tangent.q)
    carry_anchors_to_end(tree, later, points, tangent)
    add_product(D.end_momentum, tangent.q, tangent.momentum)


@kernel
def carry_anchors_from_start(tree, now, points, tangent):
    """Set dragged anchors to ∂a'/∂P_k δP_k + ∂a'/∂a δa."""
    for c in range(tree.contact_body.shape[0]):
        if points.moves[c] == 1:
            set_point_jacobian(tree, now.motion, c, load3(now.contact, c), points.jacobian)
            move_point(points.jacobian, tangent.q, tangent.moved)
            tangent.single[2 * c] = tangent.single[2 * c + 1] = -1
            M, x, y = points.anchor[c], tangent.anchor[2 * c], tangent.anchor[2 * c + 1]
            for m in range(x.shape[0]):
                x[m], y[m] = M[12] * x[m] + M[13] * y[m], M[14] * x[m] + M[15] * y[m]
            for axis in range(3):
                add_row(x, M[axis], tangent.moved[axis])
                add_row(y, M[3 + axis], tangent.moved[axis])


@kernel
def carry_anchors_to_end(tree, later, points, tangent):
    """Add ∂a'/∂P_{k+1} δP_{k+1} to dragged anchors."""
    for c in range(tree.contact_body.shape[0]):
        if points.moves[c] == 1:
            set_point_jacobian(tree, later.motion, c, load3(later.contact, c), points.jacobian)
            move_point(points.jacobian, tangent.q, tangent.moved)
            M, x, y = points.anchor[c], tangent.anchor[2 * c], tangent.anchor[2 * c + 1]
            for axis in range(3):
                add_row(x, M[6 + axis], tangent.moved[axis])
                add_row(y, M[9 + axis], tangent.moved[axis])
