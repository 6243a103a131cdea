"""Steps along a push, and how much farther they take the mean of the centre of pressure.

A pendulum stays just if ξ(0) + J/(m ω) ∫ e^{−ωt} f dt = ω ∫ e^{−ωt} p dt (``pendulum``). With steps of the length l,
which land at t_k, the centre of pressure may go from the edge f of the support to f + l, f + 2 l, …; the right side is
greatest where it does so at once:

    ω ∫ e^{−ωt} p dt  ≤  f + l Σ_k e^{−ω t_k},   t_k = r + k T

with the reaction r of the first and the time T of each. In terms of how far ξ is beyond the edge that is the recursion
δ_0 = 0, δ_N = (δ_{N−1} + l) e^{−ωT}, whose first step takes r besides (Koolen et al. 2012, part I). Of steps that are
known one by one each l and each t_k is its own.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from biped.capturability.pendulum import Pendulum
from biped.checks import above_zero
from biped.errors import InputError
from contact.arrays import Floats

#: Of 1/ω: when steps that come later are a part of e^{−8} of what counts.
LATEST = 8.0


@dataclass(frozen=True)
class Steps:
    """Steps of one length and time, along the push; legs may cross.

    Attributes:
        count: at most so many; infinite for any number.
        length: [m] from one footprint to the next.
        time: [s] from one landing to the next.
        reaction: [s] that the first takes besides, to notice and to unload the foot.

    Raises:
        InputError: a count that is none, a length or time not above zero, a reaction below zero.
    """

    count: float
    length: float
    time: float
    reaction: float = 0.0

    def __post_init__(self) -> None:
        if not (self.count >= 0.0 and (math.isinf(self.count) or self.count == round(self.count))):
            raise InputError(f"steps: count = {self.count:g}, it must be 0, 1, 2, … or infinite")
        for name in ("length", "time"):
            above_zero(getattr(self, name), f"steps: {name}")
        if not 0.0 <= self.reaction < math.inf:
            raise InputError(f"steps: reaction = {self.reaction:g} s, it must be zero or above")

    def reach(self, pendulum: Pendulum) -> float:
        """[m] How much farther the mean of the centre of pressure gets."""
        one = math.exp(-pendulum.rate * self.time)
        several = 1.0 - one**self.count
        return self.length * math.exp(-pendulum.rate * self.reaction) * one * several / (1.0 - one)

    def landings(self, pendulum: Pendulum) -> Floats:
        """[s] When they land; of any number, those that count (``LATEST``)."""
        count = min(self.count, math.ceil(LATEST / (pendulum.rate * self.time)))
        return np.asarray(self.reaction + self.time * np.arange(1, int(count) + 1), dtype=float)

    def carried(self, pendulum: Pendulum, times: Floats) -> Floats:
        """[m] How much farther the support reaches at these times [s]."""
        return self.length * np.searchsorted(self.landings(pendulum), times).astype(np.float64)


@dataclass(frozen=True)
class Footholds:
    """Steps that were taken, one by one.

    Attributes:
        times: [s] when those landed that the support reaches farther along the push by, in growing order.
        advances: [m] by how much, each above zero.

    Raises:
        InputError: times that do not grow or begin below zero, an advance that is not above zero, or one too few.
    """

    times: tuple[float, ...]
    advances: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.times) != len(self.advances):
            raise InputError(f"footholds: {len(self.times)} times and {len(self.advances)} advances")
        for advance in self.advances:
            above_zero(advance, "footholds: advances")
        if not all(0.0 <= one < other < math.inf for one, other in pairwise((0.0, *self.times))):
            raise InputError(f"footholds: times = {self.times}, they must be above zero and grow")

    @property
    def count(self) -> int:
        """How many."""
        return len(self.times)

    def reach(self, pendulum: Pendulum) -> float:
        """[m] How much farther the mean of the centre of pressure gets."""
        return float(np.exp(-pendulum.rate * np.asarray(self.times)) @ np.asarray(self.advances))

    def landings(self, _: Pendulum) -> Floats:
        """[s] When they landed."""
        return np.asarray(self.times, dtype=float)

    def carried(self, _: Pendulum, times: Floats) -> Floats:
        """[m] How much farther the support reaches at these times [s]."""
        return np.cumsum((0.0, *self.advances))[np.searchsorted(self.times, times)]


#: None at all.
IN_PLACE = Steps(0, length=1.0, time=1.0)
