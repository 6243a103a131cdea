"""Gymnasium environments: its own checker, reproducible episodes, and vectors equal to single environments."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest

from ...conftest import run_python, said_by

pytest.importorskip("gymnasium")

import gymnasium
from gymnasium.utils.env_checker import check_env

from biped import InputError, Scene, chain, human
from biped.gym import NAME, BalanceEnv, BalanceTask, BalanceVectorEnv
from biped.model.geometry import quaternion_matrix
from controllers import WorkspaceController


def test_gymnasiums_checker_passes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*Box observation space (min|max)imum value is -?infinity.*")
        check_env(gymnasium.make(NAME).unwrapped, skip_render_check=True)


def actions_of(env, count, seed=3):
    random = np.random.default_rng(seed)
    return random.uniform(-1.0, 1.0, (count, *env.action_space.shape)).astype(np.float32)


def episode(env, seed, count=40):
    seen = [env.reset(seed=seed)[0]]
    for action in actions_of(env, count):
        observation, reward, fell, late, _ = env.step(0.2 * action)
        seen.append(np.append(observation, [reward, fell, late]))
        if fell or late:
            break
    return np.concatenate(seen)


def test_a_seed_is_an_episode():
    env = BalanceEnv()
    first = episode(env, 1)
    assert not np.array_equal(episode(env, 2)[:43], first[:43])
    assert np.array_equal(episode(env, 1), first)
    assert np.array_equal(episode(BalanceEnv(), 1), first)
    env.reset(seed=1)
    assert not np.array_equal(env.reset()[0], first[:43])


def test_a_standing_human_is_rewarded_and_a_limp_one_falls():
    env = BalanceEnv(BalanceTask(period=2.5e-3, duration=1.0, damping=0.0))
    law = WorkspaceController(tuple(env.task.start.q[:3]))
    env.reset(seed=1)
    rewards, late = [], False
    while not late:
        action = law.torques(env.session.observe()) / env.task.torque_limit
        _, reward, fell, late, told = env.step(action)
        assert not fell
        rewards.append(reward)
    assert told["time"] == pytest.approx(1.0, abs=2e-3)
    assert np.mean(rewards) > 1.9
    assert (told["verdict"], told["reason"]) == ("undecided", "cut off, upright, after 1 s")
    _, told = env.reset(seed=1)
    fell = late = False
    while not (fell or late):
        assert "verdict" not in told
        _, reward, fell, late, told = env.step(np.zeros(12))
    assert fell
    assert (told["verdict"], told["reason"]) == ("fell", f"trunk below 0.6 m at {told['time']:.4g} s")
    assert reward < 1.0
    with pytest.raises(InputError, match="the session has ended"):
        env.step(np.zeros(12))


def test_reward_and_observation_are_what_the_task_says():
    env = BalanceEnv(BalanceTask(alive=0.7, posture=0.4, effort=0.3, torque_limit=100.0))
    observation, _ = env.reset(seed=5)
    action = actions_of(env, 1)[0] * 3.0
    observation, reward, fell, _, _ = env.step(action)
    seen, start = env.session.observe(), env.task.start.q
    cosine = quaternion_matrix(seen.orientation)[2, 2]
    upright = np.exp(-(((seen.q[2] - start[2]) / 0.1) ** 2) - (np.arccos(cosine) / 0.3) ** 2)
    held = np.clip(action, -1.0, 1.0)
    assert not fell
    assert reward == pytest.approx(0.7 + 0.4 * upright - 0.3 * np.mean(held**2), rel=1e-6)
    np.testing.assert_allclose(seen.torques, 100.0 * held, rtol=1e-6)
    weight = human().total_mass * 9.81
    expected = np.concatenate([seen.q[2:], seen.v, seen.contact_forces[:, 2] / weight])
    assert np.array_equal(observation, expected)


def test_a_vector_is_what_its_members_are_alone():
    count, steps = 5, 90
    task = BalanceTask(duration=0.6)
    vector = gymnasium.make_vec(NAME, num_envs=count, vectorization_mode="vector_entry_point", task=task)
    assert vector.single_observation_space == BalanceEnv(task).observation_space
    actions = actions_of(vector, steps) * np.array([0.0, 0.1, 0.3, 0.6, 1.0])[:, None].astype(np.float32)
    seen = [vector.reset(seed=10)[0]]
    told = []
    for action in actions:
        observation, *rest, info = vector.step(action)
        seen.append(observation)
        ended = [info.get(name, np.full(count, None)) for name in ("verdict", "reason")]
        told.append([*rest, info["time"], *ended])
    ends = np.zeros(count, dtype=int)
    for k in range(count):
        env, over = BalanceEnv(task), False
        assert np.array_equal(env.reset(seed=10 + k)[0], seen[0][k])
        for step, action in enumerate(actions):
            if over:
                observation, info = env.reset()
                reward, fell, late = 0.0, False, False
            else:
                observation, reward, fell, late, info = env.step(action[k])
            over = fell or late
            ends[k] += over
            assert np.array_equal(observation, seen[step + 1][k]), (k, step)
            given = [column[k] for column in told[step]]
            assert given[1:] == [fell, late, info["time"], info.get("verdict"), info.get("reason")]
            assert given[0] == pytest.approx(reward, rel=1e-12)
    assert (ends >= 2).all()
    vector.close()


COPIES = {"deepcopy": copy.deepcopy, "pickle": lambda one: pickle.loads(pickle.dumps(one))}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("make", [BalanceEnv, lambda: BalanceVectorEnv(2)], ids=["one", "vector"])
def test_a_copy_goes_its_own_way(make, how):
    env = make()
    env.reset(seed=3)
    env.step(actions_of(env, 1)[0])
    seen = []
    for one in (COPIES[how](env), env):
        seen.append([one.step(action)[0] for action in actions_of(env, 4)] + [one.reset()[0]])
        one.close()
    assert np.array_equal(*seen)


@pytest.mark.slow
def test_a_copy_in_another_process_goes_on_there(tmp_path):
    env = BalanceEnv()
    env.reset(seed=3)
    (tmp_path / "env").write_bytes(pickle.dumps(env))
    code = """import pickle, sys; import numpy as np
