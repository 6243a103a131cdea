"""A stability map: on the terminal, as tables in files, and as a picture."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.text import Text

from experiments.cli.reply import Form, form
from experiments.cli.terminal import terminal
from experiments.studies.grid import LOG
from experiments.studies.stability.loop import GROWN, NO_EQUILIBRIUM, RECOVERED, Range
from experiments.studies.stability.stability_map import TOO_CLOSE, StabilityMap
from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled, write_figure

#: Of nodes: marker, colour and label, by what the simulation says.
_NODES: dict[str, tuple[str, str, str]] = {
    RECOVERED: ("o", style.GREEN, "simulated: recovered"),
    GROWN: ("X", style.RED, "simulated: grown"),
    NO_EQUILIBRIUM: ("s", style.GREY, "no equilibrium"),
}


def print_map(found: StabilityMap, folder: Path, files: list[Path]) -> None:
    """What was found, in a few lines."""
    if form() is not Form.TEXT:
        return
    console = terminal()
    x, y = found.field.x, found.field.y
    console.print(Text(f"Stability over {x.name} and {y.name}", style="bold"))
    for number, branch in enumerate(found.branches):
        kind = "closed" if branch.closed else f"from where it {branch.ends[0]} to where it {branch.ends[1]}"
        if not branch.closed and any(end != "leaves the range" for end in branch.ends):
            kind = f"its ends: {branch.ends[0]}; {branch.ends[1]}"
        corners = f", {len(branch.corners)} corners" if branch.corners else ""
        console.print(Text(f"component {number}: {len(branch.places)} points, {kind}{corners}"))
    if not found.branches:
        stable = (found.grid["size"] < 1.0).sum()
        console.print(Text(f"no boundary between the nodes of the grid: {stable} of {len(found.grid)} are stable"))
    lost = found.without_equilibrium
    if len(lost):
        console.print(Text(f"{len(lost)} of {len(found.grid)} nodes have no equilibrium:", style="yellow"))
        for reason, rows in lost.groupby("reason"):
            console.print(Text(f"  {len(rows)}: {reason}", style="yellow"))
    if found.compared:
        wrong = len(found.disagreements)
        clear = f"{found.compared} nodes with |1 − |λ|| ≥ {TOO_CLOSE:g}"
        told = f"simulated deviations disagree with |λ| at {wrong} of {clear}"
        console.print(Text(told, style="red" if wrong else ""))
    console.print(Text(f"{folder}/  {', '.join(file.name for file in files)}", style="cyan"))


def write_map(found: StabilityMap, folder: Path, *, draw: bool) -> list[Path]:
    """The boundary and the grid as CSV, and a figure; the files.

    Raises:
        OSError: a file cannot be written.
    """
    files = [folder / "boundary.csv", folder / "grid.csv"]
    found.boundary.to_csv(files[0], index=False)
    found.grid.to_csv(files[1], index=False)
    return files + (draw_map(found, folder / "stability-map.png") if draw else [])


def draw_map(found: StabilityMap, path: Path) -> list[Path]:
    """The boundary as a line, what the simulation says as markers, and the experiment's own values as a star."""
    x, y = found.field.x, found.field.y
    with styled():
        figure = Figure(figsize=(6.0, 5.2))
        axes = figure.add_subplot()
        _draw_nodes(axes, found)
        _draw_boundary(axes, found)
        if found.home is not None:
            axes.plot(*found.home, "*", color=style.ORANGE, markeredgecolor=style.BLACK, markersize=13, zorder=5,
                      label="the experiment's own", clip_on=False)  # fmt: skip
        for axis, set_scale, set_limits, set_label in (
            (x, axes.set_xscale, axes.set_xlim, axes.set_xlabel),
            (y, axes.set_yscale, axes.set_ylim, axes.set_ylabel),
        ):
            set_scale("log" if axis.scale == LOG else "linear")
            set_limits(axis.low, axis.high)
            set_label(_label(found, axis))
        who = found.field.experiment
        axes.set_title(f"Local stability: {who.name}, {who.controller or 'its own controller'}")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
        return write_figure(figure, path)


