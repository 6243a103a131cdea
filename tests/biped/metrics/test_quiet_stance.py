"""Stabilogram diffusion, sample entropy and fluctuation analysis of signals of which they are known.

Random signals are drawn many times from a fixed seed; what is the mean of a draw must be within Z standard errors of
what theory says, the error being that of the draws' mean, or the jackknife's where the estimate is of all together.
"""

import math
import time as clock

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import toeplitz

from biped import InputError, metrics
from tests.refusals import refuses

RATE = 100.0
STEP = 1.0 / RATE
#: Standard errors: of a normal estimate one in 16,000 is beyond, and no test makes more than some sixty comparisons.
Z = 4.0


def brownian(rng, diffusion, n):
    return np.cumsum(rng.normal(0.0, math.sqrt(2.0 * diffusion * STEP), n))


def ornstein_uhlenbeck(rng, deviation, rate, n):
    from scipy.signal import lfilter

    keep = math.exp(-rate * STEP)
    noise = rng.normal(0.0, deviation * math.sqrt(1.0 - keep**2), n)
    noise[0] = rng.normal(0.0, deviation)
    return lfilter([1.0], [1.0, -keep], noise)


def jackknifed(estimate, samples):
    count = len(samples)
    total = sum(samples)
    without = np.array([estimate((total - sample) / (count - 1)) for sample in samples])
    error = math.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    return estimate(total / count), error


@pytest.fixture(scope="module")
def walks():
    """Return curves of random walks with D of 20 mm²/s forward and 5 mm²/s laterally."""
    rng = np.random.default_rng(11)
    times = STEP * np.arange(3000)
    return [
        metrics.diffusion_curve(times, brownian(rng, 20e-6, 3000), brownian(rng, 5e-6, 3000), 4.0) for _ in range(40)
    ]


@pytest.mark.parametrize(("suffix", "diffusion"), [("_ap", 20e-6), ("_ml", 5e-6), ("", 25e-6)])
def test_a_random_walk_spreads_evenly(walks, suffix, diffusion):
    regions = ((0.0, 0.5), (1.0, 4.0))
    for term in ("short", "long"):
        for name, expected in ((f"{term}_diffusion{suffix}", diffusion), (f"{term}_exponent{suffix}", 0.5)):
            found, error = jackknifed(lambda curve, name=name: metrics.diffusion_measures(curve, regions)[name], walks)
            assert abs(found - expected) < Z * error, name
            assert error < 0.15 * expected, name  # so that the bound says something


def test_what_is_drawn_back_spreads_no_farther():
    """For an Ornstein-Uhlenbeck process ⟨Δx²⟩ is 2 σ² (1 − exp(−Δt / τ))."""
    rng = np.random.default_rng(12)
    times, deviation, rate = STEP * np.arange(4000), 0.004, 2.0
    curves = [
        metrics.diffusion_curve(times, *(ornstein_uhlenbeck(rng, deviation, rate, 4000) for _ in "xy"), 5.0)
        for _ in range(20)
    ]
    for axis in ("ap", "ml"):
        all_of_axis = np.array([curve[axis] for curve in curves])[:, ::20]  # lags in steps of 0.2 s
        lag = curves[0]["lag"].to_numpy()[::20]
        error = all_of_axis.std(axis=0, ddof=1) / math.sqrt(len(curves))
        expected = 2.0 * deviation**2 * -np.expm1(-rate * lag)
        assert (np.abs(all_of_axis.mean(axis=0) - expected) < Z * error).all()
    mean = sum(curves) / len(curves)
    found = metrics.diffusion_measures(mean)
    assert found["short_diffusion"] > 10.0 * abs(found["long_diffusion"])
    assert 0.5 > found["short_exponent"] > found["long_exponent"]
    assert 0.0 < found["critical_time"] < 3.0 / rate
    assert np.allclose(mean["plane"], mean["ap"] + mean["ml"])


def test_a_sine_comes_back():
    """⟨Δx²⟩ is 2 A² sin²(ω Δt / 2), but for a mean cosine over no whole cycle: at most 1 / (n sin(ω dt))."""
    amplitude, omega, n = 0.003, 2.0 * math.pi * 0.5, 6001
    times = STEP * np.arange(n)
    curve = metrics.diffusion_curve(times, amplitude * np.sin(omega * times + 0.3), 0.0 * times)
    expected = 2.0 * amplitude**2 * np.sin(omega * curve["lag"] / 2.0) ** 2
    beside = 1.0 / ((n - np.arange(1, len(curve) + 1)) * math.sin(omega * STEP))
    assert (np.abs(curve["ap"] - expected) <= expected * beside + 1e-15).all()
    assert (curve["ml"] == 0.0).all()
    assert "short_exponent_ml" not in metrics.diffusion_measures(curve)
    assert metrics.diffusion_measures(curve)["short_diffusion_ml"] == 0.0


