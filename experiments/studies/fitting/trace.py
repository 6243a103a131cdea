"""Columns of a run at some times, as a part of a trial's result."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.metrics.measurement import ROUNDING, Measurement
from contact.arrays import Floats
from experiments.studies.failures import Result


@dataclass(frozen=True)
class Trace:
    """Which columns of a run are read, and when."""

    columns: tuple[str, ...]
    times: tuple[float, ...]  # [s]

    def __call__(self, run: Measurement) -> Result:
        """Their values by the columns' names in results; None after the end of the run, and where there is none."""
        time, at = run["time"], np.array(self.times)
        at = np.where(np.abs(at - time[-1]) < ROUNDING, time[-1], at)
        found: dict[str, Any] = {}
        for column in self.columns:
            values = np.interp(at, time, run[column], right=np.nan)
            found[key_of(column)] = [float(value) if np.isfinite(value) else None for value in values]
        return found

    def values(self, result: Result) -> Floats:
        """(columns, times) of a trial's result; NaN where there is none, all of a trial that failed."""
        nothing = [None] * len(self.times)
        return np.array([result.get(key_of(column), nothing) for column in self.columns], dtype=float)


def key_of(column: str) -> str:
    """The name of a column's values in a result."""
    return f"{column} over time"
