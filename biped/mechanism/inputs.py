"""Functions of time that drive a mechanism: torques, wrenches, prescribed motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from biped.checks import is_finite
from biped.mechanism.errors import MechanismError
from biped.signals import Signal
from contact.arrays import Floats

#: A constant, a ``Signal``, or a function that gives an array of values for an array of times [s].
Input = float | Signal | Callable[[Floats], Floats]


def checked_input(value: Input, what: str) -> Input:
    """Refuse what is no function of time."""
    if is_finite(value) or callable(value):
        return value
    raise MechanismError(
        f"{what} = {value!r}: it must be a finite number, a Signal, or a function of an array of times"
    )


def sampled(value: Input, times: Floats, what: str) -> Floats:
    """Its values at some times.

    Raises:
        MechanismError: a function gives something else than a finite number for each.
    """
    if is_finite(value):
        return np.full(times.shape, float(value))  # type: ignore[arg-type]
    found = np.asarray(value(times), dtype=float)  # type: ignore[operator]
    if found.shape == ():
        found = np.full(times.shape, float(found))
    if found.shape != times.shape:
        raise MechanismError(f"{what}: {times.size} values expected for as many times, and it gives {found.shape}")
    bad = ~np.isfinite(found)
    if bad.any():
        raise MechanismError(f"{what}: its value at {times[int(np.argmax(bad))]:.6g} s is not finite")
    return found


def table_of_inputs(inputs: Iterable[tuple[str, Input]], times: Floats) -> Floats:
    """(times, 1 + inputs) rows of the times and of the values then; each input comes with what it is called."""
    return np.column_stack([times, *(sampled(value, times, what) for what, value in inputs)])
