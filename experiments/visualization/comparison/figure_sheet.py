"""The picture of a comparison: six panels in one PNG."""

from collections.abc import Callable
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biped.runs.run import Run
from contact.arrays import Floats
from experiments.benchmarks.comparison.results import Results
from experiments.benchmarks.comparison.standing import EQUAL, FORCE, NATURAL
from experiments.visualization.comparison import series
from experiments.visualization.comparison.palette import colors_of, is_smooth
from experiments.visualization.figures import style
from experiments.visualization.figures.style import STYLE

#: Which flight is shown.
SHOWN = "gentle"
#: Creep [m] and errors outside of these are drawn at them.
LEAST_CREEP, LEAST_ERROR, MOST_ERROR = 1e-9, 1e-13, 1e1
#: Of runs that have no row but their start.
NOTHING = "nothing to show"
_DASH, _DOTS = (0, (3.5, 1.8)), (0, (1, 1.4))


def draw_plate(results: Results) -> Figure:
    """Pose, ground force, creep, energy in flight, work and precision, cost."""
    with matplotlib.rc_context(STYLE | {"axes.titlesize": 9.5, "axes.titlepad": 7.0}):
        figure = Figure(figsize=(11.4, 6.7))
        figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06, wspace=0.05, hspace=0.05)  # type: ignore[union-attr, call-arg]
        cells = figure.subplots(2, 3)
        draws: tuple[Callable[[Axes, Results], None], ...] = (_pose, _force, _creep, _flight, _precision, _cost)
        for axes, draw in zip(cells.flat, draws, strict=True):
            draw(axes, results)
        _add_legend(figure, results)
    return figure


def _add_legend(figure: Figure, results: Results) -> None:
    """The engines in one line below all; dashes for what they have for smooth motion."""
    colors, titles = colors_of(results.contestants), results.titles
    lines = [
        Line2D([], [], color=colors[one.label], lw=2.0, linestyle=_dash(one.label, results), label=titles[one.label])
        for one in results.everyone
    ]
    figure.legend(handles=lines, loc="outside lower center", ncols=min(len(lines), 6), fontsize=9.0, handlelength=2.6)


def _dash(label: str, results: Results) -> Any:
    return _DASH if is_smooth(label, results.contestants) else "-"


def _nothing(axes: Axes, title: str, words: str = "not measured") -> None:
    axes.set_title(title)
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=style.GREY)
    axes.set_xticks([])
    axes.set_yticks([])


def _shown_runs(results: Results) -> dict[str, Run]:
    """Those at equal settings that have more than a start."""
    return {label: made.run for label, made in results.equal.items() if len(made.run.frame) > 1}


def _overlay(axes: Axes, results: Results, values: Callable[[Floats, Run], Floats]) -> None:
    """Lines of all runs at equal settings, thinner and thinner, so that those below are seen."""
    runs = _shown_runs(results)
    time, colors = series.common_times(runs), colors_of(results.contestants)
    for k, (label, run) in enumerate(runs.items()):
        width = 2.6 - 0.65 * min(k, 2)
        axes.plot(time, values(time, run), color=colors[label], lw=width, alpha=0.95, zorder=2 + k)
    axes.set_xlabel("time [s]")
    axes.set_xlim(0.0, _until(results, float(time[-1])))
    for impact in next(iter(runs.values())).summary["events"]["impacts"][:1]:
        axes.axvline(impact["time"], color=style.GREY, lw=0.8, ls=_DOTS, zorder=1)
        axes.annotate("hit", (impact["time"], 1.0), xycoords=("data", "axes fraction"), xytext=(3, -9),
                      textcoords="offset points", fontsize=7.5, color="#666666")  # fmt: skip


def _until(results: Results, end: float) -> float:
    """[s] what is shown: until all have long settled, or to the end."""
    settled = [row.settling_time for row in results.outcomes if row.settling_time is not None]
    return min(end, max(1.0, 2.0 * max(settled))) if len(settled) == len(results.outcomes) else end


