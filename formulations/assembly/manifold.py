"""Contact manifold of two convex hulls: one normal, and up to eight pairs of points along the normal.

``coal`` gives the direction between the hulls. If they almost touch, that direction is dominated by rounding, and the
separating axis theorem replaces it. The features that this direction selects make it exact: a face's normal, the normal
of two edges, or the direction between two corners. Points are the overlap of a face and the opposite face, edge or
corner along the normal, by Sutherland and Hodgman's clipping (Commun. ACM 17, 1974). They include points that do not
touch yet, since a turning body may bring them down within the step.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from contact.arrays import Floats
from formulations.assembly.shapes import Shape

#: [rad] Angle to a plane below which an edge or a face counts as lying flat on it.
FLAT = 1e-3
#: Relative distance below which two points are merged.
SAME = 1e-6
#: Cosine of the angle between a normal and the direction above which they count as parallel.
NEAR = 0.9
#: Cosine above which a face is considered although no feature selects it: a part above it may touch in this step.
STEEP = 0.5
#: Greatest number of points in a manifold.
MOST_POINTS = 8


class Core(NamedTuple):
    """Points and faces of a shape without its radius, at its body's pose, in world axes."""

    points: Floats  # (k, 3) [m]
    normals: Floats  # (f, 3) outward, of the faces
    rotation: Floats  # (3, 3) body to world
    shape: Shape


def core_of(shape: Shape, place: Floats, rotation: Floats) -> Core:
    """Return the core of a shape on a body with centre of mass ``place`` (3,) [m] and ``rotation`` (3, 3)."""
    return Core(place + shape.array @ rotation.T, shape.normals @ rotation.T, rotation, shape)


class Manifold(NamedTuple):
    """Pairs of contact points of two bodies, opposite to each other along one normal."""

    normal: Floats  # (3,) from the first core to the second
    first: Floats  # (k, 3) [m] points of the first core
    second: Floats  # (k, 3) [m] points of the second core

    @property
    def gaps(self) -> Floats:
        """Gaps (k,) [m] between the cores along the normal; negative if they overlap."""
        return (self.second - self.first) @ self.normal


def separating_way(a: Core, b: Core) -> Floats:
    """Return the unit direction (3,) from a to b of greatest separation, or least penetration, of their hulls.

    It is the normal of a face or of two edges (Gottschalk et al. 1996, section 5). If the hulls touch or overlap, the
    distance along it is the least one.
    """
    u, v = a.shape.edges @ a.rotation.T, b.shape.edges @ b.rotation.T
    across = np.cross(u[:, None], v[None]).reshape(-1, 3)
    size = np.linalg.norm(across, axis=1)
    across = across[size > FLAT] / size[size > FLAT, None]
    ways = np.concatenate([a.normals, -b.normals, across, -across])
    apart = (ways @ b.points.T).min(axis=1) - (ways @ a.points.T).max(axis=1)
    return np.asarray(ways[int(apart.argmax())])


def manifold(a: Core, b: Core, way: Floats, near: tuple[Floats, Floats]) -> Manifold:
    """Return the contact manifold from the features near a unit direction (3,) from a to b."""
    flat_a, flat_b = _flattest(a, way), _flattest(b, -way)
    lies = max(flat_a[0], flat_b[0]) > np.cos(FLAT)
    if lies:
        normal = a.normals[flat_a[1]] if flat_a[0] >= flat_b[0] else -b.normals[flat_b[1]]
        first = Manifold(normal, near[0][None], near[1][None])
    else:
        first = _between_edges(_ends(a, way), _ends(b, -way), way)
    if max(flat_a[0], flat_b[0]) < STEEP:
        return first
    if flat_a[0] >= flat_b[0]:
        points = _over(a, flat_a[1], b, first.normal)
    else:
        over = _over(b, flat_b[1], a, -first.normal)
        points = Manifold(-over.normal, over.second, over.first)
    if not len(points.first):
        return first
    return points if lies else _with_nearest(points, first)


def _with_nearest(of_face: Manifold, first: Manifold) -> Manifold:
    """Return both manifolds joined, without points of ``first`` that are no nearer than those of a face."""
    nearer = first.gaps < of_face.gaps.min() - 1e-12
    if not nearer.any():
        return of_face
    return Manifold(
        of_face.normal,
        np.concatenate([first.first[nearer], of_face.first]),
        np.concatenate([first.second[nearer], of_face.second]),
    )


def _flattest(core: Core, way: Floats) -> tuple[float, int]:
    """Return cosine and index of the face most aligned with ``way``; (−1, −1) without faces."""
    if not len(core.normals):
        return -1.0, -1
    cosines = core.normals @ way
    best = int(cosines.argmax())
    return float(cosines[best]), best


def _opposite(core: Core, way: Floats) -> Floats:
    """Return the face (k, 3) most aligned with ``way`` at the farthest corner; without faces, all points."""
    if not len(core.normals):
        return core.points
    there = core.shape.faces_at[int((core.points @ way).argmax())]
    best = there[int((core.normals[there] @ way).argmax())]
    return core.points[core.shape.faces[best].corners]


