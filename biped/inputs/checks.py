"""Checks of arguments; each raises InputError with a message for an invalid argument."""

import difflib
import sys
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats


def is_finite(value: object) -> bool:
    """Return True if a value is a real number that is neither infinite nor NaN."""
    number: Any = value
    return isinstance(value, Real) and not isinstance(number, bool) and bool(abs(number) <= sys.float_info.max)


def numbers(value: Sequence[float], count: int, what: str) -> tuple[float, ...]:
    """Return ``value`` as a tuple of ``count`` finite numbers, or raise InputError."""
    try:
        items = tuple(value)
    except TypeError:
        items = ()
    if len(items) != count or not all(is_finite(x) for x in items):
        raise InputError(f"{what} = {value!r}: it must be {count} finite numbers")
    return tuple(float(x) for x in items)


def above_zero(value: float, what: str) -> None:
    """Raise InputError unless a value is a finite number above zero."""
    if not is_finite(value) or value <= 0.0:
        raise InputError(f"{what} = {value!r}: it must be a finite number above zero")


def zero_or_above(value: float, what: str) -> None:
    """Raise InputError if a value is negative or not a finite number."""
    if not is_finite(value) or value < 0.0:
        raise InputError(f"{what} = {value!r}: it must be a finite number, zero or above")


def integer(value: int, what: str) -> int:
    """Return ``value`` as an ``int``; raise InputError unless it is a whole number from zero to 2⁶³ − 1."""
    if isinstance(value, bool) or not is_finite(value) or not 0 <= value < 2**63 or value != int(value):
        raise InputError(f"{what} = {value!r}: it must be a whole number, zero or above, and below 2^63")
    return int(value)


def positive_definite(matrix: Floats, what: str) -> None:
    """Raise InputError unless a square matrix is finite, symmetric up to rounding, and positive definite."""
    given = f"{what} = {np.asarray(matrix).tolist()}"
    if not np.all(np.isfinite(matrix)) or np.abs(matrix - matrix.T).max() > 1e-9 * np.abs(matrix).max():
        raise InputError(f"{given}: the matrix must be finite and symmetric")
    least = float(np.linalg.eigvalsh(matrix)[0])
    if not least > 0.0:
        raise InputError(f"{given}: the matrix must be positive definite; its smallest eigenvalue is {least:.3g}")


def refuse_near_misses(derived: type, base: type) -> None:
    """Check that no member of a class is a misspelt optional member of its base class, which would be ignored.

    Private members (with an underscore) and inherited members are not checked.

    Raises:
        InputError: a member seems to be misspelt; the message gives the name that may be meant.
    """
    optional = [name for name in vars(base) if not name.startswith("_")]
    optional += [name for name in getattr(base, "__annotations__", {}) if name not in optional]
    inherited = {name for parent in derived.__mro__[1:] for name in vars(parent)}
    for name in vars(derived):
        if name.startswith("_") or name in inherited or name in optional:
            continue
        close = difflib.get_close_matches(name, optional, n=1, cutoff=0.8)
        meant = getattr(base, close[0], None) if close else None
        # A number is not a misspelt method: a controller may have a ``torque``.
        if close and (meant is None or callable(vars(derived)[name]) == callable(meant)):
            raise InputError(
                f"{derived.__name__}.{name}: did you mean {close[0]!r}? If not, choose a "
                f"name less like {close[0]!r}, or begin it with an underscore"
            )
