"""The random search by which figure 13's quadruped learns: tries about the best so far, and on in its direction."""

import math

import numpy as np
from numpy.typing import ArrayLike

from contact.arrays import Floats

#: Spread of tries that go in no direction, and what each failure leaves of it.
SPREAD, SHRINKING = 0.1, 0.9
#: Step along the direction of the last success, and the spread about its end.
STRIDE, NARROW = 0.01, 0.002


class RandomSearch:
    """Asks for one try after the other: ``propose`` parameters, then ``judge`` what they achieved.

    As in the authors' program: a success is gone on from, by a stride in the direction that led to it; after a
    failure the search is about the best parameters in all directions, the nearer to them the more failures there were.

    Args:
        start: (n,) parameters to begin at, which achieve nothing.
        seed: of numpy's generator; the same seed is the same search.

    Attributes:
        best: (n,) parameters.
        achieved: by the best, after each try; the greater the better.
    """

    def __init__(self, start: ArrayLike, seed: int) -> None:
        self.best: Floats = np.array(start, dtype=float)
        self.achieved: list[float] = []
        self._random = np.random.default_rng(seed)
        self._spread = SPREAD
        self._direction: Floats | None = None  # unit, of the last success
        self._tried = self.best

    def propose(self) -> Floats:
        """Return the next parameters to try, (n,)."""
        about = self._random.standard_normal(len(self.best))
        if self._direction is None:
            self._tried = self.best + self._spread * about
        else:
            self._tried = self.best + STRIDE * self._direction + NARROW * about
        return self._tried

    def judge(self, achieved: float | None) -> None:
        """Judge the last proposal by what it achieved; None if it failed."""
        least = self.achieved[-1] if self.achieved else 0.0
        if achieved is not None and achieved > least:
            way = self._tried - self.best
            self.best, self._direction, self._spread = self._tried, way / math.sqrt(way @ way), SPREAD
            self.achieved.append(achieved)
        else:
            self._direction, self._spread = None, SHRINKING * self._spread
            self.achieved.append(least)
