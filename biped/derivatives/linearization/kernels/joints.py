"""The derivatives of the torques in joints of one degree of freedom: actuators, bearings, stops, rotors."""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.tree import tree as trees
from biped.kernels.variational import joints as joint_forces
from contact.arrays import Floats
from kernelcache import kernel


class JointDerivatives(NamedTuple):
    """Derivatives, by degree of freedom, of the joint torques by the positions at the two ends of a step."""

    given: Floats  # (nv,) 1, or 0 for an actuator at its limit: ∂(actuator torque)/∂τ
    diagonal: Floats  # (nv,) diagonal terms of Newton's matrix
    start_residual: Floats  # (nv,) diagonal terms of ∂e/∂q_k
    start_momentum: Floats  # (nv,) diagonal terms of ∂p'/∂q_k
    end_momentum: Floats  # (nv,) diagonal terms of ∂p'/∂q_{k+1}
    switch: Floats  # (nv, JOINT_SWITCHES) quantities that vanish at kinks; infinite without a kink


def new_joint_derivatives(nv: int) -> JointDerivatives:
    """Return derivatives for the joints of a tree."""
    z = np.zeros
    switch = np.full((nv, joint_forces.JOINT_SWITCHES), np.inf)
    return JointDerivatives(z(nv), z(nv), z(nv), z(nv), z(nv), switch)


@kernel
def differentiate_joints(tree, state, scratch, joints, step, h):
    """Fill ``joints`` for the solved step.

    Bearings and stops are symmetric under time reversal: the derivative by the start of a displacement is that by the
    end of the reversed displacement in −h.
    """
    for dof in range(joints.given.shape[0]):
        joints.given[dof] = 1.0
        joints.diagonal[dof] = joints.start_residual[dof] = 0.0
        joints.start_momentum[dof] = joints.end_momentum[dof] = 0.0
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] > 1:
            continue
        dof, a = tree.first_v[i], tree.first_q[i]
        begin, end = state.q[a], scratch.q[a]
        by_start = -0.5 * state.stiffness[dof] + state.damping[dof] / h
        by_end = -0.5 * state.stiffness[dof] - state.damping[dof] / h
        if tree.passive.shape[0] > 0:
            torque = joint_forces.commanded_torque(state, scratch, h, a, dof)
            given, _, slope = joint_forces.limited_torque(tree.passive, i, torque, begin, end, h)
            back = joint_forces.limited_torque(tree.passive, i, torque, end, begin, -h)
            store_joint_switches(tree.passive, i, torque, begin, end, h, step, joints.switch[dof])
            if given != torque:
                joints.given[dof] = by_start = by_end = 0.0
            by_start += back[2]
            by_end += slope
        rotor = tree.armature[dof] / h
        joints.diagonal[dof] = rotor - 0.5 * h * by_end
        joints.start_residual[dof] = 0.5 * h * by_start + rotor
        joints.start_momentum[dof] = 0.5 * h * by_start - rotor
        joints.end_momentum[dof] = 0.5 * h * by_end + rotor


@kernel
def store_joint_switches(passive, i, commanded, begin, end, h, step, switch):
    """Set the values of all switches; those of a step's start, the end of the step before, in the first step only."""
    rate, upper, lower = abs(end - begin) / abs(h), passive[i, trees.UPPER], passive[i, trees.LOWER]
    for k in range(joint_forces.JOINT_SWITCHES):
        switch[k] = math.inf
    stiffness, damping = passive[i, trees.STOP_STIFFNESS], passive[i, trees.STOP_DAMPING]
    store_stop_switches(stiffness, damping, begin - upper, end - upper, h, step, switch[joint_forces.UPPER_BEGIN :])
    store_stop_switches(stiffness, damping, lower - begin, lower - end, h, step, switch[joint_forces.LOWER_BEGIN :])
    if passive[i, trees.SPEED_DAMPING] != 0.0:
        switch[joint_forces.TOO_FAST] = rate - passive[i, trees.MAX_SPEED]
    switch[joint_forces.EFFORT] = max(
        commanded - passive[i, trees.MAX_EFFORT], passive[i, trees.MIN_EFFORT] - commanded
    )


@kernel
def store_stop_switches(stiffness, damping, begin, end, h, step, switch):
    """Set the switches of a stop for a displacement in it.

    Without a damper, or if the damper cancels the force, the force of the stop is smooth where contact begins.
    """
    first, last = max(begin, 0.0), max(end, 0.0)
    pressure = joint_forces.stop_pressure(stiffness, damping, first, last, end - begin, h)
    if begin > 0.0 or end > 0.0:
        switch[joint_forces.UPPER_PRESSURE] = pressure
    if damping != 0.0 and pressure > 0.0:
        if step == 0:
            switch[joint_forces.UPPER_BEGIN] = begin
        switch[joint_forces.UPPER_END] = end
