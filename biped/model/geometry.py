"""Vectors, rotations and quaternions of a model's data: checked on input, stored as tuples of floats.

Tuples make the dataclasses of this package immutable, comparable and hashable. They are converted from any array-like
input.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from biped.model.errors import ModelError
from contact.arrays import Floats

Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]

IDENTITY: Matrix3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

#: [m/s²] Gravitational acceleration of models.
STANDARD_GRAVITY: Vector3 = (0.0, 0.0, -9.81)
#: [rad] A full turn with a margin for rounding; larger angles were probably meant in degrees.
LARGEST_ANGLE = math.tau + 0.01

_EXPECTED = {(): "a finite number", (3,): "3 finite numbers", (4,): "4 finite numbers", (3, 3): "3 x 3 finite numbers"}

_ROTATION_TOLERANCE = 1e-6
_UNIT_TOLERANCE = 1e-3


def name_of(value: object, what: str) -> str:
    """Return ``value`` if it is a valid name.

    Raises:
        ModelError: the value is not a string, or empty.
    """
    if not isinstance(value, str) or not value.strip():
        raise ModelError(f"{what} needs a name, a non-empty string; got {value!r}")
    return value


def _shown(value: object) -> str:
    """Return the ``repr`` of ``value`` on one line."""
    return " ".join(repr(value).split())


def _finite(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != shape or not np.isfinite(array).all():
        raise ModelError(f"{what} must be {_EXPECTED[shape]}, got {_shown(value)}")
    return array


def number(value: ArrayLike, what: str) -> float:
    """Return ``value`` as a finite float.

    Raises:
        ModelError: the value is not a finite number.
    """
    plain: object = value
    if isinstance(plain, float) and math.isfinite(plain):  # fast path for the usual case
        return float(plain)
    return float(_finite(value, (), what))


def number_or_infinite(value: ArrayLike, what: str) -> float:
    """Return ``value`` as a float that may be infinite.

    Raises:
        ModelError: the value is not a number.
    """
    plain: object = value
    return plain if isinstance(plain, float) and math.isinf(plain) else number(value, what)


def positive(value: ArrayLike, what: str, unit: str) -> float:
    """Return ``value`` as a finite float above zero.

    Raises:
        ModelError: the value is not a finite number above zero.
    """
    result = number(value, what)
    if result <= 0.0:
        raise ModelError(f"{what} must be above zero, got {result!r} {unit}")
    return result


def not_negative(value: ArrayLike, what: str, unit: str) -> float:
    """Return ``value`` as a finite float, zero or above.

    Raises:
        ModelError: the value is not a finite number, or below zero.
    """
    result = number(value, what)
    if result < 0.0:
        raise ModelError(f"{what} must not be below zero, got {result!r} {unit}")
    return result


def vector3(value: ArrayLike, what: str) -> Vector3:
    """Return ``value`` as three finite floats.

    Raises:
        ModelError: the value is not three finite numbers; ``what`` begins the message.
    """
    x, y, z = _finite(value, (3,), what).tolist()
    return x, y, z


def matrix3(value: ArrayLike, what: str) -> Matrix3:
    """Return ``value`` as the rows of a 3 x 3 matrix of finite floats.

    Raises:
        ModelError: the value is not 3 x 3 finite numbers.
    """
    a, b, c = (tuple(row) for row in _finite(value, (3, 3), what).tolist())
    return a, b, c


def rotation3(value: ArrayLike, what: str) -> Matrix3:
    """Return ``value`` as a rotation matrix.

    Raises:
        ModelError: the value is not 3 x 3 finite numbers, not orthogonal, or a reflection.
    """
    rows = matrix3(value, what)
    R = np.array(rows)
    if np.abs(R @ R.T - np.eye(3)).max() > _ROTATION_TOLERANCE or np.linalg.det(R) < 0.0:
        raise ModelError(f"{what} must be a rotation matrix (R Rᵀ = 1, det R = 1), got {_shown(value)}")
    return rows


def quaternion(value: ArrayLike, what: str) -> Quaternion:
    """Return ``value`` as a unit quaternion (w, x, y, z); rounding to three or more digits is corrected.

    Raises:
        ModelError: the value is not four finite numbers of norm 1.
    """
    array = _finite(value, (4,), what)
    norm = float(np.linalg.norm(array))
    if abs(norm - 1.0) > _UNIT_TOLERANCE:
        raise ModelError(f"{what} must be a unit quaternion (w, x, y, z); {_shown(value)} has norm {norm:.6g}")
    w, x, y, z = (array / norm).tolist()
    return w, x, y, z


def rotation_about(axis: ArrayLike, angle: float) -> Matrix3:
    """Return the matrix of a rotation by ``angle`` [rad] about ``axis``, a vector of any length.

    Raises:
        ModelError: the axis is zero or not three finite numbers.
    """
    x, y, z = unit(axis, "axis of rotation")
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return matrix3(np.eye(3) + math.sin(angle) * K + (1.0 - math.cos(angle)) * (K @ K), "rotation")


def rotation_onto(direction: Floats) -> Floats:
    """Return a rotation (3, 3) that maps z to a direction (3,)."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return np.column_stack((x, np.cross(z, x), z))


