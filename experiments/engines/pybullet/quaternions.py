"""Quaternions: ours are scalar first, PyBullet's scalar last."""

import numpy as np

from contact.arrays import Floats
from contact.vectors import quat_mul


def as_bullet(quaternion: Floats) -> list[float]:
    return [float(quaternion[k]) for k in (1, 2, 3, 0)]


def as_ours(quaternion: tuple[float, float, float, float]) -> Floats:
    x, y, z, w = quaternion
    return np.array((w, x, y, z))


def product(a: Floats, b: Floats) -> Floats:
    """The product of two quaternions (w, x, y, z)."""
    return np.array(quat_mul(a.tolist(), b.tolist()))
