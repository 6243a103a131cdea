"""Drawing of the papers' figures, and measurement of computing times over the size of a system."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import ArrayLike

from experiments.papers.item import Progress
from experiments.timing import interleaved, one_core, seconds, slope
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled


@contextmanager
def plotted(
    title: str, xlabel: str, ylabel: str, size: tuple[float, float] = style.SIZE
) -> Iterator[tuple[Figure, Axes]]:
    """Yield the axes of a new figure in the common style; add titles and a legend on exit."""
    with styled():
        figure = Figure(figsize=size)
        axes = figure.subplots()
        yield figure, axes
        axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
        if axes.get_legend() is None:
            axes.legend()


class Curve(NamedTuple):
    """Curve of a figure."""

    x: ArrayLike
    y: ArrayLike
    label: str | None = None
    color: str = style.BLUE
    line: str = "-"
    width: float | None = None
    marker: float | None = None  # size of the markers


def drawn(
    titles: tuple[str, str, str],
    curves: Sequence[Curve],
    scale: str = "plot",
    size: tuple[float, float] = style.SIZE,
    legend: dict[str, Any] | None = None,
    **limits: Any,
) -> Figure:
    """Draw curves by the axes' method ``scale``; ``titles``: of the figure, the x and the y axis."""
    with plotted(*titles, size) as (figure, axes):
        for x, y, label, color, line, width, marker in curves:
            look = {name: value for name, value in (("lw", width), ("ms", marker)) if value is not None}
            getattr(axes, scale)(x, y, line, color=color, label=label, **look)
        axes.set(**limits)
        if legend is not None:
            axes.legend(**legend)
    return figure


K = TypeVar("K")


def step_seconds(run: Callable[[int], object], steps: int) -> float:
    """Return the processor time of a step [s]: (time of ``steps`` + 1 steps − time of one step) / ``steps``."""

    def taken(count: int) -> float:
        return seconds(lambda: run(count), time.process_time)

    return (taken(steps + 1) - taken(1)) / steps


def medians(
    cases: Mapping[K, Callable[[], float]], repeats: int, progress: Progress = lambda _: None, *, warm_up: bool = False
) -> dict[K, float]:
    """Return the median of each case; cases are run in turn on one core; ``warm_up``: each is run once before."""
    with one_core():
        taken = interleaved(cases, repeats, warm_up=warm_up, progress=progress)
    return {name: float(np.median(values)) for name, values in taken.items()}


def power(sizes: Iterable[float], times: Iterable[float], least: float = 0.0) -> float:
    """Return the exponent with which times grow with the size, for sizes of ``least`` or more."""
    long = [(n, value) for n, value in zip(sizes, times, strict=True) if n >= least]
    return slope([n for n, _ in long], [value for _, value in long])


def draw_growth(
    title: str, xlabel: str, ylabel: str, curves: Sequence[Curve], size: tuple[float, float] = (7.0, 4.2)
) -> Figure:
    """Draw times over sizes on logarithmic axes, with ticks at the sizes of the last curve."""
    marked = [curve._replace(line=curve.line.replace("-", "o-", 1), marker=4) for curve in curves]
    sizes = np.asarray(curves[-1].x).tolist()
    ticks = {"xticks": sizes, "xticklabels": [f"{n:g}" for n in sizes]}
    figure = drawn((title, xlabel, ylabel), marked, "loglog", size, **ticks)
    figure.axes[0].xaxis.set_minor_locator(NullLocator())
    return figure
