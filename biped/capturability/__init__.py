"""Capturability limits of the inverted pendulum: the largest recoverable push, with and without steps (Koolen 2012)."""

from biped.capturability.flywheel import Flywheel
from biped.capturability.pendulum import NoLimitError, Pendulum
from biped.capturability.stance import Stance, heading, stance_of
from biped.capturability.steps import Footholds, Steps

__all__ = ["Flywheel", "Footholds", "NoLimitError", "Pendulum", "Stance", "Steps", "heading", "stance_of"]
