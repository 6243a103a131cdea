"""The Pareto front: what no other candidate beats in everything."""

from collections.abc import Sequence

import numpy as np


def front_of(costs: Sequence[Sequence[float]]) -> list[int]:
    """The places of the rows that no other row dominates, in the order of the first cost; of equal rows the first.

    A row dominates another if no cost is greater and one is less.
    """
    table = np.asarray(costs, dtype=float)
    found = [place for place in range(len(table)) if not _is_beaten(table, place)]
    return sorted(found, key=lambda place: tuple(table[place]))


def _is_beaten(table: "np.ndarray[tuple[int, int], np.dtype[np.float64]]", place: int) -> bool:
    row = table[place]
    no_worse = np.all(table <= row, axis=1)
    better = no_worse & np.any(table < row, axis=1)
    twins = np.flatnonzero(np.all(table == row, axis=1))
    return bool(better.any()) or int(twins[0]) < place
