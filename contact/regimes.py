"""Regimes of the contact law, in each of which it is smooth, and its derivatives.

During a step the force on a point is continuous and has kinks: where the normal force begins, at the limit of the
friction cone, and at the sliding speed ``stiction_velocity``. At the end of the step the anchor is kept or dragged, and
the next mode is selected. One-sided derivatives exist at all of these. A switch is a quantity that is zero there.
"""

import math

from contact.modes import NONE, SLIDING, STICKING
from contact.point_law import anchor_behind, is_clipped, normal_force, pressure, pressure_slopes, sticking_trial
from kernelcache import kernel

# Regimes of the force.
FREE = 0
VISCOUS = 1  # sliding at stiction_velocity or less
COULOMB = 2  # sliding faster than stiction_velocity
HELD = 3  # held by the anchor, within the friction cone
CLIPPED = 4  # at the limit of the friction cone

# Switches between two regimes or between two modes of the next step.
PRESSURE = 0  # [N] normal force before negative values are clipped to zero
SLIP = 1  # [N] tangential force of the anchor minus the limit of the friction cone
SPEED = 2  # [m/s] sliding speed minus stiction_velocity
HEIGHT = 3  # [m] height at the end of the step
STRETCH = 4  # [m] distance of the anchor minus the stretch by the friction force
SWITCHES = 5


@kernel
def regime_of(floor, mode, p, velocity, anchor):
    """Return the regime of ``point_force`` for the same arguments."""
    if mode == NONE or normal_force(floor, p[2], velocity[2]) == 0.0:
        return FREE
    if mode == SLIDING:
        return COULOMB if math.hypot(velocity[0], velocity[1]) > floor.stiction_velocity else VISCOUS
    return CLIPPED if is_clipped(floor, p, velocity, anchor) else HELD


@kernel
def force_in(floor, regime, p, velocity, anchor):
    """Return the ground reaction force on the point [N] by the formula of a regime, even outside of it."""
    if regime == FREE:
        return 0.0, 0.0, 0.0
    fn = pressure(floor.normal, p[2], velocity[2])
    if regime == COULOMB or regime == VISCOUS:
        speed = math.hypot(velocity[0], velocity[1]) if regime == COULOMB else floor.stiction_velocity
        drag = floor.mu_d * fn / speed
        return -drag * velocity[0], -drag * velocity[1], fn
    fx, fy = sticking_trial(floor, p, velocity, anchor)
    if regime == HELD:
        return fx, fy, fn
    part = floor.mu_s * fn / math.hypot(fx, fy)
    return fx * part, fy * part, fn


@kernel
def point_force(floor, mode, p, velocity, anchor):
    """Return the ground reaction force on the point [N].

    ``mode`` is NONE, SLIDING or STICKING, ``p`` (3) the middle of the chord, with the height above the floor as third
    coordinate, ``velocity`` (3) the chord's velocity, and ``anchor`` (2) the anchor of the tangential spring.
    """
    return force_in(floor, regime_of(floor, mode, p, velocity, anchor), p, velocity, anchor)


@kernel
def point_force_derivative(floor, mode, p, velocity, anchor, h):
    """Return ∂F/∂P_{k+1} (3 x 3, row by row) [N/m], exact and unsymmetric, for the arguments of ``point_force``.

    A change of P_{k+1} changes the chord's middle by its half and the chord's velocity by 1/h of it.
    """
    return derivative_in(floor, regime_of(floor, mode, p, velocity, anchor), p, velocity, anchor, h)


@kernel
def normal_slope(floor, height, climb, h):
    """Return ∂F_n/∂P_{k+1} [N/m] along the normal."""
    by_height, by_climb = pressure_slopes(floor.normal, height, climb)
    return 0.5 * by_height + by_climb / h


@kernel
def tangential_slope(floor, h):
    """Return ∂F_t/∂P_{k+1} [N/m] of a point held by its anchor."""
    return -(0.5 * floor.k_t + floor.b_t / h)


@kernel
def coulomb_derivative(floor, velocity, speed, fn, dn, h):
    tx, ty = velocity[0] / speed, velocity[1] / speed
    c = -floor.mu_d * fn / (speed * h)
    xx, xy, yy = c * (1.0 - tx * tx), -c * tx * ty, c * (1.0 - ty * ty)
    return xx, xy, -floor.mu_d * dn * tx, xy, yy, -floor.mu_d * dn * ty, 0.0, 0.0, dn


@kernel
def viscous_derivative(floor, velocity, fn, dn, h):
    tx, ty = velocity[0] / floor.stiction_velocity, velocity[1] / floor.stiction_velocity
    xx = -floor.mu_d * fn / (floor.stiction_velocity * h)
    return xx, 0.0, -floor.mu_d * dn * tx, 0.0, xx, -floor.mu_d * dn * ty, 0.0, 0.0, dn


@kernel
def held_derivative(dt, dn):
    return dt, 0.0, 0.0, 0.0, dt, 0.0, 0.0, 0.0, dn


@kernel
def clipped_derivative(floor, fx, fy, size, limit, dt, dn):
    tx, ty = fx / size, fy / size
    c = dt * limit / size
    xx, xy, yy = c * (1.0 - tx * tx), -c * tx * ty, c * (1.0 - ty * ty)
    return xx, xy, floor.mu_s * dn * tx, xy, yy, floor.mu_s * dn * ty, 0.0, 0.0, dn


