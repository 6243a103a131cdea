"""Welch's responses against scipy's spectra, responses to several stimuli against matrices, and aperiodic stimuli."""

import numpy as np
import pytest
from scipy import signal

from biped.errors import InputError
from biped.identification import frequency_response, response_of, response_to_several, windowed_spectra
from biped.identification.spectra import cycle_spectra
from tests.refusals import refuses

RATE, WINDOW, HIGHEST = 20.0, 20.0, 1.0
TIME = np.arange(round(600.0 * RATE)) / RATE
ANKLE = signal.TransferFunction([4.0 * 6.3], [1.0, 1.5, 6.3])
HIP = signal.TransferFunction([2.0], [0.5, 1.0])
NOISE = 0.2


def stimuli():
    random, low_pass = np.random.default_rng(0), signal.butter(2, 2.0 / (RATE / 2.0))
    one, other = signal.lfilter(*low_pass, random.normal(size=(2, len(TIME))))
    return one, other + 0.6 * one


def swayed():
    ankle, hip = stimuli()
    noise = NOISE * np.random.default_rng(1).normal(size=len(TIME))
    return signal.lsim(ANKLE, ankle, TIME)[1] + signal.lsim(HIP, hip, TIME)[1] + noise


def spectrum(one, other):
    frequency, found = signal.csd(one, other, RATE, "hann", round(WINDOW * RATE), detrend="constant")
    return found[(frequency > 1.5 / WINDOW) & (frequency < HIGHEST + 0.5 / WINDOW)]


def test_one_stimulus_is_scipys_h1_and_coherence():
    ankle, _ = stimuli()
    found = response_of(windowed_spectra(TIME, ankle, {"y": swayed()}, WINDOW, highest=HIGHEST), resamples=0)
    cross, own, answer = spectrum(ankle, swayed()), spectrum(ankle, ankle).real, spectrum(swayed(), swayed()).real
    np.testing.assert_allclose(found.values["y"], cross / own, rtol=1e-9)
    np.testing.assert_allclose(found.coherence["y"], np.abs(cross) ** 2 / (own * answer), rtol=1e-9)
    np.testing.assert_allclose(found.frequencies, np.arange(2, 21) / WINDOW, rtol=1e-12)
    left = answer * (1.0 - found.coherence["y"]) * found.cycles / (found.cycles - 1)
    np.testing.assert_allclose(found.remnant["power"], left, rtol=1e-9)  # a density, as scipy's


def test_two_stimuli_are_the_matrix_of_spectra_and_the_true_responses():
    """The result equals S_yu S_uu⁻¹ to round-off, and the transfer functions within four deviations and 5 % leakage."""
    ankle, hip = stimuli()
    spectra = windowed_spectra(TIME, ankle, {"y": swayed(), "hip": hip}, WINDOW, highest=HIGHEST)
    found = response_to_several(spectra, "ankle", ["hip"], resamples=200)
    own = np.array([[spectrum(a, b) for b in stimuli()] for a in stimuli()])
    cross = np.array([spectrum(a, swayed()) for a in stimuli()])
    exact = np.linalg.solve(np.moveaxis(own, 2, 0), cross.T[:, :, None])[:, :, 0].T
    for (name, system), values in zip({"y / ankle": ANKLE, "y / hip": HIP}.items(), exact, strict=True):
        np.testing.assert_allclose(found.values[name], values, rtol=1e-8)
        true = system.freqresp(2.0 * np.pi * found.frequencies)[1]
        low, high = found.intervals[name].gain
        assert (abs(found.values[name] - true) < (high - low) + 0.05 * abs(true)).all()
    # partial coherence: what the ankle explains of what the hip alone leaves
    answer, own_hip = spectrum(swayed(), swayed()).real, spectrum(hip, hip).real
    of_hip = abs(cross[1]) ** 2 / (answer * own_hip)
    of_both = (exact.conj() * cross).sum(axis=0).real / answer
    np.testing.assert_allclose(found.coherence["y / ankle"], (of_both - of_hip) / (1.0 - of_hip), rtol=1e-7)
    alone = response_of(windowed_spectra(TIME, ankle, {"y": swayed()}, WINDOW, highest=HIGHEST), resamples=0)
    with_hip = exact[0] + exact[1] * own[0, 1] / own[0, 0]  # one stimulus alone takes the other's part with it
    np.testing.assert_allclose(alone.values["y"], with_hip, rtol=1e-8)
    assert list(found.frame["response"].unique()) == ["y / ankle", "y / hip"]


