"""Measured columns of a record, prepared for the comparison of a fit's runs with them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biped.errors import InputError
from biped.metrics.measurement import ROUNDING as ROUNDING_OF_RUNS
from biped.metrics.measurement import Measurement
from biped.records import Record, read_record
from biped.records.record import ROUNDING
from contact.arrays import Floats
from contact.errors import did_you_mean
from experiments.studies.config import Config
from experiments.studies.failures import Result
from experiments.studies.tuning.objective import Sample

#: Value of ``offset`` for a column of which only deviations from the mean are compared.
FREE = "free"


@dataclass(frozen=True)
class Trace:
    """Columns to read from a run, and the times at which they are read."""

    columns: tuple[str, ...]
    times: tuple[float, ...]  # [s]

    def __call__(self, run: Measurement) -> Result:
        """Return lists of the columns' values by ``key_of``; None for missing values and after the end of the run."""
        time, at = run["time"], np.array(self.times)
        at = np.where(np.abs(at - time[-1]) < ROUNDING_OF_RUNS, time[-1], at)
        lists: dict[str, Any] = {}
        for column in self.columns:
            values = np.interp(at, time, run[column], right=np.nan)
            lists[key_of(column)] = [float(value) if np.isfinite(value) else None for value in values]
        return lists

    def values(self, result: Result) -> Floats:
        """Return the values (columns, times) in a trial's result; NaN where missing, all NaN if the trial failed."""
        nothing = [None] * len(self.times)
        return np.array([result.get(key_of(column), nothing) for column in self.columns], dtype=float)


def key_of(column: str) -> str:
    """Return the key of a column's values in a result."""
    return f"{column} over time"


@dataclass(frozen=True)
class Column:
    """A column of a record, and the column of the model with which it is compared.

    Attributes:
        model: column of the model, in ``run.frame`` or ``biped.metrics.series``.
        measured: column of the record; empty: the name in ``model``.
        deviation: standard deviation of the measurement, in the column's unit; 0: that of the values over time.
        scale: factor of the measured values: −1 reverses an axis.
        offset: number added after scaling, in the column's unit; or ``"free"`` to subtract the means of both columns.
        fitted: False to compare the column with the best run only, without fitting it.
    """

    model: str
    measured: str = ""
    deviation: float = 0.0
    scale: float = 1.0
    offset: float | str = 0.0
    fitted: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.deviation) and self.deviation >= 0.0):
            raise InputError(f"column {self.model}: deviation = {self.deviation!r}: it must be above zero, or left out")
        if not np.isfinite(self.scale) or self.scale == 0.0:
            raise InputError(f"column {self.model}: scale = {self.scale!r}: it must be finite and not zero")
        if isinstance(self.offset, str) and self.offset != FREE:
            raise InputError(f"column {self.model}: offset = {self.offset!r}: it must be a number, or {FREE!r}")


