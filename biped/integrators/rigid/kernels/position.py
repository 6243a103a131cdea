"""The configuration at the end of a step, and the impulses of the contacts at its start.

The equations are those of ``biped.kernels.variational.equations``, in which the contacts' impulses γ act at the start
configuration of the step, so that no point ends below the floor (Brüdigam et al. 2024, equations 22 to 29):
each iteration of the interior point method adds the points' stiffnesses to the bodies' blocks, and factors Newton's
matrix in O(n).
"""

import math

from biped.integrators.rigid.kernels import newton, points
from biped.integrators.rigid.kernels.loops import gaps_suffice, with_gaps
from biped.integrators.rigid.kernels.pairs import count_pairs, place_pairs, set_pair_responses, wake_pairs
from biped.kernels.solve.causes import NOT_CONVERGED, NOT_FINITE
from biped.kernels.solve.interior import EQUATIONS, MERIT, OFF_CENTER, keep_pairs, move_pairs, way_to_boundary
from biped.kernels.state.method import set_initial_guess
from biped.kernels.tree.factorization import eliminate
from biped.kernels.tree.kinematics import place_bodies
from biped.kernels.tree.loops import set_responses
from biped.kernels.variational import closing
from biped.kernels.variational.equations import set_newton_blocks, set_residual
from biped.kernels.variational.newton import displace_base, on_branch, place_candidate, tolerance_of
from contact.ground import START
from contact.vectors import copy1, load3, scale
from kernelcache import kernel, routine

# Height in the first candidate below which a point that is not watched becomes active, relative to the fall of a body
# in a step.
WITHIN_REACH = 100.0


@kernel
def evaluate_step(tree, ground, state, pushes, scratch, method, h):
    """Evaluate the equations at the candidate ``scratch.q``, ``scratch.shift`` and the pairs."""
    place_candidate(tree, pushes, scratch)
    set_residual(method.body, tree, ground, state, pushes, scratch, h)
    points.place_points(tree, ground, state, scratch, method)
    place_pairs(scratch.next, method)
    wrench, poses = scratch.motion.factors.wrench, scratch.motion.poses
    points.load_impulses(ground, START, method, method.arms.begin, wrench, 1.0)
    points.add_along_joints(tree, poses.motion, wrench, scratch.residual)
    closing.add_closing_impulses(0.0, scratch, method.closing)
    total = 0.0
    for dof in range(scratch.residual.shape[0]):
        total += scratch.residual[dof] * scratch.residual[dof]
    points.measure_candidate(method, total, newton.mean_mass(tree) / abs(h))


@kernel
def set_newton_step(tree, ground, state, scratch, method, h, attempt):
    """Set Newton's step of the configuration and of the pairs."""
    factors, poses, ahead, arms = scratch.motion.factors, scratch.motion.poses, scratch.next, method.arms
    set_newton_blocks(method.body, tree, ground, state, scratch, h)
    points.add_stiffnesses(ground, START, method, factors.block, arms.begin, arms.moved, ahead.contact, 1.0)
    eliminate(tree, poses.motion, ahead.motion, scratch.diagonal, factors, 0)
    set_responses(tree, poses.motion, ahead.motion, method.closing, factors)
    if count_pairs(method) > 0:
        rows, nothing = method.pairs.end_rows, scratch.motion.nothing
        set_pair_responses(tree, method, poses.motion, ahead.motion, rows, nothing, factors, 1.0)
    newton.set_direction(
        tree, ground, START, method, poses.motion, ahead.motion, arms.begin, arms.moved, ahead.contact,
        scratch.residual, factors, 1.0, scratch.delta, attempt,
    )  # fmt: skip


@kernel
def search_line(tree, ground, state, pushes, scratch, method, h, tolerance, is_first):
    """Take the largest of 1, 1/2, 1/4, … of the bounded Newton step that reduces the merit; return False if none does.

    The first candidate is only evaluated; that is done here since each call of the evaluation is inlined.
    """
    unknowns = method.unknowns
    points.set_merit(unknowns)
    merit, off = with_gaps(unknowns.measure[MERIT], tree, method.closing, h), unknowns.measure[OFF_CENTER]
    copy1(scratch.q, scratch.base_q)
    copy1(scratch.shift, scratch.base_shift)
    keep_pairs(unknowns, unknowns)
    closing.keep_impulses(method.closing)
    part = way_to_boundary(unknowns, unknowns)
    for trial in range(1 if is_first else method.solver.max_backtracks):
        if not is_first:
            displace_base(tree, scratch, part, trial)
            move_pairs(unknowns, unknowns, part)
            closing.change_impulses(method.closing, part)
        evaluate_step(tree, ground, state, pushes, scratch, method, h)
        if is_first:
            return True
        points.set_merit(unknowns)
        enough = 1.0 - 1e-4 * part
        reduced = with_gaps(unknowns.measure[MERIT], tree, method.closing, h)
        if reduced <= enough * merit or is_solved(tree, scratch, method, tolerance):
            return True
        if unknowns.measure[OFF_CENTER] <= enough * off:
            noise = max(tolerance, points.rounding_of_step(method, scratch.motion.factors.twist, scratch.next.contact))
            if unknowns.measure[EQUATIONS] <= noise and gaps_suffice(tree, scratch, method.closing, noise, h):
                return True
        part *= 0.5
    return False


