"""Measures of a made-up sway against longhand sums, other estimators of SciPy, and signals of which they are known."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import signal

from biped.errors import InputError
from biped.metrics import diffusion_measures, mean_power_frequency, rambling_trembling, sway_density, sway_measures
from biped.metrics.posturography.diffusion import PARTING

RATE = 50.0
TIMES = np.arange(1500) / RATE
#: AP and ML [m] about 8 cm behind the origin: drawn back within 0.5 s, and smooth as people's.
SWAY = signal.lfilter([1.0], np.poly([0.96, 0.8]), np.random.default_rng(21).normal(0.0, 2e-4, (2, 1500)))
SWAY = np.array([[1.0, 0.3], [0.0, 0.6]]) @ SWAY - np.array([[0.08], [0.0]])
FOUND = sway_measures(TIMES, *SWAY)
AWAY = SWAY - SWAY.mean(axis=1, keepdims=True)
SIGNALS = {"": np.hypot(*AWAY), "_ap": AWAY[0], "_ml": AWAY[1]}


def test_the_area_per_second_is_that_of_triangles_by_their_sides():
    """Heron's formula loses digits of thin triangles: 1e-9 is the square root of what is rounded, and more."""
    area = 0.0
    for k in range(len(TIMES) - 1):
        sides = [math.hypot(*AWAY[:, k]), math.hypot(*AWAY[:, k + 1]), math.hypot(*(AWAY[:, k + 1] - AWAY[:, k]))]
        half = sum(sides) / 2.0
        area += math.sqrt(max(half * math.prod(half - side for side in sides), 0.0))
    assert FOUND["sway_area_rate"] == pytest.approx(area / (TIMES[-1] - TIMES[0]), rel=1e-6)
    turn = 2.0 * math.pi * 0.5 * TIMES  # 15 turns: the mean is the centre, but for the one sample that is not there
    circle = sway_measures(TIMES, 0.01 * np.cos(turn), 0.01 * np.sin(turn))
    assert circle["sway_area_rate"] == pytest.approx(0.5 * math.pi * 0.01**2, rel=1e-2)


def test_the_principal_direction_is_that_of_the_greatest_eigenvalue():
    values, vectors = np.linalg.eigh(np.cov(SWAY))
    main = np.abs(vectors[:, np.argmax(values)])
    assert FOUND["principal_direction"] == pytest.approx(math.degrees(math.acos(main[0])), rel=1e-9)
    for degrees in (0.0, 20.0, 70.0, 90.0):
        line = AWAY[0] * np.cos(np.radians(degrees)), -AWAY[0] * np.sin(np.radians(degrees))
        assert sway_measures(TIMES, *line)["principal_direction"] == pytest.approx(degrees, abs=1e-6)


def test_zero_crossings_count_turns_of_the_velocity():
    for axis, values in zip(("ap", "ml"), SWAY, strict=True):
        turns = [k for k in range(1, 1499) if (values[k] - values[k - 1]) * (values[k + 1] - values[k]) < 0.0]
        assert FOUND[f"zero_crossings_{axis}"] == pytest.approx(len(turns) / (TIMES[-1] - TIMES[0]), rel=1e-12)
    steps = np.repeat(np.sin(2.0 * math.pi * 0.5 * TIMES + 0.2)[::10], 10)  # a sensor that repeats its values
    assert sway_measures(TIMES, steps, 0.0 * steps)["zero_crossings_ap"] == pytest.approx(1.0, abs=1.0 / 29.0)


def spectrum(values):
    """Lines and powers in the band: the mean of SciPy's periodograms under eight sine windows."""
    n = len(values)
    windows = [np.sin(math.pi * k * np.arange(1, n + 1) / (n + 1)) for k in range(1, 9)]
    found = [signal.periodogram(values, RATE, window, detrend="constant") for window in windows]
    frequency, density = found[0][0], np.mean([power for _, power in found], axis=0)
    within = (frequency > 0.1499) & (frequency < 5.0001)
    return frequency[within], density[within] * frequency[1], frequency[1]


@pytest.mark.parametrize("suffix", SIGNALS)
def test_measures_of_the_spectrum_are_sums_over_its_lines(suffix):
    frequency, power, line = spectrum(SIGNALS[suffix])
    for percent in (50, 95):
        left = percent / 100.0 * power.sum()
        for middle, part in zip(frequency, power, strict=True):
            low, high = max(middle - line / 2.0, 0.15), min(middle + line / 2.0, 5.0)
            if part >= left:
                break
            left -= part
        assert FOUND[f"power_frequency_{percent}{suffix}"] == pytest.approx(low + left / part * (high - low), rel=1e-9)
    zeroth, first, second = (sum(f**k * p for f, p in zip(frequency, power, strict=True)) for k in range(3))
    assert FOUND[f"centroid_frequency{suffix}"] == pytest.approx(math.sqrt(second / zeroth), rel=1e-9)
    dispersion = math.sqrt(1.0 - first**2 / (zeroth * second))
    assert FOUND[f"frequency_dispersion{suffix}"] == pytest.approx(dispersion, rel=1e-9)
    parts = [sum(p for f, p in zip(frequency, power, strict=True) if low < f - 1e-9 <= high)
             for low, high in ((0.0, 0.5), (0.5, 2.0), (2.0, 5.0))]  # fmt: skip
    assert [FOUND[f"power_{part}{suffix}"] for part in ("low", "medium", "high")] == pytest.approx(parts, rel=1e-9)


