"""Files of a work-precision comparison (figures, table, page), and lines on the terminal."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.cli.machine import stamp
from experiments.cli.names import WORK_PRECISION_CSV, WORK_PRECISION_PAGE
from experiments.cli.terminal import say, say_files
from experiments.visualization.document import print_block
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.pages import Table, write_page
from experiments.visualization.panels.panel import Axis, Dash, Item, Marker, Panel, Points, Rule
from experiments.visualization.panels.with_matplotlib import figure_of
from experiments.visualization.work_precision.page import method_table, table_of, work_precision_page
from experiments.work_precision.case import TREE
from experiments.work_precision.step_sizes import HEADINGS, Comparison, cheapest_lines


@dataclass
class Output:
    """Folder of the results; its files are complete after each problem."""

    folder: Path  # an existing folder
    requested: list[str]  # names of the requested problems
    command: str  # command line of the comparison
    draw: bool  # whether to draw figures
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
        """Write the table and the page of all finished problems."""
        table_of(self.done).to_csv(self.folder / WORK_PRECISION_CSV, index=False)
        names = [comparison.problem.name for comparison in self.done]
        figures = {name: self.figure_of(name).read_bytes() for name in names} if self.draw else {}
        missing = [name for name in self.requested if name not in names]
        page = work_precision_page(self.done, figures, missing, self.made, self.command)
        write_page(page, self.folder / WORK_PRECISION_PAGE)

    def _print(self, comparison: Comparison) -> None:
        say(f"\n{comparison.problem.name}: {comparison.problem.title}", "bold")
        print_block(method_table(comparison))
        print_block(Table("Cheapest method for each accuracy", HEADINGS, tuple(cheapest_lines(comparison))))

    def print_files(self) -> None:
        say_files(self.folder, [WORK_PRECISION_PAGE, WORK_PRECISION_CSV, *self.figures], "\n")


_MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond", "star", "x", "x-thin", "cross-thin")
#: Orders of convergence whose slopes are drawn.
_SLOPES = (1, 2, 4)


def draw_comparison(comparison: Comparison) -> Figure:
    """Return a figure of the error against the step (left) and against the cost (right)."""
    curves = [curve for curve in comparison.curves if curve.measurements]
    points = [(1e3 * m.size.step, m.error) for c in curves for m in c.measurements if m.size.tolerance is None]
    by_step: list[Item] = list(_slopes(*np.array(points).T)) if points else []
    by_cost: list[Item] = []
    for k, curve in enumerate(curves):
        dash: Dash = "solid" if curve.systems == TREE else "dash"  # Lagrangian systems are dashed
        look = Points((), (), curve.label, style.LINES[k % len(style.LINES)], _MARKERS[k % len(_MARKERS)], dash=dash)
        measurements = curve.measurements
        by_cost.append(replace(look, x=[1e3 * m.seconds for m in measurements], y=[m.error for m in measurements]))
        stepped = [m for m in measurements if m.size.tolerance is None]
        by_step.append(replace(look, x=[1e3 * m.size.step for m in stepped], y=[m.error for m in stepped]))
    errors = [m.error for curve in curves for m in curve.measurements] or [1.0]
    y = Axis("error [m]", 0.3 * min(errors), 3.0 * max(errors), log=True, powers=True)
    floor = max((curve.floor for curve in curves), default=0.0)  # 10 × error of the reference
    if floor > 0.0:
        for items in (by_step, by_cost):
            items.append(Rule(floor, style.GREY, "10 × error of the reference", "y", "dash"))
    title = f"{comparison.problem.name}: {comparison.problem.title}"
    panels = (
        Panel(tuple(by_step), Axis("step [ms]", log=True, margin=0.06), y, title),
        Panel(tuple(by_cost), Axis("cost [ms of computation for a second of motion]", log=True, margin=0.06),
              replace(y, label=""), legend="right"),
    )  # fmt: skip
    with styled():
        return figure_of(panels, (11.0, 4.8), columns=2, sharey=True)


def _slopes(steps: Floats, errors: Floats) -> Iterator[Points]:
    """Yield dotted lines with the slopes of the orders, from the largest error down."""
    for order in _SLOPES:
        line = np.array([steps.max(), max(steps.min(), steps.max() * (errors.min() / errors.max()) ** (1.0 / order))])
        fall = errors.max() * (line / steps.max()) ** order
        yield Points(line, fall, "", style.GREY, dash="dot", width=0.7)
