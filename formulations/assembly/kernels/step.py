"""One step: the equations (29), solved by Newton's and an interior point method (Brüdigam et al. 2024, section 4).

State: poses z₁, and the momentum of the step that led there. Unknown: the poses z₂, the rows' impulses λ, and of each
inequality a slack s and a multiplier γ with s γ = κ, κ → 0. Each iteration builds the block matrix on the graph,
factors it once and solves twice: once aimed at κ = 0, which says how far the products can go down at once, then at the
products that this makes likely (Mehrotra 1992, section 2, without its correction). A step keeps all pairs above zero,
and is halved as long as the squares of all equations do not decrease.
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

# Factor by which a repeated search starts farther inside, and its greatest value.
WIDER, WIDEST = 10.0, 1e4


@routine
def begin_step(system, motion, room, rule):
    """Set the constants of a step: gradients at z₁, arms, known impulses."""
    share = rule.first_share if motion.counts[FRESH] == 1 else 1.0
    bodies, joints = system.bodies, system.joints
    rigid.begin_bodies(bodies, motion, room, rule.h, share)
    set_rows(joints, motion.poses, motion.coordinate, room.value, room.rows_begin)
    if system.springs > 0:
        set_lengths(joints, system.springs, motion.poses, room.value, room.rows_begin)
    if system.links.custom.shape[0] > 0:
        set_custom_rows(system.links, joints, motion.poses, room.value, room.rows_begin)
    for row in range(joints.kind.shape[0]):
        motion.coordinate[row] = room.value[row]
    freedoms.add_known_forces(joints, motion, room, rule.h, share)
    contacts.begin_contacts(system.contacts, motion, room)


@routine
def guess_step(system, motion, room, rule, wide):
    """Set the first candidate: along the initial velocity in a first step, else as the previous step.

    Contacts start ``wide`` times as far inside their inequalities as usual; unless ``wide`` is 1, without the previous
    step's values.
    """
    bodies, h = system.bodies, rule.h
    for i in range(bodies.mass.shape[0]):
        if motion.counts[FRESH] == 1:
            known = vec.load6(room.impulse, i)
            spin = vec.mat_vec(inverse3(vec.load9(room.inertia, i)), known[3:])
            vec.store3(room.moved, i, vec.scale(h / bodies.mass[i], known[:3]))
            vec.store4(room.turn, i, vec.quat_turned((1.0, 0.0, 0.0, 0.0), vec.scale(h, spin)))
        else:
            last = motion.last_displacement
            vec.store3(room.moved, i, (last[i, 0], last[i, 1], last[i, 2]))
            vec.store4(room.turn, i, (last[i, 3], last[i, 4], last[i, 5], last[i, 6]))
    place_candidate(system, motion, room)
    if wide > 1.0:
        motion.multiplier[:] = 0.0
        motion.contact_impulse[:] = 0.0
    contacts.start_contacts(system.contacts, bodies, motion, room, h, wide)
    usual = heaviest = 0.0
    for i in range(bodies.mass.shape[0]):
        usual = max(usual, bodies.mass[i] * abs(bodies.gravity[2]) * h)
        heaviest = max(heaviest, bodies.mass[i])
    freedoms.start_limits(system.joints, motion, room, h, usual, heaviest)


@kernel
def place_candidate(system, motion, room):
    """Compute everything that follows from the displacements alone."""
    rigid.place_next(motion, room)
    set_rows(system.joints, room.next, motion.coordinate, room.value, room.rows_end)
    if system.springs > 0:
        set_lengths(system.joints, system.springs, room.next, room.value, room.rows_end)
    if system.links.custom.shape[0] > 0:
        set_custom_rows(system.links, system.joints, room.next, room.value, room.rows_end)
    contacts.place_contacts(system.contacts, room)


@routine
def evaluate(system, motion, room, rule):
    """Evaluate the equations at the candidate; write their norms into ``room.measure``."""
    place_candidate(system, motion, room)
    size = rigid.set_balances(system.bodies, room, rule.h)
    freedoms.subtract_rows(system.joints, motion, room)
    contacts.subtract_contacts(system.contacts, motion, room)
    measure_equations(system, motion, room, size)
    interior.measure_products(motion, room)


@kernel
def measure_equations(system, motion, room, size):
    """Compute the norm of balances, rigid rows and slack defects, and its rounding error."""
    joints = system.joints
    total, largest, far = 0.0, 0.0, 1.0
    for i in range(system.bodies.mass.shape[0]):
        for k in range(6):
            total += room.balance[i, k] * room.balance[i, k]
        for k in range(3):
            far = max(far, abs(room.next.com[i, k]))
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.rigid[j]):
            total += room.value[row] * room.value[row]
            largest = max(largest, abs(room.value[row]))
        for row in range(begin, begin + joints.solved[j]):
            size += abs(motion.multiplier[row])
    total += contacts.contact_defects(system.contacts, motion, room) + freedoms.limit_defects(joints, motion, room)
    room.measure[interior.EQUATIONS], room.measure[interior.LARGEST_ROW] = math.sqrt(total), largest
    room.measure[interior.ROUNDING] = (
        interior.ROUNDINGS * interior.EPSILON * (size + far * (1.0 + joints.inboard.shape[0]))
    )


@kernel
def write_row(of_joint, of_body, room, row, place, side):
    """Write a row's gradients into the two blocks between its joint (row ``place`` there) and a body."""
    for k in range(6):
        of_joint[place, k] = room.rows_end[2 * row + side, k]
        of_body[k, place] = -room.rows_begin[2 * row + side, k]


