"""A run beside what was measured: columns over each other, and the same numbers of both in one table."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from biped.errors import InputError
from biped.metrics import series
from biped.metrics.posturography import sway_measures
from biped.records import FORMATS, read_record
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.cli.quantities import unit_text
from experiments.studies.config import read_config
from experiments.studies.fitting.measured import Column, Measured, measured_from, measured_of
from experiments.visualization.figures.words import words_of
from experiments.visualization.pages import Chart, Section, Table
from experiments.visualization.panels.overlay import overlay
from experiments.visualization.panels.with_plotly import figure_of

#: [Hz] below which sway is measured, of person and model alike (Prieto et al. 1996).
LOW_PASS = 5.0
#: [px] of a column's panel.
_ON_PAGE = 260
_UNITS = {"area": "m²", "mean_velocity": "m/s", "frequency": "Hz"}


def measured_beside(run: Run, file: str | Path) -> tuple[Measured, ...]:
    """The measured columns that stand beside those of a run.

    Args:
        run: of the human, or another body that has metrics.
        file: a record, whose columns are named and timed as the run's are, or the TOML file of a fit: its tables
            ``[[record]]`` say file, ``begin``, and columns by their names, with scale and offset.

    Raises:
        InputError: it is neither, it has no column of the run's, or what ``biped fit`` refuses.
        OSError: the file cannot be read.
    """
    file, duration = Path(file), float(run.frame["time"].iloc[-1])
    units = _table(run).attrs["units"]
    if file.suffix.lower() != ".toml":
        record = read_record(file)
        columns = tuple(Column(name) for name in record.columns if name in units)
        if not columns:
            raise InputError(
                f"{file}: none of its columns ({', '.join(record.columns)}) is called as one of a run's, such as "
                f"com_ap or cop_ap: say which is which in a TOML file with [[record]] ({', '.join(FORMATS)})"
            )
        return (measured_of(record, columns, units, 0.0, 0.0, duration),)
    return tuple(measured_from(table, 0.0, duration, units) for table in read_config(file).tables("record"))


def compare_columns(run: Run, measured: Measured) -> pd.DataFrame:
    """A row for each column: how far the run is from what was measured, both at the times of the record.

    ``rms_difference``, ``mean_difference`` (model less measured), ``sd_measured``, ``sd_model`` in the column's unit,
    and ``correlation``. Where the offset is free both are taken about their means, and have no mean difference.
    """
    rows = []
    for k, (column, unit, _, there, model) in enumerate(_pairs(run, measured)):
        difference = model - there
        rows.append({
            "column": column,
            "unit": unit,
            "rms_difference": float(np.sqrt((difference**2).mean())),
            "mean_difference": np.nan if measured.is_free[k] else float(difference.mean()),
            "sd_measured": float(there.std()),
            "sd_model": float(model.std()),
            "correlation": float(np.corrcoef(there, model)[0, 1]) if there.std() * model.std() > 0.0 else np.nan,
        })  # fmt: skip
    return pd.DataFrame(rows)


def compare_sway(run: Run, measured: Measured) -> pd.DataFrame:
    """The measures of posturography of person and model: ``of``, ``measure``, ``unit``, ``measured``, ``model``.

    For each two columns that end in ``_ap`` and ``_ml``, at the record's times, both low-passed at 5 Hz if the record
    is sampled at 25 Hz or more and has no gap.
    """
    at_hand = {column: (time, there, model) for column, _, time, there, model in _pairs(run, measured)}
    rows = []
    for name in (column.removesuffix("_ap") for column in at_hand if column.endswith("_ap")):
        if f"{name}_ml" not in at_hand:
            continue
        (time, *ap), (others, *ml) = at_hand[f"{name}_ap"], at_hand[f"{name}_ml"]
        both = np.isin(time, others), np.isin(others, time)
        time, step = time[both[0]], float(np.diff(time[both[0]]).max())
        low_pass = LOW_PASS if step < 1.5 * np.median(np.diff(time)) and step <= 0.2 / LOW_PASS * (1.0 + 1e-9) else None
        person, model = (
            sway_measures(time, along[both[0]], across[both[1]], low_pass) for along, across in zip(ap, ml, strict=True)
        )
        for measure, value in person.items():
            unit = next((unit for part, unit in _UNITS.items() if part in measure), "m")
            rows.append({"of": name, "measure": measure, "unit": unit, "measured": value, "model": model.get(measure)})
    return pd.DataFrame(rows, columns=["of", "measure", "unit", "measured", "model"])


def beside_record(run: Run, file: str | Path) -> Section:
    """The section of a run's page about a record: see ``measured_beside`` for the file."""
    charts = list[Chart]()
    columns, sways = list[pd.DataFrame](), list[pd.DataFrame]()
    for measured in measured_beside(run, file):
        columns.append(compare_columns(run, measured))
        sways.append(compare_sway(run, measured))
        for column, unit, time, there, model in _pairs(run, measured):
            panel = overlay(column, unit, time, there, model)
            caption = f"Measured and modelled: {words_of(column)}."
            charts.append(Chart.of(figure_of(panel, height=_ON_PAGE), caption, f"measured-{len(charts)}"))
    tables = [Table.of("Model and record, at the record's times", _told(pd.concat(columns)))]
    sway = pd.concat(sways)
    if len(sway):
        tables.append(Table.of("Sway of person and model, by the same definitions", _told(sway)))
    return Section("record", "Beside the record", Path(file).name, blocks=(*tables, *charts))


def _told(table: pd.DataFrame) -> pd.DataFrame:
    told = table.assign(unit=table["unit"].map(unit_text))
    return told.rename(columns=lambda name: name.replace("_", " "))


def _table(run: Run) -> pd.DataFrame:
    """All columns of a run, those of ``biped.metrics.series`` too; ``attrs["units"]`` has their units."""
    more = series(run)
    units = {**run.units, **more.attrs["units"]}
    table = pd.concat([run.frame, more.drop(columns="time")], axis=1)
    table.attrs["units"] = units
    return table


def _pairs(run: Run, measured: Measured) -> Iterator[tuple[str, str, Floats, Floats, Floats]]:
    """Column, its unit, times [s], and measured and modelled values, where both are there."""
    table = _table(run)
    time = np.array(measured.trace.times)
    for k, column in enumerate(measured.trace.columns):
        model = np.interp(time, table["time"], table[column], right=np.nan)
        both = measured.counts[k] & np.isfinite(model)
        if both.sum() < 2:
            raise InputError(f"{column}: fewer than two measured values while the run has any: say where it begins")
        there, model = measured.values[k, both], model[both]
        if measured.is_free[k]:
            there, model = there - there.mean(), model - model.mean()
        yield column, table.attrs["units"].get(column, ""), time[both], there, model
