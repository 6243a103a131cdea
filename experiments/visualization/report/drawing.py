"""A figure of a page before it is drawn: its name, what stands below it, and how it is drawn."""

import base64
import html
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.visualization.pages import Chart

if TYPE_CHECKING:
    import plotly.graph_objects as go


@dataclass(frozen=True)
class Drawing:
    """A figure."""

    name: str  # unique on its page, and in its notebook
    caption: str  # what it shows, in a sentence or two
    figure: "go.Figure"  # Plotly's

    @property
    def chart(self) -> Chart:
        return Chart.of(self.figure, self.caption, self.name)


def figure_of(chart: Chart) -> "go.Figure":
    """The figure of a chart, with its numbers as arrays."""
    import plotly.graph_objects as go

    return go.Figure(_decoded(json.loads(chart.figure)), skip_invalid=False)


def _decoded(value: Any) -> Any:
    if isinstance(value, dict):
        if {"dtype", "bdata"} <= set(value):
            array = np.frombuffer(base64.b64decode(value["bdata"]), dtype=value["dtype"])
            return array.reshape([int(size) for size in value["shape"].split(",")]) if "shape" in value else array
        return {key: _decoded(item) for key, item in value.items()}
    return [_decoded(item) for item in value] if isinstance(value, list) else value


def plain(text: object) -> str:
    """A text that Plotly shows letter by letter: it takes some tags for markup."""
    return html.escape(str(text), quote=False)
