"""What the tables and figures of chapter 2 are made of: errors against a standard, slopes in logarithms, CPU times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.benchmarks.step_sizes import slope
from experiments.papers.figures import plotted
from experiments.papers.item import Finding
from experiments.papers.wendlandt_1997.printed import STEPS
from experiments.visualization.figures import style

#: Part of a printed value by which ours may differ.
MARGIN = 0.02
#: What a slope may differ from two.
SLOPE_MARGIN = 0.05
#: Timings of each run, in the whole and in the short version.
REPEATS = {False: 15, True: 3}
MACHINE = "theirs: an SGI Indy, MIPS R4600 at 100 MHz, 1993"

#: Of each column: as printed, and ours.
Columns = Mapping[str, tuple[Sequence[float], Sequence[float]]]


def mean_error(values: Floats, standard: Floats) -> float:
    """(2.53), (2.56): the mean of ‖v − vˢ‖ over the samples, divided by the length of v."""
    away = np.reshape(values - standard, (len(values), -1))
    return float(np.linalg.norm(away, axis=1).mean() / away.shape[1])


def compared(quantity: str, published: float, ours: float, note: str = "", margin: float = MARGIN) -> Finding:
    agrees = abs(ours - published) <= margin * abs(published)
    return Finding(quantity, published, ours, f"within {100 * margin:g}%", agrees, note)


def vanishes(quantity: str, ours: float, most: float, note: str = "") -> Finding:
    """What is printed as zero."""
    return Finding(quantity, 0.0, ours, f"below {most:g}", ours < most, note)


def of_second_order(
    quantity: str, steps: Sequence[float], published: Sequence[float], ours: Sequence[float], note: str = ""
) -> Finding:
    """The slope of an error over the step, where the paper says that it is quadratic."""
    found = slope(steps, ours)
    agrees = abs(found - 2.0) <= SLOPE_MARGIN
    return Finding(quantity, slope(steps, published), found, f"2.00 ± {SLOPE_MARGIN:g}", agrees, note)


def cpu_finding(what: str, published: Sequence[float], ours: Sequence[float]) -> Finding:
    found = slope(STEPS, ours)
    note = "larger steps take more Newton iterations, and a short run what it takes to start one"
    agrees = abs(found + 1.0) <= 0.25
    quantity = f"CPU time, {what}: slope over the step"
    return Finding(quantity, slope(STEPS, published), found, "nearly linear: −1.0 ± 0.25", agrees, note)


def cpu_table(columns: Columns) -> dict[str, pd.DataFrame]:
    """The times of each method and how much faster a later machine is, which is no statement of the thesis."""
    table = side_by_side(STEPS, {f"{name} [s]": times for name, times in columns.items()})
    for name, (published, ours) in columns.items():
        table[f"{name}, times as fast"] = np.divide(published, ours)
    return {f"CPU time ({MACHINE})": table}


@dataclass(frozen=True)
class Line:
    """A quantity over the step, as printed and as computed."""

    label: str
    color: str
    steps: Sequence[float]
    published: Sequence[float]
    ours: Sequence[float]


def over_step(title: str, ylabel: str, lines: Sequence[Line], guide: float) -> Figure:
    """Both axes logarithmic; the printed points are rings around ours. ``guide``: a dashed line of this slope."""
    with plotted(title, "step [s]", ylabel, (5.2, 3.6)) as (figure, axes):
        for line in lines:
            axes.loglog(line.steps, line.ours, "o-", color=line.color, markersize=3.5, label=f"{line.label}, here")
            rings = {"markersize": 10.0, "markerfacecolor": "none", "markeredgewidth": 1.1}
            axes.loglog(line.steps, line.published, "o", color=line.color, **rings, label=f"{line.label}, printed")
        x = np.array([min(lines[0].steps), max(lines[0].steps)])
        y = lines[0].ours[-1] * (x / x[-1]) ** guide
        axes.loglog(x, y / 3.0, "--", color=style.GREY, linewidth=0.9, label=f"slope {guide:g}")
        axes.margins(x=0.08)
    return figure


def side_by_side(steps: Sequence[float], columns: Columns) -> pd.DataFrame:
    table: dict[str, Sequence[float]] = {"h [s]": steps}
    for name, (published, ours) in columns.items():
        table[f"{name}, printed"] = published
        table[name] = ours
    return pd.DataFrame(table)
