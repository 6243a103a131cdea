"""Proportions of trials, with what is known of the probability behind them."""

import math
from dataclasses import dataclass
from typing import Literal

from scipy.stats import binomtest

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Proportion:
    """A proportion of trials, and the ends of the interval of the probability behind it."""

    count: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.count / self.of if self.of else math.nan

    @property
    def interval(self) -> str:
        return f"{self.low:.1%} … {self.high:.1%}"


def proportion_of(
    count: int, of: int, confidence: float = CONFIDENCE, method: Literal["wilson", "exact"] = "wilson"
) -> Proportion:
    """A proportion with Wilson's interval (1927), or the exact one of Clopper and Pearson (1934); of none, 0 … 1."""
    if of == 0:
        return Proportion(0, 0, 0.0, 1.0)
    interval = binomtest(count, of).proportion_ci(confidence, method)
    return Proportion(count, of, float(interval.low), float(interval.high))
