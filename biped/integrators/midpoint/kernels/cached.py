"""Derivatives of the Lagrangian by bodies and coordinates, by the recursions of Johnson and Murphey 2009.

Equations (5) to (10) give a body's velocity in its axes and its derivatives from its parent's; (23) to (27) sum them
up. A pair of coordinates moves only the bodies outboard of both, so that first derivatives take O(n · depth), second
ones O(n · depth²), and Newton's matrix is full: O(n³) for a chain. This is cheaper than in the paper: velocities
are six numbers instead of 4 x 4 matrices (its footnote 3), symmetric pairs are computed once, and a body's values
overwrite those of a parent without other children, so that they stay in the processor's cache.

With ξ the constant twist of a joint in its body's axes and Ad the transformation of the parent's velocities to them,

    V = Ad V_p + ξ q̇,    ∂V/∂q_i = Ad ∂V_p/∂q_i,    ∂V/∂q̇_i = Ad ∂V_p/∂q̇_i                     for joints i inboard,
    ∂V/∂q = −ξ × V,      ∂²V/∂q∂q_i = −ξ × ∂V/∂q_i,    ∂²V/∂q∂q̇_i = −ξ × ∂V/∂q̇_i,    ∂V/∂q̇ = ξ   for its own,

× the Lie bracket. The position of a body changes by ∂p/∂q_i = the linear part of ∂V/∂q̇_i, in its axes.
"""

from typing import NamedTuple

import numpy as np

from biped.integrators.midpoint.kernels.rule import set_legendre_momentum, set_legendre_residual, set_newton_step
from biped.kernels.midpoint.equations import set_middle
from biped.kernels.solve.dense import factor_dense, solve_dense
from biped.kernels.tree.kinematics import motion_cross
from biped.kernels.tree.tree import REVOLUTE, Tree
from biped.kernels.variational.joints import set_joint_diagonal
from contact import vectors as v
from contact.arrays import Floats, Integers
from kernelcache import kernel, routine


class Cached(NamedTuple):
    """Buffers of the paper's recursions; pairs of coordinates are given by their indices on a body's path."""

    slot: Integers  # (n,) index of a body's values
    depth: Integers  # (n,) number of coordinates that move a body
    path: Integers  # (slots, n) these coordinates, from the root
    order: Integers  # (n,) order of the matrix rows by pivoting
    gravity: Floats  # (slots, 3) [m/s²] in the body's axes
    velocity: Floats  # (slots, 6) V
    by_place: Floats  # (slots, n, 6) ∂V/∂q
    by_rate: Floats  # (slots, n, 6) ∂V/∂q̇
    by_places: Floats  # (slots, n, n, 6) ∂²V/∂q_a∂q_b, a ≤ b
    by_rate_and_place: Floats  # (slots, n, n, 6) ∂²V/∂q̇_a∂q_b, a < b
    momentum_by_place: Floats  # (n, 6) M ∂V/∂q of one body
    momentum_by_rate: Floats  # (n, 6) M ∂V/∂q̇
    L_q: Floats  # (n,)
    L_v: Floats  # (n,)
    L_qq: Floats  # (n, n)
    L_qv: Floats  # (n, n) ∂²L/∂q_i∂q̇_j
    L_vv: Floats  # (n, n)
    matrix: Floats  # (n, n) Newton's matrix


def new_cached(tree: Tree) -> Cached:
    """Return buffers for a tree whose joints have one coordinate each."""
    n = tree.parent.shape[0]
    slot, depth = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)
    slots = 0
    for i in range(n):
        parent = tree.parent[i]
        if parent >= 0:
            depth[i] = depth[parent] + 1
        if parent >= 0 and i == np.flatnonzero(tree.parent == parent)[-1]:
            slot[i] = slot[parent]
        else:
            slot[i] = slots
            slots += 1
    deepest = int(depth.max())
    shapes: tuple[tuple[int, ...], ...] = (
        (slots, 3), (slots, 6), (slots, deepest, 6), (slots, deepest, 6), (slots, deepest, deepest, 6),
        (slots, deepest, deepest, 6), (deepest, 6), (deepest, 6), (n,), (n,), (n, n), (n, n), (n, n), (n, n),
    )  # fmt: skip
    path = np.zeros((slots, deepest), dtype=np.int64)
    order = np.zeros(n, dtype=np.int64)
    return Cached(slot, depth, path, order, *(np.full(shape, np.nan) for shape in shapes))


@kernel
def joint_transform(tree, i, q):
    """Return (R, p, ξ): axes and centre of mass of body i in its parent's axes, and the joint's twist in the body's."""
    axis, offset = v.load3(tree.axis, i), v.load3(tree.com_offset, i)
    if tree.kind[i] == REVOLUTE:
        R = v.quat_matrix(v.quat_about(axis, q))
        return R, v.add(v.load3(tree.joint_offset, i), v.mat_vec(R, offset)), v.cross(axis, offset) + axis
    R = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    p = v.add(v.load3(tree.joint_offset, i), v.add(offset, v.scale(q, axis)))
    return R, p, axis + (0.0, 0.0, 0.0)


