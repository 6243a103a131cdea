"""Newton's method for one variational step: exact derivative, O(n) solve, backtracking line search."""

import math
from typing import NamedTuple

from biped.kernels.state.method import Variational, find_step, set_guess, set_new_momentum, solve_step
from biped.kernels.state.simulation_state import PATIENCE
from biped.kernels.state.status import TURNED_TOO_FAR, cause_of
from biped.kernels.tree.factorization import Factors, eliminate, solve
from biped.kernels.tree.kinematics import place_bodies, point_of_body
from biped.kernels.tree.tree import REVOLUTE
from biped.kernels.variational.equations import displace, set_discrete_momentum, set_newton_blocks, set_residual
from contact.jit import kernel
from contact.vectors import copy1, dot, load3, store3

EPSILON = 2.0**-52
# No residual above this [N·s] is taken for rounding.
COARSEST = 1e-4

# Half a quaternion's angle is half a turn of 90°.
COS_45 = math.sqrt(0.5)

# Steps that are solved by exact iterations alone after one that the kept factorization did not solve.
RETRY_AFTER = 16


class TwoSided(NamedTuple):
    """Newton's method with the exact matrix, factored in O(n) (``biped.kernels.tree.factorization``)."""


class Extrapolation(NamedTuple):
    """The first candidate goes on as the last three steps did."""


@kernel
def evaluate(body, tree, ground, plant, pushes, work, h):
    """The residual's norm at the candidate ``work.q``, ``work.shift``."""
    place_candidate(tree, pushes, work)
    return math.sqrt(set_residual(body, tree, ground, plant, pushes, work, h))


@kernel
def place_candidate(tree, pushes, work):
    """The poses at k + 1 for ``work.q``, and where pushes act on them."""
    place_bodies(tree, work.q, work.next)
    for j in range(pushes.body.shape[0]):
        place_push(work.next, pushes, j, pushes.right)


@kernel
def place_push(poses, pushes, j, arms):
    """Where push j's point is, relative to O."""
    store3(arms, j, point_of_body(poses, pushes.body[j], load3(pushes.offset, j)))


@kernel
def search_line(tree, ground, plant, pushes, work, method, h, tolerance, norm):
    """Take the largest of 1, 1/2, 1/4, ... of Newton's step that reduces the residual; its norm, inf if none does."""
    copy1(work.q, work.base_q)
    copy1(work.shift, work.base_shift)
    factor = 1.0
    for trial in range(method.solver.max_backtracks):
        if trial > 0:
            place_bodies(tree, work.base_q, work.next)  # δ is in the unit twists where the search began
        displace(tree, work.next, work.base_q, work.base_shift, factor, work.delta, work.q, work.shift)
        reduced = evaluate(method.body, tree, ground, plant, pushes, work, h)
        if reduced <= tolerance or reduced <= (1.0 - 1e-4 * factor) * norm:
            return reduced
        factor *= 0.5
    return math.inf


@set_guess.register(Extrapolation)
def extrapolate(tree, ground, plant, pushes, work, guess, h):
    between = 0.5 * (h + plant.clock[2])
    for dof in range(plant.rate.shape[0]):
        work.delta[dof] = plant.rate[dof] + between * (plant.rate_change[dof] + plant.rate_curve[dof])
    work.shift[:] = 0.0
    displace(tree, work.motion.poses, plant.q, work.shift, h, work.delta, work.q, work.shift)


@kernel
def contact_key(plant, c):
    """What Newton's matrix depends on at contact point c: its mode, and whether it pushes."""
    return plant.mode[c] + (0.5 if plant.force[c, 2] != 0.0 else 0.0)


@kernel
def kept_factors(plant, work):
    """The factors of Newton's matrix: they stay with the plant, so that the next step may try them first."""
    room = work.motion.factors
    return Factors(room.block, plant.kept_u, plant.kept_w, plant.kept_d, room.wrench, room.twist, room.epsilon)


@kernel
def note_purpose(plant, h):
    """Note what the kept factors were made for."""
    plant.kept_for[0] = h
    for c in range(plant.mode.shape[0]):
        plant.kept_for[1 + c] = contact_key(plant, c)


@kernel
def may_serve(plant, h):
    """Whether the kept factorization is of the same step length and the same contacts, and its turn has come."""
    if plant.counts[PATIENCE] > 0:
        plant.counts[PATIENCE] -= 1
        return False
    if plant.kept_for[0] != h:
        return False
    for c in range(plant.mode.shape[0]):
        if plant.kept_for[1 + c] != contact_key(plant, c):
            return False
    return True


