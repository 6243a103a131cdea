"""Findings of a fit for the terminal, files, a figure and its page."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.cli.quantities import unit_text
from experiments.studies.fitting.fit import Fit, FitResult
from experiments.studies.store.measured import trace_units
from experiments.visualization.document import Document
from experiments.visualization.look import style
from experiments.visualization.look.words import words_of
from experiments.visualization.pages import Chart, Prose, Section, Table
from experiments.visualization.panels.overlay import overlay
from experiments.visualization.panels.panel import Panel
from experiments.visualization.panels.with_matplotlib import write_panels

FIGURE, PARAMETERS, CORRELATION, COMPARED, FINDINGS = (
    "fit.png", "parameters.csv", "correlation.csv", "compared.csv", "fit.json"
)  # fmt: skip
HEADINGS = ("parameter", "value", "95 % interval", "unit")
BY_SEED = "SD over seeds"
#: [in], [px] height of a column's panel.
_HEIGHT, _ON_PAGE = 2.2, 260


def document(fit: Fit, fitted: FitResult, _: Path) -> Document:
    """Return a document: parameters with intervals, quality of the fit, measured and modelled columns over time."""
    panels, correlation, data = list(_panels(fit, fitted)), fitted.estimate.correlation, as_json(fitted)
    rows = tuple((str(name), *(f"{value:.3f}" for value in correlation.loc[name])) for name in correlation.index)
    tables = (
        Table("", _headings(fitted), tuple(_cells(fitted)), fold=False),
        Table("Correlations", ("", *correlation.columns), rows),
    )
    charts = (
        Chart(panel, f"Measured and modelled: {panel.title}.", f"compared-{k}", pixels=_ON_PAGE)
        for k, panel in enumerate(panels)
    )
    quality = Table("Quality", *_quality_table(fitted), fold=False)
    return Document(
        [
            *(Prose(_sentence(warning), "bad") for warning in fitted.warnings),
            Prose(_sentence(_worth(fitted))),
            *(Prose(_sentence(remark)) for remark in fitted.remarks),
        ],
        [
            Section("parameters", "Parameters", blocks=tables),
            Section("compared", "Measured and modelled", blocks=(quality, *charts)),
        ],
        data,
        {
            PARAMETERS: fitted.table,
            CORRELATION: correlation.rename_axis("").reset_index(),
            COMPARED: compared(fit, fitted) if fit.measured else fitted.quality,
            FINDINGS: data,
        },
        {FIGURE: partial(write_panels, panels=panels, size=(style.SIZE[0], _HEIGHT * len(panels))) if panels else None},
    )


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def as_json(fitted: FitResult) -> dict[str, Any]:
    return {
        "warnings": list(fitted.warnings),
        "quality": [
            {name: None if value != value else value for name, value in row.items()}
            for row in fitted.quality.to_dict("records")
        ],
        "runs": fitted.runs,
        "parameters": fitted.table.to_dict("records"),
        "correlation": fitted.estimate.correlation.to_numpy().tolist(),
        "remarks": list(fitted.remarks),
        "deviation_of_residuals": float(np.sqrt(fitted.estimate.spread.variance)),
        "independent_residuals": _independent(fitted),
    }


def compared(fit: Fit, fitted: FitResult) -> pd.DataFrame:
    """Return a row for each compared value: ``record``, ``column``, ``time`` [s], ``measured``, ``model``."""
    parts = [
        pd.DataFrame({"record": name, "column": column, "time": time, "measured": values, "model": model})
        for name, column, time, values, model in _pairs(fit, fitted)
    ]
    return pd.concat(parts, ignore_index=True)


def _pairs(fit: Fit, fitted: FitResult) -> "Iterator[tuple[str, str, Any, Any, Any]]":
    """Yield record, column, times, measured and modelled values as compared; NaN after a run's end."""
    for scenario, record, modelled in zip(fit.space.scenarios, fit.measured, fitted.modelled, strict=False):
        for k, values, model in record.pairs(modelled):
            ended = np.where(np.isfinite(modelled[k]), model, np.nan)
            yield scenario.name, record.trace.columns[k], np.array(record.trace.times), values, ended


def _quality_table(fitted: FitResult) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return headings and rows: R² and RMS error of each column, or z-scores of each target."""
    rows = fitted.quality.to_dict("records")
    if "z" in fitted.quality:
        headings = ("target", "value", "SD", "model", "SE over seeds", "unit", "z")
        names = ("value", "sd", "model", "model_se")
        return headings, tuple(
            (row["target"], *(f"{row[name]:.4g}" for name in names), unit_text(row["unit"]), f"{row['z']:.2f}")
            for row in rows
        )
    return ("record", "column", "R² (VAF)", "RMS error", "unit", "fitted"), tuple(
        (
            row["record"], words_of(row["column"]), f"{row['r_squared']:.3f}", f"{row['rms']:.3g}",
            unit_text(row["unit"]), "yes" if row["fitted"] else "no",
        )
        for row in rows
    )  # fmt: skip


def _worth(fitted: FitResult) -> str:
    count = len(fitted.estimate.residuals)
    if "z" in fitted.quality:
        return f"{fitted.runs} runs; mean squared z-score of {count} targets: {(fitted.quality['z'] ** 2).mean():.3g}"
    return f"{fitted.runs} runs; {count} fitted values, equivalent to {_independent(fitted):.0f} independent values"


def _independent(fitted: FitResult) -> float:
    """Return the effective number of independent residuals."""
    degrees = fitted.estimate.spread.degrees
    return len(fitted.estimate.residuals) if np.isinf(degrees) else degrees + len(fitted.table)


def _headings(fitted: FitResult) -> tuple[str, ...]:
    return (*HEADINGS, BY_SEED) if "seeds_sd" in fitted.table else HEADINGS


def _cells(fitted: FitResult) -> list[tuple[str, ...]]:
    rows = fitted.table.to_dict("records")
    return [
        (
            str(row["parameter"]), f"{row['value']:.4g}", f"{row['low']:.4g} … {row['high']:.4g}",
            unit_text(row["unit"]), *([f"{row['seeds_sd']:.2g}"] if "seeds_sd" in row else []),
        )
        for row in rows
    ]  # fmt: skip


def _panels(fit: Fit, fitted: FitResult) -> "Iterator[Panel]":
    units = trace_units(fit.experiment, {**fit.space.fixed, **fit.space.scenarios[0].changes})
    for name, column, time, values, model in _pairs(fit, fitted):
        title = f"{name}: {words_of(column)}" if len(fit.measured) > 1 else ""
        yield overlay(column, units.get(column, ""), time, values, model, title)
