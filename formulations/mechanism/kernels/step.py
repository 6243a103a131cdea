"""Time step of a mechanism: Newton's method for (45) of Johnson & Murphey 2009, and the momentum after the step."""

import math

from biped.kernels.midpoint import equations
from biped.kernels.midpoint.elimination import eliminate_blocks
from biped.kernels.solve.causes import DEPENDENT, NOT_CONVERGED, NOT_FINITE, SINGULAR, STUCK, TURNED_TOO_FAR
from biped.kernels.solve.line_search import suffices
from biped.kernels.solve.rounding import EPSILON
from biped.kernels.tree.kinematics import place_bodies
from biped.kernels.tree.tree import REVOLUTE
from biped.kernels.variational.newton import RETRY_AFTER
from contact.vectors import copy1, dot, load3
from formulations.mechanism.kernels import custom, system
from formulations.mechanism.kernels.ballast import add_ballast, set_ballast_border
from formulations.mechanism.kernels.border import factor_border, solve_border
from formulations.mechanism.kernels.constraints import set_constraint_rows, set_constraint_values
from formulations.mechanism.kernels.forces import add_force_blocks, add_force_impulses, force_work
from formulations.mechanism.kernels.points import place_points
from formulations.mechanism.kernels.potentials import add_spring_blocks, add_spring_impulses, set_spring_border
from kernelcache import call, kernel, part

# Rounding error of a residual / rounding error of its largest term.
ROUNDINGS = 16.0


@kernel
def guess_step(world, k):
    """Set the first candidate by extrapolation from the last steps, and by the values of prescribed coordinates."""
    guess(world.mechanics.prescribed, world.motion, world.given, k, world.buffers)


@kernel
def guess(prescribed, motion, given, k, buffers):
    known = motion.counts[system.KNOWN]
    moved = buffers.middle.moved
    for j in range(moved.shape[0]):
        if prescribed[j] != 0:
            moved[j] = given[k + 1, j] - given[k, j]
        elif known >= 3:
            moved[j] = 3.0 * (motion.past[0, j] - motion.past[1, j]) + motion.past[2, j]
        elif known == 2:
            moved[j] = 2.0 * motion.past[0, j] - motion.past[1, j]
        else:
            moved[j] = motion.past[0, j]


# Halves of a step.
LEFT = 0
RIGHT = 1


@part
def impulses_part(world, k, half):
    """Add the impulses on bodies and coordinates of one half of a step: LEFT (in e) or RIGHT (in the momentum after).

    Potentials act for (1 − α) h or α h, other forces for σ h or (1 − σ) h; impulses on coordinates are added to
    ``middle.load`` or ``right_load``.
    """
    mechanics, rule, buffers = world.mechanics, world.rule, world.buffers
    load = buffers.middle.load if half == LEFT else buffers.right_load
    potentials = ((1.0 - rule.alpha) if half == LEFT else rule.alpha) * rule.h
    forces = (rule.share if half == LEFT else 1.0 - rule.share) * rule.h
    load_impulses(
        mechanics, world.inputs, k, potentials, forces, buffers.customs, buffers.middle_arms, buffers.middle, load
    )
    return 0


@kernel
def load_impulses(mechanics, inputs, k, potentials, forces, customs, arms, middle, load):
    """Add all impulses on bodies and coordinates; ``potentials``, ``forces``: times [s] for which each kind acts.

    ``k`` is the row of the inputs, ``arms`` are the positions of the points, and ``middle`` are placed
    ``MidpointBuffers``. Impulses on bodies are added to ``middle.impulse``, those on coordinates to ``load`` (n,).
    """
    points = mechanics.points
    equations.set_gravity_impulses(mechanics.tree, middle, potentials)
    springs, at, weights = mechanics.springs, mechanics.coordinate_springs, mechanics.weights
    add_spring_impulses(springs, at, weights, points, arms, middle.middle, potentials, middle, load)
    add_force_impulses(mechanics.forces, inputs, k, forces, middle, load)
    custom.add_custom_impulses(customs, points, arms, inputs[k, 0], potentials, forces, middle, load)


