"""The cost of a step against the number of links of a chain: a line, if the algorithms are O(n).

Chains move in generalized and in maximal coordinates: by the same discrete motion, solved for in either.
"""

from collections.abc import Mapping
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from biped.integrators import integrator_named
from biped.model import chain
from biped.runs.state import State
from experiments.benchmarks import section as table
from experiments.benchmarks.scenes import Timed, timed
from experiments.benchmarks.section import Budget, Column, Section
from experiments.benchmarks.steps import per_step
from experiments.timing import Spread, interleaved

LINKS = (2, 5, 10, 20, 50, 100, 200)
#: Cost per link is compared from here on; below, what a step costs once weighs in.
LONG = 20
#: [s]
STEP = 1e-3
#: [m], [m] and [kg] of a link: the longest chain is 6 m long and weighs 20 kg.
LENGTH, THICKNESS, MASS = 0.03, 0.01, 0.1
#: [rad] every hinge is turned by this at the start, alternately about y and x: the chain hangs askew.
BEND = 0.2
#: Integrators that are compared, by name, with their colours; the others' costs are set against the first one's.
INTEGRATORS = {"recursive": "#0072B2", "maximal": "#D55E00"}
#: [µs] of the figure.
_TICKS = (1, 2, 5, 10, 20, 50, 100, 200)


def fit(costs: Mapping[int, float]) -> tuple[float, float]:
    """Return the line cost [s] = base + links · slope through costs by links, weighted by their size."""
    cost = np.array(list(costs.values()))
    slope, base = np.polyfit(np.array(list(costs), dtype=float), cost, 1, w=1.0 / cost)
    return float(base), float(slope)


def deviation(costs: Mapping[int, float]) -> float:
    """Return the largest relative deviation of the cost per link from its mean over the long chains."""
    long = np.array([cost / links for links, cost in costs.items() if links >= LONG])
    return float(np.max(np.abs(long / long.mean() - 1.0)))


def chain_section(work: Budget, folder: Path) -> Section:
    """Time chains of all lengths, released askew, by both integrators, and draw their costs into ``folder``."""
    runs = interleaved(
        {
            (name, links): _case(name, links, max(100, work.chain_steps * 20 // max(links, 20)))
            for links, name in product(LINKS, INTEGRATORS)
        },
        work.repeats,
    )
    times = {case: per_step(taken) for case, taken in runs.items()}
    newton = {case: taken[0].newton_mean for case, taken in runs.items()}
    usual, other = INTEGRATORS
    section = Section(
        "chains",
        f"Cost of a step against the number of links, h = {1e3 * STEP:g} ms: {usual}; {other} beside it",
        (
            *(*table.spread_columns(), Column("per link", "µs", ".3f"), Column("iterations"), Column(other, "µs")),
            *table.columns("its iterations", "ratio"),
        ),
        notes=[f"{other}: the least; ratio: to {usual}, the median of runs taken in turn"],
    )
    for n in LINKS:
        own, its = times[usual, n], times[other, n]
        section.rows[f"{n} links"] = (
            *(*table.microseconds(own), table.MICROSECONDS * min(own) / n, newton[usual, n]),
            *(table.MICROSECONDS * min(its), newton[other, n], table.compared(its, own)[0]),
        )
    for name in INTEGRATORS:
        least = {n: min(times[name, n]) for n in LINKS}
        base, slope = (table.MICROSECONDS * number for number in fit(least))
        by_iteration = deviation({n: cost / newton[name, n] for n, cost in least.items()})
        section.notes += [
            f"{name}: {base:.2f} µs + {slope:.3f} µs per link through the least costs",
            f"from {LONG} links on its cost per link stays within {100 * deviation(least):.1f} % of its mean, "
            f"per link and iteration within {100 * by_iteration:.1f} %",
        ]
    draw_chain_cost({case: Spread.of(taken) for case, taken in times.items()}, folder / table.FIGURE)
    return section


def _case(name: str, links: int, steps: int) -> "partial[Timed]":
    model = chain(links, length=LENGTH, thickness=THICKNESS, mass=MASS).without_contacts()
    state, duration = State.at(model, np.full(links, BEND)), steps * STEP
    options = {"record_every": duration, "integrator": integrator_named(name)}
    return partial(timed, model, None, state, STEP, duration, **options)


def draw_chain_cost(costs: Mapping[tuple[str, int], Spread], path: Path) -> None:
    """Draw least and median costs of a step, by integrator and links."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 4.0), layout="constrained")
    axes = figure.subplots()
    fine = np.geomspace(LINKS[0], LINKS[-1], 200)
    for name, color in INTEGRATORS.items():
        mine = [costs[name, links] for links in LINKS]
        base, slope = (1e6 * number for number in fit({n: costs[name, n].least for n in LINKS}))
        axes.loglog(fine, base + slope * fine, color=color, lw=1.0, alpha=0.5)
        axes.loglog(LINKS, [1e6 * spread.median for spread in mine], "_", color=color, ms=9)
        text = f"{name}: {base:.2f} µs + {slope:.3f} µs per link"
        axes.loglog(LINKS, [1e6 * spread.least for spread in mine], "o", color=color, ms=5, label=text)
    axes.set_xticks(LINKS, [str(number) for number in LINKS])
    axes.set_yticks(_TICKS, [str(number) for number in _TICKS])
    axes.minorticks_off()
    axes.set_ylim(0.8e6 * min(s.least for s in costs.values()), 1.25e6 * max(s.median for s in costs.values()))
    axes.set(xlabel="links of the chain", ylabel="cost of a step [µs]")
    axes.set_title("A 3D chain, h = 1 ms", loc="left")
    axes.grid(color="0.9", lw=0.6)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=160)
