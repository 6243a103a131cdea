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


def document(found: StabilityMap) -> Document:
    """Return a document: components of the boundary, nodes without equilibrium, and agreement with simulations."""
    title = f"Stability over {found.field.x.name} and {found.field.y.name}"
    blocks = []
    for number, branch in enumerate(found.branches):
        kind = "closed" if branch.closed else "from edge to edge of the range"
        if not branch.closed and any(end != "leaves the range" for end in branch.ends):
            kind = f"its ends: {branch.ends[0]}; {branch.ends[1]}"
        corners = f", {len(branch.corners)} corners" if branch.corners else ""
        blocks.append(Prose(f"component {number}: {len(branch.places)} points, {kind}{corners}"))
    if not found.branches:
        stable = (found.grid["size"] < 1.0).sum()
        blocks.append(Prose(f"no boundary in the grid: {stable} of {len(found.grid)} nodes are stable"))
    lost = found.without_equilibrium
    if len(lost):
        blocks.append(Prose(f"{len(lost)} of {len(found.grid)} nodes have no equilibrium:", "bad"))
        blocks += [Prose(f"  {len(rows)}: {reason}", "bad") for reason, rows in lost.groupby("reason")]
    if found.compared:
        wrong = len(found.disagreements)
        clear = f"{found.compared} nodes with |1 − |λ|| ≥ {TOO_CLOSE:g}"
        text = f"simulated deviations disagree with |λ| at {wrong} of {clear}"
        blocks.append(Prose(text, "bad" if wrong else ""))
    tables = {"boundary.csv": found.boundary, "grid.csv": found.grid}
    return Document(
        sections=[Section("stability", title, blocks=tuple(blocks))],
        data={"boundary": found.boundary, "grid": found.grid},
        files=tables,
        drawings={"stability-map.png": partial(draw_map, found)},
    )


def draw_map(found: StabilityMap, path: Path) -> list[Path]:
    """Draw the stability map: boundary, simulated outcomes (markers), present values (star); return the files."""
    return write_panels(path, map_panel(found), (6.0, 5.2))


def map_panel(found: StabilityMap) -> Panel:
    items: list[Item] = [*_boundary(found), *_nodes(found), *_special_points(found)]
    if found.home is not None:
        items.append(Points(*found.home, "values of the experiment", style.BLACK, "star", 13.0, style.ORANGE))
    x, y = (Axis(_label(found, axis), log=axis.scale == LOG, margin=0.03) for axis in (found.field.x, found.field.y))
    who = found.field.experiment
    title = f"Local stability: {who.name}, {who.controller or 'default controller'}"
    return Panel(tuple(items), x, y, title, legend="below", columns=2)


def _nodes(found: StabilityMap) -> Iterator[Points]:
    """Yield the simulations' verdicts; hollow where ``|λ|`` is too close to one to be decided by a simulation."""
    x, y = found.grid[found.field.x.name], found.grid[found.field.y.name]
    close = np.abs(found.grid["size"] - 1.0) < TOO_CLOSE
    for verdict, (marker, color, label) in _NODES.items():
        which = found.grid["simulated"] == verdict
        for shown, name, face in ((which & ~close, label, ""), (which & close, "", "white")):
            if shown.any():
                yield Points(x[shown], y[shown], name, color, marker, _SIZE, face)
    if (close & (found.grid["simulated"] != "")).any():
        yield Points((), (), f"hollow: |1 − |λ|| < {TOO_CLOSE:g}", style.GREY, "circle", _SIZE, "white")
    wrong = found.disagreements
    if len(wrong):
        places = wrong[found.field.x.name], wrong[found.field.y.name]
        yield Points(*places, "simulation and |λ| disagree", style.BLACK, "circle", 9.5, "none")


def _boundary(found: StabilityMap) -> Iterator[Points]:
    """Yield a line for each kind of critical mode, with gaps where the boundary is of another kind."""
    parts: dict[str, list[Floats]] = {}
    for number, branch in enumerate(found.branches):
        places, words = _component(found, number)
        if branch.closed:
            places, words = np.vstack([places, places[:1]]), [*words, words[0]]
        changes = [0, *(k for k in range(1, len(words)) if words[k] != words[k - 1]), len(words) - 1]
        for first, last in pairwise(changes):
            parts.setdefault(words[first], []).append(np.vstack([places[first : last + 1], [np.nan, np.nan]]))
    for word, lines in parts.items():
        x, y = np.concatenate(lines).T
        yield Points(x, y, f"|λ| = 1, {word}", style.BLACK, dash=_DASHES[word], width=1.8)


def _component(found: StabilityMap, number: int) -> tuple[Floats, list[str]]:
    """Return the positions (points, 2) on a component of the boundary, and the kind of its mode at each."""
    rows = found.boundary[found.boundary["component"] == number]
    words = [_mode_word(f, period) for f, period in zip(rows["frequency_hz"], rows["period"], strict=True)]
    return rows[[found.field.x.name, found.field.y.name]].to_numpy(), words


def _mode_word(frequency: float, period: float) -> str:
    if frequency == 0.0:
        return "non-oscillatory"
    return FLIPPING if frequency * period > 0.499 else "oscillatory"


def _special_points(found: StabilityMap) -> Iterator[Points]:
    """Yield the corners of the boundary, and ends of its components within the ranges."""
    corners, ends = list[Floats](), list[Floats]()
    for number, branch in enumerate(found.branches):
        places, _ = _component(found, number)
        corners += [places[k] for k in branch.corners]
        ends += [places[k] for end, k in zip(branch.ends, (0, -1), strict=True) if end and end != "leaves the range"]
    if corners:
        x, y = np.transpose(corners)
        yield Points(x, y, "two critical modes", style.PURPLE, "square", 6.0)
    if ends:
        x, y = np.transpose(ends)
        yield Points(x, y, "end of a component: see the table", style.BLUE, "diamond", 6.0)


def _label(found: StabilityMap, axis: Range) -> str:
    parameter = found.field.experiment.under(found.field.changes).parameter(axis.name)
    return f"{axis.name} [{parameter.unit}]" if parameter.unit else axis.name
