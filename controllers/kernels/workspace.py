"""Kernels of the recursive workspace controller (Wendlandt 1997, section 4.2), one per stage.

The thesis writes the recursions in the bodies' frames. Here all bodies share the reference point O, the
central body's centre of mass, and world axes: every Ad between links is then the identity, and twists,
wrenches and 6 x 6 inertias of different bodies can be added directly. The tests compare with an independent
implementation in the thesis's notation.
"""

from typing import NamedTuple

import numpy as np

from biped.kernels.loop.closed_loop import control
from biped.kernels.solve.dense import solve_cholesky
from biped.kernels.tree.dynamics import load_bias_forces
from biped.kernels.tree.factorization import eliminate, row_dot, solve_inboard, store_block, store_block_times
from biped.kernels.tree.kinematics import move_bodies
from contact import vectors as v
from contact.analytic import sqrt
from contact.arrays import Floats, Integers
from contact.piecewise import Signals, count_signals
from controllers.kernels.joint_pd import PdLaw, pd_torque
from controllers.kernels.set_point import desired_motion
from kernelcache import kernel

#: Nine numbers, row by row.
Matrix3 = tuple[float, ...]


class Gains(NamedTuple):
    """Gains and set point; gains are symmetric matrices, row by row."""

    kp_position: Matrix3  # [1/s²]
    kd_position: Matrix3  # [1/s]
    kp_orientation: Matrix3  # [1/s²]
    kd_orientation: Matrix3  # [1/s]
    target_position: tuple[float, float, float]  # [m]
    target_orientation: tuple[float, float, float, float]
    follows: float  # 1: the set point moves horizontally with the feet, 0: fixed in the world
    feet_at_home: tuple[float, float]  # [m] x and y of the feet's midpoint for ``target_position``
    big_base: float  # ratio of the feet's inertia in Algorithm 4.3 to the central body's inertia
    damping: float  # [1/kg, 1/(kg m²)] damping δ of the inverse of the central body's inertia


class Legs(NamedTuple):
    """Feet, and the leg of each body."""

    foot: Integers  # (legs,) body of each foot
    leg: Integers  # (n,) index of the foot that a body's joint leads to, or -1
    diagonal: Floats  # (nv,) [kg m²] armature added to each joint; infinite (locked) outside the legs


class Scratch(NamedTuple):
    """Buffers of a control tick."""

    gram: Floats  # (6, 6) G Gᵀ and its Cholesky factor
    multiplier: Floats  # (6,)
    wrench: Floats  # (6,) desired wrench on the central body, world axes, about O
    body_wrench: Floats  # (6,) in the central body's axes: F_1^bd of the thesis
    leg_wrench: Floats  # (legs, 6) share of each leg
    nothing: Floats  # (nv,) zeros


class WorkspaceLaw(NamedTuple):
    """Compiled controller."""

    gains: Gains
    path: Signals  # motion of the set point (``controllers.kernels.set_point``)
    legs: Legs
    servo: PdLaw  # holds the joints outside the legs
    scratch: Scratch


def new_scratch(legs: int, nv: int) -> Scratch:
    """Return the buffers for a model."""
    return Scratch(
        gram=np.full((6, 6), np.nan),
        multiplier=np.full(6, np.nan),
        wrench=np.full(6, np.nan),
        body_wrench=np.full(6, np.nan),
        leg_wrench=np.full((legs, 6), np.nan),
        nothing=np.zeros(nv),
    )


@control.register(WorkspaceLaw)
def workspace_torques(law, measurement, torque, recorded):
    """Write the torques of a tick; record the desired wrench."""
    gains, legs, scratch = law.gains, law.legs, law.scratch
    tree, motion = measurement.tree, measurement.motion
    desired = desired_motion(law.path, gains.target_position, gains.target_orientation, measurement.time[0])
    initialize_and_move(tree, motion)  # Algorithms 4.1 and 4.2
    workspace_dynamics(tree, gains.big_base, legs, motion, scratch)  # Algorithm 4.3
    desired_wrench(gains, desired, legs, measurement.q, motion, scratch)  # Algorithm 4.4
    distribute_wrench(legs, motion, scratch)  # Algorithm 4.5
    joint_torques(tree, legs, motion, scratch, torque)  # Algorithm 4.6
    servo_torques(tree, legs, law.servo, measurement, torque)
    record(law, desired, recorded)


@kernel
def record(law, desired, recorded):
    """Record the desired wrench and, for a moving set point, its position and orientation."""
    for k in range(6):
        recorded[k] = law.scratch.body_wrench[k]
    if count_signals(law.path) > 0:
        recorded[6], recorded[7], recorded[8] = desired.position
        recorded[9], recorded[10], recorded[11], recorded[12] = desired.orientation


