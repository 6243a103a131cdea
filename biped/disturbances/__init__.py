"""Disturbances of a run: frozen dataclasses that ``simulate`` accepts in any combination."""

from biped.disturbances.control import Actuators
from biped.disturbances.disturbance import Disturbance, described
from biped.disturbances.floor import Patch, Platform, compile_ground
from biped.disturbances.load import Load
from biped.disturbances.push import Force, Push, compile_pushes, random_forces
from biped.disturbances.sensors import Sensors
from biped.disturbances.sorting import Disturbances, check_begins, in_words, sorted_disturbances
from biped.disturbances.sway import SwayReferenced
from biped.disturbances.throw import Throw

__all__ = [
    "Actuators", "Disturbance", "Disturbances", "Force", "Load", "Patch", "Platform", "Push", "Sensors",
    "SwayReferenced", "Throw", "check_begins", "compile_ground", "compile_pushes", "described", "in_words",
    "random_forces", "sorted_disturbances",
]  # fmt: skip
