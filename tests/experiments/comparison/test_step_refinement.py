"""The steps of a refinement."""

from experiments.catalogue.registry import experiment_named
from experiments.comparison.step_refinement import step_sizes


def test_the_step_sizes_begin_at_the_controllers_period():
    experiment = experiment_named("thrown-block")
    assert step_sizes(experiment, {}, 3) == (2e-3, 1e-3, 5e-4)
    assert step_sizes(experiment, {"controller.period": 4e-3}, 2) == (4e-3, 2e-3)
