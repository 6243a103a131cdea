import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named
from experiments.studies.tuning.design_variable import (
    DesignVariable,
    changes_of,
    check_variables,
    critical_damping,
    point_of,
)
from tests.refusals import refuses

EXPERIMENT = experiment_named("stand-tilted")
STIFFNESS = DesignVariable("k", 1.0, 1e4, "log", ("controller.kp_position[0]", "controller.kp_position[1]"))
RATIO = DesignVariable("z", 0.1, 2.0, targets=("controller.kd_position[0]", "controller.kd_position[1]"), is_ratio=True)


def test_a_log_scale_gives_each_decade_the_same_room():
    assert [STIFFNESS.from_unit(share) for share in (0.0, 0.25, 0.5, 1.0)] == pytest.approx([1.0, 10.0, 100.0, 1e4])
    assert all(STIFFNESS.to_unit(STIFFNESS.from_unit(share)) == pytest.approx(share) for share in (0.1, 0.7))


def test_tied_numbers_change_together_and_the_rest_stays():
    values = EXPERIMENT.values(changes_of((STIFFNESS,), {"k": 80.0}, EXPERIMENT.values()))
    assert values["controller.kp_position"] == (80.0, 80.0, 200.0)
    assert {name for name in values if values[name] != EXPERIMENT.values()[name]} == {"controller.kp_position"}


def test_a_damping_ratio_follows_the_stiffness_beside_it_in_any_order():
    for variables in ((STIFFNESS, RATIO), (RATIO, STIFFNESS)):
        values = EXPERIMENT.values(changes_of(variables, {"k": 100.0, "z": 1.0}, EXPERIMENT.values()))
        assert values["controller.kd_position"] == pytest.approx((20.0, 20.0, 14.142))
        assert point_of(variables, values) == pytest.approx({"k": 100.0, "z": 1.0})


def test_the_thesis_has_the_ratios_that_it_states():
    assert point_of((STIFFNESS, RATIO), EXPERIMENT.values()) == pytest.approx({"k": 50.0, "z": 0.5}, rel=1e-3)


@pytest.mark.parametrize("ratio", [0.9, 1.0])
def test_a_turn_with_critical_damping_does_not_swing_and_with_less_it_does(ratio):
    """The controller's own law of orientation: the vector part of the error quaternion, not the angle."""
    stiffness = 50.0
    damping = ratio * critical_damping("controller.kd_orientation[0]", stiffness)
    times = np.linspace(0.0, 6.0, 2000)
    found = solve_ivp(
        lambda _, y: (y[1], -damping * y[1] - stiffness * math.sin(y[0] / 2.0)), (0.0, 6.0), (0.01, 0.0), t_eval=times,
        rtol=1e-10, atol=1e-14,
    )  # fmt: skip
    assert (found.y[0].min() < 0.0) == (ratio < 1.0)


@refuses(
    ((), "nothing is varied"),
    ((STIFFNESS, DesignVariable("l", 1.0, 2.0, targets=("controller.kp_position",))), "set by both 'k' and 'l'"),
    ((DesignVariable("k", 0.0, 1.0, targets=("controller.target_position",)),), "say which"),
    ((DesignVariable("k", 0.0, 1.0, targets=("initial.seed",)),), "must be a real number"),
    ((DesignVariable("k", 0.0, 1.0, targets=("floor.mu",)),), "floor.mu_s"),
    ((STIFFNESS, STIFFNESS), "two parameters are called 'k'"),
)
def test_what_cannot_be_varied_is_refused(variables):
    check_variables(variables, EXPERIMENT)


@pytest.mark.parametrize("arguments", [
    {"low": 2.0, "high": 1.0},
    {"low": 0.0, "high": 1.0, "scale": "log"},
    {"low": 0.0, "high": math.inf},
    {"low": 0.1, "high": 1.0, "scale": "decades"},
    {"low": 0.1, "high": 1.0, "is_ratio": True},
])  # fmt: skip
def test_an_impossible_range_is_refused(arguments):
    with pytest.raises(InputError):
        DesignVariable("k", targets=("floor.mu_s",), **arguments)
