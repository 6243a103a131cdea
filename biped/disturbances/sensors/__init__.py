"""Imperfect sensors, by channel."""

from biped.disturbances.sensors.ankles import AnkleChannel
from biped.disturbances.sensors.force import ForceChannel
from biped.disturbances.sensors.proprioceptive import ProprioceptiveChannel
from biped.disturbances.sensors.sensors import Sensors, is_noisy, shared_delay
from biped.disturbances.sensors.vestibular import VestibularChannel
from biped.disturbances.sensors.visual import VisualChannel

__all__ = [
    "AnkleChannel",
    "ForceChannel",
    "ProprioceptiveChannel",
    "Sensors",
    "VestibularChannel",
    "VisualChannel",
    "is_noisy",
    "shared_delay",
]
