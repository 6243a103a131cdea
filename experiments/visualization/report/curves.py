"""Interactive curves over time in panels with a common time axis, reduced to the points that a screen can show."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from contact.arrays import Floats
from experiments.visualization.figures.labels import label_rows
from experiments.visualization.figures.quantities import distinct_lines
from experiments.visualization.figures.subject import Mark
from experiments.visualization.look import theme
from experiments.visualization.look.theme import plain
from experiments.visualization.panels.panel import Panel, Points, Spans
from experiments.visualization.panels.with_plotly import Place, add_item, number_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Most rows of a figure; rows that are left out lie between extremes that are shown.
MOST_ROWS = 2000
#: [px] height of a panel, space above and below all, line of marks' labels, gap between panels.
PANEL, AROUND, LINE, GAP = 190, 60, 13, 30
#: Name of the axis by which charts zoom together.
TIME = "time"


def rows_to_show(curves: Sequence[Floats], most: int = MOST_ROWS) -> NDArray[np.int64]:
    """Return the rows to show: all, or the first, the last, and each curve's extremes in each of many equal spans.

    The result has at most ``most`` rows, but always the extremes of all curves in one span.
    """
    count = len(curves[0]) if curves else 0
    if count <= most:
        return np.arange(count)
    spans = max(1, (most - 2) // (2 * len(curves)))
    edges = np.linspace(0, count, spans + 1).astype(np.int64)
    kept = {0, count - 1}
    for curve in curves:
        for begin, end in pairwise(edges):
            kept.update((begin + int(np.argmin(curve[begin:end])), begin + int(np.argmax(curve[begin:end]))))
    return np.array(sorted(kept), dtype=np.int64)


def time_figure(time: Floats, panels: Sequence[Panel], marks: Sequence[Mark] = ()) -> "go.Figure":
    """Return an interactive figure of panels with the common time axis ``time`` (rows,) [s].

    A box shows the values at the pointer. ``marks`` are events with labels above the topmost panel.
    """
    places = [(mark.time - time[0]) / max(time[-1] - time[0], 1e-12) for mark in marks]
    lines = label_rows(places, [mark.label for mark in marks])
    top = AROUND // 2 + LINE * (max(lines, default=-1) + 1)
    inner = len(panels) * PANEL + (len(panels) - 1) * GAP
    height = inner + top + AROUND
    figure = theme.new_figure(
        height,
        hovermode="x unified",
        hoversubplots="axis",
        meta={"axis": TIME},
        margin={"t": top + 14, "b": AROUND - 14},
        xaxis={
            "title": {"text": "time [s]"},
            "anchor": f"y{len(panels)}" if len(panels) > 1 else "y",
            "range": [float(time[0]), float(time[-1])],
            "hoverformat": ".4f",
        },
    )
    rows = rows_to_show([np.nan_to_num(np.asarray(c.y, float)) for panel in panels for c in panel.curves])
    at = time[rows].astype(np.float32)
    labels = Counter(c.label for panel in panels for c in panel.curves)
    for k, panel in enumerate(panels):
        bottom = 1.0 - (k * (PANEL + GAP) + PANEL) / inner
        _add_panel(figure, k, distinct_lines(panel), (max(bottom, 0.0), bottom + PANEL / inner))
        for item in distinct_lines(panel).items:
            entry: dict[str, Any] = {}
            if isinstance(item, Spans):
                entry = {"name": item.label, "legend": f"legend{number_of(k)}"}
            if isinstance(item, Points):
                # The box at the pointer adds the panel's title if other panels have the same label.
                place = panel.title.rpartition(", ")[2]
                full = f"<extra>{item.label}, {place}</extra>" if labels[item.label] > 1 and place else ""
                entry = {
                    "name": item.label, "legend": f"legend{number_of(k)}", "showlegend": True,
                    "visible": "legendonly" if item.hidden else True, "hovertemplate": "%{y:.4g}" + full,
                }  # fmt: skip
                item = replace(item, x=at, y=np.asarray(item.y)[rows].astype(np.float32))
            add_item(item, Place(figure, number_of(k), panel, entry, "x"))
    _add_marks(figure, marks, lines)
    return figure


def _add_panel(figure: "go.Figure", k: int, panel: Panel, domain: tuple[float, float]) -> None:
    """Add the axis, the legend and the title of a panel."""
    shown = panel.vertical
    axis: dict[str, Any] = {"domain": domain, "anchor": "x", "title": {"text": shown.label}}
    if shown.low is not None:
        axis |= {"range": [shown.low, shown.high]}
    if shown.words:
        axis |= {"type": "category", "categoryarray": shown.words, "showgrid": False, "title": None}
        figure.update_layout(barmode="overlay", bargap=0.15, hovermode="closest", margin={"l": 130})
    if shown.log:
        axis |= {"type": "log"}
    legend = {"y": domain[1], "yanchor": "top", "x": 1.01, "xanchor": "left", "tracegroupgap": 0}
    figure.update_layout({f"yaxis{number_of(k)}": axis, f"legend{number_of(k)}": legend})
    figure.add_annotation(
        text=f"<b>{plain(panel.title)}</b>", xref="paper", x=0, xanchor="left", yref="paper", y=domain[1],
        yanchor="bottom", showarrow=False, font={"size": 13},
    )  # fmt: skip


def _add_marks(figure: "go.Figure", marks: Sequence[Mark], lines: Sequence[int]) -> None:
    for mark, line in zip(marks, lines, strict=True):
        stroke = {"color": theme.MARKED, "width": 1, "dash": "dot"}
        figure.add_shape(type="line", x0=mark.time, x1=mark.time, yref="paper", y0=0, y1=1, line=stroke, layer="below")
        if line >= 0:
            figure.add_annotation(
                text=mark.label, x=mark.time, xanchor="left", yref="paper", y=1, yanchor="bottom",
                yshift=16 + LINE * line, showarrow=False, font={"size": 10}, opacity=0.8,
            )  # fmt: skip
