"""Signals: functions of time as piecewise polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from biped.errors import InputError
from biped.inputs.checks import above_zero, integer, is_finite, zero_or_above
from biped.signals.sines import check_pieces, sine_pieces
from biped.signals.ternary import STAGES, ternary_sequence
from contact import piecewise as kernels
from contact.arrays import Floats


@dataclass(frozen=True, eq=False)
class Signal:
    """A function of time as a piecewise polynomial: zero before its first knot, constant from its last knot on.

    Values and integrals are exact at any time, for any step size of a simulation.

    Attributes:
        knots: (k,) [s] start times of the pieces, ascending.
        coefficients: (k, d) for each piece, coefficients of ascending powers of the time since its knot; in the last
            row, only the constant may be nonzero.
        frequencies: [Hz] frequencies in a periodic signal; empty for other signals.
        fade: [s] duration of the fade-in and of the fade-out of a periodic signal.

    Raises:
        InputError: shapes do not match, a number is not finite, knots do not ascend, or the last piece is not constant.
    """

    knots: Floats
    coefficients: Floats
    frequencies: tuple[float, ...] = ()
    fade: float = 0.0

    def __post_init__(self) -> None:
        knots, coefficients = np.asarray(self.knots, dtype=float), np.atleast_2d(np.asarray(self.coefficients, float))
        if knots.ndim != 1 or not len(knots) or coefficients.shape[0] != len(knots):
            raise InputError(f"signal: knots {knots.shape} need one row of coefficients each, not {len(coefficients)}")
        if not (np.all(np.isfinite(knots)) and np.all(np.isfinite(coefficients))):
            raise InputError("signal: all numbers must be finite")
        if np.any(np.diff(knots) <= 0.0):
            raise InputError("signal: knots must ascend")
        if np.any(coefficients[-1, 1:] != 0.0):
            raise InputError("signal: the last piece must be a constant")
        object.__setattr__(self, "knots", knots)
        object.__setattr__(self, "coefficients", coefficients)

    # --- properties ---

    @property
    def begins(self) -> float:
        """Time [s] of the first knot, before which the signal is zero."""
        return float(self.knots[0])

    @property
    def ends(self) -> float:
        """Time [s] of the last knot, from which on the signal is constant."""
        return float(self.knots[-1])

    def __call__(self, times: ArrayLike) -> Floats:
        """Return the values at times [s], in an array of the times' shape."""
        times = np.asarray(times, dtype=float)
        piece = np.searchsorted(self.knots, times, side="right") - 1
        since = times - self.knots[piece]
        value = np.zeros_like(times)
        for column in self.coefficients.T[::-1]:
            value = value * since + column[piece]
        return np.where(piece < 0, 0.0, value)

    def integral(self) -> Signal:
        """Return the integral over time from the first knot on, for a signal that ends at zero.

        Raises:
            InputError: the signal does not end at zero, so that its integral would grow without bound.
        """
        if self.coefficients[-1, 0] != 0.0:
            raise InputError(f"signal of a force: its last value is {self.coefficients[-1, 0]:g}; it must be zero")
        spans = np.diff(self.knots)
        powers = np.arange(1, self.coefficients.shape[1] + 1)
        rising = self.coefficients / powers
        gained = (rising[:-1] * spans[:, None] ** powers).sum(axis=1)
        start = np.concatenate([[0.0], np.cumsum(gained)])
        rising[-1] = 0.0
        return Signal(self.knots, np.column_stack([start, rising]))

    def largest_jump(self) -> float:
        """Return the largest absolute jump between the end of a piece and the start of the next piece."""
        spans = np.diff(self.knots)
        powers = np.arange(self.coefficients.shape[1])
        ends = (self.coefficients[:-1] * spans[:, None] ** powers).sum(axis=1)
        return float(np.abs(ends - self.coefficients[1:, 0]).max(initial=0.0))

    def scaled(self, factor: float) -> Signal:
        """Return the signal times a factor."""
        return self._with(self.knots, self.coefficients * factor)

    def shifted(self, delay: float) -> Signal:
        """Return the signal shifted to later times by ``delay`` [s]."""
        return self._with(self.knots + delay, self.coefficients)

    def _with(self, knots: Floats, coefficients: Floats) -> Signal:
        """Return this signal with other arrays, without checks, since studies make thousands of pushes."""
        other = object.__new__(Signal)
        other.__dict__.update(self.__dict__, knots=knots, coefficients=coefficients)
        return other

    # --- kinds ---

    @classmethod
    def rectangle(cls, height: float, start: float, duration: float) -> Signal:
        """Return a signal of ``height`` from ``start`` [s] for a ``duration`` [s], zero before and after."""
        above_zero(duration, "duration")
        return cls(np.array([start, start + duration]), np.array([[height], [0.0]]))

    @classmethod
    def half_sine(cls, height: float, start: float, duration: float) -> Signal:
        """Return half a period of a sine of ``height``, from ``start`` [s] for a ``duration`` [s], else zero."""
        above_zero(duration, "duration")
        return cls._sines(np.array([height]), np.array([0.5 / duration]), np.zeros(1), start, duration, 0.0)

    @classmethod
    def step(cls, size: float, start: float = 0.0, rise: float = 0.1) -> Signal:
        """Return a rise from zero to ``size`` within ``rise`` [s], with minimum jerk (Flash and Hogan 1985)."""
        above_zero(rise, "rise")
        smooth = size * np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0]) / rise ** np.arange(6)
        return cls(np.array([start, start + rise]), np.vstack([smooth, size * np.eye(1, 6)]))

    @classmethod
    def there_and_back(cls, size: float, start: float = 0.0, rise: float = 0.1, hold: float = 0.0) -> Signal:
        """Return a ``step``, and a step back to zero ``hold`` [s] after the end of its rise."""
        zero_or_above(hold, "hold")
        up = cls.step(size, start, rise)
        smooth, stays = up.coefficients
        pieces = [smooth, stays, stays - smooth, np.zeros(6)]
        knots = [start, start + rise, start + rise + hold, start + 2.0 * rise + hold]
        if hold == 0.0:
            del pieces[1], knots[1]
        return cls(np.array(knots), np.array(pieces))

    @classmethod
    def sine(
        cls, amplitude: float, frequency: float, start: float = 0.0, duration: float = 10.0, fade: float = 0.0
    ) -> Signal:
        """Return a sine of ``frequency`` [Hz] with phase zero at the start; arguments as for ``sum_of_sines``."""
        return cls.sum_of_sines([amplitude], [frequency], start=start, duration=duration, fade=fade)

    @classmethod
    def sum_of_sines(
        cls,
        amplitudes: Sequence[float],
        frequencies: Sequence[float],
        phases: Sequence[float] | None = None,
        *,
        start: float = 0.0,
        duration: float = 10.0,
        fade: float = 0.0,
    ) -> Signal:
        """Return Σ A sin(2π f (t − start) + φ) from ``start`` for a ``duration`` [s], with f in Hz and φ in rad.

        It is zero before. With ``fade`` [s], the size rises from zero at the start and falls to zero at the end. Else
        the signal starts at Σ A sin φ and keeps its last value afterwards.

        Raises:
            InputError: the numbers of amplitudes, frequencies and phases differ, or a frequency is not above zero.
        """
        phases = [0.0] * len(amplitudes) if phases is None else phases
        if not len(amplitudes) == len(frequencies) == len(phases) or not len(amplitudes):
            raise InputError(
                f"sines: {len(amplitudes)} amplitudes, {len(frequencies)} frequencies, {len(phases)} phases must match"
            )
        for frequency in frequencies:
            above_zero(frequency, "frequency")
        above_zero(duration, "duration")
        if not (is_finite(fade) and 0.0 <= fade <= duration / 2.0):
            raise InputError(f"fade = {fade!r} s: it must be from 0 to half of the duration, {duration / 2.0:g} s")
        sizes = np.asarray(amplitudes, float), np.asarray(frequencies, float), np.asarray(phases, float)
        sines = cls._sines(*sizes, start, duration, fade)
        return replace(sines, frequencies=tuple(sorted(set(map(float, frequencies)))), fade=fade)

    @classmethod
    def _sines(
        cls, amplitudes: Floats, frequencies: Floats, phases: Floats, start: float, duration: float, fade: float
    ) -> Signal:
        times, pieces = sine_pieces(amplitudes, frequencies, phases, duration, fade)
        return cls(start + times, pieces)

    @classmethod
    def ternary(
        cls, size: float, interval: float = 0.25, stages: int = 5, start: float = 0.0, cycles: int = 1, seed: int = 0
    ) -> Signal:
        """Return the integral of a pseudorandom ternary sequence of rates −r, 0 and r (Davies 1970; Peterka 2002).

        The sequence has the maximal length, 3ⁿ − 1 intervals for a shift register of n stages. Five stages with 0.25 s
        intervals make the 60.5 s cycle of Peterka's platform. The second half of a cycle is minus the first half: the
        signal contains only odd multiples of the lowest frequency.

        Args:
            size: difference between the greatest and the least value of the signal.
            interval: [s] time for which the rate is constant.
            stages: number n of stages of the shift register, 3 to 7.
            start: [s] start time.
            cycles: number of repetitions of the sequence.
            seed: position in the sequence at which the signal starts.
        """
        rate, odd = _ternary_rates(interval, stages, cycles, seed)
        value = np.concatenate([[0.0], np.cumsum(rate)])
        scale = size / float(np.ptp(value))
        rates = np.append(rate * scale / interval, 0.0)
        values = value * scale
        values[-1] = 0.0  # the rates of a cycle add up to zero
        knots = np.asarray(start + interval * np.arange(len(values)), dtype=np.float64)
        return cls(knots, np.column_stack([values, rates]), odd)

    @classmethod
    def ternary_steps(
        cls, size: float, interval: float = 0.25, stages: int = 5, start: float = 0.0, cycles: int = 1, seed: int = 0
    ) -> Signal:
        """Return a pseudorandom ternary sequence of values −size, 0 and size; other arguments as for ``ternary``."""
        rate, odd = _ternary_rates(interval, stages, cycles, seed)
        values = np.append(rate * size, 0.0)
        knots = np.asarray(start + interval * np.arange(len(values)), dtype=np.float64)
        return cls(knots, values[:, None], odd)

    @classmethod
    def noise(
        cls, deviation: float, interval: float = 0.05, start: float = 0.0, duration: float = 1.0, seed: int = 0
    ) -> Signal:
        """Return white noise: independent normally distributed values, each held for an ``interval`` [s]."""
        for name, value in (("interval", interval), ("duration", duration)):
            above_zero(value, name)
        zero_or_above(deviation, "deviation")
        random = np.random.default_rng(integer(seed, "seed"))
        check_pieces(duration / interval)
        count = int(np.ceil(duration / interval - 1e-9))
        knots = start + np.minimum(interval * np.arange(count + 1), duration)
        drawn: Floats = random.normal(0.0, deviation, count)
        return cls(knots, np.concatenate([drawn, [0.0]])[:, None])

    @classmethod
    def sampled(cls, times: ArrayLike, values: ArrayLike, kind: Literal["linear", "cubic"] = "linear") -> Signal:
        """Return a signal through sampled values, by linear interpolation or as a natural cubic spline.

        Raises:
            InputError: there are fewer than two samples, times do not ascend, or a number is not finite.
        """
        at, value = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
        if at.ndim != 1 or at.shape != value.shape or len(at) < 2:
            raise InputError(f"sampled signal: times {at.shape}, values {value.shape}: both must be (n,) with n ≥ 2")
        if not (np.all(np.isfinite(at)) and np.all(np.isfinite(value))):
            raise InputError("sampled signal: all numbers must be finite")
        if np.any(np.diff(at) <= 0.0):
            raise InputError(f"sampled signal: times must ascend; they do not after {at[np.argmin(np.diff(at))]:g} s")
        if kind == "cubic":
            from scipy.interpolate import CubicSpline

            pieces = CubicSpline(at, value, bc_type="natural").c[::-1].T
        elif kind == "linear":
            pieces = np.column_stack([value[:-1], np.diff(value) / np.diff(at)])
        else:
            raise InputError(f"kind = {kind!r}: it must be linear or cubic")
        last = np.zeros(pieces.shape[1])
        last[0] = value[-1]
        return cls(at, np.vstack([pieces, last]))

    @classmethod
    def from_csv(
        cls, path: str | Path, column: str = "value", time: str = "time", kind: Literal["linear", "cubic"] = "linear"
    ) -> Signal:
        """Return a column of a recorded file, in SI units; formats are CSV and others of ``biped.records.read_record``.

        Raises:
            InputError: the file is not a record, a column is missing or has a gap, or a cell is not a number; the
                message gives the location.
            OSError: the file cannot be read.
        """
        from biped.records.read import read_record  # records are made of signals

        try:
            return read_record(path, time=time).signal(column, kind)
        except InputError as error:
            raise InputError(f"{path}: {str(error).removeprefix(str(path)).lstrip(':, ')}") from None


