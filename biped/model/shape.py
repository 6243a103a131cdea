"""Boxes that bodies are drawn as and collide with, and capsules that they collide with alone.

Data for the viewer, thrown blocks, other engines, and for bodies that touch one another.
"""

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

    @property
    def half(self) -> Vector3:
        """[m] half of the edges."""
        x, y, z = self.size
        return 0.5 * x, 0.5 * y, 0.5 * z


@dataclass(frozen=True)
class Capsule:
    """All within a radius of a straight axis, fixed to a body: what blocks hit, and legs touch one another with.

    It is not drawn, and does not enter the dynamics without contact.

    Attributes:
        body: name of the body.
        begin: [m] one end of the axis in the body's link frame.
        end: [m] the other; the same makes it a sphere.
        radius: [m].

    Raises:
        ModelError: the radius is not above zero, or a number is not finite.
    """

    body: str
    begin: Vector3
    end: Vector3
    radius: float

    def __post_init__(self) -> None:
        name_of(self.body, "a capsule: the body")
        what = f"capsule on {self.body!r}:"
        object.__setattr__(self, "begin", vector3(self.begin, f"{what} begin"))
        object.__setattr__(self, "end", vector3(self.end, f"{what} end"))
        object.__setattr__(self, "radius", positive(self.radius, f"{what} radius", "m"))

    @property
    def center(self) -> Vector3:
        """[m] the middle of the axis, in the body's link frame."""
        (a, b, c), (x, y, z) = self.begin, self.end
        return 0.5 * (a + x), 0.5 * (b + y), 0.5 * (c + z)

    @property
    def half(self) -> Vector3:
        """[m] from the middle to the end, home axes."""
        (a, b, c), (x, y, z) = self.begin, self.end
        return 0.5 * (x - a), 0.5 * (y - b), 0.5 * (z - c)
