"""Times over the size of a system: how they are taken, with which power of the size they grow, and their figure."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from experiments.papers.figures import plotted
from experiments.papers.item import Progress
from experiments.timing import interleaved, one_core, seconds, slope

K = TypeVar("K")


class Curve(NamedTuple):
    """A line of a figure of times over sizes."""

    label: str
    color: str
    sizes: Sequence[float]
    times: Sequence[float]
    line: str = "o-"


def step_seconds(run: Callable[[int], object], steps: int) -> float:
    """Return the processor's time of a step [s]: of a run of ``steps`` + 1 steps, less that of one with a single step.

    Args:
        run: takes so many steps, with all that a run costs besides.
        steps: how many are timed.
    """

    def taken(count: int) -> float:
        return seconds(lambda: run(count), time.process_time)

    return (taken(steps + 1) - taken(1)) / steps


def medians(
    cases: Mapping[K, Callable[[], float]], repeats: int, progress: Progress = lambda _: None, *, warm_up: bool = False
) -> dict[K, float]:
    """Return the median of each case, all taken in turn on one core; with ``warm_up`` each once before."""
    with one_core():
        taken = interleaved(cases, repeats, warm_up=warm_up, progress=progress)
    return {name: float(np.median(values)) for name, values in taken.items()}


def power(sizes: Iterable[float], times: Iterable[float], least: float = 0.0) -> float:
    """Return the power of the size that times grow with, from the size ``least`` on."""
    long = [(n, value) for n, value in zip(sizes, times, strict=True) if n >= least]
    return slope([n for n, _ in long], [value for _, value in long])


def draw_growth(
    title: str, xlabel: str, ylabel: str, curves: Sequence[Curve], size: tuple[float, float] = (7.0, 4.2)
) -> Figure:
    """Draw times over sizes, both logarithmic, the sizes of the last curve marked."""
    with plotted(title, xlabel, ylabel, size) as (figure, axes):
        for curve in curves:
            axes.loglog(curve.sizes, curve.times, curve.line, ms=4, color=curve.color, label=curve.label)
        axes.set_xticks(curves[-1].sizes, [f"{n:g}" for n in curves[-1].sizes])
        axes.xaxis.set_minor_locator(NullLocator())
    return figure
