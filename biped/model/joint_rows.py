"""Constraints of joints as rows of two generic kinds: translations and rotations.

See Brüdigam et al. 2024, appendix B, and the table in `formulations.assembly.joint`. A joint of a tree frees the
directions of its coordinates; joints that close loops, and all joints of an assembly, constrain these rows to zero.
"""

from typing import Literal, NamedTuple

import numpy as np

from biped.kernels.tree import row_kinds as kinds
from biped.model.geometry import Vector3, unit, vector3
from contact.errors import BipedError

Translation = Literal["point", "line", "plane", "free"]
Turn = Literal["fixed", "axis", "cardan", "homokinetic", "free"]


#: Tolerance of a right angle between two axes.
_SQUARE = 1e-9


class Row(NamedTuple):
    """Constraint row of a joint; ``biped.kernels.tree.joint_rows`` has the formulas."""

    kind: int
    axis: Vector3
    other: Vector3 = (1.0, 0.0, 0.0)
    reference: Vector3 = (1.0, 0.0, 0.0)
    pitch: float = 0.0


class JointOptions(NamedTuple):
    """Kind of a joint: its translation and its rotation."""

    translation: Translation
    turn: Turn


#: Translation and rotation of each kind of joint.
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
    """Return two unit axes that form a right-handed system with a unit axis."""
    along = np.array(axis)
    helper = np.eye(3)[int(np.argmin(np.abs(along)))]
    first = np.cross(along, helper)
    first /= np.linalg.norm(first)
    return vector3(first, "axis"), vector3(np.cross(along, first), "axis")


def checked_second_axis(
    turn: Turn, axis: Vector3, second: Vector3 | None, what: str, error: type[BipedError]
) -> Vector3 | None:
    """Return the second axis of a cardan joint, normalized; None for other joints.

    Raises:
        error: a cardan joint has no second axis, another joint has a second axis, or it is not orthogonal to ``axis``.
        ModelError: the second axis is zero or not finite.
    """
    if turn != "cardan":
        if second is not None:
            raise error(f"{what} only a cardan joint has a second axis; leave it out")
        return None
    if second is None:
        raise error(f"{what} a cardan joint needs a second_axis, at a right angle to its axis")
    second = unit(second, f"{what} second_axis")
    if abs(float(np.dot(second, axis))) > _SQUARE:
        raise error(f"{what} second_axis {second} must be at a right angle to axis {axis}")
    return second


def held_rows(
    options: JointOptions, axis: Vector3, outboard_axis: Vector3 | None = None, pitch: float = 0.0
) -> list[Row]:
    """Return all constraint rows of a joint: translations, then rotations.

    Args:
        options: translation and rotation of the joint.
        axis: unit axis, in inboard axes.
        outboard_axis: unit axis of a cardan joint, in outboard axes.
        pitch: [m/rad] pitch of a helical joint.
    """
    rows = held_shifts(options.translation, axis)
    if outboard_axis is not None:
        rows.append(Row(kinds.PERPENDICULAR, axis, outboard_axis))
    else:
        rows += held_twists(options.turn, axis)
    if pitch:
        rows.append(Row(kinds.HELIX, axis, pitch=pitch))
    return rows


def held_shifts(translation: Translation, axis: Vector3) -> list[Row]:
    """Return the rows that constrain the outboard point; ``axis`` is a unit vector in inboard axes."""
    axes = {"point": (*across(axis), axis), "line": across(axis), "plane": (axis,), "free": ()}[translation]
    return [Row(kinds.TRANSLATION, direction) for direction in axes]


def held_twists(turn: Turn, axis: Vector3) -> list[Row]:
    """Return the rows that constrain the rotation, except for a cardan joint, whose row involves two axes."""
    axes = {"fixed": (*across(axis), axis), "axis": across(axis), "homokinetic": (axis,), "free": ()}[turn]
    return [Row(kinds.TWIST, direction) for direction in axes]
