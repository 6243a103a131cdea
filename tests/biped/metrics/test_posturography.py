"""Measures of posturography for sines, circles and noise with known values, and for runs by axis."""

import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import signal

from biped import InputError
from biped.metrics import diffusion_measures, mean_power_frequency, power_spectrum, sway_density, sway_measures
from biped.metrics.posturography.diffusion import PARTING
from biped.metrics.posturography.sway import BAND, TAPERS
from tests.refusals import refuses

from .rows import Rows, block, on_sole, sole

RATE, DURATION = 100.0, 60.0
TIMES = np.arange(int(RATE * DURATION)) / RATE
#: [Hz] how far to both sides the tapers spread what is at one frequency.
SPREAD = (TAPERS + 1) / (2.0 * DURATION)
#: [Hz] between two frequencies of the spectrum.
BIN = 1.0 / DURATION


def sine(amplitude, frequency, phase=0.0):
    return amplitude * np.sin(2.0 * math.pi * frequency * TIMES + phase)


def test_a_sine_along_one_axis():
    """Its path is 4 A a cycle, up to what its chords cut off of its crests: at most (π f / rate)² / 2 of it."""
    amplitude, frequency = 0.004, 0.5
    found = sway_measures(TIMES, sine(amplitude, frequency), 0.0 * TIMES)
    short = (math.pi * frequency / RATE) ** 2 / 2.0 + 1.0 / (RATE * DURATION)  # and one step less than whole cycles
    assert found["mean_velocity_ap"] == pytest.approx(4.0 * amplitude * frequency, rel=short)
    assert found["path_length_ap"] == pytest.approx(4.0 * amplitude * frequency * DURATION, rel=short)
    assert found["rms_distance_ap"] == pytest.approx(amplitude / math.sqrt(2.0), rel=1e-12)
    coarse = (math.pi * frequency / RATE) ** 2  # of the trapezoidal rule between zeros
    assert found["mean_distance_ap"] == pytest.approx(2.0 * amplitude / math.pi, rel=coarse)
    assert found["range_ap"] == pytest.approx(2.0 * amplitude, rel=1e-12)
    expected = frequency * math.pi / (2.0 * math.sqrt(2.0))
    assert found["mean_frequency_ap"] == pytest.approx(expected, rel=short + coarse)
    assert found["power_frequency_50_ap"] == pytest.approx(frequency, abs=BIN)  # the tapers spread it evenly
    assert frequency < found["power_frequency_95_ap"] < frequency + SPREAD + BIN
    for name in ("mean_velocity", "path_length", "rms_distance", "mean_distance", "range"):
        assert found[f"{name}_ml"] == 0.0
        assert found[name] == pytest.approx(found[f"{name}_ap"], rel=1e-12)
    assert found["area"] == 0.0
    assert not {"mean_frequency_ml", "power_frequency_50_ml"} & set(found)  # of what does not move


def test_a_circle():
    """Its polygon is shorter by a part of (π / points a turn)² / 6."""
    radius, frequency = 0.01, 0.5
    found = sway_measures(TIMES, sine(radius, frequency), 0.02 + sine(radius, frequency, math.pi / 2.0))
    short = (math.pi * frequency / RATE) ** 2 / 6.0
    assert found["mean_velocity"] == pytest.approx(2.0 * math.pi * radius * frequency, rel=1.01 * short)
    assert found["mean_frequency"] == pytest.approx(frequency, rel=1.01 * short)
    assert found["mean_distance"] == pytest.approx(radius, rel=1e-12)
    assert found["rms_distance"] == pytest.approx(radius, rel=1e-12)
    assert found["range"] == pytest.approx(2.0 * radius, rel=1e-12)
    n = len(TIMES)
    assert found["area"] == pytest.approx(math.pi * -2.0 * math.log(0.05) * radius**2 / 2.0 * n / (n - 1), rel=1e-9)


def test_the_range_in_the_plane_is_of_two_points_that_were_there():
    rng = np.random.default_rng(3)
    ap, ml = rng.normal(size=(2, 200))
    apart = np.hypot(ap[:, None] - ap, ml[:, None] - ml)
    assert sway_measures(np.arange(200.0), ap, ml)["range"] == pytest.approx(apart.max(), rel=1e-12)


