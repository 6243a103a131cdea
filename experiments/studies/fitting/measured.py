"""Measurements as a fit compares a model with them."""

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

#: ``offset``: only a column's deviations from its mean are compared.
FREE = "free"


@dataclass(frozen=True)
class Trace:
    """Columns of a run to read, and the times."""

    columns: tuple[str, ...]
    times: tuple[float, ...]  # [s]

    def __call__(self, run: Measurement) -> Result:
        """Return the columns' values by their keys in results; None for missing values and after the end of the run."""
        time, at = run["time"], np.array(self.times)
        at = np.where(np.abs(at - time[-1]) < ROUNDING_OF_RUNS, time[-1], at)
        found: dict[str, Any] = {}
        for column in self.columns:
            values = np.interp(at, time, run[column], right=np.nan)
            found[key_of(column)] = [float(value) if np.isfinite(value) else None for value in values]
        return found

    def values(self, result: Result) -> Floats:
        """Return values (columns, times) of a trial's result; NaN if missing, everywhere if the trial failed."""
        nothing = [None] * len(self.times)
        return np.array([result.get(key_of(column), nothing) for column in self.columns], dtype=float)


def key_of(column: str) -> str:
    """Return the key of a column's values in a result."""
    return f"{column} over time"


@dataclass(frozen=True)
class Column:
    """A measured column, and the column of the model that it is compared with.

    Attributes:
        model: column of ``run.frame`` or ``biped.metrics.series``.
        measured: its name in the record; if empty, it is ``model``.
        deviation: standard deviation of the measurement, in the column's unit; 0 uses the column's own over time.
        scale: factor of the measured values: −1 reverses an axis.
        offset: number added after scaling, in the column's unit; or ``"free"``.
        fitted: False to report the comparison for the best run only, without fitting it.
    """

    model: str
    measured: str = ""
    deviation: float = 0.0
    scale: float = 1.0
    offset: float | str = 0.0
    fitted: bool = True

    def __post_init__(self) -> None:
        if not (np.isfinite(self.deviation) and self.deviation >= 0.0):
            raise InputError(f"{self.model}: deviation = {self.deviation!r}: it must be above zero, or left out")
        if not np.isfinite(self.scale) or self.scale == 0.0:
            raise InputError(f"{self.model}: scale = {self.scale!r}: it must not be 0; −1 reverses an axis")
        if isinstance(self.offset, str) and self.offset != FREE:
            raise InputError(f"{self.model}: offset = {self.offset!r}: it must be a number, or {FREE!r}")


