"""Newton's method for one variational step: exact derivative, O(n) solve, backtracking line search."""

import math
from typing import NamedTuple

from biped.kernels.solve.causes import TURNED_TOO_FAR, cause_of
from biped.kernels.solve.line_search import suffices
from biped.kernels.solve.rounding import EPSILON
from biped.kernels.state.method import find_root, remember, set_initial_guess
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH, PATIENCE
from biped.kernels.tree.factorization import Factors, eliminate, solve
from biped.kernels.tree.kinematics import place_bodies, point_of_body
from biped.kernels.tree.loops import close_loops
from biped.kernels.tree.tree import REVOLUTE
from biped.kernels.variational import closing
from biped.kernels.variational.discrete_body import set_momentum
from biped.kernels.variational.equations import displace, set_newton_blocks, set_rates, set_residual
from contact.vectors import copy1, dot, load3, store3
from kernelcache import kernel

# [N·s] Greatest residual that counts as rounding.
COARSEST = 1e-4

# Scalar part of the quaternion of a turn by 90°.
COS_45 = math.sqrt(0.5)

# Number of steps with exact iterations only after a failure of the kept factorization.
RETRY_AFTER = 16


class ArticulatedNewton(NamedTuple):
    """Newton's method with the exact matrix, factored in O(n) (``biped.kernels.tree.factorization``).

    Joints that close loops are a border of it (``biped.kernels.tree.loops``).
    """

    keeps_factors: bool = True  # reuse of factors in later iterations; not possible with a border


class Extrapolation(NamedTuple):
    """The initial guess that extrapolates the last three steps."""


@kernel
def evaluate(body, tree, ground, state, pushes, scratch, h):
    """Return the residual's norm at the candidate ``scratch.q``, ``scratch.shift``."""
    place_candidate(tree, pushes, scratch)
    return math.sqrt(set_residual(body, tree, ground, state, pushes, scratch, h))


@kernel
def measure_step(tree, ground, state, pushes, scratch, method, h):
    """Return (‖e‖, ‖e‖ together with the gaps of closing joints as momenta) at the candidate."""
    place_candidate(tree, pushes, scratch)
    squared = set_residual(method.body, tree, ground, state, pushes, scratch, h)
    squared = closing.add_closing_impulses(squared, scratch, method.closing)
    return math.sqrt(squared), math.sqrt(squared + closing.square_of_gaps(tree, method.closing, h))


@kernel
def place_candidate(tree, pushes, scratch):
    """Set the poses at k + 1 for ``scratch.q``, and the points of pushes on them."""
    place_bodies(tree, scratch.q, scratch.next)
    for j in range(pushes.body.shape[0]):
        place_push(scratch.next, pushes, j, pushes.right)


@kernel
def place_push(poses, pushes, j, arms):
    """Set the point of push j relative to O."""
    store3(arms, j, point_of_body(poses, pushes.body[j], load3(pushes.offset, j)))


@kernel
def displace_base(tree, scratch, factor, trial):
    """Set the candidate at ``factor`` of Newton's step from ``scratch.base_q``; trials are counted from 0."""
    if trial > 0:
        place_bodies(tree, scratch.base_q, scratch.next)  # δ is in the unit twists at the start of the search
    displace(tree, scratch.next, scratch.base_q, scratch.base_shift, factor, scratch.delta, scratch.q, scratch.shift)


@kernel
def search_line(tree, ground, state, pushes, scratch, method, h, tolerance, merit, kept):
    """Take a part of Newton's step; return ``measure_step`` there, or inf.

    For an exact step it is the largest of 1, 1/2, 1/4, … that reduces the residual; for ``kept`` factors the whole
    step, or none if that is worse. Newton's matrix is M/h + O(1), so that factors of a step of another length, also
    backward, are scaled by the ratio of lengths. The evaluation of the residual is inlined, so it is called only once.
    """
    copy1(scratch.q, scratch.base_q)
    copy1(scratch.shift, scratch.base_shift)
    closing.keep_impulses(method.closing)
    factor = h / state.cache.kept_for[0] if kept else 1.0
    for trial in range(2 if kept else method.solver.max_backtracks):
        if kept and trial == 1:
            copy1(scratch.base_q, scratch.q)
            copy1(scratch.base_shift, scratch.shift)
        else:
            displace_base(tree, scratch, factor, trial)
            closing.change_impulses(method.closing, factor)
        size, reduced = measure_step(tree, ground, state, pushes, scratch, method, h)
        if kept:
            if trial == 1 or reduced <= tolerance or reduced < merit:
                return size, reduced
        elif suffices(reduced, tolerance, factor, merit):
            return size, reduced
        factor *= 0.5
    return math.inf, math.inf


