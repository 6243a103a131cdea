"""Newton's method for a step of a tree with loops, in maximal coordinates.

The rows of the joints that close loops stand beside those of the tree's joints (Wendlandt 1997, section 5.4), all of
them open until the step is solved. As there, the wrenches of the tree's joints are eliminated from the tips inwards;
those of the closing joints are not, and act on the bodies like forces.
"""

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
from biped.integrators.closing.kernels.record import record_closing
from biped.integrators.maximal.kernels.newton import (
    GAP,
    GAPS,
    POSITION,
    ROTATION,
    MaximalNewton,
    displace_bodies,
    evaluate_free,
    extract_coordinates,
    gap_tolerance,
    keep_base,
    record_joints,
    set_body_momenta,
    set_first_halves,
    set_newton_twists,
)
from biped.kernels.loop.log import record_more
from biped.kernels.solve.causes import cause_of
from biped.kernels.solve.line_search import suffices
from biped.kernels.state.method import find_root
from biped.kernels.tree.closing import Closing
from biped.kernels.tree.kinematics import place_bodies
from biped.kernels.tree.loops import close_loops, hand_down
from biped.kernels.tree.tree import FLOATING
from biped.kernels.variational.newton import evaluate, tolerance_of
from contact.jit import kernel


class ClosedMaximal(NamedTuple):
    """Newton's method for all bodies' poses and all joints' multipliers, loops included."""

    maximal: MaximalNewton
    closing: Closing  # that of the method


@kernel
def evaluate_bodies(tree, ground, state, pushes, scratch, method, root_finder, h):
    """(‖e‖, ‖e‖ together with all gaps as momenta), at the bodies' candidate poses."""
    size, merit = evaluate_free(method.body, tree, ground, state, pushes, scratch, root_finder.maximal, h)
    tree_gaps = merit * merit - size * size
    squared, gaps = measure_closing(tree, scratch, method.closing, h)
    return math.sqrt(squared), math.sqrt(squared + max(tree_gaps, 0.0) + gaps)


@kernel
def iterate_bodies(tree, ground, state, pushes, scratch, method, root_finder, h, tolerance, merit):
    """One iteration: Newton's exact step, and the largest of 1, 1/2, 1/4, ... of it that helps; inf if none does."""
    closing, maximal = method.closing, root_finder.maximal
    set_newton_twists(method.body, tree, ground, state, scratch, maximal, h)
    close_loops(tree, scratch.motion.poses.motion, scratch.next.motion, closing, scratch.motion.factors, scratch.delta)
    keep_base(tree, scratch, maximal)
    keep_impulses(closing)
    factor = 1.0
    for _ in range(method.solver.max_backtracks):
        displace_bodies(tree, scratch, maximal, factor)
        change_impulses(closing, factor)
        size, reduced = evaluate_bodies(tree, ground, state, pushes, scratch, method, root_finder, h)
        if suffices(reduced, tolerance, factor, merit):
            return size, reduced
        factor *= 0.5
    return math.inf, math.inf


@kernel
def all_closed(tree, scratch, method, root_finder, closed):
    """Whether nothing is left of the rows of all joints but rounding."""
    gap = root_finder.maximal.gap
    return gap[POSITION] <= closed and gap[ROTATION] <= GAP and is_closed(tree, scratch, method.closing)


@find_root.register(ClosedMaximal)
def find_closed_in_maximal_coordinates(tree, ground, state, pushes, scratch, method, root_finder, h):
    """From the candidate ``scratch.q``, where the tree's joints are closed."""
    maximal, closing = root_finder.maximal, method.closing
    begin_closing(tree, scratch, closing)
    set_body_momenta(tree, state, scratch, maximal)
    tolerance, closed = tolerance_of(method, tree, scratch, h), gap_tolerance(tree, scratch.motion.poses)
    place_bodies(tree, scratch.q, scratch.next)
    size, merit = evaluate_bodies(tree, ground, state, pushes, scratch, method, root_finder, h)
    iteration = 0
    while not (size <= tolerance and all_closed(tree, scratch, method, root_finder, closed)):
        if iteration >= method.solver.max_iterations or not math.isfinite(merit):
            return cause_of(merit)
        size, merit = iterate_bodies(tree, ground, state, pushes, scratch, method, root_finder, h, tolerance, merit)
        iteration += 1
    for kind in range(GAPS):
        maximal.worst[kind] = max(maximal.worst[kind], maximal.gap[kind])
    extract_coordinates(tree, state, scratch)
    evaluate(method.body, tree, ground, state, pushes, scratch, h)
    measure_closing(tree, scratch, closing, h)
    end_closing(scratch, closing)
    hand_down(tree, closing, closing.impulse, scratch.wrench, -1.0)
    set_first_halves(tree, state, scratch, maximal)
    return iteration


@record_more.register(ClosedMaximal)
def record_all_joints(tree, state, scratch, more, row, place):
    """What a tree records of its joints, then what is of those that close loops."""
    record_joints(tree, state, scratch, more.maximal, row, place)
    jointed = tree.parent.shape[0] - (1 if tree.kind[0] == FLOATING else 0)
    record_closing(tree, state, scratch, more.closing, row, place + 6 * jointed + GAPS)
