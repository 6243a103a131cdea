"""Checks that all disturbances share."""

from collections.abc import Sequence

from biped.checks import is_finite
from biped.errors import InputError

Vector3 = tuple[float, float, float]


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
    """Refuse what is not a whole number, zero or above."""
    if isinstance(value, bool) or not is_finite(value) or value < 0 or value != int(value):
        raise InputError(f"{what} = {value!r}: it must be a whole number, zero or above")