@dataclass(frozen=True)
class Measured:
    """Measured columns at the times at which runs are compared with them."""

    trace: Trace  #: columns of the run, and its times [s]
    values: Floats  #: (columns, times) measured values in the units of the model's columns; NaN for missing values
    deviations: Floats  #: (columns,) standard deviations, by which residuals are divided
    is_free: tuple[bool, ...]  #: (columns,) True to compare deviations from the mean only
    is_fitted: tuple[bool, ...]  #: (columns,) True for fitted columns

    @cached_property
    def counts(self) -> NDArray[np.bool_]:
        """Mask (columns, times) of the values that exist."""
        return np.isfinite(self.values)

    @property
    def _fitted(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.is_fitted)

    @property
    def size(self) -> int:
        """Number of fitted values."""
        return int(self.counts[self._fitted].sum())

    @property
    def reads(self) -> Trace:
        """Trace that trials read from their runs."""
        return self.trace

    def modelled(self, samples: Sequence[Sample]) -> Floats:
        """Return the model's values (columns, times) from the only sample."""
        return self.trace.values(samples[0].result)

    def pairs(self, modelled: Floats) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield each column's index, and its measured and modelled values (times,) as they are compared.

        After the end of a run, its last value is used. If the offset is free, the means of both are subtracted.
        """
        for k, counts in enumerate(self.counts):
            values, model = self.values[k], _held(modelled[k])
            if self.is_free[k]:
                values, model = values - values[counts].mean(), model - model[counts].mean()
            yield k, values, model

    def residuals(self, modelled: Floats) -> Floats:
        """Return residuals (size,), measured minus modelled values, in standard deviations, column by column.

        ``modelled`` is (columns, times). A failed run has residuals of a thousand standard deviations.
        """
        residuals = []
        for k, values, model in self.pairs(modelled):
            if self.is_fitted[k]:
                of_column = (values - model)[self.counts[k]] / self.deviations[k]
                residuals.append(of_column if np.isfinite(of_column).all() else np.full(len(of_column), 1e3))
        return np.concatenate(residuals)

    def series(self, first: int) -> list[slice]:
        """Return slices of residuals at successive times without a gap; the first residual has the index ``first``."""
        slices = []
        for counts in self.counts[self._fitted]:
            places = np.flatnonzero(counts)
            for part in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
                slices.append(slice(first, first + len(part)))
                first += len(part)
        return slices


def _held(values: Floats) -> Floats:
    """Return values in which the last finite number also replaces missing values after it."""
    there = np.flatnonzero(np.isfinite(values))
    return np.interp(np.arange(len(values)), there, values[there]) if len(there) else values


def measured_of(
    record: Record, columns: tuple[Column, ...], units: Mapping[str, str], begin: float, every: float, duration: float
) -> Measured:
    """Return columns of a record, prepared for the comparison with runs.

    Args:
        record: measured record.
        columns: columns to compare.
        units: units by column of the runs, to which the record is converted.
        begin: [s] time in the run at which the record's time is zero.
        every: [s] interval between compared values; values of the record in between are left out.
        duration: [s] duration of the run.

    Raises:
        InputError: the record lacks a column, has an incompatible unit, or does not overlap with the run.
    """
    step = slice(None, None, max(1, round(every * record.rate)))
    time = record.time[step] + begin
    within = (time >= -ROUNDING) & (time <= duration + ROUNDING)
    values = np.array([_values(record, column, units)[step][within] for column in columns])
    counts = np.isfinite(values).sum(axis=1)
    for column, count in zip(columns, counts, strict=True):
        if count < 2:
            raise InputError(
                f"{record.source}: {column.measured or column.model} has only {count} values from {-begin:g} to "
                f"{duration - begin:g} s, the time of the run: set begin, the run's time [s] at the record's time zero"
            )
    spreads = np.where(np.nanmax(values, axis=1) > np.nanmin(values, axis=1), np.nanstd(values, axis=1), 0.0)
    deviations = np.array([column.deviation or spread for column, spread in zip(columns, spreads, strict=True)])
    for column, deviation in zip(columns, deviations, strict=True):
        if deviation == 0.0:
            raise InputError(f"{record.source}: {column.measured or column.model} is constant: set its deviation")
    trace = Trace(tuple(column.model for column in columns), tuple(time[within].tolist()))
    if not any(column.fitted for column in columns):
        raise InputError(f"{record.source}: all columns have fitted = false: remove it for the columns to be fitted")
    is_free, is_fitted = tuple(column.offset == FREE for column in columns), tuple(c.fitted for c in columns)
    return Measured(trace, values, deviations, is_free, is_fitted)


def _values(record: Record, column: Column, units: Mapping[str, str]) -> Floats:
    offset = 0.0 if isinstance(column.offset, str) else column.offset
    name, unit = column.measured or column.model, units.get(column.model, "")
    return column.scale * (record.converted(name, unit) if unit else record[name]) + offset


def measured_from(config: Config, every: float, duration: float, units: Mapping[str, str]) -> Measured:
    """Return the measurement of a table ``[[record]]``; ``units`` are those of the runs' columns.

    Keys of the table are ``file``, ``begin``, ``[[record.column]]``, and the keys of ``reading_from``.
    """
    file = config.get("file", str)
    begin = config.get("begin", float, 0.0)
    tables = list(config.tables("column"))
    if any(table.data.get("deviation") == 0.0 for table in tables):
        raise config.error("deviation = 0: it must be above zero, or left out, to use that of the measured values")
    columns = tuple(table.make(Column) for table in tables)
    pairs = [f"{column.measured or column.model} of the record with {column.model} of the run" for column in columns]
    if twice := [pair for pair in pairs if pairs.count(pair) > 1]:
        raise config.error(f"the fit would compare {twice[0]} twice: leave one of them out")
    for column in columns:
        if column.model not in units:
            close = did_you_mean(column.model, units)
            raise config.error(f"runs have no column {column.model!r}; {close}columns are {', '.join(units)}")
    how = reading_from(config)
    return config.within(lambda: measured_of(read_file(file, **how), columns, units, begin, every, duration), "file")


def reading_from(config: Config) -> dict[str, Any]:
    """Return the options of ``read_record`` that a table ``[record]`` sets: time, rate, units, heading, body."""
    units = config.table("units", {})
    return {
        "time": config.word("time", "time"),
        "rate": config.get("rate", float, None),
        "units": {name: units.word(name) for name in units.data},
        "heading": config.get("heading", int, None),
        "body": config.get("body", str, None),
    }


def read_file(file: str, **options: Any) -> Record:
    """Read a record with options of ``read_record``; raises InputError also if the file cannot be read."""
    try:
        return read_record(file, **options)
    except OSError as error:
        raise InputError(f"{file}: the file cannot be read ({error.strerror})") from None
