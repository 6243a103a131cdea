"""Disturbances of a model: each a frozen dataclass, to be given to ``simulate`` in any number and combination."""

from biped.disturbances.control import Actuators
from biped.disturbances.floor import Patch, Platform, compile_ground
from biped.disturbances.load import Load
from biped.disturbances.push import WAVEFORMS, Force, Push, compile_pushes, random_forces
from biped.disturbances.sensors import Sensors
from biped.disturbances.sorting import (
    Disturbance,
    Disturbances,
    begins_before,
    check_begins,
    described,
    sorted_disturbances,
)
from biped.disturbances.sway import SwayReferenced
from biped.disturbances.throw import Throw

__all__ = [
    "WAVEFORMS", "Actuators", "Disturbance", "Disturbances", "Force", "Load", "Patch", "Platform", "Push", "Sensors",
    "SwayReferenced", "Throw", "begins_before", "check_begins", "compile_ground", "compile_pushes", "described",
    "random_forces", "sorted_disturbances",
]  # fmt: skip
