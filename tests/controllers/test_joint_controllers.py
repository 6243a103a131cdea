import numpy as np
import pytest
from scipy.linalg import expm

from biped import Controller, Fall, InputError, ModelError, Observation, Signal, State, chain, human, simulate, standing
from biped.dynamics import inverse_dynamics
from biped.kernels.loop.measurement import new_measurement
from biped.kernels.tree.dynamics import set_tree_data
from biped.model import random_tree
from controllers import JointImpedance, JointPD, WorkspaceController
from controllers.computed_torque import ComputedTorque
from controllers.kernels.joint_pd import PdLaw, pd_torques
from controllers.kernels.workspace import workspace_torques
from tests.refusals import refuses


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


KP = np.array([[90.0, 20.0, -10.0], [20.0, 120.0, 15.0], [-10.0, 15.0, 80.0]])
KD = np.array([[18.0, 2.0, 0.0], [2.0, 22.0, 1.0], [0.0, 1.0, 16.0]])
PATH = {"joint_2": Signal.step(0.7, 0.0, 0.8), "joint_3": Signal.sine(0.4, 0.6)}
END = 0.6


def arm():
    return chain(3).without_contacts()


def test_torques_are_inverse_dynamics_of_the_accelerations_asked_for():
    rng, model = np.random.default_rng(0), arm()
    q, v = rng.normal(size=3), rng.normal(size=3)
    found = ComputedTorque(KP, KD, {"joint_1": 0.3}).torques(Observation(model, 0.0, q, v))
    expected = inverse_dynamics(model, q, v, -KP @ (q - [0.3, 0.0, 0.0]) - KD @ v)
    assert found == pytest.approx(expected, rel=1e-12)


def test_errors_of_an_arm_come_to_the_linear_ones_in_proportion_to_the_tick():
    model, q = arm(), np.array([0.5, -0.3, 0.8])
    rates = {joint: (signal(1e-7) - signal(0.0)) / 1e-7 for joint, signal in PATH.items()}
    start = np.concatenate([q - [0.3, 0.0, 0.0], [-rates.get(joint, 0.0) for joint in model.joint_names]])
    A = np.block([[np.zeros((3, 3)), np.eye(3)], [-KP, -KD]])
    expected = (expm(END * A) @ start)[:3]
    errors = []
    for period in (4e-3, 2e-3, 1e-3):
        controller = ComputedTorque(KP, KD, {"joint_1": 0.3}, PATH, period)
        frame = simulate(model, controller, state=State.at(model, q), duration=END, step=period / 4.0).frame
        wanted = [0.3, *(float(PATH[joint](END)) for joint in ("joint_2", "joint_3"))]
        errors.append(frame[[f"angle_{joint}" for joint in model.joint_names]].iloc[-1].to_numpy() - wanted)
    off = np.abs(np.array(errors) - expected).max(axis=1)
    assert off[:-1] / off[1:] == pytest.approx([2.0, 2.0], abs=0.05)
    assert np.abs(2.0 * errors[2] - errors[1] - expected).max() < 1e-5


def test_a_body_in_flight_moves_its_joints_as_told_and_falls_as_it_must():
    model = human().without_contacts()
    rng = np.random.default_rng(1)
    v = np.concatenate([np.zeros(3), rng.normal(size=3), rng.normal(size=12)])
    q = model.configuration((0.0, 0.0, 2.0), None, dict(zip(model.joint_names, 0.3 * rng.normal(size=12), strict=True)))
    off = []
    for period in (2e-3, 1e-3):
        run = simulate(
            model, ComputedTorque(100.0, 20.0, period=period), state=State.at(model, q, v), duration=0.4, step=5e-4
        )
        time = run.frame["time"].to_numpy()[:, None]
        angles = run.frame[[f"angle_{joint}" for joint in model.joint_names]].to_numpy()
        rates = np.array([v[model.dof(joint)] for joint in model.joint_names])
        expected = (angles[0] + (rates + 10.0 * angles[0]) * time) * np.exp(-10.0 * time)
        off.append(np.abs(angles - expected).max())
        assert run.metrics["momentum_defect"] < 1e-9
    assert off[0] / off[1] == pytest.approx(2.0, abs=0.2)
    assert off[1] < 5e-3


