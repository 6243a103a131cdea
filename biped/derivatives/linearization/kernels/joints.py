"""The derivative of what acts in joints of one degree of freedom: actuators, bearings, stops, rotors."""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.tree import tree as trees
from biped.kernels.variational import joints as joint_forces
from contact.arrays import Floats
from kernelcache import kernel


class JointDerivatives(NamedTuple):
    """Of each degree of freedom: what acts along it depends on its positions at the two ends of a step."""

    given: Floats  # (nv,) 1, or 0 where an actuator is at its limit: ∂(what it gives)/∂τ
    diagonal: Floats  # (nv,) of Newton's matrix
    start_residual: Floats  # (nv,) of ∂e/∂q_k
    start_momentum: Floats  # (nv,) of ∂p'/∂q_k
    end_momentum: Floats  # (nv,) of ∂p'/∂q_{k+1}
    switch: Floats  # (nv, JOINT_SWITCHES) what vanishes where there is a kink; infinite where there is none


def new_joint_derivatives(nv: int) -> JointDerivatives:
    """Room for the joints of a tree."""
    z = np.zeros
    switch = np.full((nv, joint_forces.JOINT_SWITCHES), np.inf)
    return JointDerivatives(z(nv), z(nv), z(nv), z(nv), z(nv), switch)


@kernel
def differentiate_joints(tree, state, scratch, joints, step, h):
    """Fill ``joints`` for the step that has been solved.

    Bearings and stops are as they are with time reversed: the derivative by the start of a way is that by the end of
    the way back, taken in −h.
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
    """What vanishes at each switch. Where a step begins is where the last ended: it counts in the first step alone."""
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
    """Those of a stop, for a way in it.

    Without a damper, or where that keeps the stop from pressing, its force is smooth where it is touched.
    """
    first, last = max(begin, 0.0), max(end, 0.0)
    pressure = joint_forces.stop_pressure(stiffness, damping, first, last, end - begin, h)
    if begin > 0.0 or end > 0.0:
        switch[joint_forces.UPPER_PRESSURE] = pressure
    if damping != 0.0 and pressure > 0.0:
        if step == 0:
            switch[joint_forces.UPPER_BEGIN] = begin
        switch[joint_forces.UPPER_END] = end
