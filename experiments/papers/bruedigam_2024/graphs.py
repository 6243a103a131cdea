"""Figures 9b to 9d: linear systems on graphs with many loops, eliminated on the graph and as dense matrices."""

from collections.abc import Callable

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.benchmarks.threads import in_one_thread
from experiments.papers.bruedigam_2024 import graph_systems
from experiments.papers.criteria import above, at_most, stated, when
from experiments.papers.figures import plotted
from experiments.papers.growth import power
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.visualization.figures import style

#: Rungs of ladders, nodes along an edge of nets and crystals: up to those of the authors' program.
RUNGS, QUICK_RUNGS = (2, 4, 8, 16, 32, 64, 151), (8, 64, 151)
NET, QUICK_NET = (2, 3, 4, 6, 8, 10, 14, 18), (4, 18)
CRYSTAL, QUICK_CRYSTAL = (1, 2, 3, 4, 5, 6), (2, 3, 6)
REPEATS, QUICK_REPEATS = 20, 3
#: The power is taken over graphs of so many nodes or more, beside which the call from Python is little.
LARGE = 64
#: Nodes from which on it takes longer than the call.
FEW = 8
#: Both solutions are one up to this, over the greatest unknown.
SAME = 1e-9
ASSUMED = (
    "every node has six unknowns, blocks are random, and those on the diagonal heavy enough for pivots from them; "
    "the elimination's order is depth-first, as in the paper",
    "times are the best of 20, as the paper takes the best of 100, each with a call from Python in it; the dense "
    "solver is LAPACK's (numpy.linalg.solve), on one core as ours",
    "in the authors' program nets of more than ten nodes a side run over into themselves; ours are nets of all sizes",
    "curves of the paper cannot be read off: what it says of them is compared",
)


def compared(shapes: list[tuple[int, ...]], repeats: int) -> pd.DataFrame:
    """Return times and fill-in by the number of nodes, measured in a process of one thread."""
    grids = ("x".join(map(str, shape)) for shape in shapes)
    return pd.DataFrame([{
        "nodes": found["nodes"], "sparse [µs]": 1e6 * found["sparse"], "dense [µs]": 1e6 * found["dense"],
        "dense over sparse": found["dense"] / found["sparse"], "blocks between nodes": found["blocks"],
        "blocks filled in": found["filled"], "difference of solutions": found["difference"],
    } for found in in_one_thread(graph_systems.__name__, str(repeats), *grids)])  # fmt: skip


def figure_item(
    name: str, kind: str, shape: Callable[[int], tuple[int, ...]], sizes: tuple[tuple[int, ...], tuple[int, ...]],
    judge: Callable[[pd.DataFrame], tuple[Finding, ...]],
) -> Item:  # fmt: skip
    """Return the item of one of the three figures: grids of a shape, by a number."""

    def produce(quick: bool, progress: Progress) -> Outcome:
        table = compared([shape(number) for number in sizes[quick]], QUICK_REPEATS if quick else REPEATS)
        progress(1.0)
        off = float(table["difference of solutions"].max())
        same = stated("difference of both solutions, over the greatest unknown", "not in the paper", off,
                      at_most(SAME))  # fmt: skip
        return Outcome(
            (_most_cases(table), *judge(table), same), ASSUMED, {"Times": table}, {"cost": _draw(table, kind)}
        )

    where = f"Brüdigam et al. 2024, figure {name.removeprefix('figure-')}, section 5.2"
    return Item(name, f"linear systems on a {kind}", where, produce)


def _ladder(table: pd.DataFrame) -> tuple[Finding, ...]:
    filled = np.diff(table["blocks filled in"]) / np.diff(table["nodes"])
    grown = power(tuple(table["nodes"].tolist()), table["sparse [µs]"], LARGE)
    return (
        _greatest_ratio(table),
        stated("power of the number of nodes, on the graph", "cycles of fixed size: linear", grown, at_most(1.1)),
        stated("blocks filled in for a further node, most less least", "cycles of fixed size: O(n)",
               float(np.ptp(filled)), at_most(0, "none")),
    )  # fmt: skip


def _net(table: pd.DataFrame) -> tuple[Finding, ...]:
    return (_greatest_ratio(table, "less than for ladders: a net's loops fill in more for each further node"),)


def _crystal(table: pd.DataFrame) -> tuple[Finding, ...]:
    last = table.iloc[-1]
    ratio = float(last["dense over sparse"])
    return (
        stated(f"dense over sparse, {int(last['nodes'])} nodes", "slightly below 1", ratio,
               when("between 0.5 and 1", 0.5 <= ratio <= 1.0), "ours is the faster one here, too; the dense solver of "
               "the paper's language takes all cores unless told otherwise, that of ours has one"),
    )  # fmt: skip


def _most_cases(table: pd.DataFrame) -> Finding:
    """State how often the graph is faster, where the call from Python is not most of the time."""
    large = table[table["nodes"] >= FEW]
    faster = int((large["dense over sparse"] > 1.0).sum())
    return stated(f"sizes of {FEW} nodes or more at which the graph is faster", "most cases",
                  f"{faster} of {len(large)}", when("more than half", 2 * faster > len(large)))  # fmt: skip


def _greatest_ratio(table: pd.DataFrame, why: str = "") -> Finding:
    ratio = float(table["dense over sparse"].max())
    printed = "often more than two orders of magnitude"
    return stated("dense over sparse, at most", printed, ratio, above(100), why=why)


def _draw(table: pd.DataFrame, kind: str) -> Figure:
    with plotted(f"Solving a linear system on a {kind}", "nodes", "time [µs]") as (figure, axes):
        axes.loglog(table["nodes"], table["dense [µs]"], "s-", ms=4, color=style.RED, label="dense (LAPACK)")
        axes.loglog(table["nodes"], table["sparse [µs]"], "o-", ms=4, color=style.BLUE, label="on the graph (ours)")
    return figure


LADDER_ITEM = figure_item("figure-9b", "ladder", lambda rungs: (rungs, 2), (RUNGS, QUICK_RUNGS), _ladder)
NET_ITEM = figure_item("figure-9c", "net", lambda side: (side, side), (NET, QUICK_NET), _net)
CRYSTAL_ITEM = figure_item("figure-9d", "crystal", lambda side: (side,) * 3, (CRYSTAL, QUICK_CRYSTAL), _crystal)
