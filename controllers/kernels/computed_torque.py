"""Kernels of computed torque in joint space (Wendlandt 1997, appendix A.9)."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from biped.kernels.tree.dynamics import accelerate_bodies, body_bias, load_composite_blocks, project_wrenches, take_off
from biped.kernels.tree.kinematics import move_bodies
from biped.kernels.tree.tree import FLOATING
from contact.arrays import Floats, Integers
from contact.piecewise import Signals, signal_motion
from contact.vectors import load3, load6, store6
from controllers.kernels.workspace import solve_symmetric6
from kernelcache import kernel


class ComputedTorqueLaw(NamedTuple):
    """Parameters and buffers of the controller, for j joints with one degree of freedom."""

    coordinate: Integers  # (j,) index of each joint in a configuration
    dof: Integers  # (j,) index in a velocity
    kp: Floats  # (j, j) K_p [1/s²]
    kd: Floats  # (j, j) K_v [1/s]
    target: Floats  # (j,) [rad or m]
    path: Signals  # (j) [rad or m] displacements of the targets over time
    error: Floats  # (j,) buffer
    error_rate: Floats  # (j,)
    acceleration: Floats  # (nv,)
    gram: Floats  # (6, 6)
    root: Floats  # (6,)


@control.register(ComputedTorqueLaw)
def computed_torque(law, measurement, torque, recorded):
    """Compute the torques τ = M (θ̈_d − K_v ė − K_p e) + C θ̇ + N.

    A floating root is not actuated: its acceleration follows from the joints' (partial feedback linearization, Spong
    1994) and the ground reaction forces of the last step.
    """
    tree, motion = measurement.tree, measurement.motion
    joint_accelerations(law, measurement)
    move_bodies(tree, motion.poses, motion.rates, motion.velocity, motion.bias)
    generalized_forces(law, measurement, torque)
    if tree.kind[0] == FLOATING:
        root_acceleration(law, tree, motion, torque)
        generalized_forces(law, measurement, torque)


@kernel
def joint_accelerations(law, measurement):
    """Write θ̈_d − K_v ė − K_p e to ``law.acceleration``; zero for other degrees of freedom."""
    law.acceleration[:] = 0.0
    count, t = law.dof.shape[0], measurement.time[0]
    for j in range(count):
        displacement, rate, acceleration = signal_motion(law.path, j, t)
        law.error[j] = measurement.q[law.coordinate[j]] - (law.target[j] + displacement)
        law.error_rate[j] = measurement.motion.rates[law.dof[j]] - rate
        law.acceleration[law.dof[j]] = acceleration
    for j in range(count):
        fed_back = 0.0
        for k in range(count):
            fed_back += law.kd[j, k] * law.error_rate[k] + law.kp[j, k] * law.error[k]
        law.acceleration[law.dof[j]] -= fed_back


@kernel
def generalized_forces(law, measurement, torque):
    """Compute M β̇ + C − Jᵀ F (Algorithm 3.2) for β̇ = ``law.acceleration`` and ground reaction forces F."""
    tree, motion = measurement.tree, measurement.motion
    accelerate_bodies(tree, motion, law.acceleration)
    wrench = motion.factors.wrench
    for i in range(tree.parent.shape[0]):
        store6(wrench, i, body_bias(tree, motion, i, load6(motion.acceleration, i)))
    for c in range(tree.contact_body.shape[0]):
        take_off(wrench, tree.contact_body[c], load3(motion.poses.contact, c), load3(measurement.force, c))
    project_wrenches(tree, motion, torque)
    for dof in range(torque.shape[0]):
        torque[dof] += tree.armature[dof] * law.acceleration[dof]


@kernel
def root_acceleration(law, tree, motion, missing):
    """Set the root's acceleration for which no wrench acts on it; ``missing`` is that wrench at zero acceleration."""
    load_composite_blocks(tree, motion)
    for row in range(6):
        law.root[row] = -missing[row]
        for column in range(row + 1):
            law.gram[row, column] = motion.factors.block[0, row, column]
    solve_symmetric6(law.gram, law.root)
    for row in range(6):
        law.acceleration[row] = law.root[row]
