"""Boxes that bodies are drawn as and collide with: data for the viewer, thrown blocks and other engines."""

from dataclasses import dataclass

from biped.model.geometry import IDENTITY, Matrix3, Vector3, name_of, positive, rotation3, vector3


@dataclass(frozen=True)
class Box:
    """A solid box fixed to a body; it does not enter the dynamics.

    Attributes:
        body: name of the body.
        size: [m] edges along the box's own x, y, z.
        center: [m] in the body's link frame.
        rotation: (3, 3) turns the box's axes into home axes.

    Raises:
        ModelError: an edge is not above zero, ``rotation`` is no rotation, or a number is not finite.
    """

    body: str
    size: Vector3
    center: Vector3 = (0.0, 0.0, 0.0)
    rotation: Matrix3 = IDENTITY

    def __post_init__(self) -> None:
        name_of(self.body, "a box: the body")
        what = f"box on {self.body!r}:"
        for edge in vector3(self.size, f"{what} size"):
            positive(edge, f"{what} each edge", "m")
        object.__setattr__(self, "size", vector3(self.size, f"{what} size"))
        object.__setattr__(self, "center", vector3(self.center, f"{what} center"))
        object.__setattr__(self, "rotation", rotation3(self.rotation, f"{what} rotation"))
