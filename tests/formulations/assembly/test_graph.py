"""Sparse LDU decomposition against dense solves, and its fill-in."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations.assembly import Assembly, RigidBody, joint
from formulations.assembly.examples import four_bar_chain, pendulum, three_link_loop
from formulations.assembly.graph import elimination_order, meeting, spanning_tree
from formulations.assembly.kernels.graph import ON_DIAGONAL, UPPER, factor, substitute
from formulations.assembly.kernels.system import WIDTH, new_buffers

from .random_assemblies import random_tree_assembly

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def room_of(assembly):
    n, m = len(assembly.bodies), len(assembly.joints)
    return new_buffers(n, m, int(assembly.system.joints.first[-1]), 0, 0, len(assembly.system.graph.other))


def original_edges(assembly):
    edge = assembly.system.graph.row_edge
    return sorted(set(edge[edge >= 0].tolist()))


def fill_at_random(rng, assembly, buffers):
    """Fill the matrix with random blocks; zeros in fill-in and on the joints' diagonals."""
    graph, n = assembly.system.graph, len(assembly.bodies)
    buffers.upper[:] = buffers.lower[:] = buffers.diagonal[:] = 0.0
    for node, size in enumerate(graph.size):
        if node < n:
            A = rng.normal(size=(6, 6))
            buffers.diagonal[node, :6, :6] = A @ A.T + 3.0 * np.eye(6) + 0.3 * rng.normal(size=(6, 6))
        buffers.magnitude[node] = np.abs(np.diag(buffers.diagonal[node]))
        buffers.load[node, :size] = rng.normal(size=size)
    for e in original_edges(assembly):
        one, two = ends_of(graph, e)
        shape = graph.size[one], graph.size[two]
        buffers.upper[e, : shape[0], : shape[1]] = np.linalg.qr(rng.normal(size=(6, 6)))[0][: shape[0], : shape[1]]
        # Not symmetric, as gradients at both ends of a step are not the same; near enough for a regular matrix.
        mirrored = -buffers.upper[e, : shape[0], : shape[1]].T
        buffers.lower[e, : shape[1], : shape[0]] = mirrored + 0.02 * rng.normal(size=mirrored.shape)


def ends_of(graph, e):
    place = int(np.searchsorted(graph.first_edge, e, side="right")) - 1
    return int(graph.order[place]), int(graph.other[e])


def dense_of(assembly, buffers):
    graph = assembly.system.graph
    first = np.concatenate([[0], np.cumsum(graph.size)])
    dense, load = np.zeros((first[-1], first[-1])), np.zeros(first[-1])
    for node, size in enumerate(graph.size):
        at = slice(first[node], first[node + 1])
        dense[at, at], load[at] = buffers.diagonal[node, :size, :size], buffers.load[node, :size]
    for e in range(len(graph.other)):
        one, two = ends_of(graph, e)
        row, column = slice(first[one], first[one + 1]), slice(first[two], first[two + 1])
        dense[row, column] = buffers.upper[e, : graph.size[one], : graph.size[two]]
        dense[column, row] = buffers.lower[e, : graph.size[two], : graph.size[one]]
    return dense, load, first


def smallest_schur(dense, first, order, node):
    """Return the least singular value of a node's block after elimination of earlier nodes."""
    before = np.concatenate([np.arange(first[k], first[k + 1]) for k in order[: list(order).index(node)]])
    at = np.arange(first[node], first[node + 1])
    inner = np.linalg.solve(dense[np.ix_(before, before)], dense[np.ix_(before, at)])
    return np.linalg.svd(dense[np.ix_(at, at)] - dense[np.ix_(at, before)] @ inner, compute_uv=False)[-1]


def looped(rng, bodies, loops):
    """Return a random tree with loop-closing ball joints (three rows each)."""
    tree = random_tree_assembly(rng, bodies)
    closing = []
    for k in range(loops):
        a, b = rng.choice(bodies, 2, replace=False)
        closing.append(joint("spherical", f"closing_{k}", f"body_{a}", f"body_{b}", inboard_point=rng.normal(size=3)))
    return Assembly("looped", tree.bodies, (*tree.joints, *closing))


CASES = [
    (seed, bodies, loops) for seed, (bodies, loops) in enumerate([(1, 0), (2, 0), (7, 0), (20, 0), (6, 1), (12, 4)])
]


