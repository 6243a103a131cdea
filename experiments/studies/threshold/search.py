"""Search for thresholds: all conditions and replicas in parallel, in rounds.

The threshold of a replica is the largest value below which all tried values recover. A trajectory through contacts is
no monotonic function of the push: a replica may recover above a value at which it fell. Such islands do not count as
recoverable, but are recorded.

This module knows nothing of simulations: the caller gives a function that answers a whole round of queries.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.studies.grid import Grid, neat

#: By value: True if the replica recovered, False if it was lost, None if its trial decides neither.
Outcomes = Mapping[float, bool | None]


class Query(NamedTuple):
    """Query for the outcome of one replica under one condition at one value."""

    condition: int
    replica: int
    turn: int  # number of earlier queries with this condition and replica
    value: float


@dataclass(frozen=True)
class Bracket:
    """Bracket of a replica's threshold."""

    low: float  # all tried values up to it recovered; ``-inf`` if even the least did not
    high: float  # the least value that did not recover; ``inf`` if all did
    monotone: bool  # True if no value recovered above one that did not
    island: float  # the largest value that recovered above one that did not; ``-inf`` if none did
    trials: int  # number of tried values
    #: True if the trials locate the threshold: the least value was lost, or one below all losses was not
    is_judged: bool = True


def bracket_of(outcomes: Outcomes) -> Bracket:
    high = min(
        (value for value, recovered in outcomes.items() if recovered is not None and not recovered), default=math.inf
    )
    up = [value for value, recovered in outcomes.items() if recovered]
    low = max((value for value in up if value < high), default=-math.inf)
    island = max((value for value in up if value > high), default=-math.inf)
    is_judged = low > -math.inf or (bool(outcomes) and outcomes[min(outcomes)] is False)
    return Bracket(low, high, island == -math.inf, island, len(outcomes), is_judged)


def next_values(outcomes: Outcomes, grid: Grid) -> tuple[float, ...]:
    """Return the values to try next, in growing order; none if the threshold is known to the tolerance.

    First all of the grid; then, while nothing is lost, those above; then the middle of the bracket, unless that was
    undecided.
    """
    missing = tuple(value for value in grid.values if value not in outcomes)
    if missing:
        return missing
    bracket = bracket_of(outcomes)
    if bracket.high == math.inf:
        return tuple(value for value in grid.above(max(outcomes)) if value not in outcomes)
    if bracket.low == -math.inf or bracket.high - bracket.low <= grid.tolerance * (1.0 + 1e-6):
        return ()
    middle = neat((bracket.low + bracket.high) / 2.0)
    return (middle,) if middle not in outcomes else ()


def search(
    grid: Grid, conditions: int, replicas: int, answer: Callable[[Sequence[Query]], Sequence[bool | None]]
) -> list[list[dict[float, bool | None]]]:
    """Query until every threshold is known; ``outcomes[condition][replica][value]`` is True, False or None.

    The queries for a replica under a condition depend on its own outcomes alone, and neither on other replicas nor on
    the order in which a round is answered.
    """
    outcomes: list[list[dict[float, bool | None]]] = [[{} for _ in range(replicas)] for _ in range(conditions)]
    while queries := [
        Query(c, r, len(known) + k, value)
        for c, ensemble in enumerate(outcomes)
        for r, known in enumerate(ensemble)
        for k, value in enumerate(next_values(known, grid))
    ]:
        for query, recovered in zip(queries, answer(queries), strict=True):
            outcomes[query.condition][query.replica][query.value] = recovered
    return outcomes
