"""The figure sheet of a comparison: six panels in one PNG."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from experiments.benchmarks.comparison.results import EQUAL, SETTINGS, VENDOR, Results
from experiments.benchmarks.comparison.standing import FORCE
from experiments.visualization.comparison import panels
from experiments.visualization.comparison.panels import DASHED, DOTTED, SOLID, Line, Panel, Quantity, colors_of
from experiments.visualization.figures import style
from experiments.visualization.figures.style import STYLE

NOT_MEASURED = "not measured"
#: Of runs that have no row but their start.
NOTHING = "nothing to show"
_DASHES: dict[str, Any] = {SOLID: "-", DASHED: (0, (3.5, 1.8)), DOTTED: (0, (1, 1.4))}


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
        _draw(creep, results, panels.creep(results), f"Creep of the soles under {FORCE:g} N")
        if any(settings == VENDOR for settings, _ in results.drifts):
            lines = [Line2D([], [], color="#555555", ls=_DASHES[dash], lw=1.4) for dash in (SOLID, DOTTED)]
            creep.legend(lines, list(SETTINGS.values()), fontsize=7.5, loc="center right")
        gentle = panels.flights(results, reported=False)[:1]
        end = max((float(np.max(line.x)) for one in gentle for line in one.lines), default=0.0)
        title = f"Energy error in {end:g} s of free flight" if gentle else "Energy error in flight"
        _draw(flight, results, gentle, title)
        _draw(precision, results, panels.precision(results)[:1], "Error against cost, a second of flight")
        _draw_cost(cost, results)
        _add_legend(figure, results)
    return figure


def _add_legend(figure: Figure, results: Results) -> None:
    """The engines in one line below all; dashes for what they have for smooth motion."""
    colors = colors_of(results.backends)
    lines = []
    for one in results.everyone:
        dash = _DASHES[DASHED if panels.is_smooth(one.label, results) else SOLID]
        lines.append(Line2D([], [], color=colors[one.label], lw=2.0, linestyle=dash, label=one.title))
    figure.legend(handles=lines, loc="outside lower center", ncols=min(len(lines), 6), fontsize=9.0, handlelength=2.6)


def _draw(axes: Axes, results: Results, found: list[Panel], title: str, text: str = NOT_MEASURED) -> None:
    """All panels on the same axes; or, where there are none, a text."""
    axes.set_title(title)
    if not found:
        axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=style.GREY)
        axes.set_xticks([])
        axes.set_yticks([])
        return
    colors = colors_of(results.backends)
    for one in found:
        marker = {"marker": "o", "ms": 3.2, "lw": 1.4} if one.log_x else {"lw": 1.6}
        for line in one.lines:
            axes.plot(line.x, line.y, color=colors[line.label], ls=_DASHES[line.dash], **marker)
        axes.set(xlabel=one.x, ylabel=one.y, yscale="log" if one.log_y else "linear")
        if one.log_x:
            axes.set_xscale("log")
            axes.margins(0.06, 0.06)


def _draw_runs(axes: Axes, results: Results, title: str, quantity: Quantity | None) -> None:
    """A quantity of all runs at equal settings, thinner and thinner, so that those below are seen."""
    runs = panels.shown_runs(results, EQUAL)
    if quantity is None or not runs:
        return _draw(axes, results, [], title, NOT_MEASURED if quantity is None else NOTHING)
    name, unit, values = quantity
    time = panels.common_times(runs)
    lines = tuple(Line(label, time, panels.resampled(time, run, values(run))) for label, run in runs.items())
    _draw(axes, results, [Panel(title, "time [s]", f"{name.lower()} [{unit}]", lines, log_y=False)], title)
    for k, drawn in enumerate(axes.lines):
        drawn.set(linewidth=2.6 - 0.65 * min(k, 2), alpha=0.95, zorder=2 + k)
    axes.set_xlim(0.0, panels.until(results, float(time[-1])))
    for impact in next(iter(runs.values())).summary["events"]["impacts"][:1]:
        axes.axvline(impact["time"], color=style.GREY, lw=0.8, ls=_DASHES[DOTTED], zorder=1)
        axes.annotate("hit", (impact["time"], 1.0), xycoords=("data", "axes fraction"), xytext=(3, -9),
                      textcoords="offset points", fontsize=7.5, color="#666666")  # fmt: skip
    return None


def _draw_cost(axes: Axes, results: Results) -> None:
    title = "Time of a step of the experiment"
    if not results.costs:
        return _draw(axes, results, [], title)
    colors, titles = colors_of(results.backends), results.titles
    rows = results.costs[::-1]
    places = np.arange(len(rows))
    widths = np.array([1e6 * row.per_step for row in rows])
    axes.barh(places, widths, color=[colors[row.engine] for row in rows], height=0.55, alpha=0.9)
    low, high = (np.array([1e6 * row.between[k] for row in rows]) for k in (0, 1))
    ends = [widths - low, high - widths]
    axes.errorbar(widths, places, xerr=ends, fmt="none", ecolor="#444444", elinewidth=0.9, capsize=2.5)
    axes.set_xlim(0.0, 1.55 * float(high.max()))
    for place, row, end in zip(places, rows, high, strict=True):
        times = "" if row is results.costs[0] else f", {row.ratio:.3g} ×"
        axes.annotate(f"{1e6 * row.per_step:.3g} µs{times}", (end, place), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8.0)  # fmt: skip
    axes.set_yticks(places, [titles[row.engine] for row in rows])
    axes.grid(axis="y", visible=False)
    axes.set_title(title)
    axes.set_xlabel("time [µs]; of external engines, their steps replayed")
    return None
