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

# No residual above this [N·s] is taken for rounding.
COARSEST = 1e-4

# Half a quaternion's angle is half a turn of 90°.
COS_45 = math.sqrt(0.5)

# Steps that are solved by exact iterations alone after one that the kept factorization did not solve.
RETRY_AFTER = 16


class ArticulatedNewton(NamedTuple):
    """Newton's method with the exact matrix, factored in O(n) (``biped.kernels.tree.factorization``).

    Joints that close loops are a border of it (``biped.kernels.tree.loops``).
    """

    keeps_factors: bool = True  # for iterations after the one that they are of; not those that have a border


class Extrapolation(NamedTuple):
    """The first candidate goes on as the last three steps did."""


@kernel
def evaluate(body, tree, ground, state, pushes, scratch, h):
    """The residual's norm at the candidate ``scratch.q``, ``scratch.shift``."""
    place_candidate(tree, pushes, scratch)
    return math.sqrt(set_residual(body, tree, ground, state, pushes, scratch, h))


@kernel
def measure_step(tree, ground, state, pushes, scratch, method, h):
    """(‖e‖, ‖e‖ together with the gaps of closing joints as momenta), at the candidate."""
    place_candidate(tree, pushes, scratch)
    squared = set_residual(method.body, tree, ground, state, pushes, scratch, h)
    squared = closing.add_closing_impulses(squared, scratch, method.closing)
    return math.sqrt(squared), math.sqrt(squared + closing.square_of_gaps(tree, method.closing, h))


@kernel
def place_candidate(tree, pushes, scratch):
    """The poses at k + 1 for ``scratch.q``, and where pushes act on them."""
    place_bodies(tree, scratch.q, scratch.next)
    for j in range(pushes.body.shape[0]):
        place_push(scratch.next, pushes, j, pushes.right)


@kernel
def place_push(poses, pushes, j, arms):
    """Where push j's point is, relative to O."""
    store3(arms, j, point_of_body(poses, pushes.body[j], load3(pushes.offset, j)))


@kernel
def displace_base(tree, scratch, factor, trial):
    """The candidate at ``factor`` of Newton's step from ``scratch.base_q``; trials are counted from 0."""
    if trial > 0:
        place_bodies(tree, scratch.base_q, scratch.next)  # δ is in the unit twists where the search began
    displace(tree, scratch.next, scratch.base_q, scratch.base_shift, factor, scratch.delta, scratch.q, scratch.shift)


@kernel
def search_line(tree, ground, state, pushes, scratch, method, h, tolerance, merit, kept):
    """Go a part of Newton's step; ``measure_step`` there, or inf.

    Of an exact step the largest of 1, 1/2, 1/4, ... that reduces the residual. Of one by ``kept`` factors the whole,
    or, if that is worse, none: Newton's matrix is M/h + O(1), so that the factors of a step of another length, also
    backwards, serve by their ratio. The residual is evaluated in one place, since each place is compiled by itself.
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
    """The candidate to which the rates in ``scratch.delta`` lead."""
    scratch.shift[:] = 0.0
    displace(tree, scratch.motion.poses, state.q, scratch.shift, h, scratch.delta, scratch.q, scratch.shift)


@remember.register(Extrapolation)
def remember_for_extrapolation(tree, state, scratch, guess, h):
    remember_rates(tree, state, scratch, h)


@kernel
def remember_rates(tree, state, scratch, h):
    """The rates and their changes, for an extrapolation."""
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
    """What Newton's matrix depends on at contact point c: its mode, and whether it pushes."""
    return state.mode[c] + (0.5 if state.force[c, 2] != 0.0 else 0.0)


@kernel
def kept_factors(state, scratch):
    """The factors of Newton's matrix: they stay with the plant, so that the next step may try them first."""
    room = scratch.motion.factors
    return Factors(
        room.block, state.cache.kept_u, state.cache.kept_w, state.cache.kept_d, room.wrench, room.twist, room.epsilon
    )


@kernel
def note_purpose(state, h):
    """Note what the kept factors were made for."""
    state.cache.kept_for[0] = h
    for c in range(state.mode.shape[0]):
        state.cache.kept_for[1 + c] = contact_key(state, c)


@kernel
def may_serve(state, h):
    """Whether the kept factorization is of the same step length and the same contacts, and its turn has come."""
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
    """One iteration of Newton's method, by its exact matrix or by the factors at hand; ``measure_step`` then."""
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
    """[N·s] what rounding leaves of the residual.

    Moments of m Δx/h about a reference point that may be far, and J ω of turns, which are differences of
    quaternions. Places are sums along the tree, so their roundings grow with its length. Joints keep their
    coordinates to a part ε of what they are, and those of one that has turned round often are large.
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
    """[N·s] the norm of the residual to reach."""
    return max(method.solver.tolerance, round_off(tree, scratch.q, scratch.motion.poses, h))


@kernel
def solve_step(tree, ground, state, pushes, scratch, method, h):
    """Find q_{k+1}: the number of iterations, or a cause of failure.

    Afterwards ``scratch.q``, ``scratch.shift`` and ``scratch.next`` hold the tree at k + 1, ``state.force`` the contact
    forces whose impulses over h act at the contact points' chords, and ``scratch.turn`` the bodies' turns.
    """
    set_initial_guess(tree, ground, state, pushes, scratch, method.guess, h)
    taken = find_root(tree, ground, state, pushes, scratch, method, method.root_finder, h)
    return on_branch(tree, state, scratch, taken)


@kernel
def on_branch(tree, state, scratch, iterations):
    """What a search ended with, or TURNED_TOO_FAR where its solution is not that of small turns.

    The angular momentum of a discrete body grows with its turn up to 90° and falls again beyond, so that a momentum
    belongs to two turns, and a joint may go round any number of times in between. Only the first is an
    approximation of the motion. A step that would have to turn farther is too long.
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
    """The first iteration goes by the last step's factorization, where that may serve.

    It is a step old and costs a third. All others, and all where it did not do, are exact; but for a last one by the
    factorization of the iteration before, where that reduces the residual enough if it does so as much as that one did.
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
    """p_{k+1}, after ``solve_step``."""
    set_momentum(method.body, tree, state, pushes, scratch, h)
    closing.close_momentum(tree, state, scratch, method.closing)