@part
def rows_part(world, of):
    """Write Dh(q_{k+1}) to the border: rows (``of`` LEFT) for a correction, columns (RIGHT) for the next step."""
    mechanics, buffers = world.mechanics, world.buffers
    tree, points, arms = mechanics.tree, mechanics.points, buffers.end_arms
    rows = buffers.border.rows if of == LEFT else buffers.border.columns
    set_constraint_rows(tree, mechanics.constraints, points, buffers.end, arms, buffers.end_q, rows)
    custom.set_custom_rows(tree, buffers.customs, points, buffers.end, arms, buffers.end_q, rows)
    return 0


@part
def evaluate_part(world, k):
    """Compute e and h(q_{k+1}) of the candidate, and the norm of both relative to their tolerances."""
    place_candidate(world)
    call(world.parts[system.IMPULSES], world, k, LEFT)
    measure_candidate(world)
    return 0


@kernel
def place_candidate(world):
    """Set poses, velocities and momenta in the middle of the step, and the load p − Dh(q_k)ᵀ λ of the coordinates."""
    motion, buffers = world.motion, world.buffers
    middle = buffers.middle
    equations.place_middle(world.mechanics.tree, motion.q, world.rule.alpha, world.rule.h, middle)
    place_points(world.mechanics.points, middle.poses, buffers.middle_arms)
    copy1(motion.momentum, middle.load)
    for c in range(buffers.values.shape[0]):
        for j in range(middle.load.shape[0]):
            middle.load[j] -= buffers.border.columns[c, j] * motion.multiplier[c]


@kernel
def measure_candidate(world):
    """Compute the norms of (45) and of the constraints."""
    mechanics, motion, rule, buffers = world.mechanics, world.motion, world.rule, world.buffers
    motion.residual[0] = equations.set_midpoint_residual(mechanics.tree, buffers.middle, mechanics.prescribed)
    set_end(mechanics, motion, buffers)
    norm = motion.residual[0] / max(rule.tolerance, round_off(mechanics, motion, buffers))
    off = motion.residual[1] / max(rule.tolerance, place_round_off(buffers))
    motion.residual[2] = math.hypot(norm, off)


@kernel
def set_end(mechanics, motion, buffers):
    """Evaluate the constraints at q_{k+1}."""
    total = 0.0
    if buffers.values.shape[0] > 0:
        for j in range(buffers.end_q.shape[0]):
            buffers.end_q[j] = motion.q[j] + buffers.middle.moved[j]
        place_bodies(mechanics.tree, buffers.end_q, buffers.end)
        place_points(mechanics.points, buffers.end, buffers.end_arms)
        set_constraint_values(mechanics.constraints, buffers.end, buffers.end_arms, buffers.end_q, buffers.values)
        custom.set_custom_values(buffers.customs, buffers.end_arms, buffers.end_q, buffers.values)
        for c in range(buffers.values.shape[0]):
            total += buffers.values[c] * buffers.values[c]
    motion.residual[1] = math.sqrt(total)


@kernel
def round_off(mechanics, motion, buffers):
    """Return the rounding error [N·s] of e, from the momenta and their moments about O."""
    tree, middle = mechanics.tree, buffers.middle
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
def place_round_off(buffers):
    """Return the rounding error [m] of h: positions are sums along the tree."""
    farthest = 1.0
    for k in range(buffers.end_arms.shape[0]):
        arm = load3(buffers.end_arms, k)
        farthest = max(farthest, math.sqrt(dot(arm, arm)))
    return ROUNDINGS * EPSILON * farthest


@part
def factor_part(world, k):
    """Factor Newton's matrix of the candidate; return SINGULAR, DEPENDENT or 0."""
    mechanics, rule, buffers = world.mechanics, world.rule, world.buffers
    middle = buffers.middle
    set_blocks(world, k)
    if eliminate_blocks(mechanics.tree, middle, rule.alpha, rule.h, middle.diagonal, mechanics.prescribed) >= 0:
        return SINGULAR
    call(world.parts[system.ROWS], world, LEFT)
    set_border(world, k)
    if factor_border(mechanics.tree, middle, rule.alpha, buffers.border) >= 0:
        return DEPENDENT
    world.motion.counts[system.KEPT] = 1
    return 0