@routine
def set_matrix(system, motion, room, rule):
    """Newton's matrix on the graph: of bodies, contacts, and the rows with their two gradients."""
    graph, joints, n = system.graph, system.joints, system.bodies.mass.shape[0]
    clear_blocks(graph, room)
    rigid.set_body_blocks(system.bodies, room, rule.h)
    contacts.add_contact_blocks(system.contacts, motion, room)
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.solved[j]):
            for side in range(2):
                edge = graph.row_edge[row, side]
                if edge >= 0:
                    if graph.row_is_upper[row, side] == 1:
                        write_row(room.upper[edge], room.lower[edge], room, row, row - begin, side)
                    else:
                        write_row(room.lower[edge], room.upper[edge], room, row, row - begin, side)
            if row >= begin + joints.rigid[j]:
                soft, _ = freedoms.softness(joints, motion, room, row)
                room.diagonal[n + j, row - begin, row - begin] = soft
                room.magnitude[n + j, row - begin] = soft


@routine
def solve_for(system, motion, room):
    """Solve Newton's step for the products in ``room.target``: displacements, impulses, changes of pairs."""
    graph, joints, n = system.graph, system.joints, system.bodies.mass.shape[0]
    for i in range(n):
        for k in range(6):
            room.load[i, k] = -room.balance[i, k]
    contacts.add_contact_loads(system.contacts, motion, room)
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.solved[j]):
            if row < begin + joints.rigid[j]:
                room.load[n + j, row - begin] = -room.value[row]
            else:
                _, push = freedoms.softness(joints, motion, room, row)
                room.load[n + j, row - begin] = push
    substitute(graph, room)
    contacts.set_contact_changes(system.contacts, motion, room)
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin + joints.rigid[j], begin + joints.solved[j]):
            if joints.pair[row] >= 0:
                freedoms.set_limit_changes(joints, motion, room, row, freedoms.displacement_along(joints, room, j, row))


@kernel
def set_newton_step(system, motion, room, rule):
    """Write Newton's step to ``room.load`` and the changes of pairs; return a singular node, or −1."""
    set_matrix(system, motion, room, rule)
    failed = factor(system.graph, system.bodies.mass.shape[0], room)
    if failed >= 0:
        return failed
    if motion.slack.shape[0] > 0:
        interior.aim(motion, room, 0.0)
        solve_for(system, motion, room)
        interior.aim(motion, room, interior.likely_center(motion, room, rule.complementarity))
        interior.measure_products(motion, room)
    solve_for(system, motion, room)
    room.measure[interior.NOISE] = (
        interior.ROUNDINGS
        * interior.EPSILON
        * (
            contacts.pressing_contacts(system.contacts, motion, room)
            + freedoms.pressing_limits(system.joints, motion, room)
        )
    )
    return -1


@kernel
def keep_base(motion, room):
    """Store the start of a line search."""
    for i in range(room.moved.shape[0]):
        vec.store3(room.base_moved, i, vec.load3(room.moved, i))
        vec.store4(room.base_turn, i, vec.load4(room.turn, i))
    vec.copy1(motion.multiplier, room.base_multiplier)
    interior.keep_pairs(motion, room)


@kernel
def displace(system, motion, room, factor_):
    """Set the candidate at a fraction of Newton's step from the base."""
    joints, n = system.joints, system.bodies.mass.shape[0]
    for i in range(n):
        step = vec.load6(room.load, i)
        vec.store3(room.moved, i, vec.add(vec.load3(room.base_moved, i), vec.scale(factor_, step[:3])))
        vec.store4(room.turn, i, vec.quat_turned(vec.load4(room.base_turn, i), vec.scale(factor_, step[3:])))
    for j in range(joints.inboard.shape[0]):
        begin = joints.first[j]
        for row in range(begin, begin + joints.rigid[j]):
            motion.multiplier[row] = room.base_multiplier[row] + factor_ * room.load[n + j, row - begin]
    interior.move_pairs(motion, room, factor_)


@kernel
def has_converged(room, rule):
    small = max(rule.tolerance, room.measure[interior.ROUNDING])
    return room.measure[interior.EQUATIONS] <= small and room.measure[interior.PRODUCT] <= rule.complementarity


@kernel
def helps(room, rule, part, merit, off):
    """Return whether a candidate is closer to a solution than the start of the search.

    Compare all equations, or only the products if the others are at their rounding level: a long slide along a plane
    with contact stiffness γ/s leaves a rounding error of slide times stiffness; the next, short iteration removes it.
    """
    enough = 1.0 - 1e-4 * part
    if room.measure[interior.MERIT] <= enough * merit or has_converged(room, rule):
        return True
    small = max(rule.tolerance, room.measure[interior.ROUNDING], room.measure[interior.NOISE])
    return room.measure[interior.EQUATIONS] <= small and room.measure[interior.OFF_CENTER] <= enough * off


