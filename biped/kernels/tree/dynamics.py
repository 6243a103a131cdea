"""Inverse and forward dynamics in continuous time: Algorithms 3.2 and 3.3 of Wendlandt 1997.

Wrenches and twists are about the reference point O of ``biped.kernels.tree.kinematics``, in world axes.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.tree import factorization
from biped.kernels.tree.kinematics import Poses, joint_twist, move_bodies, new_poses, place_bodies
from contact import vectors as vec
from contact.arrays import Floats
from kernelcache import kernel, routine


class TreeData(NamedTuple):
    """The tree in motion: poses, twists and inertias of the bodies, and buffers of the recursions."""

    poses: Poses
    inertia: Floats  # (n, 9) [kg m²] about each centre of mass, world axes
    velocity: Floats  # (n, 6)
    bias: Floats  # (n, 6) a_k of equation 3.11
    acceleration: Floats  # (n, 6)
    rates: Floats  # (nv,) β
    factors: factorization.Factors
    response: Floats  # (nv,) change of β by an impulse
    nothing: Floats  # (nv,) zeros, for solves without a load


def new_tree_data(n: int, nv: int, nc: int) -> TreeData:
    """Return data for a tree in motion, filled with NaN."""
    return TreeData(
        poses=new_poses(n, nv, nc), inertia=np.full((n, 9), np.nan), velocity=np.full((n, 6), np.nan),
        bias=np.full((n, 6), np.nan), acceleration=np.full((n, 6), np.nan), rates=np.full(nv, np.nan),
        factors=factorization.new_factors(n, nv), response=np.full(nv, np.nan), nothing=np.zeros(nv),
    )  # fmt: skip


@kernel
def turn_inertias(tree, poses, inertia):
    """Write the bodies' inertias in world axes, R J Rᵀ."""
    for i in range(tree.parent.shape[0]):
        vec.store9(inertia, i, vec.congruence(vec.load9(poses.rotation, i), vec.load9(tree.inertia, i)))


@kernel
def load_body_blocks(tree, motion, block):
    """Write the bodies' spatial inertias about O to ``block``; needs poses and inertias."""
    for i in range(tree.parent.shape[0]):
        com = vec.load3(motion.poses.com, i)
        factorization.store_block(block, i, tree.mass[i], com, com, vec.load9(motion.inertia, i))


@kernel
def load_composite_blocks(tree, motion):
    """Write to ``factors.block`` the spatial inertias of each body and all bodies outboard of it, summed."""
    load_body_blocks(tree, motion, motion.factors.block)
    for i in range(tree.parent.shape[0] - 1, 0, -1):
        if tree.parent[i] >= 0:
            factorization.add_block(motion.factors.block, tree.parent[i], i)


@kernel
def factor_mass_matrix(tree, motion, outermost):
    """Compute the articulated-body inertias (inboard loop of Algorithm 3.3); needs poses and inertias."""
    load_body_blocks(tree, motion, motion.factors.block)
    factorization.eliminate(tree, motion.poses.motion, motion.poses.motion, tree.armature, motion.factors, outermost)


@kernel
def rates_from_momentum(tree, momentum, motion):
    """Write β = M(q)⁻¹ p to ``motion.rates`` in O(n); needs poses and inertias, and leaves M factored."""
    factor_mass_matrix(tree, motion, 0)
    factorization.solve(tree, motion.poses.motion, motion.poses.motion, momentum, motion.factors, motion.rates)


@kernel
def body_bias(tree, motion, i, acceleration):
    """Return the wrench required by body i: −F + M V̇ + Ω M V (equations 3.15 and 3.18), with gravity as F."""
    com = vec.load3(motion.poses.com, i)
    J = vec.load9(motion.inertia, i)
    velocity = vec.load6(motion.velocity, i)
    omega, alpha = velocity[3:], acceleration[3:]
    com_velocity = vec.add(velocity[:3], vec.cross(omega, com))
    com_acceleration = vec.add(vec.add(acceleration[:3], vec.cross(alpha, com)), vec.cross(omega, com_velocity))
    force = vec.scale(tree.mass[i], vec.sub(com_acceleration, vec.triple(tree.gravity)))
    moment = vec.add(vec.mat_vec(J, alpha), vec.cross(omega, vec.mat_vec(J, omega)))
    return force + vec.add(moment, vec.cross(com, force))


