"""The files of a comparison: figures, a table and the page; and lines on the terminal."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.cli.machine import stamp
from experiments.cli.names import WORK_PRECISION_CSV, WORK_PRECISION_PAGE
from experiments.cli.terminal import ruled_table, say_files, terminal
from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled, write_figure
from experiments.visualization.pages import write_page
from experiments.visualization.panels.with_matplotlib import plain_log_ticks
from experiments.visualization.work_precision.page import method_table, table_of, work_precision_page
from experiments.work_precision.case import TREE
from experiments.work_precision.step_sizes import HEADINGS, Comparison, Curve, cheapest_lines


@dataclass
class Output:
    """The folder of the results; complete after every problem."""

    folder: Path  # which must exist
    wanted: list[str]  # the names of the problems that were asked for
    command: str  # what was typed
    draw: bool  # whether there are figures
    done: list[Comparison] = field(default_factory=list)
    figures: list[Path] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=stamp)

    def add(self, comparison: Comparison) -> None:
        self.done.append(comparison)
        if self.draw:
            figure = draw_comparison(comparison)
            self.figures += write_figure(figure, self.figure_of(comparison.problem.name), always=("png",))
        self.write()
        self._print(comparison)

    def figure_of(self, problem: str) -> Path:
        return self.folder / f"{problem}.png"

    def write(self) -> None:
        """The table and the page of all that is done."""
        table_of(self.done).to_csv(self.folder / WORK_PRECISION_CSV, index=False)
        names = [comparison.problem.name for comparison in self.done]
        figures = {name: self.figure_of(name).read_bytes() for name in names} if self.draw else {}
        missing = [name for name in self.wanted if name not in names]
        page = work_precision_page(self.done, figures, missing, self.made, self.command)
        write_page(page, self.folder / WORK_PRECISION_PAGE)

    def _print(self, comparison: Comparison) -> None:
        shown = method_table(comparison)
        title = f"{comparison.problem.name}: {comparison.problem.title}"
        terminal().print(ruled_table(title, shown.headings, shown.rows, shown.styles))
        kinds = ("number", "text", "number", "text", "number")
        terminal().print(ruled_table("The cheapest", HEADINGS, cheapest_lines(comparison), kinds))

    def print_files(self) -> None:
        say_files(self.folder, [WORK_PRECISION_PAGE, WORK_PRECISION_CSV, *self.figures], "\n")


_MARKERS = "osD^vP*X<>"
#: Part of the panel's height that the name of a curve takes.
NAME = 0.05
#: Orders whose slopes are drawn beside the curves.
_SLOPES = (1, 2, 4)


def draw_comparison(comparison: Comparison) -> Figure:
    """Error against the step to the left; the same errors against cost to the right, each curve with its name."""
    curves = [curve for curve in comparison.curves if curve.measurements]
    with styled():
        figure = Figure(figsize=(11.0, 4.8))
        step, cost = figure.subplots(1, 2, sharey=True)
        for k, curve in enumerate(curves):
            look = {
                "color": style.LINES[k % len(style.LINES)],
                "marker": _MARKERS[k % len(_MARKERS)],
                "markersize": 4.0,
                "linewidth": 1.2,
                "linestyle": "-" if curve.systems == TREE else (0, (4, 2)),  # dashed: Lagrangian systems
            }
            costs = [1e3 * m.seconds for m in curve.measurements]
            cost.loglog(costs, [m.error for m in curve.measurements], **look)
            by_step = [m for m in curve.measurements if m.size.tolerance is None]
            step.loglog([1e3 * m.size.step for m in by_step], [m.error for m in by_step], **look)
        cost.set_xlabel("cost [ms of computation for a second of motion]")
        step.set_ylabel("error [m]")
        step.set_xlabel("step [ms]")
        step.set_title(f"{comparison.problem.name}: {comparison.problem.title}")
        floor = max((curve.floor for curve in curves), default=0.0)  # errors below it are those of the reference
        _draw_slopes(step, curves)
        errors = [m.error for curve in curves for m in curve.measurements]
        if errors:
            step.set_ylim(0.3 * min(errors), 3.0 * max(errors))
        for axes in (cost, step):
            axes.axhspan(1e-30, floor, color="#EEEEEE", zorder=0)
            axes.margins(0.06, 0.06)
        for axis in (step.xaxis, cost.xaxis):
            plain_log_ticks(axis)
        _name_curves(cost, curves)
    return figure


def _name_curves(axes: Axes, curves: Sequence[Curve]) -> None:
    """The name of each curve to the right of the panel, in its colour, with a line to where it ends."""
    if not curves:
        return
    ends = [min(curve.measurements, key=lambda m: m.error) for curve in curves]
    low, high = np.log(axes.get_ylim())
    heights = [(np.log(end.error) - low) / (high - low) for end in ends]
    order = sorted(range(len(curves)), key=lambda k: heights[k])
    apart = min(NAME, 1.0 / len(curves))
    for place, k in enumerate(order):  # as near to its curve as those above and below leave it
        room = place * apart, 1.0 - (len(order) - 1 - place) * apart
        least = heights[order[place - 1]] + apart if place else 0.0
        heights[k] = min(max(heights[k], least, room[0]), room[1])
        axes.annotate(
            curves[k].label, (1e3 * ends[k].seconds, ends[k].error), (1.04, heights[k]), textcoords="axes fraction",
            color=style.LINES[k % len(style.LINES)], fontsize=7.5, va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": style.GREY, "linewidth": 0.5, "shrinkB": 3.0},
        )  # fmt: skip


def _draw_slopes(axes: Axes, curves: Sequence[Curve]) -> None:
    """Thin lines of slopes 1, 2 and 4 from the coarsest errors of the curves on."""
    points = [(1e3 * m.size.step, m.error) for c in curves for m in c.measurements if m.size.tolerance is None]
    if not points:
        return
    steps, errors = (np.array(values) for values in zip(*points, strict=True))
    low, high = errors.min(), errors.max()
    for order in _SLOPES:
        line = np.array([steps.min(), steps.max()])
        fall = high * (line / line[-1]) ** order
        axes.loglog(line, fall, color=style.GREY, linewidth=0.7, linestyle=(0, (1, 1.5)), zorder=1)
        at = max(steps.min(), steps.max() * (low / high) ** (1.0 / order)) * 1.3
        axes.annotate(
            f"order {order}", (at, high * (at / line[-1]) ** order), fontsize=7, color="#555555",
            xytext=(3, -9), textcoords="offset points",
        )  # fmt: skip