@pytest.mark.parametrize("between", [0.0, 0.25, 0.5, 0.8])
def test_power_frequencies_do_not_lie_on_the_spectral_lines(between):
    """The tapers spread a sine evenly about its frequency; lines are 1/30 Hz apart, the bound is a tenth of that."""
    frequency = 1.0 + between / 30.0
    found = sway_measures(TIMES, np.sin(2.0 * math.pi * frequency * TIMES), np.zeros(1500))
    assert found["power_frequency_50_ap"] == pytest.approx(frequency, abs=0.1 / 30.0)


def test_the_mean_power_frequency_is_that_of_three_windows_by_hand():
    found, sums = mean_power_frequency(TIMES, *SWAY), {}
    window = np.array([0.5 - 0.5 * math.cos(2.0 * math.pi * k / 750) for k in range(750)])
    for axis, values in zip(("ap", "ml"), SWAY, strict=True):
        density = np.zeros(376)
        for start in (0, 375, 750):
            piece = values[start : start + 750]
            density += np.abs(np.fft.rfft(window * (piece - piece.mean()))) ** 2
        density[1:-1] *= 2.0
        lines = np.arange(376) / 15.0
        moment, power = (((y[1:] + y[:-1]) * np.diff(lines)).sum() for y in (lines * density, density))
        assert found[f"mean_power_frequency_{axis}"] == pytest.approx(moment / power, rel=1e-9)
        sums[axis] = density.sum()
    weighted = sum(sums[axis] * found[f"mean_power_frequency_{axis}"] for axis in sums) / sum(sums.values())
    assert found["mean_power_frequency"] == pytest.approx(weighted, rel=1e-9)
    with pytest.raises(InputError, match="without gaps"):
        mean_power_frequency(TIMES, SWAY[0] * math.nan, SWAY[1])


def test_sway_density_is_counted_sample_by_sample():
    stayed, radius = [], 0.002
    for k in range(len(TIMES)):
        first = last = k
        while last + 1 < len(TIMES) and math.dist(SWAY[:, last + 1], SWAY[:, k]) <= radius:
            last += 1
        while first > 0 and math.dist(SWAY[:, first - 1], SWAY[:, k]) <= radius:
            first -= 1
        stayed.append((last - first) / RATE)
    curve = signal.filtfilt(*signal.butter(2, 2.5, fs=RATE), stayed, padlen=9)
    peaks = [k for k in range(1, len(curve) - 1) if curve[k - 1] < curve[k] > curve[k + 1]]
    assert len(peaks) > 10
    found = sway_density(TIMES, *SWAY, radius)
    assert found["sway_density_peak"] == pytest.approx(np.mean([curve[k] for k in peaks]), rel=1e-6)
    away = [math.dist(SWAY[:, a], SWAY[:, b]) for a, b in pairwise(peaks)]
    assert found["sway_density_distance"] == pytest.approx(np.mean(away), rel=1e-6)
    assert found["sway_density_time"] == pytest.approx((peaks[-1] - peaks[0]) / RATE / (len(peaks) - 1), rel=1e-9)
    with pytest.raises(InputError, match="radius = 0"):
        sway_density(TIMES, *SWAY, 0.0)


LAG = np.arange(1, 1001) / 100.0


def two_lines(knee, wave=0.0):
    """A curve of two lines that cross at a lag, and a slow wave over long lags, as of a single record."""
    square = 20e-6 * np.minimum(LAG, knee) + 2e-6 * np.maximum(LAG - knee, 0.0)
    square += wave * np.where(LAG > 3.0, np.sin(0.6 * (LAG - 3.0)), 0.0)
    return diffusion_measures(pd.DataFrame({"lag": LAG, **dict.fromkeys(("plane", "ap", "ml"), square)})), square


def left_by_lines(square, k, weight):
    """The weighted squares that two lines leave, of which the first ends at lag number k."""
    left = 0.0
    for part in (slice(None, k + 1), slice(k + 1, None)):
        line = np.polyfit(LAG[part], square[part], 1, w=np.sqrt(weight[part]))
        left += (weight[part] * (square[part] - np.polyval(line, LAG[part])) ** 2).sum()
    return left


def test_diffusion_curves_part_where_both_lines_fit_best_within_bounds():
    found, square = two_lines(1.0, 2e-5)
    best = min(range(29, 250), key=lambda k: left_by_lines(square, k, 1.0 / LAG))
    assert found["parting"] == LAG[best]
    assert PARTING[0] < found["critical_time"] < PARTING[1]
    anywhere = min(range(29, 900, 10), key=lambda k: left_by_lines(square, k, np.ones(1000)))
    assert LAG[anywhere] > 3.5  # without weights and bounds it would be the long lags that decide


@pytest.mark.parametrize("knee", [0.1, 5.0])
def test_a_critical_point_beyond_the_bounds_is_none(knee):
    found, _ = two_lines(knee)
    assert found["parting"] in PARTING
    assert not [name for name in found if name.startswith("critical")]
    assert two_lines(1.5)[0]["critical_time"] == pytest.approx(1.5)


def test_a_plate_that_was_not_zeroed_changes_no_rambling():
    force = -400.0 * (AWAY[0] - signal.savgol_filter(AWAY[0], 151, 2))
    found, shifted = (rambling_trembling(TIMES, SWAY[0], force + offset) for offset in (0.0, -40.0))
    assert (force - 40.0 < 0.0).all()
    np.testing.assert_allclose(shifted, found, rtol=1e-6, atol=1e-9)
