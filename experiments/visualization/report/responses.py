"""Figures of any study: how the verdict and the metrics depend on what was varied."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from biped.runs.verdict import FAILED
from contact.arrays import Floats
from experiments.studies.counting import USUAL_LOSSES, success_text, withstood
from experiments.studies.sweep.groups import groups, proportion, successes_in, verdicts_in
from experiments.visualization.figures import style
from experiments.visualization.pages import Section
from experiments.visualization.report import theme
from experiments.visualization.report.drawing import Drawing, plain
from experiments.visualization.report.grid import COLUMNS, add_choice, grid_of_panels, panel, update_panel
from experiments.visualization.report.trials import Axis, Trials, is_grid

#: Points of one figure at most; of more trials, some are drawn.
MOST_POINTS = 40_000
#: Lines of parallel coordinates at most, and axes in them.
MOST_LINES, MOST_AXES = 1000, 8
#: Rows of panels at most, cells of a map along an axis, and values that medians are drawn of.
MOST_ROWS, MOST_CELLS, MOST_VALUES = 4, 60, 24


def response_sections(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...] = ()) -> list[Section]:
    """A section of the figures that there is something for, over these axes; none without any.

    ``counts`` are the verdicts that the study counts as losses, if it names them.
    """
    if not axes or (trials.frame["verdict"] == FAILED).all():
        return []
    charts = tuple(drawing.chart for drawing in _drawings(trials, axes[: COLUMNS * MOST_ROWS], counts))
    return [Section("responses", "What it depends on", blocks=charts)]


def _drawings(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...]) -> Iterator[Drawing]:
    surface = len(axes) == 2 and all(len(axis.points) <= MOST_CELLS for axis in axes) and is_grid(axes)
    yield _share_maps(trials, axes[0], axes[1], counts) if surface else _shares(trials, axes, counts)
    if trials.shown_metrics:
        yield _metric_maps(trials, *axes) if surface else _metrics(trials, axes)
    if len(axes) > 1:
        yield _parallel(trials, axes, counts)


def _shares(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...]) -> Drawing:
    figure = _panels(axes, "share")
    kinds = successes_in(trials.frame, counts)
    others = [verdict for verdict in verdicts_in(trials.frame) if verdict not in kinds]
    for k, axis in enumerate(axes):
        found = groups(trials.frame.assign(**{axis.name: axis.values}), axis.name)
        places = [group.value if axis.is_numeric else plain(group.value) for group in found]
        for kind, losses in kinds.items():
            shares = [proportion(group.trials["verdict"], losses) for group in found]
            value = np.array([s.value for s in shares])
            figure.add_scatter(
                x=places, y=value, **panel(k), mode="lines+markers" if axis.is_numeric else "markers",
                line={"color": style.SUCCESSES[kind]}, marker={"size": 7}, name=kind, legendgroup=kind,
                showlegend=k == 0,
                error_y={
                    "array": np.array([s.high for s in shares]) - value,
                    "arrayminus": value - np.array([s.low for s in shares]), "thickness": 1.2, "width": 3,
                },
                customdata=[[plain(g.label), f"{s.count} of {s.of}", s.interval]
                            for g, s in zip(found, shares, strict=True)],
                hovertemplate="%{customdata[0]}: %{customdata[1]}, %{customdata[2]}<extra></extra>",
            )  # fmt: skip
        for verdict in others:
            figure.add_scatter(
                x=places, y=[float((group.trials["verdict"] == verdict).mean()) for group in found], **panel(k),
                mode="lines+markers" if axis.is_numeric else "markers", marker={"size": 5},
                line={"color": theme.VERDICTS[verdict], "dash": "dot", "width": 1.2}, name=verdict,
                legendgroup=verdict, showlegend=k == 0, hovertemplate=f"%{{x}}: %{{y:.1%}} {verdict}<extra></extra>",
            )  # fmt: skip
        update_panel(figure, k, y={"range": [-0.03, 1.03], "tickformat": ".0%"})
    over = "" if len(axes) == 1 else ", over each of what was varied, whatever the others were"
    text = (
        f"Share of the trials that {success_text(counts)}{over}; bars: 95 % intervals of the probability "
        "(Wilson 1927). Dotted: how trials ended."
    )
    return Drawing("recovered", text, figure)


def _share_maps(trials: Trials, first: Axis, second: Axis, counts: tuple[str, ...]) -> Drawing:
    kinds, verdicts = successes_in(trials.frame, counts), trials.frame["verdict"]
    figure = theme.new_figure(500 if len(kinds) > 1 else 460, margin={"t": 70 if len(kinds) > 1 else 34})
    cells = [[verdicts[(first.values == x) & (second.values == y)] for x in first.points] for y in second.points]
    for k, losses in enumerate(kinds.values()):
        table = [[proportion(part, losses) if len(part) else None for part in row] for row in cells]
        text = [["" if s is None else f"{s.count} of {s.of}, {s.interval}" for s in row] for row in table]
        shares = np.array([[np.nan if s is None else s.value for s in row] for row in table])
        _add_map(
            figure, first, second, shares, "share", customdata=text, zmin=0.0, zmax=1.0, visible=k == 0,
            hovertemplate="%{x}, %{y}: %{customdata}<extra></extra>",
        )  # fmt: skip
    if len(kinds) > 1:
        add_choice(figure, list(kinds), 1, 0)
    return Drawing(
        "recovered",
        f"Share of the trials that {success_text(counts)}, with Wilson's 95 % interval (1927).",
        figure,
    )


def _metric_maps(trials: Trials, first: Axis, second: Axis) -> Drawing:
    figure = theme.new_figure(500, margin={"t": 70})
    for k, name in enumerate(trials.shown_metrics):
        medians = trials.frame[name].groupby([second.values, first.values]).median().unstack()
        table = medians.reindex(index=second.points, columns=first.points).to_numpy(dtype=float)
        _add_map(figure, first, second, table, "", visible=k == 0, hovertemplate="%{x}, %{y}: %{z:.5g}<extra></extra>")
    add_choice(figure, [trials.label(name) for name in trials.shown_metrics], 1, 0)
    text = "Median over the trials of each combination; empty where none of them has this number."
    return Drawing("metrics", text, figure)


def _add_map(figure: go.Figure, first: Axis, second: Axis, table: Floats, title: str, **options: Any) -> None:
    figure.add_heatmap(
        x=_category(first), y=_category(second), z=table, colorscale=theme.SCALE, xgap=1, ygap=1,
        colorbar={"title": {"text": title}, "outlinewidth": 0}, **options,
    )  # fmt: skip
    figure.update_layout(
        xaxis={"title": {"text": plain(first.label)}, "type": "category", "showgrid": False},
        yaxis={"title": {"text": plain(second.label)}, "type": "category", "showgrid": False, "automargin": True},
    )


def _category(axis: Axis) -> list[str]:
    """Cells of the same size, whatever the steps between values: numbers as words."""
    return [f"{point:.6g}" if axis.is_numeric else plain(point) for point in axis.points]


def _metrics(trials: Trials, axes: Sequence[Axis]) -> Drawing:
    """Each trial over each axis, for one metric at a time; a line through the medians where values repeat."""
    names = trials.shown_metrics
    frame = trials.frame[trials.frame["verdict"] != FAILED]
    most = max(50, MOST_POINTS // (len(names) * len(axes)))
    chosen = np.sort(np.random.default_rng(0).permutation(len(frame))[:most])
    figure = _panels(axes, "", top=70)
    verdicts = frame["verdict"].iloc[chosen]
    colors = [theme.VERDICTS.get(verdict, theme.NEUTRAL) for verdict in verdicts]
    for verdict in dict.fromkeys(verdicts):
        marker = {"color": theme.VERDICTS.get(verdict, theme.NEUTRAL), "size": 8}
        figure.add_scatter(x=[None], y=[None], mode="markers", name=plain(verdict), marker=marker)
    always = len(figure.data)
    medians = sum(_repeats(axis) for axis in axes)
    for place, name in enumerate(names):
        for k, axis in enumerate(axes):
            _add_trials(figure, k, axis, frame, name, chosen, colors, visible=place == 0)
            if _repeats(axis):
                _add_medians(figure, k, axis, frame, name, visible=place == 0)
    add_choice(figure, [trials.label(name) for name in names], len(axes) + medians, always)
    text = "Each trial; lines join the medians of trials with the same value." if medians else "Each trial."
    if len(chosen) < len(frame):
        all_of_them = "; medians are of all" if medians else ""
        text += f" {len(chosen)} of {len(frame)} trials are drawn, chosen at random{all_of_them}."
    return Drawing("metrics", text, figure)


def _repeats(axis: Axis) -> bool:
    return axis.is_numeric and len(axis.points) <= MOST_VALUES


def _add_trials(
    figure: go.Figure, k: int, axis: Axis, frame: pd.DataFrame, name: str, chosen: NDArray[Any], colors: list[str],
    *, visible: bool,
) -> None:  # fmt: skip
    at = axis.values.loc[frame.index].iloc[chosen]
    figure.add_scatter(
        x=at.to_numpy(dtype=np.float32) if axis.is_numeric else [plain(value) for value in at],
        y=frame[name].iloc[chosen].to_numpy(dtype=np.float32),
        customdata=frame["trial"].iloc[chosen].to_numpy(dtype=np.int32),
        **panel(k), mode="markers", marker={"color": colors, "size": 5, "opacity": 0.65}, showlegend=False,
        visible=visible, hovertemplate="trial %{customdata}: %{x}, %{y:.5g}<extra></extra>",
    )  # fmt: skip


def _add_medians(figure: go.Figure, k: int, axis: Axis, frame: pd.DataFrame, name: str, *, visible: bool) -> None:
    medians = frame[name].groupby(axis.values.loc[frame.index]).median()
    figure.add_scatter(
        x=medians.index.to_numpy(dtype=float), y=medians.to_numpy(dtype=float), **panel(k), mode="lines",
        line={"color": theme.NEUTRAL, "width": 2}, showlegend=False, visible=visible, hoverinfo="skip",
    )  # fmt: skip


def _parallel(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...]) -> Drawing:
    """Parallel coordinates: what was varied, the verdict, and some metrics."""
    frame = trials.frame[trials.frame["verdict"] != FAILED]
    chosen = np.sort(np.random.default_rng(0).permutation(len(frame))[:MOST_LINES])
    part = frame.iloc[chosen]
    dimensions = [_dimension(axis.label, axis.values.loc[part.index], axis) for axis in axes[:MOST_AXES]]
    losses = counts or USUAL_LOSSES
    good = np.array([float(bool(withstood(verdict, losses))) for verdict in part["verdict"]])
    whole = [name for name in trials.shown_metrics if part[name].notna().all()]
    dimensions += [_dimension(trials.label(name), part[name], None) for name in whole[:3]]
    verdicts = list(dict.fromkeys(part["verdict"]))
    codes = part["verdict"].map({verdict: k for k, verdict in enumerate(verdicts)})
    ticks = {"tickvals": list(range(len(verdicts))), "ticktext": [plain(verdict) for verdict in verdicts]}
    dimensions.append({"label": "verdict", "values": codes.to_numpy(dtype=np.int32), **ticks})
    figure = theme.new_figure(420, margin={"t": 60, "l": 90, "r": 90})
    scale = [[0.0, style.RED], [1.0, style.BLUE]] if good.min() < good.max() else [[0.0, style.BLUE], [1.0, style.BLUE]]
    figure.add_parcoords(
        dimensions=dimensions, line={"color": good, "colorscale": scale, "cmin": 0, "cmax": 1}, labelangle=-12,
        unselected={"line": {"color": theme.NEUTRAL, "opacity": 0.08}},
    )  # fmt: skip
    text = (
        f"Each line is a trial, blue if it {success_text(counts)}. Drag along an axis to pick trials; drag its "
        "name to move it."
    )
    if len(chosen) < len(frame):
        text += f" {len(chosen)} of {len(frame)} trials are drawn, chosen at random."
    return Drawing("parallel", text, figure)


def _dimension(label: str, values: "pd.Series[Any]", axis: Axis | None) -> dict[str, Any]:
    if axis is not None and not axis.is_numeric:
        places = {point: k for k, point in enumerate(axis.points)}
        ticks = {"tickvals": list(places.values()), "ticktext": [plain(point) for point in places]}
        return {"label": plain(label), "values": values.map(places).to_numpy(dtype=np.int32), **ticks}
    numbers = values.to_numpy(dtype=float)
    if axis is not None and axis.is_logarithmic:
        marks = axis.points if len(axis.points) <= 8 else np.geomspace(axis.points[0], axis.points[-1], 6)
        ticks = {"tickvals": np.log10(marks).tolist(), "ticktext": [f"{mark:.3g}" for mark in marks]}
        return {"label": plain(label), "values": np.log10(numbers), **ticks}
    return {"label": plain(label), "values": numbers}


def _panels(axes: Sequence[Axis], title: str, top: int = 34) -> go.Figure:
    labels, logarithmic = [axis.label for axis in axes], [axis.is_logarithmic for axis in axes]
    figure = grid_of_panels(labels, [title] * len(axes), logarithmic, top=top)
    for k, axis in enumerate(axes):
        if not axis.is_numeric:
            update_panel(figure, k, x={"type": "category"})
    return figure
