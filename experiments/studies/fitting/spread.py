"""Scatter of estimates: their covariance when residuals are correlated in time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from contact.arrays import Floats

#: Smallest usable singular value, relative to the largest: directions below it contain no information.
RANK = 1e-9
#: Deviation, in ranges, along a direction without information.
NOTHING = 1e3
#: Sokal's window: correlations are summed up to so many correlation times.
WINDOW = 5.0


@dataclass(frozen=True)
class Spread:
    """Scatter of estimates, in fractions of the ranges."""

    covariance: Floats  #: (p, p); a thousand ranges along directions without information
    naive: Floats  #: (p,) variances if all residuals were independent
    variance: float  #: variance of a residual
    degrees: float  #: degrees of freedom of the equivalent number of independent residuals
    quantile: float  #: half-width of the interval in deviations

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

    The estimate moves by A⁻¹ Jᵀ r with the residuals r, A = Jᵀ J, so that its covariance is A⁻¹ Jᵀ Ω J A⁻¹ with that of
    the residuals, Ω: in a series their autocovariance, tapered by Bartlett's window. Priors are added to A as
    measurements of deviation one.

    Args:
        residuals: (m,).
        slopes: (m, p) derivatives J of the residuals.
        prior_slopes: (q, p) derivatives of the priors' residuals.
        series: slices of residuals that follow one another in time; others are independent.
        confidence: confidence of the interval.
        deviation: standard deviation of a residual, if it is known and not estimated.
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
    """Return the inverse of a symmetric matrix in its range, and the large covariance (p, p) in its null space."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > RANK**2 * max(float(values[-1]), np.finfo(float).tiny)
    lost = vectors[:, ~kept]
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T, NOTHING**2 * lost @ lost.T


def _middle(
    residuals: Floats, slopes: Floats, series: Sequence[slice], variance: float, inflation: float
) -> tuple[Floats, float]:
    """Return Jᵀ Ω J, and the number of independent residuals to which the residuals are equivalent."""
    alone = np.ones(len(residuals), dtype=bool)
    middle, worth = np.zeros((slopes.shape[1],) * 2), 0.0
    for part in series:
        alone[part] = False
        own, count = residuals[part], len(residuals[part])
        autocovariance = _autocovariance(own)
        width = _window(autocovariance)
        taper = np.maximum(1.0 - np.arange(count) / (width + 1.0), 0.0)
        weights = inflation * autocovariance * taper
        middle += slopes[part].T @ _toeplitz_times(weights, slopes[part])
        sums = 1.0 + 2.0 * float((autocovariance[1:] * taper[1:]).sum()) / max(float(autocovariance[0]), 1e-300)
        worth += count / max(sums, 1.0)
    middle += variance * slopes[alone].T @ slopes[alone]
    return middle, worth + float(alone.sum())


def _autocovariance(values: Floats) -> Floats:
    """Return the autocovariance (n,) about zero, divided by n: positive semidefinite."""
    count = len(values)
    spectrum = np.abs(np.fft.rfft(values, 2 * count)) ** 2
    return np.asarray(np.fft.irfft(spectrum, 2 * count)[:count] / count)


def block_of(values: Floats) -> int:
    """Return the number of successive residuals that are correlated, at most a quarter of all."""
    return max(1, min(_window(_autocovariance(values)), len(values) // 4))


def _window(autocovariance: Floats) -> int:
    """Return the first lag beyond five times the correlation time up to it; correlations are summed up to there."""
    if autocovariance[0] <= 0.0:
        return 0
    times = 0.5 + np.concatenate([[0.0], np.cumsum(autocovariance[1:] / autocovariance[0])])
    beyond = np.flatnonzero(np.arange(len(times)) >= WINDOW * times)
    return int(beyond[0]) if len(beyond) else len(times) - 1


def _toeplitz_times(column: Floats, matrix: Floats) -> Floats:
    from scipy.linalg import matmul_toeplitz

    return np.asarray(matmul_toeplitz((column, column), matrix))
