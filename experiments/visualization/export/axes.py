"""From this project's axes to those of the International Society of Biomechanics, and rotations as angles.

ISB (Wu & Cavanagh 1995), which EUROBENCH and OpenSim follow: x forward, y up, z to the right. Here Z is up; forward is
where a model looks at home, for the human −X.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from biped.model.geometry import Vector3
from contact.arrays import Floats

#: Of the human.
FACING: Vector3 = (-1.0, 0.0, 0.0)


def to_isb(vectors: ArrayLike, facing: Vector3 = FACING) -> Floats:
    """(…, 3) vectors or places of ours in ISB axes, of a model that looks along ``facing`` at home."""
    x, y, _ = facing
    axes = np.array([[x, y, 0.0], [0.0, 0.0, 1.0], [y, -x, 0.0]])  # its rows are the ISB's: forward, up, right
    return np.asarray(vectors, dtype=np.float64) @ axes.T


def quaternions_to_isb(quaternions: ArrayLike, facing: Vector3 = FACING) -> Floats:
    """(…, 4) orientations of ours, scalar first, in ISB axes: both the body's and the world's are renamed."""
    q = np.asarray(quaternions, dtype=np.float64)
    return np.concatenate([q[..., :1], to_isb(q[..., 1:], facing)], axis=-1)


def cardan_yxz(rotations: Rotation) -> Floats:
    """(n, 3) angles (a, b, c) [rad] with R = R_y(a) R_x(b) R_z(c); the first and the last without jumps by 2π."""
    a, b, c = rotations.as_euler("YXZ").T
    return np.stack([np.unwrap(a), b, np.unwrap(c)], axis=1)
