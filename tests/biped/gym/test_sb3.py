"""Stable-Baselines3: its checker, and the vector environment with resets in the step in which an episode ends."""

import numpy as np
import pytest

pytest.importorskip("gymnasium")
pytest.importorskip("stable_baselines3")

from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy

from biped.gym import NAME, BalanceEnv, BalanceTask, BalanceVectorEnv, Randomization, StableBaselinesEnv

PUSHED = Randomization(push=(0.0, 20.0), push_start=(0.05, 0.1))
TASK = BalanceTask(duration=0.3, actions="targets", stiffness=1500.0, damping=1.0, randomization=PUSHED)


def test_the_checker_and_its_own_vector_accept_the_environment():
    check_env(BalanceEnv())
    make_vec_env(NAME, 2, env_kwargs={"task": TASK}).close()


def test_episodes_are_those_of_single_environments_reset_at_once():
    count = 3
    envs, alone = StableBaselinesEnv(BalanceVectorEnv(count, TASK)), [BalanceEnv(TASK) for _ in range(count)]
    envs.seed(20)
    observations = envs.reset()
    assert [set(info["drawn"]) for info in envs.reset_infos] == [{"push", "azimuth", "push_start"}] * count
    for k, env in enumerate(alone):
        assert np.array_equal(env.reset(seed=20 + k)[0], observations[k])
    returns, ends, truncated = np.zeros(count), 0, 0
    for actions in np.random.default_rng(1).uniform(-1.0, 1.0, (60, count, 12)):
        actions *= np.array([0.0, 0.3, 1.0])[:, None]
        observations, rewards, ended, infos = envs.step(actions)
        for k, env in enumerate(alone):
            observation, reward, fell, late, info = env.step(actions[k])
            returns[k] += reward
            assert (reward, fell or late) == (pytest.approx(rewards[k]), ended[k])
            if fell or late:
                assert np.array_equal(infos[k]["terminal_observation"], observation)
                assert infos[k]["TimeLimit.truncated"] == (late and not fell)
                assert (infos[k]["episode"]["r"], infos[k]["reason"]) == (pytest.approx(returns[k]), info["reason"])
                returns[k], ends, truncated = 0.0, ends + 1, truncated + late
                observation, _ = env.reset()
            else:
                assert set(infos[k]) == {"rewards"}
            assert infos[k]["rewards"] == pytest.approx(info["rewards"])
            assert np.array_equal(observation, observations[k])
    assert 0 < truncated < ends
    envs.close()


def test_a_policy_learns_and_is_evaluated():
    envs = StableBaselinesEnv(BalanceVectorEnv(2, TASK))
    ppo = PPO("MlpPolicy", envs, n_steps=64, batch_size=64, seed=1, device="cpu").learn(128)
    mean, _ = evaluate_policy(ppo, envs, n_eval_episodes=2)
    assert 0.0 < mean < 2.0 * 0.3 / TASK.period
    assert envs.get_attr("num_envs") == [2, 2]
    envs.close()
