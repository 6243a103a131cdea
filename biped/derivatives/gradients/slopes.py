"""Derivatives of a few numbers by one: exact where they are linear in it, extrapolated else."""

import math
from collections.abc import Callable

import numpy as np

from biped.errors import BipedError, InputError
from contact.arrays import Floats

#: Part of the greatest slope by which two differences of what is linear may differ.
LINEAR = 1e-11
#: Part of it to which an extrapolation must settle.
SETTLED = 1e-8
LEVELS = 6


class NoSlopeError(InputError):
    """The numbers can be had on both sides, and settle to no slope."""


def slopes(numbers_at: Callable[[float], Floats], value: float, name: str) -> Floats:
    """The derivative of ``numbers_at`` at ``value``.

    Steps are powers of two: what is linear, as torques in gains and set points are, then has the difference quotient as
    its derivative to the last digit. Anything else is extrapolated to a step of zero (Ridders 1982).

    Raises:
        InputError: the numbers cannot be had to either side, or do not settle.
    """
    far, near = _power_of_two(max(abs(value), 1.0)), _power_of_two(abs(value) or 1.0)
    for h in dict.fromkeys((far, near)):  # near: of what may not be below zero, or not so far above it
        try:
            return _two_sided(numbers_at, value, h, name)
        except NoSlopeError:
            raise
        except BipedError as error:
            refused = error
    return _one_sided(numbers_at, value, far, f"{name} = {value:g}", refused)


def _power_of_two(size: float) -> float:
    """The one below a sixteenth of it."""
    return 2.0 ** math.floor(math.log2(size / 16.0))


def _two_sided(numbers_at: Callable[[float], Floats], value: float, h: float, name: str) -> Floats:
    first, second = _quotient(numbers_at, value, h), _quotient(numbers_at, value, 0.5 * h)
    return first if _agree(first, second) else _extrapolated(numbers_at, value, h, name)


def _agree(first: Floats, second: Floats) -> bool:
    return bool(np.abs(first - second).max(initial=0.0) <= LINEAR * np.abs(first).max(initial=0.0))


def _one_sided(numbers_at: Callable[[float], Floats], value: float, h: float, name: str, refused: BipedError) -> Floats:
    """Of what is linear, where there is nothing on the other side: that of a gain of zero."""
    try:
        here = numbers_at(value)
        first, second = ((numbers_at(value + reach) - here) / reach for reach in (h, 0.5 * h))
    except BipedError:
        raise InputError(f"{name} has no derivative: it cannot be varied by itself ({refused})") from refused
    if not _agree(first, second):
        raise InputError(f"{name} has no derivative but to one side, and that is not linear ({refused})")
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
        raise NoSlopeError(f"{name} = {value:g} has no derivative that can be found: its effect is not smooth")
    return best
