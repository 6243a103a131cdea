"""What arguments are checked for."""

import math
from numbers import Real


def is_finite(value: object) -> bool:
    """Whether it is a number, and neither infinite nor NaN."""
    return isinstance(value, Real) and math.isfinite(value)
