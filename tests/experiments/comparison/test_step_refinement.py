"""Convergence of invented errors."""

import pytest

from experiments.catalogue.registry import experiment_named
from experiments.comparison.step_refinement import Refinement, convergence_of, fitted_order, step_sizes

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)


def found(errors, **verdicts):
    """Of errors at all steps but the finest; ``verdicts`` of steps by their number, as ``at_0="fell"``."""
    ends = [verdicts.get(f"at_{k}") for k in range(len(STEPS))]
    rows = [
        Refinement("alpha", step, end or "recovered", 3.0, None if end else error, None)
        for step, error, end in zip(STEPS, [*errors, None], ends, strict=True)
    ]
    return convergence_of("alpha", rows)


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 4.0])
def test_the_order_is_found_though_the_truth_is_the_finest_step(order):
    errors = [7e4 * (step**order - STEPS[-1] ** order) for step in STEPS[:-1]]
    assert fitted_order(STEPS[:-1], errors, STEPS[-1])[0] == pytest.approx(order, abs=1e-3)
    assert (found(errors).order, found(errors).scatter) == pytest.approx((order, 1.0), abs=1e-3)


@pytest.mark.parametrize(
    ("errors", "verdicts", "words"),
    [
        ([4e-3, 2e-3, 2.5e-3, 1e-3], {}, "at 0.5 ms"),
        ([4e-3, 3.99e-3, 1e-6, 0.9e-6], {}, "no order"),  # off any power law
        ([4.2e-3, 4.1e-3, 4.05e-3, 4.0e-3], {}, "no order"),  # an order below all that are looked for
        ([4e-3, 2e-3, 1e-3, 5e-4], {"at_4": "fell"}, "nothing to compare"),
        ([None] * 4, {}, "nothing to compare"),  # runs with only a start
        ([1.0, 1.0, 2e-3, 1e-3], {"at_0": "fell", "at_1": "fell"}, "too few"),
        # As of a box that falls freely: no error is left to shrink, and none of it is told as a lack of steps.
        ([0.0] * 4, {}, "exact"), ([3e-16, 1e-15, 0.0, 2e-16], {}, "exact"),
    ],
)  # fmt: skip
def test_what_has_no_order_says_why(errors, verdicts, words):
    assert found(errors, **verdicts).order is None
    assert words in found(errors, **verdicts).text


@pytest.mark.parametrize("verdict", ["fell", "refused"])
def test_runs_that_ended_early_and_rounding_spoil_no_order(verdict):
    first, *errors = [7.0 * (step - STEPS[-1]) for step in STEPS[:-1]]
    assert found([first, *errors], at_0=verdict).order == pytest.approx(1.0, abs=1e-3)
    assert found([first, *errors], at_0=verdict).text.endswith(f"; {verdict} at 2 ms")
    assert found([first, *errors[:2], 1e-13]).order == pytest.approx(1.0, abs=1e-3)


def test_the_step_sizes_begin_at_the_controllers_period():
    experiment = experiment_named("thrown-block")
    assert step_sizes(experiment, {}, 3) == (2e-3, 1e-3, 5e-4)
    assert step_sizes(experiment, {"controller.period": 4e-3}, 2) == (4e-3, 2e-3)
