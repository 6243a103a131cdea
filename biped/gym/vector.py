"""Gymnasium vector environment of many balancing models, stepped together by threads."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from biped.errors import InputError
from biped.gym.environment import action_space, observation_space
from biped.gym.task import ActionHistory, BalanceTask, Sample
from biped.inputs.checks import integer
from biped.simulation.batch import SessionBatch
from contact.arrays import Floats

Flags = NDArray[np.bool_]


class BalanceVectorEnv(VectorEnv[Floats, NDArray[np.float32], NDArray[Any]]):
    """Many ``BalanceEnv`` in parallel on all cores; each has the results of a single ``BalanceEnv``, bit for bit.

    The step after the end of an episode resets the environment; its action is ignored and its reward is zero.

    Args:
        num_envs: number of environments.
        task: task of each environment; None: the default task, for the standing human.
        workers: number of threads; None: one per core.

    Raises:
        InputError: the task's scene is inconsistent.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, num_envs: int = 1, task: BalanceTask | None = None, workers: int | None = None) -> None:
        self.task = BalanceTask() if task is None else task
        self.num_envs = num_envs
        self.batch = SessionBatch(self.task.commanded, num_envs, self.task.draw, workers)
        self.single_observation_space = observation_space(self.task)
        self.single_action_space = action_space(self.task)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._begins = self.batch.sessions[0].time
        self._history = ActionHistory(self.task, num_envs)
        self._randoms: list[Any] = [None] * num_envs  # generators, after a seed is given
        self._over: Flags = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin new episodes; a single ``seed`` gives seed + k to environment k, and ``options`` is ignored.

        Raises:
            InputError: a seed is negative or not an integer, or the number of seeds is not ``num_envs``.
        """
        for k, value in enumerate(self._seeds(seed)):
            if value is not None or self._randoms[k] is None:
                self._randoms[k] = gymnasium.utils.seeding.np_random(value)[0]
        info = self._begin(np.arange(self.num_envs))
        return self.task.observed(self._sample()), {"time": self.batch.time.copy(), **info}

    def reset_ended(self) -> tuple[Floats, dict[str, Any]]:
        """Begin new episodes where an episode has ended, so that the next step does not; return all observations."""
        info = self._begin(np.flatnonzero(self._over))
        return self.task.observed(self._sample()), {"time": self.batch.time.copy(), **info}

    def step(self, actions: NDArray[np.float32]) -> tuple[Floats, Floats, Flags, Flags, dict[str, Any]]:
        """Simulate one period of each environment; ``info["rewards"]`` has the terms of the rewards by name.

        Raises:
            InputError: the actions are not (num_envs, joints) finite numbers, or ``reset`` was never called.
        """
        if self._randoms[0] is None:
            raise InputError("call reset before the first step")
        fresh, share = self._over.copy(), self.task.clipped(actions, ~self._over)
        # The motion of an environment that is reset in this step is discarded: it begins after the others have moved.
        self._history.take(np.where(fresh[:, None], 0.0, share))
        for tick in range(self.task.ticks):
            self.batch.step(self.task.torques(self._history.delayed(tick), self.batch))
        info = self._begin(np.flatnonzero(fresh))
        sample, time = self._sample(), self.batch.time.copy()
        terms = {name: np.where(fresh, 0.0, term) for name, term in self.task.rewards(sample).items()}
        fell, late = self.batch.has_ended, time - self._begins > self.task.duration - 0.5 * self.task.period
        self._over = fell | late
        info |= {"time": time, "rewards": terms}
        for k in np.flatnonzero(self._over):
            info = self._add_info(info, self.task.end(self.batch.sessions[k].ending, bool(late[k])), int(k))
        return self.task.observed(sample), np.sum(list(terms.values()), axis=0), fell, late, info

    def close_extras(self, **kwargs: Any) -> None:
        """Stop the threads."""
        self.batch.close()

    def _seeds(self, seed: Any) -> list[int | None]:
        """Return one seed for each environment."""
        if seed is None:
            return [None] * self.num_envs
        if np.ndim(seed) == 0:
            return [integer(seed, "seed") + k for k in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise InputError(f"{len(seed)} seeds for {self.num_envs} environments: give one seed for each")
        return [None if value is None else integer(value, "seed") for value in seed]

    def _begin(self, which: NDArray[np.int64]) -> dict[str, Any]:
        """Begin new episodes and return the drawn values of their randomization, as entries of ``info``."""
        info: dict[str, Any] = {}
        starts = []
        for k in which.tolist():
            starts.append(int(self._randoms[k].integers(2**31)))
            scene, delay, drawn = self.task.episode(self._randoms[k])
            if scene is not None:
                self.batch.exchange(k, scene)
            self._history.begin(k, delay)
            info = self._add_info(info, {"drawn": drawn} if drawn else {}, k)
        self.batch.reset(starts, which.tolist())
        self._over[which] = False
        return info

    def _sample(self) -> Sample:
        batch, (actions, previous) = self.batch, self._history.actions[:2]
        return Sample(batch.q, batch.v, batch.contact_forces, actions, previous, batch.has_ended)
