"""Means of metrics over trials, with confidence intervals."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from experiments.studies.proportion import CONFIDENCE


@dataclass(frozen=True)
class Mean:
    """Mean over trials and its confidence interval; the ends are NaN for fewer than two trials."""

    value: float
    of: int  # number of trials
    low: float  # lower end of the interval
    high: float  # upper end


def mean_of(values: Iterable[float | None], confidence: float = CONFIDENCE) -> Mean:
    """Return the mean of the finite numbers, with Student's interval (1908) for independent, normal values."""
    numbers = np.array([value for value in values if value is not None and math.isfinite(value)], dtype=float)
    count = len(numbers)
    if count == 0:
        return Mean(math.nan, 0, math.nan, math.nan)
    mean = float(numbers.mean())
    if count == 1:
        return Mean(mean, 1, math.nan, math.nan)
    reach = float(student.ppf(0.5 + confidence / 2.0, count - 1) * numbers.std(ddof=1) / math.sqrt(count))
    return Mean(mean, count, mean - reach, mean + reach)
