"""Differential dynamic programming with limits of the inputs (Tassa, Mansard & Todorov 2014), Gauss–Newton's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class Direction:
    """What a backward pass gives.

    Attributes:
        change: (N, m) of the inputs at the path's own states.
        gains: (N, m, n) K of u = ū + change − K δx.
        slope: of the cost along it.
        curve: what the model adds to the slope: the cost is to fall by −(α slope + ½ α² curve).
    """

    change: Floats
    gains: Floats
    slope: float
    curve: float


def backward(
    A: Floats, B: Floats, slope: Floats, curve: Floats, R: Floats, u: Floats, low: Floats, high: Floats, extra: Floats
) -> Direction | None:
    """The best change of the inputs within limits, by the Riccati recursion; None where the model is not convex.

    Args:
        A: (N, n, n).
        B: (N, n, m).
        slope: (N + 1, n) of the cost by the states.
        curve: (N + 1, n, n).
        R: (m, m) the cost of inputs is ½ u·R u.
        u: (N, m) where they are.
        low: (N, m) least.
        high: (N, m) greatest.
        extra: (m, m) what a change of the inputs costs besides: Levenberg and Marquardt's damping.
    """
    count, n, m = B.shape
    P, b = curve[-1], slope[-1]
    change, gains = np.zeros((count, m)), np.zeros((count, m, n))
    first = second = 0.0
    for k in range(count - 1, -1, -1):
        BP = B[k].T @ P
        H = R + BP @ B[k]
        g = R @ u[k] + B[k].T @ b
        mixed = BP @ A[k]
        found = limited(H + extra, g, low[k] - u[k], high[k] - u[k])
        if found is None:
            return None
        d, free, factors = found
        K = gains[k]
        if free.any():
            K[free] = cho_solve(factors, mixed[free])
        change[k] = d
        Hd, HK = H @ d, H @ K
        first += float(g @ d)
        second += float(d @ Hd)
        # δu = d − K δx
        b = slope[k] + A[k].T @ b + mixed.T @ d - K.T @ (Hd + g)
        P = curve[k] + A[k].T @ P @ A[k] - K.T @ mixed - mixed.T @ K + K.T @ HK
        P = 0.5 * (P + P.T)
    return Direction(change, gains, first, second)


def limited(
    H: Floats, g: Floats, low: Floats, high: Floats
) -> tuple[Floats, np.ndarray[tuple[int, ...], np.dtype[np.bool_]], tuple[Floats, bool]] | None:
    """D of small ½ d·H d + g·d within limits, which of it is free, and the Cholesky factors of that part of H.

    What leaves a limit is clamped there, and the rest is found anew, until nothing leaves: a descent, if not the least.
    """
    free = np.ones(len(g), dtype=bool)
    d = np.zeros(len(g))
    while free.any():
        try:
            factors = cho_factor(H[np.ix_(free, free)])
        except LinAlgError:
            return None
        d[free] = -cho_solve(factors, g[free] + H[np.ix_(free, ~free)] @ d[~free])
        beyond = free & ((d < low) | (d > high))
        if not beyond.any():
            return d, free, factors
        d = np.clip(d, low, high)
        free &= ~beyond
    return d, free, (np.zeros((0, 0)), False)
