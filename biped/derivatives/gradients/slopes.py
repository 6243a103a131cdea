"""Derivatives of some numbers by one number: exact if linear, otherwise extrapolated."""

import math
from collections.abc import Callable

import numpy as np

from biped.errors import BipedError, InputError
from contact.arrays import Floats

#: Greatest relative difference of two difference quotients of a linear function.
LINEAR = 1e-11
#: Relative error to which an extrapolation must converge.
SETTLED = 1e-8
LEVELS = 6


class NoSlopeError(InputError):
    """Error: the difference quotients do not converge, although both sides can be evaluated."""


def slopes(numbers_at: Callable[[float], Floats], value: float, name: str) -> Floats:
    """Return the derivative of ``numbers_at`` at ``value``.

    Steps are powers of two: for linear functions, such as torques of gains and set points, the difference quotient is
    exact to the last digit. Others are extrapolated to a step of zero (Ridders 1982).

    Raises:
        InputError: the function cannot be evaluated nearby, or the quotients do not converge.
    """
    far, near = _power_of_two(max(abs(value), 1.0)), _power_of_two(abs(value) or 1.0)
    for h in dict.fromkeys((far, near)):  # near: for a number that must stay above zero, or is tightly bounded
        try:
            return _two_sided(numbers_at, value, h, name)
        except NoSlopeError:
            raise
        except BipedError as error:
            refused = error
    return _one_sided(numbers_at, value, far, f"{name} = {value:g}", refused)


def _power_of_two(size: float) -> float:
    """Return the power of two at or below a sixteenth of ``size``."""
    return 2.0 ** math.floor(math.log2(size / 16.0))


def _two_sided(numbers_at: Callable[[float], Floats], value: float, h: float, name: str) -> Floats:
    first, second = _quotient(numbers_at, value, h), _quotient(numbers_at, value, 0.5 * h)
    return first if _agree(first, second) else _extrapolated(numbers_at, value, h, name)


def _agree(first: Floats, second: Floats) -> bool:
    return bool(np.abs(first - second).max(initial=0.0) <= LINEAR * np.abs(first).max(initial=0.0))


def _one_sided(numbers_at: Callable[[float], Floats], value: float, h: float, name: str, refused: BipedError) -> Floats:
    """Return the one-sided derivative of a linear function, for example by a gain of zero, which cannot be negative."""
    try:
        here = numbers_at(value)
        first, second = ((numbers_at(value + reach) - here) / reach for reach in (h, 0.5 * h))
    except BipedError:
        raise InputError(f"no gradient with respect to {name}: nearby values are refused ({refused})") from refused
    if not _agree(first, second):
        raise InputError(f"no gradient with respect to {name}: it can vary to one side only, not linearly ({refused})")
    return first


def _quotient(numbers_at: Callable[[float], Floats], value: float, h: float) -> Floats:
    return (numbers_at(value + h) - numbers_at(value - h)) / (2.0 * h)


def _extrapolated(numbers_at: Callable[[float], Floats], value: float, h: float, name: str) -> Floats:
    row = [_quotient(numbers_at, value, h / 16.0)]
    best, least = row[0], math.inf
    for level in range(1, LEVELS):
        new = [_quotient(numbers_at, value, h / 16.0 / 2.0**level)]
        for k in range(level):
            factor = 4.0 ** (k + 1)
            new.append((factor * new[k] - row[k]) / (factor - 1.0))
        apart = float(np.abs(new[-1] - row[-1]).max())
        if apart < least:
            best, least = new[-1], apart
        row = new
    if not least <= SETTLED * float(np.abs(best).max()):
        raise NoSlopeError(f"no gradient with respect to {name} at {value:g}: the effect of {name} is not smooth")
    return best
