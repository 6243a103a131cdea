"""Figures of the contact points: in what state each of them is, and what the floor does to them."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from contact import ContactState
from experiments.visualization.figures import style
from experiments.visualization.figures.labels import STATES, point_label
from experiments.visualization.figures.panels import draw_marks
from experiments.visualization.figures.subject import Subject

_COLORS = ListedColormap(style.MODES)
_LIMITS = BoundaryNorm([0.5 + k for k in range(7)], 6)


def draw_modes(axes: Axes, subject: Subject, title: str, *, labels: bool = True) -> None:
    """A strip for each contact point, coloured by its state."""
    names = subject.model.contact_names
    modes = np.array([subject.column(f"contact_{name}_mode") for name in names])
    edges = np.append(subject.time, subject.time[-1] + (subject.time[-1] - subject.time[-2]))
    axes.pcolormesh(edges, np.arange(len(names) + 1), modes, cmap=_COLORS, norm=_LIMITS, rasterized=True)
    axes.set_yticks(np.arange(len(names)) + 0.5, [point_label(name) for name in names])
    axes.hlines(np.arange(1, len(names)), *subject.time[[0, -1]], color="white", linewidth=2.0)
    axes.invert_yaxis()
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(subject.time[0], subject.time[-1])
    axes.set_title(title, pad=6.0 + 9.0 * draw_marks(axes, subject.marks, labels=labels))


def add_state_legend(axes: Axes, subject: Subject) -> None:
    """Below a strip of states: what the colours mean, of the states that occur."""
    below = ScaledTranslation(0.0, -3.6 * matplotlib.rcParams["font.size"] / 72.0, axes.figure.dpi_scale_trans)
    axes.legend(handles=_patches(subject), loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=3, fontsize="small",
                bbox_transform=axes.transAxes + below, borderaxespad=0.0, handlelength=1.2)  # fmt: skip


def _patches(subject: Subject) -> list[Patch]:
    seen = {int(m) for name in subject.model.contact_names for m in np.unique(subject.column(f"contact_{name}_mode"))}
    return [
        Patch(facecolor=style.MODES[state - 1], edgecolor=style.GREY, lw=0.4, label=STATES[state])
        for state in ContactState
        if state.value in seen
    ]


def contact_modes(subject: Subject) -> Figure:
    figure = Figure(figsize=(style.SIZE[0], 1.4 + 0.27 * subject.model.nc))
    axes = figure.subplots()
    draw_modes(axes, subject, "State of each contact point")
    axes.set_xlabel("time [s]")
    figure.legend(handles=_patches(subject), loc="outside lower center", ncols=3)
    return figure


def friction_states(subject: Subject) -> Figure:
    """Thesis, figure 5.5: the state of each contact point as a number from 1 to 6."""
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
