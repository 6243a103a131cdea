"""A two-sided articulated-body factorization: A δ = e in O(n), for A = Σ_i J_i⁻ᵀ G_i J_i⁺.

J⁻ and J⁺ are the Jacobians of the bodies' poses in two configurations, G_i a 6 x 6 block of body i alone.
With both configurations the same and G_i the bodies' inertias, A is the mass matrix, the blocks become
articulated-body inertias, and this is Algorithm 3.3 of Wendlandt 1997 (Featherstone 1983). With the two
ends of a time step it is Newton's matrix of the variational integrator, where A is not symmetric.

A joint of several degrees of freedom is eliminated one of them at a time, as if massless bodies stood
between them: the same arithmetic as a block elimination, in one loop for every kind of joint.
"""

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats
from contact.vectors import add_scaled6, dot, dot6, hat_mat, load6, mat_hat, mat_scale, store6
from kernelcache import kernel


class Factors(NamedTuple):
    """The factorization and the buffers of its solves."""

    block: Floats  # (n, 6, 6) G_i; after elimination, the part that body i adds to its parent
    u: Floats  # (nv, 6) G s⁺
    w: Floats  # (nv, 6) Gᵀ s⁻
    d: Floats  # (nv,) 1 / (s⁻ · u + the joint's diagonal term)
    wrench: Floats  # (n, 6) b_i of the inboard pass
    twist: Floats  # (n, 6) a_i of the outboard pass
    epsilon: Floats  # (nv,)


def new_factors(n: int, nv: int) -> Factors:
    """Return factors for a tree, filled with NaN."""
    shapes: tuple[tuple[int, ...], ...] = ((n, 6, 6), (nv, 6), (nv, 6), (nv,), (n, 6), (n, 6), (nv,))
    return Factors(*(np.full(shape, np.nan) for shape in shapes))


@kernel
def store_block(block, i, mass, left, right, angular):
    """Store G_i about the reference points: [1 0; l̂ 1] diag(mass·1, angular) [1 −r̂; 0 1], l, r the lever arms.

    With left = right it is the spatial inertia of a body, whose moment part is angular − mass r̂ r̂.
    """
    lx, ly, lz = left
    rx, ry, rz = right
    for row in range(3):
        for column in range(3):
            block[i, row, column] = mass if row == column else 0.0
    block[i, 0, 3], block[i, 0, 4], block[i, 0, 5] = 0.0, mass * rz, -mass * ry
    block[i, 1, 3], block[i, 1, 4], block[i, 1, 5] = -mass * rz, 0.0, mass * rx
    block[i, 2, 3], block[i, 2, 4], block[i, 2, 5] = mass * ry, -mass * rx, 0.0
    block[i, 3, 0], block[i, 3, 1], block[i, 3, 2] = 0.0, -mass * lz, mass * ly
    block[i, 4, 0], block[i, 4, 1], block[i, 4, 2] = mass * lz, 0.0, -mass * lx
    block[i, 5, 0], block[i, 5, 1], block[i, 5, 2] = -mass * ly, mass * lx, 0.0
    # l̂ r̂ = r lᵀ − (l · r) 1
    lr = mass * dot(left, right)
    block[i, 3, 3] = angular[0] - mass * rx * lx + lr
    block[i, 3, 4] = angular[1] - mass * rx * ly
    block[i, 3, 5] = angular[2] - mass * rx * lz
    block[i, 4, 3] = angular[3] - mass * ry * lx
    block[i, 4, 4] = angular[4] - mass * ry * ly + lr
    block[i, 4, 5] = angular[5] - mass * ry * lz
    block[i, 5, 3] = angular[6] - mass * rz * lx
    block[i, 5, 4] = angular[7] - mass * rz * ly
    block[i, 5, 5] = angular[8] - mass * rz * lz + lr


@kernel
def store_matrix(block, i, row, column, M):
    """Store a 3 x 3 matrix as one corner of a 6 x 6 block."""
    block[i, row, column], block[i, row, column + 1], block[i, row, column + 2] = M[0], M[1], M[2]
    block[i, row + 1, column], block[i, row + 1, column + 1], block[i, row + 1, column + 2] = M[3], M[4], M[5]
    block[i, row + 2, column], block[i, row + 2, column + 1], block[i, row + 2, column + 2] = M[6], M[7], M[8]


@kernel
def add_matrix(block, i, row, column, M):
    """Add a 3 x 3 matrix to one corner of a 6 x 6 block."""
    block[i, row, column] += M[0]
    block[i, row, column + 1] += M[1]
    block[i, row, column + 2] += M[2]
    block[i, row + 1, column] += M[3]
    block[i, row + 1, column + 1] += M[4]
    block[i, row + 1, column + 2] += M[5]
    block[i, row + 2, column] += M[6]
    block[i, row + 2, column + 1] += M[7]
    block[i, row + 2, column + 2] += M[8]


