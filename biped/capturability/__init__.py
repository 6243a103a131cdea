"""Bounds on the push that a standing body can take without a step: the inverted pendulum (Koolen et al. 2012)."""

from biped.capturability.flywheel import Flywheel
from biped.capturability.pendulum import NoLimitError, Pendulum
from biped.capturability.stance import Stance, heading, stance_of

__all__ = ["Flywheel", "NoLimitError", "Pendulum", "Stance", "heading", "stance_of"]
