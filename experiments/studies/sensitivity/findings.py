"""Findings of a sensitivity analysis as text, tables, bar charts and a page."""

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.cli.quantities import unit_text
from experiments.studies.sensitivity.analysis import MORRIS, Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.store.measured import metric_units
from experiments.visualization.document import Document
from experiments.visualization.look import style
from experiments.visualization.look.words import with_unit, words_of
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.panels.panel import Axis, Bars, Item, Panel, Points, Rule
from experiments.visualization.panels.with_matplotlib import write_panels

FIGURE, INDICES, PAIRS = "sensitivity.png", "indices.csv", "pairs.csv"
HEADINGS = {"mu": "μ", "mu_star": "μ*", "sigma": "σ", "S1": "first order", "ST": "total"}
#: Column, colour and label of the bars, sorted by the first one; and their width.
_MORRIS = (("mu_star", style.BLUE, "μ*, mean size of an effect"),), 0.6
_SOBOL = (("ST", style.SKY, "total"), ("S1", style.BLUE, "first order")), 0.38
#: [px] of a parameter's bars, and around all of them, on the page.
_ROW, _AROUND = 40, 130


def document(sensitivity: Sensitivity, findings: Sequence[Indices], _: Path) -> Document:
    """Return a document with the indices of all metrics."""
    tables = [item.table.assign(metric=item.metric) for item in findings if item.table is not None]
    frame = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["metric", "parameter"])
    pairs = [item.pairs.assign(metric=item.metric) for item in findings if item.pairs is not None]
    panels = [indices_panel(sensitivity, item) for item in findings if item.table is not None]
    size = style.SIZE[0], (0.9 + 0.34 * len(sensitivity.space.variables)) * len(panels)
    return Document(
        [_ranked(indices, _columns(sensitivity)[0]) for indices in findings],
        [_section(sensitivity, indices, k) for k, indices in enumerate(findings)],
        [{"metric": o.metric, "indices": o.table, "pairs": o.pairs, "remarks": list(o.remarks)} for o in findings],
        {
            INDICES: frame[["metric", *frame.columns.drop("metric")]],
            PAIRS: pd.concat(pairs, ignore_index=True) if pairs else None,
        },
        {FIGURE: partial(write_panels, panels=panels, size=size) if panels else None},
    )


def indices_panel(sensitivity: Sensitivity, indices: Indices) -> Panel:
    """Return a bar chart of a metric's indices, the greatest on top."""
    assert indices.table is not None
    is_morris = sensitivity.design.method == MORRIS
    bars, width = _MORRIS if is_morris else _SOBOL
    table = indices.table.sort_values(bars[0][0], kind="stable")
    places = np.arange(len(table))
    items: list[Item] = []
    for name, color, label in bars:
        value, half = table[name].to_numpy(dtype=float), table[f"{name}_conf"].to_numpy(dtype=float)
        items.append(Bars(places, value, color, label, width, (value - half, value + half)))
    if is_morris:
        sigma = table["sigma"].to_numpy(dtype=float)
        items.append(Points(sigma, places, "σ, spread of the effects", style.ORANGE, "diamond", 4.5))
        unit = unit_text(metric_units(sensitivity.experiment).get(indices.metric, "")) or "–"
        high = 1.05 * float(max((table["mu_star"] + table["mu_star_conf"]).max(), sigma.max()))
        x = Axis(f"change over a parameter's range [{unit}]", 0.0, high)
    else:
        items.append(Rule(0.0))
        x = Axis("part of the metric's variance [–]", margin=0.05)
    names = tuple(words_of(name) for name in table["parameter"])
    return Panel(tuple(items), x, Axis(words=names, grid=False), words_of(indices.metric), legend="right")


def _columns(sensitivity: Sensitivity) -> tuple[str, ...]:
    """Return the columns of indices that a table shows, the most important first."""
    return ("mu_star", "mu", "sigma") if sensitivity.design.method == MORRIS else ("ST", "S1")


def _cells(sensitivity: Sensitivity, indices: Indices) -> list[tuple[str, ...]]:
    """Return a row of text for each parameter, the most important first."""
    assert indices.table is not None
    columns = _columns(sensitivity)
    rows = indices.table.sort_values(columns[0], ascending=False, kind="stable").to_dict("records")
    return [(str(row["parameter"]), *(_cell(row, name) for name in columns)) for row in rows]


def _cell(row: Mapping[Hashable, Any], name: str) -> str:
    width = row.get(f"{name}_conf")
    return f"{row[name]:.4g}" if width is None else f"{row[name]:.4g} ± {width:.2g}"


def _ranked(indices: Indices, column: str) -> Prose:
    """Return text on the parameters whose interval excludes zero, the most important first."""
    if indices.table is None:
        return Prose(f"{indices.metric}: {'; '.join(indices.remarks)}.", "bad")
    sure = indices.table[indices.table[column] > indices.table[f"{column}_conf"]]
    names = sure.sort_values(column, ascending=False, kind="stable")["parameter"].tolist()
    if not names:
        return Prose(f"{indices.metric}: all intervals include zero; take more samples.", "bad")
    rest = len(indices.table) - len(names)
    ending = f"; {rest} parameters are not significant" if rest > 1 else "; one parameter is not significant" * rest
    return Prose(f"{indices.metric} depends on {', then '.join(names)}{ending}.", "good")


def _section(sensitivity: Sensitivity, indices: Indices, k: int) -> Section:
    is_morris = sensitivity.design.method == MORRIS
    blocks: list[Block] = [Prose(f"{indices.counted}.".capitalize(), "muted")]
    blocks += [Prose(f"{text}.".capitalize(), "bad" if "more samples" in text else "") for text in indices.remarks]
    if indices.table is not None:
        text = "Parts of the variance of {}, with 95 % intervals (Sobol 2001; Saltelli et al. 2010)."
        if is_morris:
            text = "Elementary effects on {}: mean size and spread, with 95 % intervals (Morris 1991)."
        height = _AROUND + _ROW * len(sensitivity.space.variables)
        panel, headings = indices_panel(sensitivity, indices), (HEADINGS[name] for name in _columns(sensitivity))
        blocks.append(Chart(panel, text.format(indices.metric), f"indices-{k}", pixels=height))
        blocks.append(Table("", ("parameter", *headings), tuple(_cells(sensitivity, indices)), fold=False))
    if indices.pairs is not None:
        ordered = indices.pairs.sort_values("S2", ascending=False, kind="stable")
        rows = tuple((str(a), str(b), f"{s:.4g} ± {w:.2g}") for a, b, s, w in ordered.itertuples(index=False))
        blocks.append(Table("Pairs", ("parameter", "with", "second order"), rows, fold=True))
    # Morris's indices have the metric's unit, Sobol's are parts of its variance.
    unit = metric_units(sensitivity.experiment).get(indices.metric, "") if is_morris else ""
    method = "Morris's elementary effects" if is_morris else "Sobol's indices"
    title = f"Sensitivity of {with_unit(indices.metric, unit)}"
    return Section(f"metric-{k}", title, method, blocks=tuple(blocks))
