"""Model of human quiet stance: sensory-weighted feedback to the ankles of an inverted pendulum."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biped.errors import InputError
from biped.inputs.checks import above_zero, zero_or_above
from biped.model import Model
from controllers.ankles import AnkleController
from controllers.kernels.postural import PosturalLaw, TorqueFeedback
from controllers.parameter import parameter


@dataclass(frozen=True)
class Postural(AnkleController):
    """Independent channel model: ankle torque T = −m g h (φ_0 + K e + D ė) plus passive ankles; other joints are held.

    The body is an inverted pendulum about the ankles with the sensory error (Peterka 2002)

        e = W L (φ − ψ) + (1 − W) φ − F T.

    W is the weight of proprioception, which measures the body's sway φ relative to the feet; these tilt by ψ with the
    floor. 1 − W is the weight of sway in space. Both are relative to the posture's sway φ_0. L and F are low-pass
    filters, and T is the ankle torque including its passive part, from ground reaction forces. ``biped.Sensors`` sets
    delay and noise of all signals. The passive part (tendons, and muscles of constant activation) acts without delay:
    an impedance about the posture's angle, within the integrator's steps. The posture is stable if the sum
    of both stiffnesses is above 1 and the delay is short enough.

    On a floor that tilts by ψ about the ankles, the body sways by H ψ. With inertia J, N = m g h (K + D s), P = m g h
    (passive stiffness + passive damping s), delay E = e^{−sτ} and B = 1/(J s² − m g h),

        φ = B T,    T = −N E e − P (φ − ψ),    M = W L + 1 − W,
        H = (P B + W L N E B) / (1 − N E F + P B + M N E B).

    Attributes:
        stiffness: [m g h] stiffness K of the feedback.
        damping: [m g h s] damping D of the feedback.
        weight: proprioceptive weight W, 0 to 1; the rest is graviceptive. In people it is lower for larger tilts of the
            floor: 0.7 at tilts of 0.5° peak to peak, 0.2 at 8°.
        torque_feedback: [rad/(m g h rad)] gain of F; 0.01° per N·m correspond to 0.11.
        torque_feedback_time: [s] time constant of F.
    """

    recorded: ClassVar[dict[str, str]] = {"sensed_sway": "rad", "ankle_torque": "N*m"}

    stiffness: float = parameter(0.95, "m g h", "Stiffness of the sway feedback", 0.0, 3.0)
    damping: float = parameter(0.4, "m g h s", "Damping of the sway feedback", 0.0, 1.0)
    weight: float = parameter(
        0.0, "", "Proprioceptive weight (sway relative to the feet); the rest is graviceptive", 0.0, 1.0
    )
    torque_feedback: float = parameter(0.0, "rad/(m g h rad)", "Gain of the low-pass torque feedback", 0.0, 0.3)
    torque_feedback_time: float = parameter(15.0, "s", "Time constant of the torque feedback", 0.1, 30.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("stiffness", "damping", "torque_feedback"):
            zero_or_above(getattr(self, name), f"postural.{name}")
        above_zero(self.torque_feedback_time, "postural.torque_feedback_time")
        if not 0.0 <= self.weight <= 1.0:
            raise InputError(f"postural.weight = {self.weight!r}: it must be from 0 (space) to 1 (the feet)")

    def law(self, model: Model) -> PosturalLaw:
        """Return the compiled law, for the kernels."""
        kept = math.exp(-self.period / self.torque_feedback_time)
        feedback = TorqueFeedback(self.torque_feedback, kept, self.period, np.full(1, np.nan))
        return PosturalLaw(self.pendulum(model), self.weight, self.stiffness, self.damping, feedback)
