"""Johnson and Murphey's recursions as in the program of Lee et al.: for every body and every coordinate.

They include coordinates that do not move a body, whose derivatives are zero, both of a symmetric pair, and second
derivatives by rates, which are zero (``BodyNode::dm_updateHessianV_q_dq`` and ``Skeleton`` of their revision bfbe862).
Without gravity, as theirs. ``biped.integrators.midpoint.kernels.cached`` evaluates only what is needed.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from biped.integrators.lee.kernels.quasi_newton import set_correction
from biped.integrators.midpoint.kernels import cached
from biped.integrators.midpoint.kernels import rule as rules
from biped.kernels.midpoint.equations import set_middle
from biped.kernels.solve.causes import cause_of
from biped.kernels.solve.dense import factor_dense, solve_dense
from biped.kernels.state.method import find_root
from biped.kernels.variational.newton import tolerance_of
from contact.arrays import Floats, Integers
from contact.vectors import add_scaled6, copy1, dot6, load6, store6
from kernelcache import kernel, routine

NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class EveryPair(NamedTuple):
    """Derivatives of all n bodies' velocities by all n coordinates and all their pairs."""

    order: Integers  # (n,) of the matrix's rows, as pivoted
    velocity: Floats  # (n, 6)
    by_place: Floats  # (n, n, 6) by body and coordinate
    by_rate: Floats  # (n, n, 6)
    by_places: Floats  # (n, n, n, 6)
    by_place_and_rate: Floats  # (n, n, n, 6)
    by_rates: Floats  # (n, n, n, 6)
    L_q: Floats  # (n,)
    L_v: Floats  # (n,)
    L_qq: Floats  # (n, n)
    L_qv: Floats  # (n, n) ∂²L/∂q_i∂q̇_j
    L_vv: Floats  # (n, n)
    matrix: Floats  # (n, n)


def new_every_pair(n: int) -> EveryPair:
    """Return buffers for a tree of n bodies: 144 bytes times n³, and some."""
    shapes: tuple[tuple[int, ...], ...] = (
        (n, 6), (n, n, 6), (n, n, 6), (n, n, n, 6), (n, n, n, 6), (n, n, n, 6),
        (n,), (n,), (n, n), (n, n), (n, n), (n, n),
    )  # fmt: skip
    return EveryPair(np.zeros(n, dtype=np.int64), *(np.full(shape, np.nan) for shape in shapes))


@kernel
def carried_from(tree, i, transform, rows):
    """Return the row of body i's parent in the axes of body i; zero if the parent is the ground."""
    if tree.parent[i] < 0:
        return NOTHING
    R, p, _ = transform
    return cached.carried(R, p, load6(rows, tree.parent[i]))


@routine
def set_every_first_derivative(tree, q, rates, every):
    n = q.shape[0]
    for k in range(n):
        transform = cached.joint_transform(tree, k, q[k])
        twist = transform[2]
        V = add_scaled6(carried_from(tree, k, transform, every.velocity), rates[k], twist)
        store6(every.velocity, k, V)
        for j in range(n):
            by_place = carried_from(tree, k, transform, every.by_place[:, j])
            by_rate = carried_from(tree, k, transform, every.by_rate[:, j])
            if j == k:
                by_place, by_rate = cached.turned_back(twist, V), twist
            store6(every.by_place[:, j], k, by_place)
            store6(every.by_rate[:, j], k, by_rate)
    for j in range(n):
        every.L_q[j] = 0.0
        every.L_v[j] = 0.0
        for k in range(n):
            momentum = cached.momentum_of_body(tree, k, load6(every.velocity, k))
            every.L_q[j] += dot6(momentum, load6(every.by_place[:, j], k))
            every.L_v[j] += dot6(momentum, load6(every.by_rate[:, j], k))


