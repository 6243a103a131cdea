"""Sensors of people, by name; ``Sensors.preset`` has their sources."""

import math

from biped.disturbances.sensors.sensors import Sensors
from biped.inputs.fields import replaced

_DEGREE = math.pi / 180.0
_NOISE = {
    "visual.position_noise": 5e-4, "visual.velocity_noise": 2e-3,
    "vestibular.orientation_noise": 1e-3, "vestibular.angular_velocity_noise": 2e-3,
    "proprioceptive.joint_noise": 1e-4, "proprioceptive.joint_rate_noise": 2e-4, "force.noise": 1.0,
    "visual.relative_noise": 0.1, "vestibular.relative_noise": 0.1, "proprioceptive.relative_noise": 0.1,
    "force.relative_noise": 0.01,
}  # fmt: skip
_COLOUR = {f"{channel}.time_constant": 0.1 for channel in ("visual", "vestibular", "proprioceptive", "force")}


def _thresholds(angle: float, rate: float) -> dict[str, float]:
    return {
        "vestibular.orientation_threshold": angle * _DEGREE, "vestibular.angular_velocity_threshold": rate * _DEGREE,
    }  # fmt: skip


def _late(delay: float) -> dict[str, float]:
    return {"delay": delay, "force.delay": delay}


def _times(factor: float, *names: str) -> dict[str, float]:
    return {name: factor * _OPEN[name] for name in names}


_OPEN = _late(0.15) | _NOISE | _COLOUR | _thresholds(0.03, 0.20)
_TURNS = ("vestibular.orientation_noise", "vestibular.angular_velocity_noise")

PRESETS: dict[str, Sensors] = {
    name: replaced(Sensors(), _OPEN | changes)
    for name, changes in {
        "eyes-open": {},
        "eyes-closed": _late(0.16)
        | _thresholds(0.07, 0.33)
        | _times(5.0, "visual.position_noise", "visual.velocity_noise"),
        "foam": _times(10.0, "proprioceptive.joint_noise", "proprioceptive.joint_rate_noise"),
        "vestibular-loss": _times(10.0, *_TURNS) | _thresholds(5.0, 5.0),
        "young": {},
        "old": _times(2.0, *_NOISE, *_thresholds(0.0, 0.0)) | _late(0.19),
    }.items()
}
