"""The types of the arrays that kernels take."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def unset(*shape: int) -> Floats:
    """An array that nothing has been written to: NaN, so that a use before that shows."""
    return np.full(shape, np.nan)
