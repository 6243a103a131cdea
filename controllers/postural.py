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
    """T = −m g h (φ_0 + K e + D ė) about the ankles, in addition to passive ankles; all other joints are held.

    The body is an inverted pendulum about the ankles, with the independent channel model (Peterka 2002):

        e = W L (φ − ψ) + (1 − W) φ − F T.

    W weighs proprioception: the body's sway φ relative to the feet, which tilt by ψ with the floor. 1 − W weighs the
    sway in space; both are relative to the posture's φ_0. L is the low-pass filter of ``smoothing``, F another one, and
    T the ankle torque sensed from the ground reaction forces, its passive part included. All signals are delayed and
    noisy as set by ``biped.Sensors``: the loop has their ``delay`` and ``force_delay``. The passive part (tendons and
    muscles of constant activation) acts without delay, within the integrator's steps: an impedance about the posture's
    angle. The posture is a stable equilibrium if the sum of both stiffnesses is above 1 and the delay is short enough.

    On a floor that tilts by ψ about the ankles the body sways by H ψ. With J φ̈ = m g h φ + T of a body of inertia J,
    N = m g h (K + D s), P = m g h (passive stiffness + passive damping s), the delay E = e^{−sτ}, B = 1/(J s² − m g h):

        φ = B T,    T = −N E e − P (φ − ψ),    M = W L + 1 − W,
        H = (P B + W L N E B) / (1 − N E F + P B + M N E B).

    Attributes:
        stiffness: K of the feedback [m g h].
        damping: D of the feedback [m g h s].
        weight: proprioceptive weight W, 0 to 1; the rest is graviceptive. People use it less for larger tilts of the
            floor: 0.7 at tilts of 0.5° peak to peak, 0.2 at 8°.
        torque_feedback: gain of F [rad/(m g h rad)]; 0.01° per N·m are 0.11.
        torque_feedback_time: time constant of F [s].
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
