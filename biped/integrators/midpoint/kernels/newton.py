"""Newton's method for a step of the midpoint rule, with a backtracking line search."""

import math
from typing import NamedTuple

from biped.integrators.midpoint.kernels.rule import arrive, begin_rule, evaluate_rule, set_newton_step
from biped.kernels.solve.causes import cause_of
from biped.kernels.solve.line_search import suffices
from biped.kernels.state.method import find_root
from biped.kernels.variational.newton import tolerance_of
from contact.jit import kernel
from contact.vectors import copy1


class MidpointNewton(NamedTuple):
    """Newton's method; its matrix is that of the rule's ``derivatives``."""


@kernel
def search_step(tree, ground, state, pushes, scratch, method, h, tolerance, norm):
    """Take the largest of 1, 1/2, 1/4, ... of Newton's step that reduces e; its norm, inf if none does."""
    rule = method.body
    copy1(rule.room.moved, rule.base)
    factor = 1.0
    for _ in range(method.solver.max_backtracks):
        for j in range(rule.base.shape[0]):
            rule.room.moved[j] = rule.base[j] + factor * rule.room.delta[j]
        reduced = evaluate_rule(tree, ground, state, pushes, scratch, rule, h)
        if suffices(reduced, tolerance, factor, norm):
            return reduced
        factor *= 0.5
    return math.inf


@find_root.register(MidpointNewton)
def find_by_newton(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Exact iterations; but one by the factorization of the last, where that one reduced e so far that it will do."""
    rule = method.body
    begin_rule(tree, state, scratch, rule)
    tolerance = tolerance_of(method, tree, scratch, h)
    norm = evaluate_rule(tree, ground, state, pushes, scratch, rule, h)
    iteration = 0
    fresh = True
    while not norm <= tolerance:
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            copy1(rule.room.residual, scratch.residual)
            return cause_of(norm)
        before = norm
        set_newton_step(rule.derivatives, tree, ground, state, scratch, rule, h, fresh)
        norm = search_step(tree, ground, state, pushes, scratch, method, h, tolerance, norm)
        fresh = not (fresh and norm * norm <= before * tolerance)
        iteration += 1
    arrive(tree, state, pushes, scratch, rule)
    return iteration
