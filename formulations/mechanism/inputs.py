"""Functions of time as inputs of a mechanism: torques, wrenches, prescribed motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from biped.inputs.checks import is_finite
from biped.signals import Signal
from contact.arrays import Floats
from formulations.mechanism.errors import MechanismError

if TYPE_CHECKING:
    from formulations.mechanism.mechanism import Mechanism

#: A constant, a ``Signal``, or a function that returns an array of values for an array of times [s].
Input = float | Signal | Callable[[Floats], Floats]


def checked_input(value: Input, what: str) -> Input:
    """Return ``value`` after checking that it is a number, a ``Signal`` or a function."""
    if is_finite(value) or callable(value):
        return value
    raise MechanismError(
        f"{what} = {value!r}: it must be a finite number, a Signal, or a function of an array of times"
    )


def sampled(value: Input, times: Floats, what: str) -> Floats:
    """Return the values of an input at an array of times [s].

    Raises:
        MechanismError: the function does not return one finite number for each time.
    """
    if is_finite(value):
        return np.full(times.shape, float(value))  # type: ignore[arg-type]
    values = np.asarray(value(times), dtype=float)  # type: ignore[operator]
    if values.shape == ():
        values = np.full(times.shape, float(values))
    if values.shape != times.shape:
        raise MechanismError(f"{what}: it must return {times.size} values for as many times; got shape {values.shape}")
    bad = ~np.isfinite(values)
    if bad.any():
        raise MechanismError(f"{what}: its value at {times[int(np.argmax(bad))]:.6g} s is not finite")
    return values


def table_of_inputs(inputs: Iterable[tuple[str, Input]], times: Floats) -> Floats:
    """Return an array (times, 1 + inputs) of the times and all inputs, given as pairs of name and function."""
    return np.column_stack([times, *(sampled(value, times, what) for what, value in inputs)])


class DrivenTorques:
    """Torques of a mechanism as inputs of a discrete system, in place of their functions of time.

    Attributes:
        names: (k,) names of the inputs, ``torque_COORDINATE``.
        coordinates: (k,) indices of the coordinates along which the torques act.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        forces = mechanism.mechanics.forces
        self.coordinates, self._columns = forces.torque_coordinate, forces.torque_input
        self.names = tuple(f"torque_{mechanism.coordinates[j]}" for j in self.coordinates)
        self._width = 1 + len(mechanism.inputs)
        self._others = [
            (column, *given) for column, given in enumerate(mechanism.inputs, 1) if column not in self._columns
        ]

    def row(self, torques: Floats, time: float) -> Floats:
        """Return an array (1 + all inputs,): the time [s], the given torques, and the other functions of time."""
        row = np.zeros(self._width)
        row[0] = time
        for column, what, value in self._others:
            row[column] = sampled(value, row[:1], what)[0]
        row[self._columns] = torques
        return row


def checked_vector(given: Floats, names: Sequence[str], what: str) -> Floats:
    """Return an array with a finite number for each name.

    Raises:
        MechanismError: ``given`` has another shape, or a number is not finite.
    """
    vector = np.asarray(given, dtype=float)
    if vector.shape != (len(names),):
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        raise MechanismError(f"{what} has shape {vector.shape}; it must be ({len(names)},), one for each of {shown}")
    if not np.isfinite(vector).all():
        raise MechanismError(f"{what} has numbers that are not finite: {names[int(np.argmin(np.isfinite(vector)))]}")
    return vector
