"""The cost of a step against the number of links of a chain: a line, if the algorithms are O(n)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biped.model import chain
from biped.state import State
from experiments.bench.scenes import Timed, timed
from experiments.bench.timing import Spread

LINKS = (2, 5, 10, 20, 50, 100, 200)
#: Cost per link is compared from here on; below, what a step costs once weighs in.
LONG = 20
#: [s]
STEP = 1e-3
#: [m], [m] and [kg] of a link: the longest chain is 6 m long and weighs 20 kg.
LENGTH, THICKNESS, MASS = 0.03, 0.01, 0.1
#: [rad] every hinge is turned by this at the start, alternately about y and x: the chain hangs askew.
BEND = 0.2


@dataclass(frozen=True)
class ChainCost:
    """What a step of a chain costs.

    Attributes:
        per_step: [s] by number of links.
        newton_mean: iterations a step, by number of links.
    """

    per_step: dict[int, Spread]
    newton_mean: dict[int, float]

    @property
    def fit(self) -> tuple[float, float]:
        """[s] The line cost = base + links · slope through the least costs, weighted by their size."""
        links = np.array(list(self.per_step), dtype=float)
        cost = np.array([spread.least for spread in self.per_step.values()])
        slope, base = np.polyfit(links, cost, 1, w=1.0 / cost)
        return float(base), float(slope)

    def per_link(self) -> dict[int, float]:
        """[s] the least cost of a step over the number of links."""
        return {links: spread.least / links for links, spread in self.per_step.items()}

    @property
    def deviation(self) -> float:
        """The largest relative deviation of the cost per link from its mean over the long chains."""
        costs = np.array([cost for links, cost in self.per_link().items() if links >= LONG])
        return float(np.max(np.abs(costs / costs.mean() - 1.0)))


def chain_cases(steps: int) -> dict[int, Callable[[], Timed]]:
    """Chains of all lengths, released askew; the number of steps falls with the length."""
    return {links: _case(links, max(100, steps * 20 // max(links, 20))) for links in LINKS}


def _case(links: int, steps: int) -> Callable[[], Timed]:
    model = chain(links, length=LENGTH, thickness=THICKNESS, mass=MASS).without_contacts()
    state = State.at(model, np.full(links, BEND))
    duration = steps * STEP
    return lambda: timed(model, None, state, STEP, duration, record_every=duration)


def chain_cost(results: dict[int, list[Timed]]) -> ChainCost:
    """From the runs, by number of links."""
    return ChainCost(
        {links: Spread.of([run.per_step for run in runs]) for links, runs in results.items()},
        {links: runs[0].newton_mean for links, runs in results.items()},
    )
