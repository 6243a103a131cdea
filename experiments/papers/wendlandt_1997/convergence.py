"""What the tables and figures of chapter 2 share: errors against a standard, slopes in logarithms, plots of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.papers.item import Finding
from experiments.visualization.figures import style

#: Part of a printed value by which ours may differ.
MARGIN = 0.02
#: What a slope may differ from two.
SLOPE_MARGIN = 0.05


def mean_error(values: Floats, standard: Floats) -> float:
    """(2.53), (2.56): the mean of ‖v − vˢ‖ over the samples, divided by the length of v."""
    away = np.reshape(values - standard, (len(values), -1))
    return float(np.linalg.norm(away, axis=1).mean() / away.shape[1])


def slope(steps: Sequence[float], values: Sequence[float]) -> float:
    return float(np.polyfit(np.log(steps), np.log(values), 1)[0])


def compared(quantity: str, published: float, ours: float, note: str = "", margin: float = MARGIN) -> Finding:
    agrees = abs(ours - published) <= margin * abs(published)
    return Finding(quantity, published, ours, f"within {100 * margin:g}%", agrees, note)


def vanishes(quantity: str, ours: float, most: float, note: str = "") -> Finding:
    return Finding(quantity, 0.0, ours, f"below {most:g}", ours < most, note)


def of_second_order(
    quantity: str, steps: Sequence[float], published: Sequence[float], ours: Sequence[float], note: str = ""
) -> Finding:
    """The slope of an error over the step, where the paper says that it is quadratic."""
    found = slope(steps, ours)
    agrees = abs(found - 2.0) <= SLOPE_MARGIN
    return Finding(quantity, slope(steps, published), found, f"2.00 ± {SLOPE_MARGIN:g}", agrees, note)


@dataclass(frozen=True)
class Line:
    """A quantity over the step, as printed and as computed."""

    label: str
    color: str
    steps: Sequence[float]
    published: Sequence[float]
    ours: Sequence[float]


def over_step(title: str, ylabel: str, lines: Sequence[Line], guide: float | None = None) -> Figure:
    """Both axes logarithmic; the printed points are rings around ours. ``guide``: a dashed line of this slope."""
    with matplotlib.rc_context(style.STYLE):
        figure = Figure(figsize=(5.2, 3.6))
        axes = figure.subplots()
        for line in lines:
            axes.loglog(line.steps, line.ours, "o-", color=line.color, markersize=3.5, label=f"{line.label}, here")
            rings = {"markersize": 10.0, "markerfacecolor": "none", "markeredgewidth": 1.1}
            axes.loglog(line.steps, line.published, "o", color=line.color, **rings, label=f"{line.label}, printed")
        if guide is not None:
            x = np.array([min(lines[0].steps), max(lines[0].steps)])
            y = lines[0].ours[-1] * (x / x[-1]) ** guide
            axes.loglog(x, y / 3.0, "--", color=style.GREY, linewidth=0.9, label=f"slope {guide:g}")
        axes.margins(x=0.08)
        axes.set_title(title)
        axes.set_xlabel("step [s]")
        axes.set_ylabel(ylabel)
        axes.legend()
    return figure


def side_by_side(
    steps: Sequence[float], columns: Mapping[str, tuple[Sequence[float], Sequence[float]]]
) -> pd.DataFrame:
    """A table with the printed and our value of each column next to one another."""
    table: dict[str, Sequence[float]] = {"h [s]": steps}
    for name, (published, ours) in columns.items():
        table[f"{name}, printed"] = published
        table[name] = ours
    return pd.DataFrame(table)
