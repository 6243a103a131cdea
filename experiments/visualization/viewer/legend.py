"""What the colours of the scene mean, as HTML."""

import html

from experiments.visualization.viewer import colors
from experiments.visualization.viewer.colors import Color


def entry(color: Color, text: str) -> str:
    """A line that begins with a square of a colour; ``text`` is HTML."""
    square = f"display:inline-block;width:0.8em;height:0.8em;border-radius:2px;background:{colors.code_of(color)}"
    return f'<div style="margin:0.15em 0"><span style="{square};margin-right:0.5em"></span>{text}</div>'


def legend() -> str:
    marks = "".join(entry(color, html.escape(name)) for name, color in colors.MARKS.items())
    modes = "".join(entry(color, html.escape(name)) for name, color in colors.MODE_NAMES.items())
    return (
        f'<div style="padding:0 0.9em 0.5em;font-size:0.8em">{marks}'
        f'<div style="margin-top:0.6em"><b>contact points and their forces</b></div>{modes}</div>'
    )
