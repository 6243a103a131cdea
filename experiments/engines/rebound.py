"""How a spring and a damper between two bodies throw them back, in engines that have no restitution."""

import math
from collections.abc import Callable


def damping_ratio(restitution: float, most: float = 1.0) -> float:
    """The damping ratio of a spring and damper that throw a mass back with this share of its speed.

    Up to ``most``, at which 0.135 of the speed is left for 1, and a thousandth for 16.
    """
    return falls_to(thrown_back, restitution, 0.0, most)


def falls_to(function: Callable[[float], float], value: float, low: float, high: float) -> float:
    """Where a function falls to a value, by bisection; an end of the range where it does not."""
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if function(middle) > value else (low, middle)
    return middle


def thrown_back(ratio: float) -> float:
    """The share of its speed with which a spring and damper of a damping ratio throw a mass back.

    They let go of it once they would have to pull (Schwager and Pöschel 2007).
    """
    if abs(ratio - 1.0) < 1e-9:
        return math.exp(-2.0)
    angle = math.acos(ratio) if ratio < 1.0 else math.acosh(ratio)
    return math.exp(-2.0 * ratio * angle / math.sqrt(abs(1.0 - ratio**2)))
