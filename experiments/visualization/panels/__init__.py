"""Pictures as data: what a panel shows is described once, and drawn by Matplotlib into files, by Plotly on pages."""

from experiments.visualization.panels.panel import (
    Axis,
    Band,
    Bars,
    HeatMap,
    Item,
    Layers,
    Outline,
    Panel,
    Points,
    Rule,
    Span,
    closed,
)

__all__ = [
    "Axis",
    "Band",
    "Bars",
    "HeatMap",
    "Item",
    "Layers",
    "Outline",
    "Panel",
    "Points",
    "Rule",
    "Span",
    "closed",
]