@dataclass(frozen=True)
class Measured:
    """Measured columns at the times at which runs are compared with them."""

    trace: Trace  #: columns of the run, and its times [s]
    values: Floats  #: (columns, times) in SI units, angles as the model has them; NaN for missing values
    deviations: Floats  #: (columns,) divisors of the residuals
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
        """The trace that trials read of their runs."""
        return self.trace

    def modelled(self, samples: Sequence[Sample]) -> Floats:
        """Return values (columns, times) of the only run."""
        return self.trace.values(samples[0].result)

    def pairs(self, modelled: Floats) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield each column's index with measured and modelled values (times,) as they are compared.

        A run keeps its last value after its end. If the offset is free, the mean is subtracted from both.
        """
        for k, counts in enumerate(self.counts):
            values, model = self.values[k], _held(modelled[k])
            if self.is_free[k]:
                values, model = values - values[counts].mean(), model - model[counts].mean()
            yield k, values, model

    def residuals(self, modelled: Floats) -> Floats:
        """Return residuals (size,), measured less modelled (columns, times), in deviations, column by column.

        A run keeps its last value after its end; a failed run has residuals of a thousand deviations.
        """
        found = []
        for k, values, model in self.pairs(modelled):
            if self.is_fitted[k]:
                left = (values - model)[self.counts[k]] / self.deviations[k]
                found.append(left if np.isfinite(left).all() else np.full(len(left), 1e3))
        return np.concatenate(found)

    def series(self, first: int) -> list[slice]:
        """Return slices of residuals, numbered from ``first``, that follow one another without a gap."""
        found = []
        for counts in self.counts[self._fitted]:
            places = np.flatnonzero(counts)
            for part in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
                found.append(slice(first, first + len(part)))
                first += len(part)
        return found


def _held(values: Floats) -> Floats:
    """Return values in which the last number replaces what follows it."""
    there = np.flatnonzero(np.isfinite(values))
    return np.interp(np.arange(len(values)), there, values[there]) if len(there) else values


def measured_of(
    record: Record, columns: tuple[Column, ...], units: Mapping[str, str], begin: float, every: float, duration: float
) -> Measured:
    """Return a record's columns as they are compared with runs.

    Args:
        record: measured record.
        columns: columns to compare.
        units: units of the runs' columns, into which the record is converted.
        begin: [s] time of the run at the record's time zero.
        every: [s] interval of the compared values; values of the record in between are left out.
        duration: [s] duration of the run.

    Raises:
        InputError: the record lacks a column, has it in an incompatible unit, or does not overlap with the run.
    """
    kept = slice(None, None, max(1, round(every * record.rate)))
    time = record.time[kept] + begin
    within = (time >= -ROUNDING) & (time <= duration + ROUNDING)
    values = np.array([_values(record, one, units)[kept][within] for one in columns])
    counts = np.isfinite(values).sum(axis=1)
    for one, count in zip(columns, counts, strict=True):
        if count < 2:
            raise InputError(
                f"{record.source}: {one.measured or one.model} has {count} numbers between {-begin:g} and "
                f"{duration - begin:g} s, while the run lasts: say where the record begins, with begin"
            )
    own = np.where(np.nanmax(values, axis=1) > np.nanmin(values, axis=1), np.nanstd(values, axis=1), 0.0)
    deviations = np.array([one.deviation or spread for one, spread in zip(columns, own, strict=True)])
    for one, deviation in zip(columns, deviations, strict=True):
        if deviation == 0.0:
            raise InputError(f"{record.source}: {one.measured or one.model} never changes: say its deviation")
    trace = Trace(tuple(one.model for one in columns), tuple(time[within].tolist()))
    if not any(one.fitted for one in columns):
        raise InputError(f"{record.source}: fitted = false of all columns: leave it out of those that the fit is of")
    is_free, is_fitted = tuple(one.offset == FREE for one in columns), tuple(one.fitted for one in columns)
    return Measured(trace, values, deviations, is_free, is_fitted)


def _values(record: Record, column: Column, units: Mapping[str, str]) -> Floats:
    offset = 0.0 if isinstance(column.offset, str) else column.offset
    name, unit = column.measured or column.model, units.get(column.model, "")
    return column.scale * (record.converted(name, unit) if unit else record[name]) + offset


def measured_from(config: Config, every: float, duration: float, units: Mapping[str, str]) -> Measured:
    """Read the measurement in a table ``[[record]]``, for columns with these units.

    Its keys are ``file``, ``begin``, those of ``reading_from``, and ``[[record.column]]``.
    """
    file = config.get("file", str)
    begin = config.get("begin", float, 0.0)
    tables = list(config.tables("column"))
    if any(table.data.get("deviation") == 0.0 for table in tables):
        raise config.error("deviation = 0: it must be above zero; left out, it is the column's own")
    columns = tuple(table.make(Column) for table in tables)
    pairs = [f"{one.measured or one.model} of the record with {one.model} of the run" for one in columns]
    if twice := [pair for pair in pairs if pairs.count(pair) > 1]:
        raise config.error(f"it compares {twice[0]} twice, which would count it twice: leave one of them out")
    for one in columns:
        if one.model not in units:
            close = did_you_mean(one.model, units)
            raise config.error(f"runs have no column {one.model!r}; {close}columns are {', '.join(units)}")
    told = reading_from(config)
    return config.within(lambda: measured_of(read_file(file, **told), columns, units, begin, every, duration), "file")


def reading_from(config: Config) -> dict[str, Any]:
    """Return the options of ``read_record`` in a table ``[record]``."""
    units = config.table("units", {})
    return {
        "time": config.word("time", "time"),
        "rate": config.get("rate", float, None),
        "units": {name: units.word(name) for name in units.data},
        "heading": config.get("heading", int, None),
        "body": config.get("body", str, None),
    }


def read_file(file: str, **told: Any) -> Record:
    """Read a record that a study names; raises InputError also if it cannot be read."""
    try:
        return read_record(file, **told)
    except OSError as error:
        raise InputError(f"{file}: it cannot be read ({error.strerror})") from None
