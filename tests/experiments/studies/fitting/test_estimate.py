"""Least squares against what is known in closed form: lines, correlated noise, and what cannot be told apart."""

import numpy as np
import pytest
from scipy.stats import binom

from experiments.studies.bounded import Bounded
from experiments.studies.fitting.estimate import Prior, Problem, estimate
from experiments.studies.fitting.identifiability import sentences
from experiments.studies.fitting.profiles import bootstrap, profiles
from tests.refusals import refuses

TIME = np.linspace(0.0, 1.0, 200)
LINE = (Bounded("slope", -10.0, 10.0), Bounded("level", -5.0, 5.0))
TRUE = np.array([2.0, -1.0])
MIDDLE = np.array([[0.5, 0.5]])


def line_of(measured, time=TIME, **more):
    design = np.column_stack([time, np.ones_like(time)])

    def residuals(parts):
        values = np.array([[one.from_unit(p) for one, p in zip(LINE, at, strict=True)] for at in parts])
        return measured - values @ design.T

    return design, Problem(LINE, residuals, **more)


def test_a_line_is_regression():
    """Values and deviations are those of linear regression, to what differences of a linear model round off."""
    design, problem = line_of(design_times_true := TIME * 2.0 - 1.0 + np.random.default_rng(1).normal(0.0, 0.3, 200))
    found = estimate(problem, MIDDLE)
    exact, residual, *_ = np.linalg.lstsq(design, design_times_true, rcond=None)
    covariance = residual[0] / 198 * np.linalg.inv(design.T @ design)
    assert found.converged
    np.testing.assert_allclose(list(found.values.values()), exact, atol=1e-7)
    np.testing.assert_allclose(found.table["sd"], np.sqrt(np.diag(covariance)), rtol=1e-6)
    correlation = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    np.testing.assert_allclose(found.correlation.loc["slope", "level"], correlation, rtol=1e-6)


def test_profiles_of_a_line_are_its_intervals():
    _, problem = line_of(TIME * 2.0 - 1.0 + np.random.default_rng(2).normal(0.0, 0.3, 200))
    found = estimate(problem, MIDDLE)
    linear, profiled = found.table, profiles(found)
    reach = (linear["high"] - linear["low"]) / 2.0
    assert (abs(profiled["low"] - linear["low"]) <= 0.05 * reach).all()  # as near as an end is looked for
    assert (abs(profiled["high"] - linear["high"]) <= 0.05 * reach).all()


@pytest.mark.parametrize("correlated", [0.0, 0.9])
def test_intervals_hold_what_is_true_as_often_as_they_say(correlated):
    """Of 200 lines under noise, white or of AR(1); fewer than expected by more than 3.3 deviations once in 2,000."""
    generator, count, held, naive = np.random.default_rng(3), 200, 0, 0
    time = np.linspace(0.0, 1.0, 1000)
    for _ in range(count):
        noise = generator.normal(0.0, 0.3, len(time))
        for k in range(1, len(time)):
            noise[k] += correlated * noise[k - 1]
        found = estimate(line_of(time * 2.0 - 1.0 + noise, time, series=[slice(0, len(time))])[1], MIDDLE)
        reach = found.spread.quantile * found.table["sd"][0]
        held += abs(found.values["slope"] - 2.0) <= reach
        naive += abs(found.values["slope"] - 2.0) <= 1.96 * np.sqrt(found.spread.naive[0]) * 20.0
    # An autocovariance that is estimated by residuals of 1000 points with 19 correlated is low by a part of about
    # 2 · 19 / 1000 per parameter: the interval is narrower by 4 %, which takes 1.5 % off its probability.
    assert held >= binom.ppf(5e-4, count, 0.93)
    if correlated:
        assert naive < binom.ppf(5e-4, count, 0.80)  # that of independent residuals promises far too much
    else:
        assert naive >= binom.ppf(5e-4, count, 0.95)


def test_what_nothing_depends_on_is_told():
    one = (*LINE, Bounded("unused", 0.0, 1.0))
    _, line = line_of(2.0 * TIME - 1.0 + np.random.default_rng(5).normal(0.0, 0.3, 200))
    told = sentences(found := estimate(Problem(one, lambda parts: line.residuals(parts[:, :2])), np.full((1, 3), 0.5)))
    assert told == ["unused is poorly identifiable: the record is almost insensitive to it"]
    assert found.table["low"][2] == 0.0
    assert found.table["high"][2] == 1.0


def test_a_prior_is_a_measurement():
    level = (Bounded("level", -5.0, 5.0),)
    measured = 1.0 + np.random.default_rng(6).normal(0.0, 0.5, 50)
    problem = Problem(level, lambda parts: measured - (10.0 * parts - 5.0), priors={"level": Prior(0.0, 0.1)})
    found = estimate(problem, np.array([[0.5]]))
    variance = found.spread.variance
    exact = measured.mean() * (50 / variance) / (50 / variance + 1 / 0.1**2)
    # The weight has settled to 1e-4, and of a weighted mean between 0 and the data's that is at most half as much.
    assert abs(found.values["level"] - exact) < 1e-4 * measured.mean()
    assert abs(found.table["sd"][0] - (50 / variance + 100.0) ** -0.5) < 1e-6


def test_a_bootstrap_scatters_as_the_estimate():
    """Its deviation has a relative error of 1/√(2·200); four of these and the residuals' n against n − 2."""
    _, problem = line_of(TIME * 2.0 - 1.0 + np.random.default_rng(7).normal(0.0, 0.3, 200))
    found = estimate(problem, MIDDLE)
    drawn = bootstrap(found, 200, seed=1)
    assert (drawn == bootstrap(found, 200, seed=1)).all()
    ratio = drawn.std(axis=0, ddof=1) / found.table["sd"].to_numpy()
    assert (abs(ratio - 1.0) < 4.0 / np.sqrt(400.0) + 2.0 / 200.0).all()


def test_the_best_of_several_starts_is_taken():
    angle = (Bounded("place", -2.0, 2.0),)

    def residuals(parts):
        x = 4.0 * parts - 2.0
        return np.hstack([x**2 - 1.0, 0.1 * (x - 1.0)])

    found = estimate(Problem(angle, residuals), np.array([[0.2], [0.8]]))
    assert abs(found.values["place"] - 1.0) < 1e-6
    assert found.starts[0, 0] < 0.5 < found.starts[1, 0]


@refuses(
    (
        lambda: estimate(Problem(LINE, lambda parts: np.zeros((len(parts), 1))), MIDDLE),
        "1 measured numbers are too few to fit 2 param",
    ),
    (
        lambda: estimate(Problem(LINE, lambda parts: np.full((len(parts), 5), np.nan)), MIDDLE),
        "not finite at the start",
    ),
    (lambda: Problem(LINE, np.zeros, priors={"slop": Prior(0.0, 1.0)}), "prior of 'slop'"),
    (lambda: Prior(0.0, 0.0), "above zero"),
)
def test_what_cannot_be_fitted_is_refused(ask):
    ask()
