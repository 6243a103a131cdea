"""Kernels of disturbance estimation from sensory signals with thresholds."""

from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from contact.arrays import Floats
from controllers.kernels.ankles import Ankles, exert, sense_sway
from kernelcache import kernel


class Estimate(NamedTuple):
    """Gain and threshold of a disturbance estimate."""

    gain: float
    threshold: float  # [rad, or rad/s]


class ReweightingLaw(NamedTuple):
    """Parameters and memory of the controller."""

    ankles: Ankles
    tilt: Estimate  # for the floor's tilt rate in space
    gravity: Estimate  # for the body's sway in space
    servo: float
    stiffness: float  # [m g h]
    damping: float  # [m g h s]
    kept: float  # share of the estimated tilt kept from tick to tick
    period: float  # [s]
    believed: Floats  # (1,) [rad] estimated tilt


@control.register(ReweightingLaw)
def reweighting_torques(law, measurement, torque, recorded):
    """Write ankle torques that sum up to −m g h (φ_0 + S (K a + D ȧ)) on the body; a = sway from feet + estimates."""
    sway = sense_sway(law.ankles, measurement)
    tilt_rate = law.tilt.gain * beyond(sway.feet_rate, law.tilt.threshold)
    tilt = law.kept * law.believed[0] + law.period * tilt_rate
    law.believed[0] = tilt
    angle, rate = sway.legs + tilt, sway.legs_rate + tilt_rate
    leaning = beyond(sway.body, law.gravity.threshold)
    if leaning != 0.0:
        angle, rate = angle + law.gravity.gain * leaning, rate + law.gravity.gain * sway.body_rate
    recorded[0], recorded[2] = sway.body + law.ankles.upright, tilt
    recorded[1] = exert(law.ankles, law.servo * (law.stiffness * angle + law.damping * rate), torque)


@kernel
def beyond(x, threshold):
    """Return x after a dead zone of ±threshold, as the part above the threshold in absolute value."""
    return max(x - threshold, 0.0) + min(x + threshold, 0.0)
