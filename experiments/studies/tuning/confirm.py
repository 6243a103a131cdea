"""Confirmation of a winner: a paired comparison on replicas that the tuning has not used.

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
from experiments.studies.resampling import chance, interval


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
