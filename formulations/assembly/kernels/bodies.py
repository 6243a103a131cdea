"""The discrete body, its balance and its block (Brüdigam et al. 2024, section 3.1, equations 10 to 17).

A body moves by Δx and turns by (c, u) in a step, u = h ω/2 in world axes. Its momenta are m Δx/h and, in world axes,
c y + u × y with y = (2/h) J u, where J is the inertia at the step's beginning: this is h/2 times the terms of (16), and
the same at both ends of the step. The unknowns of Newton's method are displacements of the poses at the end, not the
velocities themselves: h times these, to first order, and then the derivative of a constraint g(z₂) is G(z₂) as it
stands.
"""

from biped.kernels.tree.joint_rows import set_rotations
from biped.kernels.variational.discrete_body import MidpointBody, midpoint_momentum, turn_derivative
from contact import vectors as vec
from kernelcache import kernel, routine


@kernel
def begin_bodies(bodies, motion, room, h, share):
    """Inertias, and what is known of the balances: momentum, gravity and wrenches, of which ``share`` acts."""
    for i in range(bodies.mass.shape[0]):
        vec.store9(room.inertia, i, vec.congruence(vec.load9(motion.poses.rotation, i), vec.load9(bodies.inertia, i)))
        known, wrench = vec.load6(motion.momentum, i), vec.load6(motion.wrench, i)
        force = vec.add(
            wrench[:3], vec.scale(bodies.mass[i], (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2]))
        )
        vec.store_twist(
            room.impulse,
            i,
            vec.add(known[:3], vec.scale(share * h, force)),
            vec.add(known[3:], vec.scale(share * h, wrench[3:])),
        )


@kernel
def place_next(motion, room):
    """The poses that the candidate's displacements lead to."""
    poses = motion.poses
    for i in range(poses.com.shape[0]):
        vec.store3(room.next.com, i, vec.add(vec.load3(poses.com, i), vec.load3(room.moved, i)))
        turned = vec.quat_normalized(vec.quat_mul(vec.load4(room.turn, i), vec.load4(poses.quaternion, i)))
        vec.store4(room.next.quaternion, i, turned)
        vec.store9(room.next.rotation, i, vec.quat_matrix(turned))


@kernel
def momentum_of(bodies, room, i, h):
    """(linear, angular) momentum of body i in the candidate."""
    J = vec.load9(room.inertia, i)
    return midpoint_momentum(MidpointBody(), bodies.mass[i], J, vec.load4(room.turn, i), vec.load3(room.moved, i), h)


@kernel
def set_balances(bodies, room, h):
    """What momentum and known impulses leave of (10) and (16), before joints and contacts; their size in all."""
    size = 0.0
    for i in range(bodies.mass.shape[0]):
        linear, angular = momentum_of(bodies, room, i, h)
        known = vec.load6(room.impulse, i)
        vec.store_twist(room.balance, i, vec.sub(linear, known[:3]), vec.sub(angular, known[3:]))
        for k in range(3):
            size += abs(linear[k]) + abs(known[k]) + abs(angular[k]) + abs(known[3 + k])
    return size


@kernel
def set_body_blocks(bodies, room, h):
    """The derivatives of the balances by a body's own displacement."""
    for i in range(bodies.mass.shape[0]):
        c, ux, uy, uz = vec.load4(room.turn, i)
        K = turn_derivative(vec.load9(room.inertia, i), c, (ux, uy, uz), h)
        for a in range(3):
            room.diagonal[i, a, a] = bodies.mass[i] / h
            room.magnitude[i, a] = bodies.mass[i] / h
        for a in range(9):
            room.diagonal[i, 3 + a // 3, 3 + a % 3] = K[a]
        for a in range(3):
            room.magnitude[i, 3 + a] = abs(K[4 * a])


@kernel
def inertia_times(bodies, poses, i, linear, angular):
    """Momentum of body i at velocities in world axes."""
    J = vec.congruence(vec.load9(poses.rotation, i), vec.load9(bodies.inertia, i))
    return vec.scale(bodies.mass[i], linear), vec.mat_vec(J, angular)


@routine
def rotations_at(poses):
    """`set_rotations` from Python."""
    set_rotations(poses)
