"""Frequency responses of systems with a closed form, remnants of noise with a known spectrum, and coverage."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import signal, stats

from biped import InputError, Signal
from biped.identification import Spectra, cycle_spectra, frequency_response, response_of
from tests.refusals import refuses

PERIOD, RATE = 20.0, 50.0
FREQUENCIES = np.array([1, 3, 7, 13, 23]) / PERIOD
#: Gain 4 and a resonance at 0.4 Hz.
SYSTEM = signal.TransferFunction([4.0 * 6.3], [1.0, 1.5, 6.3])


def times(cycles, rate=RATE):
    return np.arange(round(cycles * PERIOD * rate)) / rate


def exact(frequencies, system=SYSTEM):
    return system.freqresp(2.0 * math.pi * np.asarray(frequencies))[1]


def sines(t, gains=1.0, begin=0.0):
    gains = np.broadcast_to(gains, FREQUENCIES.shape)
    phases = np.random.default_rng(3).uniform(0.0, 2.0 * math.pi, len(FREQUENCIES))
    turned = np.exp(1j * (2.0 * math.pi * np.outer(t - begin, FREQUENCIES) + phases))
    return (turned @ (gains / np.arange(1, 6))).real


def test_a_linear_systems_response_is_its_transfer_function():
    t = times(6)
    found = frequency_response(t, sines(t), {"y": sines(t, exact(FREQUENCIES))}, PERIOD, FREQUENCIES)
    assert found.values["y"] == pytest.approx(exact(FREQUENCIES), rel=1e-9)
    assert found.coherence["y"] == pytest.approx(1.0, abs=1e-12)
    assert found.remnant["power"].max() < 1e-20
    assert found.cycles == 5


def test_the_table_has_gain_and_unwrapped_phase_with_units_and_bands_that_hold_them():
    t, units = times(6), {"stimulus": "rad", "y": "N*m"}
    found = frequency_response(t, sines(t), {"y": sines(t, exact(FREQUENCIES))}, PERIOD, FREQUENCIES, units=units)
    frame = found.frame
    assert frame["gain"].to_numpy() == pytest.approx(np.abs(exact(FREQUENCIES)))
    assert frame["phase"].to_numpy() == pytest.approx(np.unwrap(np.angle(exact(FREQUENCIES))))
    for column in ("gain", "phase", "coherence"):
        assert frame[f"{column}_low"].to_numpy() == pytest.approx(frame[column].to_numpy(), abs=1e-9)
        assert frame[f"{column}_high"].to_numpy() == pytest.approx(frame[column].to_numpy(), abs=1e-9)
    assert frame.attrs["units"]["gain_low"] == "N*m/rad"
    assert frame.attrs["units"]["phase"] == "rad"
    assert found.remnant.attrs["units"]["power"] == "N*m**2/Hz"


def test_what_dies_away_in_the_cycles_that_are_skipped_does_not_count():
    t = times(6)
    y = sines(t, exact(FREQUENCIES)) + np.where(t < PERIOD, 3.0 * np.exp(-t), 0.0) + 0.7
    found = frequency_response(t, sines(t), {"y": y}, PERIOD, FREQUENCIES, skip=1)
    assert found.values["y"] == pytest.approx(exact(FREQUENCIES), rel=1e-9)
    kept = frequency_response(t, sines(t), {"y": y}, PERIOD, FREQUENCIES, skip=0)
    assert np.abs(kept.values["y"] / exact(FREQUENCIES) - 1.0).max() > 1e-3


def test_cycles_may_begin_between_samples_and_after_a_pause():
    begin = 1.503
    t = times(5)
    found = frequency_response(
        t, sines(t, begin=begin), {"y": sines(t, exact(FREQUENCIES), begin)}, PERIOD, FREQUENCIES, begin=begin
    )
    assert found.values["y"] == pytest.approx(exact(FREQUENCIES), rel=1e-9)
    assert found.remnant["power"].max() < 1e-20


def test_a_ternary_stimulus_moves_a_low_pass_as_its_transfer_function_says():
    """What is above half the sampling rate is folded down, and is less than the sum that the bound is of.

    Values on a grid of N points of a curve whose slopes are constant between them: its coefficients fall with k², so
    those that are folded onto the k-th are Σ (k/(k + n N))² ≤ (π²/3) (k/N)²/(1 − k/N)² of it, and of what is low-passed
    less.
    """
    low_pass, rate = signal.TransferFunction([1.0], [0.5, 1.0]), 40.0
    stimulus = Signal.ternary(0.05, interval=0.25, stages=4, cycles=4)
    period = stimulus.ends / 4
    t = np.arange(round(stimulus.ends * rate)) / rate
    y = signal.lsim(low_pass, stimulus(t), t, interp=True)[1]
    frequencies = [f for f in stimulus.frequencies if f <= 1.0]
    found = frequency_response(t, stimulus(t), {"y": y}, period, frequencies)
    k = np.array(frequencies) / rate
    folded = math.pi**2 / 3.0 * (k / (1.0 - k)) ** 2
    assert (np.abs(found.values["y"] - exact(frequencies, low_pass)) < 2.0 * folded + 1e-6).all()
    assert folded.max() < 0.01
    assert found.coherence["y"].min() > 1.0 - 1e-9


def test_the_remnant_is_the_noises_spectrum_at_all_frequencies():
    """For first-order noise, the autocovariance gives the expected power of the coefficients over a cycle."""
    kept, n, cycles, trials = 0.9, round(PERIOD * RATE), 11, 20
    t = times(cycles)
    white = np.random.default_rng(5).normal(0.0, 1.0, (trials, len(t)))
    noise = signal.lfilter([math.sqrt(1.0 - kept**2)], [1.0, -kept], white, axis=1)
    found = frequency_response(
        t, sines(t), {"y": sines(t, exact(FREQUENCIES)) + noise}, PERIOD, FREQUENCIES, resamples=0
    )
    lag, frequencies = np.arange(1, n), found.remnant["frequency"].to_numpy()
    turned = np.cos(2.0 * math.pi * np.outer(frequencies, lag) / RATE)
    power = (n + 2.0 * turned @ ((n - lag) * kept**lag)) * 4.0 / n**2  # E |c|²
    ratio = found.remnant["power"].to_numpy() / (0.5 * PERIOD * power)
    # A mean of |c|² of (cycles − 1) · trials cycles has that many pairs of degrees of freedom, less one.
    assert np.abs(ratio - 1.0).max() < 5.0 / math.sqrt((cycles - 1) * trials - 1)
    assert abs(ratio.mean() - 1.0) < 5.0 / math.sqrt(((cycles - 1) * trials - 1) * len(ratio))
    assert found.remnant["excited"].sum() == len(FREQUENCIES)


def made_up(random, cycles, count=400, noise=0.3, of_trials=0.0, trials=1):
    """Return spectra with a gain of 2 at many frequencies, normal noise of each cycle, and common noise of a trial."""

    def normal(*shape):
        return (random.normal(size=shape) + 1j * random.normal(size=shape)) / math.sqrt(2.0)

    frequencies = np.arange(1, count + 1) / PERIOD
    shared = np.repeat(normal(trials, count), cycles // trials, axis=0)
    y = 2.0 + noise * normal(cycles, count) + of_trials * shared
    trial = np.repeat(np.arange(trials), cycles // trials)
    stimulus = np.ones((cycles, count), dtype=complex)
    return Spectra(PERIOD, frequencies, np.ones(count, dtype=bool), stimulus, {"y": y}, trial)


def covered(frame, gain=2.0):
    return (
        ((frame["gain_low"] <= gain) & (gain <= frame["gain_high"])).sum(),
        ((frame["phase_low"] <= 0.0) & (frame["phase_high"] >= 0.0)).sum(),
    )


def binomial(count, units):
    """Between which a count lies but once in a million, of intervals that are those of a normal mean of ``units``.

    A percentile interval of a mean is z times the deviation of the n values about it, with n in place of n − 1.
    """
    z = stats.norm.ppf(0.975)
    likely = 2.0 * stats.t.cdf(z * math.sqrt((units - 1.0) / units), units - 1) - 1.0
    return stats.binom.ppf([5e-7, 1.0 - 5e-7], count, likely)


def test_the_intervals_hold_the_gain_and_the_phase_as_often_as_they_say():
    frame = response_of(made_up(np.random.default_rng(1), 60)).frame
    low, high = binomial(400, 60)
    for count in covered(frame):
        assert low <= count <= high
    assert high < 400


def test_where_trials_differ_they_are_to_be_drawn():
    spectra = made_up(np.random.default_rng(2), 120, noise=0.1, of_trials=0.3, trials=40)
    low, high = binomial(400, 40)
    for count in covered(response_of(spectra, over="trials").frame):
        assert low <= count <= high
    for count in covered(response_of(spectra, over="cycles").frame):
        assert count < low


def test_the_covariance_is_that_of_the_estimates():
    """χ² of two degrees of freedom for each frequency; the two responses share half of their noise."""
    random, cycles = np.random.default_rng(4), 200
    one, other = made_up(random, cycles), made_up(random, cycles)
    both = {"y": one.responses["y"], "z": 0.5 * (one.responses["y"] + other.responses["y"])}
    found = response_of(Spectra(PERIOD, one.frequencies, one.excited, one.stimulus, both, one.trial), resamples=0)
    off = np.stack([found.values[name] - 2.0 for name in ("y", "z")], axis=1)
    squares = np.einsum("kr,krs,ks->k", off.conj(), np.linalg.inv(found.covariance), off).real
    # E = 2, variance 2 of a sum of two |·|² of unit complex normals; the covariance is estimated from 200 cycles.
    assert squares.mean() == pytest.approx(2.0, abs=5.0 * math.sqrt(2.0 / 400) + 2.0 * 3.0 / cycles)
    assert np.mean(found.covariance[:, 0, 1]).real == pytest.approx(0.5 * 0.09 / cycles, rel=0.1)


def test_the_coherence_is_the_part_of_the_power_that_is_linear():
    """Its bias is (1 − γ²)²/n, and its deviation √(2 γ²/n) (1 − γ²) (Bendat and Piersol, Random Data)."""
    cycles, noise = 200, 1.5
    found = response_of(made_up(np.random.default_rng(6), cycles, noise=noise), resamples=0)
    linear = 4.0 / (4.0 + noise**2)
    deviation = math.sqrt(2.0 * linear / cycles) * (1.0 - linear) / math.sqrt(400)
    assert found.coherence["y"].mean() == pytest.approx(linear, abs=5.0 * deviation + (1.0 - linear) ** 2 / cycles)


def test_bands_average_the_spectra_of_neighbouring_frequencies():
    t = times(4)
    whole = {"y": sines(t, exact(FREQUENCIES))}
    found = frequency_response(t, sines(t), whole, PERIOD, FREQUENCIES, per_decade=2)
    # 0.05 | 0.15 | 0.35 | 0.65 and 1.15 Hz: edges are 0.05 · 10^(j/2) = 0.05, 0.158, 0.5, 1.58 Hz
    assert found.frequencies == pytest.approx([(0.05 + 0.15) / 2, 0.35, (0.65 + 1.15) / 2])
    power = (1.0 / np.arange(1, 6)) ** 2
    h = exact(FREQUENCIES)
    wanted = [h[2], (power[3:] @ h[3:]) / power[3:].sum()]
    assert found.values["y"][1:] == pytest.approx(wanted, rel=1e-9)
    assert found.averaged(h) == pytest.approx(found.values["y"], rel=1e-9)
    assert found.coherence["y"][1] == pytest.approx(1.0)
    assert found.coherence["y"][2] < 1.0 - 1e-3  # of two unlike gains


def a_record(**changes):
    t = times(3)
    given = {
        "time": t, "stimulus": sines(t), "responses": {"y": sines(t)}, "period": PERIOD, "frequencies": FREQUENCIES,
    }  # fmt: skip
    return given | changes


@refuses(
    ({"frequencies": [0.06]}, "0.06 Hz: it must be a multiple of 1/period, 0.05 Hz"),
    ({"frequencies": []}, "give at least one frequency"),
    ({"frequencies": [30.0]}, "too slow: 30 Hz needs"),
    ({"period": 0.0}, "period"),
    ({"skip": 3}, "must be more than 3"),
    ({"begin": 10.0, "skip": 2}, "2 whole cycles of 20 s from 10 s"),
    ({"responses": {}}, "give at least one"),
    ({"responses": {"y": np.zeros(7)}}, r"y has shape \(7,\)"),
    ({"responses": {"stimulus": sines(times(3))}}, "named stimulus"),
    ({"responses": {"y": np.where(times(3) == 30.0, np.nan, 0.0)}}, "missing at 30 s"),
    ({"stimulus": np.zeros(3000)}, "is zero at"),
    ({"confidence": 1.5}, "between 0 and 1"),
    ({"over": "trials"}, "only one trial"),
    ({"over": "people"}, "cycles or trials"),
    ({"per_decade": 0.0}, "per_decade"),
)  # fmt: skip
def test_what_makes_no_sense_is_said(changes):
    given = a_record(**changes)
    frequency_response(
        given.pop("time"), given.pop("stimulus"), given.pop("responses"), given.pop("period"),
        given.pop("frequencies"), **given,
    )  # fmt: skip


def test_a_gap_in_a_cycle_is_said():
    t = np.delete(times(3), slice(1500, 1503))
    with pytest.raises(InputError, match=r"no samples between 29\.98 and 30\.06 s"):
        cycle_spectra(t, sines(t), {"y": sines(t)}, PERIOD, FREQUENCIES)


def test_of_a_single_cycle_there_is_the_response_and_nothing_that_is_of_scatter():
    t = times(2)
    found = frequency_response(t, sines(t), {"y": sines(t, exact(FREQUENCIES))}, PERIOD, FREQUENCIES)
    assert found.values["y"] == pytest.approx(exact(FREQUENCIES), rel=1e-9)
    assert found.intervals is None
    assert found.covariance is None
    assert found.remnant is None
    assert list(found.frame.columns) == ["response", "frequency", "gain", "phase", "coherence"]


def test_trials_are_joined_in_one():
    t = times(3)
    both = cycle_spectra(t, sines(t), {"y": np.stack([sines(t), 2.0 * sines(t)])}, PERIOD, FREQUENCIES)
    apart = [cycle_spectra(t, sines(t), {"y": k * sines(t)}, PERIOD, FREQUENCIES) for k in (1.0, 2.0)]
    pd.testing.assert_frame_equal(response_of(Spectra.joined(apart)).frame, response_of(both).frame)
    assert response_of(both).values["y"] == pytest.approx(1.5 + 0j)
    assert list(both.trial) == [0, 0, 1, 1]
