"""Convergence, told from invented errors."""

import pytest

from experiments.benchmarks.comparison.step_refinement import Rung, convergence_of, fitted_order, ladder
from experiments.catalogue.registry import experiment_named

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)


def rungs(errors, fell=()):
    rows = [
        Rung("alpha", step, "fell" if step in fell else "stood", 3.0, None if step in fell else error, error)
        for step, error in zip(STEPS, [*errors, None], strict=True)
    ]
    rows[-1] = Rung("alpha", STEPS[-1], "fell" if STEPS[-1] in fell else "stood", 3.0, None, None)
    return rows


@pytest.mark.parametrize("order", [0.5, 1.0, 2.0, 4.0])
def test_the_order_is_found_though_the_truth_is_the_finest_step(order):
    errors = [7e4 * (step**order - STEPS[-1] ** order) for step in STEPS[:-1]]
    assert fitted_order(STEPS[:-1], errors, STEPS[-1])[0] == pytest.approx(order, abs=1e-3)
    found = convergence_of("alpha", rungs(errors))
    assert found.order == pytest.approx(order, abs=1e-3)
    assert found.scatter == pytest.approx(1.0, abs=1e-3)


def test_errors_that_grow_are_no_convergence():
    found = convergence_of("alpha", rungs([4e-3, 2e-3, 2.5e-3, 3e-3]))
    assert found.order is None
    assert found.words == "shows no convergence at these steps: at 0.5 ms it is no closer than at 1 ms"
    unsteady = convergence_of("alpha", rungs([4e-3, 2e-3, 2.5e-3, 1e-3]))
    assert unsteady.order is None
    assert unsteady.words == "comes closer, but not steadily: at 0.5 ms it is no closer than at 1 ms"


def test_errors_that_jump_have_no_order():
    found = convergence_of("alpha", rungs([4e-3, 3.99e-3, 1e-6, 0.9e-6]))
    assert found.order is None
    assert found.words.startswith("comes closer, but no order fits: errors are off")


def test_errors_that_hardly_fall_have_no_order():
    found = convergence_of("alpha", rungs([4.2e-3, 4.1e-3, 4.05e-3, 4.0e-3]))
    assert found.order is None
    assert found.words == "comes closer, but no order from 0.1 to 8 fits"


def test_falls_are_told():
    found = convergence_of("alpha", rungs([1.0, 4e-3, 2e-3, 1e-3], fell={2e-3}))
    assert found.words.endswith("; falls at 2 ms")
    assert found.converges
    few = convergence_of("alpha", rungs([1.0, 1.0, 2e-3, 1e-3], fell={2e-3, 1e-3}))
    assert not few.converges
    assert "too few" in few.words


def test_there_is_nothing_to_converge_to_where_the_finest_fell():
    found = convergence_of("alpha", rungs([4e-3, 2e-3, 1e-3, 5e-4], fell={STEPS[-1]}))
    assert found.order is None
    assert "nothing to compare with" in found.words


def test_the_ladder_begins_at_the_controllers_period():
    experiment = experiment_named("thrown-block")
    assert ladder(experiment, {}, 3) == (2e-3, 1e-3, 5e-4)
    assert ladder(experiment, {"controller.period": 4e-3}, 2) == (4e-3, 2e-3)


def test_errors_of_rounding_are_exact():
    """As of a box that falls freely: no error is left to shrink, and none of it is told as a lack of steps."""
    for errors in ([0.0] * 4, [3e-16, 1e-15, 0.0, 2e-16]):
        found = convergence_of("alpha", rungs(errors))
        assert found.order is None
        assert found.words == "exact to rounding at all steps"


def test_rounding_at_fine_steps_spoils_no_order():
    errors = [7.0 * (step - STEPS[-1]) for step in STEPS[:-1]]
    found = convergence_of("alpha", rungs([*errors[:3], 1e-13]))
    assert found.order == pytest.approx(1.0, abs=1e-3)


def test_a_step_that_is_refused_is_no_fall():
    rows = rungs([4e-3, 2e-3, 1e-3, 5e-4])
    rows[0] = Rung("alpha", STEPS[0], "refused", 0.0, None, None, "the step does not divide it")
    found = convergence_of("alpha", rows)
    assert found.words.endswith("; cannot be run at 2 ms")


def test_runs_with_only_a_start_are_not_compared():
    rows = [Rung("alpha", step, "stood", 0.0, None, None) for step in STEPS]
    assert convergence_of("alpha", rows).words.startswith("nothing to compare")
