"""The cost of a step against the number of links of a chain: a line, if the algorithms are O(n).

Chains move in generalized and in maximal coordinates: by the same discrete motion, solved for in either.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from biped.integrators import integrator_named
from biped.model import chain
from biped.runs.state import State
from experiments.benchmarks.scenes import Timed, timed
from experiments.benchmarks.sections import FIGURE, Column, Section
from experiments.benchmarks.speed.steps import per_step
from experiments.benchmarks.speed.table import MICROSECONDS, Budget, columns, compared, microseconds, spread_columns
from experiments.benchmarks.timing import Spread, interleaved

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
#: [µs] of the figure, and colours of the integrators.
_TICKS, _COLOURS = (1, 2, 5, 10, 20, 50, 100, 200), ("#0072B2", "#D55E00")


@dataclass(frozen=True)
class ChainCost:
    """Cost of a step of chains with one integrator."""

    per_step: dict[int, Spread]  # [s] by number of links
    newton_mean: dict[int, float]  # iterations a step, by number of links

    @classmethod
    def of(cls, runs: Mapping[int, list[Timed]]) -> "ChainCost":
        """Return the cost of runs by number of links."""
        spreads = {links: Spread.of(per_step(some)) for links, some in runs.items()}
        return cls(spreads, {links: some[0].newton_mean for links, some in runs.items()})

    @property
    def fit(self) -> tuple[float, float]:
        """The line cost [s] = base + links · slope through the least costs, weighted by their size."""
        links = np.array(list(self.per_step), dtype=float)
        cost = np.array([spread.least for spread in self.per_step.values()])
        slope, base = np.polyfit(links, cost, 1, w=1.0 / cost)
        return float(base), float(slope)

    def per_link(self) -> dict[int, float]:
        """Return the least cost of a step over the number of links [s]."""
        return {links: spread.least / links for links, spread in self.per_step.items()}

    @property
    def deviation(self) -> float:
        """The largest relative deviation of the cost per link from its mean over the long chains."""
        return _deviation(self.per_link())

    @property
    def deviation_per_iteration(self) -> float:
        """The largest relative deviation of the cost per link and iteration from its mean over the long chains."""
        return _deviation({links: cost / self.newton_mean[links] for links, cost in self.per_link().items()})


def _deviation(costs: Mapping[int, float]) -> float:
    long = np.array([cost for links, cost in costs.items() if links >= LONG])
    return float(np.max(np.abs(long / long.mean() - 1.0)))


def chain_section(work: Budget, folder: Path) -> Section:
    """Time chains of all lengths, released askew, by both integrators, and draw their costs into ``folder``."""
    results = interleaved(
        {
            (name, links): _case(name, links, max(100, work.chain_steps * 20 // max(links, 20)))
            for links in LINKS
            for name in INTEGRATORS
        },
        work.repeats,
    )
    costs = {name: ChainCost.of({links: results[name, links] for links in LINKS}) for name in INTEGRATORS}
    usual, other = INTEGRATORS
    section = Section(
        "chains",
        f"Cost of a step against the number of links, h = {1e3 * STEP:g} ms: {usual}; {other} beside it",
        (
            *(*spread_columns(), Column("per link", "µs", ".3f"), Column("iterations"), Column(other, "µs")),
            *columns("its iterations", "ratio"),
        ),
        notes=[f"{other}: the least; ratio: to {usual}, the median of runs taken in turn"],
    )
    for links in LINKS:
        times, others = (per_step(results[name, links]) for name in INTEGRATORS)
        section.rows[f"{links} links"] = (
            *(*microseconds(times), MICROSECONDS * costs[usual].per_link()[links], costs[usual].newton_mean[links]),
            *(MICROSECONDS * min(others), costs[other].newton_mean[links], compared(others, times)[0]),
        )
    for name, cost in costs.items():
        base, slope = cost.fit
        section.notes += [
            f"{name}: {MICROSECONDS * base:.2f} µs + {MICROSECONDS * slope:.3f} µs per link through the least costs",
            f"from {LONG} links on its cost per link stays within {100 * cost.deviation:.1f} % of its mean, "
            f"per link and iteration within {100 * cost.deviation_per_iteration:.1f} %",
        ]
    draw_chain_cost(costs, folder / FIGURE)
    return section


def _case(name: str, links: int, steps: int) -> Callable[[], Timed]:
    model = chain(links, length=LENGTH, thickness=THICKNESS, mass=MASS).without_contacts()
    state = State.at(model, np.full(links, BEND))
    duration, integrator = steps * STEP, integrator_named(name)
    return lambda: timed(model, None, state, STEP, duration, record_every=duration, integrator=integrator)


def draw_chain_cost(costs: Mapping[str, ChainCost], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 4.0), layout="constrained")
    axes = figure.subplots()
    for (name, cost), colour in zip(costs.items(), _COLOURS, strict=True):
        _draw_one(axes, name, cost, colour)
    links = list(next(iter(costs.values())).per_step)
    axes.set_xticks(links, [str(number) for number in links])
    axes.set_yticks(_TICKS, [str(number) for number in _TICKS])
    axes.minorticks_off()
    spreads = [spread for cost in costs.values() for spread in cost.per_step.values()]
    axes.set_ylim(0.8e6 * min(s.least for s in spreads), 1.25e6 * max(s.median for s in spreads))
    axes.set_xlabel("links of the chain")
    axes.set_ylabel("cost of a step [µs]")
    axes.set_title("A 3D chain, h = 1 ms", loc="left")
    axes.grid(color="0.9", lw=0.6)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=160)


def _draw_one(axes: "Axes", name: str, cost: ChainCost, colour: str) -> None:
    links = np.array(list(cost.per_step))
    base, slope = (1e6 * number for number in cost.fit)
    fine = np.geomspace(links[0], links[-1], 200)
    label = f"{name}: {base:.2f} µs + {slope:.3f} µs per link"
    axes.loglog(fine, base + slope * fine, color=colour, lw=1.0, alpha=0.5)
    axes.loglog(links, [1e6 * spread.median for spread in cost.per_step.values()], "_", color=colour, ms=9)
    axes.loglog(links, [1e6 * spread.least for spread in cost.per_step.values()], "o", color=colour, ms=5, label=label)
