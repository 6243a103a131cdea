"""Models fitted to responses of simulated records: their parameters are found again, as often as intervals say."""

import math

import numpy as np
import pytest
from scipy import stats

from biped.identification import DoublePendulum, IndependentChannels, Spectra, frequency_response, response_of
from experiments.studies import Bounded, ResponseModel, fit_response
from tests.refusals import refuses

PERIOD, RATE, CYCLES = 20.0, 25.0, 11
FREQUENCIES = np.array([1, 3, 5, 7, 11, 15, 19, 23, 31, 39]) / PERIOD
KNOWN = {"inertia": 70.6, "toppling": 634.0, "passive_stiffness": 0.1, "passive_damping": 0.05}
TRUE = {"stiffness": 1.5, "damping": 0.45, "weight": 0.5, "delay": 0.14}
SUBJECT = IndependentChannels(**KNOWN, **TRUE)
RANGES = [
    Bounded("stiffness", 0.8, 2.5), Bounded("damping", 0.1, 0.9), Bounded("weight", 0.0, 1.0),
    Bounded("delay", 0.02, 0.3),
]  # fmt: skip
#: [N·m/√Hz] of white torque that makes the subject sway besides.
NOISE = 2.0


def record(seed):
    """Time, tilt and sway [rad] of a subject in noise: the linear response, and what a white torque makes it sway."""
    random, n = np.random.default_rng(seed), round(CYCLES * PERIOD * RATE)
    t = np.arange(n) / RATE
    phases = random.uniform(0.0, 2.0 * math.pi, len(FREQUENCIES))
    turned = 0.004 * np.exp(1j * (2.0 * math.pi * np.outer(t, FREQUENCIES) + phases))
    every = np.fft.rfftfreq(n, 1.0 / RATE)
    torque = NOISE * math.sqrt(RATE / 2.0) * random.normal(size=n)
    swayed = np.fft.irfft(np.fft.rfft(torque) * SUBJECT.response(every, "torque"), n)
    return t, turned.sum(axis=1).real, (turned @ SUBJECT.response(FREQUENCIES)).real + swayed


def measured(seed):
    t, tilt, sway = record(seed)
    return frequency_response(t, tilt, {"sway": sway}, PERIOD, FREQUENCIES, resamples=0)


def held(seeds, ranges=RANGES, true=TRUE):
    counts = dict.fromkeys(true, 0)
    for seed in seeds:
        table = fit_response(measured(seed), ResponseModel("independent-channels", KNOWN), ranges).estimate.table
        for row in table.to_dict("records"):
            counts[row["parameter"]] += row["low"] <= true[row["parameter"]] <= row["high"]
    return counts


@pytest.mark.slow
def test_known_parameters_are_within_their_intervals_in_90_of_100_records():
    assert min(held(range(100)).values()) >= 90


def test_known_parameters_are_within_their_intervals():
    """Of 8 records a count that intervals of 95 % have but once in a thousand, of each parameter."""
    least = stats.binom.ppf(1e-3, 8, 0.95)
    assert min(held(range(1000, 1008)).values()) >= least
    assert least >= 5


def clean(model, frequencies=FREQUENCIES, noise=1e-4, seed=0, cycles=40, **more):
    random = np.random.default_rng(seed)
    responses = model.response(frequencies, **more)
    responses = responses if isinstance(responses, dict) else {"sway": responses}
    shape = cycles, len(frequencies)
    noisy = {
        name: values + noise * (random.normal(size=shape) + 1j * random.normal(size=shape))
        for name, values in responses.items()
    }
    ones = np.ones(len(frequencies), dtype=bool)
    return response_of(
        Spectra(PERIOD, frequencies, ones, np.ones(shape, dtype=complex), noisy, np.zeros(cycles, dtype=np.int64)),
        resamples=0,
    )


@pytest.mark.parametrize("error", ["deviation", "relative", "log"])
def test_every_error_finds_the_parameters(error):
    fit = fit_response(clean(SUBJECT, noise=1e-7), ResponseModel("independent-channels", KNOWN), RANGES, error=error)
    assert fit.estimate.values == pytest.approx(TRUE, rel=1e-4)
    assert fit.notes == ()
    assert fit.values(FREQUENCIES)["sway"] == pytest.approx(SUBJECT.response(FREQUENCIES), rel=1e-4)


