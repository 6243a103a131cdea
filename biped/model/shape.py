"""Boxes and capsules on bodies for collisions; boxes are drawn too.

They are used by the viewer, thrown blocks, other engines, and contact between bodies.
"""

from dataclasses import dataclass

from biped.model.geometry import IDENTITY, Matrix3, Vector3, name_of, positive, rotation3, vector3


@dataclass(frozen=True)
class Box:
    """A box fixed to a body, for drawing and for collisions with thrown blocks; it adds no mass.

    Attributes:
        body: name of the body.
        size: [m] edge lengths along the x, y and z axes of the box.
        center: [m] position of the box's centre in the body's link frame.
        rotation: (3, 3) rotation from the box's axes to the axes of the link frame.

    Raises:
        ModelError: an edge is zero or negative, ``rotation`` is not a rotation, or a number is not finite.
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
        """Half edge lengths [m]."""
        x, y, z = self.size
        return 0.5 * x, 0.5 * y, 0.5 * z


@dataclass(frozen=True)
class Capsule:
    """A capsule fixed to a body, for collisions with thrown blocks and between legs; it adds no mass and is not drawn.

    Attributes:
        body: name of the body.
        begin: [m] position of one end of the capsule's axis in the body's link frame.
        end: [m] position of the other end of the axis in this frame; equal ends make a sphere.
        radius: [m] radius of the capsule.

    Raises:
        ModelError: the radius is zero or negative, or a number is not finite.
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
        """Middle of the axis [m], in the body's link frame."""
        (a, b, c), (x, y, z) = self.begin, self.end
        return 0.5 * (a + x), 0.5 * (b + y), 0.5 * (c + z)

    @property
    def half(self) -> Vector3:
        """Vector [m] from the middle of the axis to ``end``, in the axes of the link frame."""
        (a, b, c), (x, y, z) = self.begin, self.end
        return 0.5 * (x - a), 0.5 * (y - b), 0.5 * (z - c)
