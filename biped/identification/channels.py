"""The independent-channel model of stance (Peterka 2002) in closed form."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.inputs.checks import above_zero, zero_or_above
from biped.metrics.fourier import Complexes

#: [m/s²].
GRAVITY = 9.81
Stimulus = Literal["tilt", "torque", "translation"]


@dataclass(frozen=True)
class IndependentChannels:
    """An inverted pendulum on ankles that are felt, late, through channels that add up: ``postural``, linearized.

    With J φ̈ = m g h φ + T + T_d about the ankles, N = m g h (K + D s), P = m g h (passive stiffness + passive damping
    s), the delay E = e^{−sτ}, the low pass L = 1/(smoothing s + 1) of what the joints tell, and torque feedback
    F = G/(m g h (T_F s + 1)):

        T = −N E (W L (φ − ψ) + (1 − W) φ − F T) − P (φ − ψ)
        φ (1 − N E F + B (P + N E (W L + 1 − W))) = B (P + N E W L) ψ + (1 − N E F) B T_d,    B = 1/(J s² − m g h)

    for a floor that tilts by ψ about the ankles and a torque T_d from outside; one that shifts by x is a torque
    −m h ẍ. Sway is forwards where tilt and shift are.

    Attributes:
        inertia: J of the body about the ankles [kg·m²].
        toppling: m g h [N·m/rad].
        stiffness: K [m g h].
        damping: D [m g h s].
        weight: W of proprioception, 0 to 1; the rest is graviception's.
        delay: τ [s].
        passive_stiffness: [m g h].
        passive_damping: [m g h s].
        torque_feedback: G [rad/(m g h rad)].
        torque_feedback_time: T_F [s].
        smoothing: [s] of L.

    Raises:
        InputError: a number is not finite, or below what it can be.
    """

    inertia: float = field(metadata={"unit": "kg*m**2"})
    toppling: float = field(metadata={"unit": "N*m/rad"})
    stiffness: float = field(default=1.3, metadata={"unit": "m g h"})
    damping: float = field(default=0.4, metadata={"unit": "m g h s"})
    weight: float = 0.5
    delay: float = field(default=0.15, metadata={"unit": "s"})
    passive_stiffness: float = field(default=0.1, metadata={"unit": "m g h"})
    passive_damping: float = field(default=0.05, metadata={"unit": "m g h s"})
    torque_feedback: float = field(default=0.0, metadata={"unit": "rad/(m g h rad)"})
    torque_feedback_time: float = field(default=15.0, metadata={"unit": "s"})
    smoothing: float = field(default=0.0, metadata={"unit": "s"})

    def __post_init__(self) -> None:
        for name in ("inertia", "toppling", "torque_feedback_time"):
            above_zero(getattr(self, name), name)
        for name in ("delay", "smoothing", "passive_stiffness", "passive_damping", "torque_feedback"):
            zero_or_above(getattr(self, name), name)
        if not 0.0 <= self.weight <= 1.0:
            raise InputError(f"weight = {self.weight!r}: it must be from 0 (space) to 1 (the feet)")

    def response(self, frequencies: ArrayLike, stimulus: Stimulus = "tilt") -> Complexes:
        """(k,) sway of the body at frequencies [Hz], over a tilt [1], a torque [rad/(N·m)] or a shift [rad/m].

        Raises:
            InputError: for another stimulus.
        """
        s = 2j * np.pi * np.asarray(frequencies, dtype=float)
        b = 1.0 / (self.inertia * s**2 - self.toppling)
        late = self.toppling * (self.stiffness + self.damping * s) * np.exp(-s * self.delay)
        passive = self.toppling * (self.passive_stiffness + self.passive_damping * s)
        legs = self.weight / (self.smoothing * s + 1.0)
        fed = late * self.torque_feedback / (self.toppling * (self.torque_feedback_time * s + 1.0))
        closed = 1.0 - fed + b * (passive + late * (legs + 1.0 - self.weight))
        if stimulus == "tilt":
            return np.asarray(b * (passive + late * legs) / closed)
        if stimulus == "torque":
            return np.asarray((1.0 - fed) * b / closed)
        if stimulus == "translation":
            return np.asarray(-self.toppling / GRAVITY * s**2 * (1.0 - fed) * b / closed)
        raise InputError(f"stimulus = {stimulus!r}: it must be tilt, torque or translation")
