"""Whether a winner is one: a paired comparison on replicas that the tuning has never seen.

Each replica is run with both sets of gains from the same start; the differences are resampled (Efron's bias-corrected
and accelerated bootstrap). That interval is too narrow for few replicas, and where few of them differ: it keeps clear
of zero wherever all differences have one sign, be there only two. So a difference also has to be significant by the
test of Fisher (1935, The Design of Experiments, section 21), which is exact: where both gains serve alike, each
difference has either sign with the same probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from experiments.studies.proportion import CONFIDENCE

RESAMPLES = 9999


@dataclass(frozen=True)
class Comparison:
    """A paired comparison of one number on the same replicas."""

    name: str
    baseline: float  # its mean with the baseline's gains
    winner: float  # with the winner's
    baseline_spread: float  # standard deviation over the replicas
    winner_spread: float
    low: float  # of the interval of the mean difference, winner minus baseline, at 95 %
    high: float  # of the same
    chance: float  # the probability of a mean difference as great as this, either way, where both serve alike
    replicas: int

    @property
    def difference(self) -> float:
        return self.winner - self.baseline

    def is_clear(self, sign: float) -> bool:
        """Whether the whole interval is on the good side of zero; ``sign`` is 1 if small is good, -1 if great is."""
        return self.high < 0.0 if sign > 0.0 else self.low > 0.0

    def is_better(self, sign: float, level: float = 1.0 - CONFIDENCE) -> bool:
        """Whether it is clear, and chance explains it with this probability at most."""
        return self.is_clear(sign) and self.chance <= level


def compare(name: str, baseline: Sequence[float], winner: Sequence[float], seed: int) -> Comparison:
    first, second = np.asarray(baseline, dtype=float), np.asarray(winner, dtype=float)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        raise InputError("a paired comparison needs two replicas or more, the same for both")
    low, high = interval(second - first, seed)
    return Comparison(
        name, float(first.mean()), float(second.mean()), float(first.std(ddof=1)), float(second.std(ddof=1)), low, high,
        chance(second - first, seed), len(first),
    )  # fmt: skip


def interval(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", seed: int) -> tuple[float, float]:
    """The interval of the mean; that one number twice, where all are alike and there is nothing to resample."""
    from scipy.stats import bootstrap

    if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return float(values.mean()), float(values.mean())
    found = bootstrap(
        (values,), np.mean, confidence_level=CONFIDENCE, n_resamples=RESAMPLES, method="BCa", rng=seed
    ).confidence_interval
    return float(found.low), float(found.high)


def chance(values: "np.ndarray[tuple[int], np.dtype[np.float64]]", seed: int) -> float:
    """The probability of a mean as far from zero, if each number's sign were a toss of a coin.

    Over all signs of few numbers, over ``RESAMPLES`` random ones of many (then never below 2 / (RESAMPLES + 1)).
    """
    from scipy.stats import permutation_test

    found = permutation_test((values,), np.mean, permutation_type="samples", n_resamples=RESAMPLES, rng=seed)
    return float(found.pvalue)
