"""What a fit found: on the terminal, in files and a figure, and on its page."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biped.files import replace_file
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
#: [in], [px] of a column's panel.
_HEIGHT, _ON_PAGE = 2.2, 260


def show(fit: Fit, found: Found, folder: Path, draw: bool) -> list[Path]:
    """Print the parameters and what is not known of them, and write tables, a figure and a summary; the files."""
    print_table(HEADINGS, _cells(found))
    say(f"  {_quality(fit, found)}")
    for remark in found.remarks:
        say(f"  {remark}", "yellow")
    say()
    compared(fit, found).to_csv(folder / COMPARED, index=False)
    found.table.to_csv(folder / PARAMETERS, index=False)
    found.estimate.correlation.to_csv(folder / CORRELATION)
    replace_file(folder / FINDINGS, f"{json.dumps(as_json(fit, found), indent=2)}\n".encode())
    files = [folder / name for name in (PARAMETERS, CORRELATION, COMPARED, FINDINGS)]
    remove_figure(folder / FIGURE)
    panels = list(_panels(fit, found))
    return [*files, *(write_panels(folder / FIGURE, panels, (style.SIZE[0], _HEIGHT * len(panels))) if draw else ())]


def as_json(fit: Fit, found: Found) -> dict[str, Any]:
    return {
        "parameters": found.table.to_dict("records"),
        "correlation": found.estimate.correlation.to_numpy().tolist(),
        "remarks": list(found.remarks),
        "deviation_of_residuals": float(np.sqrt(found.estimate.spread.variance)),
        "independent_residuals": found.estimate.spread.degrees + len(found.table),
        "root_mean_squares": {f"{name}: {column}": value for name, column, _, value in _misfits(fit, found)},
    }


def compared(fit: Fit, found: Found) -> pd.DataFrame:
    """A row for each value that was compared: ``record``, ``column``, ``time`` [s], ``measured``, ``model``."""
    parts = [
        pd.DataFrame({"record": name, "column": column, "time": time, "measured": values, "model": model})
        for name, column, time, values, model in _pairs(fit, found)
    ]
    return pd.concat(parts, ignore_index=True)


def page_lead(study: Study) -> list[Block]:
    fit, found = recall(study)
    return [
        Prose(f"{_quality(fit, found)}."),
        *(Prose(f"{remark[0].upper()}{remark[1:]}.", "bad") for remark in found.remarks),
    ]


def page_sections(study: Study) -> list[Section]:
    fit, found = recall(study)
    table = Table("Parameters", HEADINGS, tuple(_cells(found)), fold=False)
    names = found.estimate.correlation
    rows = tuple((str(name), *(f"{value:.3f}" for value in names.loc[name])) for name in names.index)
    charts = [
        Chart.of(figure_of(panel, height=_ON_PAGE), f"Measured and modelled: {panel.title}.", f"compared-{k}")
        for k, panel in enumerate(_panels(fit, found))
    ]
    return [
        Section("parameters", "Parameters", blocks=(table, Table("Correlations", ("", *names.columns), rows))),
        Section("compared", "Measured and modelled", blocks=tuple(charts)),
    ]


def page_rerun(study: Study) -> list[Block]:
    name, data = study.configuration["name"], study.configuration["fit"]
    return file_and_command("The fit", data, f"{name}.toml", f"biped fit {name}.toml")


def _pairs(fit: Fit, found: Found) -> "Iterator[tuple[str, str, Any, Any, Any]]":
    """Record, column, times, measured and modelled values; where only the mean's neighbourhood counts, about it."""
    for scenario, record, modelled in zip(fit.space.scenarios, fit.measured, found.modelled, strict=True):
        time = np.array(record.trace.times)
        for k, column in enumerate(record.trace.columns):
            values, model, counts = record.values[k], modelled[k], record.counts[k]
            if record.is_free[k]:
                values, model = values - values[counts].mean(), model - np.nanmean(model[counts])
            yield scenario.name, column, time, values, model


def _misfits(fit: Fit, found: Found) -> "Iterator[tuple[str, str, str, float]]":
    """Record, column, its unit, and the root mean square of measured less modelled."""
    units = trace_units(fit.experiment, {**fit.space.fixed, **fit.space.scenarios[0].changes})
    for name, column, _, values, model in _pairs(fit, found):
        yield name, column, units.get(column, ""), float(np.sqrt(np.nanmean((values - model) ** 2)))


def _quality(fit: Fit, found: Found) -> str:
    told = [
        f"{words_of(column)} {value:.3g} {unit_text(unit)}".rstrip() for _, column, unit, value in _misfits(fit, found)
    ]
    spread = found.estimate.spread
    worth = f"{len(found.estimate.residuals)} numbers, worth {spread.degrees + len(found.table):.0f} independent ones"
    return f"root mean square of what is left: {', '.join(told)}; {worth}"


def _cells(found: Found) -> list[tuple[str, ...]]:
    rows = found.table.to_dict("records")
    return [
        (str(row["parameter"]), f"{row['value']:.4g}", f"{row['low']:.4g} … {row['high']:.4g}", unit_text(row["unit"]))
        for row in rows
    ]


def _panels(fit: Fit, found: Found) -> "Iterator[Panel]":
    units = trace_units(fit.experiment, {**fit.space.fixed, **fit.space.scenarios[0].changes})
    for name, column, time, values, model in _pairs(fit, found):
        title = f"{name}: {words_of(column)}" if len(fit.measured) > 1 else ""
        yield overlay(column, units.get(column, ""), time, values, model, title)
