"""Where and when to step: the linear inverted pendulum's answer, in closed form at each tick.

With the centre of pressure at p the extrapolated centre of mass goes as ξ(T) = p + (ξ − p) e^{ωT} (Hof et al. 2005;
Koolen et al. 2012). Of each landing time T and each way past the other leg there is one place that takes it up best; it
is brought within what the legs reach, and the one of least cost is taken. Places are horizontal, from the point O below
the root's centre of mass, in world axes.
"""

import math
from typing import NamedTuple

from biped.metrics.kernels.polygon import convex_hull, inside_by
from contact.arrays import Floats
from kernelcache import kernel

#: Landing times that are compared.
TIMES = 10
#: Ways past the other leg: beside it, crossing before it, crossing behind it.
WAYS = 3


class StepRules(NamedTuple):
    """What a step may be."""

    shortest: float  # [s] a swing
    longest: float  # [s]
    speed: float  # [m/s] of a foot on its way, in the mean, above which it costs
    fastest: float  # [m/s] the same, above which it does not get there
    beyond: float  # [m] by which a foot is put beyond ξ
    apart: float  # [m] between the feet's middles from side to side, at least
    past: float  # [m] fore and aft of one another, of legs that cross
    across: float  # of the way to ξ across the way that the body goes, what the centre of pressure takes of it
    lateness: float  # [m/s] what a later landing costs
    length: float  # what a longer step costs, per metre
    crossing: float  # [m] what it costs to cross


class Step(NamedTuple):
    """A step that is planned."""

    cost: float  # [m]
    way: int  # past the other leg
    time: float  # [s] until the foot lands
    x: float  # [m] of the foot's centre of mass
    y: float


@kernel
def nearest_in_hull(points, count, x, y):
    """The point of the convex hull of the first ``count`` points (·, 2) that is nearest to (x, y).

    The hull's boundary is made of segments between points; from outside the nearest point of them all is the one that
    no point lies beyond. Where there is none such, (x, y) is inside.
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
def beyond_hull(seen, count, x, y):
    """[m] How far (x, y) is outside of the hull of the first of ``seen.corner``; below zero: how far inside."""
    return -inside_by(seen.hull, convex_hull(seen.corner, count, seen.hull), x, y)


@kernel
def best_pressure(rules, legs, seen, stance):
    """The place on a sole that ξ runs away from most slowly; across the way that the body goes, only partly.

    A centre of pressure in a corner of the sole leaves no friction to hold the body's turn about the vertical, which a
    leg that swings takes.
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
    x += along * along_x + rules.across * (to_x - along * along_x)
    y += along * along_y + rules.across * (to_y - along * along_y)
    return nearest_in_hull(seen.inner[stance], points, x, y)


@kernel
def within(x, y, from_x, from_y, radius):
    """(x, y), brought to ``radius`` from a place if it is farther."""
    dx, dy = x - from_x, y - from_y
    away = math.hypot(dx, dy)
    share = radius / away if away > radius else 1.0
    return from_x + share * dx, from_y + share * dy


@kernel
def past_other_leg(rules, way, ahead, aside, side):
    """A place seen from the other foot, ahead of it and aside, brought to where the legs do not meet on this way.

    Args:
        rules: ``StepRules``.
        way: of ``WAYS``.
        ahead: [m].
        aside: [m] to the left.
        side: 1 of a left leg, −1 of a right one.
    """
    if way == 0:
        return ahead, side * max(side * aside, rules.apart)
    # A leg that has crossed stands on the other side, before or behind.
    return (max(ahead, rules.past) if way == 1 else min(ahead, -rules.past)), side * min(
        side * aside, -0.5 * rules.apart
    )


