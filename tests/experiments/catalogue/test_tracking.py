"""Experiments whose set point moves: the human goes where it goes, and stands."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named

#: By experiment: how far its trunk goes [m] along an axis, or turns [rad].
GOES = {"squat": ("z", -0.25), "sway": ("y", 0.02), "sit-to-stand": ("z", 0.35), "lean": ("pitch", -np.radians(15.0))}


@pytest.fixture(scope="module", params=GOES)
def moved(request):
    return request.param, experiment_named(request.param).run()


def quaternions(frame, what):
    return Rotation.from_quat(frame[[f"{what}_q{part}" for part in "wxyz"]].to_numpy(), scalar_first=True)


def test_the_trunk_goes_where_it_is_told_and_the_human_stands(moved):
    name, run = moved
    frame = run.frame
    assert run.summary["verdict"] == "recovered"
    assert all(check.passed == "ok" for check in run.trust)
    away = frame[["body_x", "body_y", "body_z"]].to_numpy() - frame[["target_x", "target_y", "target_z"]].to_numpy()
    turned = quaternions(frame, "body") * quaternions(frame, "target").inv()
    assert np.linalg.norm(away, axis=1).max() < 5e-4
    assert turned.magnitude().max() < 2e-3
    axis, size = GOES[name]
    way = quaternions(frame, "body").as_rotvec()[:, 1] if axis == "pitch" else frame[f"body_{axis}"].to_numpy()
    gone = (way - way[0])[np.abs(way - way[0]).argmax()]
    assert abs(gone) == pytest.approx(abs(size), rel=0.03)
    assert name == "sway" or np.sign(gone) == np.sign(size)


def test_a_law_that_holds_a_posture_does_not_squat():
    squat = experiment_named("squat").driven_by("whole-body")
    with pytest.raises(InputError, match="cannot follow a moving set point.*choose workspace, cone-workspace, or"):
        squat.build(squat.parse({}))


def test_a_chair_is_for_humans():
    with pytest.raises(InputError, match="cannot be changed"):
        experiment_named("sit-to-stand").of_robot("anything.toml")


def test_a_gain_may_be_a_matrix_on_the_command_line():
    squat = experiment_named("squat")
    values = squat.parse({"controller.kp_position": "50,5,0,5,50,0,0,0,200"})
    assert squat.build(values).controller.gains.matrix("kp_position")[0, 1] == 5.0
    with pytest.raises(InputError, match="kp_position = .*one number or 3 or 9 finite numbers"):
        squat.parse({"controller.kp_position": "50,5,0,5"})
