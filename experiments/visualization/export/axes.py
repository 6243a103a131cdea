"""From this project's axes to those of the International Society of Biomechanics, and rotations as angles.

ISB (Wu & Cavanagh 1995), which EUROBENCH and OpenSim follow: x forward, y up, z to the right. The human here faces −X,
Z is up, and its right is +Y. A model that faces elsewhere is exported as if it faced −X.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

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


def cardan_yxz(rotations: Rotation) -> Floats:
    """(n, 3) angles (a, b, c) [rad] with R = R_y(a) R_x(b) R_z(c); the first and the last without jumps by 2π."""
    a, b, c = rotations.as_euler("YXZ").T
    return np.stack([np.unwrap(a), b, np.unwrap(c)], axis=1)
