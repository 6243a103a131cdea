"""Newton's method for a step of the midpoint rule: O(n) an iteration, backtracking line search."""

import math
from typing import NamedTuple

from biped.integrators.midpoint.kernels.rule import (
    arrive,
    begin_rule,
    evaluate_rule,
    set_legendre_residual,
    set_newton_step,
)
from biped.kernels.midpoint.elimination import eliminate_blocks, solve_blocks
from biped.kernels.midpoint.equations import (
    place_middle,
    set_gravity_impulses,
    set_midpoint_blocks,
    set_midpoint_residual,
)
from biped.kernels.state.method import find_root
from biped.kernels.state.status import cause_of
from biped.kernels.tree.factorization import add_point_block
from biped.kernels.variational.equations import contact_chord
from biped.kernels.variational.joints import set_joint_diagonal
from biped.kernels.variational.newton import tolerance_of
from contact.ground import floor_force_derivative
from contact.jit import kernel
from contact.vectors import add, copy1, load3, mat_scale, triple


class TwoBlockNewton(NamedTuple):
    """Newton's matrix factored in O(n) (``biped.kernels.midpoint.elimination``)."""


@set_legendre_residual.register(TwoBlockNewton)
def set_recursive_residual(root_finder, rule, h):
    place_middle(rule.tree, rule.start, rule.alpha, h, rule.room)
    set_gravity_impulses(rule.tree, rule.room, (1.0 - rule.alpha) * h)
    return set_midpoint_residual(rule.tree, rule.room, rule.free)


@set_newton_step.register(TwoBlockNewton)
def set_two_block_step(root_finder, tree, ground, state, scratch, rule, h, fresh):
    if fresh:
        set_midpoint_blocks(rule.tree, h, (1.0 - rule.alpha) * h, rule.room)
        add_contact_blocks(tree, ground, state, scratch, rule.room.factors.by_rate, h)
        set_joint_diagonal(tree, state, scratch, h)
        eliminate_blocks(rule.tree, rule.room, rule.alpha, h, scratch.diagonal, rule.free)
    solve_blocks(rule.tree, rule.room, rule.alpha, rule.room.residual, rule.room.delta)


@kernel
def add_contact_blocks(tree, ground, state, scratch, by_rate, h):
    """What the floor's forces add to Newton's matrix.

    They act at the unit twists at k, by the points' displacements at k + 1. r and h c are these twists up to O(h²), so
    that forces belong to the block that Y is multiplied with, each at its own arms.
    """
    shift = triple(scratch.shift)
    for c in range(tree.contact_body.shape[0]):
        if state.force[c, 2] != 0.0:
            middle, velocity = contact_chord(tree, ground, state, scratch, h, c)
            D = floor_force_derivative(ground, state, c, middle, velocity, h)
            left, right = load3(scratch.motion.poses.contact, c), add(shift, load3(scratch.next.contact, c))
            i = tree.contact_body[c]
            add_point_block(by_rate, tree.first_v[i] + tree.dofs[i] - 1, left, right, mat_scale(-0.5 * h * h, D))


@kernel
def search_step(tree, ground, state, pushes, scratch, method, root_finder, h, tolerance, norm):
    """Take the largest of 1, 1/2, 1/4, ... of Newton's step that reduces e; its norm, inf if none does."""
    rule = method.body
    copy1(rule.room.moved, rule.base)
    factor = 1.0
    for _ in range(method.solver.max_backtracks):
        for j in range(rule.base.shape[0]):
            rule.room.moved[j] = rule.base[j] + factor * rule.room.delta[j]
        reduced = evaluate_rule(tree, ground, state, pushes, scratch, rule, root_finder, h)
        if reduced <= tolerance or reduced <= (1.0 - 1e-4 * factor) * norm:
            return reduced
        factor *= 0.5
    return math.inf


@find_root.register(TwoBlockNewton)
def find_by_two_blocks(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Exact iterations; but one by the factorization of the last, where that one reduced e so far that it will do."""
    rule = method.body
    begin_rule(tree, state, scratch, rule)
    tolerance = tolerance_of(method, tree, scratch, h)
    norm = evaluate_rule(tree, ground, state, pushes, scratch, rule, root_finder, h)
    iteration = 0
    fresh = True
    while not norm <= tolerance:
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            copy1(rule.room.residual, scratch.residual)
            return cause_of(norm)
        before = norm
        set_newton_step(root_finder, tree, ground, state, scratch, rule, h, fresh)
        norm = search_step(tree, ground, state, pushes, scratch, method, root_finder, h, tolerance, norm)
        fresh = not (fresh and norm * norm <= before * tolerance)
        iteration += 1
    arrive(tree, state, pushes, scratch, rule)
    return iteration