@set_initial_guess.register(Extrapolation)
def extrapolate(tree, ground, state, pushes, scratch, guess, h):
    between = 0.5 * (h + state.clock[LAST_STEP_LENGTH])
    for dof in range(state.cache.rate.shape[0]):
        scratch.delta[dof] = state.cache.rate[dof] + between * (
            state.cache.rate_change[dof] + state.cache.rate_curve[dof]
        )
    go_on_at_rates(tree, state, scratch, h)


@kernel
def go_on_at_rates(tree, state, scratch, h):
    """Set the candidate reached with the rates in ``scratch.delta``."""
    scratch.shift[:] = 0.0
    displace(tree, scratch.motion.poses, state.q, scratch.shift, h, scratch.delta, scratch.q, scratch.shift)


@remember.register(Extrapolation)
def remember_for_extrapolation(tree, state, scratch, guess, h):
    remember_rates(tree, state, scratch, h)


@kernel
def remember_rates(tree, state, scratch, h):
    """Save the rates and their changes for the next extrapolation."""
    set_rates(tree, state.q, scratch, h, scratch.delta)
    between = 0.5 * (h + state.clock[LAST_STEP_LENGTH])
    for dof in range(state.cache.rate.shape[0]):
        change = (scratch.delta[dof] - state.cache.rate[dof]) / between
        state.cache.rate_curve[dof] = change - state.cache.rate_change[dof]
        state.cache.rate_change[dof] = change
        state.cache.rate[dof] = scratch.delta[dof]
    state.clock[LAST_STEP_LENGTH] = h


@kernel
def contact_key(state, c):
    """Return a key of contact point c in Newton's matrix: its mode, and whether it carries a force."""
    return state.mode[c] + (0.5 if state.force[c, 2] != 0.0 else 0.0)


@kernel
def kept_factors(state, scratch):
    """Return the factors of Newton's matrix kept in the state, which the next step may try first."""
    new, cache = scratch.motion.factors, state.cache
    return Factors(new.block, cache.kept_u, cache.kept_w, cache.kept_d, new.wrench, new.twist, new.epsilon)


@kernel
def note_purpose(state, h):
    """Record the step length and contacts of the kept factors."""
    state.cache.kept_for[0] = h
    for c in range(state.mode.shape[0]):
        state.cache.kept_for[1 + c] = contact_key(state, c)


@kernel
def may_serve(state, h):
    """Return True if the kept factorization has the same step length and contacts, and is not suspended."""
    if state.counts[PATIENCE] > 0:
        state.counts[PATIENCE] -= 1
        return False
    if state.cache.kept_for[0] != h:
        return False
    for c in range(state.mode.shape[0]):
        if state.cache.kept_for[1 + c] != contact_key(state, c):
            return False
    return True


@kernel
def iterate(tree, ground, state, pushes, scratch, method, h, tolerance, merit, kept):
    """Do one Newton iteration with the exact matrix or the kept factors; return the new ``measure_step``."""
    factors, left, right = kept_factors(state, scratch), scratch.motion.poses.motion, scratch.next.motion
    if not kept:
        set_newton_blocks(method.body, tree, ground, state, scratch, h)
        eliminate(tree, left, right, scratch.diagonal, factors, 0)
        note_purpose(state, h)
    solve(tree, left, right, scratch.residual, factors, scratch.delta)
    close_loops(tree, left, right, method.closing, factors, scratch.delta)
    return search_line(tree, ground, state, pushes, scratch, method, h, tolerance, merit, kept)


