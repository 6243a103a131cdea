"""Style of the interactive figures: the colours of the files, on a background of any colour."""

import html
from typing import TYPE_CHECKING, Any

from experiments.visualization.look import style

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Grey that is visible on white and on black.
NEUTRAL = "#8a8d91"
#: Colours of grids, and of the lines that mark events.
FAINT = "rgba(128,128,128,0.25)"
MARKED = "rgba(128,128,128,0.75)"
#: Colours of a few lines, for the colour-blind, on any background.
LINES = (*style.LINES[:6], NEUTRAL)

#: [px] margins, equal in all figures so that the time axes of a page are aligned.
LEFT, RIGHT = 76, 190

_AXIS: dict[str, Any] = {
    "gridcolor": FAINT,
    "linecolor": MARKED,
    "zerolinecolor": MARKED,
    "zerolinewidth": 1,
    "ticks": "outside",
    "ticklen": 4,
    "tickcolor": MARKED,
    "showline": True,
    "exponentformat": "power",
    "minexponent": 4,
    "title": {"standoff": 8},
}
_ANGULAR = {"gridcolor": FAINT, "linecolor": MARKED, "tickcolor": MARKED}

TEMPLATE: Any = {
    "layout": {
        "font": {"family": "system-ui, DejaVu Sans, sans-serif", "size": 12, "color": NEUTRAL},
        "colorway": LINES,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": LEFT, "r": RIGHT, "t": 34, "b": 46},
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": FAINT, "activecolor": NEUTRAL},
        "hovermode": "closest",
        "hoverlabel": {"font": {"size": 12}, "align": "left"},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
        "polar": {"bgcolor": "rgba(0,0,0,0)", "angularaxis": _ANGULAR, "radialaxis": _ANGULAR},
        "legend": {"tracegroupgap": 0},
        "colorscale": {"sequential": style.MAP},
    }
}


def new_figure(height: int, **layout: Any) -> "go.Figure":
    """Return an empty figure in this style; ``layout`` is passed to Plotly."""
    import plotly.graph_objects as go

    return go.Figure(layout={"template": TEMPLATE, "height": height} | layout)


def plain(text: object) -> str:
    """Return a text without markup: Plotly would interpret some tags."""
    return html.escape(str(text), quote=False)
