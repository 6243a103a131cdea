"""A single box: the falling box of Wendlandt (1997), section 5.3, and thrown blocks."""

from numpy.typing import ArrayLike

from biped.model.body import Body
from biped.model.contact_point import ContactPoint
from biped.model.geometry import vector3
from biped.model.inertia import box_inertia
from biped.model.joint import floating
from biped.model.model import Model
from biped.model.shape import Box

# Corners 1 to 8 in the order of the thesis, in halves of the box's edges.
_VERTICES = ((1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, -1), (1, -1, 1), (1, 1, 1), (-1, 1, 1), (-1, -1, 1))


def rigid_box(mass: float, size: ArrayLike, name: str = "box") -> Model:
    """Return a free homogeneous box with a contact point at each corner: ``box_1`` … ``box_8``.

    Corners 1 to 4 are the lower ones, counterclockwise in top view from (+x, −y) on; 5 to 8 are above them.

    Args:
        mass: [kg] mass of the box.
        size: [m] edge lengths along x, y, z.
        name: name of the model and its body, and prefix of the names of the contact points.

    Raises:
        ModelError: the mass or an edge length is zero, negative or not finite.
    """
    x, y, z = edges = vector3(size, "size of the box")
    body = Body(name, mass, box_inertia(mass, edges), (0.0, 0.0, 0.0), floating("body"))
    points = tuple(
        ContactPoint(f"{name}_{i}", name, (a * x / 2, b * y / 2, c * z / 2))
        for i, (a, b, c) in enumerate(_VERTICES, start=1)
    )
    return Model(name, (body,), points, (Box(name, edges),))