@kernel
def round_off(tree, q, poses, h):
    """Return the rounding error [N·s] of the residual.

    It comes from moments of m Δx/h about a reference point that may be far, and from J ω of turns, which are
    differences of quaternions. Positions are sums along the tree, so their rounding grows with its length. Coordinates
    of joints have a relative rounding ε, and are large after many turns.
    """
    total = farthest = 0.0
    for i in range(tree.parent.shape[0]):
        com = load3(poses.com, i)
        total += tree.mass[i] * dot(com, com) + tree.inertia[i, 0] + tree.inertia[i, 4] + tree.inertia[i, 8]
        if tree.dofs[i] == 1:
            farthest = max(farthest, abs(q[tree.first_q[i]]))
            total += tree.armature[tree.first_v[i]]
    return min((tree.parent.shape[0] + farthest) * EPSILON * total / abs(h), COARSEST)


@kernel
def tolerance_of(method, tree, scratch, h):
    """Return the residual norm [N·s] to be reached."""
    return max(method.solver.tolerance, round_off(tree, scratch.q, scratch.motion.poses, h))


@kernel
def solve_step(tree, ground, state, pushes, scratch, method, h):
    """Solve for q_{k+1}; return the number of iterations, or a cause of failure.

    Afterwards ``scratch.q``, ``scratch.shift`` and ``scratch.next`` hold the tree at k + 1, ``state.force`` the contact
    forces whose impulses over h act at the contact points' chords, and ``scratch.turn`` the bodies' turns.
    """
    set_initial_guess(tree, ground, state, pushes, scratch, method.guess, h)
    taken = find_root(tree, ground, state, pushes, scratch, method, method.root_finder, h)
    return on_branch(tree, state, scratch, taken)


@kernel
def on_branch(tree, state, scratch, iterations):
    """Return the result of a search, or TURNED_TOO_FAR if its solution is not that of small turns.

    The angular momentum of a discrete body grows with its turn up to 90° and falls again beyond, so that a momentum
    belongs to two turns, and a joint may complete any number of turns in between. Only the smallest turn approximates
    the motion. A step that needs a larger turn is too long.
    """
    if iterations < 0:
        return iterations
    for i in range(tree.parent.shape[0]):
        if not scratch.turn[i, 0] >= COS_45:
            return TURNED_TOO_FAR
        if tree.kind[i] == REVOLUTE and not abs(scratch.q[tree.first_q[i]] - state.q[tree.first_q[i]]) <= math.pi:
            return TURNED_TOO_FAR
    return iterations


@find_root.register(ArticulatedNewton)
def find_by_articulated_newton(tree, ground, state, pushes, scratch, method, root_finder, h):
    """Solve a step; the first iteration uses the last step's factorization if possible, at a third of the cost.

    Further iterations are exact, except that the last reuses the factorization of the one before if an equal reduction
    of the residual would suffice.
    """
    tolerance = tolerance_of(method, tree, scratch, h)
    closing.begin_closing(tree, scratch, method.closing)
    size, merit = measure_step(tree, ground, state, pushes, scratch, method, h)
    iteration = 0
    kept = root_finder.keeps_factors and size > tolerance and may_serve(state, h)
    fresh = False
    while not (size <= tolerance and closing.is_closed(tree, scratch, method.closing)):
        if iteration >= method.solver.max_iterations or not math.isfinite(merit):
            return cause_of(merit)
        before, exact = size, not (kept or fresh)
        size, merit = iterate(tree, ground, state, pushes, scratch, method, h, tolerance, merit, not exact)
        if kept and size > tolerance:
            state.counts[PATIENCE] = RETRY_AFTER
        kept, fresh = False, root_finder.keeps_factors and exact and size * size <= before * tolerance
        iteration += 1
    closing.end_closing(scratch, method.closing)
    return iteration


@kernel
def set_new_momentum(tree, state, pushes, scratch, method, h):
    """Set p_{k+1}, after ``solve_step``."""
    set_momentum(method.body, tree, state, pushes, scratch, h)
    closing.close_momentum(tree, state, scratch, method.closing)
