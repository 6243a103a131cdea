"""The findings of a sensitivity analysis: on the terminal, as tables and bars in files, and on its page."""

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.cli.quantities import unit_text
from experiments.cli.terminal import print_table, say
from experiments.lookup.figure_look import remove_figure
from experiments.studies.run import recall
from experiments.studies.sensitivity.analysis import MORRIS, Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.store.folder import Study
from experiments.studies.store.measured import metric_units
from experiments.visualization.figures import style
from experiments.visualization.figures.words import with_unit, words_of
from experiments.visualization.pages import Block, Chart, Prose, Section, Table
from experiments.visualization.panels.panel import Axis, Bars, Item, Panel, Points, Rule
from experiments.visualization.panels.with_matplotlib import write_panels
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.toml import file_and_command

FIGURE, INDICES, PAIRS = "sensitivity.png", "indices.csv", "pairs.csv"
HEADINGS = {"mu": "μ", "mu_star": "μ*", "sigma": "σ", "S1": "first order", "ST": "total"}
#: Column, colour and label of the bars, the first is the one that they are sorted by; and their width.
_MORRIS = (("mu_star", style.BLUE, "μ*, mean size of an effect"),), 0.6
_SOBOL = (("ST", style.SKY, "total"), ("S1", style.BLUE, "first order")), 0.38
#: [px] of a parameter's bars, and around all of them, on the page.
_ROW, _AROUND = 40, 130


def show(sensitivity: Sensitivity, found: Sequence[Indices], folder: Path, draw: bool) -> list[Path]:
    """Print the indices of each metric, and write them as tables and in a figure; the files."""
    # Morris's indices have the metric's unit, Sobol's are parts of its variance.
    units = metric_units(sensitivity.experiment) if sensitivity.design.method == MORRIS else {}
    for indices in found:
        say(with_unit(indices.metric, units.get(indices.metric, "")), "bold", f"  {indices.counted}")
        if indices.table is not None:
            headings = ["", *(HEADINGS[name] for name in _columns(sensitivity))]
            print_table(headings, _cells(sensitivity, indices))
        for remark in indices.remarks:
            say(f"  {remark}", "yellow" if "more samples" in remark else "default")
        say()
    return [*_write_tables(found, folder), *(_draw(sensitivity, found, folder / FIGURE) if draw else ())]


def as_json(_: Sensitivity, found: Sequence[Indices]) -> list[dict[str, Any]]:
    return [
        {"metric": one.metric, "indices": one.table, "pairs": one.pairs, "remarks": list(one.remarks)} for one in found
    ]


def page_lead(study: Study) -> list[Block]:
    sensitivity, found = recall(study)
    return [_ranked(indices, _columns(sensitivity)[0]) for indices in found]


def page_sections(study: Study) -> list[Section]:
    sensitivity, found = recall(study)
    return [_section(sensitivity, indices, k) for k, indices in enumerate(found)]


def page_rerun(study: Study) -> list[Block]:
    name, data = study.configuration["name"], study.configuration["sensitivity"]
    return file_and_command("The analysis", data, f"{name}.toml", f"biped sensitivity {name}.toml")


def indices_panel(sensitivity: Sensitivity, indices: Indices) -> Panel:
    """The bars of a metric, the parameter with the greatest index on top."""
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
        items.append(Points(sigma, places, "σ, its spread", style.ORANGE, "diamond", 4.5))
        unit = unit_text(metric_units(sensitivity.experiment).get(indices.metric, "")) or "–"
        high = 1.05 * float(max((table["mu_star"] + table["mu_star_conf"]).max(), sigma.max()))
        x = Axis(f"change over a parameter's range [{unit}]", 0.0, high)
    else:
        items.append(Rule(0.0))
        x = Axis("part of the metric's variance [–]", margin=0.05)
    names = tuple(words_of(name) for name in table["parameter"])
    return Panel(tuple(items), x, Axis(words=names, grid=False), words_of(indices.metric), legend="right")


