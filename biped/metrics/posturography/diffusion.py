"""Stabilogram diffusion: how far a sway has gone from where it was, over the time since (Collins and De Luca 1993)."""

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
#: ((from, to), (from, to)) [s]: the lags of the short-term line, and those of the long-term line.
Regions = tuple[tuple[float, float], tuple[float, float]]

#: A line needs three points to have a residual.
FEWEST = 3
#: [s] A critical point is looked for between these lags, as Quijoux et al. 2021 look for it: people's is about 1 s.
PARTING = (0.3, 2.5)
#: Of a step: so far times may be from where even sampling would have them, beyond what they are rounded by.
UNEVEN = 0.05


def diffusion_curve(time: ArrayLike, ap: ArrayLike, ml: ArrayLike, longest: float = 10.0) -> "pd.DataFrame":
    """The mean square displacement of a sway over a lag: of all pairs of points that are so far apart in time.

    A curve of one record scatters, and the more the longer the lag. Collins and De Luca took the mean of the curves of
    ten records of 30 s each: that of tables is ``sum(curves) / len(curves)``.

    Args:
        time: (n,) [s], growing in even steps.
        ap: (n,) [m]; NaN where there is none: pairs count of which both points are there.
        ml: (n,) [m]; the same.
        longest: [s] the longest lag; at most half of the record.

    Returns:
        A row for each lag: ``lag`` [s], and ``plane``, ``ap`` and ``ml`` [m²], the first the sum of the others.

    Raises:
        InputError: the three are not of one length, time does not grow evenly, the longest lag is too long for the
            record, or a lag has no pair.
    """
    import pandas as pd

    times, sway = checked(time, ap, ml)
    step = even_step(times)
    lags = math.floor(longest / step + 1e-6)
    if not FEWEST <= lags <= (len(times) - 1) / 2:
        raise InputError(
            f"longest = {longest!r}: it must be between {FEWEST * step:g} s, three steps, and "
            f"{(times[-1] - times[0]) / 2.0:g} s, half of the record"
        )
    squares = {
        axis: np.array([_mean_square(places, lag) for lag in range(1, lags + 1)])
        for axis, places in zip(AXES, np.ascontiguousarray(sway.T), strict=True)
    }
    lag = step * np.arange(1, lags + 1)
    return pd.DataFrame({"lag": lag, "plane": squares["ap"] + squares["ml"], **squares})


def diffusion_measures(curve: "pd.DataFrame", regions: Regions | None = None) -> dict[str, float]:
    """Two lines through a diffusion curve: how fast it grows over short and over long lags, and where that changes.

    Over each region, in the plane and by axis (``…_ap``, ``…_ml``): ``short_diffusion`` and ``long_diffusion`` D of
    ⟨Δx²⟩ = 2 D Δt, half the slope of the line (that of the plane is the sum of the axes', as Collins and De Luca have
    it); ``short_exponent`` and ``long_exponent`` H of ⟨Δx²⟩ ∝ Δt²ᴴ, half the slope of the line through the logarithms:
    above 1/2 what moves goes on, below it turns back. ``critical_time`` and ``critical_distance`` (mean square) are
    where the two lines cross; they are left out where they do not within the curve, as of one straight line, and
    the exponents where nothing moves.

    Without ``regions``, ``parting`` [s] is the lag at which the first line ends. It is found for each column by itself
    between 0.3 and 2.5 s, so that both lines together have the least squares of residuals. Each residual is weighted by
    1 / lag, so that the many long lags, which scatter most, do not outweigh the short ones. Collins and De Luca chose
    the parting by eye, near 1 s. Where it is found at 0.3 or 2.5 s, or the lines cross outside, there is no critical
    point in this range: ``critical_time`` and ``critical_distance`` are left out.

    Args:
        curve: of ``diffusion_curve``, or the mean of several.
        regions: ((from, to), (from, to)) [s] of the lags of each line, the same for all columns; found, if None.

    Returns:
        diffusion in the square of the lengths' unit a second (m²/s), times in s, distances in the square of the unit.

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
    """Return the step [s] of even times (n,); raises InputError where they are not even."""
    step = float(times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0
    if not (step and are_even(times, 1.0 / step, UNEVEN)):
        raise InputError("time must grow in even steps: resample before (numpy.interp, or biped sway --resample)")
    return step


def _mean_square(places: Floats, lag: int) -> float:
    away = places[lag:] - places[:-lag]
    away = away[np.isfinite(away)]
    if not len(away):
        raise InputError(f"no two points that are there are {lag} steps apart: the gaps are too many")
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
        raise InputError(f"regions {regions}: each must hold three lags or more, of those up to {lag[-1]:g} s")
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
    """The places at which the first of two lines may end, and which of them leaves the least squares of residuals."""
    places = np.arange(FEWEST - 1, len(lag) - FEWEST)
    places = places[(lag[places] >= PARTING[0] - 1e-9) & (lag[places] <= PARTING[1] + 1e-9)]
    if not len(places):
        raise InputError(
            f"{len(lag)} lags up to {lag[-1]:g} s: two lines need {2 * FEWEST} or more, which part between "
            f"{PARTING[0]:g} and {PARTING[1]:g} s: sample faster, or set regions"
        )
    left = _residual(lag, square, 1.0 / lag)[places]
    right = _residual(lag[::-1], square[::-1], 1.0 / lag[::-1])[len(lag) - places - 2]
    return places, int(np.argmin(left + right))


def _residual(x: Floats, y: Floats, weight: Floats) -> Floats:
    """(n,) the weighted sum of squares that a line leaves of the first 1, 2, … n points."""
    x, y = x - x[0], y - y[0]  # the sums keep their digits
    n, sx, sy = (np.cumsum(weight * values) for values in (np.ones_like(x), x, y))
    xx, yy, xy = (
        np.cumsum(weight * a * b) - p * q / n for a, b, p, q in ((x, x, sx, sx), (y, y, sy, sy), (x, y, sx, sy))
    )
    return np.asarray(yy - np.divide(xy**2, xx, out=np.zeros_like(xx), where=xx > 0.0))
