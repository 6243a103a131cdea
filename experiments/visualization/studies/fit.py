"""What a fit found: on the terminal, in files and a figure, and on its page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biped.inputs.files import replace_file
from experiments.cli.quantities import unit_text
from experiments.cli.terminal import print_table, say
from experiments.lookup.figure_look import remove_figure
from experiments.studies.fitting.fit import Fit, Found
from experiments.studies.run import recall
from experiments.studies.store.folder import Study
from experiments.studies.store.measured import trace_units
from experiments.visualization.figures import style
from experiments.visualization.figures.words import words_of
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.panels.overlay import overlay
from experiments.visualization.panels.panel import Panel
from experiments.visualization.panels.with_matplotlib import write_panels
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.toml import file_and_command

FIGURE, PARAMETERS, CORRELATION, COMPARED, FINDINGS = (
    "fit.png", "parameters.csv", "correlation.csv", "compared.csv", "fit.json"
)  # fmt: skip
HEADINGS = ("parameter", "value", "95 % interval", "unit")
BY_SEED = "SD over seeds"
#: [in], [px] of a column's panel.
_HEIGHT, _ON_PAGE = 2.2, 260


def show(fit: Fit, found: Found, folder: Path, draw: bool) -> list[Path]:
    """Print warnings, parameters and how good the fit is, and write tables, a figure and a summary; the files."""
    for warning in found.warnings:
        say(f"  warning: {warning}", "red")
    print_table(_headings(found), _cells(found))
    say()
    print_table(*_quality_table(found))
    say(f"  {_worth(found)}")
    for remark in found.remarks:
        say(f"  {remark}", "yellow")
    say()
    (compared(fit, found) if fit.measured else found.quality).to_csv(folder / COMPARED, index=False)
    found.table.to_csv(folder / PARAMETERS, index=False)
    found.estimate.correlation.to_csv(folder / CORRELATION)
    replace_file(folder / FINDINGS, f"{json.dumps(as_json(fit, found), indent=2)}\n".encode())
    files = [folder / name for name in (PARAMETERS, CORRELATION, COMPARED, FINDINGS)]
    remove_figure(folder / FIGURE)
    panels = list(_panels(fit, found))
    draw = draw and bool(panels)
    return [*files, *(write_panels(folder / FIGURE, panels, (style.SIZE[0], _HEIGHT * len(panels))) if draw else ())]


def as_json(_: Fit, found: Found) -> dict[str, Any]:
    return {
        "warnings": list(found.warnings),
        "quality": [
            {name: None if value != value else value for name, value in row.items()}
            for row in found.quality.to_dict("records")
        ],
        "runs": found.runs,
        "parameters": found.table.to_dict("records"),
        "correlation": found.estimate.correlation.to_numpy().tolist(),
        "remarks": list(found.remarks),
        "deviation_of_residuals": float(np.sqrt(found.estimate.spread.variance)),
        "independent_residuals": _independent(found),
    }


def compared(fit: Fit, found: Found) -> pd.DataFrame:
    """A row for each value that was compared: ``record``, ``column``, ``time`` [s], ``measured``, ``model``."""
    parts = [
        pd.DataFrame({"record": name, "column": column, "time": time, "measured": values, "model": model})
        for name, column, time, values, model in _pairs(fit, found)
    ]
    return pd.concat(parts, ignore_index=True)


def page_lead(study: Study) -> list[Block]:
    _, found = recall(study)
    return [
        *(Prose(f"{warning[0].upper()}{warning[1:]}.", "bad") for warning in found.warnings),
        Prose(f"{_worth(found).capitalize()}."),
        *(Prose(f"{remark[0].upper()}{remark[1:]}.") for remark in found.remarks),
    ]


def page_sections(study: Study) -> list[Section]:
    fit, found = recall(study)
    table = Table("Parameters", _headings(found), tuple(_cells(found)), fold=False)
    names = found.estimate.correlation
    rows = tuple((str(name), *(f"{value:.3f}" for value in names.loc[name])) for name in names.index)
    charts = [
        Chart.of(figure_of(panel, height=_ON_PAGE), f"Measured and modelled: {panel.title}.", f"compared-{k}")
        for k, panel in enumerate(_panels(fit, found))
    ]
    return [
        Section("parameters", "Parameters", blocks=(table, Table("Correlations", ("", *names.columns), rows))),
        Section(
            "compared", "Measured and modelled", blocks=(Table("Quality", *_quality_table(found), fold=False), *charts)
        ),
    ]


def page_rerun(study: Study) -> list[Block]:
    name, data = study.configuration["name"], study.configuration["fit"]
    return file_and_command("The fit", data, f"{name}.toml", f"biped fit {name}.toml")


def _pairs(fit: Fit, found: Found) -> "Iterator[tuple[str, str, Any, Any, Any]]":
    """Record, column, times, measured and modelled values as they are compared; NaN after a run's end."""
    for scenario, record, modelled in zip(fit.space.scenarios, fit.measured, found.modelled, strict=False):
        for k, values, model in record.pairs(modelled):
            ended = np.where(np.isfinite(modelled[k]), model, np.nan)
            yield scenario.name, record.trace.columns[k], np.array(record.trace.times), values, ended


def _quality_table(found: Found) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Headings and rows: R² and RMS error of each column, or z-scores of each target."""
    rows = found.quality.to_dict("records")
    if "z" in found.quality:
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


def _worth(found: Found) -> str:
    count = len(found.estimate.residuals)
    if "z" in found.quality:
        return f"{found.runs} runs; mean squared z-score of {count} targets: {(found.quality['z'] ** 2).mean():.3g}"
    return f"{found.runs} runs; {count} numbers are fitted, worth {_independent(found):.0f} independent ones"


def _independent(found: Found) -> float:
    """How many independent residuals those of the fit are worth."""
    degrees = found.estimate.spread.degrees
    return len(found.estimate.residuals) if np.isinf(degrees) else degrees + len(found.table)


def _headings(found: Found) -> tuple[str, ...]:
    return (*HEADINGS, BY_SEED) if "seeds_sd" in found.table else HEADINGS


def _cells(found: Found) -> list[tuple[str, ...]]:
    rows = found.table.to_dict("records")
    return [
        (
            str(row["parameter"]), f"{row['value']:.4g}", f"{row['low']:.4g} … {row['high']:.4g}",
            unit_text(row["unit"]), *([f"{row['seeds_sd']:.2g}"] if "seeds_sd" in row else []),
        )
        for row in rows
    ]  # fmt: skip


def _panels(fit: Fit, found: Found) -> "Iterator[Panel]":
    units = trace_units(fit.experiment, {**fit.space.fixed, **fit.space.scenarios[0].changes})
    for name, column, time, values, model in _pairs(fit, found):
        title = f"{name}: {words_of(column)}" if len(fit.measured) > 1 else ""
        yield overlay(column, units.get(column, ""), time, values, model, title)
