"""The view from above: paths on the floor, soles, and a slider that moves the support polygon and the points on it."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from contact.arrays import Floats
from experiments.visualization.figures import style
from experiments.visualization.figures.labels import who
from experiments.visualization.figures.subject import Subject
from experiments.visualization.figures.support import COLORS, Support, ahead_of
from experiments.visualization.report import theme
from experiments.visualization.report.curves import rows_to_show
from experiments.visualization.report.drawing import Drawing

XY = ("x", "y")
#: Positions of the slider.
MOMENTS = 60
_CAPTION = (
    "From above{moving}: {who} faces up. Paths of the centre of mass, of the extrapolated centre of mass (Hof, "
    "Gazendam, Sinke 2005) and of the centre of pressure, and the soles at the start. The slider moves the hull of the "
    "points in contact, and the points that belong to it."
)
#: How the caption goes on where the floor moves.
MOVING = ", in axes that the floor carries along"


def top_view(subject: Subject) -> Drawing:
    """The figure; the model must float and have contact points."""
    support = Support(subject, carried=True)
    paths = support.paths
    called = who(subject.model)
    ahead = ahead_of(subject.model)
    aside = 1 - ahead
    figure = theme.new_figure(
        590,
        xaxis={"title": {"text": f"{XY[aside]} [m]"}, "autorange": _order(-subject.model.left[aside])},
        yaxis={
            "title": {"text": f"{XY[ahead]} [m], {called} faces up"},
            "scaleanchor": "x",
            "autorange": _order(subject.model.facing[ahead]),
        },
        legend={"x": 1.01, "y": 1},
    )
    for k, (label, ring) in enumerate(support.soles.items()):
        figure.add_scatter(
            x=ring[:, aside], y=ring[:, ahead], name=f"{label} at the start" if k < 2 else label, mode="lines",
            line={"color": theme.MARKED, "width": 1}, hoverinfo="skip",
        )  # fmt: skip
    for label, path in reversed(paths.items()):  # the last is on top
        _add_path(figure, subject.time, path, ahead, label, COLORS[label])
    first = len(figure.data)
    rows = np.unique(np.linspace(0, len(subject.time) - 1, MOMENTS).astype(np.int64))
    moments = [_moment(support.base(row), {n: p[row] for n, p in paths.items()}, ahead) for row in rows]
    figure.add_traces(moments[-1])
    numbers = list(range(first, len(figure.data)))
    times = [f"{subject.time[row]:.3f}" for row in rows]
    figure.frames = [
        go.Frame(name=time, data=traces, traces=numbers) for time, traces in zip(times, moments, strict=True)
    ]
    figure.update_layout(sliders=[_slider(times)])
    return Drawing("top-view", _CAPTION.format(who=called, moving=MOVING if subject.has("platform_x") else ""), figure)


def _order(upwards: float) -> bool | str:
    """Plotly's word for an axis whose numbers grow upwards, or to the right, or the other way."""
    return True if upwards > 0.0 else "reversed"


def _place(ahead: int) -> str:
    """Plotly's template of the coordinates of a point under the mouse."""
    parts = {ahead: "%{y:.4f}", 1 - ahead: "%{x:.4f}"}
    return f"x = {parts[0]}, y = {parts[1]} m"


def _add_path(figure: go.Figure, time: Floats, path: Floats, ahead: int, label: str, color: str) -> None:
    """A line with a gap wherever the place is not known."""
    rows = rows_to_show(list(np.nan_to_num(path).T))
    figure.add_scatter(
        x=path[rows, 1 - ahead].astype(np.float32), y=path[rows, ahead].astype(np.float32),
        customdata=time[rows].astype(np.float32), name=label, mode="lines", line={"color": color, "width": 1.6},
        hovertemplate=f"%{{customdata:.3f}} s: {_place(ahead)}",
    )  # fmt: skip


def _moment(ring: Floats, points: dict[str, Floats], ahead: int) -> list[go.Scatter]:
    polygon = go.Scatter(
        x=ring[:, 1 - ahead], y=ring[:, ahead], name="points in contact", mode="lines", fill="toself",
        line={"color": style.GREEN, "width": 1.5}, fillcolor="rgba(0,158,115,0.15)", hoverinfo="skip",
    )  # fmt: skip
    markers = [
        go.Scatter(
            x=[place[1 - ahead]], y=[place[ahead]], name=f"{label} then", mode="markers", showlegend=False,
            marker={"color": COLORS[label], "size": 10, "line": {"color": "white", "width": 1}},
            hovertemplate=f"{label}: {_place(ahead)}<extra></extra>",
        )
        for label, place in points.items()
    ]  # fmt: skip
    return [polygon, *markers]


def _slider(names: Sequence[str]) -> dict[str, object]:
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    steps = [{"label": name, "method": "animate", "args": [[name], at_once]} for name in names]
    return {
        "active": len(steps) - 1,
        "steps": steps,
        "currentvalue": {"prefix": "time [s]: "},
        "pad": {"t": 62},  # so that its text stands below the label of the axis
        "ticklen": 0,
        "minorticklen": 0,
    }
