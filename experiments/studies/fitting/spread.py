"""Scatter of estimates: their covariance if residuals are correlated in time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from contact.arrays import Floats

#: Smallest singular value, relative to the largest, of a direction that contains information.
RANK = 1e-9
#: Standard deviation, as a multiple of the ranges, along a direction without information.
NOTHING = 1e3
#: Sokal's window: correlations are summed up to this many correlation times.
WINDOW = 5.0


@dataclass(frozen=True)
class Spread:
    """Scatter of estimates, in fractions of the ranges."""

    covariance: Floats  #: (p, p) covariance; ``NOTHING`` squared along directions without information
    naive: Floats  #: (p,) variances if all residuals were independent
    variance: float  #: variance of a residual
    degrees: float  #: degrees of freedom of the equivalent independent residuals; inf if ``variance`` is known
    quantile: float  #: half-width of the confidence interval in standard deviations

    @property
    def deviations(self) -> Floats:
        """Standard deviations (p,) of the estimates."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> Floats:
        """Correlation (p, p) of the estimates."""
        deviations = np.maximum(self.deviations, np.finfo(float).tiny)
        return np.asarray(self.covariance / np.outer(deviations, deviations))


def spread_of(
    residuals: Floats,
    slopes: Floats,
    prior_slopes: Floats,
    series: Sequence[slice],
    confidence: float,
    deviation: float | None = None,
) -> Spread:
    """Return the scatter of a least-squares estimate.

    With residuals r and A = Jᵀ J, the estimate changes by A⁻¹ Jᵀ r. So its covariance is A⁻¹ Jᵀ Ω J A⁻¹, where Ω is the
    covariance of the residuals: in a series, their autocovariance, tapered by Bartlett's window. Priors are added to A
    as measurements whose standard deviation is one.

    Args:
        residuals: (m,) residuals of the estimates.
        slopes: (m, p) derivatives J of the residuals.
        prior_slopes: (q, p) derivatives of the priors' residuals.
        series: slices of residuals at successive times; all other residuals are taken as independent.
        confidence: confidence of the intervals.
        deviation: standard deviation of a residual, if it is known; None to estimate it.
    """
    count, p = slopes.shape
    free = max(count - p, 1)
    variance = float(residuals @ residuals) / free if deviation is None else deviation**2
    middle, worth = _middle(residuals, slopes, series, variance, count / free)
    prior = prior_slopes.T @ prior_slopes
    # Priors have deviation one, measurements the residuals' deviation: both are weighted by the inverse variance.
    bread, unknown = _inverse(slopes.T @ slopes + variance * prior)
    covariance = bread @ (middle + variance**2 * prior) @ bread + unknown
    naive = np.diag(variance * bread + unknown).copy()
    degrees = np.inf if deviation is not None else max(worth + len(prior_slopes) - p, 1.0)
    return Spread(covariance, naive, variance, degrees, float(student.ppf(0.5 + confidence / 2.0, degrees)))


def _inverse(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the pseudoinverse of a symmetric matrix, and the large covariance (p, p) in its null space."""
    values, vectors = np.linalg.eigh(matrix)
    known = values > RANK**2 * max(float(values[-1]), np.finfo(float).tiny)
    null = vectors[:, ~known]
    return (vectors[:, known] / values[known]) @ vectors[:, known].T, NOTHING**2 * null @ null.T


def _middle(
    residuals: Floats, slopes: Floats, series: Sequence[slice], variance: float, inflation: float
) -> tuple[Floats, float]:
    """Return Jᵀ Ω J, and the equivalent number of independent residuals."""
    alone = np.ones(len(residuals), dtype=bool)
    middle, worth = np.zeros((slopes.shape[1],) * 2), 0.0
    for part in series:
        alone[part] = False
        count, autocovariance = len(residuals[part]), _autocovariance(residuals[part])
        width = _window(autocovariance)
        taper = np.maximum(1.0 - np.arange(count) / (width + 1.0), 0.0)
        weights = inflation * autocovariance * taper
        middle += slopes[part].T @ _toeplitz_times(weights, slopes[part])
        sums = 1.0 + 2.0 * float((autocovariance[1:] * taper[1:]).sum()) / max(float(autocovariance[0]), 1e-300)
        worth += count / max(sums, 1.0)
    middle += variance * slopes[alone].T @ slopes[alone]
    return middle, worth + float(alone.sum())


def _autocovariance(values: Floats) -> Floats:
    """Return the autocovariance (n,) of values (n,) about zero; sums are divided by n for any lag."""
    count = len(values)
    spectrum = np.abs(np.fft.rfft(values, 2 * count)) ** 2
    return np.asarray(np.fft.irfft(spectrum, 2 * count)[:count] / count)


def block_of(values: Floats) -> int:
    """Return the number of successive residuals that are correlated, at most a quarter of all."""
    return max(1, min(_window(_autocovariance(values)), len(values) // 4))


def _window(autocovariance: Floats) -> int:
    """Return the lag up to which correlations are summed: the first one above ``WINDOW`` correlation times."""
    if autocovariance[0] <= 0.0:
        return 0
    times = 0.5 + np.concatenate([[0.0], np.cumsum(autocovariance[1:] / autocovariance[0])])
    beyond = np.flatnonzero(np.arange(len(times)) >= WINDOW * times)
    return int(beyond[0]) if len(beyond) else len(times) - 1


def _toeplitz_times(column: Floats, matrix: Floats) -> Floats:
    from scipy.linalg import matmul_toeplitz

    return np.asarray(matmul_toeplitz((column, column), matrix))
