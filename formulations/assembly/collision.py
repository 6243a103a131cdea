"""Distance and nearest points of two shapes, by ``coal``."""

from __future__ import annotations

from typing import Any

import numpy as np

from biped.model.geometry import rotation_onto
from contact.arrays import Floats
from formulations.assembly.manifold import Manifold, core_of, manifold, separating_way
from formulations.assembly.shapes import Shape

#: [m] Tolerance of the iterations in ``coal``; the features that it selects remove the remaining error.
TOLERANCE = 1e-10
#: Relative distance of cores below which their direction is undetermined.
NOISE = 1e-5


class Collider:
    """A shape as ``coal`` needs it for collision detection."""

    def __init__(self, shape: Shape) -> None:
        import coal

        self.shape = shape
        self._local = np.eye(3), np.zeros(3)
        points = shape.array
        if len(points) == 1:
            self.geometry, self._local = coal.Sphere(shape.radius), (np.eye(3), points[0])
        elif len(points) == 2:
            axis = points[1] - points[0]
            self.geometry = coal.Capsule(shape.radius, float(np.linalg.norm(axis)))
            self._local = rotation_onto(axis), points.mean(axis=0)
        else:
            self.geometry = _convex(coal, shape)

    def at(self, place: Floats, rotation: Floats) -> Any:
        """Return the pose for ``coal`` of a body with centre of mass ``place`` (3,) [m] and ``rotation`` (3, 3)."""
        import coal

        turn, offset = self._local
        return coal.Transform3s(rotation @ turn, place + rotation @ offset)


def _convex(coal: Any, shape: Shape) -> Any:
    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for point in shape.array:
        points.append(point)
    for corners in shape.triangles.tolist():
        triangles.append(coal.Triangle(*corners))
    found = coal.Convex(points, triangles)
    found.setSweptSphereRadius(shape.radius)
    return found


def distance(one: Collider, two: Collider, poses: tuple[Any, Any]) -> tuple[float, Floats, tuple[Floats, Floats]]:
    """Return distance [m] (negative: penetration), unit direction from the first shape to the second, nearest points.

    Args:
        one: first shape.
        two: second shape.
        poses: poses of both shapes, from ``Collider.at``.
    """
    import coal

    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    found = float(coal.distance(one.geometry, poses[0], two.geometry, poses[1], request, result))
    way = np.array(result.normal)
    first = np.array(result.getNearestPoint1()) - one.shape.radius * way
    second = np.array(result.getNearestPoint2()) + two.shape.radius * way
    return found, way, (first, second)


def collide(
    one: Collider, two: Collider, places: tuple[Floats, Floats], rotations: tuple[Floats, Floats]
) -> tuple[float, Manifold]:
    """Return distance [m] (negative: penetration) and contact manifold of two shapes on bodies at these poses."""
    poses = one.at(places[0], rotations[0]), two.at(places[1], rotations[1])
    apart, way, near = distance(one, two, poses)
    cores = core_of(one.shape, places[0], rotations[0]), core_of(two.shape, places[1], rotations[1])
    if apart + one.shape.radius + two.shape.radius < NOISE * (one.shape.size + two.shape.size):
        way = separating_way(*cores)
    found = manifold(*cores, way, near)
    exact = float(found.gaps.min()) - one.shape.radius - two.shape.radius
    return exact, found
