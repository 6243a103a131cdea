"""Points of bodies that can touch the floor."""

from dataclasses import dataclass

from biped.model.geometry import Vector3, name_of, not_negative, vector3


@dataclass(frozen=True)
class ContactPoint:
    """A contact point with its own contact force, or the centre of a ball that may roll.

    Attributes:
        name: name, unique among the contact points of a model, for example ``left_1``.
        body: name of its body.
        position: [m] in the body's link frame.
        radius: [m] of the ball, for rigid contact; 0: a point.

    Raises:
        ModelError: a name is empty, the position is not three finite numbers, or the radius is not finite, zero or
            above.
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
