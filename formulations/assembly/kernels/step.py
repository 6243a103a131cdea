"""One time step: equations (29), solved by an interior point Newton method (Brüdigam et al. 2024, section 4).

The state is the poses z₁ and the momentum of the previous step. Unknowns are the poses z₂, the impulses λ of the rows,
and for each inequality a slack s and a multiplier γ with s γ = κ, κ → 0. Each iteration builds the block matrix on the
graph, factors it once and solves it twice: first for κ = 0, which shows how far the products can fall, and then for the
products that are likely to be reached (Mehrotra 1992, section 2, without the correction). An iteration keeps all pairs
above zero, and its change is halved until the sum of squares of all equations decreases.
"""

import math

from biped.kernels.solve import contacts, interior
from biped.kernels.solve.causes import NOT_CONVERGED, NOT_FINITE, SINGULAR, STUCK, TURNED_TOO_FAR
from biped.kernels.tree.joint_rows import set_rows
from contact import vectors as vec
from contact.collision import inverse3
from formulations.assembly.kernels import bodies as rigid
from formulations.assembly.kernels import freedoms
from formulations.assembly.kernels.graph import clear_blocks, factor, substitute
from formulations.assembly.kernels.links import set_custom_rows, set_lengths
from formulations.assembly.kernels.system import FRESH, ITERATIONS, LAST_ITERATIONS, MOST_ITERATIONS, STEPS
from kernelcache import kernel, routine

# Factor by which a repeated search starts farther inside the inequalities, and the greatest such distance.
WIDER, WIDEST = 10.0, 1e4


@routine
def begin_step(system, motion, buffers, rule):
    """Set the constants of a step: gradients at z₁, arms, known impulses."""
    share = rule.first_share if motion.counts[FRESH] == 1 else 1.0
    bodies, joints = system.bodies, system.joints
    rigid.begin_bodies(bodies, motion, buffers, rule.h, share)
    set_rows(joints, motion.poses, motion.coordinate, buffers.value, buffers.rows_begin)
    if system.springs > 0:
        set_lengths(joints, system.springs, motion.poses, buffers.value, buffers.rows_begin)
    if system.links.custom.shape[0] > 0:
        set_custom_rows(system.links, joints, motion.poses, buffers.value, buffers.rows_begin)
    for row in range(joints.kind.shape[0]):
        motion.coordinate[row] = buffers.value[row]
    freedoms.add_known_forces(joints, motion, buffers, rule.h, share)
    contacts.begin_contacts(system.contacts, motion, buffers)


@routine
def guess_step(system, motion, buffers, rule, wide):
    """Set the first candidate: the motion by the initial velocity in a first step, else that of the previous step.

    Contacts start ``wide`` times as far inside their inequalities as usual. They start from the previous step's values
    only if ``wide`` is 1.
    """
    bodies, h = system.bodies, rule.h
    for i in range(bodies.mass.shape[0]):
        if motion.counts[FRESH] == 1:
            known = vec.load6(buffers.impulse, i)
            spin = vec.mat_vec(inverse3(vec.load9(buffers.inertia, i)), known[3:])
            vec.store3(buffers.moved, i, vec.scale(h / bodies.mass[i], known[:3]))
            vec.store4(buffers.turn, i, vec.quat_turned((1.0, 0.0, 0.0, 0.0), vec.scale(h, spin)))
        else:
            last = motion.last_displacement
            vec.store3(buffers.moved, i, (last[i, 0], last[i, 1], last[i, 2]))
            vec.store4(buffers.turn, i, (last[i, 3], last[i, 4], last[i, 5], last[i, 6]))
    place_candidate(system, motion, buffers)
    if wide > 1.0:
        motion.multiplier[:] = 0.0
        motion.contact_impulse[:] = 0.0
    contacts.start_contacts(system.contacts, bodies, motion, buffers, h, wide)
    usual = heaviest = 0.0
    for i in range(bodies.mass.shape[0]):
        usual = max(usual, bodies.mass[i] * abs(bodies.gravity[2]) * h)
        heaviest = max(heaviest, bodies.mass[i])
    freedoms.start_limits(system.joints, motion, buffers, h, usual, heaviest)