@kernel
def initialize_and_move(tree, motion):
    """Compute velocities, velocity-dependent accelerations and bias forces of all bodies (Algorithms 4.1 and 4.2)."""
    move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    load_bias_forces(tree, motion, 1)


@kernel
def workspace_dynamics(tree, big_base, legs, motion, scratch):
    """Compute P_1 and z_1: inertia and bias force of the central body with the feet fixed (Algorithm 4.3).

    Joints outside the legs are held separately, and treated as locked.

    Results are in the block and the wrench of body 0. Bias forces include the velocity-dependent accelerations
    accumulated from the central body, so that a foot's z = 0 becomes P times that acceleration.
    """
    factors = motion.factors
    for i in range(tree.parent.shape[0]):
        com = v.load3(motion.poses.com, i)
        store_block(factors.block, i, tree.mass[i], com, com, v.load9(motion.inertia, i))
    big = v.mat_scale(big_base, v.load9(tree.inertia, 0))
    for leg in range(legs.foot.shape[0]):
        i = legs.foot[leg]
        com = v.load3(motion.poses.com, i)
        inertia = v.congruence(v.load9(motion.poses.rotation, i), big)
        store_block(factors.block, i, big_base * tree.mass[0], com, com, inertia)
        store_block_times(factors.block, i, v.load6(motion.acceleration, i), factors.wrench, i)
    s = motion.poses.motion
    eliminate(tree, s, s, legs.diagonal, factors, 1)
    solve_inboard(tree, s, scratch.nothing, factors, 1)


@kernel
def between_feet(legs, q, motion):
    """Return the midpoint of the feet's centres of mass and its velocity; needs ``motion.velocity``."""
    share = 1.0 / legs.foot.shape[0]
    place, moving = (q[0], q[1], q[2]), (0.0, 0.0, 0.0)
    for leg in range(legs.foot.shape[0]):
        i = legs.foot[leg]
        com, twist = v.load3(motion.poses.com, i), v.load6(motion.velocity, i)
        place = v.add(place, v.scale(share, com))
        moving = v.add(moving, v.scale(share, v.add(twist[:3], v.cross(twist[3:], com))))
    return place, moving


@kernel
def position_acceleration(gains, desired, legs, q, motion):
    """Return X_c of equations 4.12 to 4.14 in world axes, less ω × ṗ as the rate of a body's twist."""
    velocity = (motion.rates[0], motion.rates[1], motion.rates[2])
    omega = (motion.rates[3], motion.rates[4], motion.rates[5])
    error = v.sub((q[0], q[1], q[2]), desired.position)
    spin = v.cross(omega, velocity)
    if gains.follows != 0.0:
        moved, moving = between_feet(legs, q, motion)
        error = (error[0] - (moved[0] - gains.feet_at_home[0]), error[1] - (moved[1] - gains.feet_at_home[1]), error[2])
        velocity = (velocity[0] - moving[0], velocity[1] - moving[1], velocity[2])
    velocity = v.sub(velocity, desired.velocity)
    damped = v.sub(desired.acceleration, v.mat_vec(gains.kd_position, velocity))
    return v.sub(v.sub(damped, v.mat_vec(gains.kp_position, error)), spin)


@kernel
def orientation_acceleration(gains, desired, q, motion):
    """Return X_R of equation 4.24, with the error quaternion of equation 4.17 and ω_e of equation 4.20."""
    omega = (motion.rates[3], motion.rates[4], motion.rates[5])
    turn = v.quat_difference((q[3], q[4], q[5], q[6]), desired.orientation)
    Re = v.quat_matrix(turn)
    spin = v.mat_vec(Re, desired.spin)
    forward = v.add(v.mat_vec(Re, desired.spin_rate), v.cross(omega, spin))
    damped = v.sub(forward, v.mat_vec(gains.kd_orientation, v.sub(omega, spin)))
    return v.sub(damped, v.mat_vec(gains.kp_orientation, turn[1:]))


@kernel
def desired_wrench(gains, desired, legs, q, motion, scratch):
    """Compute F_1^bd = P_1 X + z_1 (Algorithm 4.4), about O in world axes; in the body's axes for the record."""
    linear = position_acceleration(gains, desired, legs, q, motion)
    X = linear + orientation_acceleration(gains, desired, q, motion)
    block, bias = motion.factors.block, motion.factors.wrench
    for axis in range(6):
        scratch.wrench[axis] = row_dot(block, 0, axis, X) + bias[0, axis]
    if gains.damping > 0.0:
        damp_wrench(block, gains.damping, scratch)
    R = v.load9(motion.poses.rotation, 0)
    force = v.mat_t_vec(R, (scratch.wrench[0], scratch.wrench[1], scratch.wrench[2]))
    moment = v.mat_t_vec(R, (scratch.wrench[3], scratch.wrench[4], scratch.wrench[5]))
    for axis in range(3):
        scratch.body_wrench[axis] = force[axis]
        scratch.body_wrench[3 + axis] = moment[axis]


