"""The derivatives of the forces and anchors of contact points."""

from typing import NamedTuple

import numpy as np

from biped.kernels.tree.factorization import add_matrix, add_point_block
from biped.kernels.variational.equations import contact_chord
from contact.arrays import Floats, Integers
from contact.ground import END, MIDDLE, START, force_in_floor, is_moving, law_at, rotation_of
from contact.modes import NONE
from contact.regimes import FREE, SWITCHES, derivative_in, dragged_derivative, keeps_anchor, regime_of, switches
from contact.vectors import add, cross, hat, load3, load6, mat_hat, mat_mul, mat_scale, scale, store9, transposed
from kernelcache import kernel, routine


class PointDerivatives(NamedTuple):
    """Derivatives, by contact point, of the force and the anchor in a step."""

    regime: Integers  # (nc,) regime of ``contact.regimes``
    moves: Integers  # (nc,) 1 where the anchor is dragged
    by_start: Floats  # (nc, 9) [N/m] ∂F/∂P_k, world axes
    by_end: Floats  # (nc, 9) [N/m] ∂F/∂P_{k+1}
    by_anchor: Floats  # (nc, 6) [N/m] ∂F/∂a, three rows of two
    anchor: Floats  # (nc, 16) ∂a'/∂P_k (2 x 3), ∂a'/∂P_{k+1} (2 x 3), ∂a'/∂a (2 x 2), for dragged anchors
    switch: Floats  # (nc, SWITCHES) quantities that vanish at kinks of the contact law
    jacobian: Floats  # (nv, 3) buffer for one point


def new_point_derivatives(nv: int, nc: int) -> PointDerivatives:
    """Return derivatives for the points of a tree."""
    return PointDerivatives(
        np.zeros(nc, dtype=np.int64), np.zeros(nc, dtype=np.int64), np.full((nc, 9), np.nan),
        np.full((nc, 9), np.nan), np.full((nc, 6), np.nan), np.full((nc, 16), np.nan),
        np.full((nc, SWITCHES), np.inf), np.zeros((nv, 3)),
    )  # fmt: skip


@kernel
def set_point_jacobian(tree, twists, c, arm, jacobian):
    """Set the Jacobian of contact point c at ``arm`` by the unit twists; rows of joints off its path are zero."""
    for dof in range(jacobian.shape[0]):
        jacobian[dof, 0] = jacobian[dof, 1] = jacobian[dof, 2] = 0.0
    j = tree.contact_body[c]
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s = load6(twists, dof)
            jacobian[dof, 0], jacobian[dof, 1], jacobian[dof, 2] = add(s[:3], cross(s[3:], arm))
        j = tree.parent[j]


@kernel
def differentiate_points(tree, ground, state, scratch, points, h):
    """Fill ``points`` for the solved step."""
    for c in range(tree.contact_body.shape[0]):
        floor, mode = law_at(ground, c), state.mode[c]
        middle, velocity = contact_chord(tree, ground, state, scratch, h, c)
        anchor = (state.anchor[c, 0], state.anchor[c, 1])
        end = add(middle, scale(0.5 * h, velocity))
        force = force_in_floor(ground, load3(state.force, c))
        store_switches(points, c, switches(floor, mode, middle, velocity, anchor, end, force))
        regime = regime_of(floor, mode, middle, velocity, anchor)
        points.regime[c] = regime
        start = derivative_in(floor, regime, middle, velocity, anchor, -h)
        finish = derivative_in(floor, regime, middle, velocity, anchor, h)
        kept = keeps_anchor(floor, regime, anchor, end, force)
        store_point(ground, points, c, start, finish)
        points.moves[c] = 0 if kept else 1
        if not kept:
            dragged = dragged_derivative(floor, end, anchor, force, start, finish)
            store_anchor(ground, points, c, dragged)


@kernel
def store_switches(points, c, values):
    row = points.switch[c]
    row[0], row[1], row[2], row[3], row[4] = values


@kernel
def store_point(ground, points, c, start, finish):
    """Store the force's derivatives in world axes: R_middle D Rᵀ, with R of the end at which the point moves."""
    holds = mat_scale(-1.0, (start[0] + finish[0], start[1] + finish[1], 0.0,
                             start[3] + finish[3], start[4] + finish[4], 0.0,
                             start[6] + finish[6], start[7] + finish[7], 0.0))  # fmt: skip
    if is_moving(ground):
        R = rotation_of(ground, MIDDLE)
        start = mat_mul(mat_mul(R, start), transposed(rotation_of(ground, START)))
        finish = mat_mul(mat_mul(R, finish), transposed(rotation_of(ground, END)))
        holds = mat_mul(R, holds)
    store9(points.by_start, c, start)
    store9(points.by_end, c, finish)
    row = points.by_anchor[c]
    row[0], row[1], row[2], row[3], row[4], row[5] = holds[0], holds[1], holds[3], holds[4], holds[6], holds[7]


@kernel
def store_anchor(ground, points, c, dragged):
    """Store the anchor's derivatives; anchors are in the floor's frame, points in the world."""
    row = points.anchor[c]
    row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7] = dragged[:8]
    row[8], row[9], row[10], row[11], row[12], row[13], row[14], row[15] = dragged[8:]
    if is_moving(ground):
        turn_columns(row, 0, rotation_of(ground, START))
        turn_columns(row, 6, rotation_of(ground, END))


@kernel
def turn_columns(row, first, R):
    """Replace the 2 x 3 matrix M that begins at ``first`` by M Rᵀ."""
    for k in (first, first + 3):
        x, y, z = row[k], row[k + 1], row[k + 2]
        row[k] = x * R[0] + y * R[1] + z * R[2]
        row[k + 1] = x * R[3] + y * R[4] + z * R[5]
        row[k + 2] = x * R[6] + y * R[7] + z * R[8]


@kernel
def add_load_block(block, i, arm, force):
    """Add [0; −F̂] [1, −r̂] to G_i: the moment of a force fixed in space, at a point that moves with the body."""
    F = hat(force)
    add_matrix(block, i, 3, 0, mat_scale(-1.0, F))
    add_matrix(block, i, 3, 3, mat_hat(F, arm))


@routine
def add_points(tree, state, points, block, left, at, D, factor, loaded):
    """Add ``factor`` times the derivative of the points' wrenches to the bodies' blocks.

    Args:
        tree: the tree.
        state: modes and forces.
        points: regimes.
        block: (n, 6, 6) blocks of the bodies.
        left: (nc, 3) points where the forces act.
        at: (nc, 3) points that move.
        D: (nc, 9) the forces' derivatives by these points.
        factor: ±h/2.
        loaded: 1 if the forces act at ``at``.
    """
    for c in range(tree.contact_body.shape[0]):
        i = tree.contact_body[c]
        if points.regime[c] != FREE:
            M = D[c]
            C = mat_scale(factor, (M[0], M[1], M[2], M[3], M[4], M[5], M[6], M[7], M[8]))
            add_point_block(block, i, load3(left, c), load3(at, c), C)
        if loaded == 1 and state.mode[c] != NONE:
            add_load_block(block, i, load3(at, c), scale(factor, load3(state.force, c)))
