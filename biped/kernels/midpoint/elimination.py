"""Elimination of Newton's matrix of a midpoint step: T δ = e in O(n), if every joint has one coordinate.

A change δ of q_{k+1} moves body i, at the middle of the step, by a displacement X_i, and changes its velocity V_i. With
Y_i = δV_i − X_i × V_i (× the Lie bracket of twists) both add up along the tree:

    X_j = X_parent + α s_j δ_j,        Y_j = Y_parent + c_j δ_j,        c_j = (s_j + α h V_parent × s_j) / h.

A body adds A_i X_i + B_i Y_i to the momenta that its joints carry, with two 6 x 6 blocks. Let D_j be
the sum over all bodies outboard of joint j, H_j that of their momenta, Q_j that of momenta less the impulses on them,
β = (1 − α) h, and r_j = s_j − β V_parent × s_j. Since pairings of twists and wrenches are invariant, and by the Jacobi
identity,

    (T δ)_j = r_j · (D_j − X_parent ×* Q_j) − β (Y_parent × s_j) · H_j + the joint's diagonal term times δ_j.

Eliminated from the tips to the root, D_j = A_j X_j + B_j Y_j + z_j with composite blocks, so that

    u = α A s + B c,    d = r · u + the joint's term,    w_X = Aᵀ r + r ×* Q,    w_Y = Bᵀ r − β s ×* H,
    δ_j = (e_j − r · z − w_X · X_parent − w_Y · Y_parent) / d,
    A_parent += A − u w_Xᵀ / d,    B_parent += B − u w_Yᵀ / d,    z_parent += z + u (e_j − r · z) / d.

This is the elimination of ``biped.kernels.tree.factorization`` for bodies whose momentum depends on pose and velocity
instead of the pose alone.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.tree.factorization import add_block, add_matrix, column_dot, row_dot, store_block, store_matrix
from contact.arrays import Floats
from contact.vectors import add, add_scaled6, cross, dot6, hat, hat_mat, load6, mat_scale, store6
from kernelcache import kernel

# Size of d relative to its terms below which it is rounding and the matrix singular.
SINGULAR = 1e-14


class TwoBlocks(NamedTuple):
    """The factorization and the buffers of its solves."""

    by_pose: Floats  # (n, 6, 6) A_i; after elimination, the part that body i adds to its parent
    by_rate: Floats  # (n, 6, 6) B_i; after elimination, the part that body i adds to its parent
    u: Floats  # (n, 6)
    w_pose: Floats  # (n, 6) w_X
    w_rate: Floats  # (n, 6) w_Y
    d: Floats  # (n,) 1 / d, and 0 for a prescribed coordinate
    wrench: Floats  # (n, 6) z_i of the inboard pass
    displacement: Floats  # (n, 6) X_i of the outboard pass
    change: Floats  # (n, 6) Y_i
    epsilon: Floats  # (n,)


def new_two_blocks(n: int) -> TwoBlocks:
    """Return factors for a tree of n joints, filled with NaN."""
    shapes: tuple[tuple[int, ...], ...] = (
        (n, 6, 6), (n, 6, 6), (n, 6), (n, 6), (n, 6), (n,), (n, 6), (n, 6), (n, 6), (n,),
    )  # fmt: skip
    return TwoBlocks(*(np.full(shape, np.nan) for shape in shapes))


@kernel
def wrench_cross(twist, wrench):
    """Return the change of a wrench carried along a displacement: X ×* F = (ω × f, ω × n + v × f)."""
    v, w = twist[:3], twist[3:]
    f, n = wrench[:3], wrench[3:]
    return cross(w, f) + add(cross(w, n), cross(v, f))


@kernel
def store_momentum_blocks(factors, i, mass, com, inertia, momentum):
    """Store A_i: X ↦ X ×* h, and B_i, the spatial inertia, of a body with momentum h, about O in world axes."""
    linear = mat_scale(-1.0, hat(momentum[:3]))
    store_matrix(factors.by_pose, i, 0, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    store_matrix(factors.by_pose, i, 0, 3, linear)
    store_matrix(factors.by_pose, i, 3, 0, linear)
    store_matrix(factors.by_pose, i, 3, 3, mat_scale(-1.0, hat(momentum[3:])))
    store_block(factors.by_rate, i, mass, com, com, inertia)


@kernel
def subtract_arm_block(block, i, arm, impulse):
    """Subtract the change of a constant impulse's moment at ``arm`` on body i: δarm × impulse, δarm = v + ω × arm.

    Impulses on a body are subtracted from the change of its momentum.
    """
    carried = hat(impulse)
    add_matrix(block, i, 3, 0, carried)
    add_matrix(block, i, 3, 3, mat_scale(-1.0, hat_mat(impulse, hat(arm))))


@kernel
def subtract_turned_block(block, i, wrench):
    """Subtract the change of an impulse that moves with body i, such as one in a body's axes: X ×* of it."""
    linear, angular = hat(wrench[:3]), hat(wrench[3:])
    add_matrix(block, i, 0, 3, linear)
    add_matrix(block, i, 3, 0, linear)
    add_matrix(block, i, 3, 3, angular)


