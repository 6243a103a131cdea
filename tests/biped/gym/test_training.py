"""Features for training: servos, observations in body axes, randomized episodes, terms of the reward, pictures."""

import contextlib
import copy
import pickle
import warnings
from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env

from biped import Fall, InputError, Push, Scene, State, human, standing
from biped.gym import NAME, BalanceEnv, BalanceTask, BalanceVectorEnv, Randomization, Sample
from biped.model.geometry import quaternion_matrix
from controllers.policy.observations import TERMS, Imu, TermInputs

from ...experiments.visualization.hands import BROWSER

MODEL = human()
Motion = namedtuple("Motion", "q v")
SERVOS = {"actions": "targets", "observation": "body", "stiffness": {"*": 300.0, "*_ankle_*": 150.0}, "damping": 0.0}
VARIED = Randomization(
    push=(2.0, 20.0), push_start=(0.05, 0.2), friction=(0.3, 0.9), payload=(-5.0, 10.0), delay=(0, 9)
)


def actions_of(env, count, seed=3):
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (count, *env.action_space.shape)).astype(np.float32)


def begun(seed=1, **task):
    env = BalanceEnv(BalanceTask(**task))
    env.reset(seed=seed)
    return env


def scene_of(model, q=None):
    return Scene(model, state=State.at(model, standing(MODEL).q if q is None else q), fall=Fall(), step=2.5e-3)


def test_torques_are_those_of_the_servos_within_their_limits():
    limits = {"*": 60.0, "*_knee_pitch": 12.0}
    env = begun(**SERVOS, servo_damping=3.0, action_scale=0.4, torque_limit=limits, servo_period=5e-3)
    stiffness = [150.0 if "ankle" in name else 300.0 for name in MODEL.joint_names]
    limit = np.array([12.0 if "knee" in name else 60.0 for name in MODEL.joint_names])
    limited = 0
    for action in actions_of(env, 10).astype(float):
        branch = copy.deepcopy(env.session)  # as the environment does, servo period by servo period
        for _ in range(3):
            seen = branch.observe()
            target = standing(MODEL).q[7:] + 0.4 * action
            torques = np.clip(stiffness * (target - seen.angles) - 3.0 * seen.rates, -limit, limit)
            limited += np.sum(np.abs(torques) == limit)
            branch.step(torques)
        env.step(action)
        np.testing.assert_allclose(env.session.observe().torques, torques, rtol=1e-12)
        assert np.array_equal(env.session.observe().q, branch.observe().q)
    assert 0 < limited < 360


def test_targets_stay_within_the_ranges_of_the_joints():
    knee = MODEL.bodies[MODEL.body_index("left_shank")]
    angle = standing(MODEL).q[10]
    bounded = replace(knee, joint=replace(knee.joint, lower=angle - 0.1, upper=angle + 0.2))
    model = replace(MODEL, bodies=tuple(bounded if body is knee else body for body in MODEL.bodies))
    task = BalanceTask(scene_of(model), actions="targets", stiffness=100.0, action_scale=0.5)
    motion = Motion(task.start.q, np.zeros(18))
    least, most = (task.torques(np.full(12, action), motion) for action in (-1.0, 1.0))
    np.testing.assert_allclose((least[3], most[3]), (-10.0, 20.0), rtol=1e-9)
    np.testing.assert_allclose((least[4], most[4]), (-50.0, 50.0), rtol=1e-9)


def test_the_observation_in_body_axes_is_that_of_a_policy():
    model = MODEL.with_load("trunk", 5.0, (0.1, 0.2, 0.3), 0.1 * np.eye(3))  # moves the centre of mass of the root
    env = begun(scene=scene_of(model), **SERVOS, scatter=0.2)
    for action in actions_of(env, 3):
        observation, *_ = env.step(action)
    seen, start = env.session.observe(), standing(MODEL).q[7:]
    imu = Imu(model.root.name, -np.array(model.root.com))  # as by default in a policy's file
    inputs = TermInputs(seen, 0.0, imu, None, np.zeros(3), seen.angles - start, seen.rates, action)
    names = ("projected_gravity", "base_lin_vel", "base_ang_vel", "joint_pos", "joint_vel", "last_action")
    np.testing.assert_allclose(observation, np.concatenate([TERMS[name](inputs) for name in names]), atol=1e-12)
    assert observation.shape == env.observation_space.shape == (45,)


