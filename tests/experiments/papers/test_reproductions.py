"""Step sizes from 2 ms down to 50 µs tell one story, and the whole friction search finds one interval."""

import numpy as np
import pytest

from experiments.catalogue.registry import experiment_named
from experiments.papers.wendlandt_1997.friction_search import search

STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4, 1e-4)


@pytest.mark.parametrize(("name", "apart"), [("stand-tilted", 2e-4), ("thrown-block", 1e-3)])
def test_every_step_size_tells_the_same_story(name, apart):
    """The trunk's path at steps from 0.1 to 2 ms, against 0.05 ms: they differ by less than ``apart`` [m]."""
    experiment = experiment_named(name)
    axes = ["body_x", "body_y", "body_z"]
    fine = experiment.run({"run.step": 5e-5}).frame[axes].to_numpy()
    for step in STEPS:
        run = experiment.run({"run.step": step})
        assert run.summary["verdict"] == "recovered"
        assert np.linalg.norm(run.frame[axes].to_numpy() - fine, axis=1).max() < apart


@pytest.mark.slow
def test_one_interval_of_friction_reproduces_every_published_fact():
    ((least, greatest),) = search().intervals
    default = experiment_named("box-drop").build().floor.mu_d
    assert least < default < greatest
    assert greatest - least < 0.02
