"""The figure of the benchmark: cost of a step against the number of links."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.benchmarks.speed.chains import ChainCost

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TICKS = (1, 2, 5, 10, 20, 50, 100, 200)  # [µs]
_COLOURS = ("#0072B2", "#D55E00")


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
