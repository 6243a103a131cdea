"""Joints with stops where their ranges of motion end."""

import math
from dataclasses import replace

import pytest

from biped import human, simulate
from biped.model import ModelError
from biped.model.stops import with_stops
from biped.runs.state import State
from experiments import experiment_named

KNEE = "left_knee_pitch"


def test_stops_are_the_ranges():
    model = with_stops(human())
    joints = {body.joint.name: body.joint for body in model.bodies}
    for joint, lower, upper in human().ranges:
        assert (joints[joint].lower, joints[joint].upper) == (lower, upper)
    assert math.degrees(joints[KNEE].lower) == pytest.approx(-135.0)


def test_a_narrower_limit_of_a_joint_stays():
    model = human()
    bodies = [
        replace(one, joint=replace(one.joint, upper=-0.1)) if one.joint.name == KNEE else one for one in model.bodies
    ]
    joints = {body.joint.name: body.joint for body in with_stops(replace(model, bodies=tuple(bodies))).bodies}
    assert joints[KNEE].upper == -0.1


def test_a_knee_with_a_stop_does_not_bend_forwards():
    q = human().configuration(angles={KNEE: -0.2})
    v = human().neutral()[: human().nv] * 0.0
    v[human().dof(KNEE)] = 3.0
    ends = {}
    for name, model in (("free", human()), ("stopped", with_stops(human()))):
        aloft = model.without_contacts()
        run = simulate(aloft, state=State.at(aloft, q, v), duration=0.3, step=1e-3)
        ends[name] = float(run.frame[f"angle_{KNEE}"].max())
    assert ends["free"] > 0.3
    assert ends["stopped"] < 0.05


def test_a_model_without_ranges_is_refused():
    with pytest.raises(ModelError, match="no ranges of motion"):
        with_stops(replace(human(), ranges=()))


def test_the_experiment_has_them_where_it_is_told_to():
    balance = experiment_named("balance")
    assert all(math.isinf(body.joint.upper) for body in balance.build().model.bodies)
    scene = balance.build({"robot.ranges": 1, "run.duration": 0.1})
    assert {body.joint.upper for body in scene.model.bodies if body.joint.name == KNEE} == {0.0}
    pressed = scene.run().frame["ledger_stops_stored"]
    assert pressed.max() < 1e-9  # it stands well within them