@kernel
def anchor_in(floor, anchor, end, force):
    """Return the anchor of a point that drags it, at any distance from the point."""
    size, stretch = math.hypot(force[0], force[1]), math.hypot(end[0] - anchor[0], end[1] - anchor[1])
    if floor.printed != 0.0 or size == 0.0 or stretch == 0.0:
        return end[0], end[1]
    return anchor_behind(anchor, end, size / (floor.k_t * stretch))


@kernel
def derivative_in(floor, regime, p, velocity, anchor, h):
    """Return ∂F/∂P_{k+1} (3 x 3, row by row) [N/m] in a regime; with −h for h it is ∂F/∂P_k.

    A change of P_k changes the chord's middle by its half and the chord's velocity by −1/h of it.
    """
    if regime == FREE:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    fn = normal_force(floor, p[2], velocity[2])
    dn = normal_slope(floor, p[2], velocity[2], h)
    if regime == COULOMB:
        return coulomb_derivative(floor, velocity, math.hypot(velocity[0], velocity[1]), fn, dn, h)
    if regime == VISCOUS:
        return viscous_derivative(floor, velocity, fn, dn, h)
    dt = tangential_slope(floor, h)
    if regime == HELD:
        return held_derivative(dt, dn)
    fx, fy = sticking_trial(floor, p, velocity, anchor)
    return clipped_derivative(floor, fx, fy, math.hypot(fx, fy), floor.mu_s * fn, dt, dn)


@kernel
def switches(floor, mode, p, velocity, anchor, end, force):
    """Return the values of all switches, in order of their numbers; inf for a switch that the point does not have."""
    load = slip = speed = stretch = math.inf
    if mode != NONE:
        load = pressure(floor.normal, p[2], velocity[2])
        moves = math.hypot(velocity[0], velocity[1]) - floor.stiction_velocity
        if mode == STICKING and load > 0.0:
            fx, fy = sticking_trial(floor, p, velocity, anchor)
            slip = math.hypot(fx, fy) - floor.mu_s * load
        if load > 0.0 and (mode == SLIDING or slip > 0.0):
            speed = moves
            if floor.k_t > 0.0 and floor.printed == 0.0:
                stretch = math.hypot(end[0] - anchor[0], end[1] - anchor[1])
                stretch -= math.hypot(force[0], force[1]) / floor.k_t
    return load, slip, speed, end[2], stretch


@kernel
def keeps_anchor(floor, regime, anchor, end, force):
    """Return True if a point's anchor does not move in a step (``contact.point_law.anchor_at_end``)."""
    if floor.k_t == 0.0 or regime == HELD:
        return True
    stretch = math.hypot(end[0] - anchor[0], end[1] - anchor[1])
    return floor.printed == 0.0 and stretch <= math.hypot(force[0], force[1]) / floor.k_t


@kernel
def dragged_derivative(floor, end, anchor, force, by_start, by_end):
    """Return the derivative of a dragged anchor a' = P_{k+1} − ℓ n, with ℓ = |F_t|/k_t, n from the anchor to P_{k+1}.

    Args:
        floor: parameters of the floor.
        end: position P_{k+1} of the point at the end of the step.
        anchor: anchor a before the step.
        force: force F on the point.
        by_start: ∂F/∂P_k.
        by_end: ∂F/∂P_{k+1}; ∂F/∂a is minus the first two columns of ∂F/∂P_k + ∂F/∂P_{k+1}.

    Returns:
        16 numbers, row by row: ∂a'/∂P_k (2 x 3), ∂a'/∂P_{k+1} (2 x 3), ∂a'/∂a (2 x 2).
    """
    size = math.hypot(force[0], force[1])
    dx, dy = end[0] - anchor[0], end[1] - anchor[1]
    stretch = math.hypot(dx, dy)
    if floor.printed != 0.0 or size == 0.0 or stretch == 0.0:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0
    nx, ny = dx / stretch, dy / stretch
    gx, gy = force[0] / (size * floor.k_t), force[1] / (size * floor.k_t)  # ∂ℓ/∂F_t
    s0, s1, s2 = (
        gx * by_start[0] + gy * by_start[3],
        gx * by_start[1] + gy * by_start[4],
        gx * by_start[2] + gy * by_start[5],
    )
    e0, e1, e2 = (gx * by_end[0] + gy * by_end[3], gx * by_end[1] + gy * by_end[4], gx * by_end[2] + gy * by_end[5])
    kept = size / floor.k_t / stretch
    xx, xy, yy = kept * (1.0 - nx * nx), -kept * nx * ny, kept * (1.0 - ny * ny)
    return (
        -nx * s0, -nx * s1, -nx * s2, -ny * s0, -ny * s1, -ny * s2,
        1.0 - xx - nx * e0, -xy - nx * e1, -nx * e2, -xy - ny * e0, 1.0 - yy - ny * e1, -ny * e2,
        xx + nx * (s0 + e0), xy + nx * (s1 + e1), xy + ny * (s0 + e0), yy + ny * (s1 + e1),
    )  # fmt: skip
