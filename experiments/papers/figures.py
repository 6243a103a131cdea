"""The form that figures of papers have in common."""

from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.visualization.figures import style
from experiments.visualization.figures.writing import styled


@contextmanager
def plotted(
    title: str, xlabel: str, ylabel: str, size: tuple[float, float] = style.SIZE
) -> Iterator[tuple[Figure, Axes]]:
    """Give a new figure in the style of all, and its axes; with titles and a legend once it is left."""
    with styled():
        figure = Figure(figsize=size)
        axes = figure.subplots()
        yield figure, axes
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
        if axes.get_legend() is None:
            axes.legend()
