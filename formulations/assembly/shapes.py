"""Shapes for contacts between bodies: convex hulls of points, rounded by a radius."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from biped.inputs.checks import above_zero, zero_or_above
from biped.model.geometry import Vector3, vector3
from contact.arrays import Floats, Integers
from formulations.assembly.errors import AssemblyError

_ZERO: Vector3 = (0.0, 0.0, 0.0)
#: Relative distance from a plane above which a point does not count as on the plane.
FLAT = 1e-9


class Face(NamedTuple):
    """Face of a convex polytope, with its corners counterclockwise around the outward normal."""

    corners: Integers  # (k,) indices of points
    normal: Floats  # (3,) unit, outward
    sides: Floats  # (k, 3) unit inward normals of the sides, in the face's plane; side k begins at corner k


@dataclass(frozen=True)
class Shape:
    """Convex hull of points, enlarged by a radius.

    One point makes a sphere, two points a capsule, more points a polytope with rounded edges. ``sphere``, ``capsule``
    and ``block`` make common shapes.

    Attributes:
        points: (k, 3) [m] corners of the hull, from the body's centre of mass, in body axes.
        radius: [m] radius: above zero for one or two points, zero or above for more.

    Raises:
        AssemblyError: three points or more do not span a volume, or a point is not a corner of the hull.
        InputError: the radius is negative or not finite, or zero for one or two points.
    """

    points: tuple[Vector3, ...]
    radius: float = 0.0

    def __post_init__(self) -> None:
        points = tuple(vector3(point, f"point {k} of a shape") for k, point in enumerate(self.points, 1))
        object.__setattr__(self, "points", points)
        if not points:
            raise AssemblyError("a shape has no points; it needs at least one")
        (above_zero if len(points) < 3 else zero_or_above)(self.radius, "radius of a shape")
        if len(points) == 2 and points[0] == points[1]:
            raise AssemblyError("the ends of a capsule are at one point: use a sphere")
        if len(points) > 2 and self._inside is not None:
            raise AssemblyError(f"point {self._inside + 1} of a shape is not a corner of the convex hull; leave it out")

    @cached_property
    def array(self) -> Floats:
        """Points as an array (k, 3) [m]."""
        return np.array(self.points)

    @cached_property
    def size(self) -> float:
        """Radius [m] of the smallest ball about the body's centre of mass that contains the shape."""
        return float(np.linalg.norm(self.array, axis=1).max()) + self.radius

    @cached_property
    def triangles(self) -> Integers:
        """Corners (t, 3) of the hull's triangles, as indices of points; none for one or two points.

        Raises:
            AssemblyError: the points do not span a volume.
        """
        from scipy.spatial import ConvexHull, QhullError

        if len(self.points) < 3:
            return np.zeros((0, 3), dtype=np.int64)
        try:
            hull = ConvexHull(self.array)
        except QhullError:
            raise AssemblyError(
                f"the {len(self.points)} points of a shape do not span a volume; they must not lie in one plane"
            ) from None
        corners = self.array[hull.simplices]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        inward = np.einsum("ti,ti->t", normals, hull.equations[:, :3]) < 0.0
        triangles = hull.simplices.astype(np.int64)
        triangles[inward] = triangles[inward][:, ::-1]
        return triangles

    @cached_property
    def _inside(self) -> int | None:
        """Index of a point that is not a corner of the hull, or None."""
        corners = set(self.triangles.reshape(-1).tolist())
        return next((k for k in range(len(self.points)) if k not in corners), None)

    @cached_property
    def faces(self) -> tuple[Face, ...]:
        """Faces of the hull, with coplanar triangles merged; none for a sphere or a capsule."""
        points = self.array
        faces: list[Face] = []
        for triangle in self.triangles:
            first, second, third = points[triangle]
            normal = np.cross(second - first, third - first)
            normal /= np.linalg.norm(normal)
            if not any(
                np.dot(face.normal, normal) > 1.0 - FLAT and set(triangle) <= set(face.corners) for face in faces
            ):
                heights = (points - first) @ normal
                faces.append(_ordered(points, np.flatnonzero(heights > -FLAT * self.size), normal))
        return tuple(faces)

    @cached_property
    def edges(self) -> Floats:
        """Unit directions (e, 3) of the edges, without parallel ones; for a capsule, of its axis."""
        points = self.array
        ends = [(face.corners, np.roll(face.corners, -1)) for face in self.faces]
        ways = np.concatenate([points[end] - points[begin] for begin, end in ends] or [points[1:] - points[:1]])
        ways /= np.linalg.norm(ways, axis=1)[:, None]
        kept: list[Floats] = []
        for way in ways:
            if not any(abs(way @ other) > 1.0 - FLAT for other in kept):
                kept.append(way)
        return np.array(kept).reshape(-1, 3)

    @cached_property
    def normals(self) -> Floats:
        """Outward normals (f, 3) of the faces."""
        return np.array([face.normal for face in self.faces]).reshape(-1, 3)

    @cached_property
    def faces_at(self) -> tuple[Integers, ...]:
        """Indices of the faces at each point."""
        return tuple(
            np.array([number for number, face in enumerate(self.faces) if point in face.corners], dtype=np.int64)
            for point in range(len(self.points))
        )


def _ordered(points: Floats, corners: Integers, normal: Floats) -> Face:
    """Return a face with its corners ordered by angle about the middle."""
    across = points[corners] - points[corners].mean(axis=0)
    x = across[0] / np.linalg.norm(across[0])
    corners = corners[np.argsort(np.arctan2(across @ np.cross(normal, x), across @ x))]
    inward = np.cross(normal, points[np.roll(corners, -1)] - points[corners])
    return Face(corners, normal, inward / np.linalg.norm(inward, axis=1)[:, None])


def sphere(radius: float, center: Vector3 = _ZERO) -> Shape:
    """Return a ball of ``radius`` [m]; ``center`` (3,) [m] is given from the body's centre of mass, in body axes."""
    return Shape((center,), radius)


def capsule(start: Vector3, end: Vector3, radius: float) -> Shape:
    """Return a capsule; ``start``, ``end`` (3,) [m]: centres of its caps, from the centre of mass, in body axes."""
    return Shape((start, end), radius)


def block(size: Sequence[float], center: Vector3 = _ZERO) -> Shape:
    """Return a box with edges ``size`` (3,) [m] along the body axes, about ``center`` (3,) [m] from the centre of mass.

    Raises:
        AssemblyError: ``size`` does not have three lengths.
        InputError: an edge is not above zero.
    """
    if len(size) != 3:
        raise AssemblyError(f"size = {size!r}: it must have three numbers, the lengths of the edges [m]")
    for edge in size:
        above_zero(edge, "edge of a box")
    return Shape(
        tuple((np.array(corner) + vector3(center, "center of a box")).tolist() for corner in box_corners(size))
    )


def box_corners(size: Sequence[float]) -> list[Vector3]:
    """Return the eight corners [m] of a box about its centre, the lower four first."""
    x, y, z = (0.5 * edge for edge in size)
    return [(i * x, j * y, k * z) for k in (-1, 1) for i in (-1, 1) for j in (-1, 1)]
