"""One step of a mechanism: Newton's method for (45) of Johnson & Murphey 2009, and the momentum after it."""

import math

from biped.kernels.mechanism.border import factor_border, solve_border
from biped.kernels.mechanism.constraints import set_constraint_rows, set_constraint_values
from biped.kernels.mechanism.forces import add_force_blocks, add_force_impulses, force_work
from biped.kernels.mechanism.points import place_points
from biped.kernels.mechanism.potentials import add_spring_blocks, add_spring_impulses, set_spring_border
from biped.kernels.mechanism.system import (
    FRESH,
    ITERATIONS,
    KEPT,
    KNOWN,
    LAST_ITERATIONS,
    MOST_ITERATIONS,
    PAST,
    STEPS,
    WAIT,
)
from biped.kernels.midpoint.elimination import eliminate_blocks
from biped.kernels.midpoint.equations import (
    place_middle,
    set_gravity_impulses,
    set_midpoint_blocks,
    set_midpoint_momentum,
    set_midpoint_residual,
)
from biped.kernels.tree.kinematics import place_bodies
from contact.jit import kernel
from contact.vectors import copy1, dot, load3

# What a step can end with, but for the number of its iterations.
NOT_CONVERGED = -1
NOT_FINITE = -2
SINGULAR = -3
DEPENDENT = -4
STUCK = -5  # no part of Newton's step reduces the residual

# Steps that are solved without the last step's factors after one that these did not help.
RETRY_AFTER = 16

EPSILON = 2.0**-52
# What rounding leaves of a residual is so many times the largest term's.
ROUNDINGS = 16.0


@kernel
def guess_step(mechanics, motion, given, k, room):
    """The first candidate goes on as the last steps did (by parabola, line, or as it is); what is given is given."""
    known = motion.count[KNOWN]
    moved = room.middle.moved
    for j in range(moved.shape[0]):
        if mechanics.prescribed[j] != 0:
            moved[j] = given[k + 1, j] - given[k, j]
        elif known >= 3:
            moved[j] = 3.0 * (motion.past[0, j] - motion.past[1, j]) + motion.past[2, j]
        elif known == 2:
            moved[j] = 2.0 * motion.past[0, j] - motion.past[1, j]
        else:
            moved[j] = motion.past[0, j]


@kernel
def load_impulses(mechanics, inputs, k, potentials, forces, room, load):
    """All impulses on bodies and coordinates, ``potentials`` and ``forces`` being the times [s] for which they act."""
    middle = room.middle
    set_gravity_impulses(mechanics.tree, middle, potentials)
    add_spring_impulses(
        mechanics.springs,
        mechanics.coordinate_springs,
        mechanics.weights,
        mechanics.points,
        room.middle_arms,
        middle.middle,
        potentials,
        middle,
        load,
    )
    add_force_impulses(mechanics.forces, inputs, k, forces, middle, load)


@kernel
def evaluate(mechanics, motion, inputs, k, rule, room):
    """e and h(q_{k+1}) of the candidate; the larger of their norms, relative to their tolerances."""
    middle, m = room.middle, room.values.shape[0]
    place_middle(mechanics.tree, motion.q, rule.alpha, rule.h, middle)
    place_points(mechanics.points, middle.poses, room.middle_arms)
    copy1(motion.momentum, middle.load)
    for c in range(m):
        for j in range(middle.load.shape[0]):
            middle.load[j] -= room.border.columns[c, j] * motion.multiplier[c]
    load_impulses(mechanics, inputs, k, (1.0 - rule.alpha) * rule.h, 0.5 * rule.h, room, middle.load)
    norm = set_midpoint_residual(mechanics.tree, middle, mechanics.prescribed)
    motion.residual[0] = norm
    norm /= max(rule.tolerance, round_off(mechanics, motion, rule, room))
    motion.residual[1] = 0.0
    if m > 0:
        for j in range(room.end_q.shape[0]):
            room.end_q[j] = motion.q[j] + middle.moved[j]
        place_bodies(mechanics.tree, room.end_q, room.end)
        place_points(mechanics.points, room.end, room.end_arms)
        set_constraint_values(
            mechanics.constraints, mechanics.points, room.end, room.end_arms, room.end_q, room.values
        )
        total = 0.0
        for c in range(m):
            total += room.values[c] * room.values[c]
            motion.residual[1] = max(motion.residual[1], abs(room.values[c]))
        norm = math.hypot(norm, math.sqrt(total) / max(rule.tolerance, place_round_off(room)))
    return norm


