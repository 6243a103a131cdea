"""Explicit methods for comparison: Euler's, the semi-implicit Euler's and the classical Runge–Kutta method.

They use velocities and accelerations, while a variational method uses momenta and impulses. The energy balance shows
their gains and losses.
"""

from typing import NamedTuple

import numpy as np

from biped.integrators.explicit.kernels.flow import Flow, arrive, begin_flow_step, joint_turning, place_flow, set_slope
from biped.kernels.solve.causes import NOT_FINITE
from biped.kernels.state.method import advance
from biped.kernels.state.simulation_state import ACTUATORS
from biped.kernels.state.status import OK
from biped.kernels.step import step
from biped.kernels.tree.kinematics import quaternion_place
from biped.kernels.tree.tree import FLOATING, PRISMATIC, REVOLUTE
from biped.kernels.variational.equations import contact_chord
from contact.arrays import Floats
from contact.vectors import add, copy1, load3, norm, quat_about, quat_mul, quat_normalized, quaternion_at, scale, triple
from kernelcache import kernel, routine


class Explicit(NamedTuple):
    """An explicit method that integrates the flow; all such methods share one compiled code.

    A stage's slope is taken at ``fraction``·h along the slope of the stage before; the step is h times the sum of all
    stages' slopes times ``weight``. Without stages the caller integrates (``biped.integrators.explicit.adaptive``), and
    a step of the compiled loop fails.
    """

    fraction: Floats  # (stages,)
    weight: Floats  # (stages,)
    ahead: float  # 1 if positions move with the velocities of the step's end, else 0
    exponential: bool  # turns by the exponential of h ω instead of ½ ω q as four numbers; for one stage only
    flow: Flow


def euler(flow: Flow) -> Explicit:
    """Return Euler's method: q' = q + h v, v' = v + h a(q, v)."""
    return Explicit(np.zeros(1), np.ones(1), 0.0, True, flow)


def semi_implicit_euler(flow: Flow) -> Explicit:
    """Return the semi-implicit Euler method: v' = v + h a(q, v), q' = q + h v'."""
    return Explicit(np.zeros(1), np.ones(1), 1.0, True, flow)


def runge_kutta_4(flow: Flow) -> Explicit:
    """Return the classical method of order four (Kutta 1901)."""
    return Explicit(np.array([0.0, 0.5, 0.5, 1.0]), np.array([1.0, 2.0, 2.0, 1.0]) / 6.0, 0.0, False, flow)


def no_stages(flow: Flow) -> Explicit:
    """Return buffers for a caller that integrates the flow."""
    return Explicit(np.zeros(0), np.zeros(0), 0.0, False, flow)


@advance.register(Explicit)
def advance_explicitly(tree, ground, state, pushes, scratch, method, begin, h):
    """Advance by h in one part; return OK or NOT_FINITE."""
    begin_flow_step(tree, ground, state, pushes, scratch, method.flow, begin, h)
    if not go_along_slopes(tree, ground, state, pushes, scratch, method, h):
        return NOT_FINITE
    account_step(tree, ground, state, pushes, scratch, method, h)
    return OK


@kernel
def go_along_slopes(tree, ground, state, pushes, scratch, method, h):
    """Integrate from ``begin_flow_step`` to the end of the step; return False if a number is not finite."""
    flow = method.flow
    stages = method.weight.shape[0]
    flow.total[:] = 0.0
    for stage in range(stages):
        if stage > 0:
            go_from_start(flow, method.fraction[stage] * h, flow.slope.flat)
            place_flow(tree, flow)
        set_slope(tree, ground, state, pushes, flow, method.ahead, h)
        for k in range(flow.total.shape[0]):
            flow.total[k] += method.weight[stage] * flow.slope.flat[k]
    go_from_start(flow, h, flow.total)
    if method.exponential:
        turn_by_exponential(tree, state, flow, h)
    return stages > 0 and arrive(tree, state, pushes, scratch, flow, h)


@kernel
def go_from_start(flow, h, slope):
    for k in range(flow.start.shape[0]):
        flow.at.flat[k] = flow.start[k] + h * slope[k]


@kernel
def turn_by_exponential(tree, state, flow, h):
    """Turn the quaternions of the start by h ω, with the velocities used for the coordinates."""
    for i in range(tree.parent.shape[0]):
        if tree.kind[i] != REVOLUTE and tree.kind[i] != PRISMATIC:
            a = quaternion_place(tree, i)
            turned = quat_mul(exponential(scale(h, joint_turning(tree, flow.motion, i))), quaternion_at(state.q, a))
            flow.at.q[a], flow.at.q[a + 1], flow.at.q[a + 2], flow.at.q[a + 3] = turned


@kernel
def exponential(phi):
    """Return the unit quaternion of a turn by the rotation vector ``phi``."""
    angle = norm(phi)
    if angle < 1e-8:  # the angle's square is below rounding
        return quat_normalized((1.0, 0.5 * phi[0], 0.5 * phi[1], 0.5 * phi[2]))
    return quat_about(scale(1.0 / angle, phi), angle)


@kernel
def account_step(tree, ground, state, pushes, scratch, method, h):
    """Add the integrated works and impulses to the ledger, update the contacts, and advance to q_{k+1}."""
    end = method.flow.at
    state.ledger.works[ACTUATORS] += end.joint_work[0]
    step.account_push_works(state, pushes, scratch, h)
    before, spin_before = step.whole_momentum(tree, state)
    copy1(method.flow.momentum, state.momentum)
    if tree.kind[0] == FLOATING:
        step.account_impulse(
            tree, state, scratch, before, spin_before, outer_impulse(tree, pushes, end, h), triple(end.moment)
        )
    for c in range(tree.contact_body.shape[0]):
        middle, velocity = contact_chord(tree, ground, state, scratch, h, c)
        step.update_contact_mode(ground, state, h, c, middle, velocity, end.contact_work[c])
    step.commit_with_rates(tree, state, scratch, h)


@kernel
def outer_impulse(tree, pushes, end, h):
    """Return the linear impulse of gravity, contacts and pushes in a step."""
    mass = 0.0
    for i in range(tree.parent.shape[0]):
        mass += tree.mass[i]
    impulse = scale(h * mass, triple(tree.gravity))
    for c in range(tree.contact_body.shape[0]):
        impulse = add(impulse, load3(end.contact_impulse, c))
    for j in range(pushes.body.shape[0]):
        impulse = add(impulse, load3(pushes.impulse, j))
    return impulse


@routine
def begin_flow(tree, ground, state, pushes, scratch, method, begin, h):
    """Call ``begin_flow_step``, for a caller that integrates."""
    begin_flow_step(tree, ground, state, pushes, scratch, method.flow, begin, h)


@routine
def slope_of_flow(tree, ground, state, pushes, flow, h):
    """Write the rate of change at ``flow.at`` to ``flow.slope``, for a caller that integrates."""
    place_flow(tree, flow)
    set_slope(tree, ground, state, pushes, flow, 0.0, h)


@routine
def end_flow(tree, ground, state, pushes, scratch, method, h):
    """Make ``flow.at`` the end of the step and update the ledger; return OK or NOT_FINITE."""
    if not arrive(tree, state, pushes, scratch, method.flow, h):
        return NOT_FINITE
    account_step(tree, ground, state, pushes, scratch, method, h)
    return OK