@kernel
def load_bias_forces(tree, motion, outermost):
    """Write the wrench of every body without joint accelerations to ``factors.wrench``.

    Needs poses, inertias, velocities and drifts. The drifts are summed outboard, so that only the accelerations of
    the joints (and of the root, for ``outermost`` 1) are left out.
    """
    for i in range(tree.parent.shape[0]):
        parent = tree.parent[i]
        acceleration = vec.load6(motion.bias, i)
        if i < outermost:
            acceleration = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        if parent >= 0:
            acceleration = vec.add6(vec.load6(motion.acceleration, parent), acceleration)
        vec.store6(motion.acceleration, i, acceleration)
        vec.store6(motion.factors.wrench, i, body_bias(tree, motion, i, acceleration))


@kernel
def take_off(wrench, i, arm, force):
    """Subtract a force on body i at ``arm`` from O from the wrench that the joints must exert."""
    moment = vec.cross(arm, force)
    for axis in range(3):
        wrench[i, axis] -= force[axis]
        wrench[i, 3 + axis] -= moment[axis]


@routine
def set_tree_data(tree, q, rates, motion):
    """Set poses, inertias, velocities and drifts of the state (q, β)."""
    place_bodies(tree, q, motion.poses)
    turn_inertias(tree, motion.poses, motion.inertia)
    vec.copy1(rates, motion.rates)
    move_bodies(tree, motion.poses, rates, motion.velocity, motion.bias)


@routine
def accelerate_tree(tree, motion, accelerations):
    """Call ``accelerate_bodies`` from Python."""
    accelerate_bodies(tree, motion, accelerations)


@kernel
def accelerate_bodies(tree, motion, accelerations):
    """Set the rates of change of the bodies' twists at O (equation 3.10); needs poses and drifts."""
    for i in range(tree.parent.shape[0]):
        acceleration = vec.add6(vec.load6(motion.bias, i), joint_twist(tree, motion.poses, accelerations, i))
        parent = tree.parent[i]
        if parent >= 0:
            acceleration = vec.add6(vec.load6(motion.acceleration, parent), acceleration)
        vec.store6(motion.acceleration, i, acceleration)


@routine
def inverse_dynamics(tree, q, rates, accelerations, external, motion, torque):
    """Set the generalized forces τ = M β̇ + C (Algorithm 3.2); external (n, 6): wrenches about the centres of mass."""
    set_tree_data(tree, q, rates, motion)
    accelerate_bodies(tree, motion, accelerations)
    wrench = motion.factors.wrench
    for i in range(tree.parent.shape[0]):
        vec.store6(wrench, i, body_bias(tree, motion, i, vec.load6(motion.acceleration, i)))
    subtract_external(tree, motion, external)
    project_wrenches(tree, motion, torque)
    for dof in range(torque.shape[0]):
        torque[dof] += tree.armature[dof] * accelerations[dof]


@kernel
def project_wrenches(tree, motion, torque):
    """Set the generalized forces of ``factors.wrench``: a joint carries the wrenches of all bodies outboard of it."""
    wrench = motion.factors.wrench
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        b = vec.load6(wrench, i)
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            torque[dof] = vec.dot6(vec.load6(motion.poses.motion, dof), b)
        parent = tree.parent[i]
        if parent >= 0:
            vec.store6(wrench, parent, vec.add6(vec.load6(wrench, parent), b))


@kernel
def subtract_external(tree, motion, external):
    """Subtract external wrenches (about the centres of mass) from the wrenches that the joints must exert."""
    wrench = motion.factors.wrench
    for i in range(tree.parent.shape[0]):
        force = vec.load3(external, i)
        moment = (external[i, 3], external[i, 4], external[i, 5])
        moment = vec.add(moment, vec.cross(vec.load3(motion.poses.com, i), force))
        b = vec.load6(wrench, i)
        vec.store_twist(wrench, i, vec.sub(b[:3], force), vec.sub(b[3:], moment))


