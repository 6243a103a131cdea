"""The cost of a step against the number of links of a chain: a line, if the algorithms are O(n).

In generalized and in maximal coordinates: the same discrete motion, solved for in either.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from biped.integrators import integrator_named
from biped.model import chain
from biped.runs.state import State
from experiments.benchmarks.scenes import Timed, timed
from experiments.benchmarks.timing import Spread, ratios

LINKS = (2, 5, 10, 20, 50, 100, 200)
#: Cost per link is compared from here on; below, what a step costs once weighs in.
LONG = 20
#: [s]
STEP = 1e-3
#: [m], [m] and [kg] of a link: the longest chain is 6 m long and weighs 20 kg.
LENGTH, THICKNESS, MASS = 0.03, 0.01, 0.1
#: [rad] every hinge is turned by this at the start, alternately about y and x: the chain hangs askew.
BEND = 0.2


#: Integrators that are compared, by name; the others' costs are set against the first one's.
INTEGRATORS = ("recursive", "maximal")
#: Which integrator, and the number of links.
Case = tuple[str, int]


@dataclass(frozen=True)
class ChainCost:
    """What a step of a chain costs with one integrator."""

    per_step: dict[int, Spread]  # [s] by number of links
    newton_mean: dict[int, float]  # iterations a step, by number of links

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

    def per_iteration(self) -> dict[int, float]:
        """[s] the same over the mean number of iterations."""
        return {links: cost / self.newton_mean[links] for links, cost in self.per_link().items()}

    @property
    def deviation(self) -> float:
        """The largest relative deviation of the cost per link from its mean over the long chains."""
        return _deviation(self.per_link())

    @property
    def deviation_per_iteration(self) -> float:
        return _deviation(self.per_iteration())


def _deviation(costs: Mapping[int, float]) -> float:
    long = np.array([cost for links, cost in costs.items() if links >= LONG])
    return float(np.max(np.abs(long / long.mean() - 1.0)))


def chain_cases(steps: int) -> dict[Case, Callable[[], Timed]]:
    """Chains of all lengths, released askew, by both integrators; the number of steps falls with the length."""
    return {
        (name, links): _case(name, links, max(100, steps * 20 // max(links, 20)))
        for links in LINKS
        for name in INTEGRATORS
    }


def _case(name: str, links: int, steps: int) -> Callable[[], Timed]:
    model = chain(links, length=LENGTH, thickness=THICKNESS, mass=MASS).without_contacts()
    state = State.at(model, np.full(links, BEND))
    duration, integrator = steps * STEP, integrator_named(name)
    return lambda: timed(model, None, state, STEP, duration, record_every=duration, integrator=integrator)


def chain_cost(results: Mapping[Case, list[Timed]], name: str) -> ChainCost:
    mine = {links: runs for (integrator, links), runs in results.items() if integrator == name}
    return ChainCost(
        {links: Spread.of([run.per_step for run in runs]) for links, runs in mine.items()},
        {links: runs[0].newton_mean for links, runs in mine.items()},
    )


def step_ratios(results: Mapping[Case, list[Timed]], name: str) -> dict[int, Spread]:
    """Cost of a step with an integrator over that with the first, of runs taken one after the other, by links."""
    return {
        links: Spread.of(ratios([run.per_step for run in results[name, links]], [run.per_step for run in first]))
        for (integrator, links), first in results.items()
        if integrator == INTEGRATORS[0]
    }
