"""Convergence, told from invented errors."""

import re

import pytest

from experiments.benchmarks.comparison.step_refinement import Refinement, convergence_of, fitted_order, step_sizes
from experiments.catalogue.registry import experiment_named

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)


def refinements(errors, fell=()):
    rows = [
        Refinement("alpha", step, "fell" if step in fell else "recovered", 3.0, None if step in fell else error, error)
        for step, error in zip(STEPS, [*errors, None], strict=True)
    ]
    rows[-1] = Refinement("alpha", STEPS[-1], "fell" if STEPS[-1] in fell else "recovered", 3.0, None, None)
    return rows


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 4.0])
def test_the_order_is_found_though_the_truth_is_the_finest_step(order):
    errors = [7e4 * (step**order - STEPS[-1] ** order) for step in STEPS[:-1]]
    assert fitted_order(STEPS[:-1], errors, STEPS[-1])[0] == pytest.approx(order, abs=1e-3)
    found = convergence_of("alpha", refinements(errors))
    assert found.order == pytest.approx(order, abs=1e-3)
    assert found.scatter == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("errors", "fell", "told"),
    [
        ([4e-3, 2e-3, 2.5e-3, 3e-3], (), "shows no convergence at these steps: at 0.5 ms it is no closer than at 1 m"),
        ([4e-3, 2e-3, 2.5e-3, 1e-3], (), "comes closer, but not steadily: at 0.5 ms it is no closer than at 1 ms$"),
        ([4e-3, 3.99e-3, 1e-6, 0.9e-6], (), "comes closer, but no order fits: errors are off"),
        ([4.2e-3, 4.1e-3, 4.05e-3, 4.0e-3], (), "comes closer, but no order from 0.1 to 8 fits$"),
        ([4e-3, 2e-3, 1e-3, 5e-4], {STEPS[-1]}, ".*nothing to compare with"),
        # As of a box that falls freely: no error is left to shrink, and none of it is told as a lack of steps.
        ([0.0] * 4, (), "exact to rounding at all steps$"), ([3e-16, 1e-15, 0.0, 2e-16], (), "exact to rounding at a"),
    ],
)  # fmt: skip
def test_what_has_no_order_says_why(errors, fell, told):
    found = convergence_of("alpha", refinements(errors, fell))
    assert found.order is None
    assert re.match(told, found.text)


def test_falls_are_told():
    found = convergence_of("alpha", refinements([1.0, 4e-3, 2e-3, 1e-3], fell={2e-3}))
    assert found.text.endswith("; falls at 2 ms")
    assert found.converges
    few = convergence_of("alpha", refinements([1.0, 1.0, 2e-3, 1e-3], fell={2e-3, 1e-3}))
    assert not few.converges
    assert "too few" in few.text


def test_the_step_sizes_begin_at_the_controllers_period():
    experiment = experiment_named("thrown-block")
    assert step_sizes(experiment, {}, 3) == (2e-3, 1e-3, 5e-4)
    assert step_sizes(experiment, {"controller.period": 4e-3}, 2) == (4e-3, 2e-3)


def test_rounding_at_fine_steps_spoils_no_order():
    errors = [7.0 * (step - STEPS[-1]) for step in STEPS[:-1]]
    found = convergence_of("alpha", refinements([*errors[:3], 1e-13]))
    assert found.order == pytest.approx(1.0, abs=1e-3)


def test_a_step_that_is_refused_is_no_fall():
    rows = refinements([4e-3, 2e-3, 1e-3, 5e-4])
    rows[0] = Refinement("alpha", STEPS[0], "refused", 0.0, None, None, "the step does not divide it")
    found = convergence_of("alpha", rows)
    assert found.text.endswith("; cannot be run at 2 ms")


def test_runs_with_only_a_start_are_not_compared():
    rows = [Refinement("alpha", step, "recovered", 0.0, None, None) for step in STEPS]
    assert convergence_of("alpha", rows).text.startswith("nothing to compare")
