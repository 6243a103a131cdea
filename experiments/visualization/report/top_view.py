"""Top view: paths on the floor, soles, and a slider that moves the base of support and the points in it."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from contact.arrays import Floats
from experiments.visualization.figures.directions import Direction, ahead_of, direction_of
from experiments.visualization.figures.labels import name_in_text
from experiments.visualization.figures.subject import Subject
from experiments.visualization.figures.support import COLORS, Support
from experiments.visualization.look import style, theme
from experiments.visualization.pages import Chart
from experiments.visualization.report.curves import rows_to_show

#: Number of slider positions.
MOMENTS = 60
_CAPTION = (
    "Top view{moving}: {who} faces up. Paths of the centre of mass (CoM), the extrapolated centre of mass (XCoM; Hof, "
    "Gazendam, Sinke 2005) and the centre of pressure (CoP), and the soles at the start. The slider selects the time "
    "of the base of support (the hull of the points in contact) and of the marked points."
)
#: Addition to the caption for a moving floor.
MOVING = ", relative to the moving floor"


def top_view(subject: Subject) -> Chart:
    """Return the top view of a floating model with contact points."""
    support = Support(subject, carried=True)
    called = name_in_text(subject.model)
    ahead = ahead_of(subject.model)
    aside = 1 - ahead
    shown = [direction_of(subject.model, axis, from_above=True) for axis in range(2)]
    names, signs = [direction.name for direction in shown], np.array([direction.sign for direction in shown])
    figure = theme.new_figure(
        590,
        xaxis={"title": {"text": f"{names[aside]} [m]"}, "autorange": _order(shown[aside])},
        yaxis={
            "title": {"text": f"{names[ahead]} [m], {called} faces up"},
            "scaleanchor": "x",
            "autorange": _order(shown[ahead]),
        },
        legend={"x": 1.01, "y": 1},
    )
    paths = {label: signs * path[:, :2] for label, path in support.paths.items()}
    soles = {label: signs * ring[:, :2] for label, ring in support.soles.items()}
    for k, (label, ring) in enumerate(soles.items()):
        figure.add_scatter(
            x=ring[:, aside], y=ring[:, ahead], name=f"{label} at the start" if k < 2 else label, mode="lines",
            line={"color": theme.MARKED, "width": 1}, hoverinfo="skip",
        )  # fmt: skip
    for label, path in reversed(paths.items()):  # later traces are on top
        _add_path(figure, subject.time, path, ahead, label, names)
    first = len(figure.data)
    rows = np.unique(np.linspace(0, len(subject.time) - 1, MOMENTS).astype(np.int64))
    moments = [_moment(signs * support.base(row), {n: p[row] for n, p in paths.items()}, ahead, names) for row in rows]
    figure.add_traces(moments[-1])
    numbers = list(range(first, len(figure.data)))
    times = [f"{subject.time[row]:.3f}" for row in rows]
    figure.frames = [
        go.Frame(name=time, data=traces, traces=numbers) for time, traces in zip(times, moments, strict=True)
    ]
    figure.update_layout(sliders=[_slider(times)])
    return Chart(figure, _CAPTION.format(who=called, moving=MOVING if subject.has("platform_x") else ""), "top-view")


def _order(shown: Direction) -> bool | str:
    """Return Plotly's ``autorange`` of an axis: "reversed" if numbers decrease upwards, or to the right."""
    return True if shown.grows else "reversed"


def _place(ahead: int, names: Sequence[str]) -> str:
    """Return Plotly's template for the coordinates at the pointer."""
    parts = {ahead: "%{y:.4f}", 1 - ahead: "%{x:.4f}"}
    return f"{names[0]} = {parts[0]}, {names[1]} = {parts[1]} m"


def _add_path(figure: go.Figure, time: Floats, path: Floats, ahead: int, label: str, names: Sequence[str]) -> None:
    """Add a line with gaps where the position is unknown."""
    rows = rows_to_show(list(np.nan_to_num(path).T))
    figure.add_scatter(
        x=path[rows, 1 - ahead].astype(np.float32), y=path[rows, ahead].astype(np.float32),
        customdata=time[rows].astype(np.float32), name=label, mode="lines", line={"color": COLORS[label], "width": 1.6},
        hovertemplate=f"%{{customdata:.3f}} s: {_place(ahead, names)}",
    )  # fmt: skip


def _moment(ring: Floats, points: dict[str, Floats], ahead: int, names: Sequence[str]) -> list[go.Scatter]:
    polygon = go.Scatter(
        x=ring[:, 1 - ahead], y=ring[:, ahead], name="base of support", mode="lines", fill="toself",
        line={"color": style.GREEN, "width": 1.5}, fillcolor="rgba(0,158,115,0.15)", hoverinfo="skip",
    )  # fmt: skip
    markers = [
        go.Scatter(
            x=[place[1 - ahead]], y=[place[ahead]], name=f"{label} then", mode="markers", showlegend=False,
            marker={"color": COLORS[label], "size": 10, "line": {"color": "white", "width": 1}},
            hovertemplate=f"{label}: {_place(ahead, names)}<extra></extra>",
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
        "pad": {"t": 62},  # space for its text below the label of the axis
        "ticklen": 0,
        "minorticklen": 0,
    }
