"""Policies: networks of known functions, seen through the controller that runs them."""

import copy
import math
import re

import numpy as np
import pytest

from biped import InputError, Push, Scene, Session, State, human, simulate
from biped.control.observation import Observation
from biped.derivatives.linearization import linearize
from biped.model.geometry import quaternion_matrix
from controllers import JointPD
from controllers.policy import Policy
from experiments.cli.main import main
from tests.conftest import assert_goes_back
from tests.controllers.policy_files import counting_network, describe, linear_network

MODEL = human()
N = len(MODEL.joint_names)
KNEES = '{ "*" = 0.0, "*_knee_pitch" = -0.3 }'
STILL = {"observation": '["projected_gravity"]', "kp": "2000.0", "kd": "5.0"}


def observed(seed=1):
    """Return an observation of the human in a random state."""
    rng = np.random.default_rng(seed)
    turn = rng.normal(size=4)
    q = np.concatenate((rng.normal(size=3), turn / np.linalg.norm(turn), rng.normal(size=N)))
    return Observation(MODEL, 0.0, q, rng.normal(size=MODEL.nv))


def fed(folder, terms, size, observations, **keys):
    """Return what a network is fed last, of ``size`` numbers, from networks that give back N of them each."""
    numbers = []
    for first in range(0, size, N):
        network = linear_network(folder / "echo.onnx", np.eye(size + N)[first : first + N, :size])
        file = describe(folder / "echo.toml", network, observation=terms, kp="1.0", **keys)
        policy = Policy(file, forward=0.25, left=0.5, turn=-0.125, period=0.02)
        policy.reset(observations[0])
        for observation in observations:
            policy.torques(observation)
        numbers.append(policy.memory().action)
        MODEL.derived.clear()  # each file is read once for a model
    return np.concatenate(numbers)[:size]


def test_terms_are_in_the_axes_of_the_imu(tmp_path):
    seen = observed()
    turn = quaternion_matrix(seen.orientation).T
    arm = quaternion_matrix(seen.orientation) @ (np.array([0.1, 0.0, 0.2]) - np.array(MODEL.root.com))
    expected = {
        "base_lin_vel": turn @ (seen.velocity + np.cross(seen.angular_velocity, arm)),
        "base_ang_vel": turn @ seen.angular_velocity,
        "projected_gravity": turn @ [0.0, 0.0, -1.0],
        "command": [0.25, 0.5, -0.125],
        "command_ang_vel": [-0.125],
        "command_lin_vel": [0.25, 0.5],
        "dof_pos": seen.angles - np.where(["knee" in name for name in MODEL.joint_names], -0.3, 0.0),
        "joint_vel": 0.5 * seen.rates,
        "actions": np.zeros(N),
        "sin_phase": [0.0, 0.0],
        "phase_cos": [1.0, -1.0],
    }
    terms = [f'"{name}"' if name != "joint_vel" else '{ term = "joint_vel", scale = 0.5 }' for name in expected]
    numbers = fed(
        tmp_path, f"[{', '.join(terms)}]", sum(map(len, expected.values())), [seen], default=KNEES,
        imu='{ body = "trunk", point = [0.1, 0.0, 0.2] }', gait="{ period = 0.8, offsets = [0.0, 0.5] }",
    )  # fmt: skip
    assert numbers == pytest.approx(np.concatenate(list(expected.values())), abs=1e-6)  # single precision


def test_history_begins_with_repeated_values_and_ends_with_the_last(tmp_path):
    first, second = observed(1), observed(2)
    numbers = fed(tmp_path, '[{ term = "projected_gravity", history = 3 }]', 9, [first, second])
    down = [quaternion_matrix(seen.orientation).T @ [0.0, 0.0, -1.0] for seen in (first, first, second)]
    assert numbers == pytest.approx(np.concatenate(down), abs=1e-6)


def test_a_network_without_output_is_a_servo_of_its_posture(tmp_path):
    network = linear_network(tmp_path / "zero.onnx", np.zeros((N, 3)))
    law = Policy(describe(tmp_path / "zero.toml", network, default=KNEES, **STILL))
    posture = {name: -0.3 for name in MODEL.joint_names if "knee" in name}
    runs = [
        simulate(MODEL.without_contacts(), controller, duration=0.2, step=1e-3)
        for controller in (law, JointPD(kp=2000.0, kd=5.0, target=posture, period=law.period))
    ]
    assert np.array_equal(runs[0].state.q, runs[1].state.q)


