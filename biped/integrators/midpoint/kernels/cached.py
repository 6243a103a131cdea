"""Derivatives of the Lagrangian one body and one coordinate at a time, as Johnson and Murphey 2009 have them.

Equations (5) to (10) give a body's velocity in its own axes and its derivatives from its parent's; (23) to (27) sum
them up. A pair of coordinates moves the bodies beyond both only, so that first derivatives take O(n · depth) and second
ones O(n · depth²), and Newton's matrix is full: O(n³) a step of a chain. What they take here is less than in the paper:
velocities are six numbers and not 4 x 4 matrices (its footnote 3), symmetric pairs are computed once, and a body's
values take its parent's place where that has no other child, so that they stay in the processor's cache.

With ξ the constant twist of a joint in its body's axes and Ad what takes the parent's velocities there,

    V = Ad V_p + ξ q̇,    ∂V/∂q_i = Ad ∂V_p/∂q_i,    ∂V/∂q̇_i = Ad ∂V_p/∂q̇_i                     for joints i inboard,
    ∂V/∂q = −ξ × V,      ∂²V/∂q∂q_i = −ξ × ∂V/∂q_i,    ∂²V/∂q∂q̇_i = −ξ × ∂V/∂q̇_i,    ∂V/∂q̇ = ξ   for its own,

× the Lie bracket. The place of a body moves by ∂p/∂q_i = the linear part of ∂V/∂q̇_i, in its own axes.
"""

from typing import NamedTuple

import numpy as np

from biped.integrators.midpoint.kernels.rule import set_legendre_momentum, set_legendre_residual, set_newton_step
from biped.kernels.midpoint.equations import set_middle
from biped.kernels.solve.dense import factor_dense, solve_dense
from biped.kernels.tree.kinematics import motion_cross
from biped.kernels.tree.tree import REVOLUTE, Tree
from biped.kernels.variational.joints import set_joint_diagonal
from contact import vectors as vec
from contact.arrays import Floats, Integers
from kernelcache import kernel, routine


class Cached(NamedTuple):
    """The paper's recursions, and room for them; a pair of coordinates is given by their places on a body's path."""

    slot: Integers  # (n,) where a body's values stand
    depth: Integers  # (n,) how many coordinates move a body
    path: Integers  # (slots, n) these coordinates, from the root
    order: Integers  # (n,) of the rows of the matrix, as pivoted
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
    matrix: Floats  # (n, n) Newton's


def new_cached(tree: Tree) -> Cached:
    """Room for a tree whose joints have one coordinate each."""
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
    """(R, p, ξ): the axes and the centre of mass of body i in its parent's axes, and the joint's twist in its own."""
    axis, offset = vec.load3(tree.axis, i), vec.load3(tree.com_offset, i)
    if tree.kind[i] == REVOLUTE:
        R = vec.quat_matrix(vec.quat_about(axis, q))
        return R, vec.add(vec.load3(tree.joint_offset, i), vec.mat_vec(R, offset)), vec.cross(axis, offset) + axis
    R = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    p = vec.add(vec.load3(tree.joint_offset, i), vec.add(offset, vec.scale(q, axis)))
    return R, p, axis + (0.0, 0.0, 0.0)


@kernel
def carried(R, p, V):
    """Ad V: a velocity of the parent in the axes of its child."""
    return vec.mat_t_vec(R, vec.add(V[:3], vec.cross(V[3:], p))) + vec.mat_t_vec(R, V[3:])


@kernel
def turned_back(twist, V):
    """−ξ × V."""
    x = motion_cross(twist, V)
    return -x[0], -x[1], -x[2], -x[3], -x[4], -x[5]


@kernel
def momentum_of_body(tree, i, V):
    return vec.scale(tree.mass[i], V[:3]) + vec.mat_vec(vec.load9(tree.inertia, i), V[3:])


