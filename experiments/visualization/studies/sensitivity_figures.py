"""The indices as bars, with their intervals."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from experiments.studies.sensitivity.analysis import MORRIS, Indices
from experiments.studies.sensitivity.sensitivity import Sensitivity
from experiments.studies.store.measured import metric_units
from experiments.visualization.figures import style
from experiments.visualization.figures.style import STYLE

FIGURE = "sensitivity.png"


def draw_sensitivity(sensitivity: Sensitivity, found: Sequence[Indices], path: Path) -> list[Path]:
    """One panel for each metric that has indices; nothing where there is none."""
    path.unlink(missing_ok=True)
    shown = [indices for indices in found if indices.table is not None]
    if not shown:
        return []
    height = 0.9 + 0.34 * len(sensitivity.space.variables)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(style.SIZE[0], height * len(shown)))
        for axes, indices in zip(np.ravel(figure.subplots(len(shown), 1)), shown, strict=True):
            if sensitivity.design.method == MORRIS:
                _draw_morris(axes, indices, unit_of(sensitivity, indices.metric))
            else:
                _draw_sobol(axes, indices)
            axes.grid(visible=False, axis="y")
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3, handlelength=1.2)
        figure.savefig(path)
    return [path]


def unit_of(sensitivity: Sensitivity, metric: str) -> str:
    return f"[{metric_units(sensitivity.experiment).get(metric) or '–'}]"


def _draw_morris(axes: Axes, indices: Indices, unit: str) -> None:
    assert indices.table is not None
    table = indices.table.sort_values("mu_star", kind="stable")
    places = np.arange(len(table))
    axes.barh(places, table["mu_star"], height=0.6, color=style.BLUE, label="μ*, mean size of an effect")
    _whiskers(axes, table["mu_star"], places, table["mu_star_conf"])
    axes.plot(table["sigma"], places, "D", color=style.ORANGE, markersize=4.5, clip_on=False, label="σ, its spread")
    axes.set_yticks(places, table["parameter"].tolist())
    axes.set_xlim(0.0, 1.05 * max((table["mu_star"] + table["mu_star_conf"]).max(), table["sigma"].max()))
    axes.set_title(indices.metric)
    axes.set_xlabel(f"change over a parameter's range {unit}")


def _draw_sobol(axes: Axes, indices: Indices) -> None:
    assert indices.table is not None
    table = indices.table.sort_values("ST", kind="stable")
    places = np.arange(len(table))
    for shift, name, color, label in ((0.2, "ST", style.SKY, "total"), (-0.2, "S1", style.BLUE, "first order")):
        axes.barh(places + shift, table[name], height=0.38, color=color, label=label)
        _whiskers(axes, table[name], places + shift, table[f"{name}_conf"])
    axes.axvline(0.0, color=style.BLACK, linewidth=0.8)
    axes.set_yticks(places, table["parameter"].tolist())
    axes.margins(x=0.05)
    axes.set_title(indices.metric)
    axes.set_xlabel("part of the metric's variance [–]")


def _whiskers(axes: Axes, values: ArrayLike, places: ArrayLike, widths: ArrayLike) -> None:
    axes.errorbar(values, places, xerr=widths, fmt="none", ecolor=style.BLACK, elinewidth=0.9, capsize=2.0)
