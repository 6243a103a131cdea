"""History of actions: the last actions of some environments, of which delayed ones act."""

from typing import Any

import numpy as np

from biped.gym.randomization import Randomization
from biped.gym.task import BalanceTask
from contact.arrays import Floats


class ActionHistory:
    """The last actions of ``count`` environments of a task; each acts after the delay of its episode.

    Attributes:
        actions: (periods, count, joints) actions of the present period, of the period before, and so on.
    """

    def __init__(self, task: BalanceTask, count: int) -> None:
        self._ticks, self._each, drawn = task.ticks, np.arange(count), task.randomization
        longest = drawn.delay[1] if isinstance(drawn, Randomization) else 0
        self.actions = np.zeros((1 + max(1, -(-longest // self._ticks)), count, task.sizes[1]))
        self._delays = np.zeros(count, dtype=np.int64)

    def begin(self, which: Any, delay: int) -> None:
        """Begin an episode of environment ``which`` with a delay [servo periods]; actions before it are zero."""
        self.actions[:, which], self._delays[which] = 0.0, delay

    def take(self, actions: Floats) -> None:
        """Store the actions (count, joints) of a new period."""
        self.actions = np.concatenate([actions.reshape(1, *self.actions.shape[1:]), self.actions[:-1]])

    def delayed(self, tick: int) -> Floats:
        """Return the actions (count, joints) that act in servo period ``tick`` of the present period."""
        return self.actions[-((tick - self._delays) // self._ticks), self._each]
