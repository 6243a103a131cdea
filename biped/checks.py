"""What arguments are checked for."""

import math
from collections.abc import Sequence
from numbers import Real

from biped.errors import InputError

#: What 64 bits hold.
MOST_WHOLE = 2**63 - 1


def is_finite(value: object) -> bool:
    """Whether it is a number, and neither infinite nor NaN."""
    return isinstance(value, Real) and math.isfinite(value)


def numbers(value: Sequence[float], count: int, what: str) -> tuple[float, ...]:
    """``value`` as so many finite numbers."""
    try:
        found = tuple(value)
    except TypeError:
        found = ()
    if len(found) != count or not all(is_finite(x) for x in found):
        raise InputError(f"{what} = {value!r}: it must be {count} finite numbers")
    return tuple(float(x) for x in found)


def above_zero(value: float, what: str) -> None:
    """Refuse what is not a finite number above zero."""
    if not is_finite(value) or value <= 0.0:
        raise InputError(f"{what} = {value!r}: it must be a finite number above zero")


def zero_or_above(value: float, what: str) -> None:
    """Refuse what is not a finite number, zero or above."""
    if not is_finite(value) or value < 0.0:
        raise InputError(f"{what} = {value!r}: it must be a finite number, zero or above")


def whole(value: int, what: str) -> None:
    """Refuse what is not a whole number from zero to the greatest that the kernels take."""
    if isinstance(value, bool) or not is_finite(value) or not 0 <= value <= MOST_WHOLE or value != int(value):
        raise InputError(f"{what} = {value!r}: it must be a whole number, zero or above, and below 2^63")
