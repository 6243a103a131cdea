"""The figure of the benchmark: cost of a step against the number of links."""

from pathlib import Path

import numpy as np

from experiments.bench.chains import ChainCost

_TICKS = (1, 2, 5, 10, 20, 50, 100)  # [µs]


def draw_chain_cost(cost: ChainCost, path: Path) -> None:
    """Draw the costs of ``cost`` and the line through them, with logarithmic axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    links = np.array(list(cost.per_step))
    least = 1e6 * np.array([spread.least for spread in cost.per_step.values()])
    median = 1e6 * np.array([spread.median for spread in cost.per_step.values()])
    base, slope = (1e6 * number for number in cost.fit)
    figure = Figure(figsize=(5.5, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    fine = np.geomspace(links[0], links[-1], 200)
    axes.loglog(fine, base + slope * fine, color="0.6", lw=1.2, label=f"{base:.2f} µs + {slope:.3f} µs per link")
    axes.loglog(links, median, "_", color="#D55E00", ms=9, label="median")
    axes.loglog(links, least, "o", color="#0072B2", ms=5, label="least")
    axes.set_xticks(links, [str(number) for number in links])
    axes.set_yticks(_TICKS, [str(number) for number in _TICKS])
    axes.minorticks_off()
    axes.set_ylim(0.8 * least.min(), 1.25 * median.max())
    axes.set_xlabel("links of the chain")
    axes.set_ylabel("cost of a step [µs]")
    axes.set_title("A 3D chain, h = 1 ms", loc="left")
    axes.grid(color="0.9", lw=0.6)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=160)
