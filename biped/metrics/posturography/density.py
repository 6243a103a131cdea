"""Sway density curve: time for which a sway stays near each sample (Baratto et al. 2002; Jacono et al. 2004)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError
from biped.metrics.posturography.diffusion import even_step
from biped.metrics.posturography.sway import checked
from biped.signals.filters import low_passed

#: [Hz] Cut-off of the low-pass filter of the curve.
LOW_PASS = 2.5


def sway_density(time: ArrayLike, ap: ArrayLike, ml: ArrayLike, radius: float = 0.003) -> dict[str, float]:
    """Return measures of the peaks of a sway density curve; an empty dict if the curve has fewer than two peaks.

    At each sample, the value of the curve is the time for which the sway stays within ``radius`` of this sample, before
    and after it, without interruption. The curve is low-passed at 2.5 Hz by a zero-phase filter of fourth order.

    Args:
        time: (n,) [s], ascending in even steps.
        ap: (n,) [m] anteroposterior position, without gaps.
        ml: (n,) [m] mediolateral position, without gaps.
        radius: [m] largest distance from a sample; the default of 3 mm is that of Quijoux et al. 2021.

    Returns:
        ``sway_density_peak`` [s], the mean height of the peaks; ``sway_density_distance`` [m], the mean distance
        between the samples of successive peaks; ``sway_density_time`` [s], the mean time between successive peaks. If
        ``ap``, ``ml`` and ``radius`` have another unit, the distance has this unit.

    Raises:
        InputError: times are uneven, there are gaps or too few points, or the radius is zero or negative.
    """
    times, sway = checked(time, ap, ml)
    step = even_step(times)
    if not (radius > 0.0 and np.isfinite(sway).all()):
        raise InputError(f"radius = {radius!r} must be above zero, and ap and ml must have no missing values")
    stayed = step * (_stays(sway, radius) + _stays(sway[::-1], radius)[::-1])
    curve = low_passed(times, stayed, LOW_PASS, "the sway density curve's low-pass")
    peaks = 1 + np.flatnonzero((curve[1:-1] > curve[:-2]) & (curve[1:-1] > curve[2:]))
    if len(peaks) < 2:
        return {}
    return {
        "sway_density_peak": float(curve[peaks].mean()),
        "sway_density_distance": float(np.hypot(*np.diff(sway[peaks], axis=0).T).mean()),
        "sway_density_time": float(np.diff(times[peaks]).mean()),
    }


def _stays(sway: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Return the number of samples (n,) for which the sway (n, 2) continues within the radius."""
    stays, inside, lag = np.zeros(len(sway)), np.arange(len(sway)), 0
    while len(inside):
        stays[inside], lag = lag, lag + 1
        inside = inside[inside + lag < len(sway)]
        inside = inside[np.hypot(*(sway[inside + lag] - sway[inside]).T) <= radius]
    return stays