def test_passive_and_active_stiffness_that_no_delay_tells_apart_are_told_as_one():
    subject = IndependentChannels(70.6, 634.0, stiffness=1.1, damping=0.4, weight=1.0, delay=0.0, passive_stiffness=0.4)
    known = {"inertia": 70.6, "toppling": 634.0, "damping": 0.4, "weight": 1.0, "delay": 0.0}
    ranges = [Bounded("stiffness", 0.5, 2.0), Bounded("passive_stiffness", 0.0, 1.0)]
    fit = fit_response(clean(subject), ResponseModel("independent-channels", known), ranges)
    assert sum(fit.estimate.values.values()) == pytest.approx(1.5, abs=1e-3)
    assert len(fit.notes) == 1
    assert "stiffness and passive_stiffness cannot be separated" in fit.notes[0]
    assert "stiffness + passive_stiffness = 1.5" in fit.notes[0]


def test_neighbouring_frequencies_in_bands_are_modelled_as_they_are_measured():
    frequencies = np.arange(1, 40, 2) / PERIOD
    banded = response_of(
        Spectra(
            PERIOD, frequencies, np.ones(len(frequencies), dtype=bool), np.ones((3, len(frequencies)), dtype=complex),
            {"sway": np.tile(SUBJECT.response(frequencies), (3, 1))}, np.zeros(3, dtype=np.int64),
        ),
        per_decade=6, resamples=0,
    )  # fmt: skip
    assert len(banded.frequencies) < len(frequencies)
    fit = fit_response(banded, ResponseModel("independent-channels", KNOWN), RANGES, error="relative")
    assert fit.estimate.values == pytest.approx(TRUE, rel=1e-4)


def test_the_double_pendulum_is_found_from_ankle_and_hip():
    body = {
        "leg_mass": 22.0, "leg_length": 0.85, "leg_com": 0.5, "leg_inertia": 1.6, "trunk_mass": 48.0, "trunk_com": 0.35,
        "trunk_inertia": 3.5, "delay": 0.09,
    }  # fmt: skip
    true = {
        "ankle_stiffness": 900.0, "ankle_damping": 260.0, "hip_stiffness": 400.0, "hip_damping": 60.0, "weight": 0.6,
    }  # fmt: skip
    subject = DoublePendulum(**body, **true)
    model = ResponseModel("double-pendulum", body, response={"ankle": "ankle", "hip": "hip"})
    ranges = [Bounded(name, 0.5 * value, 1.6 * value) for name, value in true.items()]
    fit = fit_response(clean(subject), model, ranges)
    table = fit.estimate.table.set_index("parameter")
    assert fit.estimate.values == pytest.approx(true, rel=1e-2)
    # Six deviations: errors of two responses are weighed by their covariance.
    assert all(abs(table["value"][name] - value) < 6.0 * table["sd"][name] for name, value in true.items())


@refuses(
    (lambda: ResponseModel("channels", {}), "models are independent-channels"),
    (lambda: ResponseModel("independent-channels", {"wieght": 0.5}), "did you mean 'weight'"),
    (lambda: ResponseModel("independent-channels", {}).at({}), "inertia is neither set nor fitted"),
    (lambda: fit(KNOWN | {"delay": 0.1}), "delay is both set and fitted"),
    (lambda: fit(KNOWN, error="square"), "one of deviation, relative, log"),
    (lambda: fit(KNOWN, response={"trunk": "sway"}), "no response 'trunk' was measured"),
    (lambda: fit(KNOWN, response={"sway": "hip"}), "no response 'hip'"),
    (lambda: fit(KNOWN, noise=0.0), "needs cycles and responses that differ"),
)
def test_what_makes_no_sense_is_said(make):
    make()


def fit(known, response=None, noise=1e-4, **more):
    model = ResponseModel("independent-channels", known, response=response or {"sway": "sway"})
    return fit_response(clean(SUBJECT, noise=noise), model, RANGES, **more)
