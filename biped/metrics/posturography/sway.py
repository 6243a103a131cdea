"""Distances, paths, areas and frequencies of sway.

The definitions are from Prieto et al. 1996 (names in capitals), Schubert and Kirchner 2014 (the area), and Quijoux et
al. 2021 (direction, zero crossings, parts of the band). The metrics ``cop_…`` of a run are these measures of its centre
of pressure.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError
from biped.metrics.kernels.polygon import convex_hull
from biped.signals.filters import low_passed

Floats = NDArray[np.float64]

#: Suffixes of measures of one axis: anteroposterior or mediolateral.
AXES = ("ap", "ml")
#: −2 ln(1 − 0.95): the 95 % quantile of χ² with two degrees of freedom.
CHI_SQUARE = -2.0 * math.log(0.05)
#: [Hz] Band of the spectral measures.
BAND = (0.15, 5.0)
#: [Hz] Upper limits of the parts of the band (Quijoux et al. 2021).
PARTS = {"low": 0.5, "medium": 2.0, "high": BAND[1]}
#: Number of tapers of the spectrum's estimate.
TAPERS = 8
#: [s] Shortest record with spectral measures: three cycles of the band's lowest frequency.
SHORTEST = 20.0
#: Smallest motion, over the largest coordinate; less is round-off and has no frequency.
ROUND_OFF = 1e-9
#: Path of a cycle over its mean distance: around a circle, and back and forth along a line.
_CIRCLE, _LINE = 2.0 * math.pi, 4.0 * math.sqrt(2.0)


def sway_measures(time: ArrayLike, ap: ArrayLike, ml: ArrayLike, low_pass: float | None = None) -> dict[str, float]:
    """Return distances, path, velocity, area and frequencies of a sway, in the plane and by axis.

    Names of measures of one axis end in ``_ap`` or ``_ml``. The measures are: ``path_length`` (TOTEX),
    ``mean_velocity`` (MVELO), ``mean_frequency`` (MFREQ); ``mean_distance`` (MDIST) and ``rms_distance`` (RDIST) from
    the mean position; ``range`` (in the plane, the greatest distance of two points); ``area`` of the 95 % prediction
    ellipse; ``sway_area_rate`` (AREA-SW), the area per second swept by the line from the mean position to the sway;
    ``principal_direction`` [°] of the ellipse's major axis from the AP axis, 0 to 90; ``zero_crossings_ap`` and ``_ml``
    [Hz], the rate of sign changes of the velocity.

    Measures of the spectrum between 0.15 and 5 Hz (in the plane: of the distance from the mean) are:
    ``power_frequency_50`` and ``power_frequency_95`` (PF50, PF95), interpolated between spectral lines;
    ``centroid_frequency`` (CFREQ); ``frequency_dispersion`` (FREQD), 0 for one frequency; ``power_low``,
    ``power_medium`` and ``power_high``, the power up to 0.5 Hz, from 0.5 to 2 Hz, and above 2 Hz.

    Measures that are undefined are left out: all with fewer than three points, frequencies and directions without
    motion, spectral measures of a record that is shorter than 20 s or has gaps, and zero crossings of a record with
    gaps.

    Path, velocity and mean frequency increase with the bandwidth of the record. Prieto et al. (1996) low-passed at 5 Hz
    and sampled at 100 Hz.

    Args:
        time: (n,) [s], ascending.
        ap: (n,) [m] anterior positive; NaN for missing values.
        ml: (n,) [m] right positive; NaN for missing values.
        low_pass: [Hz] cut-off of a filter that is applied to ``ap`` and ``ml`` first: Butterworth, second order,
            forward and backward (zero phase); None: no filter.

    Returns:
        Lengths in the given unit (m), velocities in this unit per second, areas and powers in its square, frequencies
        in Hz.

    Raises:
        InputError: the columns differ in length, time does not ascend, or a record to be filtered has gaps, is too
            short, or is sampled too slowly.
    """
    times, sway = checked(time, ap, ml)
    return measures_of(times, sway if low_pass is None else low_passed(times, sway, low_pass))


def measures_of(time: Floats, sway: Floats) -> dict[str, float]:
    """Return the measures of ``sway_measures`` for times (n,) and AP and ML positions (n, 2), unchecked."""
    return {name: float(value) for name, value in (*_extent(time, sway), *_of_whole(time, sway))}


def checked(time: ArrayLike, ap: ArrayLike, ml: ArrayLike) -> tuple[Floats, Floats]:
    """Return times (n,), and AP and ML positions (n, 2), after the checks of ``sway_measures``."""
    columns = [np.asarray(values, dtype=np.float64) for values in (time, ap, ml)]
    shapes = [column.shape for column in columns]
    if len(set(shapes)) > 1 or columns[0].ndim != 1:
        raise InputError(f"time, ap and ml of shapes {shapes}: they must be three lists of equal length")
    if not (np.diff(columns[0]) > 0.0).all():
        raise InputError("time must ascend")
    return columns[0], np.column_stack(columns[1:])


def _extent(time: Floats, sway: Floats) -> Iterator[tuple[str, float]]:
    """Yield measures that need no spectrum; the path consists of the lines between successive valid points."""
    there = np.logical_and(*np.isfinite(sway).T)
    joined = there[1:] & there[:-1]
    span = np.diff(time)[joined].sum()
    if there.sum() < 3 or span <= 0.0:
        return
    steps, points = np.diff(sway, axis=0)[joined], sway[there]
    away, least = points - points.mean(axis=0), ROUND_OFF * np.abs(points).max()
    yield from _of_axis("", np.hypot(*steps.T), np.hypot(*away.T), span, _CIRCLE, least)
    yield "range", _diameter(points)
    for column, axis in enumerate(AXES):
        yield from _of_axis(f"_{axis}", np.abs(steps[:, column]), np.abs(away[:, column]), span, _LINE, least)
        yield f"range_{axis}", np.ptp(points[:, column])
    covariance = away.T @ away / (len(away) - 1)
    yield "area", math.pi * CHI_SQUARE * math.sqrt(max(np.linalg.det(covariance), 0.0))
    begin, end = ((part[joined] - points.mean(axis=0)).T for part in (sway[:-1], sway[1:]))
    yield "sway_area_rate", np.abs(begin[0] * end[1] - begin[1] * end[0]).sum() / (2.0 * span)
    along, across = covariance[0, 0] - covariance[1, 1], 2.0 * covariance[0, 1]
    if math.hypot(along, across) > ROUND_OFF * np.trace(covariance) and away.max() > least:
        yield "principal_direction", abs(math.degrees(math.atan2(across, along))) / 2.0


def _of_axis(
    suffix: str, steps: Floats, away: Floats, span: float, cycle: float, least: float
) -> Iterator[tuple[str, float]]:
    path, distance = steps.sum(), away.mean()
    yield f"path_length{suffix}", path
    yield f"mean_velocity{suffix}", path / span
    yield f"mean_distance{suffix}", distance
    yield f"rms_distance{suffix}", math.sqrt((away**2).mean())
    if distance > least:
        yield f"mean_frequency{suffix}", path / span / (cycle * distance)


def _diameter(points: Floats) -> float:
    """Return the greatest distance between any two points: between two corners of their hull."""
    hull = np.empty((2 * len(points) + 2, 2))
    corners = hull[: convex_hull(points[np.lexsort(points.T[::-1])], len(points), hull)]
    return max(math.sqrt(((corners - corner) ** 2).sum(axis=1).max()) for corner in corners)


def _of_whole(time: Floats, sway: Floats) -> Iterator[tuple[str, float]]:
    """Yield zero crossings of the velocity and spectral measures of a sway without gaps."""
    there = np.flatnonzero(np.logical_and(*np.isfinite(sway).T))
    if len(there) < 3 or there[-1] - there[0] + 1 > len(there):
        return
    time, sway = time[there], sway[there]
    away, least, span = sway - sway.mean(axis=0), ROUND_OFF * np.abs(sway).max(), time[-1] - time[0]
    moving = [np.abs(signal).mean() > least for signal in away.T]
    for suffix, steps, moves in zip(AXES, np.diff(sway, axis=0).T, moving, strict=True):
        if moves:
            yield f"zero_crossings_{suffix}", np.count_nonzero(np.diff(np.sign(steps[steps != 0.0]))) / span
    if span < SHORTEST - 1e-9:
        return
    for suffix, signal in (("", np.hypot(*away.T)), ("_ap", away[:, 0]), ("_ml", away[:, 1])):
        if np.abs(signal).mean() > least:
            yield from _of_spectrum(suffix, *power_spectrum(time, signal))


def _of_spectrum(suffix: str, frequency: Floats, density: Floats) -> Iterator[tuple[str, float]]:
    """Yield measures of the power between 0.15 and 5 Hz, from sums over spectral lines as in Prieto et al."""
    line = frequency[1]
    within = (frequency >= BAND[0] - 1e-9) & (frequency <= BAND[1] + 1e-9)
    frequency, power = frequency[within], density[within] * line
    moments = [(frequency**order * power).sum() for order in range(3)]
    if not moments[0] > 0.0:
        return
    # The power of a line is spread evenly over the distance to its neighbours, which keeps the sum over lines.
    edges = np.clip(np.append(frequency - line / 2.0, frequency[-1] + line / 2.0), *BAND)
    for percent in (50, 95):
        share = percent / 100.0 * moments[0]
        yield f"power_frequency_{percent}{suffix}", np.interp(share, np.append(0.0, np.cumsum(power)), edges)
    yield f"centroid_frequency{suffix}", math.sqrt(moments[2] / moments[0])
    yield f"frequency_dispersion{suffix}", math.sqrt(max(1.0 - moments[1] ** 2 / (moments[0] * moments[2]), 0.0))
    parts = np.searchsorted(list(PARTS.values()), frequency - 1e-9)
    for number, part in enumerate(PARTS):
        yield f"power_{part}{suffix}", power[parts == number].sum()


def mean_power_frequency(time: ArrayLike, ap: ArrayLike, ml: ArrayLike) -> dict[str, float]:
    """Return the mean power frequency [Hz] by Welch's method, as in Santos and Duarte 2016.

    For each axis with motion, it is ∫ f P df / ∫ P df over frequencies f up to half of the sampling rate. The power
    spectral density P is estimated by three Hann windows of half the record's length, which overlap by half; their
    means are subtracted. The measure without an axis in its name is the mean of both axes, weighted by their sums of P.

    Raises:
        InputError: the columns differ in length, time does not ascend, or there are gaps or fewer than eight points.
    """
    from scipy.signal import welch  # importing takes a quarter of a second

    times, sway = checked(time, ap, ml)
    if len(times) < 8 or not np.isfinite(sway).all():
        raise InputError(f"{len(times)} points: a mean power frequency needs eight or more, without gaps")
    moving = np.abs(sway - sway.mean(axis=0)).mean(axis=0) > ROUND_OFF * np.abs(sway).max()
    by_axis, weights = {}, []
    for axis, signal in zip(np.array(AXES)[moving], sway.T[moving], strict=True):
        frequency, density = welch(*_evened(times, signal)[::-1], "hann", len(times) // 2)
        moment, power = (np.trapezoid(y, frequency) for y in (frequency * density, density))
        by_axis[f"mean_power_frequency_{axis}"] = float(moment / power)
        weights.append(density.sum())
    mean = {"mean_power_frequency": float(np.average(list(by_axis.values()), weights=weights))} if by_axis else {}
    return mean | by_axis


def power_spectrum(time: Floats, signal: Floats) -> tuple[Floats, Floats]:
    """Return frequencies [Hz] and one-sided power spectral density of a signal less its mean [signal's unit²/Hz].

    The density is the mean of the estimates by eight sine tapers (Riedel and Sidorenko 1995), as in Prieto et al. 1996.
    Power at one frequency is spread over 4.5 / (length of the record) to both sides. Uneven times are interpolated.
    """
    n = len(time)
    rate, even = _evened(time, signal)
    orders, places = np.arange(1, TAPERS + 1)[:, None], np.arange(1, n + 1)
    tapers = math.sqrt(2.0 / (n + 1)) * np.sin(math.pi * orders * places / (n + 1))
    density = (np.abs(np.fft.rfft(tapers * (even - even.mean()))) ** 2).mean(axis=0) / rate
    density[1 : (n + 1) // 2] *= 2.0  # frequencies between 0 and half the rate count twice
    return np.asarray(np.fft.rfftfreq(n, 1.0 / rate), dtype=np.float64), density


def _evened(time: Floats, signal: Floats) -> tuple[float, Floats]:
    """Return the mean rate [Hz], and the signal interpolated to the same number of evenly spaced times."""
    rate = float((len(time) - 1) / (time[-1] - time[0]))
    return rate, np.interp(np.linspace(time[0], time[-1], len(time)), time, signal)
