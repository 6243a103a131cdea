"""Discrete equations of motion of a rigid body (Brüdigam et al. 2024, section 3.1, equations 10 to 17).

In a step a body moves by Δx and turns by the quaternion (c, u), with u = h ω/2 in world axes. Its linear momentum is
m Δx/h. Its angular momentum is c y + u × y with y = (2/h) J u and the inertia J at the start of the step: h/2 times the
terms of (16), and equal at both ends of the step. The unknowns of Newton's method are displacements of the poses at the
end of the step, which are h times the velocities to first order. The derivative of a constraint g(z₂) by these is its
gradient G(z₂).
"""

from biped.kernels.tree.joint_rows import set_rotations
from biped.kernels.variational.discrete_body import MidpointBody, midpoint_momentum, turn_derivative
from contact import vectors as v
from kernelcache import kernel, routine


@kernel
def begin_bodies(bodies, motion, buffers, h, share):
    """Set inertias and known impulses: of momentum, and of the ``share`` of gravity and wrenches that acts."""
    for i in range(bodies.mass.shape[0]):
        v.store9(buffers.inertia, i, v.congruence(v.load9(motion.poses.rotation, i), v.load9(bodies.inertia, i)))
        known, wrench = v.load6(motion.momentum, i), v.load6(motion.wrench, i)
        force = v.add(wrench[:3], v.scale(bodies.mass[i], (bodies.gravity[0], bodies.gravity[1], bodies.gravity[2])))
        v.store_twist(
            buffers.impulse,
            i,
            v.add(known[:3], v.scale(share * h, force)),
            v.add(known[3:], v.scale(share * h, wrench[3:])),
        )


@kernel
def place_next(motion, buffers):
    """Compute the poses after the candidate's displacements."""
    poses = motion.poses
    for i in range(poses.com.shape[0]):
        v.store3(buffers.next.com, i, v.add(v.load3(poses.com, i), v.load3(buffers.moved, i)))
        turned = v.quat_normalized(v.quat_mul(v.load4(buffers.turn, i), v.load4(poses.quaternion, i)))
        v.store4(buffers.next.quaternion, i, turned)
        v.store9(buffers.next.rotation, i, v.quat_matrix(turned))


@kernel
def momentum_of(bodies, buffers, i, h):
    """Return linear and angular momentum of body i for the candidate's displacements."""
    J = v.load9(buffers.inertia, i)
    return midpoint_momentum(MidpointBody(), bodies.mass[i], J, v.load4(buffers.turn, i), v.load3(buffers.moved, i), h)


@kernel
def set_balances(bodies, buffers, h):
    """Set the balances (10) and (16) from momenta and known impulses; return the sum of their magnitudes."""
    size = 0.0
    for i in range(bodies.mass.shape[0]):
        linear, angular = momentum_of(bodies, buffers, i, h)
        known = v.load6(buffers.impulse, i)
        v.store_twist(buffers.balance, i, v.sub(linear, known[:3]), v.sub(angular, known[3:]))
        for k in range(3):
            size += abs(linear[k]) + abs(known[k]) + abs(angular[k]) + abs(known[3 + k])
    return size


@kernel
def set_body_blocks(bodies, buffers, h):
    """Set the derivatives of each body's balance by its own displacement."""
    for i in range(bodies.mass.shape[0]):
        c, ux, uy, uz = v.load4(buffers.turn, i)
        K = turn_derivative(v.load9(buffers.inertia, i), c, (ux, uy, uz), h)
        for a in range(3):
            buffers.diagonal[i, a, a] = bodies.mass[i] / h
            buffers.magnitude[i, a] = bodies.mass[i] / h
        for a in range(9):
            buffers.diagonal[i, 3 + a // 3, 3 + a % 3] = K[a]
        for a in range(3):
            buffers.magnitude[i, 3 + a] = abs(K[4 * a])


@kernel
def inertia_times(bodies, poses, i, linear, angular):
    """Return linear and angular momentum of body i for its velocities in world axes."""
    J = v.congruence(v.load9(poses.rotation, i), v.load9(bodies.inertia, i))
    return v.scale(bodies.mass[i], linear), v.mat_vec(J, angular)


@routine
def rotations_at(poses):
    """Set the rotation matrices from the quaternions; an entry from Python for `set_rotations`."""
    set_rotations(poses)
