"""Sparse LDU decomposition on the graph of bodies and joints (Brüdigam et al. 2024, Algorithms 1 to 4).

Node p in the elimination order has a square block D on the diagonal and, for each edge to a later node q, the blocks
U = F_pq and L = F_qp. Eliminating p subtracts L D⁻¹ U from the block of every pair of later nodes on its edges. In a
tree each node has one later neighbour, its parent, and the cost is O(n) (first two algorithms). Loops cause fill-in,
which follows from the graph alone (``formulations.assembly.graph``): the last two algorithms are a precomputed list of
updates.

The matrix is not symmetric, but its pattern is. Diagonal blocks are factored with pivots from their diagonals and never
inverted: with a mass and a contact of stiffness 1e12, products with an inverse would be noise. Redundant rows of a
joint, as in a planar loop of hinges, have pivots of the size of rounding errors. Such rows get no impulse; this is one
of many solutions, all of which move the bodies alike.
"""

from contact.vectors import add_scaled6, load6, scale6, store6
from formulations.assembly.kernels.system import WIDTH
from kernelcache import kernel, routine

# A pivot below this fraction of its summed magnitudes is a rounding error: the row is dependent.
DEPENDENT = 1e-11

# Kinds of updates.
ON_DIAGONAL, UPPER, LOWER = range(3)


@kernel
def clear_blocks(graph, buffers):
    """Set all blocks and loads to zero."""
    for i in range(graph.order.shape[0]):
        for a in range(WIDTH):
            buffers.load[i, a] = buffers.magnitude[i, a] = 0.0
            for b in range(WIDTH):
                buffers.diagonal[i, a, b] = 0.0
    for e in range(graph.other.shape[0]):
        for a in range(WIDTH):
            for b in range(WIDTH):
                buffers.upper[e, a, b] = buffers.lower[e, a, b] = 0.0


@kernel
def bring_pivot(A, order, scales, k, size):
    """Move the largest scaled element of the remaining diagonal to index k of ``order``; return the element."""
    best, place = -1.0, k
    for a in range(k, size):
        part = abs(A[order[a], order[a]]) * scales[order[a]]
        if part > best:
            best, place = part, a
    order[place], order[k] = order[k], order[place]
    return best


@kernel
def decompose(A, multipliers, order, scales, size, least):
    """Factor A = L U with diagonal pivots, the largest first; return the rank.

    Blocks are nearly symmetric and semidefinite, so that such pivots reveal the rank.

    Args:
        A: (WIDTH, WIDTH) the block; overwritten by U, with rows and columns not permuted.
        multipliers: (WIDTH, WIDTH) elements of L, by the positions of a row and of a pivot's row in ``order``.
        order: (WIDTH,) order of the pivots.
        scales: (WIDTH,) scales of the elements on the diagonal.
        size: number of rows of the block.
        least: scaled pivots up to this count as zero.
    """
    for a in range(size):
        order[a] = a
    for k in range(size):
        if not bring_pivot(A, order, scales, k, size) > least:
            return k
        pivot = order[k]
        reciprocal, row = 1.0 / A[pivot, pivot], load6(A, pivot)
        for a in range(k + 1, size):
            lower = order[a]
            factor = A[lower, pivot] * reciprocal
            multipliers[lower, pivot] = factor
            store6(A, lower, add_scaled6(load6(A, lower), -factor, row))
    return size


