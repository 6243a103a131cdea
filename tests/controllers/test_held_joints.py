"""Joints outside the legs: held by the workspace controller, by impedance or servo, or refused."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import (
    Fall,
    InputError,
    ModelError,
    Observation,
    Push,
    Sensors,
    State,
    forward_kinematics,
    simulate,
    standing,
)
from biped.disturbances.sensors import ProprioceptiveChannel
from biped.kernels.loop.measurement import new_measurement
from biped.kernels.tree.dynamics import set_tree_data
from biped.model import Body, Model, human, revolute, spherical
from biped.model.legs import straight_knees
from contact import RUBBER
from controllers import HeldJoints, SetPointMotion, WorkspaceController, WorkspaceGains
from controllers.kernels.workspace import workspace_torques
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
    """With all other joints locked: frequency and decay of θ̈ + 2ζω θ̇ + ω² θ = 0."""
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
        disturbances=(Sensors(proprioceptive=ProprioceptiveChannel(joint_noise=1e-3), seed=1, estimator="none"),),
    )  # fmt: skip
    exact = simulate(model, WorkspaceController(), state=start(model), duration=0.2)
    assert not np.allclose(noisy.frame["torque_left_knee_pitch"], exact.frame["torque_left_knee_pitch"])


def test_joints_that_cannot_be_held_are_refused():
    with pytest.raises(InputError, match="'left_shoulder' of model 'armed', outside the legs, is spherical: weld"):
        WorkspaceController().law(with_arms(spherical))
    with pytest.raises(ModelError, match="unknown joint 'left_elbw'; did you mean 'left_elbow'"):
        WorkspaceController(held=HeldJoints(angles={"left_elbw": 0.1})).impedance(with_arms())


@refuses(
    ({"by": "glue"}, "controller.held.by = 'glue': it must be one of impedance, servo"),
    ({"frequency": 0.0}, "controller.held.frequency = 0.0: it must be a finite number above zero"),
    ({"damping_ratio": -1.0}, "controller.held.damping_ratio = -1.0: it must be a finite number, zero or above"),
    ({"angles": {"left_elbow": math.nan}}, "angles"),
)
def test_bad_settings_are_refused(settings):
    HeldJoints(**settings)


LARGEST = 1e3


def bent(model, degrees):
    knee = np.radians(degrees)
    pitch = {"hip_pitch": knee / 2.0, "knee_pitch": -knee, "ankle_pitch": knee / 2.0}
    angles = {f"{side}_{joint}": angle for side in ("left", "right") for joint, angle in pitch.items()}
    return model.configuration((0.0, 0.0, 1.2), (1.0, 0.0, 0.0, 0.0), angles)


def largest_torque(degrees, **settings):
    """Return the largest torque [N·m] at rest 1 cm above the set point."""
    model = human()
    controller = WorkspaceController((0.0, 0.0, 1.19), **settings)
    return float(np.abs(controller.torques(Observation(model, 0.0, bent(model, degrees), np.zeros(model.nv)))).max())


def test_undamped_torques_grow_as_one_over_the_angle():
    torques = [largest_torque(degrees) for degrees in (1.0, 0.1)]
    assert torques[0] == pytest.approx(330.0, rel=0.01)
    assert torques[1] / torques[0] == pytest.approx(10.0, rel=0.05)


def test_damped_torques_are_bounded_at_all_angles():
    torques = [largest_torque(degrees, largest_inertia=LARGEST) for degrees in (30.0, 10.0, 5.0, 3.0, 1.0, 0.1, 0.0)]
    assert max(torques) < 1.05 * largest_torque(5.0, largest_inertia=LARGEST)
    assert torques[-1] < 1.0


@pytest.mark.parametrize("degrees", [60.0, 20.0, 2.0])
def test_damping_is_that_of_damped_least_squares(degrees):
    """F = (P⁻² + 1/L²)⁻¹ P⁻² (P X + z), with P and z from undamped controllers, one acceleration at a time."""
    model = human()
    q = bent(model, degrees)

    def wrench(asked=(0.0,) * 6, **settings):
        error = -np.asarray(asked)
        turned = (np.sqrt(1.0 - error[3:] @ error[3:]), *-error[3:])
        controller = WorkspaceController(
            tuple(q[:3] - error[:3]), turned, WorkspaceGains(1.0, 0.0, 1.0, 0.0), **settings
        )
        law, measurement = controller.law(model), new_measurement(model.tree, model.nq, model.nv)
        measurement.q[:], measurement.time[0] = q, 0.0
        set_tree_data(model.tree, q, np.zeros(model.nv), measurement.motion)
        workspace_torques(law, measurement, np.zeros(model.nv), np.zeros(6))
        return law.scratch.wrench.copy()

    z = wrench()
    P = np.column_stack([(wrench(0.1 * np.eye(6)[k]) - z) / 0.1 for k in range(6)])
    assert np.abs(P - P.T).max() < 1e-6 * np.abs(P).max()
    asked = np.array([0.2, -0.3, 0.4, 0.05, 0.1, -0.1])
    undamped = wrench(asked)
    assert undamped == pytest.approx(P @ asked + z, rel=1e-6, abs=1e-6)
    squared = np.linalg.matrix_power(np.linalg.inv(P), 2)
    expected = np.linalg.solve(squared + np.eye(6) / LARGEST**2, squared @ undamped)
    assert np.abs(wrench(asked, largest_inertia=LARGEST) - expected).max() < 1e-6 * np.abs(undamped).max()


def rises_to(height, **settings):
    """Return a run in which a standing human moves its trunk to a height [m] within 2 s."""
    motion = SetPointMotion("step", displacement=(0.0, 0.0, height - 1.10), start=0.2, rise=2.0)
    controller = WorkspaceController(motion=motion, **settings)
    return simulate(human(), controller, duration=4.0, state=standing(human()), fall=Fall())


def check_of(run):
    return next((check for check in run.trust if check.name == "straight leg"), None)


def test_out_of_reach_a_damped_human_stands_straight_and_an_undamped_one_is_flung():
    damped, undamped = rises_to(1.24, largest_inertia=LARGEST), rises_to(1.24)
    assert damped.summary["verdict"] == "recovered"
    assert damped.metrics["peak_torque"] < 120.0
    assert check_of(damped) is None
    assert undamped.summary["verdict"] == "lost control"
    assert undamped.metrics["peak_torque"] > 1e4
    assert check_of(undamped).passed == "warning"
    assert "of straight" in check_of(undamped).text


def test_bent_knees_are_no_warning():
    run = rises_to(1.20)
    assert check_of(run).passed == "ok"
    knees = run.frame[["angle_left_knee_pitch", "angle_right_knee_pitch"]].to_numpy()
    assert check_of(run).value == pytest.approx(1.0 / np.abs(knees).min())


def test_a_knee_is_straight_where_hip_and_ankle_are_farthest_apart():
    person = human()
    bodies = []
    for part in person.bodies:
        moved = part
        if part.name.endswith("_ankle"):
            x, y, z = part.joint.position
            moved = replace(part, joint=replace(part.joint, position=(x - 0.05, y, z)))
        bodies.append(moved)
    model = Model("bent", tuple(bodies), feet=person.feet)
    straight = straight_knees(model)["left_knee_pitch"]
    assert abs(straight) > 0.1

    def stretch(angle):
        motion = forward_kinematics(model, model.configuration(angles={"left_knee_pitch": angle}))
        hip, ankle = (motion.position[model.body_index(body)] for body in ("left_hip_2", "left_ankle"))
        return np.linalg.norm(ankle - hip)

    assert stretch(straight) > max(stretch(straight - 1e-3), stretch(straight + 1e-3))
    assert straight_knees(person) == pytest.approx({"left_knee_pitch": 0.0, "right_knee_pitch": 0.0}, abs=1e-12)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_an_inertia_is_above_zero(value):
    with pytest.raises(InputError, match="largest_inertia"):
        WorkspaceController(largest_inertia=value)
