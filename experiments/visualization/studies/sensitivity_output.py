"""The indices as a table in a file, and on the terminal."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.text import Text

from experiments.cli.terminal import print_table, terminal
from experiments.studies.sensitivity.analysis import MORRIS, Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.store.measured import metric_units
from experiments.visualization.figures.words import with_unit
from experiments.visualization.studies.sensitivity_figures import FIGURE, draw_sensitivity

INDICES, PAIRS = "indices.csv", "pairs.csv"
HEADINGS = {"mu": "μ", "mu_star": "μ*", "sigma": "σ", "S1": "first order", "ST": "total"}


def frame_of(found: Sequence[Indices]) -> pd.DataFrame:
    """All indices: a row for each metric and parameter; a ``_conf`` is half the width of an interval at 95 %."""
    tables = [indices.table.assign(metric=indices.metric) for indices in found if indices.table is not None]
    if not tables:
        return pd.DataFrame(columns=["metric", "parameter"])
    frame = pd.concat(tables, ignore_index=True)
    return frame[["metric", *(name for name in frame.columns if name != "metric")]]


def write_indices(found: Sequence[Indices], folder: Path) -> list[Path]:
    frame_of(found).to_csv(folder / INDICES, index=False)
    pairs = [indices.pairs.assign(metric=indices.metric) for indices in found if indices.pairs is not None]
    if not pairs:
        (folder / PAIRS).unlink(missing_ok=True)
        return [folder / INDICES]
    pd.concat(pairs, ignore_index=True).to_csv(folder / PAIRS, index=False)
    return [folder / INDICES, folder / PAIRS]


def columns_of(sensitivity: Sensitivity) -> tuple[str, ...]:
    """The indices that a table shows, the most telling first."""
    return ("mu_star", "mu", "sigma") if sensitivity.design.method == MORRIS else ("ST", "S1")


def cells_of(sensitivity: Sensitivity, indices: Indices) -> list[tuple[str, ...]]:
    """A row of text for each parameter, the most important first."""
    assert indices.table is not None
    columns = columns_of(sensitivity)
    rows = indices.table.sort_values(columns[0], ascending=False, kind="stable").to_dict("records")
    return [(str(row["parameter"]), *(_cell(row, name) for name in columns)) for row in rows]


def _cell(row: Mapping[Hashable, Any], name: str) -> str:
    width = row.get(f"{name}_conf")
    return f"{row[name]:.4g}" if width is None else f"{row[name]:.4g} ± {width:.2g}"


def show_sensitivity(sensitivity: Sensitivity, found: Sequence[Indices], folder: Path, draw: bool) -> list[Path]:
    console = terminal()
    # Morris's indices have the metric's unit, Sobol's are parts of its variance.
    units = metric_units(sensitivity.experiment) if sensitivity.design.method == MORRIS else {}
    for indices in found:
        name = with_unit(indices.metric, units.get(indices.metric, ""))
        console.print(Text(name, style="bold").append(f"  {indices.counted}", style="default"))
        if indices.table is not None:
            headings = ["", *(HEADINGS[name] for name in columns_of(sensitivity))]
            print_table(console, headings, cells_of(sensitivity, indices))
        for remark in indices.remarks:
            console.print(Text(f"  {remark}", style="yellow" if "more samples" in remark else "default"))
        console.print()
    files = write_indices(found, folder)
    return files + (draw_sensitivity(sensitivity, found, folder / FIGURE) if draw else [])
