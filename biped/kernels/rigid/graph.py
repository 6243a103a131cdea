"""Sparse LDU decomposition on the graph of bodies and joints (Brüdigam et al. 2024, Algorithms 1 to 4).

Node p in the elimination's order has a square block D on the diagonal and, for each edge to a later node q, the blocks
U = F_pq and L = F_qp. Eliminating p takes L D⁻¹ U from the block of every pair of later nodes on its edges. In a tree
each node has one later neighbour, its parent: the first two algorithms, O(n). What fill-in loops make is known from the
graph alone (``biped.rigid.graph``), so that nothing is looked for here: the last two algorithms in one list of updates.

The matrix is not symmetric, its pattern is. Blocks on the diagonal are decomposed with complete pivoting, and never
inverted: a contact of stiffness 1e12 beside a mass leaves an inverse whose products are noise. Where rows of a joint
say what others say already (a planar loop of hinges), their pivots are rounding: such rows get no impulse, which is one
of the solutions, and all of these move the bodies alike.
"""

import math

from biped.kernels.rigid.system import WIDTH
from contact.jit import kernel, routine

# Pivots below this part of what was summed for them are rounding: rows that depend on others.
DEPENDENT = 1e-11

# Kinds of updates.
ON_DIAGONAL = 0
UPPER = 1
LOWER = 2


@kernel
def clear_blocks(graph, room):
    """Zeros into all blocks and loads."""
    for i in range(graph.order.shape[0]):
        for a in range(WIDTH):
            room.load[i, a] = room.magnitude[i, a] = 0.0
            for b in range(WIDTH):
                room.diagonal[i, a, b] = 0.0
    for e in range(graph.other.shape[0]):
        for a in range(WIDTH):
            for b in range(WIDTH):
                room.upper[e, a, b] = room.lower[e, a, b] = 0.0


@kernel
def largest_left(A, scales, order, k, size):
    """(row, column, size) of the largest scaled element from place k on in both directions."""
    row, column, best = k, k, -1.0
    for a in range(k, size):
        for b in range(k, size):
            part = abs(A[a, b]) * scales[order[0, a]] * scales[order[1, b]]
            if part > best:
                row, column, best = a, b, part
    return row, column, best


@kernel
def exchange(A, order, row, column, k, size):
    """The pivot's row and column for those in place k."""
    for b in range(size):
        A[row, b], A[k, b] = A[k, b], A[row, b]
    for a in range(size):
        A[a, column], A[a, k] = A[a, k], A[a, column]
    order[0, row], order[0, k] = order[0, k], order[0, row]
    order[1, column], order[1, k] = order[1, k], order[1, column]


@kernel
def decompose(A, magnitude, scales, order, size, least):
    """A = L U of rows and columns in the ``order`` of its pivots, in place; its rank.

    Args:
        A: (WIDTH, WIDTH)
        magnitude: (WIDTH,) what was summed on its diagonal, signs left out.
        scales: (WIDTH,) room.
        order: (2, WIDTH) rows and columns by place.
        size: of the block.
        least: pivots not above this part of the magnitudes are none.
    """
    for a in range(size):
        scales[a] = 1.0 / math.sqrt(magnitude[a]) if magnitude[a] > 0.0 else 0.0
        order[0, a] = order[1, a] = a
    for k in range(size):
        row, column, part = largest_left(A, scales, order, k, size)
        if not part > least:
            return k
        exchange(A, order, row, column, k, size)
        reciprocal = 1.0 / A[k, k]
        for a in range(k + 1, size):
            A[a, k] *= reciprocal
            for b in range(k + 1, size):
                A[a, b] -= A[a, k] * A[k, b]
    return size


@kernel
def solve_block(A, order, rank, size, column, work):
    """``column`` becomes the solution; what has no pivot becomes zero."""
    for k in range(rank):
        total = column[order[0, k]]
        for j in range(k):
            total -= A[k, j] * work[j]
        work[k] = total
    for k in range(rank - 1, -1, -1):
        total = work[k]
        for j in range(k + 1, rank):
            total -= A[k, j] * work[j]
        work[k] = total / A[k, k]
    for k in range(size):
        column[order[1, k]] = work[k] if k < rank else 0.0


@kernel
def subtract_product(left, right, target, rows, inner, columns):
    """``target`` −= ``left`` · ``right``."""
    for a in range(rows):
        for b in range(columns):
            total = 0.0
            for k in range(inner):
                total += left[a, k] * right[k, b]
            target[a, b] -= total


@kernel
def subtract_on_diagonal(left, right, target, magnitude, size, inner):
    """The same on a diagonal block, whose ``magnitude`` grows."""
    for a in range(size):
        for b in range(size):
            total = 0.0
            for k in range(inner):
                total += left[a, k] * right[k, b]
            target[a, b] -= total
            if a == b:
                magnitude[a] += abs(total)


@routine
def factor(graph, bodies, room):
    """Decompose in place (Algorithms 1 and 3); the node of a body without an inverse, −1 if all have one."""
    for k in range(graph.order.shape[0]):
        p = graph.order[k]
        size = graph.size[p]
        block, order = room.diagonal[p], room.pivots[p]
        rank = decompose(block, room.magnitude[p], room.work[0], order, size, 0.0 if p < bodies else DEPENDENT)
        room.rank[p] = rank
        if rank < size and p < bodies:
            return p
        for e in range(graph.first_edge[k], graph.first_edge[k + 1]):
            for column in range(graph.size[graph.other[e]]):
                solve_block(block, order, rank, size, room.upper[e, :, column], room.work[0])
        for u in range(graph.first_update[k], graph.first_update[k + 1]):
            row, column = graph.update_row[u], graph.update_column[u]
            left, right, target = room.lower[row], room.upper[column], graph.update_target[u]
            rows, columns = graph.size[graph.other[row]], graph.size[graph.other[column]]
            if graph.update_kind[u] == ON_DIAGONAL:
                subtract_on_diagonal(left, right, room.diagonal[target], room.magnitude[target], rows, size)
            elif graph.update_kind[u] == UPPER:
                subtract_product(left, right, room.upper[target], rows, size, columns)
            else:
                subtract_product(left, right, room.lower[target], rows, size, columns)
    return -1


@routine
def substitute(graph, room):
    """The solution in place of the loads (Algorithms 2 and 4)."""
    for k in range(graph.order.shape[0]):
        p = graph.order[k]
        size = graph.size[p]
        solve_block(room.diagonal[p], room.pivots[p], room.rank[p], size, room.load[p], room.work[0])
        for e in range(graph.first_edge[k], graph.first_edge[k + 1]):
            q = graph.other[e]
            for a in range(graph.size[q]):
                for b in range(size):
                    room.load[q, a] -= room.lower[e, a, b] * room.load[p, b]
    for k in range(graph.order.shape[0] - 1, -1, -1):
        p = graph.order[k]
        for e in range(graph.first_edge[k], graph.first_edge[k + 1]):
            q = graph.other[e]
            for a in range(graph.size[p]):
                for b in range(graph.size[q]):
                    room.load[p, a] -= room.upper[e, a, b] * room.load[q, b]