@kernel
def set_blocks(world, k):
    """Set the blocks of all bodies and forces in Newton's matrix."""
    mechanics, rule, buffers = world.mechanics, world.rule, world.buffers
    middle, points, arms = buffers.middle, mechanics.points, buffers.middle_arms
    before, forced = (1.0 - rule.alpha) * rule.h, rule.share * rule.h
    equations.set_midpoint_blocks(mechanics.tree, rule.h, before, middle)
    springs, at, weights = mechanics.springs, mechanics.coordinate_springs, mechanics.weights
    add_spring_blocks(springs, at, weights, points, arms, middle.middle, rule.alpha, before, middle)
    add_force_blocks(mechanics.forces, world.inputs, k, rule.h, forced, middle)
    custom.add_custom_blocks(buffers.customs, points, arms, before, forced, middle)
    add_ballast(mechanics.ballast, rule.h, middle.diagonal)


@kernel
def set_border(world, k):
    """Set the border for forces between bodies and for massless variables; rows of constraints are already set."""
    mechanics, rule, buffers = world.mechanics, world.rule, world.buffers
    tree, points, arms, border = mechanics.tree, mechanics.points, buffers.middle_arms, buffers.border
    alpha, before, forced = rule.alpha, (1.0 - rule.alpha) * rule.h, rule.share * rule.h
    set_spring_border(tree, mechanics.springs, points, arms, alpha, before, buffers.middle, border)
    set_ballast_border(mechanics.ballast, rule.h, mechanics.ballast.first[0], border)
    time = world.inputs[k, 0]
    custom.set_custom_border(
        tree, buffers.customs, points, arms, time, alpha, rule.h, before, forced, buffers.middle, border
    )


@part
def correct_part(world):
    """Write δ into ``middle.delta`` and μ into the border, by the existing factors; store the candidate."""
    motion, buffers = world.motion, world.buffers
    border, m = buffers.border, buffers.values.shape[0]
    for c in range(border.load.shape[0]):
        border.load[c] = -buffers.values[c] if c < m else 0.0
    solve_border(
        world.mechanics.tree, buffers.middle, world.rule.alpha, border, buffers.middle.residual, buffers.middle.delta
    )
    copy1(buffers.middle.moved, buffers.base_moved)
    copy1(motion.multiplier, buffers.base_multiplier)
    return 0


@kernel
def displace(motion, buffers, factor):
    """Set the candidate at ``factor`` of Newton's step from the start of the search."""
    for j in range(buffers.base_moved.shape[0]):
        buffers.middle.moved[j] = buffers.base_moved[j] + factor * buffers.middle.delta[j]
    for c in range(buffers.base_multiplier.shape[0]):
        motion.multiplier[c] = buffers.base_multiplier[c] + factor * buffers.border.unknown[c]


@kernel
def norm_at(world, k, factor):
    """Return the residual's norm at ``factor`` of Newton's step."""
    displace(world.motion, world.buffers, factor)
    call(world.parts[system.EVALUATE], world, k)
    return world.motion.residual[2]


@kernel
def search_line(world, k, trials, norm):
    """Take the largest of 1, 1/2, 1/4, … of Newton's step that reduces the residual; return its norm, or inf."""
    factor = 1.0
    for _ in range(trials):
        reduced = norm_at(world, k, factor)
        if suffices(reduced, 1.0, factor, norm):
            return reduced
        factor *= 0.5
    return math.inf


@kernel
def try_kept(world, k, old, norm):
    """Iterate once with existing factors (the last step's if ``old``); return the lower of old and new norm."""
    call(world.parts[system.CORRECT], world)
    reduced = norm_at(world, k, 1.0)
    if reduced <= 1.0 or reduced <= 0.1 * norm:
        return reduced
    if old:
        world.motion.counts[system.WAIT] = RETRY_AFTER
    if reduced < norm:
        return reduced
    return norm_at(world, k, 0.0)


