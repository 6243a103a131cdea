"""The independent-channel model of stance (Peterka 2002) in closed form."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.inputs.checks import above_zero, zero_or_above
from biped.metrics.fourier import Complexes

#: [m/s²] Gravitational acceleration.
GRAVITY = 9.81
Stimulus = Literal["tilt", "torque", "translation"]


def measured(unit: str, default: Any = MISSING) -> Any:
    """Return a dataclass field with a unit and, if given, a default."""
    return field(default=default, metadata={"unit": unit})


@dataclass(frozen=True)
class IndependentChannels:
    """Inverted pendulum with delayed sensory channels whose signals add up: the linearized controller ``postural``.

    The body sways by φ about the ankles, with the inertia J, the ankle torque T and an external torque T_d, on a floor
    that tilts by ψ: J φ̈ = m g h φ + T + T_d. With the Laplace variable s,

        T = −N E (W L (φ − ψ) + (1 − W) φ − F T) − P (φ − ψ)
        φ (1 − N E F + B (P + N E (W L + 1 − W))) = B (P + N E W L) ψ + (1 − N E F) B T_d,    B = 1/(J s² − m g h)

    with N = m g h (stiffness + damping s), P = m g h (passive stiffness + passive damping s), E = e^{−s delay}, the
    weight W of proprioception, its low-pass filter L = 1/(smoothing s + 1), and feedback F = G/(m g h (T_F s + 1)) of
    torque with gain G. A translation x acts as the torque −m h ẍ. All angles and x have the same positive direction.

    Raises:
        InputError: a number is not finite or out of range.
    """

    inertia: float = measured("kg*m**2")  # J, of the body about the ankles
    toppling: float = measured("N*m/rad")  # m g h
    stiffness: float = measured("m g h", 1.3)
    damping: float = measured("m g h s", 0.4)
    weight: float = 0.5  # W, weight of proprioception, 0 to 1; graviception has 1 − W
    delay: float = measured("s", 0.15)
    passive_stiffness: float = measured("m g h", 0.1)
    passive_damping: float = measured("m g h s", 0.05)
    torque_feedback: float = measured("rad/(m g h rad)", 0.0)  # G
    torque_feedback_time: float = measured("s", 15.0)  # T_F
    smoothing: float = measured("s", 0.0)  # time constant of L

    def __post_init__(self) -> None:
        for name in ("inertia", "toppling", "torque_feedback_time"):
            above_zero(getattr(self, name), name)
        for name in ("delay", "smoothing", "passive_stiffness", "passive_damping", "torque_feedback"):
            zero_or_above(getattr(self, name), name)
        if not 0.0 <= self.weight <= 1.0:
            raise InputError(f"weight = {self.weight!r}: it must be from 0 (graviception) to 1 (proprioception)")

    def response(self, frequencies: ArrayLike, stimulus: Stimulus = "tilt") -> Complexes:
        """Return the response (k,) of the sway to tilt [1], torque [rad/(N·m)] or translation [rad/m], at [Hz].

        Raises:
            InputError: the stimulus is unknown.
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