@kernel
def set_second_derivatives_of_body(tree, k, i, j, transform, every):
    """Set ∂²V_k/∂q_i∂q_j, ∂²V_k/∂q_i∂q̇_j and ∂²V_k/∂q̇_i∂q̇_j."""
    twist = transform[2]
    by_places = carried_from(tree, k, transform, every.by_places[:, i, j])
    mixed = carried_from(tree, k, transform, every.by_place_and_rate[:, i, j])
    if i == k:
        by_places = cached.turned_back(twist, load6(every.by_place[:, j], k))
        mixed = cached.turned_back(twist, load6(every.by_rate[:, j], k))
    elif j == k:
        by_places = cached.turned_back(twist, load6(every.by_place[:, i], k))
        mixed = NOTHING
    store6(every.by_places[:, i, j], k, by_places)
    store6(every.by_place_and_rate[:, i, j], k, mixed)
    store6(every.by_rates[:, i, j], k, carried_from(tree, k, transform, every.by_rates[:, i, j]))


@kernel
def add_second_derivatives_of_body(tree, k, i, j, every):
    momentum = cached.momentum_of_body(tree, k, load6(every.velocity, k))
    by_place, by_rate = load6(every.by_place[:, i], k), load6(every.by_rate[:, i], k)
    momentum_by_place = cached.momentum_of_body(tree, k, by_place)
    momentum_by_rate = cached.momentum_of_body(tree, k, by_rate)
    every.L_qq[i, j] += dot6(load6(every.by_place[:, j], k), momentum_by_place)
    every.L_qq[i, j] += dot6(momentum, load6(every.by_places[:, i, j], k))
    every.L_qv[i, j] += dot6(load6(every.by_rate[:, j], k), momentum_by_place)
    every.L_qv[i, j] += dot6(momentum, load6(every.by_place_and_rate[:, i, j], k))
    every.L_vv[i, j] += dot6(load6(every.by_rate[:, j], k), momentum_by_rate)
    every.L_vv[i, j] += dot6(momentum, load6(every.by_rates[:, i, j], k))


@routine
def set_every_second_derivative(tree, q, every):
    """Set all second derivatives from the first ones."""
    n = q.shape[0]
    every.L_qq[:] = 0.0
    every.L_qv[:] = 0.0
    every.L_vv[:] = 0.0
    for k in range(n):
        transform = cached.joint_transform(tree, k, q[k])
        for i in range(n):
            for j in range(n):
                set_second_derivatives_of_body(tree, k, i, j, transform, every)
                add_second_derivatives_of_body(tree, k, i, j, every)


@rules.set_legendre_residual.register(EveryPair)
def set_residual_of_every(derivatives, rule, h):
    set_middle(rule.start, rule.alpha, h, rule.buffers)
    set_every_first_derivative(rule.tree, rule.buffers.middle, rule.buffers.rates, derivatives)
    return cached.set_residual_by_derivatives(derivatives, rule, h)


@rules.set_newton_step.register(EveryPair)
def set_step_of_every(derivatives, tree, ground, state, scratch, rule, h, fresh):
    every = derivatives
    if fresh:
        set_every_second_derivative(rule.tree, rule.buffers.middle, every)
        cached.set_matrix_by_derivatives(every, rule.alpha, h)
        factor_dense(every.matrix, every.order)
    solve_dense(every.matrix, every.order, rule.buffers.residual, rule.buffers.delta)


@rules.set_legendre_momentum.register(EveryPair)
def set_momentum_of_every(derivatives, rule, h, momentum):
    cached.set_momentum_by_derivatives(derivatives, rule, h, momentum)


class OnMidpointRule(NamedTuple):
    """A quasi-Newton method of the paper on SVI's equations, for trees whose coordinates are joint angles."""

    finder: Any  # ``Riqn`` or ``Broyden``


@find_root.register(OnMidpointRule)
def find_on_rule(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Search by ``iterate_quasi_newton`` with the residual and the displacement of the midpoint rule."""
    rule = method.body
    rules.begin_rule(tree, state, scratch, rule)
    tolerance = tolerance_of(method, tree, scratch, h)
    iteration = 0
    while True:
        norm = rules.evaluate_rule(tree, ground, state, pushes, scratch, rule, h)
        copy1(rule.buffers.residual, scratch.residual)
        if norm <= tolerance:
            rules.arrive(tree, state, pushes, scratch, rule)
            return iteration
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            return cause_of(norm)
        set_correction(root_finder.finder, tree, ground, state, scratch, rule, h, iteration)
        for j in range(rule.buffers.moved.shape[0]):
            rule.buffers.moved[j] += scratch.delta[j]
        iteration += 1
