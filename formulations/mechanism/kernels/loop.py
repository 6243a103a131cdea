"""Time steps of a mechanism, and the rows that record them."""

import math
from typing import Any

from biped.kernels.tree.kinematics import place_bodies
from contact.vectors import copy1
from formulations.mechanism.kernels import step, system
from formulations.mechanism.kernels.node import constraints_part, energies_part, momentum_part, rates_part
from formulations.mechanism.kernels.points import place_points
from kernelcache import call, kernel, part

# Columns of a row after coordinates, rates and momenta, each (n,); multipliers and driving forces follow.
KINETIC, POTENTIAL, ENERGY, WORK, NEWTON, NUMBERS = range(6)


@part
def begin_part(world):
    """Compute Dh(q_k) at the start of a time step."""
    place_begin(world)
    call(world.parts[system.ROWS], world, step.RIGHT)
    return 0


@kernel
def place_begin(world):
    buffers = world.buffers
    copy1(world.motion.q, buffers.end_q)
    place_bodies(world.mechanics.tree, buffers.end_q, buffers.end)
    place_points(world.mechanics.points, buffers.end, buffers.end_arms)


@part
def take_steps_part(world, steps, every, row):
    """Take ``steps`` time steps, and record a row at the start of every ``every``-th; return 0 or a cause of failure.

    Args:
        world: a ``World``, whose first row of inputs is for the step before the first.
        steps: number of time steps; a row is recorded at the start of the first.
        every: number of time steps between rows.
        row: index of the first row to record.
    """
    most, trials = world.rule.max_iterations, world.rule.max_backtracks
    for k in range(1, steps + 1):
        records_row = (k - 1) % every == 0
        if records_row:
            failed = record_node(world, k, row)
            if failed != 0:
                return failed
        iterations = call(world.parts[system.SOLVE], world, k, most, trials)
        if iterations < 0:
            return iterations
        if records_row:
            record_forces(world, iterations, row)
            row += 1
        call(world.parts[system.COMMIT], world, k, iterations)
    return 0


@part
def record_end_part(world, row):
    """Record the last row of a motion, with the multipliers of a further step that is solved but not taken."""
    failed = record_node(world, 1, row)
    if failed != 0:
        return failed
    most, trials = world.rule.max_iterations, world.rule.max_backtracks
    iterations = call(world.parts[system.SOLVE], world, 1, most, trials)
    if iterations < 0:
        return iterations
    record_forces(world, iterations, row)
    return 0


@kernel
def record_node(world, k, row):
    """Record coordinates, rates, momenta and energies at the beginning of a step; multipliers follow later."""
    ask_node(world, k)
    failed = call(world.parts[system.RATES], world)
    if failed != 0:
        return failed
    call(world.parts[system.ENERGIES], world)
    write_node(world, row)
    return 0


@kernel
def ask_node(world, k):
    set_given_rates(world.mechanics.prescribed, world.given, k, world.rule.h, world.buffers.given_rates)
    copy1(world.motion.q, world.buffers.node_q)
    copy1(world.motion.momentum, world.buffers.node_momentum)


@kernel
def set_given_rates(prescribed, given, k, h, rates):
    for j in range(rates.shape[0]):
        rates[j] = (given[k + 1, j] - given[k - 1, j]) / (2.0 * h) if prescribed[j] != 0 else 0.0


@kernel
def write_node(world, row):
    fill_node(world.motion, world.buffers, world.rows[row])


@kernel
def fill_node(motion, buffers, row):
    n = motion.q.shape[0]
    for j in range(row.shape[0]):
        row[j] = math.nan
    for j in range(n):
        row[j], row[n + j], row[2 * n + j] = motion.q[j], buffers.node_rates[j], motion.momentum[j]
    at = 3 * n
    row[at + KINETIC], row[at + POTENTIAL] = buffers.energy[0], buffers.energy[1]
    row[at + ENERGY] = buffers.energy[0] + buffers.energy[1]
    row[at + WORK] = motion.work[0]
    row[at + NEWTON] = 0.0


@kernel
def record_forces(world, iterations, row):
    fill_forces(world.mechanics.prescribed, world.motion, world.rule.h, world.buffers, iterations, world.rows[row])


@kernel
def fill_forces(prescribed, motion, h, buffers, iterations, row):
    """Fill in constraint forces −λ/h and driving forces of prescribed coordinates −e/h, from a solved step.

    At the start of a motion the momentum is computed from rates, so the first multiplier is only half an impulse, and
    its force is twice as large.
    """
    n = motion.q.shape[0]
    rate = (2.0 if motion.counts[system.FRESH] == 1 else 1.0) / h
    at = 3 * n + NUMBERS
    for c in range(motion.multiplier.shape[0]):
        row[at] = -rate * motion.multiplier[c]
        at += 1
    for j in range(n):
        if prescribed[j] != 0:
            row[at] = -rate * buffers.middle.residual[j]
            at += 1
    row[3 * n + NEWTON] = iterations


#: Each part with examples of its integer arguments, in the order of ``World.parts``.
FUNCTIONS: tuple[tuple[Any, ...], ...] = (
    (step.evaluate_part, 0), (step.factor_part, 0), (step.correct_part,), (step.solve_part, 0, 0, 0),
    (step.commit_part, 0, 0), (step.impulses_part, 0, 0), (step.rows_part, 0),
    (momentum_part,), (rates_part,), (energies_part,), (constraints_part,),
    (begin_part,), (take_steps_part, 0, 0, 0), (record_end_part, 0),
)  # fmt: skip
#: Parts that a part calls.
CALLS = {
    system.EVALUATE: (system.IMPULSES,),
    system.FACTOR: (system.ROWS,),
    system.SOLVE: (system.EVALUATE, system.FACTOR, system.CORRECT),
    system.COMMIT: (system.IMPULSES, system.ROWS),
    system.BEGIN: (system.ROWS,),
    system.TAKE_STEPS: (system.SOLVE, system.COMMIT, system.RATES, system.ENERGIES),
    system.RECORD_END: (system.SOLVE, system.RATES, system.ENERGIES),
}