@kernel
def set_joint_factors(i, alpha, beta, s, left, right, beyond, carried, factors):
    """Set u, w_X and w_Y of joint i. s, left, right are s, r and c; beyond, carried are Q and H."""
    pose, rate = factors.by_pose, factors.by_rate
    u, w_pose, w_rate = factors.u, factors.w_pose, factors.w_rate
    moved = (alpha * s[0], alpha * s[1], alpha * s[2], alpha * s[3], alpha * s[4], alpha * s[5])
    for row in range(6):
        u[i, row] = row_dot(pose, i, row, moved) + row_dot(rate, i, row, right)
    turned, dragged = wrench_cross(left, beyond), wrench_cross(s, carried)
    for column in range(6):
        w_pose[i, column] = column_dot(pose, i, column, left)
        w_rate[i, column] = column_dot(rate, i, column, left)
    store6(w_pose, i, add_scaled6(load6(w_pose, i), 1.0, turned))
    store6(w_rate, i, add_scaled6(load6(w_rate, i), -beta, dragged))


@kernel
def eliminate_joint(i, left, diagonal, factors):
    """Set 1 / d of joint i and prepare its body's blocks for the parent; return False if d is rounding."""
    d, size = diagonal, abs(diagonal)
    for row in range(6):
        part = left[row] * factors.u[i, row]
        d += part
        size += abs(part)
    if not abs(d) > SINGULAR * size:
        factors.d[i] = 0.0
        return False
    factors.d[i] = inverse = 1.0 / d
    for row in range(6):
        scaled = factors.u[i, row] * inverse
        for column in range(6):
            factors.by_pose[i, row, column] -= scaled * factors.w_pose[i, column]
            factors.by_rate[i, row, column] -= scaled * factors.w_rate[i, column]
    return True


@kernel
def eliminate_blocks(tree, buffers, alpha, h, diagonal, prescribed):
    """Eliminate all joints, inboard; return the joint at which the matrix is singular, or −1.

    Args:
        tree: a tree of joints of one coordinate.
        buffers: a ``MidpointBuffers`` with the residual set and the bodies' blocks in ``factors``.
        alpha: α of the rule.
        h: [s] length of the step.
        diagonal: (n,) diagonal terms of the joints in T, such as −∂(their impulse)/∂q'.
        prescribed: (n,) 1 for a coordinate with prescribed motion, whose δ is 0.
    """
    factors = buffers.factors
    singular = -1
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        carried = load6(buffers.carried, i)
        beyond = add_scaled6(carried, -1.0, load6(buffers.impulse, i))
        s, left, right = load6(buffers.poses.motion, i), load6(buffers.left, i), load6(buffers.right, i)
        set_joint_factors(i, alpha, (1.0 - alpha) * h, s, left, right, beyond, carried, factors)
        if prescribed[i] != 0:
            factors.d[i] = 0.0
        elif not eliminate_joint(i, left, diagonal[i], factors):
            singular = i
        parent = tree.parent[i]
        if parent >= 0:
            add_block(factors.by_pose, parent, i)
            add_block(factors.by_rate, parent, i)
    return singular


@kernel
def solve_blocks(tree, buffers, alpha, load, solution):
    """Solve T δ = ``load`` (n,) with the factors of ``eliminate_blocks``."""
    factors = buffers.factors
    wrench, displacement, change = factors.wrench, factors.displacement, factors.change
    n = tree.parent.shape[0]
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(n):
        store6(wrench, i, nothing)
    for i in range(n - 1, -1, -1):
        z = load6(wrench, i)
        epsilon = load[i] - dot6(load6(buffers.left, i), z)
        factors.epsilon[i] = epsilon
        parent = tree.parent[i]
        if parent >= 0:
            z = add_scaled6(z, epsilon * factors.d[i], load6(factors.u, i))
            store6(wrench, parent, add_scaled6(z, 1.0, load6(wrench, parent)))
    for i in range(n):
        parent = tree.parent[i]
        X, Y = nothing, nothing
        if parent >= 0:
            X, Y = load6(displacement, parent), load6(change, parent)
        epsilon = factors.epsilon[i] - dot6(load6(factors.w_pose, i), X) - dot6(load6(factors.w_rate, i), Y)
        delta = epsilon * factors.d[i]
        solution[i] = delta
        store6(displacement, i, add_scaled6(X, alpha * delta, load6(buffers.poses.motion, i)))
        store6(change, i, add_scaled6(Y, delta, load6(buffers.right, i)))
