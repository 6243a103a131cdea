"""Capturability limits of the inverted pendulum for the terminal, a table and a figure."""

import itertools
from functools import partial
from pathlib import Path

import pandas as pd

from biped.capturability.steps import words_of
from experiments.studies.limits import STANDING_LIMITS, ScenePush
from experiments.studies.threshold.directions import direction_text
from experiments.visualization.document import Document
from experiments.visualization.look import style
from experiments.visualization.pages import Prose, Section, Table
from experiments.visualization.panels.panel import Axis, Panel, Points, closed
from experiments.visualization.panels.with_matplotlib import write_panels

#: Name of the table and the figure in the folder.
NAME = "limits"
#: Column headings of the table, by column of the data.
HEADINGS = {
    "distance": "distance to the edge [m]",
    "limit": "limit [N·s]",
    "limit_without_friction": "without slip [N·s]",
    "limit_hips": "with hips [N·s]",
    "limit_hips_without_friction": "with hips, without slip [N·s]",
    "platform": "floor shift [m]",
}


def document(push: ScenePush, limits: pd.DataFrame, who: str) -> Document:
    """Return a document: the assumptions, and for each number of steps a table of limits by direction."""
    pendulum = push.stance.pendulum
    text = (
        f"{who}: {pendulum.mass:.5g} kg at {pendulum.height:.3g} m, ω = {pendulum.rate:.4g} 1/s; "
        f"friction {push.friction:g}, reaction after {push.delay:g} s, push of {push.shape.ends:g} s."
    )
    lead = [Prose(text)]
    if not push.stance.flywheels:
        lead.append(Prose("No limit with hips: set torque and position limits of the hip joints.", "bad"))
    names = [name for name in HEADINGS if name in limits]
    headings = ("direction", *(HEADINGS[name] for name in names))
    sections = []
    for count, those in by_steps(limits):
        rows = tuple(
            (direction_text(row["direction"]), *(f"{row[name]:.4g}" for name in names))
            for row in those.to_dict("records")
        )
        table = Table("", headings, rows, fold=False)
        sections.append(Section(f"steps-{count:g}", f"Largest push {steps_text(count)}", blocks=(table,)))
    drawings = {f"{NAME}.png": partial(draw_limits, push, limits, who=who)}
    return Document(lead, sections, limits, {f"{NAME}.csv": limits}, drawings)


def draw_limits(push: ScenePush, limits: pd.DataFrame, path: Path, who: str) -> list[Path]:
    """Plot the largest recoverable impulse by direction, in top view with forward up; return the files."""
    in_place = limits["steps"].nunique() == 1
    items = _in_place_lines(limits) if in_place else _lines_by_steps(limits)
    which = f" {steps_text(float(limits['steps'].iloc[0]))}" if in_place else ""
    title = f"Largest push of {push.shape.ends:g} s{which} [N·s]: {who}"
    panel = Panel(tuple(items), y=Axis(low=0.0), title=title, polar=True, legend="around")
    return write_panels(path, panel, (6.0, 5.4))


def steps_text(count: float) -> str:
    """Return a number of steps in words."""
    return f"with {words_of(count)}" if count else "without a step"


def by_steps(limits: pd.DataFrame) -> list[tuple[float, pd.DataFrame]]:
    """Return the rows of each number of steps, ascending."""
    return [(count, limits[limits["steps"] == count]) for count in sorted(map(float, limits["steps"].unique()))]


def _in_place_lines(limits: pd.DataFrame) -> list[Points]:
    """Return the limits without a step: with and without hips, with friction and without slip."""
    angles, items = closed(limits["direction"]), []
    for (name, label), color in zip(STANDING_LIMITS.items(), (style.BLUE, style.ORANGE), strict=True):
        if name in limits:
            items.append(Points(angles, closed(limits[name]), label, color, dash="solid"))
        if (column := f"{name}_without_friction") in limits:
            items.append(Points(angles, closed(limits[column]), f"{label}, without slip", color, dash="dot"))
    return items


def _lines_by_steps(limits: pd.DataFrame) -> list[Points]:
    """Return the pendulum's limit for each number of steps, with friction and without slip."""
    items = []
    for (count, those), color in zip(by_steps(limits), itertools.cycle(style.LINES), strict=False):
        angles, label = closed(those["direction"]), steps_text(count)
        items.append(Points(angles, closed(those["limit"]), label, color, dash="solid"))
        free = closed(those["limit_without_friction"])
        items.append(Points(angles, free, f"{label}, without slip", color, dash="dot"))
    return items
