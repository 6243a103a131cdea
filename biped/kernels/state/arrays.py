"""Arrays of nested named tuples."""

from typing import Any

import numpy as np

from contact.arrays import Floats


def arrays_of(value: Any) -> tuple[Floats, ...]:
    """Return all arrays in nested tuples, in order."""
    arrays: list[Floats] = []
    _gather_arrays(value, arrays)
    return tuple(arrays)


def _gather_arrays(value: Any, arrays: list[Floats]) -> None:
    for item in value if isinstance(value, tuple) else (value,):
        if isinstance(item, np.ndarray):
            arrays.append(item)
        elif isinstance(item, tuple):
            _gather_arrays(item, arrays)
