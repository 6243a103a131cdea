"""Fourier coefficients of stimulus and responses in each cycle of a periodic stimulus."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from biped.errors import InputError
from biped.inputs.checks import above_zero, integer
from biped.metrics.fourier import Complexes, fourier_coefficients
from contact.arrays import Floats

#: Tolerance of the number of a frequency's periods in a cycle, which must be whole.
_TOLERANCE = 1e-6
#: Ratio of a sampling interval to the median interval above which it is a gap.
_GAP = 1.5
#: Largest share of a stimulus's power that may differ between cycles, for example by measurement noise.
UNREPEATED = 0.1
#: Largest contribution of a drift between cycles, relative to the stimulus's amplitude.
DRIFT = 0.03


@dataclass(frozen=True, eq=False)
class Spectra:
    """Fourier coefficients c of stimulus and responses, by cycle: terms Re(c e^{iωt}) with the time t in the cycle.

    Attributes:
        period: [s] duration of a cycle.
        frequencies: (f,) [Hz] all multiples of 1/period up to the highest excited frequency.
        excited: (f,) mask of the frequencies that the stimulus contains.
        stimulus: (m, f) coefficients of the stimulus in m cycles, in its unit.
        responses: coefficients (m, f) of each response, in its unit, by name.
        trial: (m,) index of the trial of each cycle.
        units: units by name of the response, and of the stimulus under ``stimulus``; without an entry: no unit.
        is_periodic: True if the stimulus must repeat in each cycle of a trial; False for windows of any stimulus.

    Raises:
        InputError: shapes do not match, a number is not finite, or no frequency is excited.
    """

    period: float
    frequencies: Floats
    excited: NDArray[np.bool_]
    stimulus: Complexes
    responses: Mapping[str, Complexes]
    trial: NDArray[np.int64]
    units: Mapping[str, str] = field(default_factory=dict)
    is_periodic: bool = True

    def __post_init__(self) -> None:
        if not self.responses:
            raise InputError("spectra: there is no response; give at least one")
        shape = (len(self.trial), len(self.frequencies))
        for name, values in {"stimulus": self.stimulus, **self.responses}.items():
            if values.shape != shape:
                raise InputError(f"{name} has shape {values.shape}: it must be {shape}, (cycles, frequencies)")
            if not np.isfinite(values).all():
                raise InputError(f"{name}: a coefficient is not finite")
        if not self.excited.any():
            raise InputError("spectra: no frequency is excited; set at least one in the mask ``excited``")

    @classmethod
    def joined(cls, parts: Sequence[Spectra]) -> Spectra:
        """Return the joined spectra of several trials; raise InputError if their responses or frequencies differ."""
        if not parts:
            raise InputError("there are no spectra: no trial contains a whole cycle")
        first = parts[0]
        for part in parts[1:]:
            if part.responses.keys() != first.responses.keys() or not (
                np.array_equal(part.frequencies, first.frequencies) and np.array_equal(part.excited, first.excited)
            ):
                raise InputError("spectra of several trials must have the same responses and frequencies")
        return replace(
            first,
            stimulus=np.concatenate([part.stimulus for part in parts]),
            responses={name: np.concatenate([part.responses[name] for part in parts]) for name in first.responses},
            trial=np.repeat(np.arange(len(parts)), [len(part.trial) for part in parts]),
        )

    @property
    def unrepeated(self) -> float:
        """Share of the stimulus's power, up to the highest frequency, that differs between the cycles of a trial."""
        moved = total = 0.0
        for number in np.unique(self.trial) if self.is_periodic else ():
            cycles = self.stimulus[self.trial == number]
            if len(cycles) > 1:
                moved += float((np.abs(cycles - cycles.mean(axis=0)) ** 2).sum()) * len(cycles) / (len(cycles) - 1)
                total += float((np.abs(cycles) ** 2).sum())
        return moved / total if total else 0.0

    def stacked(self) -> Complexes:
        """Return the coefficients of all responses, (m, f, responses), in order."""
        return np.stack(list(self.responses.values()), axis=2)


