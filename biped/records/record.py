"""Columns over time, as something recorded them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from biped.errors import InputError
from biped.signals.signal import Signal
from contact.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Record:
    """What was measured over time: columns of numbers with units, at times that all share.

    Attributes:
        time: (n,) [s], ascending.
        columns: (n,) each, by name, in ``units``; NaN where nothing was measured.
        units: of each column: m, N, N·m, rad, deg, …
        source: where it comes of, for messages: a file's path.

    Raises:
        InputError: a column has another length than time, or no unit; time does not ascend or has gaps itself.
    """

    time: Floats
    columns: Mapping[str, Floats]
    units: Mapping[str, str]
    source: str = "record"

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or len(time) < 2 or not np.all(np.isfinite(time)):
            raise InputError(f"{self.source}: time must be two finite numbers or more")
        if np.any(np.diff(time) <= 0.0):
            raise InputError(
                f"{self.source}: time must ascend, and does not after {time[np.argmin(np.diff(time))]:g} s"
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
        """A column (n,); raises InputError, with the columns that there are, if it is not there."""
        if name not in self.columns:
            raise InputError(f"{self.source}: no column {name!r}; columns are {', '.join(self.columns)}")
        return self.columns[name]

    @property
    def frame(self) -> pd.DataFrame:
        """A table with a column ``time`` [s] and one for each that was measured."""
        import pandas as pd

        return pd.DataFrame({"time": self.time, **self.columns})

    def signal(self, name: str, kind: Literal["linear", "cubic"] = "linear") -> Signal:
        """A column as a signal; raises InputError where it has a gap."""
        return Signal.sampled(self.time, self[name], kind)