@pytest.mark.parametrize(("seed", "bodies", "loops"), CASES)
def test_the_solution_is_that_of_a_dense_solver(seed, bodies, loops):
    """The solution is exact if all loops have enough freedoms; else a pivot is missed only in a singular matrix."""
    rng = np.random.default_rng(seed)
    compared = 0
    while compared < 5:
        assembly = looped(rng, bodies, loops)
        assert len(assembly.closing_joints) == loops
        buffers = room_of(assembly)
        fill_at_random(rng, assembly, buffers)
        dense, load, first = dense_of(assembly, buffers)
        graph = assembly.system.graph
        assert factor(graph, bodies, buffers) == -1
        if not np.array_equal(buffers.rank, graph.size):
            assert loops > 0
            assert smallest_schur(dense, first, graph.order, np.flatnonzero(buffers.rank < graph.size)[0]) < 1e-12
            continue
        condition, expected = np.linalg.cond(dense), np.linalg.solve(dense, load)
        substitute(graph, buffers)
        found = np.concatenate([buffers.load[node, :size] for node, size in enumerate(graph.size)])
        assert_allclose(found, expected, atol=1e-14 * condition * np.abs(expected).max() + 1e-13)
        compared += 1


def test_a_tree_has_no_fill_in_and_one_update_for_each_edge():
    rng = np.random.default_rng(5)
    for bodies in (1, 3, 10, 40):
        assembly = random_tree_assembly(rng, bodies)
        graph = assembly.system.graph
        assert assembly.fill_in == 0
        assert np.all(graph.update_kind == ON_DIAGONAL)
        assert np.diff(graph.first_edge).max() <= 1


@pytest.mark.parametrize("links", [2, 5, 20])
def test_fill_in_of_a_loop_runs_once_along_it(links):
    assembly = ring(links)
    nodes = 2 * links  # the last link is its neighbour as it is
    assert assembly.fill_in == nodes - 1


def test_fill_in_of_separate_loops_grows_with_their_number_alone():
    counts = [four_bar_chain(segments)[0].fill_in for segments in (2, 3, 4, 8)]
    assert counts[1] - counts[0] == counts[2] - counts[1]
    assert counts[3] - counts[2] == 4 * (counts[1] - counts[0])


def test_the_order_leaves_no_joint_before_its_bodies():
    rng = np.random.default_rng(8)
    for _ in range(20):
        assembly = looped(rng, 9, 3)
        joints, n = assembly.system.joints, 9
        ends = list(zip(joints.inboard.tolist(), joints.outboard.tolist(), strict=True))
        tree = spanning_tree(n, ends)
        place = {node: k for k, node in enumerate(elimination_order(n, ends, tree))}
        assert sorted(place) == list(range(n + len(ends)))
        for body in range(n):
            if tree.carrier[body] >= 0:
                assert place[n + tree.carrier[body]] == place[body] + 1
        for j in tree.closing:
            common = meeting(tree, *ends[j])
            for body in ends[j]:
                assert body in (-1, common) or place[n + j] > place[body]
            if common >= 0:
                assert place[n + j] < place[common]


def ring(links):
    chain = pendulum(links)
    closing = joint("spherical", "tie", None, f"link_{links}", inboard_point=(0.0, 0.5, 0.0))
    return Assembly("ring", chain.bodies, (*chain.joints, closing))


def test_redundant_rows_get_no_impulse_and_the_others_solve():
    assembly = ring(5)
    node = 5 + 5
    buffers = room_of(assembly)
    rng = np.random.default_rng(4)
    fill_at_random(rng, assembly, buffers)
    for e in original_edges(assembly):
        one, two = ends_of(assembly.system.graph, e)
        if node in (one, two):  # its last row twice another one: in the matrix and on the right
            joints, bodies = (buffers.upper, buffers.lower) if one == node else (buffers.lower, buffers.upper)
            joints[e, 2], bodies[e, :, 2] = 2.0 * joints[e, 1], 2.0 * bodies[e, :, 1]
    buffers.load[node, 2] = 2.0 * buffers.load[node, 1]
    dense, load, _ = dense_of(assembly, buffers)
    assert np.linalg.matrix_rank(dense) == len(dense) - 1
    graph = assembly.system.graph
    assert factor(graph, 5, buffers) == -1
    assert buffers.rank[node] == 2
    substitute(graph, buffers)
    found = np.concatenate([buffers.load[k, :size] for k, size in enumerate(graph.size)])
    assert_allclose(dense @ found, load, atol=1e-11)


def test_a_planar_loop_of_hinges_has_three_redundant_rows():
    assembly, start = three_link_loop()
    assert assembly.redundancy(start) == 3
    assert assembly.degrees_of_freedom(start) == 1
    assert assembly.closing_joints == ("right",)


def test_a_body_without_inverse_is_told():
    assembly = Assembly("one", (RigidBody("a", 1.0, UNIT),))
    buffers = room_of(assembly)
    buffers.diagonal[0] = np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    buffers.magnitude[0], buffers.load[0] = np.ones(WIDTH), np.ones(WIDTH)
    assert factor(assembly.system.graph, 1, buffers) == 0


def test_updates_of_loops_are_above_and_below():
    graph = three_link_loop()[0].system.graph
    assert np.count_nonzero(graph.update_kind == UPPER) == np.count_nonzero(graph.update_kind > UPPER) > 0