env = pickle.load(open(sys.argv[1], "rb")); print(env.step(np.zeros(12))[0].tolist())"""
    assert json.loads(said_by(code, str(tmp_path / "env"))) == env.step(np.zeros(12))[0].tolist()


@pytest.mark.parametrize("seed", [np.int64(5), np.array([5, 6, 7]), (5, 6, 7)])
def test_seeds_of_numpy_are_pythons(seed):
    vector = BalanceVectorEnv(3)
    assert np.array_equal(vector.reset(seed=seed)[0], vector.reset(seed=5)[0])
    vector.close()


@pytest.mark.parametrize("seed", [-1, True, 0.5, "12"])
def test_what_is_no_seed_is_refused(seed):
    for env in (BalanceEnv(), BalanceVectorEnv(2)):
        with pytest.raises(InputError, match="seed = .*: it must be a whole number, zero or above"):
            env.reset(seed=seed)
        env.close()


def test_what_does_not_fit_is_told():
    with pytest.raises(InputError, match="model 'chain_2': the balance task needs a floating root and joints"):
        BalanceTask(Scene(chain(2)))
    with pytest.raises(InputError, match="torque_limit = -1.0"):
        BalanceTask(torque_limit=-1.0)
    with pytest.raises(InputError, match="step = 0.0025 s does not divide"):
        BalanceEnv(BalanceTask(period=9e-3))
    env = BalanceEnv()
    env.reset(seed=1)
    with pytest.raises(InputError, match=r"the action has shape \(3,\): it must be \(12,\)"):
        env.step(np.zeros(3))
    with pytest.raises(InputError, match="the action of left_hip_roll is not finite"):
        env.step(np.full(12, np.nan))
    vector = BalanceVectorEnv(2)
    with pytest.raises(InputError, match="call reset before the first step"):
        vector.step(np.zeros((2, 12)))
    with pytest.raises(InputError, match="3 seeds for 2 environments"):
        vector.reset(seed=[1, 2, 3])
    vector.reset(seed=[1, None])
    with pytest.raises(InputError, match=r"the action has shape \(12,\): it must be \(2, 12\)"):
        vector.step(np.zeros(12))
    with pytest.raises(InputError, match="the action of right_ankle_pitch is not finite"):
        vector.step(np.where(np.arange(24) == 23, np.inf, 0.0).reshape(2, 12))
    vector.close()


def test_without_gymnasium_the_command_is_told():
    result = run_python("import sys; sys.modules['gymnasium'] = None; import biped.gym")
    assert "environments for learning need gymnasium: pip install 'biped-balance[gym]'" in result.stderr