@kernel
def try_kept_factors(tree, ground, plant, pushes, work, method, h, tolerance, norm):
    """One iteration with the factorization at hand; the residual's norm after it, or as it was if that is less."""
    copy1(work.q, work.base_q)
    copy1(work.shift, work.base_shift)
    solve(tree, work.motion.poses.motion, work.next.motion, work.residual, kept_factors(plant, work), work.delta)
    displace(tree, work.next, work.base_q, work.base_shift, 1.0, work.delta, work.q, work.shift)
    reduced = evaluate(method.body, tree, ground, plant, pushes, work, h)
    if reduced <= tolerance or reduced < norm:
        return reduced
    copy1(work.base_q, work.q)
    copy1(work.base_shift, work.shift)
    return evaluate(method.body, tree, ground, plant, pushes, work, h)


@kernel
def iterate(tree, ground, plant, pushes, work, method, h, tolerance, norm):
    """One iteration of Newton's method: its exact matrix, and a line search; the residual's norm after it."""
    set_newton_blocks(method.body, tree, ground, plant, work, h)
    factors = kept_factors(plant, work)
    eliminate(tree, work.motion.poses.motion, work.next.motion, work.diagonal, factors, 0)
    note_purpose(plant, h)
    solve(tree, work.motion.poses.motion, work.next.motion, work.residual, factors, work.delta)
    return search_line(tree, ground, plant, pushes, work, method, h, tolerance, norm)


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
    return min((tree.parent.shape[0] + farthest) * EPSILON * total / abs(h), COARSEST)


@kernel
def tolerance_of(method, tree, work, h):
    """[N·s] the norm of the residual to reach."""
    return max(method.solver.tolerance, round_off(tree, work.q, work.motion.poses, h))


@solve_step.register(Variational)
def solve_variational_step(tree, ground, plant, pushes, work, method, h):
    set_guess(tree, ground, plant, pushes, work, method.guess, h)
    return on_branch(tree, plant, work, find_step(tree, ground, plant, pushes, work, method, method.finder, h))


@kernel
def on_branch(tree, plant, work, iterations):
    """What a search ended with, or TURNED_TOO_FAR where its solution is not that of small turns.

    The angular momentum of a discrete body grows with its turn up to 90° and falls again beyond, so that a momentum
    belongs to two turns, and a joint may go round any number of times in between. Only the first is an
    approximation of the motion. A step that would have to turn farther is too long.
    """
    if iterations < 0:
        return iterations
    for i in range(tree.parent.shape[0]):
        if not work.turn[i, 0] >= COS_45:
            return TURNED_TOO_FAR
        if tree.kind[i] == REVOLUTE and not abs(work.q[tree.first_q[i]] - plant.q[tree.first_q[i]]) <= math.pi:
            return TURNED_TOO_FAR
    return iterations


@find_step.register(TwoSided)
def find_by_newton(tree, ground, plant, pushes, work, method, finder, h):
    """The first iteration goes by the last step's factorization, where that may serve.

    It is a step old and costs a third. All others, and all where it did not do, are exact; but for a last one by the
    factorization of the iteration before, where that reduces the residual enough if it does so as much as that one did.
    """
    tolerance = tolerance_of(method, tree, work, h)
    norm = evaluate(method.body, tree, ground, plant, pushes, work, h)
    iteration = 0
    kept = norm > tolerance and may_serve(plant, h)
    fresh = False
    while not norm <= tolerance:
        if iteration >= method.solver.max_iterations or not math.isfinite(norm):
            return cause_of(norm)
        before = norm
        if kept or fresh:
            norm = try_kept_factors(tree, ground, plant, pushes, work, method, h, tolerance, norm)
            if kept and norm > tolerance:
                plant.counts[PATIENCE] = RETRY_AFTER
            kept = fresh = False
        else:
            norm = iterate(tree, ground, plant, pushes, work, method, h, tolerance, norm)
            fresh = norm * norm <= before * tolerance
        iteration += 1
    return iteration


@set_new_momentum.register(Variational)
def set_variational_momentum(tree, plant, pushes, work, method, h):
    set_discrete_momentum(method.body, tree, plant, pushes, work, h)
