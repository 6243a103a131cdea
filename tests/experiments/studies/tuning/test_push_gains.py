"""The gains that were tuned against pushes, against the thesis's: biped tune examples/tune-push.toml."""

import math
from pathlib import Path

import pytest

from controllers.gains import read_gains
from experiments.catalogue.registry import experiment_named
from experiments.studies.trial import Trial, run_trial

FILE = Path(__file__).resolve().parents[4] / "examples" / "gains-push.toml"
TUNED = {f"controller.{name}": value for name, value in read_gains(FILE).items()}
#: [N·s] what the thesis's gains withstand, forwards first, then in steps of 45° over the left.
THESIS = (14.3, 6.3, 4.7, 6.3, 10.6, 6.3, 4.7, 6.3)


def push(place, factor, gains, seed=11):
    changes = {"push.impulse": factor * THESIS[place], "push.azimuth": place * math.pi / 4, "initial.seed": seed}
    return run_trial(experiment_named("balance"), Trial(0, changes | gains))


@pytest.mark.parametrize("place", range(8))
def test_a_push_four_tenths_harder_is_withstood_and_was_not(place):
    assert push(place, 1.4, {})["verdict"] == "lost control"
    assert push(place, 1.4, TUNED)["verdict"] == "recovered"


def test_what_the_thesis_withstands_takes_no_more_torque():
    pairs = [(push(place, 0.7, {}), push(place, 0.7, TUNED)) for place in range(8)]
    assert {result["verdict"] for pair in pairs for result in pair} == {"recovered"}
    before, after = ([pair[k] for pair in pairs] for k in (0, 1))
    assert sum(result["rms_torque"] for result in after) < sum(result["rms_torque"] for result in before)
    assert all(tuned["peak_torque"] < 1.001 * thesis["peak_torque"] for thesis, tuned in pairs)
    assert all(result["position_error"] < 0.01 and result["orientation_error"] < 0.01 for result in after)
