"""Order in which bodies and joints are eliminated, and the fill-in (Brüdigam et al. 2024, section 4).

A joint closes a loop if earlier joints in the list already connect its bodies; the others form a spanning tree. It is
traversed by depth-first search, from the ground, then from the first body not connected to it. Bodies are eliminated
from the leaves inwards, each followed by the joint to its parent, whose block is then regular. A joint that closes a
loop is eliminated after both of its bodies, just before the body in which the loop's two branches meet: its row of
blocks lies only along the loop. The paper merges it in one node with the joint that opens the loop; the fill-in is
the same.

Two bodies that may touch have an edge but no node: unknowns of contacts are eliminated separately. Such edges come
after the joints in the tree, so that a stack of bodies is traversed from its top.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from contact.arrays import Integers
from formulations.assembly.kernels.graph import LOWER, ON_DIAGONAL, UPPER
from formulations.assembly.kernels.system import Graph, Joints

GROUND = -1


class SpanningTree(NamedTuple):
    """Spanning tree of the bodies along the joints."""

    order: tuple[int, ...]  #: bodies, parents first
    parent: tuple[int, ...]  #: parent of each body; −1: the ground or no parent
    carrier: tuple[int, ...]  #: joint to each body's parent; −1: no joint
    closing: tuple[int, ...]  #: joints that close loops


def closing_joints(bodies: int, ends: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Return the indices of joints whose bodies are already connected by earlier joints of ``ends``."""
    part = list(range(bodies + 1))  # the last one, at −1, is the ground

    def component_of(body: int) -> int:
        while part[body] != body:
            part[body] = part[part[body]]
            body = part[body]
        return body

    part[GROUND] = bodies
    closing = []
    for j, (a, b) in enumerate(ends):
        first, second = component_of(a % (bodies + 1)), component_of(b)
        if first == second:
            closing.append(j)
        part[first] = second
    return tuple(closing)


def spanning_tree(bodies: int, ends: Sequence[tuple[int, int]]) -> SpanningTree:
    """Return the spanning tree of ``bodies`` bodies, by depth-first search in the joints' order."""
    closing = closing_joints(bodies, ends)
    at: dict[int, list[int]] = {body: [] for body in range(GROUND, bodies)}
    for j in sorted(set(range(len(ends))) - set(closing)):
        for body in ends[j]:
            at[body].append(j)
    parent, carrier = [GROUND] * bodies, [-1] * bodies
    order: list[int] = []
    seen = {GROUND}

    def visit(root: int) -> None:
        stack = [root]
        while stack:
            body = stack.pop()
            if body != GROUND:
                order.append(body)
            for j in reversed(at[body]):
                other = ends[j][1] if ends[j][0] == body else ends[j][0]
                if other not in seen:
                    seen.add(other)
                    parent[other], carrier[other] = body, j
                    stack.append(other)

    visit(GROUND)
    for body in range(bodies):
        if body not in seen:
            seen.add(body)
            visit(body)
    return SpanningTree(tuple(order), tuple(parent), tuple(carrier), closing)


def _upwards(tree: SpanningTree, body: int) -> Iterator[int]:
    while body != GROUND:
        yield body
        body = tree.parent[body]


def meeting(tree: SpanningTree, a: int, b: int) -> int:
    """Return the nearest common ancestor of two bodies, which can be one of them; −1: the ground."""
    above = set(_upwards(tree, a))
    return next((body for body in _upwards(tree, b) if body in above), GROUND)


def elimination_order(bodies: int, ends: Sequence[tuple[int, int]], tree: SpanningTree) -> list[int]:
    """Return the nodes (bodies, then joints, by index) in order of elimination; extra edges of the tree have none."""
    before: dict[int, list[int]] = {}
    for j in tree.closing:
        if j < len(ends):
            before.setdefault(meeting(tree, *ends[j]), []).append(bodies + j)
    order: list[int] = []
    for body in reversed(tree.order):
        order += [*before.get(body, []), body]
        if 0 <= tree.carrier[body] < len(ends):
            order.append(bodies + tree.carrier[body])
    return order + before.get(GROUND, [])