@kernel
def plan_step(rules, legs, seen, swing, only, shortest, longest):
    """The step of least cost of a foot: when and where it lands.

    Args:
        rules: ``StepRules``.
        legs: ``Legs`` of the law.
        seen: ``Seen`` of the law: ξ, the centre of mass, the soles.
        swing: the foot that steps; it stands on the other.
        only: the way past the other leg, or −1 for any.
        shortest: [s] until it may land at the earliest.
        longest: [s] until it must have landed, above ``shortest``.
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
        # The hips go with the centre of mass.
        c_x, c_y = numbers[COM_AT], numbers[COM_AT + 1]
        v_x, v_y = omega * (xi_x - c_x), omega * (xi_y - c_y)
        half, rest = 0.5 * (growth + 1.0 / growth), 0.5 * (growth - 1.0 / growth)
        hip_x = seen.hip[swing, 0] + (p_x - c_x) + half * (c_x - p_x) + rest * v_x / omega
        hip_y = seen.hip[swing, 1] + (p_y - c_y) + half * (c_y - p_y) + rest * v_y / omega
        for way in range(WAYS):
            if only >= 0 and way != only:
                continue
            x, y = (
                to_x + rules.beyond * out_x - legs.middle[swing, 0],
                to_y + rules.beyond * out_y - legs.middle[swing, 1],
            )
            x, y = within(x, y, hip_x, hip_y, seen.hip[swing, 2])
            dx, dy = x - seen.foot[stance, 0], y - seen.foot[stance, 1]
            ahead = dx * legs.ahead[0] + dy * legs.ahead[1]
            aside = dy * legs.ahead[0] - dx * legs.ahead[1]
            ahead, aside = past_other_leg(rules, way, ahead, aside, side)
            x = seen.foot[stance, 0] + ahead * legs.ahead[0] - aside * legs.ahead[1]
            y = seen.foot[stance, 1] + ahead * legs.ahead[1] + aside * legs.ahead[0]
            away_x, away_y = x - seen.foot[swing, 0], y - seen.foot[swing, 1]
            length = math.hypot(away_x, away_y)
            for i in range(points):
                seen.corner[i, 0], seen.corner[i, 1] = x + legs.sole[swing, i, 0], y + legs.sole[swing, i, 1]
            left = max(beyond_hull(seen, points, to_x, to_y), 0.0)
            left += max(math.hypot(x - hip_x, y - hip_y) - seen.hip[swing, 2], 0.0)
            left += max(length - rules.fastest * time, 0.0) + 0.3 * max(length - rules.speed * time, 0.0)
            cost = left + rules.lateness * time + rules.length * length + (rules.crossing if way else 0.0)
            if cost < best.cost:
                best = Step(cost, way, time, x, y)
    return best


# Places in ``Seen.numbers``: horizontal, from O.
OMEGA = 0
COM_AT = 1
XI = 3
HIGH_AT = 5  # [m] of the centre of mass above the floor
FLOOR_AT = 6  # [m] height of a flat foot's centre of mass, from O
FLOOR_MOVES = 7  # (2,) [m/s] the floor, as far as the feet feel it
SEEN = 9


class Legs(NamedTuple):
    """Two legs, in the axes of the posture."""

    hip: Floats  # (2, 3) [m] from the root's centre of mass
    length: Floats  # (2,) [m] from there to the foot's, at most
    sole: Floats  # (2, m, 2) [m] corners of the soles, from each foot's centre of mass
    middle: Floats  # (2, 2) [m] of each sole
    high: Floats  # (2,) [m] of the feet's centres of mass above the floor they stand on
    side: Floats  # (2,) 1 of the left, −1 of the right
    ahead: Floats  # (2,) unit: where it faces
    beside: Floats  # (2,) [m] the first foot from the second


class Seen(NamedTuple):
    """What a tick has found: room."""

    numbers: Floats  # (SEEN,)
    foot: Floats  # (2, 2) [m] centres of mass
    hip: Floats  # (2, 4) [m] and how far the leg reaches from there, seen from above; how high it is over a flat foot
    sole: Floats  # (2, m, 2) [m] corners
    inner: Floats  # (2, m, 2) [m] the same, drawn in towards the middle: where the centre of pressure is planned
    corner: Floats  # (2m, 2) room: points
    hull: Floats  # (4m + 2, 2) room: the corners of their hull
