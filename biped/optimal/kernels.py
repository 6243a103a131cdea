"""The Riccati recursion (36) of Johnson, Schultz & Murphey 2014, for costs with slopes and mixed terms."""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.solve.dense import add_rows
from contact.arrays import Floats
from kernelcache import kernel, routine


class Sweep(NamedTuple):
    """Results and buffers of the Riccati recursion; N steps, n states, m inputs.

    The least of Σ s·(z, v) + ½ (z, v)·H (z, v) over all z' = A z + B v is at v(k) = −K(k) z(k) − k(k); P(k) is the
    second derivative of the cost-to-go of a state z at k.
    """

    gain: Floats  # (N, m, n) K
    offset: Floats  # (N, m) k
    cost: Floats  # (N + 1, n, n) P
    slope: Floats  # (n,) derivative of the cost-to-go by the state
    next_slope: Floats  # (n,) this derivative for the step being computed
    ahead: Floats  # (n, n + m) P [A B]
    curvature: Floats  # (n + m, n + m) H + [A B]ᵀ P [A B]
    push: Floats  # (m,) derivative of the cost-to-go by the inputs


def new_sweep(count: int, n: int, m: int) -> Sweep:
    """Return buffers for ``count`` steps, n states and m inputs, filled with NaN."""
    shapes = (count, m, n), (count, m), (count + 1, n, n), (n,), (n,), (n, n + m), (n + m, n + m), (m,)
    return Sweep(*(np.full(shape, np.nan) for shape in shapes))


@routine
def sweep_back(maps, models, slopes, end, end_slope, sweep):
    """Compute K, k and P from the end to the beginning; return a step whose cost has no minimum, or −1.

    Args:
        maps: (N, n, n + m) [A B].
        models: (N, n + m, n + m) H of each step, or (1, n + m, n + m) H of all steps.
        slopes: (N, n + m) s of each step.
        end: (n, n) P of the last state.
        end_slope: (n,) derivative of the cost by the last state.
        sweep: receives the results.
    """
    count, n = maps.shape[0], maps.shape[1]
    for i in range(n):
        sweep.slope[i] = end_slope[i]
        for j in range(n):
            sweep.cost[count, i, j] = end[i, j]
    for k in range(count - 1, -1, -1):
        set_curvature(maps[k], models[min(k, models.shape[0] - 1)], sweep.cost[k + 1], sweep)
        set_slopes(maps[k], slopes[k], sweep)
        if not eliminate_inputs(sweep.curvature, n):
            return k
        set_feedback(k, n, sweep)
    return -1


@kernel
def set_curvature(maps, model, cost, sweep):
    """Set ``curvature`` to H + [A B]ᵀ P [A B]."""
    n, size = maps.shape
    for i in range(n):
        clear(sweep.ahead[i])
        add_rows(sweep.ahead[i], 1.0, cost[i], maps, 0, n, 0, size)
    for a in range(size):
        row = sweep.curvature[a]
        for b in range(size):
            row[b] = model[a, b]
        add_rows(row, 1.0, maps[:, a], sweep.ahead, 0, n, 0, size)


@kernel
def clear(row):
    for j in range(row.shape[0]):
        row[j] = 0.0


@kernel
def set_slopes(maps, slopes, sweep):
    """Set ``next_slope`` and ``push`` to s + [A B]ᵀ times the slope of the next state's cost-to-go."""
    n, size = maps.shape
    for a in range(size):
        total = slopes[a]
        for i in range(n):
            total += maps[i, a] * sweep.slope[i]
        if a < n:
            sweep.next_slope[a] = total
        else:
            sweep.push[a - n] = total


@kernel
def eliminate_inputs(S, n):
    """Factor the inputs' block by Cholesky, L Lᵀ, and form L⁻¹ times its columns of states; return False on failure."""
    for i in range(n, S.shape[0]):
        for j in range(n, i):
            S[i, j] = (S[i, j] - products(S, i, j, n, j)) / S[j, j]
        left = S[i, i] - products(S, i, i, n, i)
        if not left > 0.0:
            return False
        S[i, i] = math.sqrt(left)
        add_rows(S[i], -1.0, S[i], S, n, i, 0, n)
        for b in range(n):
            S[i, b] /= S[i, i]
    return True


@kernel
def products(S, i, j, first, last):
    total = 0.0
    for k in range(first, last):
        total += S[i, k] * S[j, k]
    return total


@kernel
def set_feedback(k, n, sweep):
    """Set K, k and P of a step, and the slope of its cost-to-go, from L⁻¹ of the mixed terms and of the push."""
    S, m = sweep.curvature, sweep.push.shape[0]
    push, gain, cost = sweep.push, sweep.gain[k], sweep.cost[k]
    for i in range(m):
        for j in range(i):
            push[i] -= S[n + i, n + j] * push[j]
        push[i] /= S[n + i, n + i]
    for a in range(n):
        slope = sweep.next_slope[a]
        for i in range(m):
            slope -= S[n + i, a] * push[i]
            gain[i, a] = S[n + i, a]
        sweep.slope[a] = slope
        add_rows(S[a], -1.0, S[n:, a], S[n:], 0, m, 0, n)
    for a in range(n):
        for b in range(n):
            cost[a, b] = 0.5 * (S[a, b] + S[b, a])  # rounding would not keep it symmetric
    substitute_back(S, n, gain, sweep.offset[k], push)


@kernel
def substitute_back(S, n, gain, offset, push):
    """Multiply the rows of ``gain`` and the push by L⁻ᵀ, into ``gain`` and ``offset``."""
    for i in range(push.shape[0] - 1, -1, -1):
        offset[i] = push[i]
        for j in range(i + 1, push.shape[0]):
            offset[i] -= S[n + j, n + i] * offset[j]
        offset[i] /= S[n + i, n + i]
        add_rows(gain[i], -1.0, S[n:, n + i], gain, i + 1, push.shape[0], 0, n)
        for a in range(n):
            gain[i, a] /= S[n + i, n + i]


@routine
def sweep_forward(maps, gain, offset, z, v):
    """Write the states z and inputs v of least cost, from z = 0."""
    n, m = maps.shape[1], v.shape[1]
    clear(z[0])
    for k in range(maps.shape[0]):
        for i in range(m):
            total = -offset[k, i]
            for a in range(n):
                total -= gain[k, i, a] * z[k, a]
            v[k, i] = total
        for a in range(n):
            total = 0.0
            for b in range(n):
                total += maps[k, a, b] * z[k, b]
            for i in range(m):
                total += maps[k, a, n + i] * v[k, i]
            z[k + 1, a] = total
