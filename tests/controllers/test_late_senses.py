"""Quiet stance with sensory delay, without noise and pushes, for 10 minutes."""

import numpy as np
import pytest

from experiments.catalogue.registry import experiment_named

#: Controllers with a predictor stand in both stances; controllers of postural control are for upright stance.
STANDS = [
    *((name, "upright") for name in ("postural", "reweighting")),
    *((name, "upright") for name in ("whole-body", "stepping", "workspace", "cone-workspace", "lqr")),
    *((name, "crouch") for name in ("whole-body", "stepping", "workspace", "cone-workspace", "lqr")),
]


def second_half(name, stance, delay, duration):
    """Return positions [m] of the centre of mass in the second half of a run that ends upright."""
    late = {"controller.name": name, "initial.stance": stance, "sensors.delay": delay}
    often = {"run.duration": duration, "run.step": 2e-3, "run.record_every": 0.02}
    run = experiment_named("balance").build(late | often).run()
    assert run.summary["verdict"] == "recovered"
    return np.array_split(run.frame[["com_x", "com_y", "com_z"]].to_numpy(), 2)[1]


def test_whole_body_stands_for_forty_seconds():
    """A rounding error that grew e-fold each 0.7 s would make the body fall within 25 s."""
    assert np.ptp(second_half("whole-body", "upright", 0.15, 40.0), axis=0).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.1, 0.15])
@pytest.mark.parametrize(("name", "stance"), STANDS)
def test_controllers_stand_for_ten_minutes(name, stance, delay):
    """And come to rest: within 1 nm in the second five minutes, as the page on late senses says."""
    assert np.ptp(second_half(name, stance, delay, 600.0), axis=0).max() < 1e-9
