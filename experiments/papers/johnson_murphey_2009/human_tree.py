"""Figure 2: a planar human as a tree of basic transformations."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.papers.criteria import below, stated, when
from experiments.papers.item import Finding, Outcome, Progress
from experiments.papers.johnson_murphey_2009.motions import G, ours
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled
from formulations.mechanism.examples import planar_human
from formulations.mechanism.frames import Node, tree_of

#: Angles [rad] of the picture and of the start, at which the limbs can be distinguished.
POSE = {
    "trunk": 0.1, "shoulder": -0.5, "elbow": -0.6,
    "left hip": -0.5, "left knee": 0.5, "right hip": 0.3, "right knee": 0.3,
}  # fmt: skip
DURATION, QUICK_DURATION, STEP = 2.0, 0.3, 1e-3
ASSUMPTIONS = (
    "the figure is a drawing without numbers; table I states that the parent of frame 6 is frame 2, and its ancestors "
    "are 2, 1 and s; the introduction states that the leg ends in a foot; the limbs and the order of their numbers are "
    "ours; R1 and R2 hold by construction",
    "masses and lengths for 75 kg and 1.75 m from Winter (2009), table 4.1",
)


def produce(quick: bool, progress: Progress) -> Outcome:
    mechanism = planar_human()
    nodes = tree_of(mechanism.frames)
    duration = QUICK_DURATION if quick else DURATION
    flight = ours(mechanism, POSE, "trunk", duration=duration, step=STEP, progress=progress)
    table = pd.DataFrame([{
        "frame": label(nodes, k),
        "transformation": f"{node.frame.transform.upper()}({node.frame.coordinate or node.frame.parameter})",
        "parent": label(nodes, node.parent), "mass [kg]": node.frame.mass[0] if node.frame.mass else 0.0,
    } for k, node in enumerate(nodes)])  # fmt: skip
    mass = sum(node.frame.mass[0] for node in nodes if node.frame.mass)
    exchanged = 0.5 * mass * (G * duration) ** 2  # of the centre of mass
    spread = float(np.ptp(flight.energy)) / exchanged
    return Outcome(_findings(nodes, spread), ASSUMPTIONS, {"The tree": table}, {"tree": _draw(nodes)})


def label(nodes: Sequence[Node], k: int) -> str:
    """Return the paper's name of a transformation: a number if it moves, a letter if constant, s for the world."""
    if k < 0:
        return "s"
    moving = nodes[k].frame.coordinate is not None
    alike = sum((node.frame.coordinate is not None) is moving for node in nodes[:k])
    return str(alike + 1) if moving else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[alike]


def ancestors(nodes: Sequence[Node], name: str) -> list[str]:
    """Return anc(i) of table I, from the parent of the frame called ``name`` up to the world."""
    k = [label(nodes, j) for j in range(len(nodes))].index(name)
    names = []
    while k >= 0:
        k = nodes[k].parent
        names.append(label(nodes, k))
    return names


def _findings(nodes: Sequence[Node], spread: float) -> tuple[Finding, ...]:
    above = ancestors(nodes, "6")
    return (
        stated("ancestors of frame 6", "{2, 1, s}", "{" + ", ".join(above) + "}",
               when("the same", above == ["2", "1", "s"]), "the tree was designed to match it", kind="chosen"),
        stated("range of the human's energy in free fall / energy exchanged in the fall", "not in the paper", spread,
               below(1e-6), kind="ours"),
    )  # fmt: skip


def _draw(nodes: Sequence[Node]) -> Figure:
    with styled():
        figure = Figure(figsize=(10.0, 4.8))
        body, tree = figure.subplots(1, 2, width_ratios=(1.0, 2.9))
        _draw_human(body, nodes)
        _draw_tree(tree, nodes)
        body.set_anchor("N")  # beside the top of the tree, not in the middle
        for axes, title in ((body, "A planar human"), (tree, "… as a tree of transformations")):
            axes.set_title(title)
            axes.axis("off")
    return figure


def _draw_human(axes: Axes, nodes: Sequence[Node]) -> None:
    places: list[Floats] = []
    for node in nodes:
        value = None if node.frame.coordinate is None else POSE.get(node.frame.coordinate, 0.0)
        local = node.frame.matrix(value)
        places.append(places[node.parent] @ local if node.parent >= 0 else local)
    points = [(place[0, 3], place[2, 3]) for place in places]
    for k, node in enumerate(nodes):
        if node.parent >= 0:
            (x, z), (px, pz) = points[k], points[node.parent]
            axes.plot((px, x), (pz, z), "-", lw=2.5, color=style.GREY, zorder=1)
    numbers: dict[tuple[float, float], list[str]] = {}
    for k, node in enumerate(nodes):
        if node.frame.mass is not None:
            axes.plot(*points[k], "o", ms=1.2 * node.frame.mass[0] ** 0.5 + 3.0, color=style.BLUE, zorder=2)
        if node.frame.coordinate is not None and node.frame.is_rotation:
            numbers.setdefault(points[k], []).append(label(nodes, k))
    for place, texts in numbers.items():
        axes.annotate(", ".join(texts), place, (6, 4), textcoords="offset points", color=style.RED, fontsize=8)
        axes.plot(*place, "o", ms=4, mfc="white", color=style.RED, zorder=3)
    axes.set_aspect("equal")
    axes.margins(0.15, 0.08)


def _draw_tree(axes: Axes, nodes: Sequence[Node]) -> None:
    """Draw the tree, with leaves side by side and each frame above the middle of its children."""
    below: dict[int, list[int]] = {k: [] for k in range(-1, len(nodes))}
    for k, node in enumerate(nodes):
        below[node.parent].append(k)
    x: dict[int, float] = {}
    leaves = 0
    for k in reversed(range(-1, len(nodes))):
        if not below[k]:
            leaves += 1
        x[k] = sum(x[child] for child in below[k]) / len(below[k]) if below[k] else -float(leaves)
    depth = {-1: 0}
    for k, node in enumerate(nodes):
        depth[k] = depth[node.parent] + 1
        axes.plot((x[node.parent], x[k]), (-depth[node.parent], -depth[k]), "-", lw=0.8, color=style.GREY, zorder=1)
    for k in range(-1, len(nodes)):
        frame = nodes[k].frame if k >= 0 else None
        moving = frame is not None and frame.coordinate is not None
        text = "s" if frame is None else f"{frame.transform.upper()} {label(nodes, k)}" if moving else (
            f"{frame.transform.upper()}({frame.parameter:g})")  # fmt: skip
        color = style.BLACK if frame is None else style.RED if moving else style.GREY
        edge = style.BLUE if frame is not None and frame.mass is not None else color
        box = {"boxstyle": "round,pad=0.25", "fc": "white", "ec": edge, "lw": 1.6 if edge == style.BLUE else 0.8}
        axes.text(x[k], -depth[k], text, ha="center", va="center", fontsize=6.5, color=color, bbox=box, zorder=2)
    axes.margins(0.08, 0.05)