@kernel
def place_candidate(system, motion, buffers):
    """Compute everything that follows from the displacements alone."""
    rigid.place_next(motion, buffers)
    set_rows(system.joints, buffers.next, motion.coordinate, buffers.value, buffers.rows_end)
    if system.springs > 0:
        set_lengths(system.joints, system.springs, buffers.next, buffers.value, buffers.rows_end)
    if system.links.custom.shape[0] > 0:
        set_custom_rows(system.links, system.joints, buffers.next, buffers.value, buffers.rows_end)
    contacts.place_contacts(system.contacts, buffers)


@routine
def evaluate(system, motion, buffers, rule):
    """Evaluate the equations at the candidate; write their norms into ``buffers.measure``."""
    place_candidate(system, motion, buffers)
    size = rigid.set_balances(system.bodies, buffers, rule.h)
    freedoms.subtract_rows(system.joints, motion, buffers)
    contacts.subtract_contacts(system.contacts, motion, buffers)
    measure_equations(system, motion, buffers, size)
    interior.measure_products(motion, buffers)


@kernel
def measure_equations(system, motion, buffers, size):
    """Compute the norm of balances, rigid rows and slack defects, and its rounding error."""
    joints = system.joints
    total, largest, far = 0.0, 0.0, 1.0
    for i in range(system.bodies.mass.shape[0]):
        for k in range(6):
            total += buffers.balance[i, k] * buffers.balance[i, k]
        for k in range(3):
            far = max(far, abs(buffers.next.com[i, k]))
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.rigid[j]):
            total += buffers.value[row] * buffers.value[row]
            largest = max(largest, abs(buffers.value[row]))
        for row in range(begin, begin + joints.solved[j]):
            size += abs(motion.multiplier[row])
    total += contacts.contact_defects(system.contacts, motion, buffers) + freedoms.limit_defects(
        joints, motion, buffers
    )
    buffers.measure[interior.EQUATIONS], buffers.measure[interior.LARGEST_ROW] = math.sqrt(total), largest
    buffers.measure[interior.ROUNDING] = (
        interior.ROUNDINGS * interior.EPSILON * (size + far * (1.0 + joints.inboard.shape[0]))
    )


@kernel
def write_row(of_joint, of_body, buffers, row, place, side):
    """Write a row's gradients into the two blocks between its joint (row ``place`` there) and a body."""
    for k in range(6):
        of_joint[place, k] = buffers.rows_end[2 * row + side, k]
        of_body[k, place] = -buffers.rows_begin[2 * row + side, k]


@routine
def set_matrix(system, motion, buffers, rule):
    """Set Newton's matrix on the graph from bodies, contacts, and rows with their two gradients."""
    graph, joints, n = system.graph, system.joints, system.bodies.mass.shape[0]
    clear_blocks(graph, buffers)
    rigid.set_body_blocks(system.bodies, buffers, rule.h)
    contacts.add_contact_blocks(system.contacts, motion, buffers)
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.solved[j]):
            for side in range(2):
                edge = graph.row_edge[row, side]
                if edge >= 0:
                    if graph.row_is_upper[row, side] == 1:
                        write_row(buffers.upper[edge], buffers.lower[edge], buffers, row, row - begin, side)
                    else:
                        write_row(buffers.lower[edge], buffers.upper[edge], buffers, row, row - begin, side)
            if row >= begin + joints.rigid[j]:
                soft, _ = freedoms.softness(joints, motion, buffers, row)
                buffers.diagonal[n + j, row - begin, row - begin] = soft
                buffers.magnitude[n + j, row - begin] = soft


@routine
def solve_for(system, motion, buffers):
    """Solve Newton's step for the products in ``buffers.target``: displacements, impulses, changes of pairs."""
    graph, joints, n = system.graph, system.joints, system.bodies.mass.shape[0]
    for i in range(n):
        for k in range(6):
            buffers.load[i, k] = -buffers.balance[i, k]
    contacts.add_contact_loads(system.contacts, motion, buffers)
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.solved[j]):
            if row < begin + joints.rigid[j]:
                buffers.load[n + j, row - begin] = -buffers.value[row]
            else:
                _, push = freedoms.softness(joints, motion, buffers, row)
                buffers.load[n + j, row - begin] = push
    substitute(graph, buffers)
    contacts.set_contact_changes(system.contacts, motion, buffers)
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin + joints.rigid[j], begin + joints.solved[j]):
            if joints.pair[row] >= 0:
                freedoms.set_limit_changes(
                    joints, motion, buffers, row, freedoms.displacement_along(joints, buffers, j, row)
                )


