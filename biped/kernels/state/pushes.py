"""Forces at points of bodies, each along a fixed direction, whose impulse is exact for any step."""

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats, Integers
from contact.piecewise import Signals, no_signals, signal_at
from kernelcache import kernel


class Pushes(NamedTuple):
    """m forces; directions are fixed in the world, points move with their bodies."""

    body: Integers  # (m,)
    offset: Floats  # (m, 3) [m] from the body's centre of mass, home axes
    direction: Floats  # (m, 3) unit
    given: Signals  # m signals [N·s]: impulse of the force up to a time
    # Buffers of one step:
    impulse: Floats  # (m, 3) [N·s] in this step
    left: Floats  # (m, 3) [m] the point at the step's start, relative to O
    right: Floats  # (m, 3) [m] the point at the step's end


def new_pushes(m: int, given: Signals | None = None) -> Pushes:
    """Return m forces, zero by default."""
    offset, direction, impulse, left, right = (np.zeros((m, 3)) for _ in range(5))
    body = np.zeros(m, dtype=np.int64)
    return Pushes(body, offset, direction, no_signals() if given is None else given, impulse, left, right)


@kernel
def set_push_impulses(pushes, begin, end):
    """Fill ``pushes.impulse`` for the step from ``begin`` to ``end``."""
    for j in range(pushes.body.shape[0]):
        size = signal_at(pushes.given, j, end) - signal_at(pushes.given, j, begin)
        for axis in range(3):
            pushes.impulse[j, axis] = size * pushes.direction[j, axis]
