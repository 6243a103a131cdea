"""Statistics of an ensemble of thresholds, without an assumed distribution.

The ends of the median's interval are two of the sorted thresholds. Of n independent thresholds, the number B below the
true median is binomial with n and 1/2. So the r-th least and the r-th greatest threshold enclose the median with
probability 1 − 2 P(B ≤ r − 1), or more if thresholds are equal (Conover 1999, Practical Nonparametric Statistics,
section 3.2). Each threshold is known as a bracket: the interval reaches from the r-th least lower end to the r-th
greatest upper end, and so includes the search's resolution. scipy's ``quantile_test`` allows no brackets or infinity.

A change of one threshold, however large, moves the median at most to the next threshold in the sorted order. The
interval contains that one, because r is below the median's rank: no single trajectory moves the median out of it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from statistics import median

from scipy.optimize import isotonic_regression
from scipy.special import bdtr

from biped.errors import InputError
from experiments.studies.proportion import CONFIDENCE, Proportion, proportion_of
from experiments.studies.threshold.search import Bracket, Outcomes

#: Least number of replicas; with fewer, one trajectory could move the median out of its interval.
FEWEST = 3
#: Fraction of the thresholds below, and above, the spread that is shown.
SPREAD = 0.1

_exact = lru_cache(maxsize=None)(proportion_of)


@dataclass(frozen=True)
class Interval:
    """A number and its confidence interval."""

    value: float  # value of this ensemble
    low: float  # lower end of the interval
    high: float  # upper end
    #: confidence that the population's value is in the interval; below the requested one only for too few replicas
    confidence: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Estimate:
    """Summary of the thresholds of an ensemble under one condition."""

    #: median of the thresholds (lower ends of their brackets), with its interval; ``-inf`` means below the least tried
    #: value, and ``inf`` above the largest; NaN unless more than half of the thresholds are known
    median: Interval
    low: float  # 10th percentile of the known thresholds
    high: float  # 90th percentile of the known thresholds
    replicas: int  # number of replicas
    non_monotone: int  # number of replicas that recovered above a value at which they fell
    below: int  # number of replicas lost at the least value
    above: int  # number of replicas that recovered at all values
    unknown: int  # number of replicas whose trials do not locate the threshold


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the rank r such that the r-th least and the r-th greatest of ``count`` thresholds enclose the median.

    r, counted from 1, is the greatest rank below the median's for which this interval has at least this confidence, or
    1 if there is none. Raises InputError if ``count`` is below ``FEWEST``, or ``confidence`` not between 0 and 1.
    """
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence = {confidence:g}: it must be between 0 and 1")
    if count < FEWEST:
        raise InputError(f"{count} replicas: at least {FEWEST} are needed, so that no single trajectory decides")
    largest = (count - 1) // 2
    return max((r for r in range(2, largest + 1) if coverage(count, r) >= confidence), default=1)


def coverage(count: int, r: int) -> float:
    """Return the probability that the r-th least and r-th greatest of ``count`` values enclose the true median."""
    return float(1.0 - 2.0 * bdtr(r - 1, count, 0.5))


def median_interval(
    values: Sequence[float], lows: Sequence[float], highs: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """Return the median, with its confidence interval, of values that are each known to lie between two bounds.

    ``lows`` and ``highs`` are the bounds of all values; ``values`` has estimates of the known ones. The median is NaN
    unless more than half of the values are known.
    """
    count = len(lows)
    r = rank(count, confidence)
    value = median(values) if 2 * len(values) > count else math.nan
    return Interval(value, sorted(lows)[r - 1], sorted(highs)[-r], coverage(count, r))


def estimate(brackets: Sequence[Bracket], confidence: float = CONFIDENCE) -> Estimate:
    lows = sorted(bracket.low for bracket in brackets if bracket.is_judged)
    few, highs = math.ceil(SPREAD * len(lows)), [bracket.high for bracket in brackets]
    return Estimate(
        median=median_interval(lows, [bracket.low for bracket in brackets], highs, confidence),
        low=lows[few - 1] if lows else math.nan,
        high=lows[-few] if lows else math.nan,
        replicas=len(brackets),
        non_monotone=sum(not bracket.monotone for bracket in brackets),
        below=lows.count(-math.inf),
        above=sum(bracket.high == math.inf for bracket in brackets if bracket.is_judged),
        unknown=len(brackets) - len(lows),
    )


def paired_difference(
    theirs: Sequence[Bracket], ours: Sequence[Bracket], least: float, confidence: float = CONFIDENCE
) -> Interval:
    """Return the median over replicas of ``ours − theirs``; thresholds below ``least`` count as ``least``."""
    pairs = list(zip(theirs, ours, strict=True))
    values = [max(b.low, least) - max(a.low, least) for a, b in pairs if a.is_judged and b.is_judged]
    lows = [b.low - a.high for a, b in pairs]
    highs = [b.high - a.low for a, b in pairs]
    return median_interval(values, lows, highs, confidence)


def recovery_curve(
    outcomes: Sequence[Outcomes], values: Iterable[float], confidence: float = CONFIDENCE
) -> dict[float, Proportion]:
    """Return the proportion of replicas that recover at each value, also above a value at which they were lost.

    Undecided trials are left out; so are values at which all trials are undecided.
    """
    judged = {value: [outcome for trials in outcomes if (outcome := trials[value]) is not None] for value in values}
    return {value: _exact(sum(some), len(some), confidence, "exact") for value, some in judged.items() if some}


def half_recovers(curve: Mapping[float, Proportion], confidence: float = CONFIDENCE) -> Interval:
    """Return the value at which half of all replicas recover, from the proportions at each value.

    At this value the curve, made monotone by pooling adjacent violators (Ayer et al. 1955), crosses one half. The
    interval begins at the last value up to which the intervals of all proportions are above one half, and ends at the
    first value from which all are below. If the true probability falls with the value, the interval contains the true
    crossing with the confidence of the proportions. The value is infinite if the curve does not cross one half.
    """
    if not curve:
        return Interval(math.nan, -math.inf, math.inf, confidence)
    pooled = isotonic_regression([share.value for share in curve.values()], increasing=False).x
    values = list(curve)
    above = list(takewhile(lambda value: curve[value].low > 0.5, values))
    below = list(takewhile(lambda value: curve[value].high < 0.5, reversed(values)))
    low = above[-1] if above else -math.inf
    high = below[-1] if below else math.inf
    return Interval(_crossing(values, pooled.tolist()), low, high, confidence)


def _crossing(values: Sequence[float], proportions: Sequence[float]) -> float:
    """Return the value at which falling proportions cross one half, linear between values."""
    if proportions[0] < 0.5:
        return -math.inf
    if proportions[-1] >= 0.5:
        return math.inf
    k = next(k for k, share in enumerate(proportions) if share < 0.5)
    part = (proportions[k - 1] - 0.5) / (proportions[k - 1] - proportions[k])
    return values[k - 1] + part * (values[k] - values[k - 1])