@kernel
def is_solved(tree, scratch, method, tolerance):
    return newton.has_converged(method, tolerance) and closing.is_closed(tree, scratch, method.closing)


@kernel
def begin_search(tree, ground, state, pushes, scratch, method, h, attempt):
    """Set the first candidate and its pairs, with the impulses expected from the last step's forces or without.

    For touching bodies no impulses are expected, which makes it another attempt; return the attempt.
    """
    set_initial_guess(tree, ground, state, pushes, scratch, method.guess, h)
    place_bodies(tree, scratch.q, scratch.next)
    closing.begin_closing(tree, scratch, method.closing)
    points.place_points(tree, ground, state, scratch, method)
    way = newton.usual_way(tree, h)
    points.wake(method.contacts, method.unknowns, WITHIN_REACH * way)
    wake_pairs(scratch.motion.poses, scratch.next, method, WITHIN_REACH * way)
    place_pairs(scratch.next, method)
    newton.note_used(method.unknowns)
    if attempt == newton.EXPECTED and count_pairs(method) > 0:
        attempt = newton.FRESH
    expected = attempt == newton.EXPECTED
    center = newton.WARM * method.complementarity if expected else newton.center_of(tree, h, attempt)
    for c in range(tree.contact_body.shape[0], method.contacts.body.shape[0]):
        if method.unknowns.active[c] == 1:
            points.start_point(method.contacts, method.unknowns, c, way, center)
        else:
            points.park(method.contacts, method.unknowns, c, 0)
    for c in range(tree.contact_body.shape[0]):
        impulse = points.into_floor(ground, START, scale(0.5 * h, load3(method.unknowns.force, c)))
        if method.unknowns.active[c] == 1:
            if expected and impulse[0] > 0.0:
                points.expect_point(method.contacts, method.unknowns, c, impulse, newton.NEAR * way, center)
            else:
                points.start_point(method.contacts, method.unknowns, c, way, center)
    return attempt


@kernel
def iterate(tree, ground, state, pushes, scratch, method, h, tolerance, attempt):
    """Iterate to a solution; return the number of iterations or a cause of failure."""
    iteration = -1  # before the first candidate is evaluated
    while iteration < 0 or not is_solved(tree, scratch, method, tolerance):
        if iteration >= 0:
            if not math.isfinite(method.unknowns.measure[EQUATIONS]):
                return NOT_FINITE
            if iteration >= newton.most_iterations(method, attempt):
                return NOT_CONVERGED
            set_newton_step(tree, ground, state, scratch, method, h, attempt)
        if not search_line(tree, ground, state, pushes, scratch, method, h, tolerance, iteration < 0):
            return NOT_CONVERGED
        iteration += 1
    return iteration


@routine
def solve_rigid_step(tree, ground, state, pushes, scratch, method, h):
    """Solve a step from the last step's forces; if that fails from none, and then cautiously."""
    tolerance = tolerance_of(method, tree, scratch, h)
    points.begin_points(tree, ground, state, scratch, method)
    taken, attempt, searching = NOT_CONVERGED, 0, True
    while searching:
        attempt = begin_search(tree, ground, state, pushes, scratch, method, h, attempt)
        taken = iterate(tree, ground, state, pushes, scratch, newton.in_use(method), h, tolerance, attempt)
        if taken < 0:
            attempt += 1
            searching = attempt < newton.ATTEMPTS
        else:  # again if an inactive point or pair came to touch
            searching = points.wake(method.contacts, method.unknowns, points.TOUCHING)
            searching = wake_pairs(scratch.motion.poses, scratch.next, method, points.TOUCHING) or searching
    if taken >= 0:
        closing.end_closing(scratch, method.closing)
    return on_branch(tree, state, scratch, taken)