@kernel
def set_path(tree, cached, i):
    """The coordinates that move body i, its own the last; how many, and where the parent's values are."""
    slot, last = cached.slot[i], cached.depth[i] - 1
    source = slot if tree.parent[i] < 0 else cached.slot[tree.parent[i]]
    if source != slot:
        for a in range(last):
            cached.path[slot, a] = cached.path[source, a]
    cached.path[slot, last] = i
    return slot, source, last


@kernel
def set_velocities(tree, rates, cached, i, transform):
    """V, ∂V/∂q and ∂V/∂q̇ of body i: equations (5), (6) and (8)."""
    R, p, twist = transform
    slot, source, last = set_path(tree, cached, i)
    V = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    gravity = vec.triple(tree.gravity)
    if last > 0:
        V, gravity = carried(R, p, vec.load6(cached.velocity, source)), vec.load3(cached.gravity, source)
    vec.store3(cached.gravity, slot, vec.mat_t_vec(R, gravity))
    V = vec.add_scaled6(V, rates[i], twist)
    vec.store6(cached.velocity, slot, V)
    here, there = cached.by_place[source], cached.by_place[slot]
    for a in range(last):
        vec.store6(there, a, carried(R, p, vec.load6(here, a)))
    vec.store6(there, last, turned_back(twist, V))
    here, there = cached.by_rate[source], cached.by_rate[slot]
    for a in range(last):
        vec.store6(there, a, carried(R, p, vec.load6(here, a)))
    vec.store6(there, last, twist)


@kernel
def add_first_sums(tree, cached, i):
    """What body i adds to ∂L/∂q and ∂L/∂q̇: equations (23), (25) and (31)."""
    slot = cached.slot[i]
    momentum = momentum_of_body(tree, i, vec.load6(cached.velocity, slot))
    weight = vec.scale(tree.mass[i], vec.load3(cached.gravity, slot))
    for a in range(cached.depth[i]):
        j = cached.path[slot, a]
        by_rate = vec.load6(cached.by_rate[slot], a)
        cached.L_q[j] += vec.dot6(momentum, vec.load6(cached.by_place[slot], a)) + vec.dot(weight, by_rate[:3])
        cached.L_v[j] += vec.dot6(momentum, by_rate)


@routine
def set_first_derivatives(tree, q, rates, cached):
    """∂L/∂q and ∂L/∂q̇, O(n · depth)."""
    for j in range(q.shape[0]):
        cached.L_q[j] = 0.0
        cached.L_v[j] = tree.armature[j] * rates[j]
    for i in range(q.shape[0]):
        set_velocities(tree, rates, cached, i, joint_transform(tree, i, q[i]))
        if tree.mass[i] > 0.0:
            add_first_sums(tree, cached, i)


@kernel
def set_second_velocities(tree, cached, i, transform):
    """∂²V of body i by pairs of coordinates: equations (7) and (10); after ``set_velocities``."""
    R, p, twist = transform
    slot, last = cached.slot[i], cached.depth[i] - 1
    source = slot if tree.parent[i] < 0 else cached.slot[tree.parent[i]]
    for a in range(last):
        here, there = cached.by_places[source, a], cached.by_places[slot, a]
        for b in range(a, last):
            vec.store6(there, b, carried(R, p, vec.load6(here, b)))
        vec.store6(there, last, turned_back(twist, vec.load6(cached.by_place[slot], a)))
        here, there = cached.by_rate_and_place[source, a], cached.by_rate_and_place[slot, a]
        for b in range(a + 1, last):
            vec.store6(there, b, carried(R, p, vec.load6(here, b)))
        vec.store6(there, last, turned_back(twist, vec.load6(cached.by_rate[slot], a)))
    vec.store6(cached.by_places[slot, last], last, turned_back(twist, vec.load6(cached.by_place[slot], last)))


