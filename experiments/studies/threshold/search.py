"""Search for thresholds: all conditions and replicas in parallel, in rounds.

The threshold of a replica is the largest value up to which the replica recovers at all tried values. With contacts,
recovery is not a monotonic function of the push: a replica may recover above a value at which it fell. Such values are
recorded, but do not raise the threshold.

The caller gives a function that simulates a round of queries.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from experiments.studies.grid import Grid, neat

#: Outcomes of a replica by value: True if it recovered, False if it was lost, None if its trial decides neither.
Outcomes = Mapping[float, bool | None]


class Query(NamedTuple):
    """Query for the outcome of one replica under one condition at one value."""

    condition: int  # index of the condition
    replica: int  # index of the replica
    turn: int  # number of earlier queries with this condition and replica
    value: float


@dataclass(frozen=True)
class Bracket:
    """Values between which the threshold of a replica lies."""

    low: float  # largest recovered value below all lost ones; ``-inf`` if there is none
    high: float  # least lost value; ``inf`` if the replica was lost at none
    monotone: bool  # True if the replica recovered at no value above a lost one
    island: float  # largest recovered value above a lost one; ``-inf`` if there is none
    trials: int  # number of tried values
    #: True if the trials locate the threshold: the replica was lost at the least value, or recovered below all losses
    is_judged: bool = True


def bracket_of(outcomes: Outcomes) -> Bracket:
    high = min((value for value, outcome in outcomes.items() if outcome is not None and not outcome), default=math.inf)
    up = [value for value, recovered in outcomes.items() if recovered]
    low = max((value for value in up if value < high), default=-math.inf)
    island = max((value for value in up if value > high), default=-math.inf)
    is_judged = low > -math.inf or (bool(outcomes) and outcomes[min(outcomes)] is False)
    return Bracket(low, high, island == -math.inf, island, len(outcomes), is_judged)


def next_values(outcomes: Outcomes, grid: Grid) -> tuple[float, ...]:
    """Return the values to try next, in increasing order; empty if the threshold is known to the tolerance.

    The first values are those of the grid, then, unless one was lost, those above the grid. Then the bracket is halved,
    unless the trial at its middle was undecided.
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
    """Query until every threshold is known; return ``outcomes[condition][replica][value]``: True, False or None.

    ``answer`` returns the outcomes of a round of queries. The queries for a replica under a condition depend on earlier
    outcomes of that replica only, not on other replicas or on the order of answers.
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
