"""Joints that close kinematic loops of a tree."""

from dataclasses import dataclass

from biped.model.errors import ModelError, unknown
from biped.model.geometry import Quaternion, Vector3, name_of, number, quaternion, quaternion_matrix, unit, vector3
from biped.model.joint_rows import KINDS, Row, checked_second_axis, held_rows

#: Kinds of joints that can close a loop; `biped.model.joint_rows` lists their constraints.
CLOSING_KINDS = tuple(name for name in KINDS if name != "floating")


@dataclass(frozen=True)
class ClosingJoint:
    """A joint that connects two bodies of a tree, or one body and the ground, and closes a loop.

    It adds constraints, but no coordinates, limits, friction or actuators: close a loop at a joint without them. A link
    frame has its origin at the joint that carries the body; in the home configuration its axes are the inertial ones.

    Attributes:
        name: name, unique among all joints of a model.
        kind: kind of joint, for example ``"revolute"``; one of ``CLOSING_KINDS``.
        parent: name of one of the bodies; None: the ground, whose link frame is the inertial frame.
        child: name of the other body.
        axis: axis of the joint in the parent's link frame; normalized. Spherical and fixed joints need no axis.
        position: [m] position of the joint in the parent's link frame.
        child_position: [m] position of the joint in the child's link frame.
        alignment: unit quaternion (w, x, y, z) of the rotation from the child's to the parent's link frame at zero
            joint angle; the identity if these frames are then parallel.
        second_axis: axis on the child, orthogonal to ``axis``, for a universal joint only; in the parent's link frame
            at zero joint angle; normalized.
        pitch: [m/rad] pitch of a helical joint; 0 for other kinds.

    Raises:
        ModelError: the kind is unknown, a name is empty, both bodies are the same, a number is not finite, an axis is
            zero, the alignment is not a unit quaternion, or a pitch or a second axis is missing or not applicable.
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
            raise ModelError(f"{what} parent and child are both {self.child!r}; give two bodies (None: the ground)")
        object.__setattr__(self, "axis", unit(self.axis, f"{what} axis"))
        object.__setattr__(self, "position", vector3(self.position, f"{what} position"))
        object.__setattr__(self, "child_position", vector3(self.child_position, f"{what} child_position"))
        object.__setattr__(self, "alignment", quaternion(self.alignment, f"{what} alignment"))
        second = checked_second_axis(KINDS[self.kind].turn, self.axis, self.second_axis, what, ModelError)
        object.__setattr__(self, "second_axis", second)
        object.__setattr__(self, "pitch", number(self.pitch, f"{what} pitch"))
        if (self.kind == "helical") != (self.pitch != 0.0):
            raise ModelError(f"{what} pitch = {self.pitch!r}: helical joints need a pitch, all others pitch = 0")

    @property
    def rows(self) -> list[Row]:
        """Constraint rows of the joint: translations of the child's point, rotations, and a screw's coupled row."""
        second = None
        if self.second_axis is not None:  # in the child's link frame
            second = vector3(quaternion_matrix(self.alignment).T @ self.second_axis, "second_axis")
        return held_rows(KINDS[self.kind], self.axis, second, self.pitch)
