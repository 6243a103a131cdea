"""Figures 9b to 9d: linear systems on graphs with many loops, by elimination on the graph and as dense matrices.

Run by ``python -m`` with a number of repeats and the lengths of grids, ``151x2 …``, this module prints the times of
both solutions; it is a separate process so that LAPACK has one thread.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from contact.arrays import Floats
from experiments.papers.criteria import above, at_most, stated, when
from experiments.papers.figures import Curve, drawn, power
from experiments.papers.item import Finding, Outcome, Progress
from experiments.timing import in_one_thread, interleaved, seconds
from experiments.visualization.look import style
from formulations.assembly.graph import graph_of_blocks
from formulations.assembly.kernels.graph import clear_blocks, factor, substitute
from formulations.assembly.kernels.system import WIDTH, Buffers, Graph, new_buffers

Pair = tuple[int, int]
Judge = Callable[[pd.DataFrame], tuple[Finding, ...]]


class Case(NamedTuple):
    """Linear system with 6 x 6 blocks at the nodes and edges of a graph, and buffers for its solution."""

    graph: Graph
    pairs: Sequence[Pair]  # pairs of nodes with nonzero blocks; other blocks are fill-in
    begin: Buffers  # the system before elimination
    buffers: Buffers  # buffers for the solution
    dense: Floats  # (6 n, 6 n) matrix of the system
    load: Floats  # (6 n,) right side of the system


def grid(*lengths: int) -> list[Pair]:
    """Return the pairs of neighbours in a grid; nodes are numbered along the last direction first."""
    number = np.arange(np.prod(lengths)).reshape(lengths)
    pairs: list[Pair] = []
    for axis, length in enumerate(lengths):
        ahead, behind = (number.take(range(first, first + length - 1), axis).ravel() for first in (1, 0))
        pairs += zip(behind.tolist(), ahead.tolist(), strict=True)
    return pairs


def depth_first(nodes: int, pairs: Sequence[Pair]) -> list[int]:
    """Return nodes of a connected graph in elimination order: leaves before their parents (section 4.1)."""
    neighbours: list[list[int]] = [[] for _ in range(nodes)]
    for a, b in sorted(pairs):
        neighbours[a].append(b)
        neighbours[b].append(a)
    order: list[int] = []
    seen = {0}
    path = [(0, iter(neighbours[0]))]
    while path:
        node, ahead = path[-1]
        following = next((other for other in ahead if other not in seen), None)
        if following is None:
            order.append(node)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(neighbours[following])))
    return order


def system_on(nodes: int, pairs: Sequence[Pair], rng: np.random.Generator) -> Case:
    """Return a random linear system on a connected graph."""
    graph = graph_of_blocks(depth_first(nodes, pairs), [WIDTH] * nodes, pairs)
    begin, buffers = (new_buffers(nodes, 0, 0, 0, 0, len(graph.other)) for _ in range(2))
    clear_blocks(graph, begin)
    dense = np.zeros((nodes, WIDTH, nodes, WIDTH))
    weight = np.sqrt(WIDTH * np.bincount(np.ravel(pairs).astype(np.int64), minlength=nodes) + 1.0)
    begin.diagonal[:] = rng.normal(size=begin.diagonal.shape) + 4.0 * weight[:, None, None] * np.eye(WIDTH)
    begin.load[:] = rng.normal(size=begin.load.shape)
    given = {frozenset(pair) for pair in pairs}
    for place, node in enumerate(graph.order):
        dense[node, :, node] = begin.diagonal[node]
        for e in range(graph.first_edge[place], graph.first_edge[place + 1]):
            other = graph.other[e]
            if frozenset((int(node), int(other))) in given:
                begin.upper[e], begin.lower[e] = rng.normal(size=(2, WIDTH, WIDTH))
            dense[node, :, other], dense[other, :, node] = begin.upper[e], begin.lower[e]
    size = WIDTH * nodes
    return Case(graph, pairs, begin, buffers, dense.reshape(size, size), begin.load.ravel())


def restore(case: Case) -> None:
    """Restore the arrays that elimination overwrites."""
    for name in ("diagonal", "upper", "lower", "load", "magnitude"):
        getattr(case.buffers, name)[:] = getattr(case.begin, name)


def solve(case: Case) -> None:
    """Replace the loads of a restored case by the solution."""
    factor(case.graph, len(case.graph.order), case.buffers)
    substitute(case.graph, case.buffers)


def sparse_time(case: Case) -> float:
    """Return the time [s] of the solution on the graph."""
    restore(case)
    return seconds(lambda: solve(case), time.perf_counter)


def dense_time(case: Case) -> float:
    """Return the computing time [s] of solving the system with a dense matrix."""
    return seconds(lambda: np.linalg.solve(case.dense, case.load), time.perf_counter)


def difference(case: Case) -> float:
    """Return the ratio of the largest difference of sparse and dense solution to the largest unknown."""
    restore(case)
    solve(case)
    dense = np.linalg.solve(case.dense, case.load)
    return float(np.abs(case.buffers.load.ravel() - dense).max() / np.abs(dense).max())


def measured(shapes: Sequence[tuple[int, ...]], repeats: int) -> list[dict[str, float]]:
    """Return for each grid: best times [s] of ``repeats`` runs, numbers of blocks, and difference of the solutions."""
    rng = np.random.default_rng(1)
    cases = [system_on(int(np.prod(shape)), grid(*shape), rng) for shape in shapes]
    off = [difference(case) for case in cases]  # also compiles, before the clock starts
    work: dict[tuple[int, str], Callable[[], float]] = {}
    for k, case in enumerate(cases):
        work[k, "sparse"] = partial(sparse_time, case)
        work[k, "dense"] = partial(dense_time, case)
    best = {name: min(values) for name, values in interleaved(work, repeats).items()}
    return [
        {
            "nodes": len(case.graph.order), "sparse": best[k, "sparse"], "dense": best[k, "dense"],
            "blocks": len(case.pairs), "filled": len(case.graph.other) - len(case.pairs), "difference": off[k],
        }
        for k, case in enumerate(cases)
    ]  # fmt: skip


#: Rungs of ladders, nodes along an edge of nets and crystals: up to those of the authors' program.
RUNGS, QUICK_RUNGS = (2, 4, 8, 16, 32, 64, 151), (8, 64, 151)
NET, QUICK_NET = (2, 3, 4, 6, 8, 10, 14, 18), (4, 18)
CRYSTAL, QUICK_CRYSTAL = (1, 2, 3, 4, 5, 6), (2, 3, 6)
REPEATS, QUICK_REPEATS = 20, 3
#: Least number of nodes for the power; the call from Python then takes a small share of the time.
LARGE = 64
#: Least number of nodes with which the solution takes longer than the call from Python.
FEW = 8
#: Difference of the solutions / largest unknown, below which they count as equal.
SAME = 1e-9
ASSUMED = (
    "every node has six unknowns; blocks are random, with diagonal blocks large enough for pivots; the order of "
    "elimination is depth-first, as in the paper",
    "times are the best of 20 runs (of 100 in the paper), including a call from Python; the dense solver is LAPACK's "
    "(numpy.linalg.solve), on one core as ours",
    "in the authors' program nets of more than ten nodes a side overlap themselves; ours are nets of all sizes",
    "the paper's curves cannot be read off: its statements about them are compared",
)


def compared(shapes: list[tuple[int, ...]], repeats: int) -> pd.DataFrame:
    """Return times and fill-in by the number of nodes, measured in a process of one thread."""
    grids = ("x".join(map(str, shape)) for shape in shapes)
    return pd.DataFrame([{
        "nodes": row["nodes"], "sparse [µs]": 1e6 * row["sparse"], "dense [µs]": 1e6 * row["dense"],
        "dense over sparse": row["dense"] / row["sparse"], "blocks between nodes": row["blocks"],
        "blocks filled in": row["filled"], "difference of solutions": row["difference"],
    } for row in in_one_thread(__name__, str(repeats), *grids)])  # fmt: skip


def _ladder(table: pd.DataFrame) -> tuple[Finding, ...]:
    filled = np.diff(table["blocks filled in"]) / np.diff(table["nodes"])
    grown = power(tuple(table["nodes"].tolist()), table["sparse [µs]"], LARGE)
    return (
        _greatest_ratio(table),
        stated("power of the number of nodes, time on the graph", "cycles of fixed size: linear", grown, at_most(1.1)),
        stated("fill-in blocks per further node, largest − smallest number", "cycles of fixed size: O(n)",
               float(np.ptp(filled)), at_most(0, "none")),
    )  # fmt: skip


def _net(table: pd.DataFrame) -> tuple[Finding, ...]:
    return (_greatest_ratio(table, "less than for ladders: loops of a net cause more fill-in for each further node"),)


def _crystal(table: pd.DataFrame) -> tuple[Finding, ...]:
    last = table.iloc[-1]
    ratio = float(last["dense over sparse"])
    return (
        stated(f"time, dense / on the graph, {int(last['nodes'])} nodes", "slightly below 1", ratio,
               when("between 0.5 and 1", 0.5 <= ratio <= 1.0), "ours is faster here, too; perhaps because the dense "
               "solver has one core, while that of the paper's language uses all cores by default"),
    )  # fmt: skip


def _most_cases(table: pd.DataFrame) -> Finding:
    """State for how many sizes elimination on the graph is faster, without sizes at which the call dominates."""
    large = table[table["nodes"] >= FEW]
    faster = int((large["dense over sparse"] > 1.0).sum())
    return stated(f"sizes of {FEW} nodes or more at which elimination on the graph is faster", "most cases",
                  f"{faster} of {len(large)}", when("more than half", 2 * faster > len(large)))  # fmt: skip


def _greatest_ratio(table: pd.DataFrame, why: str = "") -> Finding:
    ratio = float(table["dense over sparse"].max())
    printed = "often more than two orders of magnitude"
    return stated("time, dense / on the graph, largest ratio", printed, ratio, above(100), why=why)


#: By kind: function from size to shape of the grid, sizes, sizes of a short version, function for the findings.
KINDS: dict[str, tuple[Callable[[int], tuple[int, ...]], Sequence[int], Sequence[int], Judge]] = {
    "ladder": (lambda rungs: (rungs, 2), RUNGS, QUICK_RUNGS, _ladder),
    "net": (lambda side: (side, side), NET, QUICK_NET, _net),
    "crystal": (lambda side: (side, side, side), CRYSTAL, QUICK_CRYSTAL, _crystal),
}


def produce(kind: str, quick: bool, progress: Progress) -> Outcome:
    """Recompute one of the three figures: systems on grids of a kind."""
    shape, sizes, short, judge = KINDS[kind]
    table = compared([shape(number) for number in (short if quick else sizes)], QUICK_REPEATS if quick else REPEATS)
    progress(1.0)
    off = float(table["difference of solutions"].max())
    same = stated("difference of the solutions / largest unknown", "not in the paper", off, at_most(SAME),
                  kind="ours")  # fmt: skip
    curves = (
        Curve(table["nodes"], table["dense [µs]"], "dense (LAPACK)", style.RED, "s-", marker=4),
        Curve(table["nodes"], table["sparse [µs]"], "on the graph (ours)", line="o-", marker=4),
    )
    figure = drawn((f"Solving a linear system on a {kind}", "nodes", "time [µs]"), curves, "loglog")
    return Outcome((_most_cases(table), *judge(table), same), ASSUMED, {"Times": table}, {"cost": figure})


if __name__ == "__main__":
    grids = [tuple(map(int, argument.split("x"))) for argument in sys.argv[2:]]
    print(json.dumps(measured(grids, int(sys.argv[1]))))
