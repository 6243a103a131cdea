"""From this project's axes to those of the International Society of Biomechanics, and rotations as angles.

ISB (Wu & Cavanagh 1995), which EUROBENCH and OpenSim follow: x forward, y up, z to the right. The human here faces −X,
Z is up, and its right is +Y. A model that faces elsewhere is exported as if it faced −X.
"""

import numpy as np
from numpy.typing import ArrayLike

from contact.arrays import Floats

#: Its rows are the ISB's axes in ours: forward −X, up Z, right Y.
TO_ISB: Floats = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])


def to_isb(vectors: ArrayLike) -> Floats:
    """(…, 3) vectors or places of ours in ISB axes."""
    return np.asarray(vectors, dtype=np.float64) @ TO_ISB.T


def quaternions_to_isb(quaternions: ArrayLike) -> Floats:
    """(…, 4) orientations of ours, scalar first, in ISB axes: both the body's and the world's are renamed."""
    q = np.asarray(quaternions, dtype=np.float64)
    return np.concatenate([q[..., :1], to_isb(q[..., 1:])], axis=-1)


def rotations_about(axis: ArrayLike, angles: ArrayLike) -> Floats:
    """(n, 3, 3) turns about a unit axis by angles (n,) [rad] (Rodrigues)."""
    x, y, z = np.asarray(axis, dtype=np.float64)
    hat = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    angle = np.asarray(angles, dtype=np.float64)[:, None, None]
    turned: Floats = np.eye(3) + np.sin(angle) * hat + (1.0 - np.cos(angle)) * (hat @ hat)
    return turned


def rotations_of(quaternions: ArrayLike) -> Floats:
    """(n, 3, 3) rotation matrices of unit quaternions (n, 4), scalar first."""
    w, x, y, z = np.asarray(quaternions, dtype=np.float64).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)


def cardan_yxz(rotations: Floats) -> Floats:
    """(n, 3) angles (a, b, c) [rad] with R = R_y(a) R_x(b) R_z(c); the first and the last without jumps by 2π."""
    a = np.arctan2(rotations[:, 0, 2], rotations[:, 2, 2])
    b = -np.arcsin(np.clip(rotations[:, 1, 2], -1.0, 1.0))
    c = np.arctan2(rotations[:, 1, 0], rotations[:, 1, 1])
    return np.stack([np.unwrap(a), b, np.unwrap(c)], axis=1)
