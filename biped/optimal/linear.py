"""Linear quadratic regulators of discrete systems x' = A x + B u.

Johnson, Schultz & Murphey 2014, section VIII-A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, solve_discrete_are

from biped.errors import InputError
from biped.optimal.kernels import new_sweep, sweep_back
from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class Regulator:
    """The feedback u = u_d − K (x − x_d) of least cost about a desired trajectory (x_d, u_d) of N steps.

    Attributes:
        gains: (N, m, n) gains K(k) at the steps k, for n states and m inputs.
        costs: (N + 1, n, n) cost-to-go matrices P(k): a deviation z = x − x_d at step k costs z·P(k)·z from then on.
    """

    gains: Floats
    costs: Floats


def regulator(A: Floats, B: Floats, Q: Floats, R: Floats, final: Floats | None = None) -> Regulator:
    """Return the linear quadratic regulator along a trajectory of N steps, by a Riccati recursion.

    Johnson, Schultz & Murphey 2014, eqs. (36a, b). The gain is [R + BᵀPB]⁻¹ BᵀPA, with the cost-to-go matrix P of the
    next step; the paper prints B for the last A.

    Args:
        A: (N, n, n) derivatives of the next state with respect to the state, in each step.
        B: (N, n, m) derivatives of the next state with respect to the input, in each step.
        Q: (n, n) weight matrix of deviations of the state.
        R: (m, m) weight matrix of deviations of the input.
        final: (n, n) weight matrix of the deviation of the last state; None: Q.

    Raises:
        InputError: shapes do not fit, or R + BᵀPB is not positive definite: an input has no cost and affects none.
    """
    if A.ndim != 3 or B.ndim != 3 or A.shape[:2] != B.shape[:2] or A.shape[1] != A.shape[2]:
        raise InputError(f"A and B have shapes {A.shape} and {B.shape}; they must be (N, n, n) and (N, n, m)")
    count, n, m = B.shape
    if Q.shape != (n, n) or R.shape != (m, m):
        raise InputError(f"Q and R have shapes {Q.shape} and {R.shape}; they must be ({n}, {n}) and ({m}, {m})")
    end = Q if final is None else final
    models = np.zeros((count, n + m, n + m))
    models[:, :n, :n], models[:, n:, n:] = Q, R
    sweep = new_sweep(count, n, m)
    maps = np.concatenate([A, B], axis=2)
    failed = sweep_back(maps, models, np.zeros((count, n + m)), np.ascontiguousarray(end), np.zeros(n), sweep)
    if failed >= 0:
        raise InputError(f"R + BᵀPB is not positive definite at step {failed}: give every input a cost above zero in R")
    return Regulator(sweep.gain, sweep.cost)


def steady_regulator(A: Floats, B: Floats, Q: Floats, R: Floats) -> Regulator:
    """Return the linear quadratic regulator of x' = A x + B u over an infinite horizon, with weights Q and R.

    It is constant: ``gains`` (1, m, n) and ``costs`` (1, n, n) have one entry.

    Raises:
        InputError: no feedback makes the system stable, or a mode on the unit circle has no cost.
    """
    try:
        P: Floats = np.asarray(solve_discrete_are(A, B, Q, R), dtype=np.float64)
    except (LinAlgError, ValueError) as error:
        raise InputError(f"there is no steady regulator: {error}; every unstable mode must be controllable") from None
    mixed = B.T @ P @ A
    gain: Floats = np.asarray(np.linalg.solve(R + B.T @ P @ B, mixed), dtype=np.float64)
    return Regulator(gain[None], P[None])
