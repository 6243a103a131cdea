"""Tables and figures of chapter 2: errors against a standard, slopes in logarithms, CPU times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.papers.criteria import below, near, stated, within
from experiments.papers.figures import plotted
from experiments.papers.item import Finding
from experiments.papers.wendlandt_1997.printed import STEPS
from experiments.timing import slope
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
    return stated(quantity, published, ours, within(published, margin), note)


def vanishes(quantity: str, ours: float, most: float, note: str = "") -> Finding:
    """State a number that is printed as zero."""
    return stated(quantity, 0.0, ours, below(most), note)


def of_second_order(
    quantity: str, steps: Sequence[float], published: Sequence[float], ours: Sequence[float], note: str = ""
) -> Finding:
    """State the slope of an error over the step, where the paper says that it is quadratic."""
    criterion = near(2.0, SLOPE_MARGIN, f"2.00 ± {SLOPE_MARGIN:g}")
    return stated(quantity, slope(steps, published), slope(steps, ours), criterion, note)


def cpu_finding(what: str, published: Sequence[float], ours: Sequence[float]) -> Finding:
    note = "larger steps take more Newton iterations, and a short run what it takes to start one"
    quantity, criterion = f"CPU time, {what}: slope over the step", near(-1.0, 0.25, "nearly linear: −1.0 ± 0.25")
    return stated(quantity, slope(STEPS, published), slope(STEPS, ours), criterion, note)


def cpu_table(columns: Columns) -> dict[str, pd.DataFrame]:
    """Return the times of each method and how much faster a later machine is, which is no statement of the thesis."""
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
    """Draw with both axes logarithmic; printed points are rings around ours, a dashed line has the slope ``guide``."""
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
