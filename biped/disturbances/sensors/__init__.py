"""Imperfect sensors and their channels."""

from biped.disturbances.sensors.channel import (
    AnkleChannel,
    ForceChannel,
    ProprioceptiveChannel,
    VestibularChannel,
    VisualChannel,
)
from biped.disturbances.sensors.sensors import Sensors as Sensors
from biped.disturbances.sensors.sensors import is_noisy, shared_delay

__all__ = [
    "AnkleChannel", "ForceChannel", "ProprioceptiveChannel", "VestibularChannel", "VisualChannel", "is_noisy",
    "shared_delay",
]  # fmt: skip
