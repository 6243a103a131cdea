"""Newton's method for a step of a tree with loops, in generalized coordinates."""

import math
from typing import NamedTuple

from biped.integrators.closing.kernels.method import (
    begin_closing,
    change_impulses,
    end_closing,
    is_closed,
    keep_impulses,
    measure_closing,
)
from biped.kernels.solve.causes import cause_of
from biped.kernels.solve.line_search import suffices
from biped.kernels.state.method import find_root
from biped.kernels.tree.factorization import eliminate, solve
from biped.kernels.tree.loops import close_loops
from biped.kernels.variational.equations import set_newton_blocks, set_residual
from biped.kernels.variational.newton import displace_base, place_candidate, tolerance_of
from contact.jit import kernel
from contact.vectors import copy1


class ClosedNewton(NamedTuple):
    """Newton's method with the exact matrix of the tree, factored in O(n), and the loops as its border."""


@kernel
def evaluate_closed(tree, ground, state, pushes, scratch, method, h):
    """(‖e‖, ‖e‖ together with the gaps as momenta), at the candidate ``scratch.q``, ``scratch.shift``."""
    place_candidate(tree, pushes, scratch)
    set_residual(method.body, tree, ground, state, pushes, scratch, h)
    squared, gaps = measure_closing(tree, scratch, method.closing, h)
    return math.sqrt(squared), math.sqrt(squared + gaps)


@kernel
def iterate_closed(tree, ground, state, pushes, scratch, method, h, tolerance, merit):
    """One iteration: Newton's exact step, and the largest of 1, 1/2, 1/4, ... of it that helps; inf if none does."""
    closing, factors = method.closing, scratch.motion.factors
    left, right = scratch.motion.poses.motion, scratch.next.motion
    set_newton_blocks(method.body, tree, ground, state, scratch, h)
    eliminate(tree, left, right, scratch.diagonal, factors, 0)
    solve(tree, left, right, scratch.residual, factors, scratch.delta)
    close_loops(tree, left, right, closing, factors, scratch.delta)
    copy1(scratch.q, scratch.base_q)
    copy1(scratch.shift, scratch.base_shift)
    keep_impulses(closing)
    factor = 1.0
    for trial in range(method.solver.max_backtracks):
        displace_base(tree, scratch, factor, trial)
        change_impulses(closing, factor)
        size, reduced = evaluate_closed(tree, ground, state, pushes, scratch, method, h)
        if suffices(reduced, tolerance, factor, merit):
            return size, reduced
        factor *= 0.5
    return math.inf, math.inf


@find_root.register(ClosedNewton)
def find_closed_root(tree, ground, state, pushes, scratch, method, root_finder, h):
    tolerance = tolerance_of(method, tree, scratch, h)
    begin_closing(tree, scratch, method.closing)
    size, merit = evaluate_closed(tree, ground, state, pushes, scratch, method, h)
    iteration = 0
    while not (size <= tolerance and is_closed(tree, scratch, method.closing)):
        if iteration >= method.solver.max_iterations or not math.isfinite(merit):
            return cause_of(merit)
        size, merit = iterate_closed(tree, ground, state, pushes, scratch, method, h, tolerance, merit)
        iteration += 1
    end_closing(scratch, method.closing)
    return iteration