def test_the_observation_in_body_axes_does_not_depend_on_the_heading():
    q, seen = standing(MODEL).q.copy(), []
    turned = q.copy()
    turned[3:7] = np.cos(0.4), 0.0, 0.0, np.sin(0.4)
    turned[:3] = quaternion_matrix(turned[3:7]) @ q[:3] + (0.3, -0.2, 0.0)
    for start in (q, turned):
        env = begun(scene=scene_of(MODEL, start), **SERVOS)
        seen.append([env.step(action)[0] for action in 0.3 * actions_of(env, 10)])
    np.testing.assert_allclose(*seen, atol=1e-6)
    assert np.ptp(seen[0], axis=0)[3:9].min() > 1e-3


@pytest.mark.parametrize("more", [SERVOS, {}], ids=["targets", "torques"])
def test_randomized_members_of_a_vector_are_single_environments(more):
    count, steps = 3, 50
    task = BalanceTask(**more, duration=0.5, servo_period=5e-3, randomization=VARIED)
    vector, singles = BalanceVectorEnv(count, task), [BalanceEnv(task) for _ in range(count)]
    first, info = vector.reset(seed=10)
    alone = [env.reset(seed=10 + k) for k, env in enumerate(singles)]
    for k, (observation, drawn) in enumerate(alone):
        assert np.array_equal(observation, first[k])
        assert {name: info["drawn"][name][k] for name in drawn["drawn"]} == drawn["drawn"]
    assert len({drawn["drawn"]["push"] for _, drawn in alone}) == count
    over, ends = np.zeros(count, dtype=bool), 0
    for step, actions in enumerate(0.3 * actions_of(vector, steps)):
        if step == 20:  # a copy has the scene of each member
            vector, _ = copy.deepcopy(vector), vector.close()
        observations, rewards, fell, late, _ = vector.step(actions)
        for k, env in enumerate(singles):
            # An environment whose episode is over is reset instead, as in a vector.
            observation, reward, *end = (env.reset()[0], 0.0, False, False) if over[k] else env.step(actions[k])[:4]
            assert np.array_equal(observation, observations[k]), (step, k)
            assert (end, reward) == ([fell[k], late[k]], pytest.approx(rewards[k], rel=1e-12))
        over = fell | late
        ends += over.sum()
    assert ends > count
    vector.close()


def test_a_seed_is_an_episode_with_its_drawn_values():
    env, episodes = BalanceEnv(BalanceTask(**SERVOS, randomization=VARIED)), []
    for one in (env, env, pickle.loads(pickle.dumps(env))):
        _, info = one.reset(seed=4)
        episodes.append((info["drawn"], [one.step(action)[0].tolist() for action in actions_of(env, 15)]))
    assert episodes[0] == episodes[1] == episodes[2]
    assert env.reset()[1]["drawn"] != episodes[0][0]
    drawn = [env.reset()[1]["drawn"] for _ in range(20)]
    for name in ("push", "push_start", "friction", "payload", "delay"):
        values, (low, high) = [one[name] for one in drawn], getattr(VARIED, name)
        assert low <= min(values) < 0.5 * (low + high) < max(values) <= high
    assert env.session.scene.floor.mu_s == drawn[-1]["friction"]
    assert env.session.model.total_mass - MODEL.total_mass == pytest.approx(drawn[-1]["payload"])


def test_a_drawn_push_changes_the_momentum_by_its_impulse_at_its_time():
    model, momenta = MODEL.with_gravity((0.0, 0.0, 0.0)).with_contact_points([]), []
    for pushes in (None, Randomization(push=(8.0, 8.0), push_start=(0.06, 0.06), push_duration=0.03)):
        env = BalanceEnv(BalanceTask(scene_of(model), randomization=pushes))
        _, info = env.reset(seed=1)
        momenta.append([(env.step(np.zeros(12)), env.session.state.momentum[:3].copy())[1] for _ in range(8)])
    change = np.subtract(*momenta[::-1])
    azimuth = info["drawn"]["azimuth"]
    expected = np.outer([0, 0, 0, 0, 0.5, 1, 1, 1], 8.0 * np.array([np.cos(azimuth), np.sin(azimuth), 0.0]))
    np.testing.assert_allclose(change, expected, atol=1e-6)


def test_a_delay_shifts_the_torques_by_servo_periods_and_limits_are_by_joint():
    limits = {"*": 100.0, "left_*": 10.0}
    for delay in (0, 1, 7):
        late = Randomization(delay=(delay, delay))
        env, torques = begun(servo_period=5e-3, torque_limit=limits, randomization=late), []
        step = env.session.step
        env.session.step = lambda given, step=step, torques=torques: (torques.append(given), step(given))[1]
        actions = 0.1 * actions_of(env, 6)
        for action in actions:
            env.step(action)
        held = np.repeat(np.repeat([10.0, 100.0], 6) * actions.astype(float), 3, axis=0)
        np.testing.assert_array_equal(torques, np.concatenate([np.zeros((delay, 12)), held])[: len(held)])


