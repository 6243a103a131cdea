"""Functions of time as piecewise polynomials for kernels: motions of a platform, and impulses of forces."""

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats, Integers
from kernelcache import kernel, routine


class Signals(NamedTuple):
    """Set of m functions of time, each zero before its first knot and constant from its last knot on."""

    first: Integers  # (m + 1,) index of the first knot of each function
    knot: Floats  # (k,) [s] start time of each piece
    coefficient: Floats  # (k, d) coefficients of the powers of the time since the knot, the constant first


def no_signals() -> Signals:
    """Return an empty set of functions."""
    return Signals(np.zeros(1, dtype=np.int64), np.zeros(0), np.zeros((0, 1)))


@kernel
def count_signals(signals):
    return signals.first.shape[0] - 1


@kernel
def piece_at(signals, j, t):
    """Return the index of the piece of function j at time t [s]; −1 before its first piece."""
    low, high = signals.first[j], signals.first[j + 1]
    if t < signals.knot[low]:
        return -1
    while high - low > 1:
        middle = (low + high) // 2
        if signals.knot[middle] <= t:
            low = middle
        else:
            high = middle
    return low


@routine
def signal_at(signals, j, t):
    """Return the value of function j at time t [s]."""
    piece = piece_at(signals, j, t)
    if piece < 0:
        return 0.0
    since = t - signals.knot[piece]
    value = 0.0
    for power in range(signals.coefficient.shape[1] - 1, -1, -1):
        value = value * since + signals.coefficient[piece, power]
    return value


@routine
def signal_motion(signals, j, t):
    """Return value, first and second derivative of function j at time t [s]; at a knot, of the piece after it.

    It uses Horner's scheme and its derivatives.
    """
    piece = piece_at(signals, j, t)
    if piece < 0:
        return 0.0, 0.0, 0.0
    since = t - signals.knot[piece]
    value, rate, half_curve = 0.0, 0.0, 0.0
    for power in range(signals.coefficient.shape[1] - 1, -1, -1):
        half_curve = half_curve * since + rate
        rate = rate * since + value
        value = value * since + signals.coefficient[piece, power]
    return value, rate, 2.0 * half_curve