def test_what_is_of_the_plane_does_not_ask_for_axes():
    rng = np.random.default_rng(4)
    ap, ml = np.cumsum(rng.normal(size=(2, len(TIMES))), axis=1)
    c, s = math.cos(0.7), math.sin(0.7)
    found, turned = sway_measures(TIMES, ap, ml), sway_measures(TIMES, c * ap - s * ml, s * ap + c * ml)
    swapped = sway_measures(TIMES, ml, ap)
    of_plane = [name for name in found if not name.endswith(("_ap", "_ml"))]
    assert len(of_plane) == 16
    either = [sign * found["principal_direction"] + math.degrees(0.7) for sign in (-1.0, 1.0)]
    folded = [abs((angle + 90.0) % 180.0 - 90.0) for angle in either]  # an axis has no sense, and counts to both sides
    assert min(abs(turned["principal_direction"] - angle) for angle in folded) < 1e-9
    for name in set(of_plane) - {"principal_direction"}:
        assert turned[name] == pytest.approx(found[name], rel=1e-9), name
    for name in set(found) - set(of_plane):
        assert swapped[f"{name[:-2]}{'ml' if name.endswith('ap') else 'ap'}"] == found[name]


def cumulated(density, share):
    """Return the frequency below which a density has a share of its power in the band, by a sum on a fine grid."""
    grid = np.linspace(*BAND, 100001)
    power = np.cumsum(density(grid))
    return grid[np.searchsorted(power, share * power[-1])]


@pytest.mark.parametrize("corner", [0.3, math.inf], ids=["red", "white"])
def test_noise_of_a_known_spectrum(corner):
    """White noise, and such as went through a low-pass of first order, whose density falls as 1 / (1 + (f / corner)²).

    The share of the power that is below a frequency scatters by √(p (1 − p) / N_e): N_e = (∫ S)² / ∫ S² T frequencies
    are independent.
    """
    rate, duration = 50.0, 1200.0
    times = np.arange(int(rate * duration)) / rate
    white = np.random.default_rng(5).normal(size=(2, len(times)))
    keep = 0.0 if math.isinf(corner) else math.exp(-2.0 * math.pi * corner / rate)
    noise = white.copy()
    for k in range(1, len(times)):
        noise[:, k] = keep * noise[:, k - 1] + white[:, k]

    def density(frequency):  # of the sampled process, exactly
        return 1.0 / (1.0 - 2.0 * keep * np.cos(2.0 * math.pi * frequency / rate) + keep**2)

    grid = np.linspace(*BAND, 100001)
    total, squares = density(grid).sum() * (grid[1] - grid[0]), (density(grid) ** 2).sum() * (grid[1] - grid[0])
    independent = total**2 / squares * duration
    found = sway_measures(times, *noise)
    for axis in ("ap", "ml"):
        for percent in (50, 95):
            share = percent / 100.0
            scatter = 4.0 * math.sqrt(share * (1.0 - share) / independent)
            low, high = cumulated(density, share - scatter), cumulated(density, min(share + scatter, 1.0 - 1e-9))
            assert low <= found[f"power_frequency_{percent}_{axis}"] <= high


def test_the_spectrum_has_the_variance():
    """The tapers are orthonormal: the density integrates to the variance of white noise, and to A²/2 for a sine."""
    frequency, density = power_spectrum(TIMES, sine(0.3, 7.0))
    assert frequency[-1] == RATE / 2.0
    near = np.abs(frequency - 7.0) < 4.0 * SPREAD
    assert density[near].sum() * BIN == pytest.approx(0.3**2 / 2.0, rel=0.01)
    white = np.random.default_rng(6).normal(size=len(TIMES))
    _, density = power_spectrum(TIMES, white)
    # The sum is the mean of the squares by the tapers' weights, whose own squares have a sum of at most 1.5 / n.
    assert density.sum() * BIN == pytest.approx(1.0, abs=4.0 * math.sqrt(2.0 * 1.5 / len(TIMES)))


def test_a_filter_takes_what_is_fast_and_shifts_nothing():
    slow, fast = sine(0.004, 0.4), sine(0.001, 20.0)
    raw, filtered = (sway_measures(TIMES, slow + fast, slow, low_pass) for low_pass in (None, 5.0))
    assert raw["mean_velocity_ap"] > 5.0 * raw["mean_velocity_ml"]
    assert filtered["mean_velocity_ap"] == pytest.approx(filtered["mean_velocity_ml"], rel=0.01)
    # Twice the second order: gain 1 / (1 + (f / 5)⁴), up to the warping of what is sampled, and the ends.
    assert filtered["rms_distance_ml"] == pytest.approx(0.004 / math.sqrt(2.0) / (1.0 + (0.4 / 5.0) ** 4), rel=1e-3)


def test_a_short_record_or_one_with_gaps_has_no_power_frequencies():
    ap, ml = sine(0.004, 0.5), sine(0.004, 0.5, 1.0)
    short = TIMES < 19.0
    assert "power_frequency_50" not in sway_measures(TIMES[short], ap[short], ml[short])
    gap = np.where((TIMES > 30.0) & (TIMES < 31.0), math.nan, ap)
    found = sway_measures(TIMES, gap, ml)
    assert "power_frequency_50" not in found
    assert found["mean_velocity_ap"] == pytest.approx(0.008, rel=0.01)
    late = np.where(TIMES < 1.0, math.nan, ap)  # such as before the first force
    assert sway_measures(TIMES, late, ml)["power_frequency_50_ap"] == pytest.approx(0.5, abs=1.0 / 59.0)
    assert sway_measures([0.0, 1.0], [0.0, 1.0], [0.0, 1.0]) == {}


