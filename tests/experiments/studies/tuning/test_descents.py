"""L-BFGS-B along exact gradients: what it is told, how it is gone on with, and what a trial's derivatives are."""

import copy

import numpy as np
import pytest

from biped.errors import InputError
from experiments.studies import Config, Study, Tuner, open_study, run_study, run_trial, tuning_from
from experiments.studies.slopes import NO_GRADIENT, column
from experiments.studies.tuning.cost_slopes import MEANS
from experiments.studies.tuning.descents import Descent
from experiments.studies.tuning.optimizers import make_optimizer
from tests.refusals import refuses

BEST = {"stiffness": 300.0, "damping": 0.8}
TERMS = [
    {"metric": "rms_position_error", "per": 0.01, "fell": 1.0},
    {"metric": "rms_torque", "weight": 0.5, "per": 10.0, "fell": 300.0},
    {"metric": "peak_orientation_error", "over": "worst", "fell": 1.0},
]


@pytest.fixture
def descending(small):
    """Two gains, four trials a candidate, terms and a limit that all have gradients."""
    own = copy.deepcopy(small)
    own["experiment"] = "balance"
    own["set"] = {"run.step": 2e-3, "run.duration": 2.0, "push.impulse": 3.0, "push.azimuth": 0.4}
    own["tune"] = {
        "optimizer": "lbfgs", "candidates": 52, "batch": 2, "replicas": 2, "confirm": 2, "gradient_cost": 4.0,
    }  # fmt: skip
    own["objective"] = [{"name": "movement", "term": TERMS}]
    own["limit"] = [{"metric": "com_excursion", "fell": 1.0, "at_most": 0.5, "of": "baseline", "penalty": 3.0}]
    return own


def bowl(tuning):
    def evaluate(trials):
        return {trial.number: result(trial) for trial in trials}

    def result(trial):
        stiffness, damping = trial.labels["stiffness"], trial.labels["damping"]
        away = np.log(stiffness / BEST["stiffness"]), damping - BEST["damping"]
        names = column(MEANS, "stiffness"), column(MEANS, "damping")
        share = next(iter(trial.slopes.sums[MEANS].values()))
        slopes = share * 2.0 * away[0] / stiffness, share * 2.0 * away[1]
        return {"verdict": "recovered", "rms_torque": float(away[0] ** 2 + away[1] ** 2), NO_GRADIENT: ""} | dict(
            zip(names, map(float, slopes), strict=True)
        )

    return Tuner(tuning.space, tuning.scorer, evaluate)


def on_a_bowl(make, small, candidates=60, batch=3):
    small["tune"] |= {"optimizer": "lbfgs"}
    small["objective"] = [{"metric": "rms_torque", "fell": 1.0}]
    tuning = make(small)
    variables = tuning.space.variables
    return bowl(tuning).run(lambda start: make_optimizer("lbfgs", variables, 5, batch, 1, start), candidates, batch)


def test_it_finds_the_least_in_a_few_steps(make, small):
    history = on_a_bowl(make, small, candidates=36)
    assert history.best.candidate.point == pytest.approx(BEST, rel=1e-4)
    assert history.best.number <= 36


def test_it_is_a_function_of_what_it_was_told(make, small):
    first, second = (on_a_bowl(make, copy.deepcopy(small)) for _ in range(2))
    assert [one.candidate.point for one in first.evaluations] == [one.candidate.point for one in second.evaluations]


def test_a_descent_that_has_ended_says_so():
    descent = Descent(np.array([0.2, 0.9]))
    best = np.array([0.6, 1.0])  # at a bound
    for _ in range(60):
        place = descent.next()
        if place is None:
            break
        descent.known.append((place, float(((place - best) ** 2).sum()), 2.0 * (place - best)))
    assert place is None
    assert descent.known[-1][0] == pytest.approx(best, abs=1e-6)


def test_without_derivatives_it_does_not_go_on(make, small):
    optimizer = make_optimizer("lbfgs", make(small).space.variables, 1, 2)
    points = optimizer.ask(2)
    with pytest.raises(InputError, match="needs the derivatives"):
        optimizer.tell(points, [(1.0,), (2.0,)])


