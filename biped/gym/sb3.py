"""Vector environment for Stable-Baselines3; it needs the extra ``sb3``."""

import time
from typing import Any

import numpy as np

from biped.gym.vector import BalanceVectorEnv
from biped.inputs.extras import need

need("stable_baselines3")

from stable_baselines3.common.monitor import Monitor  # noqa: E402
from stable_baselines3.common.vec_env import VecEnv  # noqa: E402


class StableBaselinesEnv(VecEnv):  # type: ignore[misc]  # untyped where it is not installed
    """A ``BalanceVectorEnv`` as a ``VecEnv`` of Stable-Baselines3, such as ``PPO("MlpPolicy", env)`` takes.

    An environment is reset in the step in which its episode ends. Its ``info`` then has ``terminal_observation``,
    ``TimeLimit.truncated``, ``verdict``, ``reason``, and ``episode`` with return ``r``, number of steps ``l`` and wall
    time ``t`` [s] as by ``Monitor``. ``rewards`` in ``info`` has the terms of the reward, and ``reset_infos`` the drawn
    values of the last reset.
    """

    def __init__(self, envs: BalanceVectorEnv) -> None:
        self.envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._returns, self._lengths = np.zeros(self.num_envs), np.zeros(self.num_envs, dtype=int)
        self._began, self._actions = time.perf_counter(), np.zeros(0, dtype=np.float32)

    def reset(self) -> Any:
        """Begin new episodes, with the seeds of ``seed`` if it was called, and return observations (num_envs, size)."""
        observations, info = self.envs.reset(seed=self._seeds)
        self.reset_infos = [self._info(info, "drawn", k) for k in range(self.num_envs)]
        self._reset_seeds()
        self._returns[:] = self._lengths[:] = 0
        return observations

    def step_async(self, actions: Any) -> None:
        """Store the actions (num_envs, joints) of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Simulate one period, as ``BalanceVectorEnv.step``; return observations, rewards, ends of episodes, infos."""
        observations, rewards, fell, late, info = self.envs.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        ended, elapsed = np.flatnonzero(fell | late), time.perf_counter() - self._began
        infos: list[dict[str, Any]] = [self._info(info, "rewards", k) for k in range(self.num_envs)]
        for k in ended.tolist():
            infos[k] |= {name: info[name][k] for name in ("verdict", "reason")}
            infos[k] |= {"terminal_observation": observations[k], "TimeLimit.truncated": not fell[k]}
            infos[k]["episode"] = {"r": float(self._returns[k]), "l": int(self._lengths[k]), "t": elapsed}
            self._returns[k] = self._lengths[k] = 0
        if len(ended):
            observations, info = self.envs.reset_ended()
            for k in ended.tolist():
                self.reset_infos[k] = self._info(info, "drawn", k)
        return observations, rewards, fell | late, infos

    @staticmethod
    def _info(info: dict[str, Any], name: str, k: int) -> dict[str, Any]:
        """Return the entry of environment ``k`` in a table of ``info``, if there is one."""
        return {name: {key: values[k] for key, values in info[name].items() if key[0] != "_"}} if name in info else {}

    def close(self) -> None:
        """Stop the threads."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the vector environment, once for each index."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the vector environment."""
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of the vector environment for each index and return the results."""
        return [getattr(self.envs, method_name)(*args, **kwargs) for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Return True for ``Monitor``, whose entries of ``info`` this class gives, and False for other wrappers."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
