"""The loop with a function in place of trials: what optimizers find, what limits and confirmation do."""

import numpy as np
import pytest

from experiments.studies.tuning.optimizers import GRADIENTS, make_optimizer
from experiments.studies.tuning.optimizers import OPTIMIZERS as ALL
from experiments.studies.tuning.tuner import Tuner
from tests.refusals import refuses

#: Those that need no derivatives; ``test_descents`` has the others.
OPTIMIZERS = tuple(name for name in ALL if name not in GRADIENTS)
BEST = {"stiffness": 300.0, "damping": 0.8}


def answer(function):
    def evaluate(trials):
        return {
            trial.number: {
                "verdict": "recovered",
                "failure": "",
                "message": "",
                **function(trial.labels["stiffness"], trial.labels["damping"], trial.changes["initial.seed"]),
            }
            for trial in trials
        }

    return evaluate


def bowl(stiffness, damping, _):
    away = np.log(stiffness / BEST["stiffness"]) ** 2 + (damping - BEST["damping"]) ** 2
    return {"position_error": float(away), "peak_torque": float(stiffness)}


def run(tuning, function, name="cma", candidates=200, batch=10):
    tuner = Tuner(tuning.space, tuning.scorer, answer(function))
    variables, objectives = tuning.space.variables, len(tuning.scorer.objectives)
    history = tuner.run(lambda start: make_optimizer(name, variables, 5, batch, objectives, start), candidates, batch)
    return tuner, history


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_comes_near_the_best_and_those_that_learn_come_nearer(make, small, name):
    _, history = run(make(small), bowl, name)
    assert [one.number for one in history.evaluations] == list(range(1, 201))
    found = history.best.score.values["position_error"]
    assert found < 0.05
    if name not in ("random", "sobol"):
        _, blind = run(make(small), bowl, "random")
        assert found < blind.best.score.values["position_error"]
    if name in ("cma", "optuna-cmaes"):
        assert history.best.candidate.point == pytest.approx(BEST, rel=1e-2)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_depends_on_its_seed_and_on_nothing_else(make, small, name):
    points = []
    for salt in (1, 2):
        np.random.seed(salt)  # noqa: NPY002 - the global numbers that it must not use
        _, history = run(make(small), bowl, name, 60)
        points.append([one.candidate.point for one in history.evaluations])
    assert points[0] == points[1]


def test_a_strategy_that_has_converged_starts_anew(make, small):
    _, history = run(make(small), bowl, "cma", 1200, 6)
    late = [one.candidate.point["stiffness"] for one in history.evaluations[800:]]
    assert max(late) / min(late) > 10.0


def test_the_best_that_keeps_a_limit_lies_at_the_limit(make, small):
    small["limit"] = [
        {"metric": "peak_torque", "fell": "measured", "failed": 1e9, "at_most": 2.0, "of": "baseline", "margin": 0.01}
    ]
    _, history = run(make(small), bowl, "cma", 400)
    assert history.bounds == {"peak_torque": pytest.approx(100.0)}
    assert history.best.candidate.point["stiffness"] == pytest.approx(99.0, rel=5e-3)
    assert any(not one.score.keeps_limits for one in history.evaluations)


def test_where_no_candidate_keeps_a_limit_there_is_no_best(make, small):
    small["limit"] = [{"metric": "peak_torque", "fell": 1.0, "at_most": 1.0}]
    _, history = run(make(small), bowl, "cma", 50)
    assert history.best is None
    assert history.front == []


def test_a_front_runs_from_one_objective_to_the_other(make, small):
    small["tune"]["optimizer"] = "optuna-nsga2"
    small["objective"] = [{"metric": "position_error", "fell": 9.0}, {"metric": "peak_torque", "fell": 9e9}]
    _, history = run(make(small), bowl, "optuna-nsga2", 400, 20)
    errors, torques = np.array([list(one.score.values.values()) for one in history.front]).T
    assert len(errors) > 10
    assert np.all(np.diff(errors) > 0.0)
    assert np.all(np.diff(torques) < 0.0)
    # The true front: damping at its best, and any stiffness up to the best one.
    damping = [one.candidate.point["damping"] for one in history.front]
    assert np.median(np.abs(np.array(damping) - BEST["damping"])) < 0.15
    assert max(torques) < 1.3 * BEST["stiffness"]


def test_fresh_replicas_confirm_what_is_better(make, small):
    tuner, history = run(make(small), lambda k, z, seed: {"position_error": bowl(k, z, 0)["position_error"] + seed % 7})
    found = tuner.confirm(history.best.candidate, history.bounds, 16)
    assert found.holds
    (comparison,) = found.objectives
    expected = -bowl(50.0, 0.5, 0)["position_error"]
    assert comparison.low == comparison.high == pytest.approx(expected, rel=1e-2)