def _draw_nodes(axes: Axes, found: StabilityMap) -> None:
    """What the simulation says; hollow where ``|λ|`` is so near to one that it cannot tell."""
    x, y = found.grid[found.field.x.name], found.grid[found.field.y.name]
    close = np.abs(found.grid["size"] - 1.0) < TOO_CLOSE
    look: dict[str, Any] = {"s": 22, "clip_on": False, "zorder": 3}
    for verdict, (marker, color, label) in _NODES.items():
        which = found.grid["simulated"] == verdict
        clear, unclear = which & ~close, which & close
        if clear.any():
            axes.scatter(x[clear], y[clear], marker=marker, color=color, linewidths=0.0, label=label, **look)
        if unclear.any():
            axes.scatter(x[unclear], y[unclear], marker=marker, facecolors="white", edgecolors=color, linewidths=0.8,
                         **look)  # fmt: skip
    if (close & (found.grid["simulated"] != "")).any():
        axes.scatter([], [], marker="o", facecolors="white", edgecolors=style.GREY, s=22,
                     label=f"hollow: |1 − |λ|| < {TOO_CLOSE:g}")  # fmt: skip
    wrong = found.disagreements
    if len(wrong):
        axes.scatter(wrong[found.field.x.name], wrong[found.field.y.name], marker="o", facecolors="none",
                     edgecolors=style.BLACK, s=90, label="|λ| says otherwise", clip_on=False, zorder=4)  # fmt: skip


FLIPPING = "to and fro at each tick"
#: Dashes of the boundary by the mode that is on it.
_LINES: dict[str, Any] = {"swinging": "-", "creeping": (0, (2, 1)), FLIPPING: (0, (6, 1.5, 1, 1.5))}


def _mode_word(frequency: float, period: float) -> str:
    if frequency == 0.0:
        return "creeping"
    return FLIPPING if frequency * period > 0.499 else "swinging"


def _draw_boundary(axes: Axes, found: StabilityMap) -> None:
    """A line for each way in which a mode may be on the boundary; corners as squares."""
    labelled: set[str] = set()
    for number, branch in enumerate(found.branches):
        rows = found.boundary[found.boundary["component"] == number]
        px, py = rows[found.field.x.name].to_numpy(), rows[found.field.y.name].to_numpy()
        words = [_mode_word(f, period) for f, period in zip(rows["frequency_hz"], rows["period"], strict=True)]
        if branch.closed:
            px, py, words = np.append(px, px[0]), np.append(py, py[0]), [*words, words[0]]
        changes = [0, *(k for k in range(1, len(words)) if words[k] != words[k - 1]), len(words) - 1]
        for first, last in pairwise(changes):
            label = f"|λ| = 1, {words[first]}"
            axes.plot(px[first : last + 1], py[first : last + 1], color=style.BLACK, linewidth=1.8,
                      linestyle=_LINES[words[first]], label=None if label in labelled else label, zorder=2)  # fmt: skip
            labelled.add(label)
        for k in branch.corners:
            axes.plot(px[k], py[k], "s", color=style.PURPLE, markersize=6, zorder=4,
                      label=None if "corner" in labelled else "two modes at once")  # fmt: skip
            labelled.add("corner")
        _draw_ends(axes, branch.ends, px, py, labelled)


def _draw_ends(axes: Axes, ends: tuple[str, str], px: Any, py: Any, labelled: set[str]) -> None:
    """Where a component ends within the ranges."""
    for end, k in zip(ends, (0, -1), strict=True):
        if end and end != "leaves the range":
            axes.plot(px[k], py[k], "D", color=style.BLUE, markersize=6, zorder=4,
                      label=None if "end" in labelled else "ends here: see the table")  # fmt: skip
            labelled.add("end")


def _label(found: StabilityMap, axis: Range) -> str:
    parameter = found.field.experiment.under(found.field.changes).parameter(axis.name)
    return f"{axis.name} [{parameter.unit}]" if parameter.unit else axis.name
