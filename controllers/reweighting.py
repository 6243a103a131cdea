"""Model of human sensory reweighting: disturbance estimation and compensation (DEC)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biped.inputs.checks import above_zero, zero_or_above
from biped.model import Model
from controllers.ankles import AnkleController
from controllers.kernels.reweighting import Estimate, ReweightingLaw
from controllers.parameter import parameter

_DEGREE = math.pi / 180.0


@dataclass(frozen=True)
class Reweighting(AnkleController):
    """Disturbance estimation and compensation (Mergner 2015): ankle torque T = −m g h (φ_0 + S (K a + D ȧ)).

    The body is an inverted pendulum about its ankles. A servo controls the angle φ − ψ between body and feet; by itself
    it would tilt the body with the floor. Two disturbances are estimated, with thresholds, and compensated:

        a = (φ − ψ) + ψ̂ + ĝ,    ψ̂ = ∫ G_ψ Z(ψ̇) dt,    ĝ = G_g Z(φ),

    ψ̂ estimates the floor's tilt ψ from the feet's tilt rate in space, and ĝ gravity's pull from the sway φ in space.
    The angle φ counts from the sway φ_0 of the posture. Z(x) is the part of x beyond ±threshold. Small and slow tilts
    are below the thresholds: the body follows the floor. Larger tilts are compensated more: the weight shifts from
    proprioception to orientation in space, with one set of parameters for all amplitudes.

    Gains, thresholds (in degrees and degrees per second, as we read them) and the servo are those of people with eyes
    closed and a sensory delay of 0.16 s. With eyes open the thresholds are 0.20°/s and 0.03°, the gains 0.89 and 0.46,
    and the delay 0.15 s. Set the delay in ``biped.Sensors``, without thresholds there. The leak of ψ̂ is our choice; it
    removes accumulated noise.

    Attributes:
        tilt_gain: gain G_ψ of the tilt compensation.
        gravity_gain: gain G_g of the gravity compensation.
        servo: gain S of the servo.
        stiffness: [m g h] stiffness K of the servo.
        damping: [m g h s] damping D of the servo.
        leak: [s] time constant with which the estimated tilt decays.
    """

    recorded: ClassVar[dict[str, str]] = {"sensed_sway": "rad", "ankle_torque": "N*m", "estimated_tilt": "rad"}

    tilt_gain: float = parameter(0.75, "", "Gain of the floor tilt compensation", 0.0, 1.0)
    tilt_threshold: float = parameter(
        0.33 * _DEGREE, "rad/s", "Dead zone of the feet's tilt rate in the floor tilt compensation", 0.0, 0.02
    )
    gravity_gain: float = parameter(0.55, "", "Gain of the gravity compensation", 0.0, 1.0)
    gravity_threshold: float = parameter(0.07 * _DEGREE, "rad", "Dead zone of sway in gravity compensation", 0.0, 0.01)
    servo: float = parameter(0.85, "", "Gain of the servo of the angle between body and feet", 0.0, 2.0)
    stiffness: float = parameter(1.0, "m g h", "Stiffness of the servo (angle between body and feet)", 0.0, 3.0)
    damping: float = parameter(0.3, "m g h s", "Damping of the servo (angle between body and feet)", 0.0, 1.0)
    leak: float = parameter(20.0, "s", "Decay time constant of the estimated floor tilt", 1.0, 60.0)
    passive_stiffness: float = parameter(0.0, "m g h", "Passive stiffness of both ankles together", 0.0, 2.0)
    passive_damping: float = parameter(0.0, "m g h s", "Passive damping of both ankles together", 0.0, 0.2)

    def __post_init__(self) -> None:
        super().__post_init__()
        names = ("tilt_gain", "tilt_threshold", "gravity_gain", "gravity_threshold", "servo", "stiffness", "damping")
        for name in names:
            zero_or_above(getattr(self, name), f"reweighting.{name}")
        above_zero(self.leak, "reweighting.leak")

    def law(self, model: Model) -> ReweightingLaw:
        """Return the compiled law, for the kernels."""
        return ReweightingLaw(
            ankles=self.pendulum(model), tilt=Estimate(self.tilt_gain, self.tilt_threshold),
            gravity=Estimate(self.gravity_gain, self.gravity_threshold), servo=self.servo, stiffness=self.stiffness,
            damping=self.damping, kept=math.exp(-self.period / self.leak), period=self.period, believed=np.zeros(1),
        )  # fmt: skip
