"""A floor that turns with the body's sway: how its pitch goes on from one control tick to the next.

Of the floor's signals the pitch is rewritten at each tick: it goes evenly from where it is to where the sway was seen
at the tick, and is there at the next one. A seventh signal, which no frame is made of, has offset and gain: the pitch
that is wanted over the sway.
"""

import math

import numpy as np

from biped.kernels.state.simulation_state import STEP_LENGTH
from biped.kernels.step.step import time_of
from biped.kernels.tree.dynamics import centre_of_mass
from biped.kernels.variational.equations import reference_point
from contact.piecewise import Signals, count_signals, signal_at
from kernelcache import kernel

PITCH = 4
WANTED = 6


def following(gain: float) -> Signals:
    """The signals of a floor that has yet to see from which sway it follows."""
    signals = Signals(np.arange(WANTED + 2), np.zeros(WANTED + 1), np.zeros((WANTED + 1, 2)))
    signals.coefficient[WANTED] = math.nan, gain
    return signals


@kernel
def follows(signals):
    """Whether they are those of a floor that turns with the body."""
    return count_signals(signals) > WANTED


def stay(signals: Signals, time: float, pitch: float, is_new: bool) -> None:
    """Let the floor be where it is from a time [s] on; a new one has yet to see from which sway it follows."""
    signals.knot[PITCH] = time
    signals.coefficient[PITCH] = pitch, 0.0
    if is_new:
        signals.coefficient[WANTED, 0] = math.nan


@kernel
def follow(tree, ground, state, poses, steps):
    """Let the floor turn to the present sway in so many steps."""
    signals, time = ground.motion, time_of(state)
    pitch, wanted = signal_at(signals, PITCH, time), signals.coefficient[WANTED]
    sway = sway_about(tree, ground.pivot, state, poses)
    if math.isnan(wanted[0]):
        wanted[0] = pitch - wanted[1] * sway
    signals.knot[PITCH] = time
    signals.coefficient[PITCH, 0] = pitch
    signals.coefficient[PITCH, 1] = (wanted[0] + wanted[1] * sway - pitch) / (steps * state.clock[STEP_LENGTH])


@kernel
def sway_about(tree, pivot, state, poses):
    """[rad] about y, of the line from the pivot to the centre of mass, from the vertical."""
    com, origin = centre_of_mass(tree, poses), reference_point(tree, state.q)
    return math.atan2(origin[0] + com[0] - pivot[0], origin[2] + com[2] - pivot[2])
