"""Posturography's measures of sines, circles and noise of which they are known, and of runs by axis."""

import math

import numpy as np
import pytest

from biped.metrics import power_spectrum, sway_measures
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
    """The frequency below which is a share of the power of a density within the band, by a sum on a fine grid."""
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
    """The tapers are orthonormal: of white noise the density's integral is its variance, of a sine A² / 2."""
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
    """Of somebody who stands still 4 cm before the origin, in double precision, and of his sway to the side."""
    rng = np.random.default_rng(7)
    still = sway_measures(TIMES, 0.04 + 1e-17 * rng.integers(-3, 4, len(TIMES)), 1e-18 * rng.normal(size=len(TIMES)))
    assert not [name for name in still if "frequency" in name]
    moving = sway_measures(TIMES, 0.04 + sine(1e-6, 0.5), 1e-18 * rng.normal(size=len(TIMES)))
    assert {"mean_frequency_ap", "power_frequency_95_ap", "mean_frequency"} <= set(moving)
    assert not [name for name in moving if "frequency" in name and name.endswith("_ml")]


@refuses(
    (([0.0, 1.0], [0.0], [0.0, 1.0]), "of one length"),
    (([0.0, 0.0], [0.0, 1.0], [0.0, 1.0]), "must grow"),
    (([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], 2.0), "between 0 and 0.5 Hz"),
    (([0.0, 1.0], [0.0, math.nan], [0.0, 1.0], 0.2), "without gaps"),
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
