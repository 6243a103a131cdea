"""Torques in a joint of one degree of freedom within a step: actuator, bearings and stops.

All torques are functions of the joint's positions at the two ends of the step. The equations contain them with their
exact derivatives, so that stiff stops and strong friction do not limit the step.

- The **actuator** exerts the held torque and that of its impedance in the middle of the step, clipped together to its
  effort limits.
- A **spring** acts in the middle of the step; it is passive and not clipped.
- **Bearings** resist with b v, and dry friction f v/√(v² + ε²): Coulomb's law with slow creep instead of sticking.
- A **stop** is a spring beyond a position limit. Its force is the mean slope of its energy over the step, −ΔV/Δq (in
  one dimension the only discrete gradient: Gonzalez 1996): its work equals its loss of energy to rounding, for any part
  of the step in the stop. A damper acts over the part of the step in the stop, as long as both together do not pull.
- Beyond the maximum **speed** a damper brakes.
"""

from biped.kernels.state.simulation_state import ACTUATORS, JOINTS, JOINTS_DISSIPATED
from biped.kernels.tree import tree as trees
from contact.analytic import bounded, sqrt
from kernelcache import kernel, routine

# Kinks of the torques in a joint, as functions of its positions at the two ends of a step.
UPPER_BEGIN = 0  # the step begins at the limit, from which a stop's damper acts
UPPER_END = 1
UPPER_PRESSURE = 2  # the damper pulls as much as the spring pushes
LOWER_BEGIN = 3
LOWER_END = 4
LOWER_PRESSURE = 5
TOO_FAST = 6
EFFORT = 7
JOINT_SWITCHES = 8


@kernel
def commanded_torque(state, scratch, h, q_index, dof):
    """Return the commanded torque of the joint's actuator: the held torque, and its impedance in the step's middle."""
    torque = state.torque[dof]
    stiffness, damping = state.stiffness[dof], state.damping[dof]
    if stiffness != 0.0 or damping != 0.0:
        change = scratch.q[q_index] - state.q[q_index]
        middle = state.q[q_index] + 0.5 * change
        torque -= stiffness * (middle - state.setpoint[dof]) + damping * change / h
    return torque


@kernel
def within_effort(passive, i, torque):
    """Return a torque clipped to the effort limits of joint i's actuator."""
    return bounded(torque, passive[i, trees.MIN_EFFORT], passive[i, trees.MAX_EFFORT])


@kernel
def dof_torque(tree, state, scratch, h, i, dof):
    """Return the torque in this step along a degree of freedom of joint i."""
    if tree.dofs[i] > 1:
        return state.torque[dof]
    a = tree.first_q[i]
    torque = commanded_torque(state, scratch, h, a, dof)
    if tree.passive.shape[0] > 0:
        given, passive, _ = limited_torque(tree.passive, i, torque, state.q[a], scratch.q[a], h)
        return given + passive
    return torque


@kernel
def stop_pressure(stiffness, damping, first, last, way, h):
    """Return the force [N·m or N] of a stop before it is clipped at zero."""
    return stiffness * 0.5 * (first + last) + damping * way / h


@routine
def stop_force(stiffness, damping, begin, end, h):
    """Return the force of a stop over a displacement from depth ``begin`` to ``end``, and its derivative by ``end``."""
    begins, ends = begin > 0.0, end > 0.0
    if not begins and not ends:
        return 0.0, 0.0
    first, last = begin if begins else 0.0, end if ends else 0.0
    way = end - begin
    share, share_slope, stretch_slope = 1.0, 0.0, 0.5
    if not begins:
        share = last / way
        share_slope = (1.0 - share) / way
    elif not ends:
        share = -first / way
        share_slope, stretch_slope = -share / way, 0.0
    pressure = stop_pressure(stiffness, damping, first, last, way, h)
    if pressure <= 0.0:
        return 0.0, 0.0
    return share * pressure, share_slope * pressure + share * (stiffness * stretch_slope + damping / h)


@routine
def limited_torque(passive, i, commanded, begin, end, h):
    """Return the actuator's torque, that of bearings and stops of joint i, and the latter's derivative by ``end``.

    It is not inlined, so that models without bearings and stops, such as the human, are not slower.
    """
    given = within_effort(passive, i, commanded)
    rate = (end - begin) / h
    torque, slope = -passive[i, trees.DAMPING] * rate, -passive[i, trees.DAMPING] / h
    spring = passive[i, trees.SPRING]
    if spring != 0.0:
        torque -= spring * (0.5 * (begin + end) - passive[i, trees.REST])
        slope -= 0.5 * spring
    friction = passive[i, trees.FRICTION]
    if friction != 0.0:
        size = sqrt(rate * rate + trees.CREEP * trees.CREEP)
        torque -= friction * rate / size
        slope -= friction * trees.CREEP * trees.CREEP / (size * size * size * h)
    excess = abs(rate) - passive[i, trees.MAX_SPEED]
    if excess > 0.0:
        brake = passive[i, trees.SPEED_DAMPING] * excess
        torque -= brake if rate >= 0.0 else -brake
        slope -= passive[i, trees.SPEED_DAMPING] / h
    stiffness, damping = passive[i, trees.STOP_STIFFNESS], passive[i, trees.STOP_DAMPING]
    upper, lower = passive[i, trees.UPPER], passive[i, trees.LOWER]
    force, rise = stop_force(stiffness, damping, begin - upper, end - upper, h)
    torque, slope = torque - force, slope - rise
    force, rise = stop_force(stiffness, damping, lower - begin, lower - end, h)
    return given, torque + force, slope - rise


@kernel
def stop_energy(tree, i, q):
    """Return the energy [J] stored in the stops and the spring of joint i at a position."""
    beyond = max(q - tree.passive[i, trees.UPPER], tree.passive[i, trees.LOWER] - q, 0.0)
    stretch = q - tree.passive[i, trees.REST]
    stops = 0.5 * tree.passive[i, trees.STOP_STIFFNESS] * beyond * beyond
    return stops + 0.5 * tree.passive[i, trees.SPRING] * stretch * stretch


@kernel
def set_joint_diagonal(tree, state, scratch, h):
    """Set the joints' diagonal terms of Newton's matrix, −∂e/∂q' of their torques and rotors."""
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
    """Add the exact works of actuators, bearings and stops in this step to the ledger."""
    for i in range(tree.parent.shape[0]):
        if tree.dofs[i] == 1:
            a = tree.first_q[i]
            change = scratch.q[a] - state.q[a]
            dof = tree.first_v[i]
            torque = commanded_torque(state, scratch, h, a, dof)
            if tree.passive.shape[0] > 0:
                asked = torque
                torque, passive, _ = limited_torque(tree.passive, i, asked, state.q[a], scratch.q[a], h)
                if torque != asked:
                    state.ledger.saturated[dof] += h
                stored = stop_energy(tree, i, scratch.q[a]) - stop_energy(tree, i, state.q[a])
                state.ledger.works[JOINTS] += passive * change
                state.ledger.works[JOINTS_DISSIPATED] -= passive * change + stored
            state.ledger.works[ACTUATORS] += torque * change


@kernel
def rotor_momentum(tree, state, scratch, h, i, dof):
    """Return a Δq/h of the rotor of joint i along one of its degrees of freedom."""
    armature = tree.armature[dof]
    if armature == 0.0:
        return 0.0
    return armature * (scratch.q[tree.first_q[i]] - state.q[tree.first_q[i]]) / h
