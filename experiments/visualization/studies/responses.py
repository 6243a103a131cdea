"""Figures of any study: verdicts and metrics over the varied parameters."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from biped.runs.verdict import FAILED
from experiments.studies.counting import USUAL_LOSSES, success_text, withstood
from experiments.studies.proportion import CONFIDENCE
from experiments.studies.sweep.groups import successes_in
from experiments.visualization.look import style, theme
from experiments.visualization.look.theme import plain
from experiments.visualization.pages import Chart, Section
from experiments.visualization.panels.with_plotly import COLUMNS
from experiments.visualization.studies.sweep_figure import metric_map, metric_panel, share_map, share_panel
from experiments.visualization.studies.trials import Axis, Trials, is_grid

#: Most points of a figure; if there are more trials, a random part is drawn.
MOST_POINTS = 40_000
#: Most lines of parallel coordinates, and most axes.
MOST_LINES, MOST_AXES = 1000, 8
#: Most rows of panels, and most cells of a map along an axis.
MOST_ROWS, MOST_CELLS = 4, 60


def response_sections(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...] = ()) -> list[Section]:
    """Return a section of figures over these axes; none without data.

    ``counts`` are the verdicts that the study counts as losses, if it specifies any.
    """
    if not axes or (trials.frame["verdict"] == FAILED).all():
        return []
    charts = tuple(_charts(trials, axes[: COLUMNS * MOST_ROWS], counts))
    return [Section("responses", "Dependence on the parameters", blocks=charts)]


def _charts(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...]) -> Iterator[Chart]:
    surface = len(axes) == 2 and all(len(axis.points) <= MOST_CELLS for axis in axes) and is_grid(axes)
    yield _share_maps(trials, axes[0], axes[1], counts) if surface else _shares(trials, axes, counts)
    if trials.shown_metrics:
        yield _metric_maps(trials, *axes) if surface else _metrics(trials, axes)
    if len(axes) > 1:
        yield _parallel(trials, axes, counts)


def _shares(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...]) -> Chart:
    over = "" if len(axes) == 1 else ", over each varied parameter, for all values of the others"
    text = (
        f"Proportion of the trials that {success_text(counts)}{over}; bars: 95 % intervals of the probability "
        "(Wilson 1927). Dashed: other verdicts."
    )
    return Chart([share_panel(trials.frame, axis, counts) for axis in axes], text, "recovered", COLUMNS)


def _share_maps(trials: Trials, first: Axis, second: Axis, counts: tuple[str, ...]) -> Chart:
    kinds = successes_in(trials.frame, counts)
    maps = {kind: [share_map(trials.frame, first, second, losses)] for kind, losses in kinds.items()}
    interval = "Wilson's 95 % interval (1927), and the most frequent loss, in the cells (if few) and under the pointer"
    text = f"Proportion of the trials that {success_text(counts)}, with {interval}."
    return Chart(maps, text, "recovered", pixels=500 if len(kinds) > 1 else 460)


def _metric_maps(trials: Trials, first: Axis, second: Axis) -> Chart:
    maps = {trials.label(name): [metric_map(trials.frame, first, second, name, "")] for name in trials.shown_metrics}
    text = "Median over the trials of each combination; empty if none has this metric."
    return Chart(maps, text, "metrics", pixels=500)


def _metrics(trials: Trials, axes: Sequence[Axis]) -> Chart:
    """Return each trial, medians, and means of replicas over one axis, for one metric at a time."""
    names = trials.shown_metrics
    frame, chosen = _chosen(trials, max(50, MOST_POINTS // (len(names) * len(axes))))
    means = len(axes) == 1 and "replica" in frame and frame["replica"].nunique() > 1
    panels = {
        label: [metric_panel(frame, axis, name, label, chosen, means=means) for axis in axes]
        for name, label in ((name, trials.label(name)) for name in names)
    }
    text = "Each trial, and medians; if a parameter has many values, medians of bins with equal numbers of trials."
    if means:
        text += f" Means of replicas with Student's {CONFIDENCE:.0%} intervals."
    if len(chosen) < len(frame):
        text += f" {len(chosen)} of {len(frame)} trials are drawn, chosen at random; medians are of all."
    return Chart(panels, text, "metrics", COLUMNS)


def _parallel(trials: Trials, axes: Sequence[Axis], counts: tuple[str, ...]) -> Chart:
    """Return parallel coordinates: varied parameters, some metrics, and the verdict."""
    frame, part = _chosen(trials, MOST_LINES)
    dimensions = [_dimension(axis.label, axis.values.loc[part.index], axis) for axis in axes[:MOST_AXES]]
    losses = counts or USUAL_LOSSES
    good = np.array([float(bool(withstood(verdict, losses))) for verdict in part["verdict"]])
    complete = [name for name in trials.shown_metrics if part[name].notna().all()]
    dimensions += [_dimension(trials.label(name), part[name], None) for name in complete[:3]]
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
    if len(part) < len(frame):
        text += f" {len(part)} of {len(frame)} trials are drawn, chosen at random."
    return Chart(figure, text, "parallel")


def _chosen(trials: Trials, most: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the trials without failures, and a random selection of at most ``most``."""
    frame = trials.frame[trials.frame["verdict"] != FAILED]
    return frame, frame.iloc[np.sort(np.random.default_rng(0).permutation(len(frame))[:most])]


def _dimension(label: str, values: "pd.Series[Any]", axis: Axis | None) -> dict[str, Any]:
    if axis is not None and not axis.is_numeric:
        places = {point: k for k, point in enumerate(axis.points)}
        ticks = {"tickvals": list(places.values()), "ticktext": [plain(point) for point in places]}
        return {"label": plain(label), "values": values.map(places).to_numpy(dtype=np.int32), **ticks}
    numbers = values.to_numpy(dtype=float)
    if axis is not None and axis.log:
        marks = axis.points if len(axis.points) <= 8 else np.geomspace(axis.points[0], axis.points[-1], 6)
        ticks = {"tickvals": np.log10(marks).tolist(), "ticktext": [f"{mark:.3g}" for mark in marks]}
        return {"label": plain(label), "values": np.log10(numbers), **ticks}
    return {"label": plain(label), "values": numbers}