def _write_tables(found: Sequence[Indices], folder: Path) -> list[Path]:
    """Write a row for each metric and parameter, and for each pair; ``_conf`` is half the width of a 95 % interval."""
    tables = [one.table.assign(metric=one.metric) for one in found if one.table is not None]
    frame = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["metric", "parameter"])
    frame[["metric", *frame.columns.drop("metric")]].to_csv(folder / INDICES, index=False)
    pairs = [one.pairs.assign(metric=one.metric) for one in found if one.pairs is not None]
    if not pairs:
        (folder / PAIRS).unlink(missing_ok=True)
        return [folder / INDICES]
    pd.concat(pairs, ignore_index=True).to_csv(folder / PAIRS, index=False)
    return [folder / INDICES, folder / PAIRS]


def _draw(sensitivity: Sensitivity, found: Sequence[Indices], path: Path) -> list[Path]:
    """Draw a panel for each metric that has indices, and nothing where none has."""
    remove_figure(path)
    panels = [indices_panel(sensitivity, indices) for indices in found if indices.table is not None]
    if not panels:
        return []
    height = (0.9 + 0.34 * len(sensitivity.space.variables)) * len(panels)
    return write_panels(path, panels, (style.SIZE[0], height))


def _columns(sensitivity: Sensitivity) -> tuple[str, ...]:
    """The indices that a table shows, the most telling first."""
    return ("mu_star", "mu", "sigma") if sensitivity.design.method == MORRIS else ("ST", "S1")


def _cells(sensitivity: Sensitivity, indices: Indices) -> list[tuple[str, ...]]:
    """A row of text for each parameter, the most important first."""
    assert indices.table is not None
    columns = _columns(sensitivity)
    rows = indices.table.sort_values(columns[0], ascending=False, kind="stable").to_dict("records")
    return [(str(row["parameter"]), *(_cell(row, name) for name in columns)) for row in rows]


def _cell(row: Mapping[Hashable, Any], name: str) -> str:
    width = row.get(f"{name}_conf")
    return f"{row[name]:.4g}" if width is None else f"{row[name]:.4g} ± {width:.2g}"


def _ranked(indices: Indices, column: str) -> Prose:
    """The parameters whose interval keeps clear of zero, the most important first."""
    if indices.table is None:
        return Prose(f"{indices.metric}: {'; '.join(indices.remarks)}.", "bad")
    sure = indices.table[indices.table[column] > indices.table[f"{column}_conf"]]
    names = sure.sort_values(column, ascending=False, kind="stable")["parameter"].tolist()
    if not names:
        return Prose(f"{indices.metric}: no interval keeps clear of zero; take more samples.", "bad")
    rest = len(indices.table) - len(names)
    others = f"; {rest} others cannot be told from none" if rest > 1 else "; one cannot be told from none" * rest
    return Prose(f"{indices.metric} depends on {', then '.join(names)}{others}.", "good")


def _section(sensitivity: Sensitivity, indices: Indices, k: int) -> Section:
    blocks: list[Block] = [Prose(f"{indices.counted}.".capitalize(), "muted")]
    blocks += [Prose(f"{remark}.".capitalize()) for remark in indices.remarks]
    if indices.table is not None:
        headings = ("parameter", *(HEADINGS[name] for name in _columns(sensitivity)))
        blocks.append(_bars(sensitivity, indices, k))
        blocks.append(Table("Indices", headings, tuple(_cells(sensitivity, indices)), fold=False))
    if indices.pairs is not None:
        ordered = indices.pairs.sort_values("S2", ascending=False, kind="stable")
        rows = tuple((str(a), str(b), f"{s:.4g} ± {w:.2g}") for a, b, s, w in ordered.itertuples(index=False))
        blocks.append(Table("Pairs", ("parameter", "with", "second order"), rows))
    method = "Morris's elementary effects" if sensitivity.design.method == MORRIS else "Sobol's indices"
    return Section(f"metric-{k}", f"What {indices.metric} depends on", method, blocks=tuple(blocks))


def _bars(sensitivity: Sensitivity, indices: Indices, k: int) -> Chart:
    if sensitivity.design.method == MORRIS:
        text = f"Elementary effects on {indices.metric}: mean size and spread, with 95 % intervals (Morris 1991)."
    else:
        text = f"Parts of the variance of {indices.metric}, with 95 % intervals (Sobol 2001; Saltelli et al. 2010)."
    height = _AROUND + _ROW * len(sensitivity.space.variables)
    return Chart.of(figure_of(indices_panel(sensitivity, indices), height=height), text, f"indices-{k}")