def test_a_function_can_draw_the_scene():
    def pushed(scene, random):
        return replace(scene, disturbances=Push("trunk", (1.0, 0.0, 0.0), random.uniform(1.0, 2.0), start=0.1))

    env = BalanceEnv(BalanceTask(randomization=pushed))
    _, info = env.reset(seed=1)
    assert 1.0 < env.session.scene.disturbances[0].impulse < 2.0
    assert "drawn" not in info
    for change in ({"step": 1e-3}, {"state": State.at(MODEL, standing(MODEL).q)}, {"model": MODEL.without_contacts()}):
        env = BalanceEnv(BalanceTask(randomization=lambda scene, _, change=change: replace(scene, **change)))
        with pytest.raises(InputError, match="must not change joints, contact points, time step and start"):
            env.reset(seed=1)


class Smooth(BalanceTask):
    def rewards(self, sample: Sample):
        change = ((sample.action - sample.previous) ** 2).mean(axis=-1)
        return super().rewards(sample) | {"change": -0.5 * change, "height": 0.1 * sample.q[..., 2]}


def test_the_terms_of_the_reward_sum_to_it():
    task = Smooth(effort=0.3)
    env, vector = BalanceEnv(task), BalanceVectorEnv(2, task)
    _ = env.reset(seed=1), vector.reset(seed=1)
    for action in (actions := 0.3 * actions_of(env, 3)):
        _, reward, _, _, info = env.step(action)
        _, rewards, _, _, infos = vector.step(np.array([action, action]))
    assert list(info["rewards"]) == ["alive", "posture", "effort", "change", "height"]
    assert sum(info["rewards"].values()) == reward == pytest.approx(rewards[0], rel=1e-12)
    np.testing.assert_allclose(sum(infos["rewards"].values()), rewards, rtol=1e-15)
    assert info["rewards"]["effort"] == pytest.approx(-0.3 * np.mean(actions[2] ** 2), rel=1e-6)
    assert info["rewards"]["change"] == pytest.approx(-0.5 * np.mean((actions[2] - actions[1]) ** 2), rel=1e-5)
    vector.close()


REFUSED = [
    (BalanceTask, {"actions": "angles"}, "actions = 'angles': it must be 'torques' or 'targets'"),
    (BalanceTask, {"stiffness": 50.0}, "stiffness: only for servos; set actions='targets'"),
    (BalanceTask, {"actions": "targets", "stiffness": -1.0}, "stiffness = -1.0: it must be a finite number, zero or"),
    (BalanceTask, {"torque_limit": {"left_*": 10.0}}, "torque_limit: no value for right_hip_roll, .*; add them"),
    (BalanceTask, {"torque_limit": {"*_elbow": 2.0}}, r"unknown joint '\*_elbow'; joints are left_hip_roll"),
    (BalanceTask, {"servo_period": 4e-3}, "period = 0.015 s: it must be a multiple of the servo period, 0.004 s"),
    (BalanceTask, {"randomization": Randomization(payload=(-60.0, 5.0))}, "payload = .*: the root has only"),
    (BalanceTask, {"servo_period": 0.0}, "servo_period = 0.0: it must be a finite number above zero"),
    (Randomization, {"push": (3.0, 1.0)}, r"push = \(3.0, 1.0\): it must be \(low, high\) with low <= high"),
    (Randomization, {"friction": (-0.1, 1.0)}, r"friction = \(-0.1, 1.0\): .* with 0 <= low <= high"),
    (Randomization, {"payload": 3.0}, "payload = 3.0: it must be 2 finite numbers"),
    (Randomization, {"delay": (0, 1.5)}, "delay = 1.5: it must be a whole number"),
    (BalanceEnv, {"render_mode": "human"}, "render_mode = 'human': it must be 'rgb_array' or None"),
]


@pytest.mark.parametrize(("make", "given", "message"), REFUSED)
def test_bad_input_is_refused(make, given, message):
    with pytest.raises(ValueError, match=message):
        make(**given)


@BROWSER[0]
@BROWSER[1]
def test_pictures_show_the_present_state():
    with contextlib.closing(gymnasium.make(NAME, render_mode="rgb_array").unwrapped) as env:
        with warnings.catch_warnings(action="ignore"):
            check_env(env)
        env.reset(seed=1)
        before, _, after = env.render(), env.step(np.zeros(12)), env.render()
        assert (before.shape, before.dtype) == ((360, 480, 3), np.uint8)
        assert not np.array_equal(before, after)
        env.session.state.arrays.q[0] += 3.0
        red, _, blue = env.render()[180, 240].astype(int)
        assert blue > 1.3 * red  # the camera follows: the shirt is still in the middle
        assert pickle.loads(pickle.dumps(env)).render_mode == "rgb_array"
