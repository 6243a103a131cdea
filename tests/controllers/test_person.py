"""Person: it stands under the noise of its sensors, bends its hips, and recovers from pushes in all directions."""

import math

import numpy as np
import pytest

from biped.metrics import series
from biped.runs.verdict import RECOVERED, STEPPED
from controllers import Person
from experiments.catalogue.parameters.controllers import CONTROLLERS, OF_PERSON
from experiments.catalogue.registry import experiment_named

PERSON = {"sensors.preset": "young", "run.step": 2e-3}


def run(**changes):
    named = {name.replace("__", ".", 1): value for name, value in changes.items()}
    return experiment_named("balance").driven_by("person").run({**PERSON, **named})


def hip_flexion(size, rise):
    """Return the greatest hip flexion [°] after the floor moves back by ``size`` [m] within ``rise`` [s]."""
    moved = run(platform__motion="step", platform__start=1.0, platform__rise=rise, platform__size=size,
                run__duration=4.0)  # fmt: skip
    assert moved.summary["verdict"] == RECOVERED
    assert moved.frame["steps_taken"].max() == 0
    angle = moved.frame[["angle_left_hip_pitch", "angle_right_hip_pitch"]].mean(axis=1)
    return math.degrees((angle - angle.iloc[0]).max())


def test_name_stance_and_muscles():
    balance = experiment_named("balance")
    values = balance.driven_by("person").values({"initial.width": 0.3})
    assert CONTROLLERS.find("person").thing is Person
    assert values["initial.width"] == 0.3
    assert {name: values[name] for name in OF_PERSON if name != "initial.width"} == {
        name: value for name, value in OF_PERSON.items() if name != "initial.width"
    }
    assert balance.driven_by("person").driven_by("stepping").values()["actuators.stiffness"] == 0.0
    # The stiffness of the ankle torque is that of people (Peterka 2002), at the human's height of the CoM.
    stiffness = 1.0 + Person().capture / math.sqrt(9.81 / 0.9)
    assert 1.5 < stiffness < 1.9


def test_it_sways_like_young_people():
    plate = series(run(sensors__seed=3, run__duration=30.0)).dropna(subset="cop_ap")
    for axis, least, most in (("ap", 1.0, 9.0), ("ml", 0.5, 6.0)):  # [mm] people ± 2 SD (Santos and Duarte 2016)
        assert least < 1e3 * np.std(plate[f"cop_{axis}"]) < most


@pytest.mark.parametrize("azimuth", [0.0, 1.57, 3.14])
def test_it_recovers_from_pushes(azimuth):
    pushed = run(push__impulse=20.0, push__azimuth=azimuth, push__start=1.0, run__duration=5.0, sensors__seed=1)
    assert pushed.summary["verdict"] in (RECOVERED, STEPPED)
    metrics = pushed.summary["metrics"]
    if metrics["footsteps"]:  # people step after 300 ms at the earliest (Hof et al. 2010)
        assert metrics["first_step_onset"] + metrics["first_step_duration"] > 0.3


def test_ankles_act_first_and_hip_flexion_grows_with_the_floor_motion():
    small, large = (hip_flexion(size, 0.5) for size in (0.04, 0.15))
    assert small < 8.0
    assert 10.0 < large < 40.0  # [°] one person, 12 cm: 27 (De Groote et al. 2017)