def _over(a: Core, number: int, b: Core, normal: Floats) -> Manifold:
    """Return the manifold of a face of a, given by its number, and the part of b above it along a normal."""
    face, upward = a.shape.faces[number], a.normals[number]
    corners, points = a.points[face.corners], _opposite(b, -normal)
    sides = face.sides @ a.rotation.T
    sides = sides - np.outer(sides @ normal / (upward @ normal), upward)
    for corner, inward in zip(corners, sides, strict=True):
        points = _clipped(points, (points - corner) @ inward, SAME * a.shape.size)
    points = _spread(points, normal, SAME * max(a.shape.size, b.shape.size))
    below = points - np.outer((points - corners[0]) @ upward / (upward @ normal), normal)
    return Manifold(normal, below, points)


def _clipped(points: Floats, depth: Floats, least: float) -> Floats:
    """Return the part of a point, segment or polygon with depth above zero; depths up to ``least`` count as zero."""
    inside = depth >= -least
    if inside.all() or not len(points):
        return points
    kept: list[Floats] = []
    count = len(points)
    for k in range(count):
        if inside[k] != inside[k - 1] and (count > 2 or k == 1):
            share = min(max(depth[k - 1] / (depth[k - 1] - depth[k]), 0.0), 1.0)
            kept.append(points[k - 1] + share * (points[k] - points[k - 1]))
        if inside[k]:
            kept.append(points[k])
    return np.array(kept).reshape(-1, 3)


def _spread(points: Floats, normal: Floats, least: float) -> Floats:
    """Return at most ``MOST_POINTS`` of the points: without duplicates, and without those that add least area."""
    if len(points) > 1:
        apart = np.abs(points - np.roll(points, 1, axis=0)).max(axis=1) > least
        points = points[apart] if apart.any() else points[:1]
    while len(points) > MOST_POINTS:
        ears = np.cross(points - np.roll(points, 1, axis=0), np.roll(points, -1, axis=0) - points) @ normal
        points = np.delete(points, int(np.argmin(np.abs(ears))), axis=0)
    return points


def _ends(core: Core, way: Floats) -> Floats:
    """Return the corner or edge (1 or 2, 3) farthest along ``way``."""
    height = core.points @ way
    corner = int(np.argmax(height))
    across = np.linalg.norm(core.points - core.points[corner], axis=1)
    level = np.flatnonzero(height[corner] - height <= FLAT * across)
    if len(level) == 1:
        return core.points[level]
    return core.points[[corner, level[np.argmax(across[level])]]]


def _between_edges(edge_a: Floats, edge_b: Floats, way: Floats) -> Manifold:
    """Return the manifold of two edges or corners: crossing, common part of parallel edges, or nearest points."""
    u, v = edge_a[-1] - edge_a[0], edge_b[-1] - edge_b[0]
    normal, lengths = np.cross(u, v), float(np.linalg.norm(u) * np.linalg.norm(v))
    if lengths > 0.0 and np.linalg.norm(normal) <= FLAT * lengths:
        first, second = _common_part(edge_a, edge_b)
        return Manifold(_along(second[0] - first[0], way, edge_a, edge_b), first, second)
    s, t = _nearest(u, v, edge_a[0] - edge_b[0])
    first, second = edge_a[0] + s * u, edge_b[0] + t * v
    if not (0.0 < s < 1.0 and 0.0 < t < 1.0):
        normal = second - first
    return Manifold(_along(normal, way, edge_a, edge_b), first[None], second[None])


def _along(normal: Floats, way: Floats, edge_a: Floats, edge_b: Floats) -> Floats:
    """Return ``normal`` as a unit vector towards ``way``; ``way`` itself if the normal is rounding or far from it."""
    length, towards = float(np.linalg.norm(normal)), float(normal @ way)
    size = float(np.abs(edge_a - edge_b[0]).max() + np.abs(edge_b - edge_a[0]).max())
    if length <= SAME * size or abs(towards) < NEAR * length:
        return way
    return normal * (np.sign(towards) / length)


def _common_part(edge_a: Floats, edge_b: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the common part of two parallel edges, on both; if there is none, their nearest points."""
    u = edge_a[1] - edge_a[0]
    along = (edge_b - edge_a[0]) @ u / (u @ u)
    places = np.clip(along, 0.0, 1.0)
    shares = np.clip((places - along[0]) / (along[1] - along[0]), 0.0, 1.0)
    kept = [0] if places[0] == places[1] else [0, 1]
    return (edge_a[0] + np.outer(places, u))[kept], (edge_b[0] + np.outer(shares, edge_b[1] - edge_b[0]))[kept]


def _nearest(u: Floats, v: Floats, r: Floats) -> tuple[float, float]:
    """Return s, t in [0, 1] for which p + s u and q + t v are nearest; r is p − q (Ericson 2005, section 5.1.9)."""
    a, b, c, e, f = (float(x @ y) for x, y in ((u, u), (u, v), (u, r), (v, v), (v, r)))
    if a == 0.0:
        return 0.0, _share(f, e)
    s = _share(b * f - c * e, a * e - b * b)
    t = _share(b * s + f, e)
    return _share(b * t - c, a), t


def _share(part: float, total: float) -> float:
    """Return part / total, clipped to 0 … 1; 0 if ``total`` is zero."""
    return min(max(part / total, 0.0), 1.0) if total > 0.0 else 0.0
