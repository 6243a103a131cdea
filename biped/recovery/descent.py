"""Differential dynamic programming with limits of the inputs (Tassa, Mansard & Todorov 2014), Gauss–Newton's model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from contact.arrays import Floats

Flags = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

#: Newton steps in a box at most, and what counts as no slope there, as a part of that without any change.
MOST_STEPS, STILL = 30, 1e-9


@dataclass(frozen=True, eq=False)
class Direction:
    """The result of a backward pass: a search direction, with feedback."""

    change: Floats  #: (N, m) of the inputs at the path's own states
    gains: Floats  #: (N, m, n) K of u = ū + change − K δx
    slope: float  #: of the cost along it
    curve: float  #: what the model adds to the slope: the cost is to fall by −(α slope + ½ α² curve)


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


def limited(H: Floats, g: Floats, low: Floats, high: Floats) -> tuple[Floats, Flags, tuple[Floats, bool]] | None:
    """Where ½ d·H d + g·d is least within limits, zero among them; what of d is free; Cholesky factors of that of H.

    By Newton steps in what no limit holds, clipped, each of which reduces it; None if H is not positive definite.
    """
    d, free, factors = np.zeros(len(g)), np.zeros(len(g), dtype=bool), (np.zeros((0, 0)), False)
    for _ in range(MOST_STEPS):
        slope = g + H @ d
        held = ((d <= low) & (slope > 0.0)) | ((d >= high) & (slope < 0.0))
        if (~held == free).all() and np.abs(slope[free]).max(initial=0.0) <= STILL * np.abs(g).max():
            break
        free = ~held
        if not free.any():
            return d, free, (np.zeros((0, 0)), False)
        try:
            factors = cho_factor(H[np.ix_(free, free)])
        except LinAlgError:
            return None
        step = np.zeros(len(g))
        step[free] = -cho_solve(factors, slope[free])
        d = _reduced(H, g, d, step, low, high)
    return d, free, factors


def _reduced(H: Floats, g: Floats, d: Floats, step: Floats, low: Floats, high: Floats) -> Floats:
    """The first of ever shorter clipped steps that reduces ½ d·H d + g·d; d itself if none does."""
    value, part = d @ (g + 0.5 * (H @ d)), 1.0
    while part > STILL:
        tried: Floats = np.clip(d + part * step, low, high)
        if tried @ (g + 0.5 * (H @ tried)) <= value:
            return tried
        part *= 0.5
    return d
