"""Proportions of trials, with confidence intervals."""

import math
from dataclasses import dataclass
from typing import Literal

from scipy.stats import binomtest

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Proportion:
    """Proportion of trials, and the confidence interval of the probability."""

    count: int  # number of trials that count
    of: int  # number of all trials
    low: float  # lower end of the interval
    high: float  # upper end

    @property
    def value(self) -> float:
        return self.count / self.of if self.of else math.nan

    @property
    def interval(self) -> str:
        return f"{self.low:.1%} … {self.high:.1%}"


def proportion_of(
    count: int, of: int, confidence: float = CONFIDENCE, method: Literal["wilson", "exact"] = "wilson"
) -> Proportion:
    """Return a proportion with Wilson's interval (1927), or Clopper and Pearson's (1934); without trials, 0 … 1."""
    if of == 0:
        return Proportion(0, 0, 0.0, 1.0)
    interval = binomtest(count, of).proportion_ci(confidence, method)
    return Proportion(count, of, float(interval.low), float(interval.high))
