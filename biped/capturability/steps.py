"""Steps along a push, and how much farther they take the mean of the centre of pressure.

A pendulum stays just if ξ(0) + J/(m ω) ∫ e^{−ωt} f dt = ω ∫ e^{−ωt} p dt (``pendulum``). With steps of the length l,
which land at t_k, the centre of pressure may go from the edge f of the support to f + l, f + 2 l, …; the right side is
greatest where it does so at once:

    ω ∫ e^{−ωt} p dt  ≤  f + l Σ_k e^{−ω t_k},   t_k = r + k T

with the reaction r of the first and the time T of each. In terms of how far ξ is beyond the edge that is the recursion
δ_0 = 0, δ_N = (δ_{N−1} + l) e^{−ωT}, whose first step takes r besides (Koolen et al. 2012, part I). Of steps that
are known one by one (``Footholds``) p is within what could be stood on by then.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from biped.capturability.pendulum import Pendulum, edge, reach_within, sides_of
from biped.errors import InputError
from biped.inputs.checks import above_zero
from contact.arrays import Floats

#: An outward unit normal (2,), and how far along it a place may be at each of some times (n,) [m].
Side = tuple[Floats, Floats]
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

    def edge(self, corners: Floats, direction: Floats, pendulum: Pendulum) -> float:
        """[m] How far along a unit ``direction`` the mean of the centre of pressure gets from a support (k, 2)."""
        return edge(corners, direction) + self.reach(pendulum)

    def sides(self, corners: Floats, direction: Floats, pendulum: Pendulum, times: Floats) -> list[Side]:
        """What bounds the centre of pressure at these times [s]: the support carried along, and what is between."""
        carried = self.length * np.searchsorted(self.landings(pendulum), times).astype(np.float64)
        sides = [(normal, float(offset)) for normal, offset in zip(*sides_of(corners), strict=True)]
        if self.count:
            flank = np.array([-direction[1], direction[0]])
            sides += [(normal, float((corners @ normal).max())) for normal in (flank, -flank)]
        return [(normal, offset + max(0.0, float(direction @ normal)) * carried) for normal, offset in sides]


@dataclass(frozen=True, eq=False)
class Footholds:
    """Steps that were taken, one by one, wherever they led.

    Attributes:
        times: [s] when they landed, in order.
        supports: (k, 2) [m] corners of what can be stood on from each landing on, in the axes of the support before.

    Raises:
        InputError: times below zero or out of order, or not as many supports.
    """

    times: tuple[float, ...]
    supports: tuple[Floats, ...]

    def __post_init__(self) -> None:
        if len(self.times) != len(self.supports):
            raise InputError(f"footholds: {len(self.times)} times and {len(self.supports)} supports")
        if not all(0.0 <= one <= other < math.inf for one, other in pairwise((0.0, *self.times))):
            raise InputError(f"footholds: times = {self.times}, they must be zero or above, and in order")

    @property
    def count(self) -> int:
        """How many."""
        return len(self.times)

    def landings(self, _: Pendulum) -> Floats:
        """[s] When they landed."""
        return np.asarray(self.times, dtype=float)

    def edge(self, corners: Floats, direction: Floats, pendulum: Pendulum) -> float:
        """[m] How far along a unit ``direction`` the mean of the centre of pressure gets from a support (k, 2).

        The mean is within Minkowski's sum of the supports, each with the weight ∫ ω e^{−ωt} dt of its time: no side of
        that has a normal that none of them has.
        """
        edge(corners, direction)  # refuses who falls without a push
        weights = -np.diff([1.0, *np.exp(-pendulum.rate * self.landings(pendulum)), 0.0])
        normals, offsets = self._bounds(corners)
        return reach_within(normals, weights @ offsets, direction)

    def sides(self, corners: Floats, direction: Floats, _: Pendulum, times: Floats) -> list[Side]:
        """What bounds the centre of pressure at these times [s]: the supports that there are by then."""
        normals, offsets = self._bounds(corners)
        return list(zip(normals, offsets[np.searchsorted(self.times, times)].T, strict=True))

    def _bounds(self, corners: Floats) -> tuple[Floats, Floats]:
        """(n, 2) normals of the sides of all supports, with the first, and (k + 1, n) [m] how far each reaches."""
        supports = (corners, *self.supports)
        normals = np.concatenate([sides_of(support)[0] for support in supports])
        return normals, np.array([(support @ normals.T).max(axis=0) for support in supports])


def words_of(count: float) -> str:
    """So many steps, in words."""
    if math.isinf(count):
        return "any number of steps"
    return "no step" if not count else "one step" if count == 1.0 else f"{count:g} steps"


#: None at all.
IN_PLACE = Steps(0, length=1.0, time=1.0)