def test_round_off_has_no_frequency():
    """A person stands still 4 cm from the origin, in double precision, with lateral sway."""
    rng = np.random.default_rng(7)
    still = sway_measures(TIMES, 0.04 + 1e-17 * rng.integers(-3, 4, len(TIMES)), 1e-18 * rng.normal(size=len(TIMES)))
    assert not [name for name in still if "frequency" in name]
    moving = sway_measures(TIMES, 0.04 + sine(1e-6, 0.5), 1e-18 * rng.normal(size=len(TIMES)))
    assert {"mean_frequency_ap", "power_frequency_95_ap", "mean_frequency"} <= set(moving)
    assert not [name for name in moving if "frequency" in name and name.endswith("_ml")]


@refuses(
    (([0.0, 1.0], [0.0], [0.0, 1.0]), "of equal length"),
    (([0.0, 0.0], [0.0, 1.0], [0.0, 1.0]), "must ascend"),
    (([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], 2.0), "between 0 and 0.5 Hz"),
    (([0.0, 1.0], [0.0, math.nan], [0.0, 1.0], 0.2), "no gaps"),
    (([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], 0.2), "too few"),
)
def test_what_cannot_be_measured_is_refused(arguments):
    sway_measures(*arguments)


@pytest.mark.jit_off
def test_a_runs_metrics_are_these_of_its_centre_of_pressure():
    times = np.arange(2401) / 100.0
    rows = on_sole(times)
    ap, ml = 0.03 * np.sin(2.0 * np.pi * 0.4 * times), 0.01 * np.cos(2.0 * np.pi * 0.9 * times)
    rows.press(np.column_stack([ap, ml]))
    measured = rows.measure()
    for name, value in sway_measures(times, ap, ml).items():
        assert measured[f"cop_{name}"] == pytest.approx(value, rel=1e-9, abs=1e-15), name
    assert measured["cop_power_frequency_50_ml"] == pytest.approx(0.9, abs=1.0 / 24.0)


@pytest.mark.jit_off
def test_a_model_that_looks_sideways_has_its_own_axes():
    times = np.linspace(0.0, 1.0, 101)
    model = block()
    object.__setattr__(model, "facing", (0.0, 1.0, 0.0))
    rows = Rows(model, times)
    rows.stand(sole())
    rows.press(np.column_stack([0.03 * np.sin(times), 0.0 * times]))
    measured = rows.measure()
    assert measured["cop_range_ml"] == pytest.approx(0.03 * math.sin(1.0))
    assert measured["cop_range_ap"] == pytest.approx(0.0, abs=1e-15)


SAMPLED = 50.0
SAMPLE_TIMES = np.arange(1500) / SAMPLED
#: AP and ML [m] about 8 cm behind the origin: drawn back within 0.5 s, and smooth as people's.
SWAY = signal.lfilter([1.0], np.poly([0.96, 0.8]), np.random.default_rng(21).normal(0.0, 2e-4, (2, 1500)))
SWAY = np.array([[1.0, 0.3], [0.0, 0.6]]) @ SWAY - np.array([[0.08], [0.0]])
FOUND = sway_measures(SAMPLE_TIMES, *SWAY)
AWAY = SWAY - SWAY.mean(axis=1, keepdims=True)
SIGNALS = {"": np.hypot(*AWAY), "_ap": AWAY[0], "_ml": AWAY[1]}


def test_the_area_per_second_is_that_of_triangles_by_their_sides():
    """Heron's formula loses digits of thin triangles: 1e-9 is the square root of what is rounded, and more."""
    area = 0.0
    for k in range(len(SAMPLE_TIMES) - 1):
        sides = [math.hypot(*AWAY[:, k]), math.hypot(*AWAY[:, k + 1]), math.hypot(*(AWAY[:, k + 1] - AWAY[:, k]))]
        half = sum(sides) / 2.0
        area += math.sqrt(max(half * math.prod(half - side for side in sides), 0.0))
    assert FOUND["sway_area_rate"] == pytest.approx(area / (SAMPLE_TIMES[-1] - SAMPLE_TIMES[0]), rel=1e-6)
    turn = 2.0 * math.pi * 0.5 * SAMPLE_TIMES  # 15 turns less one sample
    circle = sway_measures(SAMPLE_TIMES, 0.01 * np.cos(turn), 0.01 * np.sin(turn))
    assert circle["sway_area_rate"] == pytest.approx(0.5 * math.pi * 0.01**2, rel=1e-2)


