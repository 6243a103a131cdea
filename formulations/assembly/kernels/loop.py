"""Stepping loop, which records the motion."""

from biped.kernels.solve.causes import CREATES_ENERGY
from biped.kernels.solve.interior import EQUATIONS, LARGEST_ROW, PRODUCT
from contact.vectors import dot, load3, load4, load6
from formulations.assembly.kernels.bodies import inertia_times
from formulations.assembly.kernels.links import custom_energy, custom_fall
from formulations.assembly.kernels.step import commit_step, set_node_velocities, solve_step
from formulations.assembly.kernels.system import FRESH, STEPS
from formulations.assembly.kernels.wrenches import count_wrenches, set_wrenches
from kernelcache import kernel, routine

# Indices in a recorded row, after the bodies' poses (n, 7) and velocities (n, 6) and the coordinates (R,) of all
# rows of joints. After them come the forces (R,) of these rows, and three forces and the gap of each contact with
# the ground; further columns are not written here.
KINETIC = 0  # [J]
POTENTIAL = 1  # [J] of gravity and springs
ITERATIONS = 2
EQUATION = 3  # [N·s, m] norm of the equations' residual
OPEN = 4  # [m or rad] largest joint opening at the end of the step
COMPLEMENTARITY = 5  # [N·s·m] greatest product of a slack and its multiplier
NUMBERS = 6

# Tolerance as a share of the kinetic and elastic energy. Steps have smaller errors, unless a body turns far in one.
CREATED = 0.25


@kernel
def write_poses(system, motion, row):
    """Write poses and coordinates at the start of a step to ``row``."""
    n = system.bodies.mass.shape[0]
    for i in range(n):
        for k in range(3):
            row[7 * i + k] = motion.poses.com[i, k]
        for k in range(4):
            row[7 * i + 3 + k] = motion.poses.quaternion[i, k]
    for r in range(motion.coordinate.shape[0]):
        row[13 * n + r] = motion.coordinate[r]


@kernel
def strain_energy(joints, motion):
    """Return the energy [J] of springs at the start of the step."""
    total = 0.0
    for r in range(joints.kind.shape[0]):
        stretch = motion.coordinate[r] - joints.rest[r]
        total += 0.5 * joints.stiffness[r] * stretch * stretch
    return total


@kernel
def potential_energy(system, motion):
    """Return the potential energy [J] of weights and springs at the start of the step."""
    bodies = system.bodies
    total = strain_energy(system.joints, motion)
    if system.links.custom.shape[0] > 0:
        total += custom_energy(system.links, system.joints, motion.coordinate)
    for i in range(bodies.mass.shape[0]):
        weight = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
        total -= bodies.mass[i] * dot(weight, load3(motion.poses.com, i))
    return total


@kernel
def actuators_work(motion, driven, before):
    """Return the sum of absolute works [J] of the actuators since coordinates ``before``, which are then updated."""
    total = 0.0
    for d in range(driven.shape[0]):
        now = motion.coordinate[driven[d]]
        total += abs(motion.force[driven[d]] * (now - before[d]))
        before[d] = now
    return total


@kernel
def creates_energy(system, motion, buffers, rule, given, energy):
    """Return True if the last step has gained more energy than work and numerical errors explain.

    ``energy`` (kinetic and total, of the step before) is updated. A step in which joints and contacts block a body may
    have a second, distant solution with spurious energy. A slack-multiplier pair may work up to its tolerance per step.
    """
    bodies, h = system.bodies, rule.h
    kinetic = fall = 0.0
    for i in range(bodies.mass.shape[0]):
        momentum, turn = load6(motion.momentum, i), load4(buffers.turn, i)
        kinetic += (0.5 * dot(momentum[:3], load3(buffers.moved, i)) + dot(momentum[3:], turn[1:])) / h
        weight = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
        fall += bodies.mass[i] * dot(weight, weight) * h * h
    if system.links.custom.shape[0] > 0:
        fall += custom_fall(system.links, system.joints, bodies, buffers.rows_begin, h)
    total = kinetic + potential_energy(system, motion)
    scale = kinetic + energy[0] + strain_energy(system.joints, motion) + fall
    gain = total - energy[1] - given
    energy[0], energy[1] = kinetic, total
    return gain > CREATED * scale + motion.slack.shape[0] * rule.complementarity / h


