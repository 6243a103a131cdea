"""Surfaces of triangles: loops of points joined to a skin, boxes, balls."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from contact.arrays import Floats

#: Points of a loop; more do not show.
AROUND = 20


@dataclass(frozen=True)
class Mesh:
    """A closed surface."""

    vertices: Floats  # (V, 3) [m]
    faces: NDArray[np.int64]  # (F, 3) numbers of vertices, counter-clockwise from outside

    def moved(self, by: ArrayLike) -> "Mesh":
        return Mesh(self.vertices + np.asarray(by, dtype=float), self.faces)

    def turned(self, rotation: ArrayLike) -> "Mesh":
        """The same, turned about the origin by a rotation matrix."""
        return Mesh(self.vertices @ np.asarray(rotation, dtype=float).T, self.faces)


@dataclass(frozen=True)
class Loop:
    """A cross-section of a limb: a superellipse |u/a|ⁿ + |v/b|ⁿ = 1 across the limb's axis."""

    center: tuple[float, float, float]  # [m]
    half: tuple[float, float]  # [m] half of its extent along both directions across the axis
    power: float = 2.0  # n; 2 is an ellipse, more comes closer to a rectangle


def joined(meshes: Sequence[Mesh]) -> Mesh:
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes)])
    faces = [mesh.faces + start for mesh, start in zip(meshes, starts, strict=False)]
    return Mesh(np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(faces))


def skin(loops: Sequence[Loop], axis: int, fine: int = 3) -> Mesh:
    """A smooth surface through cross-sections, closed at both ends.

    Args:
        loops: from one end to the other, along increasing coordinate of ``axis``.
        axis: 0, 1 or 2: which axis the limb goes along; the sections are across it, in the plane of the next two.
        fine: sections from one loop to the next, by monotone cubic interpolation, so that no bulge is invented.
    """
    numbers = np.array([(*loop.center, *loop.half, loop.power) for loop in loops])
    along = np.linspace(0.0, len(loops) - 1.0, fine * (len(loops) - 1) + 1)
    if len(loops) > 2:
        from scipy.interpolate import PchipInterpolator

        numbers = PchipInterpolator(np.arange(len(loops)), numbers)(along)
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = [_ring(row, axis, angles) for row in numbers]
    return _closed(np.array(rings))


def _ring(numbers: Floats, axis: int, angles: Floats) -> Floats:
    center, a, b, power = numbers[:3], numbers[3], numbers[4], numbers[5]
    c, s = np.cos(angles), np.sin(angles)
    points = np.tile(center, (len(angles), 1))
    points[:, (axis + 1) % 3] += a * np.sign(c) * np.abs(c) ** (2.0 / power)
    points[:, (axis + 2) % 3] += b * np.sign(s) * np.abs(s) ** (2.0 / power)
    return points


def _closed(rings: Floats) -> Mesh:
    """Rings of as many points each, joined by triangles; the ends are closed by fans about their middles."""
    count, around = rings.shape[:2]
    ends = np.array([rings[0].mean(axis=0), rings[-1].mean(axis=0)])
    k, j = np.meshgrid(np.arange(count - 1), np.arange(around), indexing="ij")
    a, b = k * around + j, k * around + (j + 1) % around
    sides = np.concatenate([np.stack([a, b, b + around], -1), np.stack([a, b + around, a + around], -1)]).reshape(-1, 3)
    first, last, i = count * around, count * around + 1, np.arange(around)
    top = (count - 1) * around
    low = np.stack([np.full(around, first), (i + 1) % around, i], -1)
    high = np.stack([np.full(around, last), top + i, top + (i + 1) % around], -1)
    return Mesh(np.concatenate([rings.reshape(-1, 3), ends]), np.concatenate([sides, low, high]))


def ball(radii: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0), rows: int = 9) -> Mesh:
    """An ellipsoid with these half axes (one number, or three) [m]."""
    half = np.broadcast_to(np.asarray(radii, dtype=float), 3)
    heights = np.linspace(0.0, np.pi, rows + 2)[1:-1]
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = np.array([[(np.sin(h) * np.cos(a), np.sin(h) * np.sin(a), -np.cos(h)) for a in angles] for h in heights])
    mesh = _closed(rings * half)
    mesh.vertices[-2:] = np.array([[0.0, 0.0, -half[2]], [0.0, 0.0, half[2]]])
    return mesh.moved(center)


def limb(begin: ArrayLike, end: ArrayLike, radii: tuple[float, float], waist: float = 1.0) -> Mesh:
    """A tapered limb between two points, with round ends.

    Args:
        begin: (3,) [m].
        end: (3,) [m].
        radii: [m] at both.
        waist: how thick it is halfway, as a part of the mean.
    """
    start, way = np.asarray(begin, dtype=float), np.asarray(end, dtype=float) - np.asarray(begin, dtype=float)
    length = float(np.linalg.norm(way))
    first, last = radii
    middle = waist * (first + last) / 2.0
    t = np.linspace(0.0, np.pi / 2.0, 5)
    places = [*(-first * np.cos(t)), length / 2.0, *(length + last * np.sin(t))]
    sizes = [*np.maximum(first * np.sin(t), 1e-4), middle, *np.maximum(last * np.cos(t), 1e-4)]
    loops = [Loop((0.0, 0.0, z), (r, r)) for z, r in zip(places, sizes, strict=True)]
    return skin(loops, 2, fine=1).turned(_towards(way)).moved(start)


def _towards(way: Floats) -> Floats:
    """A rotation that takes z to a direction; none for no direction."""
    length = float(np.linalg.norm(way))
    if length == 0.0:
        return np.eye(3)
    z = way / length
    x = np.cross([0.0, 1.0, 0.0] if abs(z[1]) < 0.9 else [1.0, 0.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def box(size: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0)) -> Mesh:
    """A box with these edges [m]; each face has corners of its own, so that its edges are sharp."""
    half = np.asarray(size, dtype=float) / 2.0
    vertices: list[Floats] = []
    faces: list[tuple[int, int, int]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = ((axis + 1) % 3, (axis + 2) % 3) if sign > 0.0 else ((axis + 2) % 3, (axis + 1) % 3)
            start = len(vertices)
            for a, b in ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)):
                corner = np.zeros(3)
                corner[axis], corner[u], corner[v] = sign, a, b
                vertices.append(corner * half)
            faces += [(start, start + 1, start + 2), (start, start + 2, start + 3)]
    return Mesh(np.array(vertices), np.array(faces)).moved(center)