@kernel
def may_try_kept(world):
    """Return whether factors of an earlier step exist and may be tried again."""
    if world.motion.counts[system.WAIT] > 0:
        world.motion.counts[system.WAIT] = world.motion.counts[system.WAIT] - 1
        return False
    return world.motion.counts[system.KEPT] == 1


@part
def solve_part(world, k, most, trials):
    """Solve a time step for displacement and λ; return the number of iterations, or a (negative) cause of failure.

    Args:
        world: a ``World``.
        k: row of the inputs.
        most: largest number of iterations.
        trials: largest number of trials of a line search.
    """
    guess_step(world, k)
    call(world.parts[system.EVALUATE], world, k)
    norm, iteration = world.motion.residual[2], 0
    kept, fresh = norm > 1.0 and may_try_kept(world), False
    while not norm <= 1.0:
        if not math.isfinite(norm):
            return NOT_FINITE
        if iteration >= most:
            return NOT_CONVERGED
        if kept or fresh:
            norm = try_kept(world, k, kept, norm)
            kept = fresh = False
        else:
            failed = call(world.parts[system.FACTOR], world, k)
            if failed != 0:
                return failed
            call(world.parts[system.CORRECT], world)
            before = norm
            norm = search_line(world, k, trials, norm)
            if norm == math.inf:
                return STUCK
            fresh = norm * norm <= before  # the same reduction again, by the same factors, is enough
        iteration += 1
    return TURNED_TOO_FAR if turns_too_far(world) else iteration


@kernel
def turns_too_far(world):
    return is_beyond_half_turn(world.mechanics.tree, world.buffers.middle.moved)


@kernel
def is_beyond_half_turn(tree, moved):
    """Return whether an angle changes by more than π, a solution without physical meaning."""
    beyond = False
    for j in range(moved.shape[0]):
        beyond |= tree.kind[j] == REVOLUTE and not abs(moved[j]) <= math.pi
    return beyond


@part
def commit_part(world, k, iterations):
    """Set the momentum after a solved step, and make its end the next start."""
    add_work(world, k)
    call(world.parts[system.IMPULSES], world, k, RIGHT)
    finish_step(world, iterations)
    call(world.parts[system.ROWS], world, RIGHT)
    return 0


@kernel
def add_work(world, k):
    rule, buffers = world.rule, world.buffers
    for j in range(buffers.right_load.shape[0]):
        buffers.right_load[j] = 0.0
    world.motion.work[0] += force_work(world.mechanics.forces, world.inputs, k, rule.h, buffers.middle)
    world.motion.work[0] += custom.custom_work(buffers.customs, rule.h)


@kernel
def finish_step(world, iterations):
    mechanics, motion, buffers = world.mechanics, world.motion, world.buffers
    equations.set_midpoint_momentum(mechanics.tree, world.rule.h, buffers.middle, buffers.right_load, motion.momentum)
    move_on(mechanics.prescribed, motion, buffers.middle)
    count_step(motion, iterations)


@kernel
def move_on(prescribed, motion, middle):
    for j in range(motion.q.shape[0]):
        if prescribed[j] == 0:
            # The remaining e is carried over, so that the solver's tolerance does not affect the momentum.
            motion.momentum[j] += middle.residual[j]
        motion.q[j] += middle.moved[j]
        motion.past[2, j], motion.past[1, j] = motion.past[1, j], motion.past[0, j]
        motion.past[0, j] = middle.moved[j]


@kernel
def count_step(motion, iterations):
    count = motion.counts
    count[system.KNOWN] = min(count[system.KNOWN] + 1, system.PAST)
    count[system.FRESH] = 0
    count[system.STEPS] += 1
    count[system.LAST_ITERATIONS] = iterations
    count[system.ITERATIONS] += iterations
    count[system.MOST_ITERATIONS] = max(count[system.MOST_ITERATIONS], iterations)