def cost_at(tuning, tuner, point, bounds):
    return tuner.score([tuning.space.candidate(1, point)], bounds)[0]


@pytest.mark.slow
def test_the_slopes_of_the_cost_are_its_differences(descending):
    tuning = tuning_from(Config(descending))
    tuner = Tuner(
        tuning.space, tuning.scorer, lambda trials: {t.number: run_trial(tuning.experiment, t) for t in trials}
    )
    history = tuner.begin()
    point = {"stiffness": 40.0, "damping": 0.6}
    here = cost_at(tuning, tuner, point, history.bounds)
    assert not here.score.keeps_limits
    assert here.score.verdicts["recovered_trials"] == 4
    assert all(abs(slope) > 1e-3 for slope in here.slopes.values())
    for name, value in point.items():
        h = 1e-3 * value
        costs = [
            cost_at(tuning, tuner, {**point, name: value + k * h}, history.bounds).score.costs[0]
            for k in (-2, -1, 1, 2)
        ]
        expected = (costs[0] - 8.0 * costs[1] + 8.0 * costs[2] - costs[3]) / (12.0 * h)
        assert here.slopes[name] == pytest.approx(expected, rel=1e-4)


def test_it_is_stored_and_gone_on_with_like_others(descending, tmp_path):
    """On the same budget: four candidates of 52, each gone back through three times."""
    tuning = tuning_from(Config(descending))
    with open_study(tuning, tmp_path / "whole") as study:
        whole = run_study(tuning, study)
        frame = study.frame()
    assert len(whole.history.evaluations) == 4
    assert min(one.score.costs[0] for one in whole.history.evaluations) < whole.history.baseline.score.costs[0]
    tried = frame[(frame["phase"] == "tuning") & (frame["verdict"] == "recovered")]
    assert len(tried) > 8
    assert np.isfinite(tried[column(MEANS, "stiffness")]).all()

    class Stopped(BaseException):
        pass

    def stop(done):
        if done >= 9:
            raise Stopped

    with pytest.raises(Stopped), open_study(tuning, tmp_path / "stopped") as study:
        run_study(tuning, study, progress=stop)
    assert 9 <= len(Study.read(tmp_path / "stopped").finished) < len(frame)
    with open_study(tuning, tmp_path / "stopped") as study:
        again = run_study(tuning, study)
    assert again == whole


@refuses(
    ({"objective": [{"metric": "recovered", "goal": "maximize"}]}, "recovered has no gradient, which lbfgs needs"),
    ({"objective": [{"metric": "settling_time", "fell": 9.0}]}, "settling_time has no gradient"),
    ({"limit": [{"metric": "foot_slip", "fell": 1.0, "at_most": 0.1}]}, "foot_slip has no gradient"),
    ({"objective": [{"metric": m, "fell": 1.0} for m in ("rms_torque", "com_excursion")]},
     "lbfgs' allows one objective"),
)  # fmt: skip
def test_what_it_cannot_do_is_refused_in_words(descending, change):
    tuning_from(Config(descending | change))


def test_a_law_without_gradients_is_refused_with_its_reason(descending, tmp_path):
    descending["set"]["integrator.name"] = "rk4"
    descending["set"]["run.step"] = 5e-4
    tuning = tuning_from(Config(descending))
    with open_study(tuning, tmp_path) as study, pytest.raises(InputError, match="no trial of the baseline has any"):
        run_study(tuning, study)


def test_who_falls_says_so_and_has_no_slope(descending):
    descending["set"] |= {"push.impulse": 60.0, "run.duration": 1.5}
    tuning = tuning_from(Config(descending))
    trial = tuning.space.trials(tuning.space.baseline)[0]
    result = run_trial(tuning.experiment, trial)
    assert result["verdict"] in ("fell", "lost control", "failed")
    assert "no gradient" in result.get(NO_GRADIENT, "no gradient")
    assert not any(name.startswith("slope of") for name in result)
