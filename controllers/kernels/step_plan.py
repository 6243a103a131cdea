"""Step planner: landing position and time of least cost for the linear inverted pendulum, in closed form.

With the centre of pressure at p the capture point (extrapolated centre of mass) moves as ξ(T) = p + (ξ − p) e^{ωT}
(Hof et al. 2005; Koolen et al. 2012). For each landing time T and each path past the other leg, there is a best foot
position for catching it. This position is limited to the reach of the legs, and the candidate of least cost is chosen.
Positions are horizontal, from the point O below the root's centre of mass, in world axes.
"""

import math
from typing import NamedTuple

from biped.metrics.kernels.polygon import convex_hull, inside_by
from contact.arrays import Floats
from kernelcache import kernel

#: Number of landing times that are compared.
TIMES = 10
#: Paths past the other leg: on its own side, crossing in front of it, crossing behind it.
WAYS = 3


class StepRules(NamedTuple):
    """Limits and costs of a step."""

    shortest: float  # [s] shortest swing
    longest: float  # [s] longest swing
    swing_speed: float  # [m/s] mean speed of the swing foot above which a step is penalized
    max_swing_speed: float  # [m/s] greatest mean speed of the swing foot
    overshoot: float  # [m] distance by which the foot is placed past ξ
    min_step_width: float  # [m] smallest lateral distance between the middles of the feet
    crossing_distance: float  # [m] smallest AP distance of the feet if the legs cross
    lateral_share: float  # ratio of CoP shift to offset of ξ, across the direction of travel
    time_cost: float  # [m/s] cost per time until landing
    length_cost: float  # cost per step length
    crossing_cost: float  # [m] cost of crossing the legs


class Step(NamedTuple):
    """A planned step."""

    cost: float  # [m]
    way: int  # path past the other leg, below ``WAYS``
    time: float  # [s] until the foot lands
    x: float  # [m] landing position of the foot's centre of mass
    y: float  # [m]


@kernel
def nearest_in_hull(points, count, x, y):
    """Return the point of the convex hull of the first ``count`` points (·, 2) that is nearest to (x, y).

    The hull's boundary consists of segments between points. If no point lies farther in the direction of (x, y) than
    the nearest point of all segments, (x, y) is outside; else it is inside.
    """
    best, px, py = math.inf, x, y
    for i in range(count):
        for j in range(i + 1):
            ax, ay = points[i, 0], points[i, 1]
            bx, by = points[j, 0] - ax, points[j, 1] - ay
            length = bx * bx + by * by
            share = 0.0
            if length > 0.0:
                share = min(max(((x - ax) * bx + (y - ay) * by) / length, 0.0), 1.0)
            cx, cy = ax + share * bx, ay + share * by
            away = (x - cx) * (x - cx) + (y - cy) * (y - cy)
            if away < best:
                best, px, py = away, cx, cy
    dx, dy = x - px, y - py
    for i in range(count):
        if dx * (points[i, 0] - px) + dy * (points[i, 1] - py) > 1e-9:
            return x, y
    return px, py


@kernel
def distance_outside(seen, count, x, y):
    """Return the distance [m] of (x, y) outside the hull of the first ``count`` of ``seen.corner``; negative inside."""
    return -inside_by(seen.hull, convex_hull(seen.corner, count, seen.hull), x, y)


@kernel
def best_pressure(rules, legs, seen, stance):
    """Return the centre of pressure on a sole from which ξ diverges most slowly, but only in part across travel.

    A centre of pressure in a corner of the sole leaves no friction to resist the yaw moment of the swinging leg.
    """
    numbers, points = seen.numbers, legs.sole.shape[1]
    x, y = 0.0, 0.0
    for c in range(points):
        x, y = x + seen.sole[stance, c, 0] / points, y + seen.sole[stance, c, 1] / points
    to_x, to_y = numbers[XI] - x, numbers[XI + 1] - y
    along_x, along_y = numbers[XI] - numbers[COM_AT], numbers[XI + 1] - numbers[COM_AT + 1]
    speed = math.hypot(along_x, along_y)
    along_x, along_y = along_x / max(speed, 1e-9), along_y / max(speed, 1e-9)
    along = to_x * along_x + to_y * along_y
    x += along * along_x + rules.lateral_share * (to_x - along * along_x)
    y += along * along_y + rules.lateral_share * (to_y - along * along_y)
    return nearest_in_hull(seen.inner[stance], points, x, y)


@kernel
def within(x, y, from_x, from_y, radius):
    """Return (x, y), moved to ``radius`` from (from_x, from_y) if it is farther away."""
    dx, dy = x - from_x, y - from_y
    away = math.hypot(dx, dy)
    share = radius / away if away > radius else 1.0
    return from_x + share * dx, from_y + share * dy


@kernel
def clear_of_other_leg(rules, way, ahead, aside, side):
    """Return a landing position relative to the stance foot, moved so that the legs do not collide.

    Args:
        rules: ``StepRules``.
        way: path past the other leg, below ``WAYS``.
        ahead: [m] forward.
        aside: [m] to the left.
        side: 1 for a left leg, −1 for a right one.
    """
    if way == 0:
        return ahead, side * max(side * aside, rules.min_step_width)
    # A crossed leg stands on the other side, in front or behind.
    return (max(ahead, rules.crossing_distance) if way == 1 else min(ahead, -rules.crossing_distance)), side * min(
        side * aside, -0.5 * rules.min_step_width
    )


