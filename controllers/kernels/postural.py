"""Kernels of the independent channel model of postural control."""

import math
from typing import NamedTuple

from biped.kernels.loop.closed_loop import control
from contact.arrays import Floats
from controllers.kernels.ankles import Ankles, exert, sense_sway, torque_from_floor
from kernelcache import kernel


class TorqueFeedback(NamedTuple):
    """Low-pass filtered feedback of the ankle torque."""

    gain: float  # [rad per m g h rad]
    kept: float  # share of the last value kept from tick to tick
    period: float  # [s]
    last: Floats  # (1,) [rad] last value; NaN before the first tick


class PosturalLaw(NamedTuple):
    """Parameters of the controller."""

    ankles: Ankles
    weight: float  # weight of sway relative to the feet; sway in space has the rest
    stiffness: float  # [m g h] of the feedback
    damping: float  # [m g h s]
    torque: TorqueFeedback


@control.register(PosturalLaw)
def postural_torques(law, measurement, torque, recorded):
    """Write ankle torques that sum up to −m g h (φ_0 + K e + D ė) on the body; e: weighted sways minus F T."""
    sway = sense_sway(law.ankles, measurement)
    space = 1.0 - law.weight
    error = law.weight * sway.legs + space * sway.body
    rate = law.weight * sway.legs_rate + space * sway.body_rate
    if law.torque.gain > 0.0:
        eased, eased_rate = torque_feedback(law, measurement)
        error, rate = error - eased, rate - eased_rate
    recorded[0] = sway.body + law.ankles.upright
    recorded[1] = exert(law.ankles, law.stiffness * error + law.damping * rate, torque)


@kernel
def torque_feedback(law, measurement):
    """Return F T and its rate [rad, rad/s], F = G/(T_F s + 1): positive feedback of the ankle torque."""
    feedback = law.torque
    target = feedback.gain * torque_from_floor(law.ankles, measurement) / law.ankles.toppling
    last = target if math.isnan(feedback.last[0]) else feedback.last[0]
    eased = target + feedback.kept * (last - target)
    feedback.last[0] = eased
    return eased, (eased - last) / feedback.period
