"""Figures of the thesis that show a run of an experiment; the run is simulated only once."""

from collections.abc import Callable
from functools import cache

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biped.runs.run import Run
from contact.arrays import Floats
from experiments.catalogue.registry import experiment_named
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.visualization.figures.sheets import SHEETS
from experiments.visualization.figures.subject import subject_of
from experiments.visualization.look.writing import styled

Compare = Callable[[Run], tuple[Finding, ...]]


@cache
def run_of(experiment: str) -> Run:
    return experiment_named(experiment).run()


def figure_of(kind: str, run: Run) -> Figure:
    (sheet,) = (sheet for sheet in SHEETS if sheet.kind == kind)
    with styled():
        return sheet.draw(subject_of(run))


def simulated_figure(
    experiment: str, kind: str, title: str, source: str, compare: Compare, assumptions: tuple[str, ...]
) -> Item:
    """Return the item for a figure of the thesis that the experiment draws, too.

    The short version equals the full version: a run takes a fraction of a second.
    """
    number = experiment_named(experiment).figures[kind]

    def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - see above
        run = run_of(experiment)
        progress(0.5)
        name = f"figure-{number}-{kind}"
        return Outcome(compare(run), assumptions, figures={name: figure_of(kind, run)})

    return Item(f"figure-{number}", title, source, produce)


def bounds(values: Floats) -> str:
    return f"{values.min():.1f} … {values.max():.1f}"


def column(run: Run, name: str, begin: float = 0.0) -> Floats:
    frame = run.frame
    return frame.loc[frame["time"] >= begin, name].to_numpy()


def table(run: Run, prefix: str) -> Floats:
    """Return all columns of a run whose names begin with ``prefix``, (rows, k)."""
    return run.frame[[name for name in run.frame.columns if name.startswith(prefix)]].to_numpy()


def sharpest_change(
    run: Run, curves: Floats, times: tuple[float, ...], excluded: tuple[float, ...], window: float = 0.03
) -> float:
    """Return the greatest sudden change of curves soon after ``times`` [s], divided by the greatest at other times.

    The suddenness of a change is its difference from the change in the row before, so that a steep slope alone does not
    count. Rows soon after ``excluded`` times [s] are left out.
    """
    time = run.frame["time"].to_numpy()[2:]
    change = np.linalg.norm(np.diff(curves, n=2, axis=0), axis=1)

    def soon(events: tuple[float, ...]) -> NDArray[np.bool_]:
        return np.any([(time >= at) & (time <= at + window) for at in events], axis=0)

    quiet = ~soon((*times, *excluded))
    return float(change[soon(times)].max(initial=0.0) / change[quiet].max())


def last_away(run: Run, name: str, target: float, part: float = 0.1) -> float:
    """Return the last time [s] at which a column's distance from its target exceeds a part of the initial one."""
    values = run.frame[name].to_numpy()
    away = np.flatnonzero(np.abs(values - target) > part * abs(values[0] - target))
    return float(run.frame["time"].iloc[away[-1]])
