"""Linear discrete systems x' = A x + B u: controllability, and the regulator of least cost.

Johnson, Schultz & Murphey 2014, sections IV-A and VIII-A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

from biped.errors import InputError
from biped.optimal.kernels import new_sweep, sweep_back
from contact.arrays import Floats


def controllability_matrix(A: Floats, B: Floats) -> Floats:
    """(n, n m) [B, A B, …, Aⁿ⁻¹ B].

    Raises:
        InputError: A is not square, or B has another number of rows.
    """
    A, B = _checked_pair(A, B)
    columns = [B]
    for _ in range(A.shape[0] - 1):
        columns.append(A @ columns[-1])
    return np.hstack(columns)


def controllability_rank(A: Floats, B: Floats, tolerance: float = 1e-9) -> int:
    """The dimension of the states that inputs can reach.

    The directions are found one power of A after the other, orthogonal to those before: the rank of
    ``controllability_matrix`` itself drowns in rounding from a dozen states on, since its columns turn parallel.

    Args:
        A: (n, n).
        B: (n, m).
        tolerance: of a new direction's length, relative to the largest of its power of A.

    Raises:
        InputError: as of ``controllability_matrix``.
    """
    A, B = _checked_pair(A, B)
    n = A.shape[0]
    basis, new = np.zeros((n, 0)), B
    while new.size and basis.shape[1] < n:
        outside = new - basis @ (basis.T @ new)
        outside -= basis @ (basis.T @ outside)
        left, sizes, _ = np.linalg.svd(outside, full_matrices=False)
        scale = np.linalg.norm(new, 2)
        added = left[:, sizes > tolerance * scale] if scale > 0.0 else left[:, :0]
        basis, new = np.hstack([basis, added]), A @ added
    return min(basis.shape[1], n)


@dataclass(frozen=True, eq=False)
class Regulator:
    """The feedback u = u_d − K (x − x_d) of least cost, and what that is.

    Attributes:
        gains: (N, m, n) K(k).
        costs: (N + 1, n, n) P(k): z·P(k)·z is what a deviation z costs from k on.
    """

    gains: Floats
    costs: Floats


def regulator(A: Floats, B: Floats, Q: Floats, R: Floats, final: Floats | None = None) -> Regulator:
    """The linear quadratic regulator along a trajectory, by the Riccati recursion (36a, b).

    The gain is [R + BᵀPB]⁻¹ BᵀPA: the print ends in B where it must be A.

    Args:
        A: (N, n, n).
        B: (N, n, m).
        Q: (n, n) cost of a state's deviation, or (N + 1, n, n), its last the end's.
        R: (m, m) or (N, m, m) that of an input's.
        final: (n, n) that of the end, if not Q.

    Raises:
        InputError: shapes do not fit, or R + BᵀPB is not positive definite: some input costs nothing and does nothing.
    """
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    if A.ndim != 3 or B.ndim != 3 or A.shape[:2] != B.shape[:2] or A.shape[1] != A.shape[2]:
        raise InputError(f"A and B have shapes {A.shape} and {B.shape}; they must be (N, n, n) and (N, n, m)")
    count, n, m = B.shape
    Qs, Rs = _along(Q, count + 1, n, "Q"), _along(R, count, m, "R")
    end = Qs[count] if final is None else np.asarray(final, dtype=float)
    models = np.zeros((count, n + m, n + m))
    models[:, :n, :n], models[:, n:, n:] = Qs[:count], Rs
    sweep = new_sweep(count, n, m)
    maps = np.concatenate([A, B], axis=2)
    failed = sweep_back(maps, models, np.zeros((count, n + m)), np.ascontiguousarray(end), np.zeros(n), sweep)
    if failed >= 0:
        raise InputError(f"R + BᵀPB is not positive definite at k = {failed}: give every input a cost above zero")
    return Regulator(sweep.gain, sweep.cost)


def steady_regulator(A: Floats, B: Floats, Q: Floats, R: Floats) -> Regulator:
    """The regulator of constant A and B over an infinite horizon: one gain, (1, m, n), and one cost.

    Raises:
        InputError: no feedback makes the system stable, or a mode on the unit circle costs nothing.
    """
    A, B = _checked_pair(A, B)
    try:
        P: Floats = np.asarray(solve_discrete_are(A, B, Q, R), dtype=np.float64)
    except (LinAlgError, ValueError) as error:
        raise InputError(f"the regulator of a steady state cannot be found: {error}") from None
    mixed = B.T @ P @ A
    gain: Floats = np.asarray(np.linalg.solve(R + B.T @ P @ B, mixed), dtype=np.float64)
    return Regulator(gain[None], P[None])


def _along(matrix: Floats, count: int, size: int, what: str) -> Floats:
    found = np.asarray(matrix, dtype=float)
    if found.shape == (size, size):
        return np.broadcast_to(found, (count, size, size))
    if found.shape == (count, size, size):
        return found
    raise InputError(f"{what} has shape {found.shape}; it must be ({size}, {size}) or ({count}, {size}, {size})")


def _checked_pair(A: Floats | Sequence[object], B: Floats | Sequence[object]) -> tuple[Floats, Floats]:
    a, b = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or b.ndim != 2 or b.shape[0] != a.shape[0]:
        raise InputError(f"A and B have shapes {a.shape} and {b.shape}; they must be (n, n) and (n, m)")
    return a, b
