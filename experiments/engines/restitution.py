"""Restitution by a spring and damper between two bodies, for engines without a coefficient of restitution."""

import math


def damping_ratio(restitution: float) -> float:
    """Return the damping ratio, at most 1, of a spring and damper with this coefficient of restitution."""
    low, high = 0.0, 1.0
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if restitution_of(middle) > restitution else (low, middle)
    return middle


def restitution_of(ratio: float) -> float:
    """Return the coefficient of restitution of a spring and damper with this damping ratio.

    The bodies separate when the force would become attractive (Schwager and Pöschel 2007).
    """
    if abs(ratio - 1.0) < 1e-9:
        return math.exp(-2.0)
    angle = math.acos(ratio) if ratio < 1.0 else math.acosh(ratio)
    return math.exp(-2.0 * ratio * angle / math.sqrt(abs(1.0 - ratio**2)))
