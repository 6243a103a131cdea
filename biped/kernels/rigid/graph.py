"""Sparse LDU decomposition on the graph of bodies and joints (Brüdigam et al. 2024, Algorithms 1 to 4).

Node p in the elimination's order has a square block D on the diagonal and, for each edge to a later node q, the blocks
U = F_pq and L = F_qp. Eliminating p takes L D⁻¹ U from the block of every pair of later nodes on its edges. In a tree
each node has one later neighbour, its parent: the first two algorithms, O(n). What fill-in loops make is known from the
graph alone (``biped.rigid.graph``), so that nothing is looked for here: the last two algorithms in one list of updates.

The matrix is not symmetric, its pattern is. Blocks on the diagonal are inverted with complete pivoting. Where rows of a
joint say what others say already (a planar loop of hinges), their pivots are rounding: such rows get no impulse, which
is one of the solutions, and all of these move the bodies alike.
"""

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
def largest_left(A, magnitude, size, used_row, used_column):
    """(row, column, part of what was summed) of the largest element that is no pivot yet."""
    best, row, column = -1.0, 0, 0
    for a in range(size):
        if used_row >> a & 1:
            continue
        for b in range(size):
            if not used_column >> b & 1:
                part = abs(A[a, b]) / (magnitude[a] * magnitude[b]) ** 0.5
                if part > best:
                    best, row, column = part, a, b
    return row, column, best


@kernel
def invert_block(A, magnitude, size, inverse, work):
    """The inverse of a block by Gauss and Jordan's elimination with complete pivoting; its rank.

    Args:
        A: (WIDTH, WIDTH), which is not changed.
        magnitude: (WIDTH,) what was summed on its diagonal, signs left out.
        size: of the block.
        inverse: (WIDTH, WIDTH) is written to; rows and columns without a pivot become zero.
        work: (2, WIDTH, WIDTH)
    """
    left, right = work[0], work[1]
    for a in range(size):
        for b in range(size):
            left[a, b] = A[a, b]
            right[a, b] = 1.0 if a == b else 0.0
            inverse[a, b] = 0.0
    used_row = used_column = rank = 0
    order = 0  # the column of each pivot's row, three bits a row
    for _ in range(size):
        row, column, part = largest_left(left, magnitude, size, used_row, used_column)
        if not part > DEPENDENT:
            break
        used_row, used_column, rank = used_row | 1 << row, used_column | 1 << column, rank + 1
        order |= column << 3 * row
        reciprocal = 1.0 / left[row, column]
        for b in range(size):
            left[row, b] *= reciprocal
            right[row, b] *= reciprocal
        for a in range(size):
            factor = left[a, column]
            if a != row and factor != 0.0:
                for b in range(size):
                    left[a, b] -= factor * left[row, b]
                    right[a, b] -= factor * right[row, b]
    for a in range(size):
        if used_row >> a & 1:
            for b in range(size):
                if used_row >> b & 1:
                    inverse[order >> 3 * a & 7, b] = right[a, b]
    return rank


@kernel
def multiply_left(inverse, block, rows, columns, work):
    """``block`` = ``inverse`` · ``block``."""
    for a in range(rows):
        for b in range(columns):
            total = 0.0
            for k in range(rows):
                total += inverse[a, k] * block[k, b]
            work[a, b] = total
    for a in range(rows):
        for b in range(columns):
            block[a, b] = work[a, b]


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
        rank = invert_block(room.diagonal[p], room.magnitude[p], size, room.inverse[p], room.work)
        if rank < size and p < bodies:
            return p
        for e in range(graph.first_edge[k], graph.first_edge[k + 1]):
            multiply_left(room.inverse[p], room.upper[e], size, graph.size[graph.other[e]], room.work[0])
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
    work = room.work[0, 0]
    for k in range(graph.order.shape[0]):
        p = graph.order[k]
        size = graph.size[p]
        for a in range(size):
            total = 0.0
            for b in range(size):
                total += room.inverse[p, a, b] * room.load[p, b]
            work[a] = total
        for a in range(size):
            room.load[p, a] = work[a]
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