def _ternary_rates(interval: float, stages: int, cycles: int, seed: int) -> tuple[Floats, tuple[float, ...]]:
    """Return the values −1, 0 and 1 of all intervals, (intervals,), and the frequencies [Hz] that they contain."""
    above_zero(interval, "interval")
    if stages not in STAGES:
        raise InputError(f"stages = {stages!r}: it must be one of {', '.join(map(str, STAGES))}")
    if cycles < 1:
        raise InputError(f"cycles = {cycles!r}: it must be one or more")
    check_pieces(cycles * 3**stages)
    rate = np.tile(np.roll(ternary_sequence(stages), -integer(seed, "seed")), cycles).astype(float)
    length = 3**stages - 1
    return rate, tuple(k / (length * interval) for k in range(1, length // 2, 2))


def compile_signals(signals: Sequence[Signal]) -> kernels.Signals:
    """Return signals packed into the arrays that the compiled kernels read."""
    if not signals:
        return kernels.no_signals()
    first = np.cumsum([0, *(len(signal.knots) for signal in signals)])
    width = max(signal.coefficients.shape[1] for signal in signals)
    coefficient = np.zeros((first[-1], width))
    for place, signal in zip(first, signals, strict=False):
        rows, columns = signal.coefficients.shape
        coefficient[place : place + rows, :columns] = signal.coefficients
    return kernels.Signals(first.astype(np.int64), np.concatenate([s.knots for s in signals]), coefficient)
