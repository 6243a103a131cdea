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
    hull = coal.Convex(points, triangles)
    hull.setSweptSphereRadius(shape.radius)
    return hull


def distance(a: Collider, b: Collider, poses: tuple[Any, Any]) -> tuple[float, Floats, tuple[Floats, Floats]]:
    """Return distance [m] (negative: penetration), unit direction from the first shape to the second, nearest points.

    Args:
        a: first shape.
        b: second shape.
        poses: poses of both shapes, from ``Collider.at``.
    """
    import coal

    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = request.epa_tolerance = TOLERANCE
    gap = float(coal.distance(a.geometry, poses[0], b.geometry, poses[1], request, result))
    way = np.array(result.normal)
    first = np.array(result.getNearestPoint1()) - a.shape.radius * way
    second = np.array(result.getNearestPoint2()) + b.shape.radius * way
    return gap, way, (first, second)


def collide(
    a: Collider, b: Collider, places: tuple[Floats, Floats], rotations: tuple[Floats, Floats]
) -> tuple[float, Manifold]:
    """Return distance [m] (negative: penetration) and contact manifold of two shapes on bodies at these poses."""
    poses = a.at(places[0], rotations[0]), b.at(places[1], rotations[1])
    apart, way, near = distance(a, b, poses)
    cores = core_of(a.shape, places[0], rotations[0]), core_of(b.shape, places[1], rotations[1])
    if apart + a.shape.radius + b.shape.radius < NOISE * (a.shape.size + b.shape.size):
        way = separating_way(*cores)
    points = manifold(*cores, way, near)
    exact = float(points.gaps.min()) - a.shape.radius - b.shape.radius
    return exact, points
