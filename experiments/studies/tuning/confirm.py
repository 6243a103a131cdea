"""Confirmation of a winner: a paired comparison on replicas that the tuning has not used.

Each replica is run with both sets of gains from the same start; the differences are resampled (Efron's bias-corrected
and accelerated bootstrap). That interval is too narrow for few replicas, or if few of them differ: it excludes zero
whenever all differences have one sign, even with only two. A difference therefore also has to be significant by
Fisher's exact test (1935, The Design of Experiments, section 21): for equally good gains, each difference has either
sign with equal probability.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biped.errors import InputError
from experiments.studies.proportion import CONFIDENCE
from experiments.studies.resampling import chance, interval


@dataclass(frozen=True)
class Comparison:
    """A paired comparison of one number on the same replicas."""

    name: str
    baseline: float  # mean with the baseline's gains
    winner: float  # mean with the winner's gains
    baseline_spread: float  # standard deviation over the replicas
    winner_spread: float
    low: float  # lower end of the 95 % interval of the mean difference, winner minus baseline
    high: float  # upper end of the interval
    chance: float  # two-sided p-value of the mean difference
    replicas: int

    @property
    def difference(self) -> float:
        return self.winner - self.baseline

    def is_clear(self, sign: float) -> bool:
        """Return True if the whole interval is an improvement; ``sign`` is 1 if small is good, -1 if great is."""
        return self.high < 0.0 if sign > 0.0 else self.low > 0.0

    def is_better(self, sign: float, level: float = 1.0 - CONFIDENCE) -> bool:
        """Return True if the improvement is clear and its p-value is at most this level."""
        return self.is_clear(sign) and self.chance <= level


def compare(name: str, baseline: Sequence[float], winner: Sequence[float], seed: int) -> Comparison:
    first, second = np.asarray(baseline, dtype=float), np.asarray(winner, dtype=float)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        raise InputError("a paired comparison needs two replicas or more, the same for both")
    low, high = interval(second - first, seed=seed)
    return Comparison(
        name, float(first.mean()), float(second.mean()), float(first.std(ddof=1)), float(second.std(ddof=1)), low, high,
        chance(second - first, seed=seed), len(first),
    )  # fmt: skip
