"""What joints hold, as rows of two generic constraints: one of translations, one of turns.

Brüdigam et al. 2024, appendix B; `biped.rigid.joint` has the table of both. A joint of a tree frees what its
coordinates say; one that closes a loop, and all of an assembly, hold these rows at zero.
"""

from typing import Literal, NamedTuple

import numpy as np

from biped.kernels.rigid import system as kinds
from biped.model.geometry import Vector3, vector3

Translation = Literal["point", "line", "plane", "free"]
Turn = Literal["fixed", "axis", "cardan", "homokinetic", "free"]


class Row(NamedTuple):
    """One row of a joint: ``biped.kernels.rigid.joints`` has the formulas."""

    kind: int
    axis: Vector3
    other: Vector3 = (1.0, 0.0, 0.0)
    reference: Vector3 = (1.0, 0.0, 0.0)
    pitch: float = 0.0


class JointOptions(NamedTuple):
    """A kind of joint by its name: its translation and its turn."""

    translation: Translation
    turn: Turn


#: The kinds that have a name of their own.
KINDS: dict[str, JointOptions] = {
    "fixed": JointOptions("point", "fixed"),
    "prismatic": JointOptions("line", "fixed"),
    "planar": JointOptions("plane", "fixed"),
    "fixed_orientation": JointOptions("free", "fixed"),
    "revolute": JointOptions("point", "axis"),
    "cylindrical": JointOptions("line", "axis"),
    "planar_axis": JointOptions("plane", "axis"),
    "universal": JointOptions("point", "cardan"),
    "homokinetic": JointOptions("point", "homokinetic"),
    "spherical": JointOptions("point", "free"),
    "point_on_line": JointOptions("line", "free"),
    "point_on_plane": JointOptions("plane", "free"),
    "floating": JointOptions("free", "free"),
    "helical": JointOptions("line", "axis"),
}


def across(axis: Vector3) -> tuple[Vector3, Vector3]:
    """Two unit axes that make a right-handed system with a unit axis."""
    along = np.array(axis)
    helper = np.eye(3)[int(np.argmin(np.abs(along)))]
    first = np.cross(along, helper)
    first /= np.linalg.norm(first)
    return vector3(first, "axis"), vector3(np.cross(along, first), "axis")


def held_shifts(translation: Translation, axis: Vector3) -> list[Row]:
    """The rows that hold the outboard point; ``axis`` is unit, in inboard axes."""
    axes = {"point": (*across(axis), axis), "line": across(axis), "plane": (axis,), "free": ()}[translation]
    return [Row(kinds.TRANSLATION, one) for one in axes]


def held_twists(turn: Turn, axis: Vector3) -> list[Row]:
    """The rows that hold the turn, but for a cardan joint's, which are between two axes."""
    axes = {"fixed": (*across(axis), axis), "axis": across(axis), "homokinetic": (axis,), "free": ()}[turn]
    return [Row(kinds.TWIST, one) for one in axes]
