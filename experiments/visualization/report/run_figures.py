"""The interactive figures of a run, the states of its contact points, and a view from above."""

from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from biped.runs.run import Run
from contact import ContactState
from experiments.visualization.figures import style
from experiments.visualization.figures.labels import STATES, point_label
from experiments.visualization.figures.quantities import floats
from experiments.visualization.figures.sheets import sheets_of
from experiments.visualization.figures.subject import Subject, subject_of
from experiments.visualization.pages import Chart
from experiments.visualization.report import theme
from experiments.visualization.report.curves import TIME, time_figure
from experiments.visualization.report.top_view import top_view


def run_figures(run: Run) -> dict[str, go.Figure]:
    """All figures of a run by name, as on its page; those that a model has nothing for are left out."""
    return {chart.name: chart.figure for chart in run_charts(run)}


def run_charts(run: Run) -> list[Chart]:
    """Return all figures of a run for its page; none of a run with fewer than two rows."""
    if len(run.frame) < 2:
        return []
    subject, time = subject_of(run, run.set_point), run.frame["time"].to_numpy()
    found = []
    for sheet in sheets_of(run):
        if sheet.caption and sheet.applies(subject):
            content: Any = sheet.content(subject)
            found.append(Chart(time_figure(time, content, subject.marks), sheet.caption, sheet.kind))
    if run.world is None and subject.model.nc and floats(subject):
        found += [top_view(subject), contact_states(subject)]
    return found


#: Bars of one figure at most; of a run with more changes, only some rows are looked at.
MOST_BARS = 3000
_COLORS = (theme.FAINT, *style.MODES[1:5], theme.NEUTRAL)


def contact_states(subject: Subject) -> Chart:
    """The figure; the model must have contact points."""
    names = subject.model.contact_names
    modes = np.array([subject.column(f"contact_{name}_mode") for name in names], dtype=np.int64)
    stride = 1
    while sum(len(_changes(row[::stride])) for row in modes) > MOST_BARS:
        stride *= 2
    caption = "State of each contact point, as found at the end of the last step."
    if stride > 1:
        caption += f" Every {stride}th row is shown: there are too many changes to draw them all."
    labels = [point_label(name) for name in names]
    time, modes = subject.time[::stride], modes[:, ::stride]
    figure = theme.new_figure(
        110 + 26 * len(labels),
        barmode="overlay",
        bargap=0.15,
        meta={"axis": TIME},
        xaxis={"title": {"text": "time [s]"}, "range": [float(time[0]), float(time[-1])]},
        margin={"l": 130},
        yaxis={"categoryorder": "array", "categoryarray": labels, "autorange": "reversed", "showgrid": False},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    spans = [  # a row holds until the next one
        (row[begin], label, float(time[begin]), float(time[end]))
        for label, row in zip(labels, modes, strict=True)
        for begin, end in pairwise([*_changes(row), len(row) - 1])
        if end > begin
    ]
    for state in ContactState:
        mine = [(label, begin, end) for mode, label, begin, end in spans if mode == state.value]
        if mine:
            rows, begins, ends = zip(*mine, strict=True)
            figure.add_bar(
                orientation="h",
                base=begins,
                x=np.subtract(ends, begins),
                y=rows,
                name=STATES[state],
                marker={"color": _COLORS[state.value - 1], "line": {"width": 0}},
                customdata=ends,
                hovertemplate="%{y}: %{base:.4f} to %{customdata:.4f} s",
            )
    return Chart(figure, caption, "contact-states")


def _changes(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a new state begins; the first row too."""
    return np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))
