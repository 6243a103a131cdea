"""Stability map for the terminal, tables and a figure."""

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from contact.arrays import Floats
from experiments.studies.grid import LOG
from experiments.studies.stability.loop import GROWN, NO_EQUILIBRIUM, RECOVERED, Range
from experiments.studies.stability.stability_map import TOO_CLOSE, StabilityMap
from experiments.visualization.document import Document
from experiments.visualization.look import style
from experiments.visualization.pages import Prose, Section
from experiments.visualization.panels.panel import Axis, Dash, Item, Marker, Panel, Points
from experiments.visualization.panels.with_matplotlib import write_panels

#: Marker, colour and label of nodes by the simulation's verdict, and [pt] the size of their markers.
_NODES: dict[str, tuple[Marker, str, str]] = {
    RECOVERED: ("circle", style.GREEN, "simulated: recovered"),
    GROWN: ("x", style.RED, "simulated: grown"),
    NO_EQUILIBRIUM: ("square", style.GREY, "no equilibrium"),
}
_SIZE = 4.0
FLIPPING = "alternating at each tick"
#: Dashes of the boundary by the kind of its critical mode.
_DASHES: dict[str, Dash] = {"oscillatory": "solid", "non-oscillatory": "dash", FLIPPING: "dashdot"}


def document(stability: StabilityMap) -> Document:
    """Return a document: components of the boundary, nodes without equilibrium, and agreement with simulations."""
    title = f"Stability over {stability.field.x.name} and {stability.field.y.name}"
    blocks = []
    for number, branch in enumerate(stability.branches):
        kind = "closed" if branch.closed else "from edge to edge of the range"
        if not branch.closed and any(end != "leaves the range" for end in branch.ends):
            kind = f"its ends: {branch.ends[0]}; {branch.ends[1]}"
        corners = f", {len(branch.corners)} corners" if branch.corners else ""
        blocks.append(Prose(f"component {number}: {len(branch.places)} points, {kind}{corners}"))
    if not stability.branches:
        stable = (stability.grid["size"] < 1.0).sum()
        blocks.append(Prose(f"no boundary in the grid: {stable} of {len(stability.grid)} nodes are stable"))
    lost = stability.without_equilibrium
    if len(lost):
        blocks.append(Prose(f"{len(lost)} of {len(stability.grid)} nodes have no equilibrium:", "bad"))
        blocks += [Prose(f"  {len(rows)}: {reason}", "bad") for reason, rows in lost.groupby("reason")]
    if stability.compared:
        wrong = len(stability.disagreements)
        clear = f"{stability.compared} nodes with |1 − |λ|| ≥ {TOO_CLOSE:g}"
        text = f"simulated deviations disagree with |λ| at {wrong} of {clear}"
        blocks.append(Prose(text, "bad" if wrong else ""))
    tables = {"boundary.csv": stability.boundary, "grid.csv": stability.grid}
    return Document(
        sections=[Section("stability", title, blocks=tuple(blocks))],
        data={"boundary": stability.boundary, "grid": stability.grid},
        files=tables,
        drawings={"stability-map.png": partial(draw_map, stability)},
    )


def draw_map(stability: StabilityMap, path: Path) -> list[Path]:
    """Draw the stability map: boundary, simulated outcomes (markers), present values (star); return the files."""
    return write_panels(path, map_panel(stability), (6.0, 5.2))


def map_panel(stability: StabilityMap) -> Panel:
    items: list[Item] = [*_boundary(stability), *_nodes(stability), *_special_points(stability)]
    if stability.home is not None:
        items.append(Points(*stability.home, "values of the experiment", style.BLACK, "star", 13.0, style.ORANGE))
    field = stability.field
    x, y = (Axis(_label(stability, axis), log=axis.scale == LOG, margin=0.03) for axis in (field.x, field.y))
    who = field.experiment
    title = f"Local stability: {who.name}, {who.controller or 'default controller'}"
    return Panel(tuple(items), x, y, title, legend="below", columns=2)


def _nodes(stability: StabilityMap) -> Iterator[Points]:
    """Yield the simulations' verdicts; hollow where ``|λ|`` is too close to one to be decided by a simulation."""
    x, y = stability.grid[stability.field.x.name], stability.grid[stability.field.y.name]
    close = np.abs(stability.grid["size"] - 1.0) < TOO_CLOSE
    for verdict, (marker, color, label) in _NODES.items():
        which = stability.grid["simulated"] == verdict
        for shown, name, face in ((which & ~close, label, ""), (which & close, "", "white")):
            if shown.any():
                yield Points(x[shown], y[shown], name, color, marker, _SIZE, face)
    if (close & (stability.grid["simulated"] != "")).any():
        yield Points((), (), f"hollow: |1 − |λ|| < {TOO_CLOSE:g}", style.GREY, "circle", _SIZE, "white")
    wrong = stability.disagreements
    if len(wrong):
        places = wrong[stability.field.x.name], wrong[stability.field.y.name]
        yield Points(*places, "simulation and |λ| disagree", style.BLACK, "circle", 9.5, "none")


def _boundary(stability: StabilityMap) -> Iterator[Points]:
    """Yield a line for each kind of critical mode, with gaps where the boundary is of another kind."""
    parts: dict[str, list[Floats]] = {}
    for number, branch in enumerate(stability.branches):
        places, words = _component(stability, number)
        if branch.closed:
            places, words = np.vstack([places, places[:1]]), [*words, words[0]]
        changes = [0, *(k for k in range(1, len(words)) if words[k] != words[k - 1]), len(words) - 1]
        for first, last in pairwise(changes):
            parts.setdefault(words[first], []).append(np.vstack([places[first : last + 1], [np.nan, np.nan]]))
    for word, lines in parts.items():
        x, y = np.concatenate(lines).T
        yield Points(x, y, f"|λ| = 1, {word}", style.BLACK, dash=_DASHES[word], width=1.8)


def _component(stability: StabilityMap, number: int) -> tuple[Floats, list[str]]:
    """Return the positions (points, 2) on a component of the boundary, and the kind of its mode at each."""
    rows = stability.boundary[stability.boundary["component"] == number]
    words = [_mode_word(f, period) for f, period in zip(rows["frequency_hz"], rows["period"], strict=True)]
    return rows[[stability.field.x.name, stability.field.y.name]].to_numpy(), words


def _mode_word(frequency: float, period: float) -> str:
    if frequency == 0.0:
        return "non-oscillatory"
    return FLIPPING if frequency * period > 0.499 else "oscillatory"


def _special_points(stability: StabilityMap) -> Iterator[Points]:
    """Yield the corners of the boundary, and ends of its components within the ranges."""
    corners, ends = list[Floats](), list[Floats]()
    for number, branch in enumerate(stability.branches):
        places, _ = _component(stability, number)
        corners += [places[k] for k in branch.corners]
        ends += [places[k] for end, k in zip(branch.ends, (0, -1), strict=True) if end and end != "leaves the range"]
    if corners:
        x, y = np.transpose(corners)
        yield Points(x, y, "two critical modes", style.PURPLE, "square", 6.0)
    if ends:
        x, y = np.transpose(ends)
        yield Points(x, y, "end of a component: see the table", style.BLUE, "diamond", 6.0)


def _label(stability: StabilityMap, axis: Range) -> str:
    parameter = stability.field.experiment.under(stability.field.changes).parameter(axis.name)
    return f"{axis.name} [{parameter.unit}]" if parameter.unit else axis.name