def test_two_lines_are_found():
    lag = STEP * np.arange(1, 501)
    square = np.where(lag < 1.2, 3e-6 + 40e-6 * lag, 3e-6 + 40e-6 * 1.2 + 4e-6 * (lag - 1.2))
    found = metrics.diffusion_measures(pd.DataFrame({"lag": lag, "plane": square, "ap": square, "ml": 4e-6 * lag}))
    assert found["short_diffusion"] == pytest.approx(20e-6)
    assert found["long_diffusion"] == pytest.approx(2e-6)
    assert found["critical_time"] == pytest.approx(1.2)
    assert found["critical_distance"] == pytest.approx(51e-6)
    assert found["short_exponent_ml"] == pytest.approx(0.5)
    power = pd.DataFrame({"lag": lag, **dict.fromkeys(("plane", "ap", "ml"), 1e-5 * lag**1.4)})
    assert metrics.diffusion_measures(power)["long_exponent"] == pytest.approx(0.7)


def test_gaps_leave_out_their_pairs():
    rng = np.random.default_rng(13)
    times, ap = STEP * np.arange(300), rng.normal(size=300)
    holed = ap.copy()
    holed[[20, 21, 150]] = math.nan
    curve = metrics.diffusion_curve(times, holed, ap, 1.0)
    pairs = [(holed[i + 7] - holed[i]) ** 2 for i in range(293) if np.isfinite(holed[i] + holed[i + 7])]
    assert curve["ap"][6] == pytest.approx(np.mean(pairs), rel=1e-12)


@pytest.mark.parametrize(
    ("draw", "share"),
    [
        # X and Y are within r of each other: uniform on [0, 1], and normal; r is 0.2 standard deviations.
        (lambda rng, n: rng.random(n), 2.0 * (0.2 / math.sqrt(12.0)) - 0.2**2 / 12.0),
        (lambda rng, n: rng.normal(size=n), math.erf(0.1)),
    ],
    ids=["uniform", "normal"],
)
def test_the_sample_entropy_of_white_noise(draw, share):
    rng = np.random.default_rng(14)
    found = np.array([metrics.sample_entropy(draw(rng, 2000)) for _ in range(20)])
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean() + math.log(share)) < Z * error
    assert error < 0.01


def by_definition(values, m, r):
    count, limit = len(values) - m, r * np.std(values)

    def alike(length):
        templates = np.array([values[i : i + length] for i in range(count)])
        apart = np.abs(templates[:, None] - templates).max(axis=-1)
        return (apart <= limit).sum() - count

    return math.log(alike(m) / alike(m + 1))


@pytest.mark.parametrize("m", [1, 2, 3])
def test_sample_entropy_counts_all_pairs(m):
    walk = np.cumsum(np.random.default_rng(15).normal(size=300))
    assert metrics.sample_entropy(walk, m, 0.3) == pytest.approx(by_definition(walk, m, 0.3), rel=1e-12)
    assert metrics.sample_entropy(walk, m, 0.3, increments=True) == pytest.approx(
        by_definition(np.diff(walk), m, 0.3), rel=1e-12
    )
    assert metrics.sample_entropy(1e3 * walk - 7.0, m, 0.3) == pytest.approx(metrics.sample_entropy(walk, m, 0.3))


def test_what_repeats_itself_has_no_entropy():
    cycle = [0.0, 3.0, 1.0, 7.0, 2.0, 5.0, -4.0, 9.0]
    assert metrics.sample_entropy(cycle * 40, r=0.01) == pytest.approx(0.0, abs=1e-12)


def expected_fluctuation(covariance):
    """Return the root mean square residual of a line through a window's sums, from the samples' covariance."""
    n = len(covariance)
    profile = np.cumsum(np.cumsum(covariance, axis=0), axis=1)
    line = np.linspace(-1.0, 1.0, n)
    basis = np.column_stack([np.full(n, 1.0 / math.sqrt(n)), line / np.linalg.norm(line)])
    return math.sqrt((np.trace(profile) - np.trace(basis.T @ profile @ basis)) / n)


def white(rng, n):
    return rng.normal(size=n)


def pink(rng, n):
    """Return a cycle of n samples with a density of exactly 1 / f."""
    half = np.fft.rfft(rng.normal(size=n))
    half[0], half[1:] = 0.0, half[1:] / np.sqrt(np.arange(1, len(half)))
    return np.fft.irfft(half, n)


