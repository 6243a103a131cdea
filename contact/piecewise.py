"""Functions of time as piecewise polynomials: how a platform moves, and how much impulse a force has given so far."""

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats, Integers
from contact.jit import kernel, routine


class Signals(NamedTuple):
    """m functions; each is zero before its first knot, and constant from its last one on."""

    first: Integers  # (m + 1,) the place of each one's first knot
    knot: Floats  # (k,) [s]
    coefficient: Floats  # (k, d) of powers of the time since the knot, from the constant on


def no_signals() -> Signals:
    """None at all."""
    return Signals(np.zeros(1, dtype=np.int64), np.zeros(0), np.zeros((0, 1)))


@kernel
def count_signals(signals):
    return signals.first.shape[0] - 1


@routine
def signal_at(signals, j, t):
    """The value of function j at time t [s]."""
    low, high = signals.first[j], signals.first[j + 1]
    if t < signals.knot[low]:
        return 0.0
    while high - low > 1:
        middle = (low + high) // 2
        if signals.knot[middle] <= t:
            low = middle
        else:
            high = middle
    since = t - signals.knot[low]
    value = 0.0
    for power in range(signals.coefficient.shape[1] - 1, -1, -1):
        value = value * since + signals.coefficient[low, power]
    return value
