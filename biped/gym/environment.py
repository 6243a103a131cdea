"""Gymnasium environment of one balancing model."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from biped.control.observation import Observation
from biped.errors import InputError
from biped.gym.task import BalanceTask
from biped.inputs.checks import integer
from biped.simulation.session import Session
from contact.arrays import Floats

#: Type of actions; float32 is Gymnasium's default.
Action = NDArray[np.float32]


def observation_space(task: BalanceTask) -> Any:
    """Return the ``gymnasium.spaces.Box`` of a task's observations."""
    return gymnasium.spaces.Box(-np.inf, np.inf, (task.sizes[0],), np.float64)


def action_space(task: BalanceTask) -> Any:
    """Return the ``gymnasium.spaces.Box`` of a task's actions."""
    return gymnasium.spaces.Box(-1.0, 1.0, (task.sizes[1],), np.float32)


class BalanceEnv(gymnasium.Env[Floats, Action]):
    """One balancing model; ``BalanceTask`` defines observations, actions, rewards and ends of episodes.

    ``copy.deepcopy`` and ``pickle`` give an independent environment that continues from the same state. Equal seeds
    give equal episodes, bit for bit; without a seed, ``reset`` continues the last sequence of random numbers.

    Args:
        task: task of the environment; None: the default task, for the standing human.

    Raises:
        InputError: the task's scene is inconsistent.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, task: BalanceTask | None = None) -> None:
        self.task = BalanceTask() if task is None else task
        self.session = Session(self.task.commanded, self.task.draw)
        self.observation_space, self.action_space = observation_space(self.task), action_space(self.task)
        self._begins = self.session.time

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin a new episode; ``options`` is ignored.

        Raises:
            InputError: the seed is negative or not an integer.
        """
        super().reset(seed=None if seed is None else integer(seed, "seed"))
        seen = self.session.reset(int(self.np_random.integers(2**31)))
        return self._observed(seen), {"time": seen.time}

    def step(self, action: Action) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Simulate one period.

        Raises:
            InputError: the episode is over, or the action does not have one finite number for each joint.
        """
        share = np.clip(np.asarray(action, dtype=float), -1.0, 1.0)
        if share.shape != self.action_space.shape:
            raise InputError(f"the action has shape {share.shape}: it must be {self.action_space.shape}")
        seen = self.session.step(self.task.torque_limit * share)
        ending, ended = self.session.ending, self.session.has_ended
        reward = float(self.task.rewards(seen.q, share, ended))
        late = seen.time - self._begins > self.task.duration - 0.5 * self.session.period
        return self._observed(seen), reward, ended, late, {"time": seen.time, **self.task.end(ending, late)}

    def _observed(self, seen: Observation) -> Floats:
        return self.task.observed(seen.q, seen.v, seen.contact_forces)
