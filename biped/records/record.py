"""Columns over time, as something recorded them."""

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

#: [s] Two times that differ by less are the same.
ROUNDING = 1e-9
#: Of the time between two samples, by which times may be uneven beyond what they are rounded by.
UNEVEN = 0.02


@dataclass(frozen=True, eq=False)
class Record:
    """What was measured over time: columns of numbers with units, at times that all share.

    Attributes:
        time: (n,) [s], ascending.
        columns: (n,) each, by name, in ``units``; NaN where nothing was measured.
        units: of each column: m, N, N·m, rad, deg, …; empty where nobody said one.
        source: where it comes of, for messages: a file's path.
        notes: what was guessed, skipped, renamed or converted when it was read, a sentence each.
        blocked: columns that could not be read, by name: the reason, with which they are refused when asked for.

    Raises:
        InputError: a column has another length than time, or no unit; time does not ascend or has gaps itself.
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
            raise InputError(f"{self.source}: time must be two finite numbers or more")
        if np.any(np.diff(time) <= 0.0):
            raise InputError(
                f"{self.source}: time must ascend, and does not after {time[np.argmin(np.diff(time))]:g} s: "
                "delete rows that come again, or name another column of times"
            )
        columns = {name: np.asarray(values, dtype=float) for name, values in self.columns.items()}
        for name, values in columns.items():
            if values.shape != time.shape:
                raise InputError(f"{self.source}: {name} has shape {values.shape}, time has {time.shape}")
            if name not in self.units:
                raise InputError(f"{self.source}: {name} has no unit")
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "columns", columns)

    def __getitem__(self, name: str) -> Floats:
        """Return a column (n,); raise InputError, with the reason or the columns, if it is blocked or not there."""
        if name in self.blocked:
            raise refusal(self.source, name, self.blocked[name])
        if name not in self.columns:
            raise InputError(f"{self.source}: no column {name!r}; columns are {', '.join(self.columns)}")
        return self.columns[name]

    @property
    def rate(self) -> float:
        """[Hz] how often it was sampled; see ``own_rate``."""
        return own_rate(self.time)

    def converted(self, name: str, unit: str) -> Floats:
        """A column (n,) in a unit: radians of degrees; a column without a unit is taken to be in this one.

        Raises:
            InputError: there is no such column, or it measures something else.
        """
        values = self[name]
        if not self.units[name]:
            return values
        try:
            return values * factor_between(self.units[name], unit)
        except InputError as error:
            remedy = f"name a column [{unit}], or correct the unit behind the heading or in units"
            raise InputError(f"{self.source}, column {name}: {error}: {remedy}") from None

    @property
    def frame(self) -> pd.DataFrame:
        """A table with a column ``time`` [s] and one for each that was measured."""
        import pandas as pd

        return pd.DataFrame({"time": self.time, **self.columns})

    def signal(self, name: str, kind: Literal["linear", "cubic"] = "linear", unit: str = "") -> Signal:
        """A column as a signal, in a unit if one is given.

        Raises:
            InputError: it has a gap, there is no such column, or it measures something else.
        """
        values = self.converted(name, unit) if unit else self[name]
        if not np.isfinite(values).all():
            where = gap_in_words(self.time, values)
            raise InputError(f"{self.source}, column {name}: {where}: fill it, as biped.records.Preparation does")
        return Signal.sampled(self.time, values, kind)


def refusal(source: str, name: str, why: str) -> InputError:
    """Return the error for a column that cannot be read; the reason may begin with a line of the file."""
    line, _, rest = why.partition(": ") if why.startswith("line ") else ("", "", why)
    return InputError(f"{', '.join(filter(None, (source, line, f'column {name}')))}: {rest}")


def are_left_out(time: Floats) -> NDArray[np.bool_]:
    """(n - 1,) between which times (n,) rows are missing."""
    steps = np.diff(time)
    return np.asarray(steps > 1.5 * np.median(steps))


def own_rate(time: Floats) -> float:
    """[Hz] by the mean distance of samples, whatever times are rounded to; where some are left out none counts."""
    return float(1.0 / np.diff(time)[~are_left_out(time)].mean())


def rounded_by(time: Floats) -> float:
    """[s] how far times (n,) are off even ones, at the most; no more than the last digit that most of them have."""
    digits = next((k for k in range(9) if np.median(np.abs(time - np.round(time, k))) < ROUNDING), 9)
    off = time - np.linspace(time[0], time[-1], len(time))
    return min(10.0**-digits, float(np.ptp(off)))


def are_even(time: Floats, rate: float, uneven: float = UNEVEN) -> bool:
    """Whether no row of times (n,) is missing and each is where a rate [Hz] has it, but for a part of a step.

    Or but for its last digit: by half of that it is rounded, and so is the first, from which it is counted.
    """
    off = np.abs(time - time[0] - np.arange(len(time)) / rate).max()
    return bool(off <= max(uneven / rate, rounded_by(time) + ROUNDING) and not are_left_out(time).any())


def gap_in_words(time: Floats, values: Floats) -> str:
    """Where the longest gap is in values (n,), of which some are NaN."""
    there = np.flatnonzero(np.isfinite(values))
    if not len(there):
        return "nothing was measured: all of it is missing"
    if there[0] > 0 or there[-1] < len(values) - 1:
        return f"it is there from {time[there[0]]:g} to {time[there[-1]]:g} s only"
    gap = int(np.argmax(np.diff(time[there])))
    length = time[there[gap + 1]] - time[there[gap]]
    return f"a gap of {length:.3g} s after {time[there[gap]]:g} s"