@kernel
def carried(R, p, V):
    """Return Ad V: the parent's velocity V in the child's axes."""
    return v.mat_t_vec(R, v.add(V[:3], v.cross(V[3:], p))) + v.mat_t_vec(R, V[3:])


@kernel
def turned_back(twist, V):
    """Return −ξ × V."""
    x = motion_cross(twist, V)
    return -x[0], -x[1], -x[2], -x[3], -x[4], -x[5]


@kernel
def momentum_of_body(tree, i, V):
    return v.scale(tree.mass[i], V[:3]) + v.mat_vec(v.load9(tree.inertia, i), V[3:])


@kernel
def set_path(tree, cached, i):
    """Set the coordinates that move body i; return its slot, its parent's slot, and the index of its own coordinate."""
    slot, last = cached.slot[i], cached.depth[i] - 1
    source = slot if tree.parent[i] < 0 else cached.slot[tree.parent[i]]
    if source != slot:
        for a in range(last):
            cached.path[slot, a] = cached.path[source, a]
    cached.path[slot, last] = i
    return slot, source, last


@kernel
def set_velocities(tree, rates, cached, i, transform):
    """Set V, ∂V/∂q and ∂V/∂q̇ of body i: equations (5), (6) and (8)."""
    R, p, twist = transform
    slot, source, last = set_path(tree, cached, i)
    V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    gravity = v.triple(tree.gravity)
    if last > 0:
        V, gravity = carried(R, p, v.load6(cached.velocity, source)), v.load3(cached.gravity, source)
    v.store3(cached.gravity, slot, v.mat_t_vec(R, gravity))
    V = v.add_scaled6(V, rates[i], twist)
    v.store6(cached.velocity, slot, V)
    here, there = cached.by_place[source], cached.by_place[slot]
    for a in range(last):
        v.store6(there, a, carried(R, p, v.load6(here, a)))
    v.store6(there, last, turned_back(twist, V))
    here, there = cached.by_rate[source], cached.by_rate[slot]
    for a in range(last):
        v.store6(there, a, carried(R, p, v.load6(here, a)))
    v.store6(there, last, twist)


@kernel
def add_first_sums(tree, cached, i):
    """Add body i to ∂L/∂q and ∂L/∂q̇: equations (23), (25) and (31)."""
    slot = cached.slot[i]
    momentum = momentum_of_body(tree, i, v.load6(cached.velocity, slot))
    weight = v.scale(tree.mass[i], v.load3(cached.gravity, slot))
    for a in range(cached.depth[i]):
        j = cached.path[slot, a]
        by_rate = v.load6(cached.by_rate[slot], a)
        cached.L_q[j] += v.dot6(momentum, v.load6(cached.by_place[slot], a)) + v.dot(weight, by_rate[:3])
        cached.L_v[j] += v.dot6(momentum, by_rate)


@routine
def set_first_derivatives(tree, q, rates, cached):
    """Set ∂L/∂q and ∂L/∂q̇, in O(n · depth)."""
    for j in range(q.shape[0]):
        cached.L_q[j] = 0.0
        cached.L_v[j] = tree.armature[j] * rates[j]
    for i in range(q.shape[0]):
        set_velocities(tree, rates, cached, i, joint_transform(tree, i, q[i]))
        if tree.mass[i] > 0.0:
            add_first_sums(tree, cached, i)


@kernel
def set_second_velocities(tree, cached, i, transform):
    """Set ∂²V of body i by pairs of coordinates: equations (7) and (10); after ``set_velocities``."""
    R, p, twist = transform
    slot, last = cached.slot[i], cached.depth[i] - 1
    source = slot if tree.parent[i] < 0 else cached.slot[tree.parent[i]]
    for a in range(last):
        here, there = cached.by_places[source, a], cached.by_places[slot, a]
        for b in range(a, last):
            v.store6(there, b, carried(R, p, v.load6(here, b)))
        v.store6(there, last, turned_back(twist, v.load6(cached.by_place[slot], a)))
        here, there = cached.by_rate_and_place[source, a], cached.by_rate_and_place[slot, a]
        for b in range(a + 1, last):
            v.store6(there, b, carried(R, p, v.load6(here, b)))
        v.store6(there, last, turned_back(twist, v.load6(cached.by_rate[slot], a)))
    v.store6(cached.by_places[slot, last], last, turned_back(twist, v.load6(cached.by_place[slot], last)))


