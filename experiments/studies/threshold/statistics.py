"""What an ensemble of thresholds amounts to, without a law of distribution.

The interval of the median stands between two of the sorted thresholds. Of n independent ones, the number below the
true median is binomial with n and 1/2, so that the r-th least and the r-th greatest hold it between them with
probability 1 − 2 P(B ≤ r − 1) (Conover 1999, Practical Nonparametric Statistics, section 3.2; at least that where
thresholds are equal). Each threshold is known as a bracket; the interval takes the lower ends below and the upper
ends above, so that the search's resolution is in it.

One threshold that changes, however far, moves the median to a neighbour in the sorted order at most. As r is never
the median's own rank, the interval holds the neighbours: no single trajectory can move the median out of it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from scipy.special import bdtr, betaincinv

from biped.errors import InputError
from experiments.studies.threshold.search import Bracket, Outcomes

CONFIDENCE = 0.95
#: With fewer replicas, one trajectory could move the median out of its interval.
FEWEST = 3
#: The share of an ensemble on either side of what is told as its spread.
SPREAD = 0.1


@dataclass(frozen=True)
class Interval:
    """A number and what it is known to lie between.

    Attributes:
        value: of the ensemble at hand.
        low: lower end.
        high: upper end.
        confidence: that the ensemble's law has its own value between them; at least what was asked for, where
            there are enough replicas for it.
    """

    value: float
    low: float
    high: float
    confidence: float

    @property
    def excludes_zero(self) -> bool:
        """Whether both ends are on the same side of zero."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class Estimate:
    """The thresholds of an ensemble under one condition.

    Attributes:
        median: of the thresholds (a threshold is its bracket's lower end), and its interval; ``-inf`` where it is
            below the least value tried, an end ``inf`` where it is above the greatest.
        low: a tenth of the thresholds are at most this.
        high: a tenth are at least this.
        replicas: how many.
        non_monotone: how many recovered above a value at which they had fallen.
        below: how many fell at the least value.
        above: how many recovered at all values.
    """

    median: Interval
    low: float
    high: float
    replicas: int
    non_monotone: int
    below: int
    above: int


def rank(count: int, confidence: float = CONFIDENCE) -> int:
    """The rank r, from 1, such that the r-th least and the r-th greatest of ``count`` hold the median.

    The greatest with at least this confidence, but 1 where none has it, and never the rank of the median itself.

    Raises:
        InputError: the confidence is not between 0 and 1, or there are fewer than three replicas.
    """
    if not 0.0 < confidence < 1.0:
        raise InputError(f"confidence = {confidence:g}: it must be between 0 and 1")
    if count < FEWEST:
        raise InputError(f"{count} replicas: it must be at least {FEWEST}, so that one trajectory does not decide")
    largest = (count - 1) // 2
    return max((r for r in range(2, largest + 1) if coverage(count, r) >= confidence), default=1)


def coverage(count: int, r: int) -> float:
    """With which probability the r-th least and the r-th greatest of ``count`` hold the median."""
    return float(1.0 - 2.0 * bdtr(r - 1, count, 0.5))


def median_interval(
    values: Sequence[float], lows: Sequence[float], highs: Sequence[float], confidence: float = CONFIDENCE
) -> Interval:
    """The median of ``values``, each of which stands for a number between its low and its high.

    Raises:
        InputError: as ``rank``.
    """
    count = len(values)
    r = rank(count, confidence)
    return Interval(_median(values), sorted(lows)[r - 1], sorted(highs)[count - r], coverage(count, r))