def test_on_the_floor_it_keeps_its_posture_and_not_its_balance():
    start = standing(human())
    target = {joint: float(start.q[start.model.coordinate(joint)]) for joint in start.model.joint_names}
    run = simulate(start.model, ComputedTorque(target=target), state=start, duration=5.0, fall=Fall())
    start = run.state
    assert run.summary["verdict"] == "fell"
    angles = run.frame[[f"angle_{joint}" for joint in start.model.joint_names]].to_numpy()
    assert np.abs(angles - list(target.values())).max() < 0.12
    assert 2.0 * np.arccos(run.frame["body_qw"].iloc[-1]) > 0.9


@refuses(
    ({"kp": -1.0}, "computed_torque.kp = -1.0"),
    ({"kp": np.diag([1.0, -1.0, 1.0])}, "positive definite"),
    ({"kd": np.array([[1.0, 0.5], [0.0, 1.0]])}, "symmetric"),
    ({"path": {"joint_1": 0.3}}, "must be a Signal"),
    ({"period": 0.0}, "period"),
)
def test_what_is_no_gain_is_refused(arguments):
    ComputedTorque(**arguments)


def test_what_does_not_fit_the_model_is_refused():
    with pytest.raises(InputError, match="kp has shape \\(2, 2\\); it must be \\(3, 3\\)"):
        ComputedTorque(np.eye(2)).law(arm())
    with pytest.raises(ModelError, match="joint_9"):
        ComputedTorque(path={"joint_9": Signal.step(1.0)}).law(arm())
    with pytest.raises(InputError, match="needs ground reaction forces"):
        ComputedTorque().torques(Observation(human(), 0.0, human().neutral(), np.zeros(18)))


KINDS = ("revolute", "prismatic", "spherical")


@pytest.mark.jit_off
@pytest.mark.parametrize("seed", range(4))
def test_torques_are_those_of_springs_and_dampers_within_limits(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 9, kinds=KINDS)
    q, v = model.neutral(), rng.normal(size=model.nv)
    dofs, places = ([f(joint) for joint in model.joint_names] for f in (model.dof, model.coordinate))
    q[places] = rng.normal(size=len(places))
    law = PdLaw(*(np.abs(rng.normal(size=model.nv)) for _ in range(2)), rng.normal(size=model.nv), np.ones(model.nv))
    asked = -law.kp[dofs] * (q[places] - law.target[dofs]) - law.kd[dofs] * v[dofs]
    law.limit[dofs] = np.abs(asked) * np.resize([0.5, 1.5], len(dofs))
    measurement, torque = measured(model, q, v), np.full(model.nv, 7.0)
    pd_torques(law, measurement, torque, np.zeros(0))
    assert torque[dofs] == pytest.approx(asked * np.resize([0.5, 1.0], len(dofs)), rel=1e-14)
    assert (asked[::2] > 0.0).any() or (asked[::2] < 0.0).any()
    assert (np.delete(torque, dofs) == 7.0).all()


@pytest.mark.parametrize("controller", [WorkspaceController(), JointPD(kp=300.0, kd=5.0, limit=20.0)])
def test_a_row_has_the_torques_and_the_wrench_for_what_it_shows(controller, posture):
    model = human()
    run = simulate(model, controller, state=posture(model), duration=0.02, step=1e-3)
    q, v = (run.frame[list(names)].to_numpy() for names in (model.coordinate_names, model.velocity_names))
    torques = run.frame[[f"torque_{joint}" for joint in model.joint_names]].to_numpy()
    for k in range(len(run.frame) - 1):
        expected = controller.torques(Observation(model, 0.0, q[k], v[k]))
        assert torques[k] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if isinstance(controller, WorkspaceController):
            wrench = run.frame[list(controller.recorded)].to_numpy()[k]
            desired = np.zeros(6)
            workspace_torques(controller.law(model), measured(model, q[k], v[k]), np.zeros(model.nv), desired)
            assert wrench == pytest.approx(desired, rel=1e-9, abs=1e-9)
    assert np.abs(np.diff(torques[:-1], axis=0)).max() > 0.0


def measured(model, q, v):
    measurement = new_measurement(model.tree, model.nq, model.nv)
    measurement.q[:] = q
    set_tree_data(model.tree, q, v, measurement.motion)
    return measurement
