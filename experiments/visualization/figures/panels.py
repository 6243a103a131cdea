"""Matplotlib figures of curves over time: panels with a common time axis and marked events."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.visualization.figures.labels import label_rows, label_width
from experiments.visualization.figures.quantities import distinct_lines
from experiments.visualization.figures.subject import Mark, Subject
from experiments.visualization.look import style
from experiments.visualization.panels.panel import Axis, Panel, Points
from experiments.visualization.panels.with_matplotlib import draw

#: [points] height of a line of labels above a panel.
LINE = 9.0


def time_figure(
    subject: Subject, panels: Sequence[Panel], size: tuple[float, float] | None = None, **options: Any
) -> Figure:
    """Return a Matplotlib figure of panels one above another, with a common time axis; it needs no ``pyplot.close``.

    Args:
        subject: run, with the events to mark.
        panels: panels from top to bottom.
        size: width and height [inch]; None: a height that fits the number of panels.
        options: further arguments of ``Figure.subplots``.
    """
    figure = Figure(figsize=size or (style.SIZE[0], 2.0 + 1.6 * len(panels)))
    figure.subplots(len(panels), sharex=True, **options)
    for k, (axes, panel) in enumerate(zip(figure.axes, panels, strict=True)):
        draw_panel(axes, subject, panel, time_label=k == len(panels) - 1, mark_labels=k == 0)
    return figure


def draw_panel(
    axes: Axes, subject: Subject, panel: Panel, *, time_label: bool = True, mark_labels: bool = True
) -> None:
    """Draw a panel of curves over time with the marked events."""
    panel = distinct_lines(panel)
    items = tuple(replace(item, x=subject.time) if isinstance(item, Points) else item for item in panel.items)
    draw(axes, replace(panel, items=items, title="", x=panel.x if time_label else Axis()))
    if len(subject.time) > 1:
        axes.set_xlim(subject.time[0], subject.time[-1])
    rows = draw_marks(axes, subject.marks, labels=mark_labels)
    if panel.title:
        axes.set_title(panel.title, pad=6.0 + LINE * rows)


def draw_marks(axes: Axes, marks: Sequence[Mark], *, labels: bool = True) -> int:
    """Draw a thin vertical line at each mark, its label above the panel; return the number of lines of labels."""
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
    """Return the number of lines of labels above a panel whose time axis is set."""
    return max(_label_places(axes, marks)[1], default=-1) + 1


def _label_places(axes: Axes, marks: Sequence[Mark]) -> tuple[list[float], list[int]]:
    """Return each mark's position as a part of the time axis, and the line of its label; -1: no label."""
    begin, end = axes.get_xlim()
    places = [(mark.time - begin) / max(end - begin, 1e-12) for mark in marks]
    return places, label_rows(places, [mark.label for mark in marks])