@kernel
def set_newton_step(system, motion, buffers, rule):
    """Write Newton's step to ``buffers.load`` and the changes of pairs; return a singular node, or −1."""
    set_matrix(system, motion, buffers, rule)
    failed = factor(system.graph, system.bodies.mass.shape[0], buffers)
    if failed >= 0:
        return failed
    if motion.slack.shape[0] > 0:
        interior.aim(motion, buffers, 0.0)
        solve_for(system, motion, buffers)
        interior.aim(motion, buffers, interior.likely_center(motion, buffers, rule.complementarity))
        interior.measure_products(motion, buffers)
    solve_for(system, motion, buffers)
    buffers.measure[interior.NOISE] = (
        interior.ROUNDINGS
        * interior.EPSILON
        * (
            contacts.pressing_contacts(system.contacts, motion, buffers)
            + freedoms.pressing_limits(system.joints, motion, buffers)
        )
    )
    return -1


@kernel
def keep_base(motion, buffers):
    """Store the start of a line search."""
    for i in range(buffers.moved.shape[0]):
        vec.store3(buffers.base_moved, i, vec.load3(buffers.moved, i))
        vec.store4(buffers.base_turn, i, vec.load4(buffers.turn, i))
    vec.copy1(motion.multiplier, buffers.base_multiplier)
    interior.keep_pairs(motion, buffers)


@kernel
def displace(system, motion, buffers, factor_):
    """Set the candidate at a fraction of Newton's step from the base."""
    joints, n = system.joints, system.bodies.mass.shape[0]
    for i in range(n):
        step = vec.load6(buffers.load, i)
        vec.store3(buffers.moved, i, vec.add(vec.load3(buffers.base_moved, i), vec.scale(factor_, step[:3])))
        vec.store4(buffers.turn, i, vec.quat_turned(vec.load4(buffers.base_turn, i), vec.scale(factor_, step[3:])))
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.rigid[j]):
            motion.multiplier[row] = buffers.base_multiplier[row] + factor_ * buffers.load[n + j, row - begin]
    interior.move_pairs(motion, buffers, factor_)


@kernel
def has_converged(buffers, rule):
    small = max(rule.tolerance, buffers.measure[interior.ROUNDING])
    return buffers.measure[interior.EQUATIONS] <= small and buffers.measure[interior.PRODUCT] <= rule.complementarity


@kernel
def helps(buffers, rule, part, merit, off):
    """Return True if a candidate is closer to a solution than the start of the search.

    Compare all equations, or only the products if the others are at their rounding level: a long slide along a plane
    with contact stiffness γ/s leaves a rounding error of slide times stiffness; the next, short iteration removes it.
    """
    enough = 1.0 - 1e-4 * part
    if buffers.measure[interior.MERIT] <= enough * merit or has_converged(buffers, rule):
        return True
    small = max(rule.tolerance, buffers.measure[interior.ROUNDING], buffers.measure[interior.NOISE])
    return buffers.measure[interior.EQUATIONS] <= small and buffers.measure[interior.OFF_CENTER] <= enough * off


@routine
def search_line(system, motion, buffers, rule):
    """Take the largest of 1, 1/2, 1/4, … of Newton's step within bounds that helps; False if none does."""
    merit, off = buffers.measure[interior.MERIT], buffers.measure[interior.OFF_CENTER]
    keep_base(motion, buffers)
    part = interior.way_to_boundary(motion, buffers)
    for _ in range(rule.max_backtracks):
        displace(system, motion, buffers, part)
        evaluate(system, motion, buffers, rule)
        if helps(buffers, rule, part, merit, off):
            return True
        part *= 0.5
    return False


@kernel
def turns_too_far(buffers):
    """Return True if a body turns by more than a right angle: such a solution belongs to another motion."""
    beyond = False
    for i in range(buffers.turn.shape[0]):
        beyond |= not buffers.turn[i, 0] > 0.7071067811865476
    return beyond


