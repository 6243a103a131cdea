"""Sway density curve: time for which a sway stays near each of its points (Baratto et al. 2002; Jacono et al. 2004)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError
from biped.metrics.posturography.diffusion import even_step
from biped.metrics.posturography.sway import checked
from biped.signals.filters import low_passed

#: [Hz] Cut-off of the low-pass filter of the curve.
LOW_PASS = 2.5


def sway_density(time: ArrayLike, ap: ArrayLike, ml: ArrayLike, radius: float = 0.003) -> dict[str, float]:
    """Return measures of the peaks of a sway density curve; an empty table if there are fewer than two peaks.

    The curve is the time for which the sway stays within a circle about each of its points: from the first to the last
    of the successive samples inside. It is low-passed at 2.5 Hz, by a filter of fourth order without delay.

    Args:
        time: (n,) [s], ascending in even steps.
        ap: (n,) [m], without gaps.
        ml: (n,) [m], without gaps.
        radius: radius of the circle, in the unit of ap and ml; 3 mm as in Quijoux et al. 2021.

    Returns:
        ``sway_density_peak`` [s], the mean height of the peaks; ``sway_density_distance``, the mean distance between
        the points of successive peaks, in the unit of ap and ml; ``sway_density_time`` [s], the mean time between
        peaks.

    Raises:
        InputError: times are uneven, there are gaps or too few points, or the radius is not above zero.
    """
    times, sway = checked(time, ap, ml)
    step = even_step(times)
    if not (radius > 0.0 and np.isfinite(sway).all()):
        raise InputError(f"radius = {radius!r}: it must be above zero, and the sway must have no gaps")
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
