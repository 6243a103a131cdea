"""Linear systems on grids of nodes, solved on the graph and as dense matrices; as a program, what both take.

``python -m`` this module with a number of repeats and the lengths of grids, ``151x2 …``: in a process of its own, so
that LAPACK has one thread.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from biped.assembly.graph import graph_of_blocks
from biped.assembly.kernels.graph import clear_blocks, factor, substitute
from biped.assembly.kernels.system import WIDTH, Graph, Room, new_room
from contact.arrays import Floats
from experiments.benchmarks.timing import interleaved, seconds

Pair = tuple[int, int]


class Case(NamedTuple):
    """A linear system on a graph, and room to solve it in."""

    graph: Graph
    pairs: Sequence[Pair]  # with blocks of their own; the others are fill-in
    begin: Room  # what it is
    room: Room  # where it is solved
    dense: Floats  # (6 n, 6 n)
    load: Floats  # (6 n,)


def grid(*lengths: int) -> list[Pair]:
    """Neighbours in a grid of so many nodes along each direction, which are counted along the last one first."""
    number = np.arange(np.prod(lengths)).reshape(lengths)
    pairs: list[Pair] = []
    for axis, length in enumerate(lengths):
        ahead, behind = (number.take(range(first, first + length - 1), axis).ravel() for first in (1, 0))
        pairs += zip(behind.tolist(), ahead.tolist(), strict=True)
    return pairs


def depth_first(nodes: int, pairs: Sequence[Pair]) -> list[int]:
    """Nodes of a connected graph as they are eliminated: leaves before what they were reached from (section 4.1)."""
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
    """A random linear system on a connected graph."""
    graph = graph_of_blocks(depth_first(nodes, pairs), [WIDTH] * nodes, pairs)
    rooms = [new_room(nodes, 0, 0, 0, 0, len(graph.other)) for _ in range(2)]
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
    """What elimination overwrites, as it was."""
    for name in ("diagonal", "upper", "lower", "load", "magnitude"):
        getattr(case.room, name)[:] = getattr(case.begin, name)


def solve(case: Case) -> None:
    """The solution into the loads of a case that has been restored."""
    factor(case.graph, len(case.graph.order), case.room)
    substitute(case.graph, case.room)


def sparse_time(case: Case) -> float:
    """[s] to solve it on the graph."""
    restore(case)
    return seconds(lambda: solve(case), time.perf_counter)


def dense_time(case: Case) -> float:
    """[s] to solve it as a dense matrix."""
    return seconds(lambda: np.linalg.solve(case.dense, case.load), time.perf_counter)


def difference(case: Case) -> float:
    """Between both solutions, over the greatest unknown."""
    restore(case)
    solve(case)
    dense = np.linalg.solve(case.dense, case.load)
    return float(np.abs(case.room.load.ravel() - dense).max() / np.abs(dense).max())


def measured(shapes: Sequence[tuple[int, ...]], repeats: int) -> list[dict[str, float]]:
    """Of each grid: times [s], the best of so many, blocks, and the difference of both solutions."""
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


if __name__ == "__main__":
    grids = [tuple(map(int, argument.split("x"))) for argument in sys.argv[2:]]
    print(json.dumps(measured(grids, int(sys.argv[1]))))
