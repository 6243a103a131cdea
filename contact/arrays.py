"""Types of the arrays that kernels use."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def unset(*shape: int) -> Floats:
    """Return an array of this shape filled with NaN, which exposes any use before it is written."""
    return np.full(shape, np.nan)
