"""Extended Kalman filter for the error of an internal simulation and for the noise of the sensors.

The state is the error (e, ė) of configuration and rates, and the unit noise n of each measured number:

    y = x̂ + e + σ n,    σ = noise + share ``|x − x_0|``,    n' = a n + √(1 − a²) w,

with standard normal w. Noise states keep coloured noise apart from errors of equal size.
"""

import math
from typing import NamedTuple

import numpy as np

from biped.kernels.loop.error_model import factor_cholesky, solve_lower, take_off
from contact.arrays import Floats
from kernelcache import kernel, routine

#: Mean of the normalized squared innovations per number above which the errors' covariance is inflated.
SURPRISE = 4.0
#: Share of the innovations' variance that is added to it, against rounding.
SHARE = 1e-8


class Filter(NamedTuple):
    """State and buffers of the filter, for m = 2 nv numbers."""

    mean: Floats  # (2, m) e and n
    errors: Floats  # (m, m) covariance of e
    cross: Floats  # (m, m) covariance of e and n
    noises: Floats  # (m, m) covariance of n
    innovation: Floats  # (m,) y − x̂ − e − σ n, of the last update
    spread: Floats  # (m,) σ
    dead: Floats  # (m,) variance by a dead zone
    linearity: Floats  # (m,) variance by errors of the linear error model
    kept: Floats  # (m,) a of an update's span
    seen: Floats  # (m, m) buffer: covariance of the innovations, and its factor
    gain: Floats  # (m, 2 m) buffer: L⁻¹ H P
    moved: Floats  # (m, m) buffer
    surprise: Floats  # (1,) mean of the normalized squared innovations of the last update


def new_filter(m: int, linearity: float) -> Filter:
    """Return the filter at the start: no error, stationary noise."""
    z = np.zeros
    return Filter(
        mean=z((2, m)), errors=z((m, m)), cross=z((m, m)), noises=np.eye(m), innovation=z(m), spread=z(m),
        dead=z(m), linearity=np.full(m, linearity), kept=z(m), seen=z((m, m)), gain=z((m, 2 * m)), moved=z((m, m)),
        surprise=z(1),
    )  # fmt: skip


@kernel
def advance_error(transition, span, error, rate):
    """Propagate an error (2 nv,) over a span: ė' = R (e, ė), e' = e + h ė'; ``rate`` (nv,) is a buffer."""
    nv = transition.shape[0]
    for i in range(nv):
        rate[i] = 0.0
        for k in range(2 * nv):
            rate[i] += transition[i, k] * error[k]
    for i in range(nv):
        error[nv + i] = rate[i]
        error[i] += span * rate[i]


@routine
def advance_covariance(state, transition, noise, span):
    """Propagate the covariances over a span.

    Args:
        state: ``Filter``.
        transition: (nv, 2 nv) of the rates.
        noise: (nv, ·) square root of the rates' process noise.
        span: [s].
    """
    nv, m = transition.shape[0], state.errors.shape[0]
    advance_rows(transition, span, state.errors, state.moved)
    transpose(state.moved, state.seen)
    advance_rows(transition, span, state.seen, state.errors)
    symmetrize(state.errors)
    for i in range(nv):
        for k in range(nv):
            total = 0.0
            for j in range(noise.shape[1]):
                total += noise[i, j] * noise[k, j]
            state.errors[nv + i, nv + k] += total
            state.errors[i, nv + k] += span * total
            state.errors[nv + i, k] += span * total
            state.errors[i, k] += span * span * total
    advance_rows(transition, span, state.cross, state.moved)
    for i in range(m):
        for k in range(m):
            state.cross[i, k] = state.moved[i, k] * state.kept[k]
            state.noises[i, k] *= state.kept[i] * state.kept[k]
        state.noises[i, i] += 1.0 - state.kept[i] * state.kept[i]
        state.mean[1, i] *= state.kept[i]


@kernel
def symmetrize(matrix):
    """Make a matrix symmetric, since rounding errors of its antisymmetric part would grow."""
    for i in range(matrix.shape[0]):
        for k in range(i):
            matrix[i, k] = matrix[k, i] = 0.5 * (matrix[i, k] + matrix[k, i])


@kernel
def advance_rows(transition, span, source, target):
    """Write F times the rows of ``source``."""
    nv = transition.shape[0]
    for i in range(nv):
        rate = target[nv + i]
        rate[:] = 0.0
        for k in range(2 * nv):
            share, row = transition[i, k], source[k]
            for j in range(rate.shape[0]):
                rate[j] += share * row[j]
        row, place = source[i], target[i]
        for j in range(rate.shape[0]):
            place[j] = row[j] + span * rate[j]


@kernel
def transpose(source, target):
    for i in range(source.shape[0]):
        for k in range(source.shape[1]):
            target[k, i] = source[i, k]


@routine
def update(state):
    """Correct mean and covariances by the innovations; inflate the errors' covariance first if they surprise."""
    m = state.errors.shape[0]
    for attempt in range(2):
        set_innovation_covariance(state)
        factor_cholesky(state.seen)
        for i in range(m):
            state.moved[i, 0] = state.innovation[i]
        solve_lower(state.seen, state.moved[:, :1])
        total = 0.0
        for i in range(m):
            total += state.moved[i, 0] * state.moved[i, 0]
        if attempt == 0:
            state.surprise[0] = total / m
            if state.surprise[0] <= SURPRISE:
                break
            for row in state.errors:
                for k in range(m):
                    row[k] *= state.surprise[0]
    solve_lower(state.seen, state.gain)
    for i in range(m):
        white, row = state.moved[i, 0], state.gain[i]
        for k in range(m):
            state.mean[0, k] += white * row[k]
            state.mean[1, k] += white * row[m + k]
    for i in range(m):
        row = state.gain[i]
        take_off_product(state.errors, row[:m], row[:m])
        take_off_product(state.cross, row[:m], row[m:])
        take_off_product(state.noises, row[m:], row[m:])


@kernel
def take_off_product(matrix, left, right):
    """Subtract the outer product of two vectors."""
    for i in range(left.shape[0]):
        take_off(matrix[i], left[i], right)


@kernel
def set_innovation_covariance(state):
    """Set H P and H P Hᵀ + R, with H = (1, σ), both diagonal."""
    m = state.errors.shape[0]
    for i in range(m):
        spread, row = state.spread[i], state.gain[i]
        for k in range(m):
            row[k] = state.errors[i, k] + spread * state.cross[k, i]
            row[m + k] = state.cross[i, k] + spread * state.noises[i, k]
    for i in range(m):
        for k in range(i + 1):
            state.seen[i, k] = state.gain[i, k] + state.gain[i, m + k] * state.spread[k]
        state.seen[i, i] += state.linearity[i] + SHARE * state.seen[i, i] + state.dead[i]


@kernel
def is_finite(values):
    """Return True if all numbers (n,) are finite."""
    total = 0.0
    for value in values:
        total += value
    return math.isfinite(total)
