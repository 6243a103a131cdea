"""How matplotlib draws panels: curves over time, set points, marks, legends."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.visualization.figures import style
from experiments.visualization.figures.labels import label_rows, label_width
from experiments.visualization.figures.quantities import Panel, told_apart
from experiments.visualization.figures.subject import Mark, Subject

#: [points] of a line of labels above a panel.
LINE = 9.0


def time_figure(
    subject: Subject, panels: Sequence[Panel], size: tuple[float, float] = style.SIZE, **options: Any
) -> Figure:
    """Panels one above another that share their time axis; not known to pyplot, so nothing needs closing.

    Args:
        subject: of the figure.
        panels: from the top.
        size: [inch].
        options: of ``Figure.subplots``.
    """
    figure = Figure(figsize=size)
    figure.subplots(len(panels), sharex=True, **options)
    for k, (axes, panel) in enumerate(zip(figure.axes, panels, strict=True)):
        draw_panel(axes, subject, panel)
        finish(axes, subject, panel, time_label=k == len(panels) - 1, mark_labels=k == 0)
    return figure


def draw_panel(axes: Axes, subject: Subject, panel: Panel) -> None:
    for curve in told_apart(panel.curves):
        axes.plot(
            subject.time, curve.values, color=curve.color, label=curve.symbol or curve.label, linewidth=curve.width,
            linestyle=_stroke(curve.dash), dash_capstyle="butt",
            drawstyle="steps-post" if curve.is_step else "default",
        )  # fmt: skip
    for k, (target, color) in enumerate(panel.targets):
        axes.axhline(target, color=color, linestyle=(0, (5, 3)), linewidth=0.9, label="set point" if k == 0 else None)


def _stroke(dash: str) -> Any:
    """Matplotlib's line style for one of Plotly's; lengths are in px there, and here in widths of the line."""
    if "px" in dash:
        return (0, [float(length) / 2.0 for length in dash.replace("px", "").split(",")])
    return (0, (4, 3)) if dash == "dash" else "-"


def finish(axes: Axes, subject: Subject, panel: Panel, *, time_label: bool = True, mark_labels: bool = True) -> None:
    """Labels with units, the marked moments, and a legend to the right of the panel."""
    axes.set_ylabel(panel.unit)
    if time_label:
        axes.set_xlabel("time [s]")
    if len(subject.time) > 1:
        axes.set_xlim(subject.time[0], subject.time[-1])
    rows = draw_marks(axes, subject.marks, labels=mark_labels)
    if panel.least and all(np.nanmax(np.abs(curve.values), initial=0.0) < panel.least for curve in panel.curves):
        axes.set_ylim(-1.1 * panel.least, 1.1 * panel.least)
    if panel.title:
        axes.set_title(panel.title, pad=6.0 + LINE * rows)
    if panel.legend:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02), borderaxespad=0.3, handlelength=1.6)


def draw_marks(axes: Axes, marks: Sequence[Mark], *, labels: bool = True) -> int:
    """A thin vertical line at each mark, its label above the panel; how many lines of labels there are."""
    places, rows = _label_places(axes, marks)
    for mark, place, row in zip(marks, places, rows, strict=True):
        axes.axvline(mark.time, color=style.GREY, linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=1.5)
        if labels and row >= 0:
            at_end = place > 1.0 - label_width(mark.label)
            axes.annotate(
                mark.label, (mark.time, 1.0), (-1.0 if at_end else 1.0, 2.0 + LINE * row), axes.get_xaxis_transform(),
                "offset points", ha="right" if at_end else "left", fontsize=6.5, color="#555555", annotation_clip=False,
            )  # fmt: skip
    return max(rows, default=-1) + 1 if labels else 0


def label_lines(axes: Axes, marks: Sequence[Mark]) -> int:
    """How many lines the labels of marks have above a panel whose time axis is set."""
    return max(_label_places(axes, marks)[1], default=-1) + 1


def _label_places(axes: Axes, marks: Sequence[Mark]) -> tuple[list[float], list[int]]:
    """Of each mark: the part of the time axis before it, and the line of its label, -1 if it has none."""
    begin, end = axes.get_xlim()
    places = [(mark.time - begin) / max(end - begin, 1e-12) for mark in marks]
    return places, label_rows(places, [mark.label for mark in marks])