@routine
def search_line(system, motion, room, rule):
    """Take the largest of 1, 1/2, 1/4, … of Newton's step within bounds that helps; False if none does."""
    merit, off = room.measure[interior.MERIT], room.measure[interior.OFF_CENTER]
    keep_base(motion, room)
    part = interior.way_to_boundary(motion, room)
    for _ in range(rule.max_backtracks):
        displace(system, motion, room, part)
        evaluate(system, motion, room, rule)
        if helps(room, rule, part, merit, off):
            return True
        part *= 0.5
    return False


@kernel
def turns_too_far(room):
    """Return whether a body turns by more than a right angle: a solution of another motion."""
    beyond = False
    for i in range(room.turn.shape[0]):
        beyond |= not room.turn[i, 0] > 0.7071067811865476
    return beyond


@routine
def search_step(system, motion, room, rule, wide):
    """Newton's iterations from one guess; how many, or why they do not end."""
    guess_step(system, motion, room, rule, wide)
    interior.aim(motion, room, 0.0)
    evaluate(system, motion, room, rule)
    iteration = 0
    while not has_converged(room, rule):
        if not math.isfinite(room.measure[interior.MERIT]):
            return NOT_FINITE
        if iteration >= rule.max_iterations:
            return NOT_CONVERGED
        if set_newton_step(system, motion, room, rule) >= 0:
            return SINGULAR
        if not search_line(system, motion, room, rule):
            return STUCK
        iteration += 1
    return TURNED_TOO_FAR if turns_too_far(room) else iteration


@routine
def solve_step(system, motion, room, rule):
    """Solve the step into ``room`` and ``motion``; return the iterations, or a cause of failure.

    A search that fails is repeated from farther inside the contacts' inequalities.
    """
    begin_step(system, motion, room, rule)
    wide = 1.0
    found = search_step(system, motion, room, rule, wide)
    while found < 0 and wide < WIDEST and system.contacts.body.shape[0] > 0:
        wide *= WIDER
        found = search_step(system, motion, room, rule, wide)
    return found


@kernel
def set_node_velocities(bodies, motion, room, h):
    """Set the node velocities: from the mean of the momenta before and after, or the initial velocity."""
    fresh = motion.counts[FRESH] == 1
    for i in range(bodies.mass.shape[0]):
        before = vec.load6(motion.momentum, i)
        linear, angular = before[:3], before[3:]
        if not fresh:
            after_linear, after_angular = rigid.momentum_of(bodies, room, i, h)
            linear, angular = (
                vec.scale(0.5, vec.add(linear, after_linear)),
                vec.scale(0.5, vec.add(angular, after_angular)),
            )
        spin = vec.mat_vec(inverse3(vec.load9(room.inertia, i)), angular)
        vec.store_twist(motion.node_velocity, i, vec.scale(1.0 / bodies.mass[i], linear), spin)


@kernel
def move_on(bodies, motion, room, h):
    """Make the end of the step the start of the next one."""
    for i in range(bodies.mass.shape[0]):
        linear, angular = rigid.momentum_of(bodies, room, i, h)
        vec.store_twist(motion.momentum, i, linear, angular)
        for k in range(3):
            motion.last_displacement[i, k] = room.moved[i, k]
        for k in range(4):
            motion.last_displacement[i, 3 + k] = room.turn[i, k]
        vec.store3(motion.poses.com, i, vec.load3(room.next.com, i))
        vec.store4(motion.poses.quaternion, i, vec.load4(room.next.quaternion, i))
        vec.store9(motion.poses.rotation, i, vec.load9(room.next.rotation, i))
    vec.copy1(room.value, motion.coordinate)


@routine
def commit_step(system, motion, room, rule, iterations):
    """Take a step that is solved."""
    move_on(system.bodies, motion, room, rule.h)
    counts = motion.counts
    counts[FRESH] = 0
    counts[STEPS] += 1
    counts[LAST_ITERATIONS] = iterations
    counts[ITERATIONS] += iterations
    counts[MOST_ITERATIONS] = max(counts[MOST_ITERATIONS], iterations)


@routine
def take_step(system, motion, room, rule):
    """Take one step; return the iterations, or a cause of failure."""
    iterations = solve_step(system, motion, room, rule)
    if iterations >= 0:
        set_node_velocities(system.bodies, motion, room, rule.h)
        commit_step(system, motion, room, rule, iterations)
    return iterations


@routine
def set_momenta(system, motion, velocity):
    """Set the momenta from the velocities (n, 6) of the centres of mass [m/s] and turns [rad/s], world axes."""
    for i in range(system.bodies.mass.shape[0]):
        v = vec.load6(velocity, i)
        linear, angular = rigid.inertia_times(system.bodies, motion.poses, i, v[:3], v[3:])
        vec.store_twist(motion.momentum, i, linear, angular)
