"""Recorded columns of numbers over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.records.units import factor_between
from biped.signals.signal import Signal
from contact.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

#: [s] Times that differ by less count as equal.
ROUNDING = 1e-9
#: Largest deviation of times from even ones, in addition to rounding, as a share of the sampling interval.
UNEVEN = 0.02


@dataclass(frozen=True, eq=False)
class Record:
    """A measurement over time: columns of numbers with units, at common times.

    Attributes:
        time: (n,) [s], ascending.
        columns: values (n,) by name, in ``units``; NaN where nothing was measured.
        units: unit of each column: m, N, N·m, rad, deg, …; an empty text if it is unknown.
        source: origin of the record for messages, for example the path of its file.
        notes: sentences about what was guessed, skipped, renamed or converted by the reader.
        blocked: reasons why columns could not be read, by column; using such a column raises an error with the reason.

    Raises:
        InputError: a column and time differ in length, ``units`` lacks a column, or time does not ascend or has NaN.
    """

    time: Floats
    columns: Mapping[str, Floats]
    units: Mapping[str, str]
    source: str = "record"
    notes: tuple[str, ...] = ()
    blocked: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or len(time) < 2 or not np.all(np.isfinite(time)):
            raise InputError(f"{self.source}: time must have two or more numbers, all finite")
        if np.any(np.diff(time) <= 0.0):
            raise InputError(
                f"{self.source}: time must ascend, but does not after {time[np.argmin(np.diff(time))]:g} s: "
                "delete repeated rows, or give another column of times"
            )
        columns = {name: np.asarray(values, dtype=float) for name, values in self.columns.items()}
        for name, values in columns.items():
            if values.shape != time.shape:
                raise InputError(f"{self.source}: {name} has shape {values.shape}; it must be {time.shape}, as time")
            if name not in self.units:
                raise InputError(f"{self.source}: column {name} has no entry in units")
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "columns", columns)

    def __getitem__(self, name: str) -> Floats:
        """Return a column (n,); raise InputError if it is blocked or missing."""
        if name in self.blocked:
            raise refusal(self.source, name, self.blocked[name])
        if name not in self.columns:
            raise InputError(f"{self.source}: no column {name!r}; columns are {', '.join(self.columns)}")
        return self.columns[name]

    @property
    def rate(self) -> float:
        """Sampling rate [Hz]: inverse of the mean interval of times, except intervals with missing rows."""
        return sampling_rate(self.time)

    def converted(self, name: str, unit: str) -> Floats:
        """Return a column (n,) converted to ``unit``; a column without a unit is assumed to be in ``unit``.

        Raises:
            InputError: the column is missing, or measures another quantity.
        """
        values = self[name]
        if not self.units[name]:
            return values
        try:
            return values * factor_between(self.units[name], unit)
        except InputError as error:
            remedy = f"give a column in [{unit}], or correct the unit after the heading or in units"
            raise InputError(f"{self.source}, column {name}: {error}: {remedy}") from None

    @property
    def frame(self) -> pd.DataFrame:
        """Table with a column ``time`` [s] and a column for each measurement."""
        import pandas as pd

        return pd.DataFrame({"time": self.time, **self.columns})

    def signal(self, name: str, kind: Literal["linear", "cubic"] = "linear", unit: str = "") -> Signal:
        """Return a column as a signal, in ``unit`` if it is given.

        Raises:
            InputError: the column has a gap, is missing, or measures another quantity.
        """
        values = self.converted(name, unit) if unit else self[name]
        if not np.isfinite(values).all():
            where = gap_in_words(self.time, values)
            raise InputError(f"{self.source}, column {name}: {where}: fill it, e.g. by biped.records.Preparation")
        return Signal.sampled(self.time, values, kind)


def refusal(source: str, name: str, why: str) -> InputError:
    """Return the error for a column that cannot be read; the reason may begin with a line of the file."""
    line, _, rest = why.partition(": ") if why.startswith("line ") else ("", "", why)
    return InputError(f"{', '.join(filter(None, (source, line, f'column {name}')))}: {rest}")


def are_left_out(time: Floats) -> NDArray[np.bool_]:
    """Return a mask (n - 1,) of the intervals of times (n,) in which rows are missing."""
    steps = np.diff(time)
    return np.asarray(steps > 1.5 * np.median(steps))


def sampling_rate(time: Floats) -> float:
    """Return the sampling rate [Hz] from the mean interval of times (n,), without intervals with missing rows."""
    return float(1.0 / np.diff(time)[~are_left_out(time)].mean())


def rounded_by(time: Floats) -> float:
    """Return the largest deviation [s] of times (n,) from even times, at most the last digit that most times have."""
    digits = next((k for k in range(9) if np.median(np.abs(time - np.round(time, k))) < ROUNDING), 9)
    off = time - np.linspace(time[0], time[-1], len(time))
    return min(10.0**-digits, float(np.ptp(off)))


def are_even(time: Floats, rate: float, uneven: float = UNEVEN) -> bool:
    """Return True if no row of times (n,) is missing and all match a rate [Hz], within a share of a step.

    The tolerance is at least the last digit of the times, since both each time and the first one may be rounded by half
    of it.
    """
    off = np.abs(time - time[0] - np.arange(len(time)) / rate).max()
    return bool(off <= max(uneven / rate, rounded_by(time) + ROUNDING) and not are_left_out(time).any())


def gap_in_words(time: Floats, values: Floats) -> str:
    """Describe the longest gap in values (n,), some of which are NaN."""
    there = np.flatnonzero(np.isfinite(values))
    if not len(there):
        return "it has no values"
    if there[0] > 0 or there[-1] < len(values) - 1:
        return f"it spans {time[there[0]]:g} to {time[there[-1]]:g} s only"
    gap = int(np.argmax(np.diff(time[there])))
    length = time[there[gap + 1]] - time[there[gap]]
    return f"a gap of {length:.3g} s after {time[there[gap]]:g} s"
