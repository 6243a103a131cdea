"""Newton's matrix of a mechanism: the matrix of the tree, eliminated in O(n), with a border (Schur complement).

    T δ + Lᵀ μ = e,    R δ + C μ = f:    (C − R T⁻¹ Lᵀ) μ = f − R T⁻¹ e,    δ = T⁻¹ e − T⁻¹ Lᵀ μ.

The border contains the multipliers of constraints, (46) of Johnson & Murphey 2009, where L = Dh(q_k), R = Dh(q_{k+1}),
C = 0, f = −h(q_{k+1}), and the impulses of springs between two bodies, whose terms are not in one body's block.
"""

from biped.kernels.midpoint.elimination import solve_blocks
from biped.kernels.solve.dense import factor_dense, solve_dense
from kernelcache import kernel

# Relative pivot below which a row depends on other rows.
DEPENDENT = 1e-12


@kernel
def row_times(rows, i, x):
    total = 0.0
    for j in range(x.shape[0]):
        total += rows[i, j] * x[j]
    return total


@kernel
def factor_border(tree, buffers, alpha, border):
    """Compute T⁻¹ Lᵀ and the factored Schur complement; return a row that depends on other rows, or −1."""
    b = border.load.shape[0]
    for k in range(b):
        solve_blocks(tree, buffers, alpha, border.columns[k], border.solved[k])
    for i in range(b):
        largest = abs(border.corner[i, i])
        for k in range(b):
            entry = border.corner[i, k] - row_times(border.rows, i, border.solved[k])
            border.schur[i, k] = entry
            largest = max(largest, abs(entry))
        border.unknown[i] = largest
    if b == 0:
        return -1
    factor_dense(border.schur, border.order)
    return dependent_row(border)


@kernel
def dependent_row(border):
    """Return a row of the factored Schur complement whose pivot is rounding, or −1; ``unknown`` has the rows' sizes."""
    b = border.load.shape[0]
    for k in range(b):
        other = border.order[k]
        border.unknown[k], border.unknown[other] = border.unknown[other], border.unknown[k]
        if not abs(border.schur[k, k]) > DEPENDENT * border.unknown[k]:
            return k
    return -1


@kernel
def solve_border(tree, buffers, alpha, border, load, solution):
    """Write δ into ``solution`` and μ into ``border.unknown``; call after ``factor_border``."""
    solve_blocks(tree, buffers, alpha, load, solution)
    b = border.load.shape[0]
    if b == 0:
        return
    for i in range(b):
        border.load[i] -= row_times(border.rows, i, solution)
    solve_dense(border.schur, border.order, border.load, border.unknown)
    for k in range(b):
        for j in range(solution.shape[0]):
            solution[j] -= border.unknown[k] * border.solved[k, j]