def _pose(axes: Axes, results: Results) -> None:
    title = f"Pose of the {results.root.replace('_', ' ')}, equal settings"
    if not results.equal:
        return _nothing(axes, title)
    if not _shown_runs(results):
        return _nothing(axes, title, NOTHING)
    if next(iter(results.equal.values())).run.set_point is None:
        _overlay(axes, results, lambda time, run: series.column(time, run, f"{run.root}_z"))
        axes.set_ylabel("height [m]")
    else:
        _overlay(axes, results, series.turn)
        axes.set_ylabel("turn from the set point [°]")
    axes.set_title(title)
    return None


def _force(axes: Axes, results: Results) -> None:
    title = "Vertical force of the floor, equal settings"
    if not results.equal or not next(iter(results.equal.values())).run.state.model.nc:
        return _nothing(axes, title)
    if not _shown_runs(results):
        return _nothing(axes, title, NOTHING)
    _overlay(axes, results, lambda time, run: series.floor_force(time, run, "z"))
    axes.set_title(title)
    axes.set_ylabel("force [N]")
    return None


def _creep(axes: Axes, results: Results) -> None:
    title = f"Creep of the soles under {FORCE:g} N"
    if not results.drifts:
        return _nothing(axes, title)
    colors = colors_of(results.contestants)
    for (settings, label), drift in results.drifts.items():
        dots = settings == NATURAL
        if dots and results.engine_is_ours(label) and (EQUAL, label) in results.drifts:
            continue  # the same
        moved = 1e3 * np.maximum(drift.distance, LEAST_CREEP)
        axes.semilogy(drift.time, moved, color=colors[label], ls=_DOTS if dots else "-", lw=1.6)
    axes.set_title(title)
    axes.set_xlabel("time [s]")
    axes.set_ylabel("moved sideways [mm]")
    if any(settings == NATURAL for settings, _ in results.drifts):
        lines = [Line2D([], [], color="#555555", ls=ls, lw=1.4) for ls in ("-", _DOTS)]
        axes.legend(lines, ["equal settings", "natural settings"], fontsize=7.5, loc="center right")
    return None


def _flight(axes: Axes, results: Results) -> None:
    mine = {label: flown for (motion, label), flown in results.flown.items() if motion == SHOWN}
    if not mine:
        return _nothing(axes, "Energy error in flight")
    colors = colors_of(results.contestants)
    for label, flown in mine.items():
        time, error = series.greatest_so_far(flown.in_phase)
        shown = np.clip(error, LEAST_ERROR, MOST_ERROR)
        axes.semilogy(time, shown, color=colors[label], ls=_dash(label, results), lw=1.6)
    end = max(flown.in_phase.time[-1] for flown in mine.values())
    axes.set_title(f"Energy error in {end:g} s of free flight")
    axes.set_xlabel("time [s]")
    axes.set_ylabel("greatest relative error so far")
    return None


def _precision(axes: Axes, results: Results) -> None:
    title = "Error against cost, a second of flight"
    if results.precision is None:
        return _nothing(axes, title)
    colors = colors_of(results.contestants)
    for curve in results.precision.curves:
        costs = [1e3 * m.seconds for m in curve.measurements]
        errors = [m.error for m in curve.measurements]
        axes.loglog(
            costs, errors, color=colors[curve.method], ls=_dash(curve.method, results), marker="o", ms=3.2, lw=1.4
        )
    axes.margins(0.06, 0.06)
    axes.set_title(title)
    axes.set_xlabel("engine time [ms]")
    axes.set_ylabel("error of the bodies' places [m]")
    return None


def _cost(axes: Axes, results: Results) -> None:
    title = "Time of a step of the experiment"
    if not results.costs:
        return _nothing(axes, title)
    colors, titles = colors_of(results.contestants), results.titles
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
    axes.set_xlabel("time [µs]; of other engines, their steps replayed")
    return None
