import numpy as np
import pytest

from biped import Controller, Fall, InputError, ModelError, Observation, human, simulate
from controllers import JointImpedance, JointPD


@pytest.fixture(scope="module")
def model():
    return human()


class Python(Controller):
    def __init__(self, controller):
        self.controller = controller
        self.period = controller.period

    def torques(self, observation):
        return self.controller.torques(observation)


@pytest.mark.parametrize("controller", [JointPD(), JointImpedance()], ids=lambda c: type(c).__name__)
def test_the_human_stands_with_the_defaults(model, controller):
    assert isinstance(controller, Controller)
    run = simulate(model, controller, duration=5.0, fall=Fall())
    assert run.summary["verdict"] == "recovered"
    assert run.frame["body_z"].iloc[-1] == pytest.approx(1.229, abs=2e-3)


def test_the_impedance_is_stable_with_the_feet_in_the_air_where_the_same_gains_outside_the_step_are_not(model):
    aloft = model.configuration(position=(0.0, 0.0, 3.0), angles={"left_ankle_pitch": 0.3, "right_knee_pitch": -0.4})
    from biped import State

    def after(controller, step):
        run = simulate(model, controller, state=State.at(model, aloft), step=step, duration=0.4, fall=Fall())
        return run.summary["verdict"], np.abs(run.frame.filter(like="rate_").iloc[-1]).max()

    verdict, rate = after(JointImpedance(), 2e-3)
    assert verdict == "fell"  # it flies, and nothing else is wrong
    assert rate < 3.0
    verdict, _ = after(JointPD(2000.0, 50.0), 5e-4)
    assert verdict == "lost control"


def test_compiled_and_python_torques_are_the_same(model):
    controller = JointPD(
        kp={"left_knee_pitch": 800.0, "right_hip_roll": 300.0}, kd=3.0, target={"left_knee_pitch": -0.3}, limit=50.0
    )
    compiled = simulate(model, controller, duration=0.1)
    python = simulate(model, Python(controller), duration=0.1)
    columns = [f"torque_{joint}" for joint in model.joint_names]
    assert np.array_equal(compiled.frame[columns], python.frame[columns])
    assert np.abs(compiled.frame[columns].to_numpy()).max() == pytest.approx(50.0)


def test_scalars_and_tables(model):
    law = JointPD(kp={"left_knee_pitch": 800.0}, kd=3.0, limit={"left_knee_pitch": 40.0}).law(model)
    dof = model.dof("left_knee_pitch")
    assert law.kp[dof] == 800.0
    assert np.count_nonzero(law.kp) == 1
    assert np.count_nonzero(law.kd) == 12
    assert law.limit[dof] == 40.0
    assert np.isinf(law.limit[model.dof("right_knee_pitch")])
    impedance = JointImpedance(stiffness={"left_knee_pitch": 800.0}, damping=5.0).impedance(model)
    assert impedance.stiffness["left_knee_pitch"] == 800.0
    assert impedance.stiffness["right_knee_pitch"] == 0.0
    assert set(impedance.damping.values()) == {5.0}


def test_an_impedance_commands_no_torques(model):
    observation = Observation(model, 0.0, model.neutral(), np.zeros(model.nv))
    assert np.array_equal(JointImpedance().torques(observation), np.zeros(12))


@pytest.mark.parametrize("make", [lambda joint: JointPD({joint: 3.0}), lambda joint: JointImpedance(rest={joint: 3.0})])
def test_unknown_joints_are_named(model, make):
    with pytest.raises(ModelError, match="unknown joint 'left_knee'; did you mean 'left_knee_pitch'"):
        simulate(model, make("left_knee"), duration=5e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda: JointPD(kp=-1.0), lambda: JointPD(kp=float("nan")), lambda: JointPD(kd={"left_knee_pitch": -2.0}),
        lambda: JointPD(target=float("inf")), lambda: JointPD(limit=-1.0), lambda: JointPD(limit=float("nan")),
        lambda: JointPD(period=0.0), lambda: JointPD(kp="stiff"), lambda: JointPD(kp=True),
        lambda: JointImpedance(stiffness=-1.0), lambda: JointImpedance(damping=float("inf")),
        lambda: JointImpedance(rest={"left_knee_pitch": float("nan")}), lambda: JointImpedance(period=-1.0),
    ],
)  # fmt: skip
def test_impossible_numbers_are_refused(make):
    with pytest.raises(InputError, match="it must be"):
        make()
