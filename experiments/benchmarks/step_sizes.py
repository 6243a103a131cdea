"""Grids of step sizes, each half of the one before, and the order that errors on them have."""

from collections.abc import Sequence

import numpy as np


def halved(coarsest: float, count: int) -> tuple[float, ...]:
    """[s] the coarsest step, a half of it, a quarter, …"""
    return tuple(coarsest / 2**k for k in range(count))


def slope(x: Sequence[float], y: Sequence[float]) -> float:
    """The power of x that y grows with: of a straight line through the logarithms."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])