@kernel
def damp_wrench(block, damping, scratch):
    """Damp the wrench, F ← (1 + (δ P_1)²)⁻¹ F: the damped inverse of the mobility P_1⁻¹ replaces P_1.

    With straight legs the mobility is singular: P_1 grows without bounds along them, and F with it, without
    effect. P_1 (1 + (δ P_1)²)⁻¹ has its maximum 1/(2 δ) at P_1 = 1/δ and fades beyond. (Damped
    least squares, Nakamura and Hanafusa 1986, of the operational-space inertia.)
    """
    gram = scratch.gram
    squared = damping * damping
    for row in range(6):
        for column in range(row + 1):
            gram[row, column] = 0.0
            for k in range(6):
                gram[row, column] += block[0, row, k] * block[0, k, column]
            gram[row, column] *= squared
        gram[row, row] += 1.0
    solve_symmetric6(gram, scratch.wrench)


@kernel
def distribute_wrench(legs, motion, scratch):
    """Compute the feet's wrenches of least norm that add up to the desired one (Algorithm 4.5, equation 4.29).

    With the foot's centre of mass at ρ, G = [1 0; ρ̂ 1] takes its wrench to O. G Gᵀ λ = F gives the foot
    force λ_f − ρ × λ_n and the foot moment λ_n, and about O the moment λ_n + ρ × force.
    """
    gram = scratch.gram
    gram[:] = 0.0
    for leg in range(legs.foot.shape[0]):
        add_gram(gram, v.load3(motion.poses.com, legs.foot[leg]))
    for axis in range(6):
        scratch.multiplier[axis] = scratch.wrench[axis]
    solve_symmetric6(gram, scratch.multiplier)
    m = scratch.multiplier
    for leg in range(legs.foot.shape[0]):
        arm = v.load3(motion.poses.com, legs.foot[leg])
        moment = (m[3], m[4], m[5])
        force = v.sub((m[0], m[1], m[2]), v.cross(arm, moment))
        v.store6(scratch.leg_wrench, leg, force + v.add(moment, v.cross(arm, force)))


@kernel
def add_gram(gram, arm):
    """Add [1 0; ρ̂ 1] [1 0; ρ̂ 1]ᵀ to the lower triangle of ``gram``."""
    x, y, z = arm
    for axis in range(6):
        gram[axis, axis] += 1.0
    gram[3, 1] -= z
    gram[3, 2] += y
    gram[4, 0] += z
    gram[4, 2] -= x
    gram[5, 0] -= y
    gram[5, 1] += x
    gram[3, 3] += y * y + z * z
    gram[4, 4] += x * x + z * z
    gram[5, 5] += x * x + y * y
    gram[4, 3] -= x * y
    gram[5, 3] -= x * z
    gram[5, 4] -= y * z


@kernel
def solve_symmetric6(gram, x):
    """Solve gram x = x in place by Cholesky; the lower triangle of ``gram`` becomes its factor."""
    for j in range(6):
        for k in range(j):
            gram[j, j] -= gram[j, k] * gram[j, k]
        gram[j, j] = sqrt(gram[j, j])
        for i in range(j + 1, 6):
            for k in range(j):
                gram[i, j] -= gram[i, k] * gram[j, k]
            gram[i, j] /= gram[j, j]
    solve_cholesky(gram, x)


@kernel
def joint_torques(tree, legs, motion, scratch, torque):
    """Write τ_k = −s_k · F̄_leg (Algorithm 4.6): links in equilibrium transmit the wrench unchanged."""
    for i in range(1, tree.parent.shape[0]):
        leg = legs.leg[i]
        if leg >= 0:
            for dof in range(tree.first_v[i], tree.first_v[i] + tree.dofs[i]):
                torque[dof] = -v.dot6(v.load6(motion.poses.motion, dof), v.load6(scratch.leg_wrench, leg))


@kernel
def servo_torques(tree, legs, servo, measurement, torque):
    """Add the servo torques of the joints outside the legs."""
    for i in range(1, tree.parent.shape[0]):
        if legs.leg[i] < 0:
            torque[tree.first_v[i]] = pd_torque(servo, measurement, tree.first_q[i], tree.first_v[i])
