"""Figures of the states of the contact points."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from contact import ContactState
from experiments.visualization.figures.labels import STATES, point_label
from experiments.visualization.figures.subject import Subject
from experiments.visualization.look import style
from experiments.visualization.panels.panel import Axis, Panel, Spans

#: Most bars of a figure; if a run has more changes, only every n-th row is drawn.
MOST_BARS = 3000


def modes_panel(subject: Subject, title: str) -> Panel:
    """Return a panel with a strip for each contact point, coloured by its state; a state lasts until the next row."""
    names = subject.model.contact_names[::-1]
    modes = np.array([subject.column(f"contact_{name}_mode") for name in names], dtype=np.int64)
    stride = 1
    while sum(len(_changes(row[::stride])) for row in modes) > MOST_BARS:
        stride *= 2
    time, spans = subject.time[::stride], []
    for at, row in enumerate(modes[:, ::stride]):
        first = _changes(row)
        last = np.append(first[1:], len(row) - 1)
        spans.append(np.stack([np.full(len(first), at), row[first], time[first], time[last]]))
    place, mode, begin, end = np.concatenate(spans, axis=1)
    items = []
    for state in ContactState:
        mine = (mode == state.value) & (end > begin)
        if mine.any():
            color = style.MODES[state.value - 1]
            items.append(Spans(place[mine].astype(int), begin[mine], end[mine], color, STATES[state]))
    more = "" if stride == 1 else f"; one row in {stride}, as there are too many changes"
    y = Axis(words=tuple(point_label(name) for name in names), grid=False)
    return Panel(tuple(items), Axis("time [s]", grid=False), y, title + more, legend="right")


def _changes(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows in which a new state begins, the first row included."""
    return np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))


def add_state_legend(axes: Axes) -> None:
    """Add the colours' legend below a strip of states."""
    below = ScaledTranslation(0.0, -3.6 * matplotlib.rcParams["font.size"] / 72.0, axes.figure.dpi_scale_trans)
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=3, fontsize="small",
                bbox_transform=axes.transAxes + below, borderaxespad=0.0, handlelength=1.2)  # fmt: skip


def friction_states(subject: Subject) -> Figure:
    """Draw the state of each contact point as a number from 1 to 6, as in figure 5.5 of the thesis."""
    names = subject.model.contact_names
    rows = (len(names) + 1) // 2
    figure = Figure(figsize=(7.6, 0.9 + 1.25 * rows))
    figure.subplots(rows, 2, sharex=True, sharey=True)
    by_column = [*figure.axes[0::2], *figure.axes[1::2]]
    for axes, name in zip(by_column, names, strict=False):
        axes.step(subject.time, subject.column(f"contact_{name}_mode"), where="post", color=style.BLUE, linewidth=0.8)
        axes.set_yticks(range(1, 7))
        axes.set_ylim(0.6, 6.4)
        axes.set_title(point_label(name), fontsize=8.5)
        axes.set_xlim(subject.time[0], subject.time[-1])
    figure.supxlabel("time [s]", fontsize=9)
    figure.supylabel("friction state [–]", fontsize=9)
    return figure
