"""Arrays of user-defined components: those of each component are views of arrays of all components."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from contact.arrays import Floats, Integers
from formulations.mechanism.kernels.custom import CONSTRAINT, CustomBuffers, Customs
from kernelcache import Packed, addresses, places_of


@dataclass(frozen=True)
class Custom:
    """User-defined component, as added to a `Builder`."""

    kind: int
    part: Callable[..., int]
    strains: list[tuple[int, int, int]]  # (point, axis of its position, −1), or (−1, −1, coordinate)
    numbers: list[float]
    row: int  # first row of a constraint
    rows: int
    exact: bool  # whether the part computes derivatives of its forces
    border: int  # first row in the border, counted from the first row of custom components; unused for constraints

    @property
    def size(self) -> int:
        """Number of strains."""
        return len(self.strains)


def new_customs(given: Sequence[Custom], border: int) -> tuple[Customs, list[Packed]]:
    """Return all user-defined components, and their buffers, which must outlive them.

    ``border``: number of unknowns besides the rates of the tree; those of the components are the last ones.
    """
    first, squares = _begins(c.size for c in given), _begins(c.size * c.size for c in given)
    jacobians, values = _begins(c.rows * c.size for c in given), _begins(c.rows for c in given)
    z, rate, force = (np.zeros(first[-1]) for _ in range(3))
    slope, rate_slope = np.zeros(squares[-1]), np.zeros(squares[-1])
    energy, value, jacobian = np.zeros(len(given)), np.zeros(values[-1]), np.zeros(jacobians[-1])
    packed = [
        Packed(CustomBuffers(
            np.array(custom.numbers, dtype=float), _part(z, first, k), _part(rate, first, k), energy[k : k + 1],
            _part(force, first, k), _part(slope, squares, k).reshape(custom.size, custom.size),
            _part(rate_slope, squares, k).reshape(custom.size, custom.size), _part(value, values, k),
            _part(jacobian, jacobians, k).reshape(custom.rows, custom.size),
        ))
        for k, custom in enumerate(given)
    ]  # fmt: skip
    begin = border - sum(custom.size for custom in given if custom.kind != CONSTRAINT)
    strains = [strain for custom in given for strain in custom.strains]
    customs = Customs(
        kind=_integers(custom.kind for custom in given),
        exact=_integers(custom.exact for custom in given),
        address=addresses([(custom.part, buffers, 0, 0.0) for custom, buffers in zip(given, packed, strict=True)]),
        place=places_of(packed),
        first=first,
        slopes=_integers(jacobians[k] if custom.kind == CONSTRAINT else squares[k] for k, custom in enumerate(given)),
        row=_integers(custom.row for custom in given),
        rows=_integers(custom.rows for custom in given),
        value=values[:-1],
        border=_integers(begin + custom.border for custom in given),
        point=_integers(point for point, _, _ in strains),
        axis=_integers(axis for _, axis, _ in strains),
        coordinate=_integers(coordinate for _, _, coordinate in strains),
        z=z, rate=rate, force=force, energy=energy, slope=slope, rate_slope=rate_slope, values=value, jacobian=jacobian,
    )  # fmt: skip
    return customs, packed


def _begins(sizes: Iterable[int]) -> Integers:
    """Return the start of each part, and the end of the last."""
    return np.cumsum([0, *sizes], dtype=np.int64)


def _part(array: Floats, begins: Integers, k: int) -> Floats:
    return array[begins[k] : begins[k + 1]]


def _integers(values: Iterable[int]) -> Integers:
    return np.array(list(values), dtype=np.int64)
