import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named
from experiments.studies.tuning import design_variable
from experiments.studies.tuning.confirm import compare
from experiments.studies.tuning.objective import Limit, Objective, Reading, Sample, Scorer, Term
from experiments.studies.tuning.tuner import front_of
from tests.refusals import refuses


def sample(verdict="recovered", scenario="a", replica=0, weight=1.0, **metrics):
    return Sample(scenario, replica, weight, {"verdict": verdict, "failure": "", "message": "", **metrics})


def test_scenarios_weigh_what_they_weigh():
    samples = [sample(error=1.0, weight=3.0), sample(error=5.0, scenario="b")]
    assert Reading("error", fell=9.0).total(samples, True) == 2.0
    assert Reading("error", fell=9.0, scenarios=("b",)).total(samples, True) == 5.0
    assert Reading("error", fell=9.0, over="worst").total(samples, True) == 5.0
    assert Reading("error", fell=9.0, over="worst").total(samples, False) == 1.0


def test_a_fall_a_failure_and_a_missing_metric_count_as_is_said():
    trials = [sample("fell", error=0.1), sample("failed"), sample(error=None), sample("stepped", error=0.2)]
    read = Reading("error", fell=7.0, failed=8.0, missing=6.0)
    assert [read.value(trial) for trial in trials] == [7.0, 8.0, 6.0, 0.2]
    read = Reading("error", fell="measured", failed=8.0)
    assert [read.value(trial) for trial in trials] == [0.1, 8.0, 8.0, 0.2]
    assert [Reading("recovered").value(trial) for trial in trials] == [0.0, 0.0, 1.0, 0.0]
    assert [Reading("upright").value(trial) for trial in trials] == [0.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "arguments", [{}, {"fell": "measured"}, {"fell": "worst"}, {"fell": 1.0, "over": "median"}], ids=str
)
def test_what_a_fall_counts_as_has_to_be_said(arguments):
    with pytest.raises(InputError):
        Reading("error", **arguments)


def test_what_is_beyond_a_limit_costs_and_does_not_keep_it():
    error, torque = Objective("error", (Term(Reading("error", 9.0)),)), Reading("torque", 9.0)
    limit = Limit("torque", torque, 1.0, of_baseline=True, penalty=4.0)
    scorer = Scorer((error,), (limit,))
    bounds = scorer.bounds([sample(error=2.0, torque=50.0)])
    assert bounds == {"torque": 50.0}
    beyond = scorer.score([sample(error=1.0, torque=75.0)], bounds)
    within = scorer.score([sample(error=1.0, torque=50.0)], bounds)
    assert beyond.costs == (1.0 + 4.0 * 0.5,)
    assert not beyond.keeps_limits
    assert within.costs == (1.0,)
    assert within.keeps_limits


def test_what_is_to_be_great_costs_less_when_it_is_greater():
    scorer = Scorer((Objective("up", (Term(Reading("recovered"), 2.0),), "maximize"),))
    up = scorer.score([sample()], {}), scorer.score([sample("fell")], {})
    assert up[0].values["up"] == 2.0
    assert up[0].costs < up[1].costs


def test_no_member_of_a_front_is_beaten_and_all_others_are():
    costs = [(1, 5), (2, 2), (2, 2), (3, 3), (5, 1), (1, 6), (0, 9)]
    assert front_of(costs) == [6, 0, 1, 4]


def test_a_paired_comparison_sees_through_what_both_share():
    shared = [10.0, 30.0, 20.0, 5.0, 40.0, 25.0]
    found = compare("x", shared, [value - 1.0 - 0.01 * k for k, value in enumerate(shared)], seed=0)
    assert found.difference == pytest.approx(-1.025)
    assert found.is_better(1.0)
    assert not found.is_better(-1.0)
    assert found.baseline_spread > 10.0


def test_pairs_that_differ_alike_leave_nothing_to_resample():
    found = compare("x", [1.0, 2.0, 3.0], [1.5, 2.5, 3.5], seed=0)
    assert (found.low, found.high) == (0.5, 0.5)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_so_few_pairs_prove_nothing_however_well_they_agree(count):
    """All of one sign: so they are by chance in one of 2^(count − 1) cases, more than one of twenty."""
    alike = compare("x", [0.0] * count, [-1.0] * count, seed=0)
    spread = compare("x", [0.0] * count, [-1.0 - k for k in range(count)], seed=0)
    for found in (alike, spread):
        assert found.high < 0.0
        assert found.chance == pytest.approx(2.0 ** (1 - count))
        assert not found.is_better(1.0)


