"""The state of each contact point over time: a strip for each point, an entry in the legend for each state."""

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from contact import ContactState
from experiments.visualization.figures import style
from experiments.visualization.figures.labels import STATES, point_label
from experiments.visualization.figures.subject import Subject
from experiments.visualization.report import theme
from experiments.visualization.report.curves import TIME
from experiments.visualization.report.drawing import Drawing

#: Bars of one figure at most; of a run with more changes, only some rows are looked at.
MOST_BARS = 3000
_COLORS = (theme.FAINT, *style.MODES[1:5], theme.NEUTRAL)


def contact_states(subject: Subject) -> Drawing:
    """The figure; the model must have contact points."""
    time, names = subject.time, subject.model.contact_names
    modes = np.array([subject.column(f"contact_{name}_mode") for name in names], dtype=np.int64)
    stride = 1
    while sum(len(_changes(row[::stride])) for row in modes) > MOST_BARS:
        stride *= 2
    caption = "State of each contact point, as found at the end of the last step."
    if stride > 1:
        caption += f" Every {stride}th row is shown: there are too many changes to draw them all."
    return Drawing("contact-states", caption, _figure(time[::stride], modes[:, ::stride], names))


def _figure(time: NDArray[np.float64], modes: NDArray[np.int64], names: tuple[str, ...]) -> go.Figure:
    labels = [point_label(name) for name in names]
    figure = theme.new_figure(
        110 + 26 * len(names),
        barmode="overlay",
        bargap=0.15,
        meta={"axis": TIME},
        xaxis={"title": {"text": "time [s]"}, "range": [float(time[0]), float(time[-1])]},
        margin={"l": 130},
        yaxis={"categoryorder": "array", "categoryarray": labels, "autorange": "reversed", "showgrid": False},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    for state in ContactState:
        begins, ends, rows = _spans(time, modes, state.value)
        if len(rows):
            figure.add_bar(
                orientation="h",
                base=begins,
                x=ends - begins,
                y=[labels[row] for row in rows],
                name=STATES[state],
                marker={"color": _COLORS[state.value - 1], "line": {"width": 0}},
                customdata=ends,
                hovertemplate="%{y}: %{base:.4f} to %{customdata:.4f} s",
            )
    return figure


def _changes(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a new state begins; the first row too."""
    return np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))


def _spans(
    time: NDArray[np.float64], modes: NDArray[np.int64], state: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[int]]:
    """When each span of a state begins and ends, and the number of the point; a row holds until the next."""
    begins: list[float] = []
    ends: list[float] = []
    rows: list[int] = []
    for k, row in enumerate(modes):
        starts = _changes(row)
        stops = np.append(starts[1:], len(row) - 1)
        for start, stop in zip(starts, stops, strict=True):
            if row[start] == state and stop > start:
                begins.append(float(time[start]))
                ends.append(float(time[stop]))
                rows.append(k)
    return np.array(begins), np.array(ends), rows