def sines(period):
    turn = 2.0 * np.pi * TIME / period
    return np.sin(turn) + 0.5 * np.sin(3.0 * turn + 1.0) + 0.3 * np.sin(7.0 * turn + 2.0)


@pytest.mark.parametrize("period", [7.3, 9.9, 19.0, 20.3, 30.0])
def test_a_period_that_is_none_is_refused(period):
    with pytest.raises(InputError, match="differs between cycles: set the stimulus's period"):
        frequency_response(TIME, sines(20.0), {"y": sines(20.0)}, period, np.arange(1, 8) / period)


def test_what_never_repeats_is_sent_to_windows():
    ankle, _ = stimuli()
    with pytest.raises(InputError, match="if it does not repeat, a window"):
        frequency_response(TIME, ankle, {"y": swayed()}, 20.0, np.arange(1, 8) / 20.0)
    spectra = windowed_spectra(TIME, ankle, {"y": swayed(), "hip": 2.0 * ankle}, WINDOW, highest=HIGHEST)
    with pytest.raises(InputError, match="ankle: at 0.1 Hz it is a linear function of the other stimuli"):
        response_to_several(spectra, "ankle", ["hip"])


def test_the_part_that_differs_is_that_of_the_noise():
    """White noise of variance s² contributes 4 s²/n to each of f coefficients; the sines have 1, 0.25 and 0.09."""
    noise, n = 0.5, round(20.0 * RATE)
    measured = sines(20.0) + noise * np.random.default_rng(2).normal(size=len(TIME))
    found = cycle_spectra(TIME, measured, {"y": measured}, 20.0, np.arange(1, 41) / 20.0)
    share = 40 * 4.0 * noise**2 / n / 1.34
    # 29 cycles of 40 complex coefficients: a relative deviation of 1/√(28 · 40) of the scatter
    assert found.unrepeated == pytest.approx(share / (1.0 + share), rel=5.0 / np.sqrt(28 * 40))


@refuses(
    ({"window": 500.0}, "two windows must fit into a trial of 600 s"),
    ({"overlap": 0.8}, "overlap = 0.8: it must be from 0 to 0.5"),
    ({"highest": 11.0}, "the highest frequency must be from 0.1 to 10 Hz"),
    ({"time": TIME**1.1}, "not evenly spaced"),
    ({"stimulus": np.where(TIME > 5.0, 1.0, np.nan)}, "a number is missing"),
)
def test_windows_must_make_sense(changes):
    given = {"time": TIME, "stimulus": sines(20.0), "responses": {"y": sines(20.0)}, "window": WINDOW} | changes
    windowed_spectra(**given)


def test_a_stimulus_that_drifts_is_refused():
    """A ramp is equal in all cycles, so that it repeats; from half of it on it would be reported as a response."""
    moving, line = sines(20.0), TIME / 20.0
    with pytest.raises(InputError, match="the stimulus drifts by 0.5 in each cycle of 20 s"):
        frequency_response(TIME, moving + 0.5 * line, {"y": moving}, 20.0, [0.05, 0.15, 0.35])
    found = frequency_response(TIME, moving + 0.05 * line, {"y": moving}, 20.0, [0.05, 0.15, 0.35])
    assert np.abs(found.values["y"]) == pytest.approx(1.0, abs=0.05)