def test_a_rare_difference_is_better_only_with_six_to_none():
    """Of 32 replicas, the winner stands in so many in which the baseline falls: chance p = 2 / 2^k."""
    for more, better in ((4, False), (5, False), (6, True)):
        found = compare("upright", [0.0] * 32, [1.0] * more + [0.0] * (32 - more), seed=0)
        assert found.is_clear(-1.0)
        assert found.chance == pytest.approx(2.0 ** (1 - more), rel=0.2)
        assert found.is_better(-1.0) == better


def test_an_interval_of_pure_noise_holds_zero_as_often_as_it_claims():
    rng = np.random.default_rng(1)
    misses = 0
    for trial in range(100):
        first, second = rng.normal(size=(2, 32))
        found = compare("x", first.tolist(), second.tolist(), trial)
        misses += not found.low <= 0.0 <= found.high
    assert misses <= 12  # 5 expected; more than 12 in one of 600


EXPERIMENT = experiment_named("stand-tilted")
STIFFNESS = design_variable.DesignVariable(
    "k", 1.0, 1e4, "log", ("controller.kp_position[0]", "controller.kp_position[1]")
)
RATIO = design_variable.DesignVariable(
    "z", 0.1, 2.0, targets=("controller.kd_position[0]", "controller.kd_position[1]"), is_ratio=True
)


def test_a_log_scale_gives_each_decade_the_same_room():
    assert [STIFFNESS.from_unit(share) for share in (0.0, 0.25, 0.5, 1.0)] == pytest.approx([1.0, 10.0, 100.0, 1e4])
    assert all(STIFFNESS.to_unit(STIFFNESS.from_unit(share)) == pytest.approx(share) for share in (0.1, 0.7))


def test_tied_numbers_change_together_and_the_rest_stays():
    values = EXPERIMENT.values(design_variable.changes_of((STIFFNESS,), {"k": 80.0}, EXPERIMENT.values()))
    assert values["controller.kp_position"] == (80.0, 80.0, 200.0)
    assert {name for name in values if values[name] != EXPERIMENT.values()[name]} == {"controller.kp_position"}


def test_a_damping_ratio_follows_the_stiffness_beside_it_in_any_order():
    for variables in ((STIFFNESS, RATIO), (RATIO, STIFFNESS)):
        values = EXPERIMENT.values(design_variable.changes_of(variables, {"k": 100.0, "z": 1.0}, EXPERIMENT.values()))
        assert values["controller.kd_position"] == pytest.approx((20.0, 20.0, 14.142))
        assert design_variable.point_of(variables, values) == pytest.approx({"k": 100.0, "z": 1.0})


def test_the_thesis_has_the_ratios_that_it_states():
    assert design_variable.point_of((STIFFNESS, RATIO), EXPERIMENT.values()) == pytest.approx(
        {"k": 50.0, "z": 0.5}, rel=1e-3
    )


@pytest.mark.parametrize("ratio", [0.9, 1.0])
def test_a_turn_with_critical_damping_does_not_swing_and_with_less_it_does(ratio):
    stiffness = 50.0
    damping = ratio * design_variable.critical_damping("controller.kd_orientation[0]", stiffness)
    times = np.linspace(0.0, 6.0, 2000)
    found = solve_ivp(
        lambda _, y: (y[1], -damping * y[1] - stiffness * math.sin(y[0] / 2.0)), (0.0, 6.0), (0.01, 0.0), t_eval=times,
        rtol=1e-10, atol=1e-14,
    )  # fmt: skip
    assert (found.y[0].min() < 0.0) == (ratio < 1.0)


@refuses(
    ((), "nothing is varied"),
    (
        (STIFFNESS, design_variable.DesignVariable("l", 1.0, 2.0, targets=("controller.kp_position",))),
        "set by both 'k' and 'l'",
    ),
    ((design_variable.DesignVariable("k", 0.0, 1.0, targets=("controller.target_position",)),), "name one"),
    ((design_variable.DesignVariable("k", 0.0, 1.0, targets=("initial.seed",)),), "must be a real number"),
    ((design_variable.DesignVariable("k", 0.0, 1.0, targets=("floor.mu",)),), "floor.mu_s"),
    ((STIFFNESS, STIFFNESS), "two parameters are called 'k'"),
)
def test_what_cannot_be_varied_is_refused(variables):
    design_variable.check_variables(variables, EXPERIMENT)


@pytest.mark.parametrize("arguments", [
    {"low": 2.0, "high": 1.0},
    {"low": 0.0, "high": 1.0, "scale": "log"},
    {"low": 0.0, "high": math.inf},
    {"low": 0.1, "high": 1.0, "scale": "decades"},
    {"low": 0.1, "high": 1.0, "is_ratio": True},
])  # fmt: skip
def test_an_impossible_range_is_refused(arguments):
    with pytest.raises(InputError):
        design_variable.DesignVariable("k", targets=("floor.mu_s",), **arguments)
