"""One step of a mechanism: Newton's method for (45) of Johnson & Murphey 2009, and the momentum after it."""

import math

from biped.kernels.mechanism.border import factor_border, solve_border
from biped.kernels.mechanism.constraints import set_constraint_rows, set_constraint_values
from biped.kernels.mechanism.custom import (
    add_custom_blocks,
    add_custom_impulses,
    custom_work,
    set_custom_border,
    set_custom_rows,
    set_custom_values,
)
from biped.kernels.mechanism.forces import add_force_blocks, add_force_impulses, force_work
from biped.kernels.mechanism.points import place_points
from biped.kernels.mechanism.potentials import add_spring_blocks, add_spring_impulses, set_spring_border
from biped.kernels.mechanism.system import (
    CORRECT,
    EVALUATE,
    FACTOR,
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
from biped.kernels.tree.tree import REVOLUTE
from contact.jit import call, kernel, part, unpacked
from contact.vectors import copy1, dot, load3

# What a step can end with, but for the number of its iterations.
NOT_CONVERGED = -1
NOT_FINITE = -2
SINGULAR = -3
DEPENDENT = -4
STUCK = -5  # no part of Newton's step reduces the residual
TURNED_TOO_FAR = -6

# Steps that are solved without the last step's factors after one that these did not help.
RETRY_AFTER = 16

EPSILON = 2.0**-52
# What rounding leaves of a residual is so many times the largest term's.
ROUNDINGS = 16.0


# What branches or loops takes addresses: Numba copies a named tuple of a hundred arrays wherever another block of code
# mentions it. ``unpacked`` is for code without branches.


@kernel
def part_in(place, number):
    return unpacked(place).parts[number]


@kernel
def guess_step(place, k):
    """The first candidate goes on as the last steps did (by parabola, line, or as it is); what is given is given."""
    world = unpacked(place)
    guess(world.mechanics.prescribed, world.motion, world.given, k, world.room)


@kernel
def guess(prescribed, motion, given, k, room):
    known = motion.counts[KNOWN]
    moved = room.middle.moved
    for j in range(moved.shape[0]):
        if prescribed[j] != 0:
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
    add_custom_impulses(
        room.customs, mechanics.points, room.middle_arms, inputs[k, 0], potentials, forces, middle, load
    )


@part
def evaluate_part(place, k):
    """e and h(q_{k+1}) of the candidate, and the larger of their norms relative to their tolerances."""
    world = unpacked(place)
    mechanics, motion, rule, room = world.mechanics, world.motion, world.rule, world.room
    set_equations(mechanics, motion, world.inputs, k, rule, room)
    set_end(mechanics, motion, room)
    norm = motion.residual[0] / max(rule.tolerance, round_off(mechanics, motion, room))
    off = motion.residual[1] / max(rule.tolerance, place_round_off(room))
    motion.residual[2] = math.hypot(norm, off)
    return 0


@kernel
def set_equations(mechanics, motion, inputs, k, rule, room):
    """The residual of (45)."""
    middle = room.middle
    place_middle(mechanics.tree, motion.q, rule.alpha, rule.h, middle)
    place_points(mechanics.points, middle.poses, room.middle_arms)
    copy1(motion.momentum, middle.load)
    for c in range(room.values.shape[0]):
        for j in range(middle.load.shape[0]):
            middle.load[j] -= room.border.columns[c, j] * motion.multiplier[c]
    load_impulses(mechanics, inputs, k, (1.0 - rule.alpha) * rule.h, 0.5 * rule.h, room, middle.load)
    motion.residual[0] = set_midpoint_residual(mechanics.tree, middle, mechanics.prescribed)


@kernel
def set_end(mechanics, motion, room):
    """The constraints at q_{k+1}."""
    total = 0.0
    if room.values.shape[0] > 0:
        for j in range(room.end_q.shape[0]):
            room.end_q[j] = motion.q[j] + room.middle.moved[j]
        place_bodies(mechanics.tree, room.end_q, room.end)
        place_points(mechanics.points, room.end, room.end_arms)
        set_constraint_values(mechanics.constraints, room.end, room.end_arms, room.end_q, room.values)
        set_custom_values(room.customs, room.end_arms, room.end_q, room.values)
        for c in range(room.values.shape[0]):
            total += room.values[c] * room.values[c]
    motion.residual[1] = math.sqrt(total)


@kernel
def round_off(mechanics, motion, room):
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
def set_end_rows(mechanics, room, rows):
    """Dh(q_{k+1})."""
    tree, points, arms = mechanics.tree, mechanics.points, room.end_arms
    set_constraint_rows(tree, mechanics.constraints, points, room.end, arms, rows)
    set_custom_rows(tree, room.customs, points, room.end, arms, room.end_q, rows)


@part
def factor_part(place, k):
    """Newton's matrix of the candidate, factored; SINGULAR, DEPENDENT or 0."""
    world = unpacked(place)
    mechanics, motion, rule, room = world.mechanics, world.motion, world.rule, world.room
    tree, middle = mechanics.tree, room.middle
    before = (1.0 - rule.alpha) * rule.h
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
    half, points, arms = 0.5 * rule.h, mechanics.points, room.middle_arms
    add_force_blocks(mechanics.forces, world.inputs, k, rule.h, half, middle)
    add_custom_blocks(room.customs, points, arms, before, half, middle)
    if eliminate_blocks(tree, middle, rule.alpha, rule.h, middle.diagonal, mechanics.prescribed) >= 0:
        return SINGULAR
    set_end_rows(mechanics, room, room.border.rows)
    set_spring_border(tree, mechanics.springs, points, arms, rule.alpha, before, middle, room.border)
    set_custom_border(
        tree, room.customs, points, arms, world.inputs[k, 0], rule.alpha, rule.h, before, half, middle, room.border
    )
    if factor_border(tree, middle, rule.alpha, room.border) >= 0:
        return DEPENDENT
    motion.counts[KEPT] = 1
    return 0


@part
def correct_part(place):
    """δ into ``middle.delta`` and μ into the border, by the factors at hand; where the candidate is, is remembered."""
    world = unpacked(place)
    motion, room = world.motion, world.room
    border, m = room.border, room.values.shape[0]
    for c in range(border.load.shape[0]):
        border.load[c] = -room.values[c] if c < m else 0.0
    solve_border(world.mechanics.tree, room.middle, world.rule.alpha, border, room.middle.residual, room.middle.delta)
    copy1(room.middle.moved, room.base_moved)
    copy1(motion.multiplier, room.base_multiplier)
    return 0


@kernel
def displace(motion, room, factor):
    """The candidate at ``factor`` of Newton's step from where the search began."""
    for j in range(room.base_moved.shape[0]):
        room.middle.moved[j] = room.base_moved[j] + factor * room.middle.delta[j]
    for c in range(room.base_multiplier.shape[0]):
        motion.multiplier[c] = room.base_multiplier[c] + factor * room.border.unknown[c]


@kernel
def displace_in(place, factor):
    world = unpacked(place)
    displace(world.motion, world.room, factor)


@kernel
def count_of(place, what):
    return unpacked(place).motion.counts[what]


@kernel
def set_count(place, what, value):
    unpacked(place).motion.counts[what] = value


@kernel
def norm_in(place):
    return unpacked(place).motion.residual[2]


@kernel
def norm_at(place, k, factor):
    """The residual's norm at ``factor`` of Newton's step."""
    displace_in(place, factor)
    call(part_in(place, EVALUATE), place, k)
    return norm_in(place)


@kernel
def search_line(place, k, trials, norm):
    """Take the largest of 1, 1/2, 1/4, … of Newton's step that reduces the residual; its norm, inf if none does."""
    factor = 1.0
    for _ in range(trials):
        reduced = norm_at(place, k, factor)
        if reduced <= 1.0 or reduced <= (1.0 - 1e-4 * factor) * norm:
            return reduced
        factor *= 0.5
    return math.inf


@kernel
def try_kept(place, k, norm):
    """One iteration by the last step's factors; the residual's norm after it, or as it was if that is less."""
    call(part_in(place, CORRECT), place)
    reduced = norm_at(place, k, 1.0)
    if reduced <= 1.0 or reduced <= 0.1 * norm:
        return reduced
    set_count(place, WAIT, RETRY_AFTER)
    if reduced < norm:
        return reduced
    return norm_at(place, k, 0.0)


@kernel
def may_try_kept(place):
    """Whether there are factors of a step before, and their turn has come."""
    if count_of(place, WAIT) > 0:
        set_count(place, WAIT, count_of(place, WAIT) - 1)
        return False
    return count_of(place, KEPT) == 1


@part
def solve_part(place, k, most, trials):
    """Δ and λ of a step from the motion as it is; the number of iterations, or why there is no solution.

    Args:
        place: of a ``World``.
        k: the row of inputs.
        most: iterations.
        trials: of a line search.
    """
    guess_step(place, k)
    call(part_in(place, EVALUATE), place, k)
    norm, iteration = norm_in(place), 0
    kept = norm > 1.0 and may_try_kept(place)
    while not norm <= 1.0:
        if not math.isfinite(norm):
            return NOT_FINITE
        if iteration >= most:
            return NOT_CONVERGED
        if kept:
            norm, kept = try_kept(place, k, norm), False
        else:
            failed = call(part_in(place, FACTOR), place, k)
            if failed != 0:
                return failed
            call(part_in(place, CORRECT), place)
            norm = search_line(place, k, trials, norm)
            if norm == math.inf:
                return STUCK
        iteration += 1
    return TURNED_TOO_FAR if turns_too_far(place) else iteration


@kernel
def turns_too_far(place):
    world = unpacked(place)
    return is_beyond_half_turn(world.mechanics.tree, world.room.middle.moved)


@kernel
def is_beyond_half_turn(tree, moved):
    """Whether an angle changes by more than π: a solution, but of equations that no longer say how it moves."""
    beyond = False
    for j in range(moved.shape[0]):
        beyond |= tree.kind[j] == REVOLUTE and not abs(moved[j]) <= math.pi
    return beyond


@part
def commit_part(place, k, iterations):
    """The momentum after a step that is solved, and its end as the next one's beginning."""
    world = unpacked(place)
    mechanics, motion, rule, room = world.mechanics, world.motion, world.rule, world.room
    middle = room.middle
    for j in range(room.right_load.shape[0]):
        room.right_load[j] = 0.0
    motion.work[0] += force_work(mechanics.forces, world.inputs, k, rule.h, middle) + custom_work(room.customs, rule.h)
    load_impulses(mechanics, world.inputs, k, rule.alpha * rule.h, 0.5 * rule.h, room, room.right_load)
    set_midpoint_momentum(mechanics.tree, rule.h, middle, room.right_load, motion.momentum)
    move_on(mechanics.prescribed, motion, middle)
    set_end_rows(mechanics, room, room.border.columns)
    count_step(motion, iterations)
    return 0


@kernel
def move_on(prescribed, motion, middle):
    for j in range(motion.q.shape[0]):
        if prescribed[j] == 0:
            # What is left of e is carried over, so that the solver's tolerance leaves no trace in the momentum.
            motion.momentum[j] += middle.residual[j]
        motion.q[j] += middle.moved[j]
        motion.past[2, j], motion.past[1, j] = motion.past[1, j], motion.past[0, j]
        motion.past[0, j] = middle.moved[j]


@kernel
def count_step(motion, iterations):
    count = motion.counts
    count[KNOWN] = min(count[KNOWN] + 1, PAST)
    count[FRESH] = 0
    count[STEPS] += 1
    count[LAST_ITERATIONS] = iterations
    count[ITERATIONS] += iterations
    count[MOST_ITERATIONS] = max(count[MOST_ITERATIONS], iterations)
