"""Rigid bodies, each with the joint that carries it."""

from dataclasses import dataclass

from biped.model.errors import ModelError
from biped.model.geometry import Matrix3, Vector3, name_of, not_negative, vector3
from biped.model.inertia import checked_inertia
from biped.model.joint import Joint


@dataclass(frozen=True)
class Body:
    """A rigid body.

    The origin of its link frame is at the joint that carries the body. The frame moves with the body; its axes are
    parallel to the inertial axes in the home configuration, with all joints at zero ("home axes").

    Attributes:
        name: name, unique among the bodies of a model.
        mass: [kg]; may be zero for a body between joints, for example the cross of a universal joint. `Model` checks
            that every joint moves some inertia.
        inertia: (3, 3) [kg m²] about the centre of mass, in the link frame's axes. Moments may be zero for a point or a
            thin rod, and must be zero for a body without mass.
        com: [m] position of the centre of mass in the link frame.
        joint: joint that carries the body.
        parent: name of the body on the other side of the joint; None: the ground (the inertial frame).

    Raises:
        ModelError: no rigid body has this mass and inertia, or a number is not finite.
    """

    name: str
    mass: float
    inertia: Matrix3
    com: Vector3
    joint: Joint
    parent: str | None = None

    def __post_init__(self) -> None:
        name_of(self.name, "a body")
        what = f"body {self.name!r}:"
        if not isinstance(self.joint, Joint):
            raise ModelError(f"{what} joint must be a Joint, like revolute('knee', (0, 1, 0)), got {self.joint!r}")
        if self.parent is not None:
            name_of(self.parent, f"{what} the parent")
        object.__setattr__(self, "mass", not_negative(self.mass, f"{what} mass", "kg"))
        object.__setattr__(self, "inertia", checked_inertia(self.inertia, f"{what} inertia"))
        if self.mass == 0.0 and any(any(row) for row in self.inertia):
            raise ModelError(f"{what} mass = 0 kg, but the inertia is not zero; give a mass, or zero inertia")
        object.__setattr__(self, "com", vector3(self.com, f"{what} com"))
