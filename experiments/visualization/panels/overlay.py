"""Measured and modelled curves in one panel."""

from contact.arrays import Floats
from experiments.cli.quantities import unit_text
from experiments.visualization.look import style
from experiments.visualization.look.words import words_of
from experiments.visualization.panels.panel import Axis, Panel, Points


def overlay(column: str, unit: str, time: Floats, measured: Floats, model: Floats, title: str = "") -> Panel:
    """Return a panel of a column over time [s], measured (n,) and modelled (n,)."""
    items = (
        Points(time, measured, "measured", style.GREY, "circle", 2.0),
        Points(time, model, "model", style.BLUE, dash="solid"),
    )
    return Panel(
        items,
        Axis("time [s]"),
        Axis(f"{words_of(column)} [{unit_text(unit) or '–'}]"),
        title or words_of(column),
        legend="best",
    )