def pink_covariance(n, size):
    power = np.zeros(n // 2 + 1)
    power[1:] = 1.0 / np.arange(1, len(power))
    return toeplitz(np.fft.irfft(power, n)[:size])


NOISES = {
    "white": (white, lambda _, size: np.eye(size), 0.5),
    "pink": (pink, pink_covariance, 1.0),
    # What a window begins with is a slope of its sums, which the line takes.
    "walk": (
        lambda rng, n: np.cumsum(rng.normal(size=n)),
        lambda _, size: np.minimum.outer(*2 * [np.arange(size)]) + 0.0,
        1.5,
    ),
}


@pytest.mark.parametrize("noise", NOISES)
def test_fluctuations_of_noise_are_those_of_its_covariance(noise):
    """And their slope is, up to what a line takes of short windows, 0.5, 1 and 1.5."""
    draw, covariance, exponent = NOISES[noise]
    rng, n, windows = np.random.default_rng(16), 4096, np.unique(np.geomspace(10, 400, 12).round())
    squares = [(metrics.detrended_fluctuation(draw(rng, n), windows)["fluctuation"] ** 2).to_numpy() for _ in range(40)]
    expected = np.array([expected_fluctuation(covariance(n, int(size))) for size in windows])
    error = np.std(squares, axis=0, ddof=1) / math.sqrt(len(squares))
    assert (np.abs(np.mean(squares, axis=0) - expected**2) < Z * error).all()

    def slope(mean_square):
        return np.polyfit(np.log(windows), np.log(mean_square) / 2.0, 1)[0]

    found, scatter = jackknifed(slope, squares)
    assert abs(found - slope(expected**2)) < Z * scatter
    assert abs(slope(expected**2) - exponent) < 0.05


def test_times_in_whole_milliseconds_are_even_unless_one_is_left_out():
    """At 120 Hz, in steps of 8 and 9; the lags are of the mean step, off by a digit over all of them at most."""
    sway = np.random.default_rng(19).normal(size=(2, 600))
    times = np.round(np.arange(600) / 120.0, 3)
    found, even = (metrics.diffusion_curve(each, *sway, 0.995) for each in (times, np.arange(600) / 120.0))
    np.testing.assert_allclose(found["lag"], even["lag"], rtol=1e-3 / times[-1])
    np.testing.assert_array_equal(found["plane"], even["plane"])
    hundredths = np.delete(np.arange(601) / 100.0, 300)
    with pytest.raises(InputError, match="even steps"):
        metrics.diffusion_curve(hundredths, *sway)


def test_of_white_noise_the_fluctuation_is_in_closed_form():
    for n in (10, 50, 400):
        assert expected_fluctuation(np.eye(n)) ** 2 == pytest.approx((n**2 - 4) / (15.0 * n), rel=1e-9)


def test_an_exponent_is_the_slope_of_its_table():
    noise = white(np.random.default_rng(17), 3000)
    table = metrics.detrended_fluctuation(noise)
    assert (table["window"].iloc[0], table["window"].iloc[-1]) == (10, 300)
    slope = np.polyfit(np.log(table["window"]), np.log(table["fluctuation"]), 1)[0]
    assert metrics.fluctuation_exponent(7.0 - 3.0 * noise) == pytest.approx(slope)


def test_a_minute_is_measured_at_once():
    """A minute at 100 Hz: each in less than a second of the processor."""
    rng = np.random.default_rng(18)
    times, ap, ml = STEP * np.arange(6000), *(brownian(rng, 1e-5, 6000) for _ in "xy")
    for measure in (
        lambda: metrics.diffusion_measures(metrics.diffusion_curve(times, ap, ml)),
        lambda: metrics.sample_entropy(ap),
        lambda: metrics.fluctuation_exponent(ap),
    ):
        begin = clock.process_time()
        measure()
        assert clock.process_time() - begin < 1.0


RAMP = np.arange(100.0)


@refuses(
    (lambda: metrics.diffusion_curve(RAMP, RAMP, RAMP, 60.0), "from 3 s, three samples, to 49.5 s"),
    (lambda: metrics.diffusion_curve(RAMP**2, RAMP, RAMP), "even steps"),
    (lambda: metrics.diffusion_curve([], [], []), "even steps"),
    (lambda: metrics.diffusion_curve(RAMP, RAMP * math.nan, RAMP), "too many gaps"),
    (lambda: metrics.diffusion_measures(metrics.diffusion_curve(RAMP, RAMP, RAMP), ((0.0, 2.0), (4.0, 9.0))),
     "three or more of the lags"),
    (lambda: metrics.diffusion_measures(metrics.diffusion_curve(RAMP, RAMP, RAMP, 4.0)), "too few"),
    (lambda: metrics.sample_entropy([1.0, math.nan, 2.0, 3.0]), "without gaps"),
    (lambda: metrics.sample_entropy(RAMP, m=0), "m must be 1 or more"),
    (lambda: metrics.sample_entropy(RAMP, increments=True), "is constant"),
    (lambda: metrics.sample_entropy(RAMP[:9] ** 2, r=0.01), "r above 0.01"),
    (lambda: metrics.detrended_fluctuation(RAMP), "give 200 or more"),
    (lambda: metrics.detrended_fluctuation(RAMP, [2]), "from 3 to"),
    (lambda: metrics.detrended_fluctuation(0.0 * RAMP, [5]), "is constant"),
    (lambda: metrics.fluctuation_exponent(RAMP, [5]), "two or more sizes"),
)  # fmt: skip
def test_what_cannot_be_measured_is_refused(call):
    call()