@kernel
def round_off(mechanics, motion, rule, room):
    """[N·s] what rounding leaves of e: of the momenta's moments about O, and of Δ, which is carried to the places."""
    tree, middle = mechanics.tree, room.middle
    total = 0.0
    for i in range(tree.parent.shape[0]):
        com = load3(middle.poses.com, i)
        reach = dot(com, com)
        size = abs(middle.momentum[i, 0]) + abs(middle.momentum[i, 1]) + abs(middle.momentum[i, 2])
        total += size * (1.0 + math.sqrt(reach))
        total += abs(middle.momentum[i, 3]) + abs(middle.momentum[i, 4]) + abs(middle.momentum[i, 5])
        total += abs(motion.momentum[i])
    return ROUNDINGS * EPSILON * total


@kernel
def place_round_off(room):
    """[m] the same of h: places are sums along the tree."""
    farthest = 1.0
    for k in range(room.end_arms.shape[0]):
        arm = load3(room.end_arms, k)
        farthest = max(farthest, math.sqrt(dot(arm, arm)))
    return ROUNDINGS * EPSILON * farthest


@kernel
def factor_step(mechanics, motion, inputs, k, rule, room):
    """Newton's matrix of the candidate, factored; SINGULAR, DEPENDENT or 0."""
    tree, middle = mechanics.tree, room.middle
    before, half = (1.0 - rule.alpha) * rule.h, 0.5 * rule.h
    set_midpoint_blocks(tree, rule.h, before, middle)
    add_spring_blocks(
        mechanics.springs,
        mechanics.coordinate_springs,
        mechanics.weights,
        mechanics.points,
        room.middle_arms,
        middle.middle,
        rule.alpha,
        before,
        middle,
    )
    add_force_blocks(mechanics.forces, inputs, k, rule.h, half, middle)
    if eliminate_blocks(tree, middle, rule.alpha, rule.h, middle.diagonal, mechanics.prescribed) >= 0:
        return SINGULAR
    set_constraint_rows(
        tree, mechanics.constraints, mechanics.points, room.end, room.end_arms, room.border.rows
    )
    set_spring_border(
        tree, mechanics.springs, mechanics.points, room.middle_arms, rule.alpha, before, middle, room.border
    )
    if factor_border(tree, middle, rule.alpha, room.border) >= 0:
        return DEPENDENT
    motion.count[KEPT] = 1
    return 0


@kernel
def newton_step(mechanics, rule, room):
    """δ into ``middle.delta`` and μ into the border, by the factors at hand."""
    border = room.border
    m = room.values.shape[0]
    for c in range(border.load.shape[0]):
        border.load[c] = -room.values[c] if c < m else 0.0
    solve_border(mechanics.tree, room.middle, rule.alpha, border, room.middle.residual, room.middle.delta)


@kernel
def displace(motion, room, factor):
    """The candidate at ``factor`` of Newton's step from where the search began."""
    for j in range(room.base_moved.shape[0]):
        room.middle.moved[j] = room.base_moved[j] + factor * room.middle.delta[j]
    for c in range(room.base_multiplier.shape[0]):
        motion.multiplier[c] = room.base_multiplier[c] + factor * room.border.unknown[c]


