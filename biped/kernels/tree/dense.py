"""Linear equations with a full matrix: Gaussian elimination with partial pivoting, in place."""

from contact.jit import routine


@routine
def factor_dense(A, order):
    """P A = L U: the factors overwrite A (n, n), ``order`` (n,) takes the row swaps.

    A singular matrix leaves infinities or NaN in what is solved by it.
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
    """A x = load, for the A that ``factor_dense`` has factored."""
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
