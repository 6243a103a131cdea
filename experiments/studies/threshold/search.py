"""One replica's threshold: what its search asks next, and what its answers amount to.

The threshold of a replica is where it first stops recovering: the largest value below which all that were tried
recover. A trajectory through contacts is no monotone function of the push: a replica may recover above a value at
which it fell. Such islands do not count as recoverable; that there were any is kept.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from experiments.studies.threshold.grid import Ladder, neat

#: By value, whether the replica recovered.
Outcomes = Mapping[float, bool]


@dataclass(frozen=True)
class Bracket:
    """Between which values a replica's threshold lies.

    Attributes:
        low: all values tried up to it recovered; ``-inf`` where even the least did not.
        high: the least value that did not recover; ``inf`` where all did.
        monotone: whether nothing recovered above a value that did not.
        island: the largest value that recovered above one that did not; ``-inf`` where none did.
        trials: how many values were tried.
    """

    low: float
    high: float
    monotone: bool
    island: float
    trials: int


def bracket_of(outcomes: Outcomes) -> Bracket:
    """What the outcomes say about the threshold."""
    high = min((value for value, recovered in outcomes.items() if not recovered), default=math.inf)
    up = [value for value, recovered in outcomes.items() if recovered]
    low = max((value for value in up if value < high), default=-math.inf)
    island = max((value for value in up if value > high), default=-math.inf)
    return Bracket(low, high, island == -math.inf, island, len(outcomes))


def wanted(outcomes: Outcomes, ladder: Ladder) -> tuple[float, ...]:
    """The values to try next, in growing order; none where the threshold is known to the ladder's tolerance.

    First all rungs; then, while everything recovers, those above; then the middle of the bracket.
    """
    missing = tuple(value for value in ladder.rungs if value not in outcomes)
    if missing:
        return missing
    bracket = bracket_of(outcomes)
    if bracket.high == math.inf:
        return ladder.above(bracket.low)
    if bracket.low == -math.inf or bracket.high - bracket.low <= ladder.tolerance * (1.0 + 1e-6):
        return ()
    return (neat((bracket.low + bracket.high) / 2.0),)