@routine
def forward_dynamics(tree, q, rates, torque, external, motion, accelerations):
    """Set β̇ = M⁻¹(τ − C) in O(n) (Algorithm 3.3)."""
    set_tree_data(tree, q, rates, motion)
    factor_mass_matrix(tree, motion, 0)
    load_bias_forces(tree, motion, 0)
    subtract_external(tree, motion, external)
    factorization.solve_inboard(tree, motion.poses.motion, torque, motion.factors, 0)
    factorization.solve_outboard(tree, motion.poses.motion, motion.factors, accelerations)


@routine
def mass_matrix(tree, q, motion, result):
    """Set M(q), (nv, nv), from composite-body inertias."""
    place_bodies(tree, q, motion.poses)
    turn_inertias(tree, motion.poses, motion.inertia)
    compose_mass_matrix(tree, motion, result)


@routine
def compose_mass_matrix(tree, motion, result):
    """Set M, (nv, nv), from known poses and inertias."""
    load_composite_blocks(tree, motion)
    block = motion.factors.block
    s = motion.poses.motion
    result[:] = 0.0
    for i in range(tree.parent.shape[0] - 1, -1, -1):
        for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
            factorization.store_block_times(block, i, vec.load6(s, dof), motion.factors.u, dof)
            momentum = vec.load6(motion.factors.u, dof)
            j = i
            while j >= 0:
                for other in range(tree.first_v[j], tree.first_v[j] + tree.dofs[j]):
                    result[dof, other] = vec.dot6(vec.load6(s, other), momentum)
                    result[other, dof] = result[dof, other]
                j = tree.parent[j]
            result[dof, dof] += tree.armature[dof]


@kernel
def spatial_momentum(tree, poses, motion, i):
    """Return linear [N·s] and, about O, angular momentum [N·m·s] of body i, from inertia and twist in ``motion``."""
    twist, com = vec.load6(motion.velocity, i), vec.load3(poses.com, i)
    linear = vec.scale(tree.mass[i], vec.add(twist[:3], vec.cross(twist[3:], com)))
    return linear, vec.add(vec.mat_vec(vec.load9(motion.inertia, i), twist[3:]), vec.cross(com, linear))


@routine
def momentum_about_reference(tree, motion):
    """Return linear momentum [N·s] and angular momentum about O [N·m·s]; needs poses, inertias and velocities."""
    total_linear = total_angular = (0.0, 0.0, 0.0)
    for i in range(tree.parent.shape[0]):
        linear, angular = spatial_momentum(tree, motion.poses, motion, i)
        total_linear, total_angular = vec.add(total_linear, linear), vec.add(total_angular, angular)
    return total_linear, total_angular


@routine
def kinetic_energy(tree, motion):
    """Return ½ Σ (m v² + ω · J ω), rotors included, [J]; needs poses, inertias, velocities and rates."""
    energy = 0.0
    for i in range(tree.parent.shape[0]):
        velocity = vec.load6(motion.velocity, i)
        omega = velocity[3:]
        v = vec.add(velocity[:3], vec.cross(omega, vec.load3(motion.poses.com, i)))
        energy += 0.5 * (
            tree.mass[i] * vec.dot(v, v) + vec.dot(omega, vec.mat_vec(vec.load9(motion.inertia, i), omega))
        )
    for dof in range(tree.armature.shape[0]):
        energy += 0.5 * tree.armature[dof] * motion.rates[dof] * motion.rates[dof]
    return energy


@routine
def centre_of_mass(tree, poses):
    """Return the whole tree's centre of mass relative to O [m]."""
    total = 0.0
    weighted = (0.0, 0.0, 0.0)
    for i in range(tree.parent.shape[0]):
        total += tree.mass[i]
        weighted = vec.add(weighted, vec.scale(tree.mass[i], vec.load3(poses.com, i)))
    return vec.scale(1.0 / total, weighted)


@routine
def potential_energy(tree, poses, origin):
    """Return −Σ m g · x [J]; origin is the position (3,) of O."""
    com = vec.add(centre_of_mass(tree, poses), origin)
    total = 0.0
    for i in range(tree.parent.shape[0]):
        total += tree.mass[i]
    return -total * vec.dot(vec.triple(tree.gravity), com)
