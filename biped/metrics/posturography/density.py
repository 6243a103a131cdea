"""The sway density curve: how long a sway stays near each of its points (Baratto et al. 2002; Jacono et al. 2004)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError
from biped.metrics.posturography.diffusion import even_step
from biped.metrics.posturography.sway import checked
from biped.signals.filters import low_passed

Floats = NDArray[np.float64]

#: [m] The radius of the circle, as Quijoux et al. 2021 have it.
RADIUS = 0.003
#: [Hz] of the low-pass filter of the curve.
LOW_PASS = 2.5


def sway_density(time: ArrayLike, ap: ArrayLike, ml: ArrayLike, radius: float = RADIUS) -> dict[str, float]:
    """Return the measures of the peaks of a sway density curve.

    The curve is the time for which the sway stays within a circle about each of its points: from the first to the last
    of the successive samples that are there. It is low-passed at 2.5 Hz, by a filter of fourth order without delay. A
    peak is higher than its two neighbours.

    Args:
        time: (n,) [s], growing in even steps.
        ap: (n,) [m], without gaps.
        ml: (n,) [m], without gaps.
        radius: of the circle, in the unit of ap and ml.

    Returns:
        ``sway_density_peak`` [s], the mean height of the peaks; ``sway_density_distance``, the mean distance between
        the points of two successive peaks, in the unit of ap and ml; ``sway_density_time`` [s], the mean time between
        two successive peaks. Empty where there are fewer than two peaks.

    Raises:
        InputError: the three differ in length, time does not grow in even steps, there are gaps or too few points,
            it is sampled too slowly to be filtered, or the radius is not above zero.
    """
    times, sway = checked(time, ap, ml)
    step = even_step(times)
    if not (radius > 0.0 and np.isfinite(sway).all()):
        raise InputError(f"radius = {radius!r}: it must be above zero, and the sway without gaps")
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


def _stays(sway: Floats, radius: float) -> Floats:
    """(n,) how many samples on the sway (n, 2) is still within the radius, without having left it."""
    stays, inside = np.zeros(len(sway)), np.arange(len(sway))
    for lag in range(1, len(sway)):
        inside = inside[inside + lag < len(sway)]
        inside = inside[np.hypot(*(sway[inside + lag] - sway[inside]).T) <= radius]
        if not len(inside):
            break
        stays[inside] = lag
    return stays
