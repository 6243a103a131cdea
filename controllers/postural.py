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
    """Independent channel model: active ankle torque −m g h (φ_0 + K e + D ė), passive ankles, other joints held.

    The body is an inverted pendulum about the ankles, with its CoM at height h, and the sensory error (Peterka 2002)

        e = W L (φ − ψ) + (1 − W) φ − F T.

    W is the weight of proprioception, which measures the sway φ of the body relative to feet that tilt by ψ with the
    floor; 1 − W is the weight of sway in space. The angle φ counts from the sway φ_0 of the posture. L and F are
    low-pass filters. T is the whole ankle torque, active and passive, from ground reaction forces. ``biped.Sensors``
    sets delay and noise of all signals. The passive torque (tendons, and muscles of constant activation) acts without
    delay: an impedance about the posture's angle. The posture is stable if active and passive stiffness add up to more
    than 1 and the delay is short enough. On a floor that tilts by ψ about the ankles, the body sways by H ψ. With the
    Laplace variable s, the body's inertia J, the active part N = m g h (K + D s), the passive part P = m g h (passive
    stiffness + passive damping s), the sensory delay τ in E = e^{−sτ}, and B = 1/(J s² − m g h),

        φ = B T,    T = −N E e − P (φ − ψ),    M = W L + 1 − W,
        H = (P B + W L N E B) / (1 − N E F + P B + M N E B).

    Attributes:
        stiffness: [m g h] stiffness K of the feedback.
        damping: [m g h s] damping D of the feedback.
        weight: proprioceptive weight W, 0 to 1; graviception has 1 − W. In people W falls from 0.7 for floor tilts of
            0.5° peak to peak to 0.2 for 8°.
        torque_feedback: [rad/(m g h rad)] gain of the filter F; 0.01° per N·m is 0.11.
        torque_feedback_time: [s] time constant of F.
    """

    recorded: ClassVar[dict[str, str]] = {"sensed_sway": "rad", "ankle_torque": "N*m"}

    stiffness: float = parameter(0.95, "m g h", "Stiffness of the sway feedback", 0.0, 3.0)
    damping: float = parameter(0.4, "m g h s", "Damping of the sway feedback", 0.0, 1.0)
    weight: float = parameter(
        0.0, "", "Proprioceptive weight (sway relative to the feet); the rest is graviceptive", 0.0, 1.0
    )
    torque_feedback: float = parameter(0.0, "rad/(m g h rad)", "Gain of the low-pass ankle torque feedback", 0.0, 0.3)
    torque_feedback_time: float = parameter(15.0, "s", "Low-pass time constant of the torque feedback", 0.1, 30.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("stiffness", "damping", "torque_feedback"):
            zero_or_above(getattr(self, name), f"postural.{name}")
        above_zero(self.torque_feedback_time, "postural.torque_feedback_time")
        if not 0.0 <= self.weight <= 1.0:
            raise InputError(f"postural.weight = {self.weight!r}: it must be from 0 (none) to 1 (only proprioception)")

    def law(self, model: Model) -> PosturalLaw:
        """Return the compiled law, for the kernels."""
        kept = math.exp(-self.period / self.torque_feedback_time)
        feedback = TorqueFeedback(self.torque_feedback, kept, self.period, np.full(1, np.nan))
        return PosturalLaw(self.pendulum(model), self.weight, self.stiffness, self.damping, feedback)
