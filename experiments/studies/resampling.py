"""Bootstrap intervals and permutation tests, for one sample (of differences) or two samples."""

from typing import Any, Literal

import numpy as np

from biped.inputs.checks import integer
from contact.arrays import Floats
from experiments.studies.proportion import CONFIDENCE

RESAMPLES = 9999


def interval(*samples: Floats, seed: int, resamples: int = RESAMPLES) -> tuple[float, float]:
    """Return a confidence interval of a mean, or of the second sample's mean minus the first's.

    The method is Efron's bias-corrected and accelerated bootstrap. If each sample is constant, both ends equal the
    mean, or the difference of the means.
    """
    from scipy.stats import bootstrap

    seed = integer(seed, "seed")
    if all(np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())) for values in samples):
        return (difference(*samples),) * 2
    ends = bootstrap(
        samples, difference, confidence_level=CONFIDENCE, n_resamples=resamples, method="BCa", rng=seed, vectorized=True
    ).confidence_interval
    return float(ends.low), float(ends.high)


def chance(*samples: Floats, seed: int, resamples: int = RESAMPLES) -> float:
    """Return the two-sided p-value of a mean (by random signs), or of a difference of means (by permutations).

    The test uses all permutations if there are at most ``resamples``. Otherwise it uses ``resamples`` random ones, and
    the p-value is at least 2 / (resamples + 1).
    """
    from scipy.stats import permutation_test

    seed = integer(seed, "seed")
    how: Literal["samples", "independent"] = "samples" if len(samples) == 1 else "independent"
    test = permutation_test(samples, difference, permutation_type=how, n_resamples=resamples, rng=seed, vectorized=True)
    return float(test.pvalue)


def difference(*samples: Floats, axis: int = -1) -> Any:
    """Return the mean of one sample, or the second sample's mean minus the first's."""
    means = [np.mean(values, axis=axis) for values in samples]
    return means[0] if len(means) == 1 else means[1] - means[0]