@kernel
def search_line(mechanics, motion, inputs, k, rule, room, norm):
    """Take the largest of 1, 1/2, 1/4, … of Newton's step that reduces the residual; its norm, inf if none does."""
    copy1(room.middle.moved, room.base_moved)
    copy1(motion.multiplier, room.base_multiplier)
    factor = 1.0
    for _ in range(rule.max_backtracks):
        displace(motion, room, factor)
        reduced = evaluate(mechanics, motion, inputs, k, rule, room)
        if reduced <= 1.0 or reduced <= (1.0 - 1e-4 * factor) * norm:
            return reduced
        factor *= 0.5
    return math.inf


@kernel
def try_kept(mechanics, motion, inputs, k, rule, room, norm):
    """One iteration by the last step's factors; the residual's norm after it, or as it was if that is less."""
    copy1(room.middle.moved, room.base_moved)
    copy1(motion.multiplier, room.base_multiplier)
    newton_step(mechanics, rule, room)
    displace(motion, room, 1.0)
    reduced = evaluate(mechanics, motion, inputs, k, rule, room)
    if reduced <= 0.1 * norm:
        return reduced
    motion.count[WAIT] = RETRY_AFTER
    if reduced < norm:
        return reduced
    displace(motion, room, 0.0)
    return evaluate(mechanics, motion, inputs, k, rule, room)


@kernel
def solve_step(mechanics, motion, inputs, given, k, rule, room):
    """Δ and λ of a step from the motion as it is; the number of iterations, or why there is no solution."""
    guess_step(mechanics, motion, given, k, room)
    norm = evaluate(mechanics, motion, inputs, k, rule, room)
    iteration = 0
    if norm > 1.0 and motion.count[KEPT] == 1:
        if motion.count[WAIT] > 0:
            motion.count[WAIT] -= 1
        else:
            norm = try_kept(mechanics, motion, inputs, k, rule, room, norm)
            iteration += 1
    while not norm <= 1.0:
        if not math.isfinite(norm):
            return NOT_FINITE
        if iteration >= rule.max_iterations:
            return NOT_CONVERGED
        failed = factor_step(mechanics, motion, inputs, k, rule, room)
        if failed != 0:
            return failed
        newton_step(mechanics, rule, room)
        norm = search_line(mechanics, motion, inputs, k, rule, room, norm)
        if norm == math.inf:
            return STUCK
        iteration += 1
    return iteration


@kernel
def commit_step(mechanics, motion, inputs, k, rule, iterations, room):
    """The momentum after a step that is solved, and its end as the next one's beginning."""
    tree, middle = mechanics.tree, room.middle
    for j in range(room.right_load.shape[0]):
        room.right_load[j] = 0.0
    load_impulses(mechanics, inputs, k, rule.alpha * rule.h, 0.5 * rule.h, room, room.right_load)
    motion.work[0] += force_work(mechanics.forces, inputs, k, rule.h, middle)
    set_midpoint_momentum(tree, rule.h, middle, room.right_load, motion.momentum)
    for j in range(motion.q.shape[0]):
        if mechanics.prescribed[j] == 0:
            # What is left of e is carried over, so that the solver's tolerance leaves no trace in the momentum.
            motion.momentum[j] += middle.residual[j]
        motion.q[j] += middle.moved[j]
        motion.past[2, j], motion.past[1, j] = motion.past[1, j], motion.past[0, j]
        motion.past[0, j] = middle.moved[j]
    if room.values.shape[0] > 0:
        set_constraint_rows(
            tree, mechanics.constraints, mechanics.points, room.end, room.end_arms, room.border.columns
        )
    count_step(motion, iterations)


@kernel
def count_step(motion, iterations):
    count = motion.count
    count[KNOWN] = min(count[KNOWN] + 1, PAST)
    count[FRESH] = 0
    count[STEPS] += 1
    count[LAST_ITERATIONS] = iterations
    count[ITERATIONS] += iterations
    count[MOST_ITERATIONS] = max(count[MOST_ITERATIONS], iterations)
