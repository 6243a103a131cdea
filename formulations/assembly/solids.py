"""Bodies cast of one material: mass, centre and inertia of convex polytopes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from biped.inputs.checks import above_zero
from biped.model.geometry import Vector3, matrix3
from formulations.assembly.body import RigidBody
from formulations.assembly.errors import AssemblyError
from formulations.assembly.shapes import Shape


def cast(name: str, points: ArrayLike, density: float) -> tuple[RigidBody, Vector3]:
    """A body of uniform density that is the convex hull of points, its axes theirs; and its centre of mass.

    Args:
        name: of the body.
        points: (k, 3) [m] all of them corners of the hull.
        density: [kg/m³]

    Raises:
        AssemblyError: the points do not span a volume, or one is no corner.
        InputError: the density is not above zero.
    """
    above_zero(density, f"density of body {name!r}")
    shape = Shape(tuple(map(tuple, np.asarray(points, dtype=np.float64).tolist())))
    if not len(shape.triangles):
        raise AssemblyError(f"body {name!r} has {len(shape.points)} points; a solid has four at least")
    corners = shape.array[shape.triangles] - shape.array.mean(axis=0)  # tetrahedra from there
    volumes = np.linalg.det(corners) / 6.0
    sums = corners.sum(axis=1)
    center = volumes @ sums / (4.0 * volumes.sum())
    second = np.einsum("t,tki,tkj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, sums, sums)
    spread = density * (second / 20.0 - volumes.sum() * np.outer(center, center))
    inertia = np.trace(spread) * np.eye(3) - spread
    x, y, z = (center + shape.array.mean(axis=0)).tolist()
    hull = Shape(tuple(map(tuple, (shape.array - (x, y, z)).tolist())))
    return RigidBody(name, density * float(volumes.sum()), matrix3(inertia, f"inertia of {name!r}"), hull), (x, y, z)
