"""The indices of a sensitivity analysis as bars, with their intervals."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.cli.quantities import unit_text
from experiments.lookup.figure_look import remove_figure
from experiments.studies.sensitivity.analysis import MORRIS, Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.store.measured import metric_units
from experiments.visualization.figures import style
from experiments.visualization.figures.words import words_of
from experiments.visualization.figures.writing import styled, write_figure
from experiments.visualization.panels.panel import Axis, Bars, Item, Panel, Points, Rule
from experiments.visualization.panels.with_matplotlib import figure_of

FIGURE = "sensitivity.png"
#: Column, colour and label of the bars, the first is the one that they are sorted by; and their width.
_MORRIS = (("mu_star", style.BLUE, "μ*, mean size of an effect"),), 0.6
_SOBOL = (("ST", style.SKY, "total"), ("S1", style.BLUE, "first order")), 0.38


def draw_sensitivity(sensitivity: Sensitivity, found: Sequence[Indices], path: Path) -> list[Path]:
    """Draw one panel for each metric that has indices; nothing where there is none."""
    remove_figure(path)
    panels = [indices_panel(sensitivity, indices) for indices in found if indices.table is not None]
    if not panels:
        return []
    height = 0.9 + 0.34 * len(sensitivity.space.variables)
    with styled():
        return write_figure(figure_of(panels, (style.SIZE[0], height * len(panels))), path)


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
