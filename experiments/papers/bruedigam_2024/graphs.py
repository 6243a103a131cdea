"""Figures 9b to 9d: linear systems on graphs with many loops, eliminated on the graph and as dense matrices.

``python -m`` this module with a number of repeats and the lengths of grids, ``151x2 …``, prints what both take: in a
process of its own, so that LAPACK has one thread.
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
    """A linear system on a graph, with buffers for its solution."""

    graph: Graph
    pairs: Sequence[Pair]  # with blocks of their own; the others are fill-in
    begin: Buffers  # the system
    buffers: Buffers  # buffers of the solution
    dense: Floats  # (6 n, 6 n)
    load: Floats  # (6 n,)


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
    rooms = [new_buffers(nodes, 0, 0, 0, 0, len(graph.other)) for _ in range(2)]
    begin = rooms[0]
    clear_blocks(graph, begin)
    dense = np.zeros((nodes, WIDTH, nodes, WIDTH))
    weight = np.sqrt(WIDTH * np.bincount(np.ravel(pairs).astype(np.int64), minlength=nodes) + 1.0)
    begin.diagonal[:] = rng.normal(size=begin.diagonal.shape) + 4.0 * weight[:, None, None] * np.eye(WIDTH)
    begin.load[:] = rng.normal(size=begin.load.shape)
    own = {frozenset(pair) for pair in pairs}
    for place, node in enumerate(graph.order):
        dense[node, :, node] = begin.diagonal[node]
        for e in range(graph.first_edge[place], graph.first_edge[place + 1]):
            other = graph.other[e]
            if frozenset((int(node), int(other))) in own:
                begin.upper[e], begin.lower[e] = rng.normal(size=(2, WIDTH, WIDTH))
            dense[node, :, other], dense[other, :, node] = begin.upper[e], begin.lower[e]
    size = WIDTH * nodes
    return Case(graph, pairs, begin, rooms[1], dense.reshape(size, size), begin.load.ravel())


def restore(case: Case) -> None:
    """Restore what elimination overwrites."""
    for name in ("diagonal", "upper", "lower", "load", "magnitude"):
        getattr(case.buffers, name)[:] = getattr(case.begin, name)


def solve(case: Case) -> None:
    """Write the solution of a restored case over its loads."""
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
    """Measure each grid: the best times [s] of so many, its blocks, and the difference of both solutions."""
    rng = np.random.default_rng(1)
    cases = [system_on(int(np.prod(shape)), grid(*shape), rng) for shape in shapes]
    off = [difference(case) for case in cases]  # and compiled before the clock starts
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
    } for found in in_one_thread(__name__, str(repeats), *grids)])  # fmt: skip


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
               when("between 0.5 and 1", 0.5 <= ratio <= 1.0), "ours is the faster one here, too; perhaps since "
               "the dense solver has one core, where that of the paper's language takes all unless told otherwise"),
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


#: By kind: the shape of the grid of a number, the numbers, those of a short version, and what is said of them.
KINDS: dict[str, tuple[Callable[[int], tuple[int, ...]], Sequence[int], Sequence[int], Judge]] = {
    "ladder": (lambda rungs: (rungs, 2), RUNGS, QUICK_RUNGS, _ladder),
    "net": (lambda side: (side, side), NET, QUICK_NET, _net),
    "crystal": (lambda side: (side, side, side), CRYSTAL, QUICK_CRYSTAL, _crystal),
}


def produce(kind: str, quick: bool, progress: Progress) -> Outcome:
    """Solve systems on grids of a kind: one of the three figures."""
    shape, whole, short, judge = KINDS[kind]
    table = compared([shape(number) for number in (short if quick else whole)], QUICK_REPEATS if quick else REPEATS)
    progress(1.0)
    off = float(table["difference of solutions"].max())
    same = stated("difference of both solutions, over the greatest unknown", "not in the paper", off, at_most(SAME),
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
