"""The indices as bars, with their intervals."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.cli.quantities import unit_text
from experiments.lookup.figure_look import remove_figure
from experiments.studies.sensitivity.analysis import MORRIS, Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.store.measured import metric_units
from experiments.visualization.figures import style
from experiments.visualization.figures.words import words_of
from experiments.visualization.figures.writing import styled, write_figure

FIGURE = "sensitivity.png"


def draw_sensitivity(sensitivity: Sensitivity, found: Sequence[Indices], path: Path) -> list[Path]:
    """One panel for each metric that has indices; nothing where there is none."""
    remove_figure(path)
    shown = [indices for indices in found if indices.table is not None]
    if not shown:
        return []
    height = 0.9 + 0.34 * len(sensitivity.space.variables)
    with styled():
        figure = Figure(figsize=(style.SIZE[0], height * len(shown)))
        for axes, indices in zip(np.ravel(figure.subplots(len(shown), 1)), shown, strict=True):
            _draw_indices(axes, sensitivity, indices)
            axes.grid(visible=False, axis="y")
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3, handlelength=1.2)
        return write_figure(figure, path)


def unit_of(sensitivity: Sensitivity, metric: str) -> str:
    return f"[{unit_text(metric_units(sensitivity.experiment).get(metric, '')) or '–'}]"


#: Column, colour and label of the bars, the first is the one that they are sorted by; and their height.
_MORRIS = (("mu_star", style.BLUE, "μ*, mean size of an effect"),), 0.6
_SOBOL = (("ST", style.SKY, "total"), ("S1", style.BLUE, "first order")), 0.38


def _draw_indices(axes: Axes, sensitivity: Sensitivity, indices: Indices) -> None:
    assert indices.table is not None
    is_morris = sensitivity.design.method == MORRIS
    bars, height = _MORRIS if is_morris else _SOBOL
    table = indices.table.sort_values(bars[0][0], kind="stable")
    places = np.arange(len(table))
    for (name, color, label), shift in zip(bars, (0.0,) if is_morris else (0.2, -0.2), strict=True):
        look: dict[str, Any] = {"fmt": "none", "ecolor": style.BLACK, "elinewidth": 0.9, "capsize": 2.0}
        axes.barh(places + shift, table[name], height=height, color=color, label=label)
        axes.errorbar(table[name], places + shift, xerr=table[f"{name}_conf"], **look)
    if is_morris:
        axes.plot(table["sigma"], places, "D", color=style.ORANGE, markersize=4.5, clip_on=False, label="σ, its spread")
        axes.set_xlim(0.0, 1.05 * max((table["mu_star"] + table["mu_star_conf"]).max(), table["sigma"].max()))
        axes.set_xlabel(f"change over a parameter's range {unit_of(sensitivity, indices.metric)}")
    else:
        axes.axvline(0.0, color=style.BLACK, linewidth=0.8)
        axes.margins(x=0.05)
        axes.set_xlabel("part of the metric's variance [–]")
    axes.set_yticks(places, [words_of(name) for name in table["parameter"]])
    axes.set_title(words_of(indices.metric))
