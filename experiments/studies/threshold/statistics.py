"""Statistics of an ensemble of thresholds, without an assumed distribution.

The ends of the median's interval are two of the sorted thresholds. Among n independent ones, the number below the true
median is binomial with n and 1/2, so that the r-th least and the r-th greatest enclose it with probability
1 − 2 P(B ≤ r − 1) (Conover 1999, Practical Nonparametric Statistics, section 3.2; at least that for equal thresholds).
Each threshold is known as a bracket; the interval takes the lower ends below and the upper ends above, so that it
includes the search's resolution. scipy's ``quantile_test`` handles neither brackets nor infinity.

A change of one threshold, however large, moves the median at most to a neighbour in the sorted order. The interval
contains the neighbours, because r is never the median's own rank: no single trajectory moves the median out of it.
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
#: Part of an ensemble on each side of its shown spread.
SPREAD = 0.1

_exact = lru_cache(maxsize=None)(proportion_of)


@dataclass(frozen=True)
class Interval:
    """A number and its confidence interval."""

    value: float  # value of this ensemble
    low: float
    high: float
    #: confidence that the population's value is between them; at least the requested one if there are enough replicas
    confidence: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Estimate:
    """Estimate of the thresholds of an ensemble under one condition."""

    #: median of the thresholds (the lower ends of their brackets), with its interval; ``-inf`` below the least tried
    #: value, an end ``inf`` above the greatest; NaN unless most thresholds are known
    median: Interval
    low: float  # a tenth of the thresholds are at most this
    high: float  # a tenth are at least this
    replicas: int
    non_monotone: int  # number of replicas that recovered above a value at which they fell
    below: int  # number of replicas lost at the least value
    above: int  # number of replicas that recovered at all values
    unknown: int  # number of replicas whose trials do not locate the threshold


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """Return the rank r, from 1, such that the r-th least and the r-th greatest of ``count`` enclose the median.

    It is the greatest rank with at least this confidence, or 1 if none has it, and never the rank of the median itself.
    """
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence = {confidence:g}: it must be between 0 and 1")
    if count < FEWEST:
        raise InputError(f"{count} replicas: it must be at least {FEWEST}, so that one trajectory does not decide")
    largest = (count - 1) // 2
    return max((r for r in range(2, largest + 1) if coverage(count, r) >= confidence), default=1)


def coverage(count: int, r: int) -> float:
    """Return the probability that the r-th least and the r-th greatest of ``count`` enclose the median."""
    return float(1.0 - 2.0 * bdtr(r - 1, count, 0.5))


def median_interval(
    values: Sequence[float], lows: Sequence[float], highs: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """Return the median of ``values``, which lie between the given lows and highs, with its interval.

    There may be fewer values than pairs of ends if some are unknown; NaN unless more than half of them are known.
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
    """Return the median over replicas of ``ours − theirs``; ``least`` replaces thresholds below it."""
    pairs = list(zip(theirs, ours, strict=True))
    values = [max(b.low, least) - max(a.low, least) for a, b in pairs if a.is_judged and b.is_judged]
    lows = [b.low - a.high for a, b in pairs]
    highs = [b.high - a.low for a, b in pairs]
    return median_interval(values, lows, highs, confidence)


def recovery_curve(
    outcomes: Sequence[Outcomes], values: Iterable[float], confidence: float = CONFIDENCE
) -> dict[float, Proportion]:
    """Return the proportion of replicas that recover at each value, islands counted as recovered.

    Undecided trials are left out, and values at which all trials are undecided.
    """
    known = {value: [found for tried in outcomes if (found := tried[value]) is not None] for value in values}
    return {value: _exact(sum(found), len(found), confidence, "exact") for value, found in known.items() if found}


def half_recovers(curve: Mapping[float, Proportion], confidence: float = CONFIDENCE) -> Interval:
    """Return the value at which half of all replicas recover, islands counted.

    There the curve, made monotone by pooling adjacent violators (Ayer et al. 1955), crosses one half. The interval
    reaches from the last value up to which the curve's interval is above one half to the first from which it is below.
    If the true probability falls with the value, the interval contains the true crossing with the curve's confidence.
    Infinite if the crossing is out of reach.
    """
    if not curve:
        return Interval(math.nan, -math.inf, math.inf, confidence)
    pooled = isotonic_regression([found.value for found in curve.values()], increasing=False).x
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
    k = next(k for k, found in enumerate(proportions) if found < 0.5)
    part = (proportions[k - 1] - 0.5) / (proportions[k - 1] - proportions[k])
    return values[k - 1] + part * (values[k] - values[k - 1])
