"""Standing undisturbed with senses that are late, for as long as one likes."""

import numpy as np
import pytest

from experiments.catalogue.registry import experiment_named

#: Laws that see ahead stand in both stances; those of postural control are laws of upright stance.
STANDS = [(name, stance) for name in ("whole-body", "stepping", "workspace", "cone-workspace", "lqr")
          for stance in ("upright", "crouch")] + [("postural", "upright"), ("reweighting", "upright")]  # fmt: skip


def assert_stands(name, stance, delay, duration):
    """And comes to rest: its centre of mass moves less in the second half of the time than in the first."""
    late = {"controller.name": name, "initial.stance": stance, "sensors.delay": delay}
    often = {"run.duration": duration, "run.step": 2e-3, "run.record_every": 0.02}
    run = experiment_named("balance").build(late | often).run()
    assert run.summary["verdict"] == "recovered"
    first, second = np.array_split(run.frame[["com_x", "com_y", "com_z"]].to_numpy(), 2)
    assert np.linalg.norm(np.ptp(second, axis=0)) < np.linalg.norm(np.ptp(first, axis=0))


def test_who_stands_for_ten_seconds_stands_for_forty():
    assert_stands("whole-body", "upright", 0.15, 40.0)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.1, 0.15])
@pytest.mark.parametrize(("name", "stance"), STANDS)
def test_who_stands_undisturbed_stands_for_ten_minutes(name, stance, delay):
    """Whatever ticks leave to the next, as rounding, has time to grow e-fold 900 times."""
    assert_stands(name, stance, delay, 600.0)
