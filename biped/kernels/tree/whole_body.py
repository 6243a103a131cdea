"""What whole-body laws are made of: Jacobians, their biases, the centroidal map, and solves with the mass matrix.

Everything is in world axes; a place is an ``arm`` from the reference point O of ``biped.kernels.tree.kinematics``. All
need the poses and inertias of a ``TreeData``, which a law has in ``measurement.motion``; velocities and biases need
``drift`` first. ``motion.factors`` is their room: the centroidal map and the forces undo a factorization.
"""

from biped.kernels.tree import dynamics
from biped.kernels.tree.factorization import solve, store_block_times
from biped.kernels.tree.kinematics import move_bodies
from contact.vectors import add, cross, load3, load6, scale, store6, sub, triple
from kernelcache import routine


@routine
def drift(tree, motion):
    """The bodies' velocities, and their accelerations while the rates do not change: J̇ v, as twists at O."""
    move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    dynamics.accelerate_bodies(tree, motion, motion.nothing)


@routine
def point_jacobian(tree, poses, i, arm, jacobian):
    """(6, nv) J of body i: J v is the velocity of its point at ``arm``, and its angular velocity."""
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
    """J v of the same point [m/s, rad/s]; needs ``drift``."""
    twist = load6(motion.velocity, i)
    return add(twist[:3], cross(twist[3:], arm)) + twist[3:]


@routine
def bias_at(motion, i, arm):
    """J̇ v of the same point [m/s², rad/s²], its acceleration while the rates do not change; needs ``drift``.

    It is that of the point of the body, ω × ṗ included, as an accelerometer there would have it but for gravity.
    """
    twist = load6(motion.velocity, i)
    change = load6(motion.acceleration, i)
    moving = add(twist[:3], cross(twist[3:], arm))
    linear = add(add(change[:3], cross(change[3:], arm)), cross(twist[3:], moving))
    return linear + change[3:]


@routine
def centroidal_map(tree, motion, result):
    """(6, nv) A of (linear momentum, angular momentum about the centre of mass) = A v (Orin, Goswami and Lee 2013).

    From composite-body inertias, in O(n). Its first rows over the total mass are the Jacobian of the centre of mass.
    """
    block, room = motion.factors.block, motion.factors.u
    dynamics.load_composite_blocks(tree, motion)
    com = dynamics.centre_of_mass(tree, motion.poses)
    for i in range(tree.parent.shape[0]):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            store_block_times(block, i, load6(motion.poses.motion, dof), room, dof)
            momentum = load6(room, dof)
            angular = sub(momentum[3:], cross(com, momentum[:3]))
            for axis in range(3):
                result[axis, dof] = momentum[axis]
                result[3 + axis, dof] = angular[axis]


@routine
def centroidal_bias(tree, motion):
    """Ȧ v of the same map [N, N·m]: what changes the momenta while the rates do not change; needs ``drift``."""
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
    """(nv,) C(q, v) v + g(q): what holds the rates as they are, gravity included; needs ``drift``."""
    for i in range(tree.parent.shape[0]):
        store6(motion.factors.wrench, i, dynamics.body_bias(tree, motion, i, load6(motion.acceleration, i)))
    dynamics.project_wrenches(tree, motion, torque)


@routine
def gravity_forces(tree, motion, torque):
    """(nv,) g(q): what holds the tree at rest against gravity."""
    for i in range(tree.parent.shape[0]):
        force = scale(-tree.mass[i], triple(tree.gravity))
        store6(motion.factors.wrench, i, force + cross(load3(motion.poses.com, i), force))
    dynamics.project_wrenches(tree, motion, torque)


@routine
def factorize(tree, motion):
    """M = L D Lᵀ in O(n), as articulated-body inertias in ``motion.factors``, for any number of ``solve_factored``."""
    dynamics.factor_mass_matrix(tree, motion, 0)


@routine
def solve_factored(tree, motion, load, solution):
    """M⁻¹ ``load`` (nv,) in O(n); needs ``factorize``."""
    solve(tree, motion.poses.motion, motion.poses.motion, load, motion.factors, solution)
