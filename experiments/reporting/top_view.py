"""The view from above: paths on the floor, soles, and a slider that moves the support polygon and the points on it."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from contact import ContactState
from experiments.figures import style
from experiments.figures.labels import contact_groups
from experiments.figures.subject import Subject
from experiments.reporting import theme
from experiments.reporting.curves import rows_to_show
from experiments.reporting.drawing import Drawing

#: Positions of the slider.
MOMENTS = 60
_CAPTION = (
    "From above: the human faces −x, which is up. Paths on the floor of the centre of mass and of the centre of "
    "pressure (where the floor bears anything), and the soles at the start. The slider moves the support polygon, the "
    "convex hull of the points in contact, and the points that belong to it."
)
Floats = NDArray[np.float64]


def top_view(subject: Subject) -> Drawing:
    """The figure; the model must float and have contact points."""
    places, forces, touching = _contacts(subject)
    paths = {"centre of mass": _column_pair(subject, "com"), "centre of pressure": _centre_of_pressure(places, forces)}
    colors = dict(zip(paths, (style.BLUE, style.ORANGE), strict=True))
    figure = theme.new_figure(
        560,
        xaxis={"title": {"text": "y [m]"}},
        yaxis={"title": {"text": "x [m], the human faces up"}, "scaleanchor": "x", "autorange": "reversed"},
        legend={"x": 1.01, "y": 1},
    )
    for k, (label, points) in enumerate(contact_groups(subject.model)):
        mine = [subject.model.contact_names.index(point) for point in points]
        _add_outline(figure, places[0, mine], f"{label} at the start" if k < 2 else label)
    for label, path in paths.items():
        _add_path(figure, subject.time, path, label, colors[label])
    first = len(figure.data)
    rows = np.unique(np.linspace(0, len(subject.time) - 1, MOMENTS).astype(np.int64))
    moments = [_moment(places[row], touching[row], {n: p[row] for n, p in paths.items()}, colors) for row in rows]
    figure.add_traces(moments[-1])
    numbers = list(range(first, len(figure.data)))
    names = [f"{subject.time[row]:.3f}" for row in rows]
    figure.frames = [
        go.Frame(name=name, data=traces, traces=numbers) for name, traces in zip(names, moments, strict=True)
    ]
    figure.update_layout(sliders=[_slider(names)])
    return Drawing("top-view", _CAPTION, figure)


def _contacts(subject: Subject) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """(rows, points, 2) [m] where the points are, (rows, points) [N] normal forces, and whether they touch."""
    names = subject.model.contact_names
    places = np.stack([_column_pair(subject, f"contact_{name}") for name in names], axis=1)
    forces = np.stack([subject.column(f"contact_{name}_fz") for name in names], axis=1)
    modes = np.stack([subject.column(f"contact_{name}_mode") for name in names], axis=1)
    return places, forces, modes != ContactState.NONE.value


def _column_pair(subject: Subject, name: str) -> Floats:
    return np.stack([subject.column(f"{name}_x"), subject.column(f"{name}_y")], axis=1)


def _centre_of_pressure(places: Floats, forces: Floats) -> Floats:
    """(rows, 2) [m] of a flat floor; NaN where it bears nothing."""
    total = forces.sum(axis=1)
    bears = total > 0.0
    centre = np.full((len(forces), 2), np.nan)
    centre[bears] = np.einsum("rp,rpk->rk", forces[bears], places[bears]) / total[bears, None]
    return centre


def _add_outline(figure: go.Figure, points: Floats, label: str) -> None:
    ring = hull(points)
    figure.add_scatter(
        x=ring[:, 1], y=ring[:, 0], name=label, mode="lines", line={"color": theme.MARKED, "width": 1},
        hoverinfo="skip",
    )  # fmt: skip


def _add_path(figure: go.Figure, time: Floats, path: Floats, label: str, color: str) -> None:
    """A line with a gap wherever the place is not known."""
    rows = rows_to_show(list(np.nan_to_num(path).T))
    figure.add_scatter(
        x=path[rows, 1].astype(np.float32), y=path[rows, 0].astype(np.float32),
        customdata=time[rows].astype(np.float32), name=label, mode="lines", line={"color": color, "width": 1.6},
        hovertemplate="%{customdata:.3f} s: x = %{y:.4f}, y = %{x:.4f} m",
    )  # fmt: skip


def _moment(
    places: Floats, touching: NDArray[np.bool_], points: dict[str, Floats], colors: dict[str, str]
) -> list[go.Scatter]:
    """The traces that the slider moves."""
    ring = hull(places[touching])
    polygon = go.Scatter(
        x=ring[:, 1], y=ring[:, 0], name="support polygon", mode="lines", fill="toself",
        line={"color": style.GREEN, "width": 1.5}, fillcolor="rgba(0,158,115,0.15)", hoverinfo="skip",
    )  # fmt: skip
    markers = [
        go.Scatter(
            x=[place[1]], y=[place[0]], name=f"{label} then", mode="markers", showlegend=False,
            marker={"color": colors[label], "size": 10, "line": {"color": "white", "width": 1}},
            hovertemplate=f"{label}: x = %{{y:.4f}}, y = %{{x:.4f}} m<extra></extra>",
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
        "pad": {"t": 40},
        "ticklen": 0,
        "minorticklen": 0,
    }


def hull(points: Floats) -> Floats:
    """The convex hull of points in the plane as a closed ring, by Andrew's monotone chain; empty without points."""
    rest = sorted({(float(x), float(y)) for x, y in points})
    if len(rest) < 3:
        return np.array([*rest, *rest[:1]], dtype=float).reshape(-1, 2)
    ring = [*_half(rest), *_half(rest[::-1])]
    return np.array([*ring, ring[0]])


def _half(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    found: list[tuple[float, float]] = []
    for x, y in points:
        while len(found) > 1:
            (ax, ay), (bx, by) = found[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0.0:
                break
            found.pop()
        found.append((x, y))
    return found[:-1]