def bins_of(period: float, frequencies: Sequence[float] | Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return all multiples of 1/period [Hz] up to the highest given frequency, and the mask of given frequencies.

    Raises:
        InputError: a frequency is not a multiple of 1/period.
    """
    above_zero(period, "period")
    if not len(frequencies):
        raise InputError("frequencies: give at least one frequency [Hz] of the stimulus")
    cycles = np.asarray(frequencies, dtype=float) * period
    places = np.round(cycles)
    off = np.abs(cycles - places) > _TOLERANCE * np.maximum(cycles, 1.0)
    if off.any() or not (places >= 1.0).all():
        wrong = np.asarray(frequencies, dtype=float)[off | ~(places >= 1.0)][0]
        raise InputError(f"frequency {wrong:g} Hz: it must be a multiple of 1/period, {1.0 / period:.6g} Hz")
    numbers = np.arange(1, int(places.max()) + 1)
    return numbers / period, np.isin(numbers, places)


def cycle_spectra(
    time: ArrayLike,
    stimulus: ArrayLike,
    responses: Mapping[str, ArrayLike],
    period: float,
    frequencies: Sequence[float] | Floats,
    *,
    begin: float | None = None,
    skip: int = 1,
    units: Mapping[str, str] | None = None,
) -> Spectra:
    """Return the spectra of the whole cycles of one or more trials.

    Args:
        time: (n,) [s] ascending times of the samples, common to all trials.
        stimulus: samples (n,), or (trials, n) if the stimulus differs between trials.
        responses: samples (n,) or (trials, n) by name of the response.
        period: [s] period of the stimulus.
        frequencies: [Hz] frequencies of the stimulus (``Signal.frequencies``), multiples of 1/period.
        begin: [s] start of the first cycle; default: the first time.
        skip: number of initial cycles that are dropped because of transients.
        units: units by name of the response, and of the stimulus under ``stimulus``.

    Raises:
        InputError: shapes do not match, a number is missing, no cycle is whole, samples are too few or have a gap,
            or the stimulus drifts or differs between cycles by more than ``UNREPEATED`` of its power.
    """
    every, excited = bins_of(period, frequencies)
    times, together = tables_of(time, stimulus, responses)
    trials, columns = together.shape[:2]
    flat = np.ascontiguousarray(together.reshape(-1, len(times)).T)
    cycles = coefficients_of_cycles(times, flat, period, every, begin, skip)
    shaped = cycles.reshape(len(cycles), len(every), trials, columns).transpose(2, 0, 1, 3)
    coefficients = shaped.reshape(trials * len(cycles), len(every), columns)
    named = {name: coefficients[:, :, 1 + k] for k, name in enumerate(responses)}
    trial = np.repeat(np.arange(trials), len(cycles))
    spectra = Spectra(period, every, excited, coefficients[:, :, 0], named, trial, dict(units or {}))
    if spectra.unrepeated > UNREPEATED:
        part = f"{min(spectra.unrepeated, 1.0):.0%} of the stimulus's power differs between cycles"
        remedy = "set the stimulus's period or, if it does not repeat, a window (Welch's estimate)"
        raise InputError(f"period = {period:g} s: {part}: {remedy}")
    since = (times[0] if begin is None else begin) + skip * period
    early = times[(times >= since) & (times + period <= times[-1])]
    ramps = 1.0 / (np.pi * period * every[excited])  # coefficients of a ramp that rises by 1 in each cycle
    for number, values in enumerate(together[:, 0] if early.size else ()):
        drift = float(np.mean(np.interp(early + period, times, values) - np.interp(early, times, values)))
        moved = np.linalg.norm(spectra.stimulus[trial == number][:, excited].mean(axis=0))
        if abs(drift) * np.linalg.norm(ramps) > DRIFT * moved:
            raise InputError(f"the stimulus drifts by {drift:.3g} in each cycle of {period:g} s: subtract its trend")
    return spectra


def tables_of(time: ArrayLike, stimulus: ArrayLike, responses: Mapping[str, ArrayLike]) -> tuple[Floats, Floats]:
    """Return times (n,), and stimulus and responses (trials, columns, n); raise InputError if shapes do not match."""
    times = np.asarray(time, dtype=float)
    columns = {"stimulus": stimulus, **responses}
    if "stimulus" in responses:
        raise InputError("a response must not be named stimulus")
    tables = {name: np.atleast_2d(np.asarray(values, dtype=float)) for name, values in columns.items()}
    trials = max(len(table) for table in tables.values())
    for name, table in tables.items():
        if table.ndim != 2 or table.shape[1] != len(times) or len(table) not in (1, trials):
            shapes = f"({len(times)},) or (trials, {len(times)})"
            raise InputError(f"{name} has shape {np.shape(columns[name])}: it must be {shapes}")
    return times, np.stack([np.broadcast_to(table, (trials, len(times))) for table in tables.values()], axis=1)


def coefficients_of_cycles(
    time: Floats, table: Floats, period: float, frequencies: Floats, begin: float | None = None, skip: int = 1
) -> Complexes:
    """Return the Fourier coefficients (cycles, frequencies, columns) of a table's whole cycles.

    Args:
        time: (n,) [s] ascending times of the samples.
        table: (n, columns) samples.
        period: [s] duration of a cycle.
        frequencies: (f,) [Hz] multiples of 1/period.
        begin: [s] start of the first cycle; default: the first time.
        skip: number of initial cycles that are dropped.

    Raises:
        InputError: the errors of ``cycle_spectra``.
    """
    above_zero(period, "period")
    integer(skip, "skip")
    if time.ndim != 1 or len(time) < 3 or not (np.diff(time) > 0.0).all():
        raise InputError("time must be three or more ascending numbers")
    start = float(time[0]) if begin is None else begin
    usual = float(np.median(np.diff(time)))
    if 2.0 * usual * float(np.max(frequencies)) >= 1.0:
        raise InputError(
            f"a sample each {usual:g} s is too slow: {np.max(frequencies):g} Hz needs more than two samples per period"
        )
    # Cycles are shifted by half a sample, so that rounding moves no sample into another cycle.
    count = math.floor((time[-1] + 1.5 * usual - start) / period)
    if count <= skip:
        raise InputError(
            f"{max(count, 0)} whole cycles of {period:g} s from {start:g} s on: there must be more than {skip}, the "
            "number of cycles to skip"
        )
    clock, columns = np.ascontiguousarray(time[:, None]), range(table.shape[1])
    coefficients = np.empty((count - skip, len(frequencies), table.shape[1]), dtype=np.complex128)
    for number in range(skip, count):
        since = start + number * period
        first, stop = np.searchsorted(time, [since - 0.5 * usual, since + period - 0.5 * usual])
        rows, values = clock[first:stop], table[first:stop]
        _check_samples(rows[:, 0], values, since, period, usual)
        turned = np.exp(-2j * np.pi * frequencies * (rows[0, 0] - since))  # phases count from the first row
        coefficients[number - skip] = turned[:, None] * fourier_coefficients(rows, 0, values, columns, frequencies)
    return coefficients


def _check_samples(time: Floats, table: Floats, since: float, period: float, usual: float) -> None:
    """Raise InputError if a cycle has a gap or a number that is not finite."""
    edges = np.concatenate([[since], time, [since + period]])
    gap = int(np.argmax(np.diff(edges)))
    if edges[gap + 1] - edges[gap] > _GAP * usual + _TOLERANCE * usual:
        raise InputError(
            f"no samples between {edges[gap]:g} and {edges[gap + 1]:g} s: resample the record, or leave the cycle out"
        )
    if not np.isfinite(table).all():
        row = int(np.argmin(np.isfinite(table).all(axis=1)))
        raise InputError(f"a number is missing at {time[row]:g} s: fill the gap, or leave the cycle out")
