"""Comparison of a run with a measured record: curves over each other, and a table of differences and sway measures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biped.errors import InputError
from biped.inputs.files import replace_file
from biped.metrics import metric_named, series
from biped.metrics.posturography import sway_measures
from biped.records import read_record
from biped.records.record import are_left_out
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.cli.quantities import unit_text
from experiments.studies.config import read_config
from experiments.studies.fitting.measured import Column, Measured, measured_from, measured_of
from experiments.studies.fitting.quality import r_squared
from experiments.visualization.look import style
from experiments.visualization.look.words import words_of
from experiments.visualization.pages import Chart, Section, Table
from experiments.visualization.panels.overlay import overlay
from experiments.visualization.panels.panel import Panel
from experiments.visualization.panels.with_matplotlib import write_panels

#: [Hz] low-pass for the sway of person and model (Prieto et al. 1996).
LOW_PASS = 5.0
#: [px] height of a column's panel on a page.
_ON_PAGE = 260
#: [inch] height of a column's panel in a file.
_ON_PAPER = 2.4
FIGURE, TABLE = "-record.png", "-record.csv"


class Pair(NamedTuple):
    """Measured and modelled values (n,) of a column at common times [s]."""

    column: str
    unit: str
    time: Floats
    measured: Floats
    model: Floats
    is_free: bool  # whether both columns are relative to their means


def paired_columns(run: Run, file: str | Path) -> tuple[list[Pair], ...]:
    """Return pairs of measured and modelled columns for each record of a file.

    Args:
        run: run of the human, or of another body that has metrics.
        file: a record with the run's column names and times, or the TOML file of a fit, whose tables ``[[record]]``
            give file, ``begin``, and columns by their names, with scale and offset.

    Raises:
        InputError: the file has neither format or no column of the run, or ``biped fit`` would refuse it.
        OSError: the file cannot be read.
    """
    table = _table(run)
    return tuple(list(_pairs(table, measured)) for measured in _measured(table, Path(file)))


def _measured(table: pd.DataFrame, file: Path) -> tuple[Measured, ...]:
    units, duration = table.attrs["units"], float(table["time"].iloc[-1])
    if file.suffix.lower() == ".toml":
        return tuple(measured_from(entry, 0.0, duration, units) for entry in read_config(file).tables("record"))
    record = read_record(file)
    columns = tuple(Column(name) for name in record.columns if name in units)
    if not columns:
        raise InputError(
            f"{file}: none of its columns ({', '.join(record.columns)}) has the name of a run's column, such as "
            f"com_ap or cop_ap: give a TOML file with a [[record]] (docs/records.md) that has file = {file.name!r} "
            "and column = [{ model = 'com_ap', measured = 'NAME' }]"
        )
    return (measured_of(record, columns, units, 0.0, 0.0, duration),)


def compare_columns(pairs: Sequence[Pair]) -> pd.DataFrame:
    """Return a row for each column with the differences of run and record at the record's times.

    The columns are ``rms_difference``, ``mean_difference`` (model minus measured), ``sd_measured`` and ``sd_model`` in
    the column's unit, ``correlation``, and ``r_squared`` as in ``biped fit``. If a column's offset is free, both curves
    are relative to their means, and ``mean_difference`` is NaN.
    """
    rows = []
    for pair in pairs:
        difference, deviations = pair.model - pair.measured, (pair.measured.std(), pair.model.std())
        rows.append({
            "column": pair.column,
            "unit": pair.unit,
            "rms_difference": float(np.sqrt((difference**2).mean())),
            "mean_difference": np.nan if pair.is_free else float(difference.mean()),
            "sd_measured": float(deviations[0]),
            "sd_model": float(deviations[1]),
            "correlation": float(np.corrcoef(pair.measured, pair.model)[0, 1]) if all(deviations) else np.nan,
            "r_squared": r_squared(pair.measured, pair.model),
        })  # fmt: skip
    return pd.DataFrame(rows)


def compare_sway(pairs: Sequence[Pair]) -> pd.DataFrame:
    """Return the sway measures of person and model: ``of``, ``measure``, ``unit``, ``measured``, ``model``.

    They are computed for each pair of columns ``…_ap`` and ``…_ml`` at the record's times, after a low-pass at 5 Hz if
    the record is sampled at 25 Hz or more and has no gap.
    """
    by_name = {pair.column: pair for pair in pairs}
    rows = []
    for name in (column.removesuffix("_ap") for column in by_name if column.endswith("_ap")):
        if f"{name}_ml" not in by_name:
            continue
        ap, ml = by_name[f"{name}_ap"], by_name[f"{name}_ml"]
        in_ap, in_ml = np.isin(ap.time, ml.time), np.isin(ml.time, ap.time)
        time = ap.time[in_ap]
        is_even = not are_left_out(time).any() and np.diff(time).max() <= 0.2 / LOW_PASS * (1.0 + 1e-9)
        person, model = (
            sway_measures(time, along[in_ap], across[in_ml], LOW_PASS if is_even else None)
            for along, across in ((ap.measured, ml.measured), (ap.model, ml.model))
        )
        for measure, value in person.items():
            unit = unit_text(metric_named(f"cop_{measure}").unit)
            rows.append({"of": name, "measure": measure, "unit": unit, "measured": value, "model": model.get(measure)})
    return pd.DataFrame(rows, columns=["of", "measure", "unit", "measured", "model"])


@dataclass(frozen=True)
class RecordComparison:
    """Comparison of a run with a record, as a section of its page, a figure and a table.

    Attributes:
        file: file of the record, or TOML file of a fit.
        records: pairs of columns for each record.
    """

    file: Path
    records: tuple[list[Pair], ...]

    @classmethod
    def of(cls, run: Run, file: str | Path) -> "RecordComparison":
        """Read a record for a run (``paired_columns``); raise InputError also if the run has no comparable data."""
        if run.world is not None or not run.state.model.is_floating or len(run.frame) < 2:
            raise InputError(
                f"{file}: a comparison needs a run of a model with a floating base and at least two recorded rows"
            )
        return cls(Path(file), paired_columns(run, file))

    @property
    def remarked(self) -> list[tuple[Pair, str]]:
        """Pairs with notes for their titles: a free offset, and the number of the record if there are several."""
        numbers = [f", record {number}" if len(self.records) > 1 else "" for number in range(1, len(self.records) + 1)]
        return [
            (pair, (", relative to their means" if pair.is_free else "") + number)
            for pairs, number in zip(self.records, numbers, strict=True)
            for pair in pairs
        ]

    def _panels(self) -> list[Panel]:
        return [
            overlay(pair.column, pair.unit, pair.time, pair.measured, pair.model, words_of(pair.column) + remark)
            for pair, remark in self.remarked
        ]

    def compared(self, compare: Callable[[Sequence[Pair]], pd.DataFrame]) -> pd.DataFrame:
        """Return the comparison of all records; ``record`` is the number in the file, from 1, if there are several."""
        tables = [compare(pairs) for pairs in self.records]
        if len(tables) > 1:
            for number, table in enumerate(tables, start=1):
                table.insert(0, "record", number)
        return pd.concat(tables, ignore_index=True)

    def section(self) -> Section:
        tables = [Table.of("Model and record, at the record's times", _readable(self.compared(compare_columns)))]
        sway = self.compared(compare_sway)
        if len(sway):
            tables.append(Table.of("Sway of person and model", _readable(sway)))
        charts = [
            Chart(panel, f"Measured and modelled: {panel.title}.", f"measured-{number}", pixels=_ON_PAGE)
            for number, panel in enumerate(self._panels())
        ]
        return Section("record", "Comparison with the record", self.file.name, blocks=(*tables, *charts))

    def write(self, page: Path) -> list[Path]:
        """Write the curves (``PAGE-record.png``) and their differences (``PAGE-record.csv``); return the files.

        Raises:
            InputError: a file to write is the record itself.
        """
        table, figure = (page.with_name(f"{page.stem}{ending}") for ending in (TABLE, FIGURE))
        for target in (table, figure):
            if target.resolve() == self.file.resolve():
                raise InputError(f"{self.file}: the record would be overwritten: rename it, or choose another --out")
        replace_file(table, self.compared(compare_columns).to_csv(index=False).encode())
        panels = self._panels()
        return [*write_panels(figure, panels, (style.SIZE[0], _ON_PAPER * len(panels))), table]


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    shown = table.assign(unit=table["unit"].map(unit_text))
    return shown.rename(columns=lambda name: name.replace("_", " "))


def _table(run: Run) -> pd.DataFrame:
    """Return the columns of a run and of ``biped.metrics.series``; ``attrs["units"]`` has their units."""
    more = series(run)
    table = pd.concat([run.frame, more.drop(columns="time")], axis=1)
    table.attrs["units"] = {**run.units, **more.attrs["units"]}
    return table


def _pairs(table: pd.DataFrame, measured: Measured) -> Iterator[Pair]:
    """Yield each measured column with the run's column, at the times at which both have values."""
    time = np.array(measured.trace.times)
    for k, column in enumerate(measured.trace.columns):
        model = np.interp(time, table["time"], table[column], right=np.nan)
        both = measured.counts[k] & np.isfinite(model)
        if both.sum() < 2:
            raise InputError(f"{column}: fewer than two values were measured during the run: set `begin` of the record")
        there, model, is_free = measured.values[k, both], model[both], measured.is_free[k]
        if is_free:
            there, model = there - there.mean(), model - model.mean()
        yield Pair(column, table.attrs["units"].get(column, ""), time[both], there, model, is_free)
