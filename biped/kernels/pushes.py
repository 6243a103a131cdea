"""Pushes: a force of a given waveform at a point of a body, with its exact impulse whatever the step."""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.tree import Floats, Integers
from contact.jit import kernel

RECTANGLE = 1
HALF_SINE = 2


class Pushes(NamedTuple):
    """m pushes; directions are fixed in the world, points move with their bodies."""

    body: Integers  # (m,)
    offset: Floats  # (m, 3) [m] from the body's centre of mass, home axes
    direction: Floats  # (m, 3) unit
    waveform: Integers  # (m,)
    start: Floats  # (m,) [s]
    duration: Floats  # (m,) [s]
    peak: Floats  # (m,) [N]
    # Room for one step:
    impulse: Floats  # (m, 3) [N·s] in this step
    left: Floats  # (m, 3) [m] the point at the step's start, relative to O
    right: Floats  # (m, 3) [m] the point at the step's end


def new_pushes(m: int) -> Pushes:
    """Room for m pushes."""
    flat = np.zeros(m)
    kinds = np.zeros(m, dtype=np.int64)
    wide = [np.zeros((m, 3)) for _ in range(5)]
    return Pushes(
        kinds.copy(), wide[0], wide[1], kinds.copy(), flat.copy(), flat.copy(), flat.copy(), wide[2], wide[3], wide[4]
    )


@kernel
def waveform_integral(waveform, duration, t):
    """∫ of the waveform of unit height from its start to ``t`` after it [s]."""
    t = min(max(t, 0.0), duration)
    if waveform == HALF_SINE:
        return duration / math.pi * (1.0 - math.cos(math.pi * t / duration))
    return t


@kernel
def impulse_within(pushes, j, begin, end):
    """The size of push j's impulse between two times [N·s]."""
    after = waveform_integral(pushes.waveform[j], pushes.duration[j], end - pushes.start[j])
    before = waveform_integral(pushes.waveform[j], pushes.duration[j], begin - pushes.start[j])
    return pushes.peak[j] * (after - before)


@kernel
def set_push_impulses(pushes, begin, end):
    """Fill ``pushes.impulse`` for the step from ``begin`` to ``end``."""
    for j in range(pushes.body.shape[0]):
        size = impulse_within(pushes, j, begin, end)
        for axis in range(3):
            pushes.impulse[j, axis] = size * pushes.direction[j, axis]
