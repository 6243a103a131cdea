"""The figure sheet of a comparison: six panels in one PNG."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.benchmarks.comparison.results import EQUAL, SETTINGS, VENDOR, Results
from experiments.benchmarks.comparison.standing import FORCE
from experiments.visualization.comparison import panels
from experiments.visualization.comparison.panels import Quantity, colors_of
from experiments.visualization.figures import style
from experiments.visualization.figures.style import STYLE
from experiments.visualization.panels.panel import Panel, Rule
from experiments.visualization.panels.with_matplotlib import DASHES, draw

NOT_MEASURED = "not measured"
#: Written where runs have no row but their start.
NOTHING = "nothing to show"


def draw_figure_sheet(results: Results) -> Figure:
    """Pose, floor force, creep, energy in flight, work and precision, cost."""
    with matplotlib.rc_context(STYLE | {"axes.titlesize": 9.5, "axes.titlepad": 7.0}):
        figure = Figure(figsize=(11.4, 6.7))
        figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.05, hspace=0.05)  # type: ignore[union-attr, call-arg]
        pose, force, creep, flight, precision, cost = figure.subplots(2, 3).flat
        first = next((made.run for made in results.runs[EQUAL].values()), None)
        turn = None if first is None else panels.pose(first)[-1]  # the height, where it has no set point
        vertical = None if first is None else next(iter(panels.forces(first)), None)
        _draw_runs(pose, results, f"Pose of the {results.root}, equal settings", turn)
        _draw_runs(force, results, "Vertical force of the floor, equal settings", vertical)
        _draw(creep, panels.creep(results), f"Creep of the soles under {FORCE:g} N")
        if any(settings == VENDOR for settings, _ in results.drifts):
            lines = [Line2D([], [], color="#555555", ls=DASHES[dash], lw=1.4) for dash in ("solid", "dot")]
            creep.legend(lines, list(SETTINGS.values()), fontsize=7.5, loc="center right")
        gentle = panels.flights(results, reported=False)[:1]
        end = max((float(np.max(line.get_xdata())) for line in _draw(flight, gentle)), default=0.0)
        flight.set_title(f"Energy error in {end:g} s of free flight" if gentle else "Energy error in flight")
        _draw(precision, panels.precision(results)[:1], "Error against cost, a second of flight")
        _draw(cost, [panels.costs_panel(results)] if results.costs else [], "Time of a step of the experiment")
        _add_legend(figure, results)
    return figure


def _add_legend(figure: Figure, results: Results) -> None:
    """The engines in one line below all; dashes for what they have for smooth motion."""
    colors = colors_of(results.backends)
    lines = []
    for one in results.everyone:
        dash = DASHES["dash" if panels.is_smooth(one.label, results) else "solid"]
        lines.append(Line2D([], [], color=colors[one.label], lw=2.0, linestyle=dash, label=one.title))
    figure.legend(handles=lines, loc="outside lower center", ncols=min(len(lines), 6), fontsize=9.0, handlelength=2.6)


def _draw(axes: Axes, found: list[Panel], title: str = "", text: str = NOT_MEASURED) -> list[Line2D]:
    """All panels on the same axes, or a text where there are none; the lines."""
    for panel in found:
        draw(axes, panel)
    axes.set_title(title)
    if not found:
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=style.GREY)
        axes.set_xticks([])
        axes.set_yticks([])
    return list(axes.lines)


def _draw_runs(axes: Axes, results: Results, title: str, quantity: Quantity | None) -> None:
    if quantity is None or not panels.shown_runs(results, EQUAL):
        _draw(axes, [], title, NOT_MEASURED if quantity is None else NOTHING)
        return
    panel = panels.runs_panel(results, EQUAL, quantity)
    _draw(axes, [panel], title)
    for mark in (item for item in panel.items if isinstance(item, Rule)):
        axes.annotate("hit", (mark.value, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -9),
                      textcoords="offset points", fontsize=7.5, color="#666666")  # fmt: skip
