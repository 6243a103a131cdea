"""What the figures of papers have in common."""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.visualization.figures import style


@contextmanager
def plotted(title: str, xlabel: str, ylabel: str, size: tuple[float, float] = style.SIZE) -> Iterator[Axes]:
    """The axes of a new figure (``axes.figure``) in the style of all; with titles and a legend once they are left."""
    with matplotlib.rc_context(style.STYLE):
        axes = Figure(figsize=size).subplots()
        yield axes
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
        if axes.get_legend() is None:
            axes.legend()