@kernel
def plan_step(rules, legs, seen, swing, only, shortest, longest):
    """Return the step of least cost of a foot: landing time and position.

    Args:
        rules: ``StepRules``.
        legs: ``Legs`` of the law.
        seen: ``Seen`` of the law: ξ, the centre of mass, the soles.
        swing: swing foot; the body stands on the other.
        only: path past the other leg, or −1 for any.
        shortest: [s] earliest landing.
        longest: [s] latest landing, above ``shortest``.
    """
    stance, numbers = 1 - swing, seen.numbers
    points = legs.sole.shape[1]
    omega, xi_x, xi_y = numbers[OMEGA], numbers[XI], numbers[XI + 1]
    p_x, p_y = best_pressure(rules, legs, seen, stance)
    best = Step(math.inf, max(only, 0), longest, seen.foot[swing, 0], seen.foot[swing, 1])
    side = legs.side[swing]
    for k in range(TIMES):
        time = shortest + (longest - shortest) * k / (TIMES - 1.0)
        growth = math.exp(omega * time)
        to_x, to_y = p_x + growth * (xi_x - p_x), p_y + growth * (xi_y - p_y)
        far = math.hypot(to_x - p_x, to_y - p_y)
        out_x, out_y = (to_x - p_x) / max(far, 1e-9), (to_y - p_y) / max(far, 1e-9)
        # The hips move with the centre of mass.
        c_x, c_y = numbers[COM_AT], numbers[COM_AT + 1]
        v_x, v_y = omega * (xi_x - c_x), omega * (xi_y - c_y)
        half, rest = 0.5 * (growth + 1.0 / growth), 0.5 * (growth - 1.0 / growth)
        hip_x = seen.hip[swing, 0] + (p_x - c_x) + half * (c_x - p_x) + rest * v_x / omega
        hip_y = seen.hip[swing, 1] + (p_y - c_y) + half * (c_y - p_y) + rest * v_y / omega
        for way in range(WAYS):
            if only >= 0 and way != only:
                continue
            x, y = (
                to_x + rules.overshoot * out_x - legs.middle[swing, 0],
                to_y + rules.overshoot * out_y - legs.middle[swing, 1],
            )
            x, y = within(x, y, hip_x, hip_y, seen.hip[swing, 2])
            dx, dy = x - seen.foot[stance, 0], y - seen.foot[stance, 1]
            ahead = dx * legs.ahead[0] + dy * legs.ahead[1]
            aside = dy * legs.ahead[0] - dx * legs.ahead[1]
            ahead, aside = clear_of_other_leg(rules, way, ahead, aside, side)
            x = seen.foot[stance, 0] + ahead * legs.ahead[0] - aside * legs.ahead[1]
            y = seen.foot[stance, 1] + ahead * legs.ahead[1] + aside * legs.ahead[0]
            away_x, away_y = x - seen.foot[swing, 0], y - seen.foot[swing, 1]
            length = math.hypot(away_x, away_y)
            for i in range(points):
                seen.corner[i, 0], seen.corner[i, 1] = x + legs.sole[swing, i, 0], y + legs.sole[swing, i, 1]
            left = max(distance_outside(seen, points, to_x, to_y), 0.0)
            left += max(math.hypot(x - hip_x, y - hip_y) - seen.hip[swing, 2], 0.0)
            left += max(length - rules.max_swing_speed * time, 0.0) + 0.3 * max(length - rules.swing_speed * time, 0.0)
            cost = left + rules.time_cost * time + rules.length_cost * length + (rules.crossing_cost if way else 0.0)
            if cost < best.cost:
                best = Step(cost, way, time, x, y)
    return best


# Indices of ``Seen.numbers``; positions are horizontal, from O.
OMEGA = 0
COM_AT = 1
XI = 3
HIGH_AT = 5  # [m] height of the centre of mass above the floor
FLOOR_AT = 6  # [m] height of a flat foot's centre of mass, from O
FLOOR_MOVES = 7  # (2,) [m/s] estimated velocity of the floor
SEEN = 9


class Legs(NamedTuple):
    """Two legs, in the axes of the posture."""

    hip: Floats  # (2, 3) [m] hips from the root's centre of mass
    length: Floats  # (2,) [m] from the hip to the ankle, leg stretched
    ankle: Floats  # (2, 3) [m] ankles from each foot's centre of mass, foot flat
    sole: Floats  # (2, m, 2) [m] corners of the soles, from each foot's centre of mass
    middle: Floats  # (2, 2) [m] middle of each sole
    high: Floats  # (2,) [m] height of the feet's centres of mass above the floor, in stance
    side: Floats  # (2,) 1 for the left leg, −1 for the right
    ahead: Floats  # (2,) unit vector forward
    separation: Floats  # (2,) [m] from the second foot to the first


class Seen(NamedTuple):
    """Buffers for the quantities that a tick computes."""

    numbers: Floats  # (SEEN,)
    foot: Floats  # (2, 2) [m] centres of mass
    hip: Floats  # (2, 4) [m] x, y of a foot whose ankle is below the hip, horizontal reach, height over the ankle
    sole: Floats  # (2, m, 2) [m] corners
    inner: Floats  # (2, m, 2) [m] corners drawn in towards the middle: bounds of the planned centre of pressure
    corner: Floats  # (2m, 2) buffer for points
    hull: Floats  # (4m + 2, 2) buffer for the corners of their hull
