"""Linear equations with a full matrix: Gaussian elimination with partial pivoting, in place, and Cholesky solves."""

from kernelcache import kernel, routine


@routine
def factor_dense(A, order):
    """Factor P A = L U: the factors overwrite A (n, n), ``order`` (n,) receives the row swaps.

    A singular matrix gives infinities or NaN in the solutions.
    """
    n = A.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        order[k] = best
        if best != k:
            for j in range(n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        inverse = 1.0 / A[k, k]
        for i in range(k + 1, n):
            factor = A[i, k] * inverse
            A[i, k] = factor
            for j in range(k + 1, n):
                A[i, j] -= factor * A[k, j]


@routine
def solve_dense(A, order, load, solution):
    """Solve A x = load with the factors of ``factor_dense``."""
    n = A.shape[0]
    for i in range(n):
        solution[i] = load[i]
    for i in range(n):
        best = order[i]
        solution[i], solution[best] = solution[best], solution[i]
        for j in range(i):
            solution[i] -= A[i, j] * solution[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            solution[i] -= A[i, j] * solution[j]
        solution[i] /= A[i, i]


@routine
def solve_dense_transposed(A, order, load, solution):
    """Solve Aᵀ x = load with the factors of ``factor_dense``."""
    n = A.shape[0]
    for i in range(n):
        solution[i] = load[i]
    for i in range(n):
        for j in range(i):
            solution[i] -= A[j, i] * solution[j]
        solution[i] /= A[i, i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            solution[i] -= A[j, i] * solution[j]
    for i in range(n - 1, -1, -1):
        best = order[i]
        solution[i], solution[best] = solution[best], solution[i]


@routine
def solve_dense_rows(A, order, X, first, last):
    """Replace X by the solution of A · solution = X, in the columns from ``first`` to before ``last``."""
    n = A.shape[0]
    for i in range(n):
        best = order[i]
        if best != i:
            swap(X[i, first:last], X[best, first:last])
        add_rows(X[i], -1.0, A[i], X, 0, i, first, last)
    for i in range(n - 1, -1, -1):
        add_rows(X[i], -1.0, A[i], X, i + 1, n, first, last)
        inverse, row = 1.0 / A[i, i], X[i, first:last]
        for j in range(row.shape[0]):
            row[j] *= inverse


@kernel
def solve_cholesky(factor, x):
    """Replace the first n entries of x by (L Lᵀ)⁻¹ x, with L (n, n) in the lower triangle of ``factor``."""
    solve_cholesky_rows(factor, x.reshape(1, x.shape[0]), 1)


@kernel
def solve_cholesky_rows(factor, X, count):
    """Apply ``solve_cholesky`` to the first ``count`` rows of X together, so that the processor does not wait."""
    n = factor.shape[0]
    for i in range(n):
        for k in range(i):
            for row in range(count):
                X[row, i] -= factor[i, k] * X[row, k]
        for row in range(count):
            X[row, i] /= factor[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            for row in range(count):
                X[row, i] -= factor[k, i] * X[row, k]
        for row in range(count):
            X[row, i] /= factor[i, i]


@kernel
def swap(row, other):
    for j in range(row.shape[0]):
        row[j], other[j] = other[j], row[j]


@routine
def add_rows(row, factor, weight, X, begin, end, first, last):
    """Add ``factor`` times Σ w_k X_k, k from ``begin`` to before ``end``, to a row, in some columns.

    Four rows are added at a time, skipping zero weights, so that sums are loaded and stored a quarter as often. Slices
    avoid the check for negative indices.
    """
    target = row[first:last]
    count, k = target.shape[0], next_weight(weight, begin, end)
    while k < end:
        second = next_weight(weight, k + 1, end)
        third = next_weight(weight, second + 1, end)
        fourth = next_weight(weight, third + 1, end)
        if fourth < end:
            a, b = factor * weight[k], factor * weight[second]
            c, d = factor * weight[third], factor * weight[fourth]
            x, y = X[k, first:last], X[second, first:last]
            z, t = X[third, first:last], X[fourth, first:last]
            for j in range(count):
                target[j] += (a * x[j] + b * y[j]) + (c * z[j] + d * t[j])
            k = next_weight(weight, fourth + 1, end)
        else:
            a, x = factor * weight[k], X[k, first:last]
            for j in range(count):
                target[j] += a * x[j]
            k = second


@kernel
def next_weight(weight, begin, end):
    """Return the first index from ``begin`` on with a nonzero weight; ``end`` or more if there is none."""
    k = begin
    while k < end and weight[k] == 0.0:
        k += 1
    return k
