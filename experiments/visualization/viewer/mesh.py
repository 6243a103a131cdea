"""Triangle meshes: skins through cross-sections, limbs, and their export to the browser."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from trimesh import Trimesh, creation, geometry, transformations
from trimesh.exchange.gltf import export_glb
from trimesh.util import concatenate
from trimesh.visual import ColorVisuals

from contact.arrays import Floats

#: Number of points around a limb.
AROUND = 20


class Loop(NamedTuple):
    """Cross-section of a limb: superellipse |u/a|ⁿ + |v/b|ⁿ = 1 with coordinates u, v and half extents a, b."""

    center: tuple[float, float, float]  # [m] centre
    half: tuple[float, float]  # [m] a and b, the half extents
    power: float = 2.0  # exponent n; 2 for an ellipse, more for a rounded rectangle


def skin(loops: Sequence[Loop], axis: int, fine: int = 3) -> Trimesh:
    """Return a smooth surface through cross-sections along an axis (0, 1 or 2), closed at both ends.

    The sections are in the plane of the next two axes; between two of them ``fine`` sections are added by monotone
    cubic interpolation, which adds no bulges.
    """
    from scipy.interpolate import PchipInterpolator

    numbers = np.array([(*loop.center, *loop.half, loop.power) for loop in loops])
    along = np.linspace(0.0, len(loops) - 1.0, fine * (len(loops) - 1) + 1)
    numbers = PchipInterpolator(np.arange(len(loops)), numbers)(along)
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    return _closed(np.array([_ring(row, axis, angles) for row in numbers]))


def _ring(numbers: Floats, axis: int, angles: Floats) -> Floats:
    center, a, b, power = numbers[:3], numbers[3], numbers[4], numbers[5]
    c, s = np.cos(angles), np.sin(angles)
    points = np.tile(center, (len(angles), 1))
    points[:, (axis + 1) % 3] += a * np.sign(c) * np.abs(c) ** (2.0 / power)
    points[:, (axis + 2) % 3] += b * np.sign(s) * np.abs(s) ** (2.0 / power)
    return points


def _closed(rings: Floats) -> Trimesh:
    """Return a closed surface: rings of equally many points, joined by triangles, and triangle fans at the ends."""
    count, around = rings.shape[:2]
    ends = np.array([rings[0].mean(axis=0), rings[-1].mean(axis=0)])
    k, j = np.meshgrid(np.arange(count - 1), np.arange(around), indexing="ij")
    a, b = k * around + j, k * around + (j + 1) % around
    sides = np.concatenate([np.stack([a, b, b + around], -1), np.stack([a, b + around, a + around], -1)]).reshape(-1, 3)
    first, last, i = count * around, count * around + 1, np.arange(around)
    top = (count - 1) * around
    low = np.stack([np.full(around, first), (i + 1) % around, i], -1)
    high = np.stack([np.full(around, last), top + i, top + (i + 1) % around], -1)
    return Trimesh(np.concatenate([rings.reshape(-1, 3), ends]), np.concatenate([sides, low, high]), process=False)


def ball(radii: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0)) -> Trimesh:
    """Return an ellipsoid with these semi-axes (one number, or three) [m]."""
    mesh = creation.icosphere(subdivisions=2)
    mesh.apply_scale(np.broadcast_to(np.asarray(radii, dtype=float), 3))
    return mesh.apply_translation(center)


def limb(begin: ArrayLike, end: ArrayLike, radii: tuple[float, float], waist: float = 1.0) -> Trimesh:
    """Return a tapered limb between two points [m] with round ends; ``waist``: ratio of middle to mean thickness."""
    start, along = np.asarray(begin, dtype=float), np.asarray(end, dtype=float) - np.asarray(begin, dtype=float)
    length, (first, last) = float(np.linalg.norm(along)), radii
    t = np.linspace(0.0, np.pi / 2.0, 5)
    sizes = [*(first * np.sin(t)), waist * (first + last) / 2.0, *(last * np.cos(t[:-1])), 0.0]
    heights = [*(-first * np.cos(t)), length / 2.0, *(length + last * np.sin(t))]
    mesh = creation.revolve(np.column_stack([sizes, heights]), sections=AROUND)
    if length:
        mesh.apply_transform(geometry.align_vectors([0.0, 0.0, 1.0], along))
    return mesh.apply_translation(start)


def box(size: ArrayLike, center: ArrayLike = (0.0, 0.0, 0.0), rotation: ArrayLike | None = None) -> Trimesh:
    """Return a box with these edges [m]; each face has its own corners, so that edges are sharp."""
    place = transformations.translation_matrix(center)
    if rotation is not None:
        place[:3, :3] = rotation
    mesh = creation.box(np.asarray(size, dtype=float), transform=place)
    mesh.unmerge_vertices()
    return mesh


def joined(meshes: Sequence[Trimesh]) -> Trimesh:
    mesh = concatenate(list(meshes))
    assert isinstance(mesh, Trimesh)
    return mesh


def linear(color: ArrayLike) -> NDArray[np.uint8]:
    """Return colours (…, 3) as the browser expects them: linear in the amount of light (IEC 61966-2-1)."""
    part = np.asarray(color, dtype=float) / 255.0
    light = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    return np.rint(255.0 * light).astype(np.uint8)


def as_glb(mesh: Trimesh, colors: ArrayLike) -> bytes:
    """Return a mesh with the colours (V, 3) of its vertices as binary glTF; smooth where vertices are shared."""
    mesh.visual = ColorVisuals(mesh, vertex_colors=linear(colors))

    def make_matte(tree: dict[str, list[dict[str, object]]]) -> None:  # the default material is metal
        tree["materials"] = [{"pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 0.85}}]
        for item in tree["meshes"]:
            item["primitives"][0]["material"] = 0  # type: ignore[index]

    data: bytes = export_glb(mesh.scene(), include_normals=True, tree_postprocessor=make_matte)
    return data