@kernel
def add_second_sums(tree, cached, i):
    """Add body i to the second derivatives of L: equations (24), (26), (27) and (32), each pair once."""
    slot, count = cached.slot[i], cached.depth[i]
    momentum = momentum_of_body(tree, i, v.load6(cached.velocity, slot))
    weight = v.scale(tree.mass[i], v.load3(cached.gravity, slot))
    by_place, by_rate, path = cached.by_place[slot], cached.by_rate[slot], cached.path[slot]
    for a in range(count):
        v.store6(cached.momentum_by_place, a, momentum_of_body(tree, i, v.load6(by_place, a)))
        v.store6(cached.momentum_by_rate, a, momentum_of_body(tree, i, v.load6(by_rate, a)))
    for a in range(count):
        j, V_q, V_v = path[a], v.load6(by_place, a), v.load6(by_rate, a)
        V_qq, V_vq = cached.by_places[slot, a], cached.by_rate_and_place[slot, a]
        for b in range(a, count):
            k, mass_q, mass_v = path[b], v.load6(cached.momentum_by_place, b), v.load6(cached.momentum_by_rate, b)
            weighed = v.dot(weight, v.cross(V_v[3:], (by_rate[b, 0], by_rate[b, 1], by_rate[b, 2])))
            cached.L_qq[j, k] += v.dot6(V_q, mass_q) + v.dot6(momentum, v.load6(V_qq, b)) + weighed
            cached.L_qv[k, j] += v.dot6(V_v, mass_q)
            cached.L_vv[j, k] += v.dot6(V_v, mass_v)
            if a < b:
                cached.L_qv[k, j] += v.dot6(momentum, v.load6(V_vq, b))
                cached.L_qv[j, k] += v.dot6(V_q, mass_v)


@routine
def set_second_derivatives(tree, q, rates, cached):
    """Set the second derivatives of L, in O(n · depth²), for symmetric ones the upper half."""
    cached.L_qq[:] = 0.0
    cached.L_qv[:] = 0.0
    cached.L_vv[:] = 0.0
    for i in range(q.shape[0]):
        transform = joint_transform(tree, i, q[i])
        set_velocities(tree, rates, cached, i, transform)
        set_second_velocities(tree, cached, i, transform)
        if tree.mass[i] > 0.0:
            add_second_sums(tree, cached, i)


@kernel
def set_residual_by_derivatives(derivatives, rule, h):
    """Set e from L's first derivatives (20), and return its norm."""
    total = 0.0
    for j in range(rule.start.shape[0]):
        e = rule.buffers.load[j] + (1.0 - rule.alpha) * h * derivatives.L_q[j] - derivatives.L_v[j]
        rule.buffers.residual[j] = e
        total += e * e
    return total**0.5


@kernel
def set_matrix_by_derivatives(derivatives, alpha, h):
    """Set −D₂D₁L_d from L's second derivatives (22), of which the upper half is read if symmetric."""
    for j in range(derivatives.matrix.shape[0]):
        for k in range(derivatives.matrix.shape[0]):
            low, high = min(j, k), max(j, k)
            by_places = (1.0 - alpha) * alpha * h * derivatives.L_qq[low, high]
            mixed = (1.0 - alpha) * derivatives.L_qv[j, k] - alpha * derivatives.L_qv[k, j]
            derivatives.matrix[j, k] = derivatives.L_vv[low, high] / h - by_places - mixed


@kernel
def set_momentum_by_derivatives(derivatives, rule, h, momentum):
    """Set ``momentum`` to D₂L_d (21)."""
    for j in range(momentum.shape[0]):
        momentum[j] = rule.alpha * h * derivatives.L_q[j] + derivatives.L_v[j]


@set_legendre_residual.register(Cached)
def set_summed_residual(derivatives, rule, h):
    set_middle(rule.start, rule.alpha, h, rule.buffers)
    set_first_derivatives(rule.tree, rule.buffers.middle, rule.buffers.rates, derivatives)
    return set_residual_by_derivatives(derivatives, rule, h)


@set_newton_step.register(Cached)
def set_summed_step(derivatives, tree, ground, state, scratch, rule, h, fresh):
    """Set Newton's step by the full matrix, factored if ``fresh``."""
    cached = derivatives
    if fresh:
        set_second_derivatives(rule.tree, rule.buffers.middle, rule.buffers.rates, cached)
        set_joint_diagonal(tree, state, scratch, h)
        set_matrix_by_derivatives(cached, rule.alpha, h)
        for j in range(rule.start.shape[0]):
            cached.matrix[j, j] += scratch.diagonal[j]
        factor_dense(cached.matrix, cached.order)
    solve_dense(cached.matrix, cached.order, rule.buffers.residual, rule.buffers.delta)


@set_legendre_momentum.register(Cached)
def set_summed_momentum(derivatives, rule, h, momentum):
    set_momentum_by_derivatives(derivatives, rule, h, momentum)
