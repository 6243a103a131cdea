"""Contact law of a point on a horizontal floor: an exchangeable normal force law, and stick–slip friction.

A normal force law is a named tuple of numbers with three kernels: ``pressure``, ``pressure_slopes`` and
``pressure_energy``. This module has the spring and damper of Wendlandt 1997; ``contact.hunt_crossley`` has another law.

The point moves from P_k to P_{k+1} in a step of length h. The force depends on the middle p = (P_k + P_{k+1})/2 and the
velocity ṗ = (P_{k+1} − P_k)/h of this chord (Wendlandt 1997, equation 5.2 and section 5.2). So F · (P_{k+1} − P_k) is
the exact work of the contact in the step.

A point's state changes only at the end of a step: a switch of the force during a step would make the step's equations
discontinuous, and they might have no solution.
"""

import math
from typing import Any, NamedTuple

from contact.modes import NONE, PULLING, SLIDING, SLIDING_TO_STICKING, STICKING, STICKING_TO_SLIDING
from kernelcache import generic, kernel


class SpringDamper(NamedTuple):
    """Parameters of the spring and damper, F_n = −(k_n p_n + b_n ṗ_n)."""

    k_n: float
    b_n: float


class FloorParameters(NamedTuple):
    """Parameters of a floor; ``contact.Floor`` checks and documents them."""

    normal: Any  # parameters of the normal force law
    k_t: float
    b_t: float
    mu_s: float
    mu_d: float
    stiction_velocity: float
    printed: float = 0.0  # 1: friction by the state machine as printed in the thesis; 0: a point drags its anchor


@generic("law")
def pressure(law, height, climb):
    """Return the normal force [N] of a point at a height [m] and vertical velocity [m/s]; if negative, none acts."""


@generic("law")
def pressure_slopes(law, height, climb):
    """Return the derivatives of ``pressure`` with respect to height [N/m] and vertical velocity [N·s/m]."""


@generic("law")
def pressure_energy(law, height):
    """Return the elastic energy [J] of a point's normal force at a height [m] below zero."""


@pressure.register(SpringDamper)
def spring_damper_pressure(law, height, climb):
    return -(law.k_n * height + law.b_n * climb)


@pressure_slopes.register(SpringDamper)
def spring_damper_slopes(law, height, climb):
    return -law.k_n, -law.b_n


@pressure_energy.register(SpringDamper)
def spring_energy(law, height):
    return 0.5 * law.k_n * height * height


@kernel
def normal_force(floor, height, climb):
    """Return the normal force F_n [N], which never pulls; a height above zero gives zero."""
    return max(0.0, pressure(floor.normal, height, climb))


@kernel
def sticking_trial(floor, p, velocity, anchor):
    """Return the tangential force of a sticking point without friction limit, −(k_t (p_t − a) + b_t ṗ_t) [N]."""
    return (
        -(floor.k_t * (p[0] - anchor[0]) + floor.b_t * velocity[0]),
        -(floor.k_t * (p[1] - anchor[1]) + floor.b_t * velocity[1]),
    )


@kernel
def is_clipped(floor, p, velocity, anchor):
    """Return True if the tangential force of a sticking point's spring and damper exceeds static friction."""
    fx, fy = sticking_trial(floor, p, velocity, anchor)
    return math.hypot(fx, fy) > floor.mu_s * normal_force(floor, p[2], velocity[2])


@kernel
def state_at_end(floor, mode, p, velocity, anchor, end_height):
    """Return the state (``ContactState``) of a point at the end of a step in ``mode``.

    Priorities are those of the thesis: leaving the floor, then a normal force that would pull, then sticking and
    slipping. A point at the limit of static friction slides only when it is faster than ``stiction_velocity``; until
    then it yields with full friction. (With ``printed`` friction, as in the thesis, it slides immediately. Below
    ``stiction_velocity`` sliding friction is viscous, so that the point loses its load, stops, sticks, and reaches the
    limit again.)
    """
    if end_height >= 0.0:
        return NONE
    if mode == NONE:
        return SLIDING
    if normal_force(floor, p[2], velocity[2]) == 0.0:
        return PULLING
    slow = math.hypot(velocity[0], velocity[1]) <= floor.stiction_velocity
    if mode == SLIDING:
        return SLIDING_TO_STICKING if slow else SLIDING
    if is_clipped(floor, p, velocity, anchor) and (not slow or floor.printed != 0.0):
        return STICKING_TO_SLIDING
    return STICKING


@kernel
def touches(state):
    """Return True if the floor pushes a point in this state; a point that rises too fast is not pushed."""
    return state != NONE and state != PULLING


@kernel
def mode_of(state):
    """Return the lasting mode in which the next step starts (``contact.modes.NEXT``)."""
    if state == SLIDING_TO_STICKING:
        return STICKING
    if state == STICKING_TO_SLIDING or state == PULLING:
        return SLIDING
    return state


@kernel
def anchor_at_end(floor, mode, p, velocity, anchor, end, force):
    """Return the anchor of the tangential spring after a step with ``force`` on the point, which ended at ``end``.

    A sticking point keeps its anchor. A sliding or yielding point drags its anchor behind itself, at the distance that
    corresponds to the friction force. So a point that comes to rest continues to carry its load. (With ``printed``
    friction, as in the thesis, the anchor is set at the point in state 3 and released in state 5. The point then loses
    its load at every stop, and a foot with unequally loaded points creeps.)
    """
    if floor.k_t == 0.0 or (mode == STICKING and not is_clipped(floor, p, velocity, anchor)):
        return anchor
    return dragged_anchor(floor, anchor, end, force)


@kernel
def dragged_anchor(floor, anchor, end, force):
    """Return the anchor of a sliding or yielding point that ended at ``end``."""
    if floor.printed != 0.0:
        return end[0], end[1]
    stretch = math.hypot(end[0] - anchor[0], end[1] - anchor[1])
    longest = math.hypot(force[0], force[1]) / floor.k_t
    if stretch <= longest:
        return anchor
    return anchor_behind(anchor, end, longest / stretch)


@kernel
def anchor_behind(anchor, end, kept):
    """Return the anchor moved toward ``end`` so that the share ``kept`` of its distance remains."""
    return end[0] - kept * (end[0] - anchor[0]), end[1] - kept * (end[1] - anchor[1])


@kernel
def stored_energy(floor, mode, p, anchor):
    """Return the energy [J] in the normal and the tangential spring of a point at ``p``, which may slide."""
    if mode == NONE or p[2] >= 0.0:
        return 0.0
    dx, dy = p[0] - anchor[0], p[1] - anchor[1]
    return pressure_energy(floor.normal, p[2]) + 0.5 * floor.k_t * (dx * dx + dy * dy)
