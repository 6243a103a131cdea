"""Joints that close loops: they hold bodies of a tree that hang on other joints already."""

from dataclasses import dataclass

from biped.model.errors import ModelError, unknown
from biped.model.geometry import Quaternion, Vector3, name_of, number, quaternion, quaternion_matrix, unit, vector3
from biped.model.joint_rows import KINDS, Row, checked_second_axis, held_rows

#: Kinds of joints that can close a loop; `biped.model.joint_rows` says what each holds.
CLOSING_KINDS = tuple(name for name in KINDS if name != "floating")


@dataclass(frozen=True)
class ClosingJoint:
    """A joint that holds two bodies of a model together, or one to the ground, and carries neither.

    It has no coordinates: it holds functions of those of the tree at zero. Joints of a tree may have limits, friction
    and actuators; of those in a loop, cut one that has none.

    Attributes:
        name: unique among all joints of a model.
        kind: one of ``CLOSING_KINDS``.
        parent: name of the body whose axes the joint's are; None is the ground.
        child: name of the other body.
        axis: of the joint, in the parent's link frame; made unit. A spherical joint and a fixed one need none.
        position: [m] where the joint is in the parent's link frame; on the ground in the inertial frame.
        child_position: [m] where it is in the child's link frame.
        alignment: the unit quaternion (w, x, y, z) from the child's to the parent's link frame where the joint is at
            zero: no turn where the loop is closed in a configuration that differs from home by a turn about ``axis``.
        second_axis: of a universal joint, across ``axis``: that of the child, in the parent's link frame where the
            joint is at zero; made unit.
        pitch: [m/rad] of a helical joint.

    Raises:
        ModelError: the kind is unknown, a name is empty, both bodies are the same, a number is not finite, an axis is
            zero, the alignment is no unit quaternion, or a pitch or a second axis is missing, or has no place.
    """

    name: str
    kind: str
    parent: str | None
    child: str
    axis: Vector3 = (0.0, 0.0, 1.0)
    position: Vector3 = (0.0, 0.0, 0.0)
    child_position: Vector3 = (0.0, 0.0, 0.0)
    alignment: Quaternion = (1.0, 0.0, 0.0, 0.0)
    second_axis: Vector3 | None = None
    pitch: float = 0.0

    def __post_init__(self) -> None:
        name_of(self.name, "a closing joint")
        what = f"closing joint {self.name!r}:"
        if self.kind not in CLOSING_KINDS:
            raise ModelError(f"{what} {unknown('kind', self.kind, CLOSING_KINDS)}")
        name_of(self.child, f"{what} the child")
        if self.parent is not None:
            name_of(self.parent, f"{what} the parent")
        if self.parent == self.child:
            raise ModelError(f"{what} it holds body {self.child!r} to itself; name two bodies, or None for the ground")
        object.__setattr__(self, "axis", unit(self.axis, f"{what} axis"))
        object.__setattr__(self, "position", vector3(self.position, f"{what} position"))
        object.__setattr__(self, "child_position", vector3(self.child_position, f"{what} child_position"))
        object.__setattr__(self, "alignment", quaternion(self.alignment, f"{what} alignment"))
        second = checked_second_axis(KINDS[self.kind].turn, self.axis, self.second_axis, what, ModelError)
        object.__setattr__(self, "second_axis", second)
        object.__setattr__(self, "pitch", number(self.pitch, f"{what} pitch"))
        if (self.kind == "helical") != (self.pitch != 0.0):
            raise ModelError(f"{what} a helical joint, and no other, has a pitch that is not zero: {self.pitch!r}")

    @property
    def rows(self) -> list[Row]:
        """The constraint rows of the joint: translations of the child's point, rotations, and a screw's coupled row."""
        second = None
        if self.second_axis is not None:  # in the child's link frame
            second = vector3(quaternion_matrix(self.alignment).T @ self.second_axis, "second_axis")
        return held_rows(KINDS[self.kind], self.axis, second, self.pitch)
