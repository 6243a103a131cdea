"""Points of bodies that can touch the floor."""

from dataclasses import dataclass

from biped.model.geometry import Vector3, name_of, vector3


@dataclass(frozen=True)
class ContactPoint:
    """A point that carries its own contact force.

    Attributes:
        name: unique among the contact points of a model, such as ``left_1``.
        body: name of the body it is a point of.
        position: [m] in the body's link frame.

    Raises:
        ModelError: a name is empty or the position is not three finite numbers.
    """

    name: str
    body: str
    position: Vector3

    def __post_init__(self) -> None:
        name_of(self.name, "a contact point")
        name_of(self.body, f"contact point {self.name!r}: the body")
        object.__setattr__(self, "position", vector3(self.position, f"contact point {self.name!r}: position"))
