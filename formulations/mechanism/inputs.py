"""Functions of time that drive a mechanism: torques, wrenches, prescribed motions."""

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
    """Return (times, 1 + inputs): times and values of the inputs; each input comes with its name."""
    return np.column_stack([times, *(sampled(value, times, what) for what, value in inputs)])


class DrivenTorques:
    """Torques of a mechanism as inputs, replacing their functions of time.

    Attributes:
        names: (k,) ``torque_…``.
        coordinates: (k,) rows of the coordinates that the torques act along.
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
        """Return (1 + all inputs,): a time [s], the given torques, and the other functions of time."""
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
    found = np.asarray(given, dtype=float)
    if found.shape != (len(names),):
        shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        raise MechanismError(f"{what} has shape {found.shape}; it must be ({len(names)},): {shown}")
    if not np.isfinite(found).all():
        raise MechanismError(f"{what} has numbers that are not finite: {names[int(np.argmin(np.isfinite(found)))]}")
    return found