def graph_of(bodies: int, joints: Joints, touching: Sequence[tuple[int, int]] = ()) -> Graph:
    """Return the graph of bodies and joints, with the updates of its elimination.

    Args:
        bodies: number of bodies.
        joints: arrays of the joints, with the inboard and outboard body of each.
        touching: pairs of bodies that may touch.
    """
    ends = list(zip(joints.inboard.tolist(), joints.outboard.tolist(), strict=True))
    order = elimination_order(bodies, ends, spanning_tree(bodies, [*ends, *touching]))
    size = [6] * bodies + joints.solved.tolist()
    jointed = [(body, bodies + j) for j, pair in enumerate(ends) if joints.solved[j] for body in pair if body >= 0]
    edges = eliminated(order, [*jointed, *touching])
    return _with_updates(order, size, edges, _row_edges(bodies, joints, ends, edges))


def graph_of_blocks(order: Sequence[int], sizes: Sequence[int], pairs: Sequence[tuple[int, int]]) -> Graph:
    """Return the graph of a block matrix from elimination order, unknowns of each node, and pairs with blocks."""
    none = np.empty((0, 2), dtype=np.int64)
    return _with_updates(order, sizes, eliminated(order, pairs), (none, none))


def eliminated(order: Sequence[int], pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return the edges from each node to later ones, numbered: those of ``pairs``, and those that fill-in adds."""
    place = {node: k for k, node in enumerate(order)}
    neighbours: list[set[int]] = [set() for _ in order]
    for a, b in pairs:
        neighbours[a].add(b)
        neighbours[b].add(a)
    edges: dict[tuple[int, int], int] = {}
    for node in order:
        later = sorted((q for q in neighbours[node] if place[q] > place[node]), key=place.__getitem__)
        for q in later:
            edges[node, q] = len(edges)
            neighbours[q] |= {later_node for later_node in later if later_node != q}
    return edges


def _with_updates(
    order: Sequence[int], size: Sequence[int], edges: dict[tuple[int, int], int], rows: tuple[Integers, Integers]
) -> Graph:
    later: dict[int, list[int]] = {node: [] for node in order}
    for node, other in edges:
        later[node].append(other)
    first_update = [0]
    updates: list[tuple[int, int, int, int]] = []
    for node in order:
        for first, second in combinations_with_replacement(later[node], 2):
            a, b = edges[node, first], edges[node, second]
            if first == second:
                updates.append((a, a, ON_DIAGONAL, first))
            else:
                updates += [(a, b, UPPER, edges[first, second]), (b, a, LOWER, edges[first, second])]
        first_update.append(len(updates))
    table = np.array(updates, dtype=np.int64).reshape(-1, 4)

    def integers(values: Sequence[int] | Integers) -> Integers:
        return np.array(values, dtype=np.int64)

    first_edge = np.cumsum([0] + [len(later[node]) for node in order])
    return Graph(
        order=integers(order), size=integers(size), first_edge=integers(first_edge),
        other=integers([other for _, other in edges]),
        first_update=integers(first_update), update_row=integers(table[:, 0]), update_column=integers(table[:, 1]),
        update_kind=integers(table[:, 2]), update_target=integers(table[:, 3]), row_edge=rows[0], row_is_upper=rows[1],
    )  # fmt: skip


def _row_edges(
    bodies: int, joints: Joints, ends: list[tuple[int, int]], edges: dict[tuple[int, int], int]
) -> tuple[Integers, Integers]:
    """Return the two edges of each solved row, and 1 for each edge on which the joint is eliminated first, else 0."""
    rows = int(joints.first[-1])
    edge, upper = np.full((rows, 2), -1, dtype=np.int64), np.zeros((rows, 2), dtype=np.int64)
    for j, pair in enumerate(ends):
        for side, body in enumerate(pair):
            if body >= 0 and joints.solved[j]:
                node, rows_of = bodies + j, slice(int(joints.first[j]), int(joints.first[j] + joints.solved[j]))
                first = (node, body) in edges
                edge[rows_of, side] = edges[(node, body) if first else (body, node)]
                upper[rows_of, side] = int(first)
    return edge, upper


def edge_between(graph: Graph, first: int, second: int) -> tuple[int, bool]:
    """Return the edge between two connected nodes, and True if the first one is eliminated before the second."""
    place = graph.order.tolist().index
    begin, end = sorted((first, second), key=place)
    edges = range(int(graph.first_edge[place(begin)]), int(graph.first_edge[place(begin) + 1]))
    return next(edge for edge in edges if graph.other[edge] == end), begin == first


def fill_in(graph: Graph, joints: Joints, touching: int = 0) -> int:
    """Return the number of blocks that fill-in adds above the diagonal."""
    existing = sum(int(a >= 0) + 1 for a, s in zip(joints.inboard, joints.solved, strict=True) if s)
    return len(graph.other) - existing - touching