@kernel
def energies(system, motion):
    """Return kinetic and potential energy [J] at the start of the step."""
    bodies = system.bodies
    kinetic = 0.0
    for i in range(bodies.mass.shape[0]):
        v = load6(motion.node_velocity, i)
        linear, angular = inertia_times(bodies, motion.poses, i, v[:3], v[3:])
        kinetic += 0.5 * (dot(linear, v[:3]) + dot(angular, v[3:]))
    return kinetic, potential_energy(system, motion)


@kernel
def write_solution(system, motion, buffers, rule, iterations, row):
    """Record the state at the start of a step that is solved but not yet taken."""
    set_node_velocities(system.bodies, motion, buffers, rule.h)
    n, rows = motion.poses.com.shape[0], motion.coordinate.shape[0]
    for i in range(n):
        for k in range(6):
            row[7 * n + 6 * i + k] = motion.node_velocity[i, k]
    at = 13 * n + rows
    row[at + KINETIC], row[at + POTENTIAL] = energies(system, motion)
    row[at + ITERATIONS] = iterations
    row[at + EQUATION], row[at + OPEN] = buffers.measure[EQUATIONS], buffers.measure[LARGEST_ROW]
    row[at + COMPLEMENTARITY] = buffers.measure[PRODUCT]
    at += NUMBERS
    share = rule.first_share if motion.counts[FRESH] == 1 else 1.0
    for r in range(rows):
        row[at + r] = motion.multiplier[r] / (share * rule.h)
    for c in range(motion.contact_impulse.shape[0]):
        if system.contacts.other[c] < 0:
            for k in range(3):
                row[at + rows + 4 * c + k] = motion.contact_impulse[c, k] / (share * rule.h)
            row[at + rows + 4 * c + 3] = buffers.gap_begin[c]


@routine
def take_steps(system, motion, buffers, rule, driven, forces, before, wrenches, energy, first, every, table):
    """Take a step per row of ``forces``; record steps whose number is a multiple of ``every``; return 0 or a cause.

    Args:
        system: constants of the assembly.
        motion: state of the motion.
        buffers: buffers of a step.
        rule: settings of steps.
        driven: (d,) rows whose actuators have a force.
        forces: (steps, d) [N or N·m] forces of these actuators.
        before: (d,) coordinates of the driven rows at the last step.
        wrenches: external wrenches.
        energy: (2,) [J] kinetic and total energy of the step before; at first, of the start.
        first: number of the first step.
        every: number of steps from one recorded row to the next.
        table: (·, columns) record; its first row is step 0.
    """
    for k in range(forces.shape[0]):
        for d in range(driven.shape[0]):
            motion.force[driven[d]] = forces[k, d]
        given, is_pushed = 0.0, wrenches.body.shape[0] > 0
        if is_pushed:
            given += set_wrenches(wrenches, system, motion, rule)
        at, recorded = (first + k) // every, (first + k) % every == 0
        if recorded:
            write_poses(system, motion, table[at])
        iterations = solve_step(system, motion, buffers, rule)
        if iterations < 0:
            return iterations
        if recorded:
            write_solution(system, motion, buffers, rule, iterations, table[at])
        if is_pushed:
            given += count_wrenches(wrenches, motion, buffers, rule.h, at if recorded else -1)
        commit_step(system, motion, buffers, rule, iterations)
        given += actuators_work(motion, driven, before)
        if creates_energy(system, motion, buffers, rule, given, energy):
            motion.counts[STEPS] -= 1  # drop the row of the step's start, which has the resulting velocity
            return CREATES_ENERGY
    return 0


@routine
def record_end(system, motion, buffers, rule, driven, forces, wrenches, table, at):
    """Record the last row of a motion from a step that is solved but not taken; return 0 or a cause of failure."""
    for d in range(driven.shape[0]):
        motion.force[driven[d]] = forces[0, d]
    if wrenches.body.shape[0] > 0:
        set_wrenches(wrenches, system, motion, rule)
    write_poses(system, motion, table[at])
    iterations = solve_step(system, motion, buffers, rule)
    if iterations < 0:
        return iterations
    write_solution(system, motion, buffers, rule, iterations, table[at])
    if wrenches.body.shape[0] > 0:
        count_wrenches(wrenches, motion, buffers, rule.h, at)
    return 0
