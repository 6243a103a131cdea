"""Gymnasium environment of one balancing model."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from biped.control.observation import Observation
from biped.errors import InputError
from biped.gym.task import ActionHistory, BalanceTask, Sample
from biped.inputs.checks import integer
from biped.presentation import shown_by
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
        render_mode: "rgb_array" for pictures by ``render``; None: no pictures.

    Raises:
        InputError: the task's scene is inconsistent, or the render mode is unknown.
    """

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012 - as Gymnasium has it

    def __init__(self, task: BalanceTask | None = None, render_mode: str | None = None) -> None:
        if render_mode not in (None, "rgb_array"):
            raise InputError(f"render_mode = {render_mode!r}: it must be 'rgb_array' or None")
        self.task = BalanceTask() if task is None else task
        self.render_mode = render_mode
        self.metadata = self.metadata | {"render_fps": round(1.0 / self.task.period)}
        self.session = Session(self.task.commanded, self.task.draw)
        self.observation_space, self.action_space = observation_space(self.task), action_space(self.task)
        self._begins = self.session.time
        self._history = ActionHistory(self.task, 1)
        self._pictures: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Begin a new episode; ``options`` is ignored. With ``Randomization``, ``info["drawn"]`` has the drawn values.

        Raises:
            InputError: the seed is negative or not an integer.
        """
        super().reset(seed=None if seed is None else integer(seed, "seed"))
        start = int(self.np_random.integers(2**31))
        scene, delay, drawn = self.task.episode(self.np_random)
        if scene is not None:
            self.session = Session(scene, self.task.draw)
        self._history.begin(0, delay)
        seen = self.session.reset(start)
        return self.task.observed(self._sample(seen)), {"time": seen.time} | ({"drawn": drawn} if drawn else {})

    def step(self, action: Action) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Simulate one period; ``info["rewards"]`` has the terms of the reward by name.

        Raises:
            InputError: the episode is over, or the action does not have one finite number for each joint.
        """
        self._history.take(self.task.clipped(action))
        sample = self._sample(self._advance())
        terms = {name: float(term) for name, term in self.task.rewards(sample).items()}
        ending, ended = self.session.ending, self.session.has_ended
        late = self.session.time - self._begins > self.task.duration - 0.5 * self.task.period
        info = {"time": self.session.time, "rewards": terms, **self.task.end(ending, late)}
        return self.task.observed(sample), sum(terms.values()), ended, late, info

    def render(self) -> Any:
        """Return a picture (height, width, 3) of the present state as uint8; None without render mode.

        Raises:
            InputError: there is no Chromium or Chrome, or it does not draw.
            MissingExtraError: the extra ``view`` is not installed.
        """
        if self.render_mode is None:
            return None
        if self._pictures is None:
            self._pictures = shown_by("StatePictures")()
        return self._pictures.draw(self.session.state, self.session.scene.disturbances)

    def close(self) -> None:
        """End the browser that draws pictures."""
        if self._pictures is not None:
            self._pictures.close()

    def _advance(self) -> Observation:
        """Simulate one period or until the end of the episode, and return the observation there."""
        seen: Any = self.session.observe() if self.task.actions == "targets" else None
        for tick in range(self.task.ticks):
            seen = self.session.step(self.task.torques(self._history.delayed(tick)[0], seen))
            if self.session.has_ended:
                break
        return seen

    def _sample(self, seen: Observation) -> Sample:
        action, previous = self._history.actions[:2, 0]
        return Sample(seen.q, seen.v, seen.contact_forces, action, previous, self.session.has_ended)
