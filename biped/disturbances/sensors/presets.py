"""Sensors of people, by name; ``Sensors.preset`` has their sources."""

import math
from dataclasses import replace
from typing import Any

from biped.disturbances.sensors.channel import Channel
from biped.disturbances.sensors.force import ForceChannel
from biped.disturbances.sensors.proprioceptive import ProprioceptiveChannel
from biped.disturbances.sensors.sensors import Sensors
from biped.disturbances.sensors.vestibular import VestibularChannel
from biped.disturbances.sensors.visual import VisualChannel

_DEGREE = math.pi / 180.0
_NOISE: dict[str, Any] = {"time_constant": 0.1, "relative_noise": 0.1}


def _late(sensors: Sensors, delay: float) -> Sensors:
    return replace(sensors, delay=delay, force=replace(sensors.force, delay=delay))


def _times(factor: float, channel: Any, *ends: str) -> Any:
    """A channel with the numbers that end like this multiplied."""
    return replace(channel, **{name: factor * value for name, value in vars(channel).items() if name.endswith(ends)})


_OPEN = Sensors(
    delay=0.15,
    vestibular=VestibularChannel(
        orientation_noise=1e-3, angular_velocity_noise=2e-3, orientation_threshold=0.03 * _DEGREE,
        angular_velocity_threshold=0.20 * _DEGREE, **_NOISE,
    ),
    visual=VisualChannel(position_noise=5e-4, velocity_noise=2e-3, **_NOISE),
    proprioceptive=ProprioceptiveChannel(joint_noise=1e-4, joint_rate_noise=2e-4, **_NOISE),
    force=ForceChannel(delay=0.15, noise=1.0, time_constant=0.1, relative_noise=0.01),
)  # fmt: skip
_ANGLE, _RATE = "orientation_threshold", "angular_velocity_threshold"
_OLD: dict[str, Channel] = {name: _times(2.0, one, "noise", "threshold") for name, one in _OPEN.channels.items()}

PRESETS: dict[str, Sensors] = {
    "eyes-open": _OPEN,
    "eyes-closed": _late(
        replace(
            _OPEN, visual=_times(5.0, _OPEN.visual, "position_noise", "velocity_noise"),
            vestibular=replace(_OPEN.vestibular, **{_ANGLE: 0.07 * _DEGREE, _RATE: 0.33 * _DEGREE}),
        ),
        0.16,
    ),
    "foam": replace(_OPEN, proprioceptive=_times(10.0, _OPEN.proprioceptive, "joint_noise", "joint_rate_noise")),
    "vestibular-loss": replace(
        _OPEN,
        vestibular=replace(
            _times(10.0, _OPEN.vestibular, "orientation_noise", "velocity_noise"),
            **{_ANGLE: 5.0 * _DEGREE, _RATE: 5.0 * _DEGREE},
        ),
    ),
    "young": _OPEN,
    "old": _late(replace(_OPEN, **_OLD), 0.19),
}  # fmt: skip