def _median(values: Sequence[float]) -> float:
    """The middle one, or the mean of the middle two; with one of them minus infinity, minus infinity."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2.0


def estimate(brackets: Sequence[Bracket], confidence: float = CONFIDENCE) -> Estimate:
    """Median, interval and spread of thresholds.

    Raises:
        InputError: as ``rank``.
    """
    lows = [bracket.low for bracket in brackets]
    ordered, few = sorted(lows), math.ceil(SPREAD * len(lows))
    return Estimate(
        median=median_interval(lows, lows, [bracket.high for bracket in brackets], confidence),
        low=ordered[few - 1],
        high=ordered[-few],
        replicas=len(brackets),
        non_monotone=sum(not bracket.monotone for bracket in brackets),
        below=sum(bracket.low == -math.inf for bracket in brackets),
        above=sum(bracket.high == math.inf for bracket in brackets),
    )


def paired_difference(
    theirs: Sequence[Bracket], ours: Sequence[Bracket], least: float, confidence: float = CONFIDENCE
) -> Interval:
    """The median over replicas of ``ours − theirs``, replica by replica, and its interval.

    Args:
        theirs: one a replica.
        ours: of the same replicas.
        least: the least value tried; it stands for the threshold of a replica that fell at it.
        confidence: of the interval.

    Raises:
        InputError: as ``rank``.
    """
    pairs = list(zip(theirs, ours, strict=True))
    values = [max(b.low, least) - max(a.low, least) for a, b in pairs]
    lows = [b.low - a.high for a, b in pairs]
    highs = [b.high - a.low for a, b in pairs]
    return median_interval(values, lows, highs, confidence)


@dataclass(frozen=True)
class Share:
    """How many replicas recovered at one value.

    Attributes:
        value: of the parameter.
        recovered: replicas that did.
        tried: replicas that were asked.
        low: lower end of the interval of the probability (Clopper and Pearson 1934).
        high: upper end.
    """

    value: float
    recovered: int
    tried: int
    low: float
    high: float


def recovery_curve(
    outcomes: Sequence[Outcomes], values: Iterable[float], confidence: float = CONFIDENCE
) -> tuple[Share, ...]:
    """The share of replicas that recover, at values that all of them were asked: islands count as recovered."""
    shares = []
    for value in values:
        answers = [asked[value] for asked in outcomes]
        shares.append(
            Share(value, sum(answers), len(answers), *_clopper_pearson(sum(answers), len(answers), confidence))
        )
    return tuple(shares)


def _clopper_pearson(count: int, total: int, confidence: float) -> tuple[float, float]:
    """Ends of the interval of a probability: quantiles of beta distributions."""
    tail = (1.0 - confidence) / 2.0
    low = float(betaincinv(count, total - count + 1, tail)) if count else 0.0
    high = float(betaincinv(count + 1, total - count, 1.0 - tail)) if count < total else 1.0
    return low, high


def half_recovers(curve: Sequence[Share], confidence: float = CONFIDENCE) -> Interval:
    """The value at which half of all replicas recover, islands counted.

    It is where the curve, made monotone by pooling neighbours that are not (Ayer et al. 1955), crosses one half. The
    interval is from the last value before which the probability is surely above one half to the first after which it
    is surely below. For a probability that falls with the value it holds the true crossing with the curve's
    confidence: to miss it on one side takes an interval of the curve, at the value next to it, that misses too.
    Infinite where the crossing is out of reach.

    Args:
        curve: with intervals of this confidence.
        confidence: of the curve's intervals.
    """
    pooled = _never_rising([share.recovered / share.tried for share in curve])
    above = list(takewhile(lambda share: share.low > 0.5, curve))
    below = list(takewhile(lambda share: share.high < 0.5, reversed(curve)))
    low = above[-1].value if above else -math.inf
    high = below[-1].value if below else math.inf
    return Interval(_crossing([share.value for share in curve], pooled), low, high, confidence)


def _never_rising(shares: Sequence[float]) -> list[float]:
    """The nearest shares that never rise: neighbours that do are replaced by their mean."""
    pools: list[tuple[float, int]] = []
    for share in shares:
        pools.append((share, 1))
        while len(pools) > 1 and pools[-1][0] > pools[-2][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    return [share for share, count in pools for _ in range(count)]


def _crossing(values: Sequence[float], shares: Sequence[float]) -> float:
    """Where shares that never rise cross one half, linear between values."""
    if shares[0] < 0.5:
        return -math.inf
    if shares[-1] >= 0.5:
        return math.inf
    k = next(k for k, share in enumerate(shares) if share < 0.5)
    part = (shares[k - 1] - 0.5) / (shares[k - 1] - shares[k])
    return values[k - 1] + part * (values[k] - values[k - 1])
