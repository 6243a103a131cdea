"""Joints that are in no leg: held by the workspace controller, within the steps or by a servo, or refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import Fall, InputError, ModelError, Push, Sensors, State, simulate, standing
from biped.model import Body, Model, human, revolute, spherical
from contact import RUBBER
from controllers import HeldJoints, WorkspaceController
from tests.refusals import refuses

ARM = ((0.03, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.004))


def with_arms(joint=revolute) -> Model:
    person, arms = human(), []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        place = {"position": (0.0, 0.25 * sign, 0.25)}
        shoulder = spherical(f"{side}_shoulder", **place) if joint is spherical else revolute(
            f"{side}_shoulder", (0.0, 1.0, 0.0), **place)  # fmt: skip
        elbow = revolute(f"{side}_elbow", (0.0, 1.0, 0.0), (0.0, 0.0, -0.3))
        arms.append(Body(f"{side}_upper_arm", 2.0, ARM, (0.0, 0.0, -0.15), shoulder, "trunk"))
        arms.append(Body(f"{side}_forearm", 1.0, ARM, (0.0, 0.0, -0.15), elbow, f"{side}_upper_arm"))
    return Model("armed", (*person.bodies, *arms), contact_points=person.contact_points, feet=person.feet)


def start(model: Model) -> State:
    return State.at(model, np.concatenate([standing(human(), RUBBER).q, np.zeros(model.nq - human().nq)]))


@pytest.mark.parametrize("by", ["impedance", "servo"])
def test_a_human_with_arms_is_pushed_and_keeps_its_arms_where_they_are(by):
    model = with_arms()
    controller = WorkspaceController(held=HeldJoints(by=by, angles={"left_elbow": -0.4}))
    push = Push("trunk", (1.0, 0.0, 0.0), 4.0, 0.2, 0.5)
    run = simulate(model, controller, state=start(model), fall=Fall(), disturbances=(push,), duration=3.0)
    assert run.summary["verdict"] == "recovered"
    last = run.frame.iloc[-1]
    # Gravity turns the bent forearm back: m g l sin θ against k, so that it hangs a little straighter.
    assert -0.4 < last["angle_left_elbow"] < -0.3
    assert abs(last["angle_right_elbow"]) < 0.02
    assert run.frame["angle_left_shoulder"].abs().max() < 0.1


def test_one_joint_swings_as_it_is_tuned():
    """All else being locked: the frequency and the decay of θ̈ + 2ζω θ̇ + ω² θ = 0."""
    model = with_arms()
    held = HeldJoints(frequency=2.0, damping_ratio=0.25)
    found = held.impedance(model, ("left_elbow",))
    inertia = ARM[1][1] + 1.0 * 0.15**2  # about the elbow's axis
    omega = 2.0 * math.pi * 2.0
    assert found.stiffness == {"left_elbow": pytest.approx(inertia * omega**2, rel=1e-12)}
    assert found.damping == {"left_elbow": pytest.approx(2.0 * 0.25 * inertia * omega, rel=1e-12)}
    servo = replace(held, by="servo").servo(model, ("left_elbow",))
    dof = model.dof("left_elbow")
    assert (servo.kp[dof], servo.kd[dof]) == (found.stiffness["left_elbow"], found.damping["left_elbow"])
    assert np.count_nonzero(servo.kp) == np.count_nonzero(servo.kd) == 1


def test_nothing_is_held_where_all_joints_are_in_legs():
    assert WorkspaceController().impedance(human()) is None
    law = WorkspaceController(held=HeldJoints(by="servo")).law(human())
    assert not law.legs.diagonal.any()
    assert not law.servo.kp.any()


def test_sensors_act_on_a_law_that_also_holds_joints():
    model = with_arms()
    noisy = simulate(
        model, WorkspaceController(), state=start(model), duration=0.2,
        disturbances=(Sensors(joint_noise=1e-3, seed=1),),
    )  # fmt: skip
    exact = simulate(model, WorkspaceController(), state=start(model), duration=0.2)
    assert not np.allclose(noisy.frame["torque_left_knee_pitch"], exact.frame["torque_left_knee_pitch"])


def test_a_joint_that_cannot_be_held_is_refused():
    with pytest.raises(InputError, match="'left_shoulder' of model 'armed', which is in no leg, is spherical: weld"):
        WorkspaceController().law(with_arms(spherical))


@refuses(
    ({"by": "glue"}, "controller.held.by = 'glue': it must be one of impedance, servo"),
    ({"frequency": 0.0}, "controller.held.frequency = 0.0: it must be a finite number above zero"),
    ({"damping_ratio": -1.0}, "controller.held.damping_ratio = -1.0: it must be a finite number, zero or above"),
    ({"angles": {"left_elbow": math.nan}}, "angles"),
)
def test_bad_settings_are_refused(settings):
    HeldJoints(**settings)


def test_an_unknown_joint_is_refused():
    with pytest.raises(ModelError, match="unknown joint 'left_elbw'; did you mean 'left_elbow'"):
        WorkspaceController(held=HeldJoints(angles={"left_elbw": 0.1})).impedance(with_arms())