@kernel
def add_second_sums(tree, cached, i):
    """What body i adds to the second derivatives of L: equations (24), (26), (27) and (32), each pair once."""
    slot, count = cached.slot[i], cached.depth[i]
    momentum = momentum_of_body(tree, i, vec.load6(cached.velocity, slot))
    weight = vec.scale(tree.mass[i], vec.load3(cached.gravity, slot))
    by_place, by_rate, path = cached.by_place[slot], cached.by_rate[slot], cached.path[slot]
    for a in range(count):
        vec.store6(cached.momentum_by_place, a, momentum_of_body(tree, i, vec.load6(by_place, a)))
        vec.store6(cached.momentum_by_rate, a, momentum_of_body(tree, i, vec.load6(by_rate, a)))
    for a in range(count):
        j, V_q, V_v = path[a], vec.load6(by_place, a), vec.load6(by_rate, a)
        V_qq, V_vq = cached.by_places[slot, a], cached.by_rate_and_place[slot, a]
        for b in range(a, count):
            k, mass_q, mass_v = path[b], vec.load6(cached.momentum_by_place, b), vec.load6(cached.momentum_by_rate, b)
            weighed = vec.dot(weight, vec.cross(V_v[3:], (by_rate[b, 0], by_rate[b, 1], by_rate[b, 2])))
            cached.L_qq[j, k] += vec.dot6(V_q, mass_q) + vec.dot6(momentum, vec.load6(V_qq, b)) + weighed
            cached.L_qv[k, j] += vec.dot6(V_v, mass_q)
            cached.L_vv[j, k] += vec.dot6(V_v, mass_v)
            if a < b:
                cached.L_qv[k, j] += vec.dot6(momentum, vec.load6(V_vq, b))
                cached.L_qv[j, k] += vec.dot6(V_q, mass_v)


@routine
def set_second_derivatives(tree, q, rates, cached):
    """The second derivatives of L, O(n · depth²); of symmetric ones the upper half."""
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
    """e and its norm, of L's first derivatives (20)."""
    total = 0.0
    for j in range(rule.start.shape[0]):
        e = rule.room.load[j] + (1.0 - rule.alpha) * h * derivatives.L_q[j] - derivatives.L_v[j]
        rule.room.residual[j] = e
        total += e * e
    return total**0.5


@kernel
def set_matrix_by_derivatives(derivatives, alpha, h):
    """−D₂D₁L_d of L's second derivatives (22); of symmetric ones the upper half is read."""
    for j in range(derivatives.matrix.shape[0]):
        for k in range(derivatives.matrix.shape[0]):
            low, high = min(j, k), max(j, k)
            by_places = (1.0 - alpha) * alpha * h * derivatives.L_qq[low, high]
            mixed = (1.0 - alpha) * derivatives.L_qv[j, k] - alpha * derivatives.L_qv[k, j]
            derivatives.matrix[j, k] = derivatives.L_vv[low, high] / h - by_places - mixed


@kernel
def set_momentum_by_derivatives(derivatives, rule, h, momentum):
    """D₂L_d (21)."""
    for j in range(momentum.shape[0]):
        momentum[j] = rule.alpha * h * derivatives.L_q[j] + derivatives.L_v[j]


@set_legendre_residual.register(Cached)
def set_summed_residual(derivatives, rule, h):
    set_middle(rule.start, rule.alpha, h, rule.room)
    set_first_derivatives(rule.tree, rule.room.middle, rule.room.rates, derivatives)
    return set_residual_by_derivatives(derivatives, rule, h)


@set_newton_step.register(Cached)
def set_summed_step(derivatives, tree, ground, state, scratch, rule, h, fresh):
    """Newton's matrix, factored as a full one."""
    cached = derivatives
    if fresh:
        set_second_derivatives(rule.tree, rule.room.middle, rule.room.rates, cached)
        set_joint_diagonal(tree, state, scratch, h)
        set_matrix_by_derivatives(cached, rule.alpha, h)
        for j in range(rule.start.shape[0]):
            cached.matrix[j, j] += scratch.diagonal[j]
        factor_dense(cached.matrix, cached.order)
    solve_dense(cached.matrix, cached.order, rule.room.residual, rule.room.delta)


@set_legendre_momentum.register(Cached)
def set_summed_momentum(derivatives, rule, h, momentum):
    set_momentum_by_derivatives(derivatives, rule, h, momentum)
