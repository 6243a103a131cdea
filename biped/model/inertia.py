"""Inertia tensors of boxes, from principal moments, and of welded bodies, with checks of their validity."""

import math

import numpy as np
from numpy.typing import ArrayLike

from biped.model.errors import ModelError
from biped.model.geometry import IDENTITY, Matrix3, Vector3, matrix3, positive, rotation3, vector3
from contact.arrays import Floats

_TOLERANCE = 1e-9
"""Relative tolerance of a tensor's symmetry, and of the triangle inequality of principal moments."""


def box_inertia(mass: float, size: ArrayLike) -> Matrix3:
    """Return the inertia [kg m²], about the centre, of a solid box with ``mass`` [kg] and edge lengths ``size`` [m].

    Raises:
        ModelError: the mass or an edge length is zero, negative or not finite.
    """
    m = positive(mass, "mass of the box", "kg")
    x, y, z = (positive(edge, "edge of the box", "m") for edge in vector3(size, "size of the box"))
    return principal_inertia((m / 12.0 * (y * y + z * z), m / 12.0 * (z * z + x * x), m / 12.0 * (x * x + y * y)))


def box_size_of(mass: float, moments: ArrayLike) -> Vector3:
    """Return the edge lengths [m] of the solid box with ``mass`` [kg] and principal ``moments`` [kg m²].

    Raises:
        ModelError: no box has these moments: one of them is not below the sum of the other two.
    """
    m = positive(mass, "mass of the box", "kg")
    principal = vector3(moments, "principal moments")
    squares = [12.0 / m * (0.5 * sum(principal) - moment) for moment in principal]
    if min(squares) <= 0.0:
        raise ModelError(f"no box has principal moments {principal}: each must be below the sum of the other two")
    x, y, z = (math.sqrt(square) for square in squares)
    return x, y, z


def principal_inertia(moments: ArrayLike, rotation: ArrayLike = IDENTITY) -> Matrix3:
    """Return the inertia tensor [kg m²] with principal ``moments`` about the axes in the columns of ``rotation``.

    Raises:
        ModelError: the moments are not three finite numbers, or ``rotation`` is not a rotation.
    """
    R = np.array(rotation3(rotation, "rotation of the principal axes"))
    turned = (R * vector3(moments, "principal moments")) @ R.T
    return matrix3(0.5 * (turned + turned.T), "inertia")


def checked_inertia(value: ArrayLike, what: str, *, solid: bool = False) -> Matrix3:
    """Return the inertia ``value`` [kg m²], made exactly symmetric; unless ``solid``, a thin rod or a point is valid.

    Raises:
        ModelError: the value is not 3 x 3 finite numbers, is not symmetric, has a negative principal moment, violates
            the triangle inequality of principal moments, or must be solid and is not. ``what`` begins the message.
    """
    J = np.array(matrix3(value, what))
    scale = float(np.abs(J).max())
    if np.abs(J - J.T).max() > _TOLERANCE * scale:
        raise ModelError(f"{what} must be symmetric, got {J.tolist()}")
    J = np.triu(J) + np.triu(J, 1).T
    smallest, middle, largest = np.linalg.eigvalsh(J).tolist()
    moments = f"({smallest:.6g}, {middle:.6g}, {largest:.6g}) kg m²"
    if solid and smallest <= 0.0:
        raise ModelError(f"{what} must be positive definite; its principal moments are {moments}")
    if smallest < -_TOLERANCE * scale:
        raise ModelError(f"{what} has principal moments {moments}; none may be below zero")
    if largest > (smallest + middle) * (1.0 + _TOLERANCE):
        raise ModelError(f"{what} has principal moments {moments}; the largest may not exceed the sum of the other two")
    return matrix3(J, what)


def is_solid(inertia: Matrix3) -> bool:
    """Return True if a checked tensor is positive definite beyond rounding: its leading minors are above zero."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    size = max(xx, yy, zz)
    second = xx * yy - xy * xy
    third = zz * second - xx * yz * yz - yy * xz * xz + 2.0 * xy * yz * xz
    return xx > 0.0 and second > _TOLERANCE * size * size and third > _TOLERANCE * size**3


def shifted(inertia: ArrayLike, mass: float, offset: ArrayLike) -> Floats:
    """Return ``inertia`` about the centre of mass, moved to a point ``offset`` [m] from it (Steiner) [kg m²]."""
    r = np.asarray(offset, dtype=np.float64)
    return np.asarray(inertia, dtype=np.float64) + mass * (r @ r * np.eye(3) - np.outer(r, r))
