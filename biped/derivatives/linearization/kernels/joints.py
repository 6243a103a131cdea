"""The derivative of what acts in joints of one degree of freedom: actuators, bearings, stops, rotors."""

import math
from typing import NamedTuple

import numpy as np

from biped.derivatives.linearization.kernels.points import TURNED, TURNED_PLACE, TURNED_STEP, TURNED_SWITCH
from biped.kernels.tree.tree import (
    LOWER,
    MAX_EFFORT,
    MAX_SPEED,
    MIN_EFFORT,
    SPEED_DAMPING,
    STOP_DAMPING,
    STOP_STIFFNESS,
    UPPER,
)
from biped.kernels.variational.joints import (
    EFFORT,
    JOINT_SWITCHES,
    LOWER_BEGIN,
    LOWER_END,
    NOT_TURNED,
    TOO_FAST,
    UPPER_BEGIN,
    UPPER_END,
    UPPER_PRESSURE,
    commanded_torque,
    limited_torque,
    stop_pressure,
)
from contact.arrays import Floats, Integers
from kernelcache import kernel


class JointDerivatives(NamedTuple):
    """Of each degree of freedom: what acts along it depends on its positions at the two ends of a step."""

    given: Floats  # (nv,) 1, or 0 where an actuator is at its limit: ∂(what it gives)/∂τ
    diagonal: Floats  # (nv,) of Newton's matrix
    start_residual: Floats  # (nv,) of ∂e/∂q_k
    start_momentum: Floats  # (nv,) of ∂p'/∂q_k
    end_momentum: Floats  # (nv,) of ∂p'/∂q_{k+1}
    switch: Floats  # (nv, JOINT_SWITCHES) what vanishes where there is a kink; infinite where there is none
    turned: Integers  # (TURNED,) the one switch to take from its other side; negative: none


def new_joint_derivatives(nv: int) -> JointDerivatives:
    """Room for the joints of a tree."""
    z = np.zeros
    switch, turned = np.full((nv, JOINT_SWITCHES), np.inf), np.full(TURNED, -1)
    return JointDerivatives(z(nv), z(nv), z(nv), z(nv), z(nv), switch, turned)


@kernel
def turned_switch(joints, step, dof):
    """The switch that is to be taken from its other side in this step; where the last one ended, this one begins."""
    turned, switch = joints.turned, joints.turned[TURNED_SWITCH]
    if turned[TURNED_PLACE] == dof and turned[TURNED_STEP] == step:
        return switch
    if turned[TURNED_PLACE] == dof and turned[TURNED_STEP] == step - 1:
        if switch == UPPER_END:
            return UPPER_BEGIN
        if switch == LOWER_END:
            return LOWER_BEGIN
    return NOT_TURNED


@kernel
def reversed_switch(switch):
    """The same of the way back."""
    if switch == UPPER_BEGIN or switch == LOWER_BEGIN:
        return switch + 1
    if switch == UPPER_END or switch == LOWER_END:
        return switch - 1
    return switch


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
            turned = turned_switch(joints, step, dof)
            torque = commanded_torque(state, scratch, h, a, dof)
            given, _, slope = limited_torque(tree.passive, i, torque, begin, end, h, turned)
            back = limited_torque(tree.passive, i, torque, end, begin, -h, reversed_switch(turned))
            store_joint_switches(tree.passive, i, torque.real, begin.real, end.real, h, step, joints.switch[dof])
            if (given != torque) != (turned == EFFORT):
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
    rate, upper, lower = abs(end - begin) / abs(h), passive[i, UPPER], passive[i, LOWER]
    for k in range(JOINT_SWITCHES):
        switch[k] = math.inf
    stiffness, damping = passive[i, STOP_STIFFNESS], passive[i, STOP_DAMPING]
    store_stop_switches(stiffness, damping, begin - upper, end - upper, h, step, switch[UPPER_BEGIN:])
    store_stop_switches(stiffness, damping, lower - begin, lower - end, h, step, switch[LOWER_BEGIN:])
    if passive[i, SPEED_DAMPING] != 0.0:
        switch[TOO_FAST] = rate - passive[i, MAX_SPEED]
    switch[EFFORT] = max(commanded - passive[i, MAX_EFFORT], passive[i, MIN_EFFORT] - commanded)


@kernel
def store_stop_switches(stiffness, damping, begin, end, h, step, switch):
    """Those of a stop, for a way in it.

    Without a damper, or where that keeps the stop from pressing, its force is smooth where it is touched.
    """
    first, last = max(begin, 0.0), max(end, 0.0)
    pressure = stop_pressure(stiffness, damping, first, last, end - begin, h)
    if begin > 0.0 or end > 0.0:
        switch[UPPER_PRESSURE] = pressure
    if damping != 0.0 and pressure > 0.0:
        if step == 0:
            switch[UPPER_BEGIN] = begin
        switch[UPPER_END] = end
