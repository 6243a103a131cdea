"""Confirmation of a winner: a paired comparison on replicas that the tuning has not used.

Each replica is run with both sets of gains from the same start; the differences are resampled (Efron's bias-corrected
and accelerated bootstrap). The bootstrap interval is too narrow if there are few replicas, or if few of them differ: it
excludes zero whenever all differences have one sign, even for two replicas. So a difference must also be significant in
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
    """A paired comparison of an objective or limited metric between baseline and winner, on the same replicas."""

    name: str
    baseline: float  # mean with the baseline's gains
    winner: float  # mean with the winner's gains
    baseline_spread: float  # standard deviation over the replicas with the baseline's gains
    winner_spread: float  # standard deviation with the winner's gains
    low: float  # lower end of the 95 % interval of the mean difference, winner minus baseline
    high: float  # upper end of the interval
    chance: float  # two-sided p-value of the mean difference
    replicas: int  # number of replicas

    @property
    def difference(self) -> float:
        return self.winner - self.baseline

    def is_clear(self, sign: float) -> bool:
        """Return True if the interval has improvements only; ``sign`` is 1 if less is better, -1 if more is better."""
        return self.high < 0.0 if sign > 0.0 else self.low > 0.0

    def is_better(self, sign: float, level: float = 1.0 - CONFIDENCE) -> bool:
        """Return True if the improvement is clear and its p-value is at most this level."""
        return self.is_clear(sign) and self.chance <= level


def compare(name: str, baseline: Sequence[float], winner: Sequence[float], seed: int) -> Comparison:
    first, second = np.asarray(baseline, dtype=float), np.asarray(winner, dtype=float)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        raise InputError("a paired comparison needs two or more replicas, equal for baseline and winner")
    low, high = interval(second - first, seed=seed)
    return Comparison(
        name, float(first.mean()), float(second.mean()), float(first.std(ddof=1)), float(second.std(ddof=1)), low, high,
        chance(second - first, seed=seed), len(first),
    )  # fmt: skip
