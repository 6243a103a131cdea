"""Steps along a push, which extend the mean of the centre of pressure.

A pendulum is captured if and only if ξ(0) + J/(m ω) ∫ e^{−ωt} f dt = ω ∫ e^{−ωt} p dt (``pendulum``). With steps of
length l that land at t_k, the centre of pressure can move from the edge f of the support to f + l, f + 2 l, … The right
side is greatest if it moves at each landing:

    ω ∫ e^{−ωt} p dt  ≤  f + l Σ_k e^{−ω t_k},   t_k = r + k T

with the reaction time r of the first step and the duration T of each step. For the distance δ of ξ from the edge this
is the recursion δ_0 = 0, δ_N = (δ_{N−1} + l) e^{−ωT}, with a first step that takes r longer (Koolen et al. 2012, part
I). With given ``Footholds``, p is within the support of the feet that have landed.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from biped.capturability.pendulum import Pendulum, edge, reach_within, sides_of
from biped.errors import InputError
from biped.inputs.checks import above_zero
from contact.arrays import Floats

#: Side of a region that changes over time: outward unit normal (2,), and offsets (n,) [m] at n times.
Side = tuple[Floats, Floats]
#: [1/ω] Time after which further steps have a weight of e^{−8} or less.
LATEST = 8.0


@dataclass(frozen=True)
class Steps:
    """Recovery steps of equal length and duration in the direction of the push; legs may cross.

    Attributes:
        count: greatest number of steps; inf: any number.
        length: [m] distance from one footprint to the next.
        time: [s] time from one landing to the next.
        reaction: [s] additional time of the first step, for reacting and unloading the foot.

    Raises:
        InputError: the count is not a whole number, length or time is not above zero, or the reaction is negative.
    """

    count: float
    length: float
    time: float
    reaction: float = 0.0

    def __post_init__(self) -> None:
        if not (self.count >= 0.0 and (math.isinf(self.count) or self.count == round(self.count))):
            raise InputError(f"steps: count = {self.count:g}: it must be 0, 1, 2, … or inf")
        for name in ("length", "time"):
            above_zero(getattr(self, name), f"steps: {name}")
        if not 0.0 <= self.reaction < math.inf:
            raise InputError(f"steps: reaction = {self.reaction:g} s: it must be finite, zero or above")

    def reach(self, pendulum: Pendulum) -> float:
        """Return the distance [m] by which the steps extend the mean centre of pressure."""
        decay = math.exp(-pendulum.rate * self.time)
        several = 1.0 - decay**self.count
        return self.length * math.exp(-pendulum.rate * self.reaction) * decay * several / (1.0 - decay)

    def landings(self, pendulum: Pendulum) -> Floats:
        """Return the landing times (n,) [s], up to ``LATEST``."""
        count = min(self.count, math.ceil(LATEST / (pendulum.rate * self.time)))
        return np.asarray(self.reaction + self.time * np.arange(1, int(count) + 1), dtype=float)

    def edge(self, corners: Floats, direction: Floats, pendulum: Pendulum) -> float:
        """Return the reach [m] of the mean centre of pressure along a unit ``direction`` from a support (k, 2)."""
        return edge(corners, direction) + self.reach(pendulum)

    def sides(self, corners: Floats, direction: Floats, pendulum: Pendulum, times: Floats) -> list[Side]:
        """Return the sides of the region of the centre of pressure at ``times`` [s]: the support and landed steps."""
        carried = self.length * np.searchsorted(self.landings(pendulum), times).astype(np.float64)
        sides = [(normal, float(offset)) for normal, offset in zip(*sides_of(corners), strict=True)]
        if self.count:
            flank = np.array([-direction[1], direction[0]])
            sides += [(normal, float((corners @ normal).max())) for normal in (flank, -flank)]
        return [(normal, offset + max(0.0, float(direction @ normal)) * carried) for normal, offset in sides]


@dataclass(frozen=True, eq=False)
class Footholds:
    """Given footholds and landing times, for example those of a run, for which the largest push is computed.

    Attributes:
        times: [s] landing times, in order.
        supports: for each landing, corners (k, 2) [m] of the support from then on, with origin and axes of ``Stance``.

    Raises:
        InputError: times are negative or out of order, or the numbers of times and supports differ.
    """

    times: tuple[float, ...]
    supports: tuple[Floats, ...]

    def __post_init__(self) -> None:
        if len(self.times) != len(self.supports):
            raise InputError(
                f"footholds: {len(self.times)} times and {len(self.supports)} supports: their numbers must be equal"
            )
        if not all(0.0 <= time <= other < math.inf for time, other in pairwise((0.0, *self.times))):
            raise InputError(f"footholds: times = {self.times} s: they must be zero or above, in ascending order")

    @property
    def count(self) -> int:
        """Number of steps."""
        return len(self.times)

    def landings(self, _: Pendulum) -> Floats:
        """Return the landing times (n,) [s]."""
        return np.asarray(self.times, dtype=float)

    def edge(self, corners: Floats, direction: Floats, pendulum: Pendulum) -> float:
        """Return the reach [m] of the mean centre of pressure along a unit ``direction`` from a support (k, 2).

        The mean is within the Minkowski sum of the supports, weighted by ∫ ω e^{−ωt} dt over their times; the normals
        of its sides are normals of the supports.
        """
        edge(corners, direction)  # raises NoLimitError for a stance that falls without a push
        weights = -np.diff([1.0, *np.exp(-pendulum.rate * self.landings(pendulum)), 0.0])
        normals, offsets = self._bounds(corners)
        return reach_within(normals, weights @ offsets, direction)

    def sides(self, corners: Floats, direction: Floats, _: Pendulum, times: Floats) -> list[Side]:
        """Return the sides of the region of the centre of pressure at ``times`` [s]: the supports of those times."""
        normals, offsets = self._bounds(corners)
        return list(zip(normals, offsets[np.searchsorted(self.times, times)].T, strict=True))

    def _bounds(self, corners: Floats) -> tuple[Floats, Floats]:
        """Return normals (n, 2) of the sides of all supports, and offsets (k + 1, n) [m] of all supports along them."""
        supports = (corners, *self.supports)
        normals = np.concatenate([sides_of(support)[0] for support in supports])
        return normals, np.array([(support @ normals.T).max(axis=0) for support in supports])


def words_of(count: float) -> str:
    """Return a number of steps as words, such as ``one step``."""
    if math.isinf(count):
        return "any number of steps"
    return "no step" if not count else "one step" if count == 1.0 else f"{count:g} steps"


#: Steps of a body with feet in place: none.
IN_PLACE = Steps(0, length=1.0, time=1.0)
