"""Shares of trials, with what is known of the probability behind them."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Share:
    """So many of so many trials, with Wilson's interval: it holds near 0 and 1 too, and for few trials (Wilson 1927).

    Attributes:
        count: how many did.
        of: how many there are.
        low: lower end of the interval of the probability.
        high: upper end.
    """

    count: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        """Between 0 and 1."""
        return self.count / self.of

    @property
    def interval(self) -> str:
        """In words."""
        return f"{self.low:.1%} … {self.high:.1%}"


def share_of(count: int, of: int, confidence: float = CONFIDENCE) -> Share:
    """A share with its score interval; ``of`` above zero."""
    z = NormalDist().inv_cdf(0.5 + 0.5 * confidence)
    p, weight = count / of, 1.0 + z * z / of
    middle = (p + 0.5 * z * z / of) / weight
    half = z / weight * sqrt(p * (1.0 - p) / of + 0.25 * (z / of) ** 2)
    return Share(count, of, 0.0 if count == 0 else middle - half, 1.0 if count == of else middle + half)