@kernel
def add_point_block(block, i, left, right, C):
    """Add [1; l̂] C [1, −r̂] to G_i, for a force at a point with derivative C by the point's position."""
    turned = mat_scale(-1.0, mat_hat(C, right))
    add_matrix(block, i, 0, 0, C)
    add_matrix(block, i, 0, 3, turned)
    add_matrix(block, i, 3, 0, hat_mat(left, C))
    add_matrix(block, i, 3, 3, hat_mat(left, turned))


@kernel
def add_block(block, target, source):
    for row in range(6):
        for column in range(6):
            block[target, row, column] += block[source, row, column]


@kernel
def row_dot(block, i, row, s):
    return (
        (block[i, row, 0] * s[0] + block[i, row, 1] * s[1] + block[i, row, 2] * s[2])
        + (block[i, row, 3] * s[3] + block[i, row, 4] * s[4] + block[i, row, 5] * s[5])
    )  # fmt: skip


@kernel
def block_times(block, i, a):
    """Return G_i a."""
    return (
        row_dot(block, i, 0, a), row_dot(block, i, 1, a), row_dot(block, i, 2, a),
        row_dot(block, i, 3, a), row_dot(block, i, 4, a), row_dot(block, i, 5, a),
    )  # fmt: skip


@kernel
def column_dot(block, i, column, s):
    return (
        (block[i, 0, column] * s[0] + block[i, 1, column] * s[1] + block[i, 2, column] * s[2])
        + (block[i, 3, column] * s[3] + block[i, 4, column] * s[4] + block[i, 5, column] * s[5])
    )  # fmt: skip


@kernel
def store_block_times(block, i, s, rows, k):
    """Write G_i s to row k of ``rows``."""
    for row in range(6):
        rows[k, row] = row_dot(block, i, row, s)


@kernel
def eliminate_dof(i, dof, left, right, diagonal, factors):
    """Eliminate one degree of freedom of body i: u = G s⁺, w = Gᵀ s⁻, d = s⁻ · u, G −= u wᵀ / d."""
    block = factors.block
    s_left, s_right = load6(left, dof), load6(right, dof)
    u, w = factors.u, factors.w
    store_block_times(block, i, s_right, u, dof)
    for column in range(6):
        w[dof, column] = column_dot(block, i, column, s_left)
    inverse = 1.0 / (dot6(s_left, load6(u, dof)) + diagonal[dof])
    factors.d[dof] = inverse
    for row in range(6):
        scaled = u[dof, row] * inverse
        for column in range(6):
            block[i, row, column] -= scaled * w[dof, column]


@kernel
def eliminate(tree, left, right, diagonal, factors, outermost):
    """Eliminate the joints inboard, down to and including joint ``outermost`` (0: all; 1: all but the root).

    left, right: (nv, 6) unit twists at the two configurations; diagonal: (nv,) diagonal terms of the joints.
    """
    block = factors.block
    for i in range(tree.parent.shape[0] - 1, outermost - 1, -1):
        first = tree.first_v[i]
        for dof in range(first + tree.dofs[i] - 1, first - 1, -1):
            eliminate_dof(i, dof, left, right, diagonal, factors)
        parent = tree.parent[i]
        if parent >= 0:
            add_block(block, parent, i)


@kernel
def solve_inboard(tree, left, load, factors, outermost):
    """Do the inboard half of a solve; ``factors.wrench`` holds the initial wrench of each body.

    Afterwards the wrench of body ``outermost - 1`` is the sum handed to it by its outboard bodies, the bias force z.
    """
    wrench = factors.wrench
    for i in range(tree.parent.shape[0] - 1, outermost - 1, -1):
        first = tree.first_v[i]
        b = load6(wrench, i)
        for dof in range(first + tree.dofs[i] - 1, first - 1, -1):
            epsilon = load[dof] - dot6(load6(left, dof), b)
            factors.epsilon[dof] = epsilon
            b = add_scaled6(b, epsilon * factors.d[dof], load6(factors.u, dof))
        parent = tree.parent[i]
        if parent >= 0:
            store6(wrench, parent, add_scaled6(b, 1.0, load6(wrench, parent)))


@kernel
def solve_outboard(tree, right, factors, solution):
    """Do the outboard half of a solve: δ of every degree of freedom, and the resulting twist of every body."""
    twist = factors.twist
    for i in range(tree.parent.shape[0]):
        parent = tree.parent[i]
        if parent < 0:
            a = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        else:
            a = load6(twist, parent)
        first = tree.first_v[i]
        for dof in range(first, first + tree.dofs[i]):
            delta = (factors.epsilon[dof] - dot6(load6(factors.w, dof), a)) * factors.d[dof]
            solution[dof] = delta
            a = add_scaled6(a, delta, load6(right, dof))
        store6(twist, i, a)


@kernel
def solve(tree, left, right, load, factors, solution):
    """Solve A δ = load for the matrix factored by ``eliminate`` with outermost 0."""
    factors.wrench[:] = 0.0
    solve_inboard(tree, left, load, factors, 0)
    solve_outboard(tree, right, factors, solution)
