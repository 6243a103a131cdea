"""How a spring and a damper between two bodies throw them back, in engines that have no restitution."""

import math


def damping_ratio(restitution: float) -> float:
    """Of a spring and damper that throw a mass back with this share of its speed, up to one: 0.135 of it at least."""
    least, most = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (least + most)
        least, most = (middle, most) if thrown_back(middle) > restitution else (least, middle)
    return 0.5 * (least + most)


def thrown_back(ratio: float) -> float:
    """The share of its speed with which a spring and damper of a damping ratio below one throw a mass back.

    They let go of it once they would have to pull (Schwager and Pöschel 2007).
    """
    root = math.sqrt(1.0 - ratio**2)
    return (
        math.exp(-ratio / root * math.atan2(2.0 * ratio * root, 2.0 * ratio**2 - 1.0)) if root > 0.0 else math.exp(-2.0)
    )