def unit(value: ArrayLike, what: str) -> Vector3:
    """Return ``value`` divided by its length.

    Raises:
        ModelError: the value is zero, or not three finite numbers.
    """
    array = np.array(vector3(value, what))
    length = np.linalg.norm(array)
    if length == 0.0:
        raise ModelError(f"{what} must not be zero; give a direction, for example (0, 1, 0)")
    if abs(length - 1.0) <= np.finfo(np.float64).eps:
        return vector3(array, what)  # already unit: dividing again would only move the last bit
    return vector3(array / length, what)


def horizontal(value: ArrayLike, what: str) -> Vector3:
    """Return ``value`` as a horizontal unit vector.

    Raises:
        ModelError: the value is not three finite numbers, zero, or not horizontal.
    """
    direction = unit(value, what)
    if direction[2] != 0.0:
        raise ModelError(f"{what} must be horizontal, like (1, 0, 0), got {_shown(value)}")
    return direction


def quaternion_matrix(q: ArrayLike) -> Floats:
    """Return the rotation matrix (3, 3) of a unit quaternion (w, x, y, z), body to world (Wendlandt 1997, App. A.3)."""
    w, x, y, z = np.asarray(q, dtype=np.float64)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rpy_matrix(rpy: ArrayLike) -> Floats:
    """Return the rotation (3, 3) by roll, pitch, yaw [rad] about the fixed axes x, y, z, in this order, as in URDF."""
    roll, pitch, yaw = vector3(rpy, "roll, pitch, yaw")
    x, y, z = np.eye(3)
    turns = [np.array(rotation_about(axis, angle)) for axis, angle in ((z, yaw), (y, pitch), (x, roll))]
    matrix: Floats = np.linalg.multi_dot(turns)
    return matrix


def orientation_from(value: ArrayLike, what: str, *, degrees: bool = False) -> Quaternion:
    """Return a unit quaternion (w, x, y, z) from a quaternion or from roll, pitch and yaw [rad, or degrees].

    Raises:
        ModelError: the value is neither a unit quaternion nor three angles.
    """
    if np.shape(value) == (3,):
        angles = np.array(vector3(value, what))
        return rpy_quaternion(np.radians(angles) if degrees else angles)
    if np.shape(value) != (4,):
        raise ModelError(f"{what} must be a unit quaternion (w, x, y, z) or (roll, pitch, yaw), got {_shown(value)}")
    return quaternion(value, what)


def rpy_quaternion(rpy: ArrayLike) -> Quaternion:
    """Return the unit quaternion (w, x, y, z) of the rotation by roll, pitch, yaw [rad], as in ``rpy_matrix``."""
    roll, pitch, yaw = vector3(rpy, "roll, pitch, yaw")
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a / 2.0), math.sin(a / 2.0)) for a in (roll, pitch, yaw))
    return (
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    )


def matrix_rpy(R: Matrix3) -> Vector3:
    """Return roll, pitch, yaw [rad] of a rotation matrix; roll is zero where they are ambiguous, at a pitch of ±90°."""
    pitch = math.atan2(-R[2][0], math.hypot(R[0][0], R[1][0]))
    if math.hypot(R[0][0], R[1][0]) < 1e-12:
        return 0.0, pitch, math.atan2(-R[0][1], R[1][1])
    return math.atan2(R[2][1], R[2][2]), pitch, math.atan2(R[1][0], R[0][0])
