"""Points of bodies that can touch the floor."""

from dataclasses import dataclass

from biped.model.geometry import Vector3, name_of, not_negative, vector3


@dataclass(frozen=True)
class ContactPoint:
    """Point of a body at which a contact force acts, or the centre of a ball that can roll.

    Attributes:
        name: name, unique among the contact points of a model, for example ``left_1``.
        body: name of the body that carries the point.
        position: [m] in the body's link frame, whose origin is at the body's joint.
        radius: [m] radius of the ball, for rigid contact only; 0: a point.

    Raises:
        ModelError: a name is empty, the position is not three finite numbers, or the radius is negative or not finite.
    """

    name: str
    body: str
    position: Vector3
    radius: float = 0.0

    def __post_init__(self) -> None:
        name_of(self.name, "a contact point")
        name_of(self.body, f"contact point {self.name!r}: the body")
        object.__setattr__(self, "position", vector3(self.position, f"contact point {self.name!r}: position"))
        radius = not_negative(self.radius, f"contact point {self.name!r}: radius", "m")
        object.__setattr__(self, "radius", radius)
