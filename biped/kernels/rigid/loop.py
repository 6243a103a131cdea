"""Many steps, recorded as they go."""

from biped.kernels.rigid.bodies import inertia_times
from biped.kernels.rigid.step import commit_step, set_node_velocities, solve_step
from biped.kernels.rigid.system import EQUATIONS, FRESH, LARGEST_ROW, PRODUCT
from contact.jit import kernel, routine
from contact.vectors import dot, load3, load6

# Places in a row after the bodies' poses (n, 7) and velocities (n, 6) and the coordinates of all rows (R,). After
# them come the forces of the rows (R,), and of each contact with the ground three forces and the gap; what is beyond
# these is not written here.
KINETIC = 0  # [J]
POTENTIAL = 1  # [J] of gravity and springs
ITERATIONS = 2
EQUATION = 3  # [N·s, m] what the solver left of its equations
OPEN = 4  # [m or rad] of the joint that is open most where the step ends
COMPLEMENTARITY = 5  # [N·s·m] the greatest product of a slack and its multiplier
NUMBERS = 6


@kernel
def write_poses(system, motion, row):
    """Poses and coordinates where a step begins."""
    n = system.bodies.mass.shape[0]
    for i in range(n):
        for k in range(3):
            row[7 * i + k] = motion.poses.com[i, k]
        for k in range(4):
            row[7 * i + 3 + k] = motion.poses.quaternion[i, k]
    for r in range(motion.coordinate.shape[0]):
        row[13 * n + r] = motion.coordinate[r]


@kernel
def energies(system, motion):
    """(kinetic, potential) [J] where the step began."""
    bodies, joints = system.bodies, system.joints
    kinetic = potential = 0.0
    for i in range(bodies.mass.shape[0]):
        v = load6(motion.node_velocity, i)
        linear, angular = inertia_times(bodies, motion.poses, i, v[:3], v[3:])
        kinetic += 0.5 * (dot(linear, v[:3]) + dot(angular, v[3:]))
        weight = (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])
        potential -= bodies.mass[i] * dot(weight, load3(motion.poses.com, i))
    for r in range(joints.kind.shape[0]):
        stretch = motion.coordinate[r] - joints.rest[r]
        potential += 0.5 * joints.stiffness[r] * stretch * stretch
    return kinetic, potential


@kernel
def write_solution(system, motion, room, rule, iterations, row):
    """What is known of where a step begins once it is solved, before it is taken."""
    set_node_velocities(system.bodies, motion, room, rule.h)
    n, rows = motion.poses.com.shape[0], motion.coordinate.shape[0]
    for i in range(n):
        for k in range(6):
            row[7 * n + 6 * i + k] = motion.node_velocity[i, k]
    at = 13 * n + rows
    row[at + KINETIC], row[at + POTENTIAL] = energies(system, motion)
    row[at + ITERATIONS] = iterations
    row[at + EQUATION], row[at + OPEN] = room.measure[EQUATIONS], room.measure[LARGEST_ROW]
    row[at + COMPLEMENTARITY] = room.measure[PRODUCT]
    at += NUMBERS
    share = rule.first_share if motion.counts[FRESH] == 1 else 1.0
    for r in range(rows):
        row[at + r] = motion.multiplier[r] / (share * rule.h)
    for c in range(motion.contact_impulse.shape[0]):
        if system.contacts.other[c] < 0:
            for k in range(3):
                row[at + rows + 4 * c + k] = motion.contact_impulse[c, k] / (share * rule.h)
            row[at + rows + 4 * c + 3] = room.gap_begin[c]


@routine
def take_steps(system, motion, room, rule, driven, forces, first, every, table):
    """So many steps as there are forces, with a row where a multiple of ``every`` begins; 0, or why there are no more.

    Args:
        system: what moves.
        motion: its state.
        room: of a step.
        rule: how steps are taken.
        driven: (d,) rows whose actuators have a force.
        forces: (steps, d) [N or N·m] of them.
        first: number of the first step.
        every: steps from one row to the next.
        table: (., columns), its first row of step 0.
    """
    for k in range(forces.shape[0]):
        for d in range(driven.shape[0]):
            motion.force[driven[d]] = forces[k, d]
        at, wanted = (first + k) // every, (first + k) % every == 0
        if wanted:
            write_poses(system, motion, table[at])
        iterations = solve_step(system, motion, room, rule)
        if iterations < 0:
            return iterations
        if wanted:
            write_solution(system, motion, room, rule, iterations, table[at])
        commit_step(system, motion, room, rule, iterations)
    return 0


@routine
def record_end(system, motion, room, rule, driven, forces, table, at):
    """The row of a motion's end, for which a step is solved and not taken; 0 or why it has no solution."""
    for d in range(driven.shape[0]):
        motion.force[driven[d]] = forces[0, d]
    write_poses(system, motion, table[at])
    iterations = solve_step(system, motion, room, rule)
    if iterations < 0:
        return iterations
    write_solution(system, motion, room, rule, iterations, table[at])
    return 0