def test_the_network_is_called_once_in_its_period_and_its_memory_is_saved(tmp_path):
    network = counting_network(tmp_path / "count.onnx", N, 3)
    law = Policy(describe(tmp_path / "count.toml", network, period="0.01", action_scale="0.01", **STILL))
    session = Session(Scene(MODEL.without_contacts(), law, step=1e-3))
    session.advance(26)
    assert law.memory().action == pytest.approx(np.full(N, math.ceil(26 * law.period / 0.01) - 1.0))
    session.changed(disturbances=(Push("trunk", (1.0, 0.0, 0.0), 1.0),)).advance(14)
    assert law.memory().action == pytest.approx(np.full(N, math.ceil(40 * law.period / 0.01) - 1.0))
    assert_goes_back(Scene(MODEL.without_contacts(), law, step=1e-3, duration=0.1), 12, 12)


def test_it_cannot_be_linearized_since_its_targets_come_from_python(tmp_path):
    network = linear_network(tmp_path / "zero.onnx", np.zeros((N, 3)))
    scene = Scene(MODEL, Policy(describe(tmp_path / "zero.toml", network, **STILL)))
    with pytest.raises(InputError, match="Policy runs in Python and has no exact derivative"):
        linearize(scene, State.at(MODEL), closed_loop=False)


def test_metadata_of_the_network_stand_for_absent_keys(tmp_path):
    order = list(reversed(MODEL.joint_names))
    metadata = {
        "joint_names": ",".join(order), "joint_stiffness": ",".join(f"{10.0 + k:.3f}" for k in range(N)),
        "joint_damping": ",".join(["2.000"] * N), "default_joint_pos": ",".join(f"{0.1 * k:.3f}" for k in range(N)),
        "action_scale": "0.25", "observation_names": "projected_gravity,actions",
    }  # fmt: skip
    network = linear_network(tmp_path / "exported.onnx", np.eye(N, 3 + N), metadata)
    law, seen = Policy(describe(tmp_path / "exported.toml", network)), observed()
    law.reset(seen)
    torques = dict(zip(MODEL.joint_names, law.torques(seen), strict=True))
    down = np.concatenate((quaternion_matrix(seen.orientation).T @ [0.0, 0.0, -1.0], np.zeros(N - 3)))
    for k, name in enumerate(order):
        angle, rate = seen.q[MODEL.coordinate(name)], seen.v[MODEL.dof(name)]
        assert torques[name] == pytest.approx((10.0 + k) * (0.1 * k + 0.25 * down[k] - angle) - 2.0 * rate, abs=1e-5)
    linear_network(tmp_path / "exported.onnx", np.eye(N, 3 + N), metadata | {"action_scale": "0.5"})
    assert law.description(MODEL).action_scale == pytest.approx(np.full(N, 0.5))


@pytest.mark.parametrize("weights", ["w", "w" * 130])
def test_files_of_weights_belong_to_the_policy(tmp_path, weights):
    network = linear_network(tmp_path / "zero.onnx", np.zeros((N, 3)), weights=weights)
    policy = Policy(describe(tmp_path / "zero.toml", network, **STILL))
    assert policy.files == (policy.source, network, tmp_path / weights)


@pytest.mark.parametrize(("keys", "message"), [
    ({"observations": "[]"}, "unknown key 'observations'; did you mean 'observation'"),
    ({"observation": '["gravity"]'}, "unknown term 'gravity'"),
    ({"observation": '[{ term = "joint_pos", scale = [1, 2] }]'}, "scale of joint_pos has 2 numbers: give one, or 12"),
    ({"observation": '["phase_sin"]'}, "gait: the terms phase_… need it"),
    ({"kp": "[1.0, 2.0]"}, "it must be a number, 12 numbers, or a table"),
    ({"kp": '{ "*_knee_pitch" = 1.0 }'}, "no pattern fits left_hip_roll"),
    ({"joints": '["left_knee_pitch"]'}, "it must name each joint of 'human' once, but has left_hip_roll (0 times)"),
    ({"joints": "3"}, "it must be a list of the names of all joints"),
    ({"imu": '{ body = "head" }'}, "unknown body 'head'"),
    ({"imu": '"trunk"'}, "it must be a table with body, point"),
    ({"imu": "{ point = [0.0, 1.0] }"}, "it must be 3 numbers"),
    ({"gait": "{ period = 0.8, offsets = [0.0, 0.5], standing = [0.5] }"}, "it must be 2 numbers"),
    ({"clamp": '"false"'}, "it must be true or false"),
    ({"gait": "{}"}, "it needs period"),
    ({"kd": "-1"}, "kd = -1: it must not be below 0"),
    ({"kp": "true"}, "kp = True: it must be a number"),
    ({"period": "0.005"}, "it must be a multiple of controller.period = 0.002 s"),
    ({"period": "-1"}, "period = -1: it must be a finite number above zero"),
    ({"observation": '["joint_pos"]'}, "echo.onnx: no output for 12 numbers (joint_pos 12)"),
])  # fmt: skip
def test_a_wrong_description_is_refused(tmp_path, keys, message):
    network = linear_network(tmp_path / "echo.onnx", np.zeros((N, 3)))
    seen = observed()
    MODEL.derived.clear()
    with pytest.raises(InputError, match=re.escape(message)):
        Policy(describe(tmp_path / "echo.toml", network, **STILL | keys)).torques(seen)


