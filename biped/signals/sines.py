"""Sines as piecewise polynomials, by Hermite interpolation."""

from math import comb, factorial, perm, pi

import numpy as np

from biped.errors import InputError
from contact.arrays import Floats

#: Largest number of pieces of a signal.
MOST_PIECES = 1_000_000
#: Number of pieces in a period of a sine. With polynomials of degree 7 the error is below 1e-15 of the amplitude.
PIECES = 64
#: Number of derivatives in which neighbouring pieces of a sine agree, including the value.
SHARED = 4


def check_pieces(count: float) -> None:
    """Check that a signal does not have too many pieces, before it fills the memory."""
    if count > MOST_PIECES:
        raise InputError(f"signal: {count:.3g} pieces, over {MOST_PIECES}: use a shorter duration or slower changes")


def sine_pieces(
    amplitudes: Floats, frequencies: Floats, phases: Floats, duration: float, fade: float
) -> tuple[Floats, Floats]:
    """Return knots [s] from 0 on, and coefficients, of Σ A sin(2π f t + φ) with fade-in and fade-out."""
    pieces_needed = PIECES * duration * float(frequencies.max())
    check_pieces(pieces_needed)
    count = max(4, int(np.ceil(pieces_needed)))
    spans = [duration] if not fade else [fade, duration - 2.0 * fade, fade]
    edges = [np.zeros(1)]
    for span in spans:
        if span > 0.0:
            parts = max(4, int(np.ceil(max(count * span / duration, PIECES if span == fade else 0))))
            edges.append(edges[-1][-1] + span / parts * np.arange(1, parts + 1))
    times = np.concatenate(edges)
    orders = np.arange(SHARED)[:, None, None]
    turn = 2.0 * pi * frequencies
    values = (amplitudes * turn**orders * np.sin(turn * times[:, None] + phases + orders * pi / 2.0)).sum(axis=2)
    if fade:
        values = _faded(values, times, duration, fade)
    pieces = _hermite(values[:, :-1], values[:, 1:], np.diff(times))
    last = np.zeros(pieces.shape[1])
    last[0] = values[0, -1]
    turns = 2.0 * frequencies[0] * duration
    half_period = len(frequencies) == 1 and not phases.any() and abs(turns - round(turns)) < 1e-12
    if fade or half_period:  # it ends at zero except for rounding
        last[0] = 0.0
    return times, np.vstack([pieces, last])


def _hermite(left: Floats, right: Floats, spans: Floats) -> Floats:
    """Return coefficients (pieces, 8) from the value and three derivatives (4, pieces) at both ends.

    With s = (t − t_k)/span, the lower half of the coefficients is the Taylor polynomial at the left end; the upper half
    corrects the value and derivatives at the right end.
    """
    order = np.arange(SHARED)
    scale = spans[None, :] ** order[:, None]
    taylor = left * scale / np.array([factorial(k) for k in range(SHARED)])[:, None]
    at_right = right * scale
    lower = np.array([[perm(power, k) for power in range(SHARED)] for k in order], dtype=float)
    upper = np.array([[perm(power, k) for power in range(SHARED, 2 * SHARED)] for k in order], dtype=float)
    rest = np.linalg.solve(upper, at_right - lower @ taylor)
    powers = np.arange(2 * SHARED)
    return (np.vstack([taylor, rest]) / spans[None, :] ** powers[:, None]).T


def _faded(values: Floats, times: Floats, duration: float, fade: float) -> Floats:
    """Return values and derivatives after multiplication by a smoothly rising and falling envelope (Leibniz rule).

    Three derivatives of the envelope are zero at its ends.
    """
    rise, fall = np.clip(times / fade, 0.0, 1.0), np.clip((duration - times) / fade, 0.0, 1.0)
    rising = times < duration / 2.0
    s = np.where(rising, rise, fall)
    sign = np.where(rising, 1.0, -1.0) / fade
    envelope = [
        s**4 * (35.0 - 84.0 * s + 70.0 * s**2 - 20.0 * s**3),
        140.0 * s**3 * (1.0 - s) ** 3 * sign,
        420.0 * s**2 * (1.0 - s) ** 2 * (1.0 - 2.0 * s) * sign**2,
        840.0 * s * (1.0 - 6.0 * s + 10.0 * s**2 - 5.0 * s**3) * sign**3,
    ]
    return np.array([sum(comb(k, i) * envelope[i] * values[k - i] for i in range(k + 1)) for k in range(SHARED)])
