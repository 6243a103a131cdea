"""Mechanisms: trees of frames with masses, springs, constraints and forces (Johnson & Murphey 2009)."""

from biped.mechanism.errors import MechanismError
from biped.mechanism.frames import Frame, Kinematic, Node, kinematic, rx, ry, rz, tree_of, tx, ty, tz

__all__ = [
    "Frame",
    "Kinematic",
    "MechanismError",
    "Node",
    "kinematic",
    "rx",
    "ry",
    "rz",
    "tree_of",
    "tx",
    "ty",
    "tz",
]
