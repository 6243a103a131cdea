"""Many steps of a mechanism, recorded as they go."""

import math

from biped.kernels.mechanism.node import energies, momentum_from_rates, rates_from_momentum
from biped.kernels.mechanism.constraints import set_constraint_rows
from biped.kernels.mechanism.points import place_points
from biped.kernels.mechanism.step import commit_step, load_impulses, solve_step
from biped.kernels.mechanism.system import FRESH, KNOWN, LAST_ITERATIONS, STEPS
from biped.kernels.midpoint.equations import place_middle, set_midpoint_momentum, set_midpoint_residual
from biped.kernels.tree.kinematics import place_bodies
from contact.jit import kernel, routine
from contact.vectors import copy1

# Places of numbers in a row after coordinates, rates and momenta, each (n,); multipliers and driving forces follow.
KINETIC = 0
POTENTIAL = 1
ENERGY = 2
WORK = 3
NEWTON = 4
NUMBERS = 5


@routine
def begin_motion(mechanics, motion, room):
    """What a step needs of the configuration where it begins: Dh(q_k)."""
    copy1(motion.q, room.end_q)
    place_bodies(mechanics.tree, room.end_q, room.end)
    place_points(mechanics.points, room.end, room.end_arms)
    set_constraint_rows(
        mechanics.tree, mechanics.constraints, mechanics.points, room.end, room.end_arms, room.border.columns
    )


@routine
def begin_from_two(mechanics, motion, inputs, rule, room):
    """p₁ of the step from ``motion.q`` by ``room.middle.moved``: the initialization procedure of section V-A.

    Leaves the motion at the end of that step, whose row of ``inputs`` is the second one.
    """
    middle = room.middle
    place_middle(mechanics.tree, motion.q, rule.alpha, rule.h, middle)
    place_points(mechanics.points, middle.poses, room.middle_arms)
    for j in range(middle.load.shape[0]):
        middle.load[j] = 0.0
        room.right_load[j] = 0.0
    load_impulses(mechanics, inputs, 1, 0.0, 0.0, room, middle.load)
    set_midpoint_residual(mechanics.tree, middle, mechanics.prescribed)  # for its sums of momenta
    load_impulses(mechanics, inputs, 1, rule.alpha * rule.h, 0.5 * rule.h, room, room.right_load)
    set_midpoint_momentum(mechanics.tree, rule.h, middle, room.right_load, motion.momentum)
    for j in range(motion.q.shape[0]):
        motion.q[j] += middle.moved[j]
        motion.past[0, j] = middle.moved[j]
    motion.count[KNOWN] = 1


@routine
def take_steps(mechanics, motion, inputs, given, rule, room, every, steps, rows):
    """``steps`` steps, with a row at the beginning of each that is a multiple of ``every``; 0 or why it ended.

    Args:
        mechanics, motion, room: as ``biped.kernels.mechanism.system`` has them.
        inputs: (steps + 2, inputs) functions of time in the middle of steps; row 1 belongs to the first step.
        given: (steps + 3, n) prescribed coordinates; row 1 belongs to where the first step begins.
        rule: of the steps.
        every: steps from row to row.
        steps: how many to take; the first row is that of the first step.
        rows: (., columns) the result.
    """
    failed = 0
    for k in range(1, steps + 1):
        row = (k - 1) // every
        wanted = (k - 1) % every == 0
        if wanted:
            failed = record_node(mechanics, motion, given, k, rule, room, rows[row])
            if failed != 0:
                break
        iterations = solve_step(mechanics, motion, inputs, given, k, rule, room)
        if iterations < 0:
            failed = iterations
            break
        if wanted:
            record_forces(mechanics, motion, rule, room, iterations, rows[row])
        commit_step(mechanics, motion, inputs, k, rule, iterations, room)
    return failed


@routine
def record_end(mechanics, motion, inputs, given, rule, room, row):
    """The row of a motion's end; its multipliers are those of a step that is solved and not taken."""
    failed = record_node(mechanics, motion, given, 1, rule, room, row)
    if failed != 0:
        return failed
    kept = motion.residual[0], motion.residual[1]
    iterations = solve_step(mechanics, motion, inputs, given, 1, rule, room)
    if iterations >= 0:
        record_forces(mechanics, motion, rule, room, motion.count[LAST_ITERATIONS], row)
    motion.residual[0], motion.residual[1] = kept
    return min(iterations, 0)


@kernel
def record_node(mechanics, motion, given, k, rule, room, row):
    """Coordinates, rates, momenta and energies where a step begins; multipliers are not known yet."""
    n = motion.q.shape[0]
    for j in range(row.shape[0]):
        row[j] = math.nan
    for j in range(n):
        room.given_rates[j] = 0.0
        if mechanics.prescribed[j] != 0:
            room.given_rates[j] = (given[k + 1, j] - given[k - 1, j]) / (2.0 * rule.h)
    failed = rates_from_momentum(mechanics, motion.q, motion.momentum, room.given_rates, room)
    if failed != 0:
        return failed
    kinetic, potential = energies(mechanics, motion.q, room.node_rates, room)
    for j in range(n):
        row[j], row[n + j], row[2 * n + j] = motion.q[j], room.node_rates[j], motion.momentum[j]
    at = 3 * n
    row[at + KINETIC], row[at + POTENTIAL], row[at + ENERGY] = kinetic, potential, kinetic + potential
    row[at + WORK] = motion.work[0]
    row[at + NEWTON] = 0.0
    return 0


@kernel
def record_forces(mechanics, motion, rule, room, iterations, row):
    """Forces of the constraints, −λ/h, and those that drive prescribed coordinates, −e/h, from a step that is solved.

    A momentum that comes from rates belongs to the node, not to the step before: the first multiplier is half an
    impulse, and its force twice as much.
    """
    n = motion.q.shape[0]
    rate = (2.0 if motion.count[FRESH] == 1 else 1.0) / rule.h
    at = 3 * n + NUMBERS
    for c in range(motion.multiplier.shape[0]):
        row[at] = -rate * motion.multiplier[c]
        at += 1
    for j in range(n):
        if mechanics.prescribed[j] != 0:
            row[at] = -rate * room.middle.residual[j]
            at += 1
    row[3 * n + NEWTON] = iterations
