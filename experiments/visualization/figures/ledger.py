"""Figures of what a run proves about itself: its energy ledger, and its solver's iterations."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.visualization.figures import style
from experiments.visualization.figures.labels import WORKS
from experiments.visualization.figures.panels import draw_curves, finish, new_figure
from experiments.visualization.figures.subject import Subject


def draw_residual(axes: Axes, subject: Subject) -> None:
    """The energy that no work accounts for [mJ]."""
    draw_curves(axes, subject, [1e3 * subject.column("ledger_residual")], ("left over",), (style.RED,))


def ledger(subject: Subject) -> Figure:
    """Energy and work since the start, and what is left over, on an axis of its own."""
    figure = new_figure(2, size=(style.SIZE[0], 5.0), gridspec_kw={"height_ratios": (2.2, 1)})
    upper, lower = figure.axes
    energy = subject.column("ledger_kinetic") + subject.column("ledger_potential")
    draw_curves(upper, subject, [energy - energy[0]], ("kinetic + potential",), (style.BLACK,))
    works = {column: label for column, label in WORKS.items() if np.any(subject.column(column))}
    draw_curves(upper, subject, [subject.column(column) for column in works], list(works.values()))
    finish(upper, subject, "change, work [J]", title="Ledger of energy and work since the start", time_label=False)
    draw_residual(lower, subject)
    finish(lower, subject, "left over [mJ]", legend=False, mark_labels=False)
    return figure


def draw_momentum_change(axes: Axes, subject: Subject) -> None:
    """How far the angular momentum about the centre of mass is from where it started."""
    parts = [subject.column(f"momentum_l{axis}") for axis in "xyz"]
    draw_curves(axes, subject, [part - part[0] for part in parts], ("x", "y", "z"), style.AXES)


def momentum(subject: Subject) -> Figure:
    """Angular momentum about the centre of mass, and its change on an axis of its own."""
    figure = new_figure(2, size=(style.SIZE[0], 5.0))
    upper, lower = figure.axes
    draw_curves(upper, subject, [subject.column(f"momentum_l{axis}") for axis in "xyz"], ("x", "y", "z"), style.AXES)
    title = "Angular momentum about the centre of mass"
    finish(upper, subject, "[N·m·s]", title=title, time_label=False)
    draw_momentum_change(lower, subject)
    finish(lower, subject, "change [N·m·s]", legend=False, mark_labels=False)
    return figure


def newton_iterations(subject: Subject) -> Figure:
    """Thesis, figure 5.6."""
    figure = new_figure()
    axes = figure.axes[0]
    iterations = subject.column("newton_iterations")
    axes.step(subject.time, iterations, where="post", color=style.BLUE, linewidth=0.9)
    axes.set_ylim(0, max(5, int(iterations.max())) + 0.5)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    title = "Newton iterations, the most of any step since the row before"
    finish(axes, subject, "iterations [–]", title=title, legend=False)
    return figure