def test_fresh_replicas_refuse_a_winner_by_luck(make, small):
    """Pure noise: the best of 100 looks far better than the baseline where it was chosen, and is not."""

    def noise(stiffness, damping, seed):
        words = [int(seed), int(1e6 * stiffness), int(1e6 * damping)]
        return {"position_error": float(np.random.default_rng(words).normal())}

    tuner, history = run(make(small), noise, "random", 100)
    best, baseline = history.best.score.values["position_error"], history.baseline.score.values["position_error"]
    assert best < baseline - 1.0
    found = tuner.confirm(history.best.candidate, history.bounds, 32)
    assert not found.holds
    assert found.reasons


def test_too_few_fresh_replicas_confirm_nothing_and_it_is_said(make, small):
    tuner, history = run(make(small), bowl)
    found = tuner.confirm(history.best.candidate, history.bounds, 4)
    assert not found.holds
    assert not found.worse
    assert found.reasons == ["position_error is not significantly better: p = 0.12 is above 0.05"]


def test_of_two_objectives_each_has_half_the_level(make, small):
    small["tune"]["optimizer"] = "sobol"
    small["objective"] = [{"metric": "position_error", "fell": 9.0}, {"metric": "peak_torque", "fell": 9e9}]
    tuner, history = run(make(small), lambda k, z, seed: bowl(k, z, seed) | {"peak_torque": 1.0}, "sobol", 32)
    best = min(history.evaluations, key=lambda one: one.score.values["position_error"]).candidate
    assert not tuner.confirm(best, history.bounds, 6).holds  # p = 0.031
    assert tuner.confirm(best, history.bounds, 7).holds  # p = 0.016


def test_a_winner_beyond_its_limit_on_fresh_replicas_is_refused(make, small):
    small["limit"] = [{"metric": "peak_torque", "fell": 9e9, "at_most": 1e6}]
    tuning = make(small)
    tuner, history = run(tuning, bowl)

    def worse(stiffness, damping, seed):
        return bowl(stiffness, damping, seed) | {"peak_torque": 2e6 if stiffness > 60.0 else 1.0}

    found = Tuner(tuning.space, tuning.scorer, answer(worse)).confirm(history.best.candidate, history.bounds, 8)
    assert not found.holds
    assert found.reasons == ["peak_torque is beyond its limit"]
    assert tuner.confirm(history.best.candidate, history.bounds, 8).holds


def test_replicas_of_tuning_and_confirmation_share_no_start_and_candidates_share_all(make, small):
    plan = make(small).space
    first, second = (plan.candidate(number, {"stiffness": 50.0 * number, "damping": 1.0}) for number in (1, 2))

    def starts(trials):
        return [trial.changes["initial.seed"] for trial in trials]

    assert starts(plan.trials(first)) == starts(plan.trials(second)) == starts(plan.trials(plan.baseline))
    assert len(set(starts(plan.trials(first)))) == plan.size
    assert not set(starts(plan.trials(first))) & set(starts(plan.fresh_trials(first, 50)))
    numbers = [t.number for c in (plan.baseline, first, second) for t in (*plan.trials(c), *plan.fresh_trials(c, 9))]
    assert len(set(numbers)) == len(numbers)


@refuses(
    ({"tune": {"optimizer": "cmaes"}}, "optimizer = 'cmaes'.*cma"),
    ({"tune": {"optimizer": "cma", "batch": 2}}, "generation"),
    ({"parameter": [{"sets": "floor.k_n", "from": 5e4, "to": 1e5}]}, "two or more parameters"),
    ({"objective": [{"metric": "rms_torque", "fell": 1.0}, {"metric": "lifts", "fell": 1.0}]}, "allows one objective"),
    ({"objective": [{"metric": "position_error"}]}, "set the value for a fall"),
    ({"objective": [{"metric": "a", "fell": 1.0, "scenarios": ["x*"]}]}, "scenarios are floor mu_s=0.5"),
    ({"scenario": [{"name": "a", "set": {"controller.kp_position": [1.0, 1.0, 1.0]}}]}, "which is varied"),
    ({"scenario": [{"name": "a", "set": {"floor.mu": 1.0}}]}, "floor.mu_s"),
    ({"objective": [{"metric": "peak_torq", "fell": 1.0}]}, "did you mean peak_torque"),
    ({"limit": [{"metric": "a", "fell": 1.0}]}, "either at_most or at_least"),
    ({"choice": {"a": 1.0}}, "several objectives"),
    ({"spread": 1}, "unknown key 'spread'"),
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_configuration_that_makes_no_sense_is_refused(make, small, change):
    make(small | change)