@routine
def search_step(system, motion, buffers, rule, wide):
    """Iterate by Newton's method from one guess; return the number of iterations, or a cause of failure."""
    guess_step(system, motion, buffers, rule, wide)
    interior.aim(motion, buffers, 0.0)
    evaluate(system, motion, buffers, rule)
    iteration = 0
    while not has_converged(buffers, rule):
        if not math.isfinite(buffers.measure[interior.MERIT]):
            return NOT_FINITE
        if iteration >= rule.max_iterations:
            return NOT_CONVERGED
        if set_newton_step(system, motion, buffers, rule) >= 0:
            return SINGULAR
        if not search_line(system, motion, buffers, rule):
            return STUCK
        iteration += 1
    return TURNED_TOO_FAR if turns_too_far(buffers) else iteration


@routine
def solve_step(system, motion, buffers, rule):
    """Solve the step into ``buffers`` and ``motion``; return the iterations, or a cause of failure.

    A search that fails is repeated from farther inside the contacts' inequalities.
    """
    begin_step(system, motion, buffers, rule)
    wide = 1.0
    iterations = search_step(system, motion, buffers, rule, wide)
    while iterations < 0 and wide < WIDEST and system.contacts.body.shape[0] > 0:
        wide *= WIDER
        iterations = search_step(system, motion, buffers, rule, wide)
    return iterations


@kernel
def set_node_velocities(bodies, motion, buffers, h):
    """Set the node velocities: from the mean of the momenta before and after, or the initial velocity."""
    fresh = motion.counts[FRESH] == 1
    for i in range(bodies.mass.shape[0]):
        before = vec.load6(motion.momentum, i)
        linear, angular = before[:3], before[3:]
        if not fresh:
            after_linear, after_angular = rigid.momentum_of(bodies, buffers, i, h)
            linear, angular = (
                vec.scale(0.5, vec.add(linear, after_linear)),
                vec.scale(0.5, vec.add(angular, after_angular)),
            )
        spin = vec.mat_vec(inverse3(vec.load9(buffers.inertia, i)), angular)
        vec.store_twist(motion.node_velocity, i, vec.scale(1.0 / bodies.mass[i], linear), spin)


@kernel
def move_on(bodies, motion, buffers, h):
    """Make the end of the step the start of the next one."""
    for i in range(bodies.mass.shape[0]):
        linear, angular = rigid.momentum_of(bodies, buffers, i, h)
        vec.store_twist(motion.momentum, i, linear, angular)
        for k in range(3):
            motion.last_displacement[i, k] = buffers.moved[i, k]
        for k in range(4):
            motion.last_displacement[i, 3 + k] = buffers.turn[i, k]
        vec.store3(motion.poses.com, i, vec.load3(buffers.next.com, i))
        vec.store4(motion.poses.quaternion, i, vec.load4(buffers.next.quaternion, i))
        vec.store9(motion.poses.rotation, i, vec.load9(buffers.next.rotation, i))
    vec.copy1(buffers.value, motion.coordinate)


@routine
def commit_step(system, motion, buffers, rule, iterations):
    """Store a solved step as taken, and count its iterations."""
    move_on(system.bodies, motion, buffers, rule.h)
    counts = motion.counts
    counts[FRESH] = 0
    counts[STEPS] += 1
    counts[LAST_ITERATIONS] = iterations
    counts[ITERATIONS] += iterations
    counts[MOST_ITERATIONS] = max(counts[MOST_ITERATIONS], iterations)


@routine
def take_step(system, motion, buffers, rule):
    """Take one step; return the iterations, or a cause of failure."""
    iterations = solve_step(system, motion, buffers, rule)
    if iterations >= 0:
        set_node_velocities(system.bodies, motion, buffers, rule.h)
        commit_step(system, motion, buffers, rule, iterations)
    return iterations


@routine
def set_momenta(system, motion, velocity):
    """Set the momenta from the velocities (n, 6) of the centres of mass [m/s] and turns [rad/s], world axes."""
    for i in range(system.bodies.mass.shape[0]):
        v = vec.load6(velocity, i)
        linear, angular = rigid.inertia_times(system.bodies, motion.poses, i, v[:3], v[3:])
        vec.store_twist(motion.momentum, i, linear, angular)