@pytest.mark.parametrize("file", ["still.onnx", "still.onnx.data"])
def test_a_study_does_not_go_on_with_other_weights(tmp_path, capsys, file):
    weights = file if file.endswith(".data") else None
    network = linear_network(tmp_path / "still.onnx", np.zeros((N, 3)), weights=weights)
    name = describe(tmp_path / "still.toml", network, **STILL)
    study = ["sweep", str(tmp_path / "sweep.toml"), "--policy", name, "--out", str(tmp_path / "out"), "--no-figures"]
    (tmp_path / "sweep.toml").write_text(
        'experiment = "balance"\n[set]\nrun.duration = 0.02\npush.start = 0.0\n[vary]\npush.impulse = [1.0, 2.0]\n',
        encoding="utf-8",
    )
    assert main(study) == 0
    if weights:
        np.ones((3, N), np.float32).tofile(tmp_path / weights)
    else:
        linear_network(tmp_path / "still.onnx", np.ones((N, 3)))
    assert main(study) == 2
    assert f"{file} has been edited since" in capsys.readouterr().err


def test_a_session_under_way_is_copied_and_its_controller_remembers(tmp_path):
    network = counting_network(tmp_path / "count.onnx", N, 3)
    law = Policy(describe(tmp_path / "count.toml", network, period="0.01", action_scale="0.01", **STILL))
    session = Session(Scene(MODEL.without_contacts(), law, step=1e-3))
    session.advance(12)
    other = copy.deepcopy(session)
    for one in (session, other):
        one.advance(12)
    assert np.array_equal(session.state.q, other.state.q)
    fresh, seen = Policy(law.source), observed()
    fresh.remember(law.memory())  # as after a run-in that an earlier trial has simulated
    assert np.array_equal(fresh.torques(seen), copy.deepcopy(law).torques(seen))
    kept, (first, *_) = law.memory(), [law.torques(seen) for _ in range(7)]
    law.remember(kept)
    assert np.array_equal(law.torques(seen), first)


def test_a_period_of_zero_is_refused(tmp_path):
    network = linear_network(tmp_path / "zero.onnx", np.zeros((N, 3)))
    with pytest.raises(InputError, match=re.escape("controller.period = 0 s: it must be above zero")):
        Policy(describe(tmp_path / "zero.toml", network, **STILL), period=0.0).law(MODEL)


def test_an_output_that_is_not_finite_is_refused(tmp_path):
    network = linear_network(tmp_path / "nan.onnx", np.full((N, 3), np.nan))
    with pytest.raises(InputError, match=re.escape("nan.onnx: its output is not finite at 0 s")):
        simulate(MODEL, Policy(describe(tmp_path / "nan.toml", network, **STILL)), duration=0.01, step=1e-3)


class Waiting(Policy):
    def act(self, observation, law):
        law.wait[0] = 0


class Blind(Policy):
    def law(self, model):
        return super().law(model).servo


@pytest.mark.parametrize(("kind", "message"), [
    (Waiting, "Waiting.act must set law.wait[0] to one or more"), (Blind, "Blind.acts: its law needs a field wait"),
])  # fmt: skip
def test_a_law_that_does_not_wait_is_refused(tmp_path, kind, message):
    network = linear_network(tmp_path / "zero.onnx", np.zeros((N, 3)))
    with pytest.raises(InputError, match=re.escape(message)):
        simulate(MODEL, kind(describe(tmp_path / "zero.toml", network, **STILL)), duration=0.01, step=1e-3)
