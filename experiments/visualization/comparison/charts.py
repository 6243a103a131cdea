"""The interactive figures of a comparison."""

from collections.abc import Iterator, Sequence

import plotly.graph_objects as go

from experiments.benchmarks.comparison.results import EQUAL, VENDOR, Results
from experiments.visualization.comparison import panels
from experiments.visualization.comparison.panels import Panel, Quantity, colors_of
from experiments.visualization.figures.quantities import Curve
from experiments.visualization.figures.quantities import Panel as TimePanel
from experiments.visualization.figures.subject import subject_of
from experiments.visualization.report import theme
from experiments.visualization.report.curves import time_figure
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.report.grid import grid_of_panels, panel, update_panel

_CREEP = "How far the farthest point of the soles has moved sideways, under a force that does not change."
_FLIGHT = (
    "The greatest relative error of the energy so far. Full: in equal settings; dashed: what an engine has for smooth "
    "motion; dotted: from velocities as they are reported, half a step late."
)
_REFINEMENT = "Distance of the root from where it is at the engine's own finest step; runs that fell are not shown."
_PRECISION = "Error of a second of free flight against what it costs, and against the step; dashed: for smooth motion."


def drawings(results: Results) -> dict[str, list[Drawing]]:
    """All figures that there is something for, by the section of the page that they go into."""
    return {
        EQUAL: list(_runs(results, EQUAL)),
        VENDOR: list(_runs(results, VENDOR)),
        "stance": _grid(results, "creep", _CREEP, panels.creep(results)),
        "flight": _grid(results, "flight-energy", _FLIGHT, panels.flights(results, reported=True)),
        "step-refinement": _grid(results, "step-refinement", _REFINEMENT, panels.refinements(results)),
        "cost": list(_cost(results)),
        "precision": _grid(results, "precision", _PRECISION, panels.precision(results)),
    }


def _runs(results: Results, settings: str) -> Iterator[Drawing]:
    runs = panels.shown_runs(results, settings)
    if not runs:
        return
    time, titles, colors = panels.common_times(runs), results.titles, colors_of(results.backends)
    first = next(iter(runs.values()))
    marks = subject_of(first).marks

    def time_panel(quantity: Quantity) -> TimePanel:
        title, unit, values = quantity
        shown = {label: panels.resampled(time, run, values(run)) for label, run in runs.items()}
        return TimePanel(title, unit, tuple(Curve(titles[label], y, colors[label]) for label, y in shown.items()))

    for name, text, quantities in (
        ("pose", "Where the root's centre of mass is, and how far it is turned.", panels.pose(first)),
        ("torques", "What the controller asks of the joints.", panels.torques(first)),
        ("forces", "The floor's force on all contact points together.", panels.forces(first)),
    ):
        if quantities:
            figure = time_figure(time, [time_panel(quantity) for quantity in quantities], marks)
            yield Drawing(f"{settings}-{name}", text, figure)


def _grid(results: Results, name: str, text: str, found: Sequence[Panel]) -> list[Drawing]:
    """Two panels in a row; a line has one entry in the legend, and one click hides it in all panels."""
    if not found:
        return []
    figure = grid_of_panels([one.x for one in found], [one.y for one in found], [one.log_x for one in found], columns=2)
    shown: set[str] = set()
    for k, one in enumerate(found):
        x = {"tickvals": one.ticks, "ticktext": [f"{tick:g}" for tick in one.ticks]} if one.ticks else None
        update_panel(figure, k, x=x, y={"type": "log"} if one.log_y else None)
        _add_lines(figure, results, k, one, shown)
        if one.title:
            figure.add_annotation(
                text=f"<b>{one.title}</b>", xref=f"{panel(k)['xaxis']} domain", x=0, xanchor="left",
                yref=f"{panel(k)['yaxis']} domain", y=1, yanchor="bottom", showarrow=False,
            )  # fmt: skip
    return [Drawing(name, text, figure)]


def _add_lines(figure: go.Figure, results: Results, k: int, one: Panel, shown: set[str]) -> None:
    titles, colors = results.titles, colors_of(results.backends)
    for line in one.lines:
        name = titles[line.label] + line.suffix
        figure.add_scatter(
            x=line.x, y=line.y, name=name, legendgroup=name, showlegend=name not in shown,
            mode="lines+markers" if one.log_x else "lines",
            line={"color": colors[line.label], "dash": line.dash, "width": 1.6}, **panel(k),
        )  # fmt: skip
        shown.add(name)


def _cost(results: Results) -> Iterator[Drawing]:
    if not results.costs:
        return
    titles, colors = results.titles, colors_of(results.backends)
    figure = theme.new_figure(120 + 42 * len(results.costs), margin={"l": 170})
    rows = results.costs[::-1]
    names = [titles[row.engine] for row in rows]
    ends = {
        "array": [1e6 * (row.between[1] - row.per_step) for row in rows],
        "arrayminus": [1e6 * (row.per_step - row.between[0]) for row in rows],
    }
    figure.add_bar(
        x=[1e6 * row.per_step for row in rows], y=names, orientation="h", showlegend=False,
        marker={"color": [colors[row.engine] for row in rows]}, error_x={"type": "data", "symmetric": False, **ends},
    )  # fmt: skip
    figure.add_scatter(
        x=[1e6 * row.between[1] for row in rows], y=names, mode="text", showlegend=False, cliponaxis=False,
        text=[f"  {1e6 * row.per_step:.3g} µs, × {row.ratio:.3g}" for row in rows], textposition="middle right",
        hoverinfo="skip",
    )  # fmt: skip
    figure.update_layout(xaxis={"title": {"text": "time of a step [µs]"}, "rangemode": "tozero"})
    yield Drawing("cost", "Time of a step: median and its interval; and how many times the first engine's.", figure)
