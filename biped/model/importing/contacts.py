"""Contact points of a robot: given on links, or taken from the collision geometry of its feet."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from biped.model.contact_point import ContactPoint
from biped.model.errors import ModelError, unknown
from biped.model.geometry import Vector3, rpy_matrix, vector3
from biped.model.importing.options import Points
from biped.model.importing.soles import corners, radius_of, surface_points
from contact.arrays import Floats

UNIVERSE = 0


class Links(NamedTuple):
    """Mapping from the links of a Pinocchio model to bodies of this package."""

    model: Any
    rotations: list[Floats]  # of each joint's frame at home
    bodies: dict[int, str]  # body by Pinocchio's joint

    def known_frame(self, link: str, what: str) -> Any:
        """Return Pinocchio's frame of a link.

        Raises:
            ModelError: the link is unknown.
        """
        import pinocchio as pin

        links = [frame.name for frame in self.model.frames if frame.type == pin.FrameType.BODY]
        if link not in links:
            raise ModelError(f"{what}: {unknown('link', link, links)}")
        return self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)]

    def frame(self, link: str, what: str) -> Any:
        """Return Pinocchio's frame of a moving link.

        Raises:
            ModelError: the link is unknown, or fixed to the ground.
        """
        frame = self.known_frame(link, what)
        if frame.parentJoint == UNIVERSE:
            raise ModelError(f"{what}: link {link!r} is fixed to the ground; name a moving link")
        return frame

    def placed(self, link: str, xyz: ArrayLike, rpy: Vector3, what: str) -> tuple[str | None, Vector3, Floats]:
        """Return a link's pose in its body's frame, as (body, position [m], rotation); body None is the ground.

        Raises:
            ModelError: the link is unknown.
        """
        frame = self.known_frame(link, what)
        R, placement = self.rotations[frame.parentJoint], frame.placement
        place = vector3(R @ placement.act(np.array(vector3(xyz, what))), what)
        body = None if frame.parentJoint == UNIVERSE else self.bodies[frame.parentJoint]
        return body, place, R @ placement.rotation @ np.array(rpy_matrix(rpy))

    def body(self, link: str, what: str) -> str:
        """Return the name of the body with a link."""
        return self.bodies[self.frame(link, what).parentJoint]

    def point(self, name: str, link: str, position: ArrayLike, radius: float = 0.0) -> ContactPoint:
        """Return the contact point at ``position`` [m] in a link's frame, or the ball of a ``radius`` [m] about it."""
        what = f"contact {name!r}"
        frame = self.frame(link, what)
        at = self.rotations[frame.parentJoint] @ frame.placement.act(np.array(vector3(position, what)))
        return ContactPoint(name, self.bodies[frame.parentJoint], vector3(at, what), radius)


def given(contacts: Mapping[str, Points], links: Links) -> list[ContactPoint]:
    """Return the points given by the user; points in a list are named after the link, ``left_sole_link_1`` and so on.

    Raises:
        ModelError: a link is unknown, or a point is not three finite numbers.
    """
    return [
        links.point(name, link, position)
        for link, points in contacts.items()
        for name, position in _named(link, points)
    ]


def _named(link: str, points: Points) -> Iterable[tuple[str, ArrayLike]]:
    if isinstance(points, Mapping):
        return points.items()
    if isinstance(points, str) or not isinstance(points, Sequence):
        raise ModelError(f"contacts: the value of {link!r} must be a list of points (x, y, z) [m], got {points!r}")
    return [(f"{link}_{i}", position) for i, position in enumerate(points, start=1)]


def contact_points(
    feet: Sequence[str], links: Links, geometry: Any, posture: Floats, facing: Vector3
) -> list[ContactPoint]:
    """Return the corners of the feet's soles, in order around each sole from the outer corner of the toes.

    Points are named after the foot's link or, for two feet side by side, ``left_1`` … and ``right_1`` …, as those of
    ``human()``.

    Args:
        feet: links of the feet; the collision geometry of all links welded to a foot counts.
        links: mapping from links to bodies.
        geometry: Pinocchio's collision geometry.
        posture: Pinocchio's configuration with the soles on the floor.
        facing: forward direction.

    Raises:
        ModelError: there is no foot, or a foot has no collision geometry with corners.
    """
    import pinocchio as pin

    if not feet:
        raise ModelError("contacts = 'collision' needs the option 'feet': list the links that stand on the floor")
    data = links.model.createData()
    pin.forwardKinematics(links.model, data, posture)
    left = np.array([-facing[1], facing[0]])
    places = [data.oMi[links.frame(foot, "feet").parentJoint] for foot in feet]
    aside = [float(left @ place.translation[:2]) for place in places]
    names = _names(feet, aside)
    points = []
    for foot, place, name, offset in zip(feet, places, names, aside, strict=True):
        joint = links.frame(foot, "feet").parentJoint
        sole = corners(_surface(foot, joint, geometry, place), facing, clockwise=offset >= float(np.mean(aside)))
        for i, corner in enumerate(sole, start=1):
            at = links.rotations[joint] @ place.actInv(corner)
            points.append(ContactPoint(f"{name}_{i}", links.bodies[joint], vector3(at, "contact")))
    return points


def edge_notes(points: Sequence[ContactPoint]) -> list[str]:
    """Return a list with a note if a sole is only an edge, because the foot is tilted in the posture."""
    bodies = [point.body for point in points]
    edges = [body for body in dict.fromkeys(bodies) if bodies.count(body) == 2]
    if not edges:
        return []
    return [f"the soles of {', '.join(edges)} are edges, not faces: these feet are not flat in the posture"]


def _names(feet: Sequence[str], aside: Sequence[float]) -> Sequence[str]:
    if len(feet) != 2 or aside[0] == aside[1]:
        return feet
    return ("left", "right") if aside[0] > aside[1] else ("right", "left")


def _surface(foot: str, joint: int, geometry: Any, place: Any) -> Floats:
    """Return the corners (k, 3) [m] of the collision geometry of the body on ``joint``, in the inertial frame."""
    surface = []
    for shape in geometry.geometryObjects:
        points = surface_points(shape.geometry) if shape.parentJoint == joint else None
        if points is not None:
            world = np.array([(place * shape.placement).act(point) for point in points])
            surface.append(world - [0.0, 0.0, radius_of(shape.geometry)])
    if not surface:
        raise ModelError(
            f"foot {foot!r} has no collision geometry with corners; list its contact points in the option 'contacts' "
            "or, if it is in an MJCF, load the scene whose <contact><pair> contains the foot's geoms"
        )
    return np.vstack(surface)
