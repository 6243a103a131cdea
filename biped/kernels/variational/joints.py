"""What acts in a joint of one degree of freedom within a step: its actuator, its bearings, its stops.

All of it is a function of the joint's positions at the two ends of the step. The equations hold it with its exact
derivative, so that stiff stops and strong friction bound no step.

- The **actuator** gives the torque that is held on it and that of its impedance in the middle of the step, both
  together within its greatest effort.
- **Bearings** take b v, and of dry friction f v/√(v² + ε²): Coulomb's law, but for creeping slowly where it would
  stick.
- A **stop** is a spring that is touched beyond a limit of position. Its force is the mean slope of its energy over the
  step's way, −ΔV/Δq (in one dimension the only discrete gradient: Gonzalez 1996): whatever part of the step is spent in
  it, its work is the energy that it loses, to rounding. A damper acts over the part of the way that is in the stop, as
  far as both together do not pull.
- Beyond the greatest **speed** a damper brakes.
"""

import math

from biped.kernels.state.simulation_state import ACTUATORS, JOINTS, JOINTS_DISSIPATED
from biped.kernels.tree.tree import (
    CREEP,
    DAMPING,
    FRICTION,
    LOWER,
    MAX_EFFORT,
    MAX_SPEED,
    SPEED_DAMPING,
    STOP_DAMPING,
    STOP_STIFFNESS,
    UPPER,
)
from contact.jit import kernel, routine


@kernel
def commanded_torque(state, scratch, h, q_index, dof):
    """What the joint's actuator is to give in this step: the held torque, and its impedance in the middle of it."""
    torque = state.torque[dof]
    stiffness, damping = state.stiffness[dof], state.damping[dof]
    if stiffness != 0.0 or damping != 0.0:
        change = scratch.q[q_index] - state.q[q_index]
        middle = state.q[q_index] + 0.5 * change
        torque -= stiffness * (middle - state.setpoint[dof]) + damping * change / h
    return torque


@kernel
def within_effort(passive, i, torque):
    """What the actuator of joint i gives of a torque."""
    most = passive[i, MAX_EFFORT]
    return min(max(torque, -most), most)


@kernel
def dof_torque(tree, state, scratch, h, i, dof):
    """What acts in this step along one of the degrees of freedom of joint i."""
    if tree.dofs[i] > 1:
        return state.torque[dof]
    a = tree.first_q[i]
    torque = commanded_torque(state, scratch, h, a, dof)
    if tree.passive.shape[0] > 0:
        given, passive, _ = limited_torque(tree.passive, i, torque, state.q[a], scratch.q[a], h)
        return given + passive
    return torque


@routine
def stop_force(stiffness, damping, begin, end, h):
    """What a stop pushes back with over a way from ``begin`` to ``end`` deep in it, and its derivative by ``end``."""
    first, last = max(begin, 0.0), max(end, 0.0)
    if first == 0.0 and last == 0.0:
        return 0.0, 0.0
    way = end - begin
    share, share_slope, stretch_slope = 1.0, 0.0, 0.5
    if first == 0.0:
        share = last / way
        share_slope = (1.0 - share) / way
    elif last == 0.0:
        share = -first / way
        share_slope, stretch_slope = -share / way, 0.0
    pressure = stiffness * 0.5 * (first + last) + damping * way / h
    if pressure <= 0.0:
        return 0.0, 0.0
    return share * pressure, share_slope * pressure + share * (stiffness * stretch_slope + damping / h)


@routine
def limited_torque(passive, i, commanded, begin, end, h):
    """What the actuator of joint i gives, and its bearings and stops, on a way; and the derivative of these by its end.

    Called, not inlined: models without them, as the human, are not to be slower for it.
    """
    given = within_effort(passive, i, commanded)
    rate = (end - begin) / h
    torque, slope = -passive[i, DAMPING] * rate, -passive[i, DAMPING] / h
    friction = passive[i, FRICTION]
    if friction != 0.0:
        size = math.sqrt(rate * rate + CREEP * CREEP)
        torque -= friction * rate / size
        slope -= friction * CREEP * CREEP / (size * size * size * h)
    excess = abs(rate) - passive[i, MAX_SPEED]
    if excess > 0.0:
        torque -= math.copysign(passive[i, SPEED_DAMPING] * excess, rate)
        slope -= passive[i, SPEED_DAMPING] / h
    stiffness, damping = passive[i, STOP_STIFFNESS], passive[i, STOP_DAMPING]
    force, rise = stop_force(stiffness, damping, begin - passive[i, UPPER], end - passive[i, UPPER], h)
    torque, slope = torque - force, slope - rise
    force, rise = stop_force(stiffness, damping, passive[i, LOWER] - begin, passive[i, LOWER] - end, h)
    return given, torque + force, slope - rise


@kernel
def stop_energy(tree, i, q):
    """[J] What the stops of joint i store at a position."""
    beyond = max(q - tree.passive[i, UPPER], tree.passive[i, LOWER] - q, 0.0)
    return 0.5 * tree.passive[i, STOP_STIFFNESS] * beyond * beyond


@kernel
def set_joint_diagonal(tree, state, scratch, h):
    """What the joints add to the diagonal of Newton's matrix, −∂e/∂q' of their torques and rotors."""
    rate = 1.0 / h
    for dof in range(state.stiffness.shape[0]):
        scratch.diagonal[dof] = 0.25 * h * state.stiffness[dof] + 0.5 * state.damping[dof] + rate * tree.armature[dof]
    for i in range(tree.passive.shape[0]):
        if tree.dofs[i] == 1:
            dof, a = tree.first_v[i], tree.first_q[i]
            torque = commanded_torque(state, scratch, h, a, dof)
            given, _, slope = limited_torque(tree.passive, i, torque, state.q[a], scratch.q[a], h)
            if given != torque:
                scratch.diagonal[dof] = rate * tree.armature[dof]
            scratch.diagonal[dof] -= 0.5 * h * slope


@kernel
def account_joint_works(tree, state, scratch, h):
    """The exact works of actuators, bearings and stops in this step."""
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            a = tree.first_q[i]
            change = scratch.q[a] - state.q[a]
            torque = commanded_torque(state, scratch, h, a, tree.first_v[i])
            if tree.passive.shape[0] > 0:
                torque, passive, _ = limited_torque(tree.passive, i, torque, state.q[a], scratch.q[a], h)
                stored = stop_energy(tree, i, scratch.q[a]) - stop_energy(tree, i, state.q[a])
                state.ledger.works[JOINTS] += passive * change
                state.ledger.works[JOINTS_DISSIPATED] -= passive * change + stored
            state.ledger.works[ACTUATORS] += torque * change


@kernel
def rotor_momentum(tree, state, scratch, h, i, dof):
    """a Δq/h of the rotor that joint i drives along one of its degrees of freedom."""
    armature = tree.armature[dof]
    if armature == 0.0:
        return 0.0
    return armature * (scratch.q[tree.first_q[i]] - state.q[tree.first_q[i]]) / h
