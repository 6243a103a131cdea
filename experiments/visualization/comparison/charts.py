"""The interactive figures of a comparison."""

from collections.abc import Iterator, Sequence

from experiments.benchmarks.comparison.results import EQUAL, VENDOR, Results
from experiments.visualization.comparison import panels
from experiments.visualization.comparison.panels import Quantity, colors_of
from experiments.visualization.figures.quantities import Curve
from experiments.visualization.figures.quantities import Panel as TimePanel
from experiments.visualization.figures.subject import subject_of
from experiments.visualization.panels.panel import Panel
from experiments.visualization.panels.with_plotly import figure_of
from experiments.visualization.report.curves import time_figure
from experiments.visualization.report.drawing import Drawing

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
        "stance": _grid("creep", _CREEP, panels.creep(results)),
        "flight": _grid("flight-energy", _FLIGHT, panels.flights(results, reported=True)),
        "step-refinement": _grid("step-refinement", _REFINEMENT, panels.refinements(results)),
        "cost": _cost(results),
        "precision": _grid("precision", _PRECISION, panels.precision(results)),
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


def _grid(name: str, text: str, found: Sequence[Panel]) -> list[Drawing]:
    """Two panels in a row; a line has one entry in the legend, and one click hides it in all panels."""
    return [Drawing(name, text, figure_of(found, columns=2))] if found else []


def _cost(results: Results) -> list[Drawing]:
    if not results.costs:
        return []
    text = "Time of a step: median and its interval; and how many times the first engine's."
    return [Drawing("cost", text, figure_of(panels.costs_panel(results), height=120 + 42 * len(results.costs)))]
