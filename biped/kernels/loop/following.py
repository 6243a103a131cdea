"""The sway-referenced floor, whose pitch follows the body's sway from one control tick to the next.

The pitch signal of the floor is rewritten at each tick: it changes at a constant rate and reaches the target of the
tick's sway at the next tick. A seventh signal, which enters no frame, holds offset and gain of that target.
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
TARGET = 6


def following(gain: float) -> Signals:
    """Return the signals of a sway-referenced floor before its first tick, when the offset is unknown."""
    signals = Signals(np.arange(TARGET + 2), np.zeros(TARGET + 1), np.zeros((TARGET + 1, 2)))
    signals.coefficient[TARGET] = math.nan, gain
    return signals


@kernel
def follows(signals):
    """Return True for the signals of a sway-referenced floor."""
    return count_signals(signals) > TARGET


def stay(signals: Signals, time: float, pitch: float, is_new: bool) -> None:
    """Hold the floor at a pitch [rad] from a time [s] on; the offset of a new one is unknown until its first tick."""
    signals.knot[PITCH] = time
    signals.coefficient[PITCH] = pitch, 0.0
    if is_new:
        signals.coefficient[TARGET, 0] = math.nan


@kernel
def follow(tree, ground, state, poses, steps):
    """Let the floor turn to the target of the present sway within ``steps`` steps."""
    signals, time = ground.motion, time_of(state)
    pitch, target = signal_at(signals, PITCH, time), signals.coefficient[TARGET]
    sway = sway_about(tree, ground.pivot, state, poses)
    if math.isnan(target[0]):
        target[0] = pitch - target[1] * sway
    signals.knot[PITCH] = time
    signals.coefficient[PITCH, 0] = pitch
    signals.coefficient[PITCH, 1] = (target[0] + target[1] * sway - pitch) / (steps * state.clock[STEP_LENGTH])


@kernel
def sway_about(tree, pivot, state, poses):
    """Return the sway angle [rad] about y of the line from the pivot to the centre of mass, from the vertical."""
    com, origin = centre_of_mass(tree, poses), reference_point(tree, state.q)
    return math.atan2(origin[0] + com[0] - pivot[0], origin[2] + com[2] - pivot[2])