def test_the_principal_direction_is_that_of_the_greatest_eigenvalue():
    values, vectors = np.linalg.eigh(np.cov(SWAY))
    main = np.abs(vectors[:, np.argmax(values)])
    assert FOUND["principal_direction"] == pytest.approx(math.degrees(math.acos(main[0])), rel=1e-9)
    for degrees in (0.0, 20.0, 70.0, 90.0):
        line = AWAY[0] * np.cos(np.radians(degrees)), -AWAY[0] * np.sin(np.radians(degrees))
        assert sway_measures(SAMPLE_TIMES, *line)["principal_direction"] == pytest.approx(degrees, abs=1e-6)


def test_zero_crossings_count_turns_of_the_velocity():
    for axis, values in zip(("ap", "ml"), SWAY, strict=True):
        turns = [k for k in range(1, 1499) if (values[k] - values[k - 1]) * (values[k + 1] - values[k]) < 0.0]
        assert FOUND[f"zero_crossings_{axis}"] == pytest.approx(
            len(turns) / (SAMPLE_TIMES[-1] - SAMPLE_TIMES[0]), rel=1e-12
        )
    steps = np.repeat(np.sin(2.0 * math.pi * 0.5 * SAMPLE_TIMES + 0.2)[::10], 10)  # a sensor that repeats its values
    assert sway_measures(SAMPLE_TIMES, steps, 0.0 * steps)["zero_crossings_ap"] == pytest.approx(1.0, abs=1.0 / 29.0)


def spectrum(values):
    """Return lines and powers in the band: the mean of SciPy's periodograms with eight sine windows."""
    n = len(values)
    windows = [np.sin(math.pi * k * np.arange(1, n + 1) / (n + 1)) for k in range(1, 9)]
    found = [signal.periodogram(values, SAMPLED, window, detrend="constant") for window in windows]
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
    found = sway_measures(SAMPLE_TIMES, np.sin(2.0 * math.pi * frequency * SAMPLE_TIMES), np.zeros(1500))
    assert found["power_frequency_50_ap"] == pytest.approx(frequency, abs=0.1 / 30.0)


def test_the_mean_power_frequency_is_that_of_three_windows_by_hand():
    found, sums = mean_power_frequency(SAMPLE_TIMES, *SWAY), {}
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
        mean_power_frequency(SAMPLE_TIMES, SWAY[0] * math.nan, SWAY[1])


def test_sway_density_is_counted_sample_by_sample():
    stayed, radius = [], 0.002
    for k in range(len(SAMPLE_TIMES)):
        first = last = k
        while last + 1 < len(SAMPLE_TIMES) and math.dist(SWAY[:, last + 1], SWAY[:, k]) <= radius:
            last += 1
        while first > 0 and math.dist(SWAY[:, first - 1], SWAY[:, k]) <= radius:
            first -= 1
        stayed.append((last - first) / SAMPLED)
    curve = signal.filtfilt(*signal.butter(2, 2.5, fs=SAMPLED), stayed, padlen=9)
    peaks = [k for k in range(1, len(curve) - 1) if curve[k - 1] < curve[k] > curve[k + 1]]
    assert len(peaks) > 10
    found = sway_density(SAMPLE_TIMES, *SWAY, radius)
    assert found["sway_density_peak"] == pytest.approx(np.mean([curve[k] for k in peaks]), rel=1e-6)
    away = [math.dist(SWAY[:, a], SWAY[:, b]) for a, b in pairwise(peaks)]
    assert found["sway_density_distance"] == pytest.approx(np.mean(away), rel=1e-6)
    assert found["sway_density_time"] == pytest.approx((peaks[-1] - peaks[0]) / SAMPLED / (len(peaks) - 1), rel=1e-9)
    with pytest.raises(InputError, match="radius = 0"):
        sway_density(SAMPLE_TIMES, *SWAY, 0.0)


LAG = np.arange(1, 1001) / 100.0


def two_lines(knee, wave=0.0):
    """Return a curve of two lines that cross at a lag, with a slow wave at long lags, as in a single record."""
    square = 20e-6 * np.minimum(LAG, knee) + 2e-6 * np.maximum(LAG - knee, 0.0)
    square += wave * np.where(LAG > 3.0, np.sin(0.6 * (LAG - 3.0)), 0.0)
    return diffusion_measures(pd.DataFrame({"lag": LAG, **dict.fromkeys(("plane", "ap", "ml"), square)})), square


def left_by_lines(square, k, weight):
    """Return the weighted squared residuals of two lines, of which the first ends at lag number k."""
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
