"""Tables and figures of chapter 2: errors relative to a standard run, slopes in logarithms, CPU times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.papers.criteria import below, near, stated, within
from experiments.papers.figures import plotted
from experiments.papers.item import Finding
from experiments.timing import slope
from experiments.visualization.look import style

#: Time steps [s].
STEPS = (1e-4, 1e-3, 1e-2, 1e-1)

#: Table 2.1, rigid body: CPU time [s], errors of quaternion, energy and momentum (2.53), by step.
RIGID_BODY = {
    "cpu": (97.620, 9.905, 1.397, 0.301),
    "quaternion": (0.0, 3.960e-6, 3.997e-4, 3.648e-2),
    "energy": (6.256e-7, 6.274e-5, 6.274e-3, 6.217e-1),
    "momentum": (1.671e-7, 1.687e-5, 1.687e-3, 1.665e-1),
}
#: Least and greatest energy [J] at 1e-4 s and at 1e-3 s.
RIGID_BODY_ENERGY = ((32.999999349, 32.999999359), (32.999937235, 32.999937236))
#: Printed "±" [N·m·s] of the momentum at 1e-4 s.
RIGID_BODY_MOMENTUM_SPREAD = 1e-9

#: Table 2.2, double spherical pendulum: CPU time [s], errors of position, energy and momentum (2.56), by step.
PENDULUM_DVP = {
    "cpu": (73.648, 9.065, 1.152, 0.211),
    "position": (2.329e-7, 1.146e-5, 1.135e-3, 9.576e-2),
    "energy": (6.475e-6, 3.269e-4, 3.224e-2, 2.665),
    "momentum": (2.547e-6, 1.707e-4, 1.696e-2, 1.560),
}
PENDULUM_EM = {
    "cpu": (103.871, 13.250, 1.549, 0.263),
    "position": (0.0, 1.214e-5, 1.225e-3, 1.184e-1),
    "energy": (0.0, 0.0, 0.0, 0.0),
    "momentum": (0.0, 0.0, 0.0, 0.0),
}
#: Least and greatest energy [J] of the DVP runs at 1e-4 s and at 0.1 s.
PENDULUM_ENERGY = {1e-4: (24.944495109, 24.944499828), 1e-1: (20.910805793, 25.583335766)}
#: Least and greatest momentum [N·m·s] of the DVP run at 1e-4 s.
PENDULUM_MOMENTUM = (199.825467170, 199.825467184)


#: Allowed relative difference from a printed value.
MARGIN = 0.02
#: Allowed difference of a slope from two.
SLOPE_MARGIN = 0.05
#: Number of timings of each run, in the full and in the short version.
REPEATS = {False: 15, True: 3}
MACHINE = "theirs: an SGI Indy, MIPS R4600 at 100 MHz, 1993"

#: Printed values and ours, by column.
Columns = Mapping[str, tuple[Sequence[float], Sequence[float]]]


def mean_error(values: Floats, standard: Floats) -> float:
    """Return (2.53), (2.56): the mean of ‖v − vˢ‖ over the samples, divided by the length of v."""
    away = np.reshape(values - standard, (len(values), -1))
    return float(np.linalg.norm(away, axis=1).mean() / away.shape[1])


def compared(quantity: str, published: float, ours: float, note: str = "", margin: float = MARGIN) -> Finding:
    return stated(quantity, published, ours, within(published, margin), note)


def vanishes(quantity: str, ours: float, most: float, note: str = "") -> Finding:
    """State a number that is printed as zero; ours must be below ``most``."""
    return stated(quantity, 0.0, ours, below(most), note)


def of_second_order(
    quantity: str, steps: Sequence[float], published: Sequence[float], ours: Sequence[float], note: str = ""
) -> Finding:
    """State the slope of an error over the time step, which the thesis calls quadratic."""
    criterion = near(2.0, SLOPE_MARGIN, f"2.00 ± {SLOPE_MARGIN:g}")
    return stated(quantity, slope(steps, published), slope(steps, ours), criterion, note)


def cpu_finding(what: str, published: Sequence[float], ours: Sequence[float]) -> Finding:
    note = "larger steps take more Newton iterations, and the start of a run takes a share of short runs"
    quantity, criterion = f"CPU time, {what}: slope over the step", near(-1.0, 0.25, "nearly linear: −1.0 ± 0.25")
    return stated(quantity, slope(STEPS, published), slope(STEPS, ours), criterion, note)


def cpu_table(columns: Columns) -> dict[str, pd.DataFrame]:
    """Return the times of each method, and the ratio of printed times to ours, which is not a statement."""
    table = side_by_side(STEPS, {f"{name} [s]": times for name, times in columns.items()})
    for name, (published, ours) in columns.items():
        table[f"{name}, times as fast"] = np.divide(published, ours)
    return {f"CPU time ({MACHINE})": table}


@dataclass(frozen=True)
class Line:
    """Line of a figure: a quantity for several time steps, as printed in Wendlandt 1997 and as computed here."""

    label: str
    color: str
    steps: Sequence[float]
    published: Sequence[float]
    ours: Sequence[float]


def over_step(title: str, ylabel: str, lines: Sequence[Line], guide: float) -> Figure:
    """Draw on logarithmic axes; rings are printed points, dots are ours, a dashed line has the slope ``guide``."""
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
