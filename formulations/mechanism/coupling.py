"""Pairs of coordinates with mixed derivatives, and upper bounds of the number of third derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from contact.arrays import Integers
from formulations.mechanism.custom_arrays import Custom
from formulations.mechanism.kernels.constraints import ALONG, CAM, CUSTOM, LINEAR, STRING
from formulations.mechanism.kernels.custom import CONSTRAINT, FORCE, POTENTIAL
from formulations.mechanism.kernels.linearization import Sizes
from formulations.mechanism.kernels.system import Mechanics

Truths = NDArray[np.bool_]


class Coupling:
    """Coupling of a mechanism's coordinates by its tree and components.

    Attributes:
        above: (n, n) True if the joint of the column moves the body of the row.
        mechanics: compiled mechanism.
        customs: user-defined components.
    """

    def __init__(self, mechanics: Mechanics, customs: Sequence[Custom]) -> None:
        self.mechanics, self.customs = mechanics, customs
        self.above = np.eye(mechanics.tree.parent.size, dtype=bool)
        for j, parent in enumerate(mechanics.tree.parent):
            if parent >= 0:
                self.above[j] |= self.above[parent]

    def _moving(self, bodies: Iterable[int]) -> Truths:
        """Return a mask (n,) of the coordinates that move any of ``bodies``."""
        return np.asarray(self.above[[b for b in bodies if b >= 0]].any(axis=0), dtype=np.bool_)

    def _at_points(self, points: Iterable[int]) -> Truths:
        return self._moving(self.mechanics.points.body[p] for p in points)

    def members(self, custom: Custom) -> Integers:
        """Return the coordinates on which a user-defined component depends."""
        moving = self._at_points(point for point, _, _ in custom.strains if point >= 0)
        moving[[coordinate for point, _, coordinate in custom.strains if point < 0]] = True
        return np.flatnonzero(moving)

    @cached_property
    def springs(self) -> list[Integers]:
        """Coordinates that move the ends of each spring."""
        springs = self.mechanics.springs
        return [np.flatnonzero(self._at_points(ends)) for ends in zip(springs.first, springs.second, strict=True)]

    @cached_property
    def near(self) -> list[Integers]:
        """Coordinates coupled with each coordinate by third derivatives of L or second derivatives of forces."""
        near = self.above | self.above.T
        custom_members = [self.members(custom) for custom in self.customs if custom.kind != CONSTRAINT]
        for tied in (*self.springs, *custom_members):
            near[np.ix_(tied, tied)] = True
        return [np.flatnonzero(row) for row in near]

    @cached_property
    def held(self) -> list[Integers]:
        """Coordinates on which each row of h depends."""
        members = [self._held_by(c) for c in range(self.mechanics.constraints.kind.size)]
        for custom in self.customs:
            if custom.kind == CONSTRAINT:
                members[custom.row : custom.row + custom.rows] = [self.members(custom)] * custom.rows
        return members

    def _held_by(self, c: int) -> Integers:
        constraints = self.mechanics.constraints
        kind, ends = constraints.kind[c], (constraints.first[c], constraints.second[c])
        if kind == CUSTOM:
            return np.zeros(0, dtype=np.int64)
        if kind in (LINEAR, CAM):
            return np.sort(np.array(ends, dtype=np.int64))
        moving = self._at_points(ends)
        carrier = int(constraints.carrier[c])
        if kind == ALONG:
            moving = moving | self._moving([carrier])
        elif kind == STRING:
            moving[carrier] = True
        return np.flatnonzero(moving)

    @property
    def sizes(self) -> Sizes:
        """Upper bounds of the numbers of third derivatives."""
        mechanics, depth = self.mechanics, self.above.sum(axis=1)
        weights = depth[mechanics.points.body[mechanics.weights.point]]
        potentials = [self.members(custom).size for custom in self.customs if custom.kind == POTENTIAL]
        forces = [self.members(custom).size for custom in self.customs if custom.kind == FORCE]
        wrenches = depth[mechanics.forces.wrench_body]
        triples = int((depth * (depth + 1) // 2).sum()) + mechanics.coordinate_springs.coordinate.size
        triples += _triples([*(len(tied) for tied in self.springs), *weights, *potentials])
        bends = sum(int(d * d * (d + 1) // 2) for d in wrenches) + sum(c * c * (2 * c + 1) for c in forces)
        return Sizes(triples, bends, _triples(len(held) for held in self.held))


def _triples(sizes: Iterable[int]) -> int:
    """Return the number of triples with repetition of elements of a set, summed over sets of the given sizes."""
    return sum(int(c) * (int(c) + 1) * (int(c) + 2) // 6 for c in sizes)
