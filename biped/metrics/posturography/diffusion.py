"""Stabilogram diffusion: mean square displacement of a sway over time (Collins and De Luca 1993)."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError
from biped.metrics.posturography.sway import AXES, checked
from biped.records.record import are_even

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
#: ((from, to), (from, to)) [s]: lags of the short-term line and of the long-term line.
Regions = tuple[tuple[float, float], tuple[float, float]]

#: Smallest number of lags of a line; with two points it has no residual.
FEWEST = 3
#: [s] Range of lags for the critical point, as in Quijoux et al. 2021; in people it is near 1 s.
PARTING = (0.3, 2.5)
#: Largest deviation of times from even steps, in addition to rounding, as a share of a step.
UNEVEN = 0.05


def diffusion_curve(time: ArrayLike, ap: ArrayLike, ml: ArrayLike, longest: float = 10.0) -> "pd.DataFrame":
    """Return the mean square displacement of sway as a function of the time lag, from all pairs of points with a lag.

    The curve of one record scatters, more so at longer lags. Collins and De Luca (1993) took the mean of the curves of
    ten records of 30 s each: ``sum(curves) / len(curves)``.

    Args:
        time: (n,) [s], ascending in even steps.
        ap: (n,) [m] anteroposterior position; NaN if missing: pairs with a missing value do not count.
        ml: (n,) [m] mediolateral position; NaN if missing.
        longest: [s] longest lag; at most half of the record.

    Returns:
        Table with a row for each lag: ``lag`` [s], and ``plane``, ``ap`` and ``ml`` [m²]; ``plane`` is the sum of
        ``ap`` and ``ml``.

    Raises:
        InputError: the columns differ in length, times are uneven, the longest lag is too long for the record, or a lag
            has no pair.
    """
    import pandas as pd

    times, sway = checked(time, ap, ml)
    step = even_step(times)
    lags = math.floor(longest / step + 1e-6)
    if not FEWEST <= lags <= (len(times) - 1) / 2:
        raise InputError(
            f"longest = {longest!r}: it must be from {FEWEST * step:g} s, three samples, to "
            f"{(times[-1] - times[0]) / 2.0:g} s, half of the record"
        )
    squares = {
        axis: np.array([_mean_square(places, lag) for lag in range(1, lags + 1)])
        for axis, places in zip(AXES, np.ascontiguousarray(sway.T), strict=True)
    }
    lag = step * np.arange(1, lags + 1)
    return pd.DataFrame({"lag": lag, "plane": squares["ap"] + squares["ml"], **squares})


def diffusion_measures(curve: "pd.DataFrame", regions: Regions | None = None) -> dict[str, float]:
    """Fit two lines to a diffusion curve; return its growth over short and long lags, and where the lines cross.

    Measures are given in the plane and by axis (names in ``_ap`` and ``_ml``). ``short_diffusion`` and
    ``long_diffusion`` are D in ⟨Δx²⟩ = 2 D Δt, half the slope of a line (in the plane, the sum of both axes).
    ``short_exponent`` and ``long_exponent`` are H in ⟨Δx²⟩ ∝ Δt²ᴴ, half the slope in logarithms: above 1/2, motions
    persist, below they reverse. The lines cross at the lag ``critical_time`` and the mean square ``critical_distance``;
    these are missing if the crossing is not within the curve. The exponents are missing if nothing moves.

    Without ``regions``, ``parting`` [s] is the lag at which the first line ends and the second begins. For each column,
    it is chosen between 0.3 and 2.5 s so that both lines together have the smallest sum of squared residuals. Each
    residual has the weight 1 / lag, so that the many long lags, which scatter most, do not outweigh the short ones.
    Collins and De Luca chose the parting by eye, near 1 s. If the parting is at 0.3 or 2.5 s, or the lines cross
    outside of this range, ``critical_time`` and ``critical_distance`` are missing.

    Args:
        curve: table of ``diffusion_curve``, or the mean of several.
        regions: ((from, to), (from, to)) [s] lags of the short-term and the long-term line; None: automatic.

    Returns:
        Diffusion in the squared length unit per second (m²/s), times in s, distances in the squared length unit.

    Raises:
        InputError: a region has fewer than three lags, or no lag between 0.3 and 2.5 s has three on both sides.
    """
    lag = curve["lag"].to_numpy(dtype=np.float64)
    columns = (("", "plane"), *((f"_{axis}", axis) for axis in AXES))
    return {
        f"{name}{suffix}": float(value)
        for suffix, column in columns
        for name, value in _two_lines(lag, curve[column].to_numpy(dtype=np.float64), regions)
    }


def even_step(times: Floats) -> float:
    """Return the step [s] of even times (n,); raise InputError if they are uneven."""
    step = float(times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0
    if not (step and are_even(times, 1.0 / step, UNEVEN)):
        raise InputError("time must ascend in even steps: resample first (numpy.interp, or biped sway --resample)")
    return step


def _mean_square(places: Floats, lag: int) -> float:
    away = places[lag:] - places[:-lag]
    away = away[np.isfinite(away)]
    if not len(away):
        raise InputError(f"no two valid points are {lag} samples apart: there are too many gaps")
    return float(away @ away) / len(away)


def _two_lines(lag: Floats, square: Floats, regions: Regions | None) -> Iterator[tuple[str, float]]:
    if regions is None:
        places, best = _parting(lag, square)
        parting = places[best]
        yield "parting", lag[parting]
        within = [lag <= lag[parting], lag > lag[parting]]
        first, last = PARTING if 0 < best < len(places) - 1 else (math.inf, -math.inf)
    else:
        within = [(lag >= low - 1e-9) & (lag <= high + 1e-9) for low, high in regions]
        first, last = lag[0], lag[-1]
    if min(part.sum() for part in within) < FEWEST:
        raise InputError(f"regions = {regions}: each must contain three or more of the lags, up to {lag[-1]:g} s")
    lines = [np.polyfit(lag[part], square[part], 1) for part in within]
    for term, part, (slope, _) in zip(("short", "long"), within, lines, strict=True):
        yield f"{term}_diffusion", slope / 2.0
        if (square[part] > 0.0).all():
            yield f"{term}_exponent", np.polyfit(np.log(lag[part]), np.log(square[part]), 1)[0] / 2.0
    (slope, start), (later_slope, later_start) = lines
    if slope != later_slope:
        crossing = (later_start - start) / (slope - later_slope)
        if first <= crossing <= last:
            yield "critical_time", crossing
            yield "critical_distance", start + slope * crossing


def _parting(lag: Floats, square: Floats) -> tuple[NDArray[np.int64], int]:
    """Return the candidate indices for the end of the first line, and the index of the best candidate."""
    places = np.arange(FEWEST - 1, len(lag) - FEWEST)
    places = places[(lag[places] >= PARTING[0] - 1e-9) & (lag[places] <= PARTING[1] + 1e-9)]
    if not len(places):
        raise InputError(
            f"{len(lag)} lags up to {lag[-1]:g} s are too few: {FEWEST} or more must be on both sides of a lag between "
            f"{PARTING[0]:g} and {PARTING[1]:g} s; use a higher sampling rate, or set regions"
        )
    left = _residual(lag, square, 1.0 / lag)[places]
    right = _residual(lag[::-1], square[::-1], 1.0 / lag[::-1])[len(lag) - places - 2]
    return places, int(np.argmin(left + right))


def _residual(x: Floats, y: Floats, weight: Floats) -> Floats:
    """Return the weighted sum of squared residuals of a line through the first 1, 2, … n points, (n,)."""
    x, y = x - x[0], y - y[0]  # avoids cancellation in the sums
    n, sx, sy = (np.cumsum(weight * values) for values in (np.ones_like(x), x, y))
    xx, yy, xy = (
        np.cumsum(weight * a * b) - p * q / n for a, b, p, q in ((x, x, sx, sx), (y, y, sy, sy), (x, y, sx, sy))
    )
    return np.asarray(yy - np.divide(xy**2, xx, out=np.zeros_like(xx), where=xx > 0.0))
