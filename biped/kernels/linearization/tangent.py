"""Variations of a state, carried through steps: one column each.

With the identity as columns, what comes of a step is its derivative; carried through the steps of a control period,
that of the period.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.tree.factorization import Factors
from contact.arrays import Floats
from contact.jit import kernel
from contact.regimes import FREE
from contact.vectors import add, cross, load3, load6


class Tangent(NamedTuple):
    """m variations, a column each; rows of one variation after the other, since loops run over the variations."""

    q: Floats  # (nv, m) in the unit twists of the configuration
    momentum: Floats  # (nv, m)
    anchor: Floats  # (2 nc, m) places on the floor: x and y of one point after the other
    torque: Floats  # (nv, m) held
    # Room:
    load: Floats  # (nv, m)
    moved: Floats  # (3, m) of a contact point
    wrench: Floats  # (n, 6, m)


def new_tangent(n: int, nv: int, nc: int, m: int) -> Tangent:
    """Room for m variations of a tree, all of them zero."""
    z = np.zeros
    return Tangent(z((nv, m)), z((nv, m)), z((2 * nc, m)), z((nv, m)), z((nv, m)), z((3, m)), z((n, 6, m)))


@kernel
def add_row(target, factor, source):
    """target += factor source."""
    if factor == 0.0:
        return
    for m in range(target.shape[0]):
        target[m] += factor * source[m]


@kernel
def add_product(matrix, rows, target):
    """target += matrix rows; what is zero in the matrix, as between joints on different branches, costs nothing."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            add_row(target[i], matrix[i, j], rows[j])


@kernel
def copy_row(source, target):
    for m in range(target.shape[0]):
        target[m] = source[m]


@kernel
def solve_columns(tree, left, right, load, factors, wrench, solution):
    """``biped.kernels.tree.factorization.solve`` for many loads at once, which it leaves as ε.

    Two rows at a time: of more, LLVM does not find out that they are apart, and takes their numbers one by one.
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
def move_point(tree, twists, c, arm, rows, moved):
    """How contact point c moves in each variation, into three rows of ``moved``."""
    moved[:] = 0.0
    j = tree.contact_body[c]
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s = load6(twists, dof)
            linear = add(s[:3], cross(s[3:], arm))
            for axis in range(3):
                add_row(moved[axis], linear[axis], rows[dof])
        j = tree.parent[j]


@kernel
def push_joints(tree, twists, c, arm, factor, D, anchor, target):
    """target += factor Jᵀ ∂F/∂a δa for contact point c, with J its Jacobian."""
    j = tree.contact_body[c]
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s = load6(twists, dof)
            linear = add(s[:3], cross(s[3:], arm))
            for column in range(2):
                weight = linear[0] * D[column] + linear[1] * D[2 + column] + linear[2] * D[4 + column]
                add_row(target[dof], factor * weight, anchor[2 * c + column])
        j = tree.parent[j]


@kernel
def is_held(points, c):
    """Whether the force at contact point c depends on its anchor."""
    D = points.by_anchor[c]
    return points.regime[c] != FREE and (D[0] != 0.0 or D[3] != 0.0)


@kernel
def carry(tree, scratch, D, tangent, h):
    """Carry the variations through the step of which ``D`` is the derivative."""
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
            push_joints(tree, now.motion, c, load3(now.contact, c), half, force, tangent.anchor, load)
            push_joints(tree, D.left, c, load3(D.arm, c), half, force, tangent.anchor, tangent.momentum)
    # Where a point was is told by the old variations of q, so that the new ones are kept apart until it is known.
    carry_anchors_from_start(tree, now, points, tangent)
    factors = Factors(scratch.motion.factors.block, D.u, D.w, D.d, scratch.wrench, scratch.wrench, scratch.delta)
    solve_columns(tree, now.motion, later.motion, load, factors, tangent.wrench, tangent.q)
    carry_anchors_to_end(tree, later, points, tangent)
    add_product(D.end_momentum, tangent.q, tangent.momentum)


@kernel
def carry_anchors_from_start(tree, now, points, tangent):
    """∂a'/∂P_k δP_k + ∂a'/∂a δa of the anchors that are dragged."""
    for c in range(tree.contact_body.shape[0]):
        if points.moves[c] == 1:
            move_point(tree, now.motion, c, load3(now.contact, c), tangent.q, tangent.moved)
            M, x, y = points.anchor[c], tangent.anchor[2 * c], tangent.anchor[2 * c + 1]
            for m in range(x.shape[0]):
                x[m], y[m] = M[12] * x[m] + M[13] * y[m], M[14] * x[m] + M[15] * y[m]
            for axis in range(3):
                add_row(x, M[axis], tangent.moved[axis])
                add_row(y, M[3 + axis], tangent.moved[axis])


@kernel
def carry_anchors_to_end(tree, later, points, tangent):
    """∂a'/∂P_{k+1} δP_{k+1} of the same."""
    for c in range(tree.contact_body.shape[0]):
        if points.moves[c] == 1:
            move_point(tree, later.motion, c, load3(later.contact, c), tangent.q, tangent.moved)
            M, x, y = points.anchor[c], tangent.anchor[2 * c], tangent.anchor[2 * c + 1]
            for axis in range(3):
                add_row(x, M[6 + axis], tangent.moved[axis])
                add_row(y, M[9 + axis], tangent.moved[axis])