@kernel
def solve_rows(A, multipliers, order, rank, size, block):
    """Replace the columns of ``block`` (WIDTH, WIDTH) by the solutions; rows without a pivot become zero."""
    for k in range(rank):
        row = load6(block, order[k])
        for j in range(k):
            row = add_scaled6(row, -multipliers[order[k], order[j]], load6(block, order[j]))
        store6(block, order[k], row)
    for k in range(rank - 1, -1, -1):
        at = order[k]
        row = load6(block, at)
        for j in range(k + 1, rank):
            row = add_scaled6(row, -A[at, order[j]], load6(block, order[j]))
        store6(block, at, scale6(1.0 / A[at, at], row))
    for k in range(rank, size):
        store6(block, order[k], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@kernel
def solve_one(A, multipliers, order, rank, size, column):
    """Replace one column (WIDTH,) by the solution; rows without a pivot become zero."""
    for k in range(rank):
        total = column[order[k]]
        for j in range(k):
            total -= multipliers[order[k], order[j]] * column[order[j]]
        column[order[k]] = total
    for k in range(rank - 1, -1, -1):
        at = order[k]
        total = column[at]
        for j in range(k + 1, rank):
            total -= A[at, order[j]] * column[order[j]]
        column[at] = total / A[at, at]
    for k in range(rank, size):
        column[order[k]] = 0.0


@kernel
def subtract_product(left, right, target, rows, inner):
    """Subtract ``left`` · ``right`` from ``target``, in ``rows`` rows with ``inner`` terms; other elements are zero."""
    for a in range(rows):
        row = load6(target, a)
        for k in range(inner):
            row = add_scaled6(row, -left[a, k], load6(right, k))
        store6(target, a, row)


@kernel
def subtract_on_diagonal(left, right, target, magnitude, rows, inner):
    """Subtract a product from a diagonal block, and update its ``magnitude``."""
    for a in range(rows):
        before = target[a, a]
        row = load6(target, a)
        for k in range(inner):
            row = add_scaled6(row, -left[a, k], load6(right, k))
        store6(target, a, row)
        magnitude[a] += abs(target[a, a] - before)


@kernel
def set_scales(magnitude, size, is_body, scales):
    """Set the pivot scales: for a joint the inverse of the summed magnitudes, for a body 1."""
    for a in range(size):
        scales[a] = 1.0
        if not is_body:
            scales[a] = 1.0 / magnitude[a] if magnitude[a] > 0.0 else 0.0


@routine
def factor(graph, bodies, buffers):
    """Factor the matrix in place (Algorithms 1 and 3); return the node of a singular body block, or −1."""
    for k in range(graph.order.shape[0]):
        p = graph.order[k]
        size = graph.size[p]
        block, multipliers, order = buffers.diagonal[p], buffers.multipliers[p], buffers.pivots[p]
        set_scales(buffers.magnitude[p], size, p < bodies, buffers.scales)
        rank = decompose(block, multipliers, order, buffers.scales, size, 0.0 if p < bodies else DEPENDENT)
        buffers.rank[p] = rank
        if rank < size and p < bodies:
            return p
        for e in range(graph.first_edge[k], graph.first_edge[k + 1]):
            solve_rows(block, multipliers, order, rank, size, buffers.upper[e])
        for u in range(graph.first_update[k], graph.first_update[k + 1]):
            row, column = graph.update_row[u], graph.update_column[u]
            left, right, target = buffers.lower[row], buffers.upper[column], graph.update_target[u]
            rows = graph.size[graph.other[row]]
            if graph.update_kind[u] == ON_DIAGONAL:
                subtract_on_diagonal(left, right, buffers.diagonal[target], buffers.magnitude[target], rows, size)
            elif graph.update_kind[u] == UPPER:
                subtract_product(left, right, buffers.upper[target], rows, size)
            else:
                subtract_product(left, right, buffers.lower[target], rows, size)
    return -1


@routine
def substitute(graph, buffers):
    """Replace the loads by the solution (Algorithms 2 and 4)."""
    for k in range(graph.order.shape[0]):
        p = graph.order[k]
        size = graph.size[p]
        solve_one(
            buffers.diagonal[p], buffers.multipliers[p], buffers.pivots[p], buffers.rank[p], size, buffers.load[p]
        )
        for e in range(graph.first_edge[k], graph.first_edge[k + 1]):
            q = graph.other[e]
            for a in range(graph.size[q]):
                for b in range(size):
                    buffers.load[q, a] -= buffers.lower[e, a, b] * buffers.load[p, b]
    for k in range(graph.order.shape[0] - 1, -1, -1):
        p = graph.order[k]
        for e in range(graph.first_edge[k], graph.first_edge[k + 1]):
            q = graph.other[e]
            for a in range(graph.size[p]):
                for b in range(graph.size[q]):
                    buffers.load[p, a] -= buffers.upper[e, a, b] * buffers.load[q, b]
