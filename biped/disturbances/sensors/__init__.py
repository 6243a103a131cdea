"""Imperfect sensors and their channels."""

from biped.disturbances.sensors.channel import (
    AnkleChannel,
    ForceChannel,
    ProprioceptiveChannel,
    VestibularChannel,
    VisualChannel,
)
from biped.disturbances.sensors.sensors import AUTO, KALMAN, NO_ESTIMATOR, is_noisy, shared_delay
from biped.disturbances.sensors.sensors import Sensors as Sensors

__all__ = [
    "AUTO", "KALMAN", "NO_ESTIMATOR",
    "AnkleChannel", "ForceChannel", "ProprioceptiveChannel", "VestibularChannel", "VisualChannel", "is_noisy",
    "shared_delay",
]  # fmt: skip
