"""Quantities of whole-body control: Jacobians, biases, the centroidal map, and solves with the mass matrix.

Everything is in world axes; a point is an ``arm`` from the reference point O of ``biped.kernels.tree.kinematics``. All
functions need the poses and inertias of a ``TreeData``, which a law has in ``measurement.motion``; velocities and
biases need ``drift`` first. The centroidal map and the forces overwrite a factorization in ``motion.factors``.
"""

from biped.kernels.tree import dynamics
from biped.kernels.tree.factorization import solve, store_block_times
from biped.kernels.tree.kinematics import move_bodies
from contact.vectors import add, cross, load3, load6, scale, store6, sub, triple
from kernelcache import routine


@routine
def drift(tree, motion):
    """Set the bodies' velocities, and their accelerations at constant rates, J̇ v, as twists at O."""
    move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    dynamics.accelerate_bodies(tree, motion, motion.nothing)


@routine
def point_jacobian(tree, poses, i, arm, jacobian):
    """Set J (6, nv) of body i: J v is the velocity of its point at ``arm``, and its angular velocity."""
    jacobian[:] = 0.0
    j = i
    while j >= 0:
        for dof in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
            s = load6(poses.motion, dof)
            linear = add(s[:3], cross(s[3:], arm))
            for axis in range(3):
                jacobian[axis, dof] = linear[axis]
                jacobian[3 + axis, dof] = s[3 + axis]
        j = tree.parent[j]


@routine
def velocity_at(motion, i, arm):
    """Return J v of the point of body i at ``arm`` [m/s, rad/s]; needs ``drift``."""
    twist = load6(motion.velocity, i)
    return add(twist[:3], cross(twist[3:], arm)) + twist[3:]


@routine
def bias_at(motion, i, arm):
    """Return J̇ v of the point of body i at ``arm`` [m/s², rad/s²], its acceleration at constant rates; needs ``drift``.

    It is the acceleration of the material point, with ω × ṗ, as an accelerometer without gravity would measure it.
    """
    twist = load6(motion.velocity, i)
    change = load6(motion.acceleration, i)
    moving = add(twist[:3], cross(twist[3:], arm))
    linear = add(add(change[:3], cross(change[3:], arm)), cross(twist[3:], moving))
    return linear + change[3:]


@routine
def centroidal_map(tree, motion, result):
    """Set A (6, nv): (linear momentum, angular momentum about the centre of mass) = A v (Orin, Goswami and Lee 2013).

    It uses composite-body inertias, in O(n). Its first rows over the total mass are the Jacobian of the centre of mass.
    """
    block, buffers = motion.factors.block, motion.factors.u
    dynamics.load_composite_blocks(tree, motion)
    com = dynamics.centre_of_mass(tree, motion.poses)
    for i in range(tree.parent.shape[0]):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            store_block_times(block, i, load6(motion.poses.motion, dof), buffers, dof)
            momentum = load6(buffers, dof)
            angular = sub(momentum[3:], cross(com, momentum[:3]))
            for axis in range(3):
                result[axis, dof] = momentum[axis]
                result[3 + axis, dof] = angular[axis]


@routine
def centroidal_bias(tree, motion):
    """Return Ȧ v of the centroidal map [N, N·m], the rates of the momenta at constant rates; needs ``drift``."""
    force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    mass = 0.0
    for i in range(tree.parent.shape[0]):
        wrench = dynamics.body_bias(tree, motion, i, load6(motion.acceleration, i))
        force, moment = add(force, wrench[:3]), add(moment, wrench[3:])
        mass += tree.mass[i]
    moment = sub(moment, cross(dynamics.centre_of_mass(tree, motion.poses), force))
    return add(force, scale(mass, triple(tree.gravity))) + moment


@routine
def bias_forces(tree, motion, torque):
    """Set C(q, v) v + g(q), (nv,), the forces that keep the rates constant, gravity included; needs ``drift``."""
    for i in range(tree.parent.shape[0]):
        store6(motion.factors.wrench, i, dynamics.body_bias(tree, motion, i, load6(motion.acceleration, i)))
    dynamics.project_wrenches(tree, motion, torque)


@routine
def gravity_forces(tree, motion, torque):
    """Set g(q), (nv,), the forces that hold the tree at rest against gravity."""
    for i in range(tree.parent.shape[0]):
        force = scale(-tree.mass[i], triple(tree.gravity))
        store6(motion.factors.wrench, i, force + cross(load3(motion.poses.com, i), force))
    dynamics.project_wrenches(tree, motion, torque)


@routine
def factorize(tree, motion):
    """Factor M = L D Lᵀ in O(n), as articulated-body inertias in ``motion.factors``, for ``solve_factored``."""
    dynamics.factor_mass_matrix(tree, motion, 0)


@routine
def solve_factored(tree, motion, load, solution):
    """Set ``solution`` to M⁻¹ ``load`` (nv,) in O(n); needs ``factorize``."""
    solve(tree, motion.poses.motion, motion.poses.motion, load, motion.factors, solution)
