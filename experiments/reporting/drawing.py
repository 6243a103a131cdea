"""A figure of a page before it is drawn: its name, what stands below it, and how it is drawn."""

import html
from dataclasses import dataclass

import plotly.graph_objects as go

from experiments.pages import Chart


@dataclass(frozen=True)
class Drawing:
    """A figure.

    Attributes:
        name: unique on its page, and in its notebook.
        caption: what it shows, in a sentence or two.
        figure: Plotly's.
    """

    name: str
    caption: str
    figure: go.Figure

    @property
    def chart(self) -> Chart:
        """As a block of a page."""
        return Chart.of(self.figure, self.caption, self.name)


def plain(text: object) -> str:
    """A text that Plotly shows letter by letter: it takes some tags for markup."""
    return html.escape(str(text), quote=False)
