"""Overview sheet of a run: time series and a stabilogram on one page."""

from collections.abc import Callable
from dataclasses import replace
from textwrap import fill
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import offset_copy

from contact.arrays import Floats
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures.contacts import add_state_legend, modes_panel
from experiments.visualization.figures.directions import AXES, XYZ, ahead_of, direction_of
from experiments.visualization.figures.labels import name_in_text
from experiments.visualization.figures.panels import LINE, draw_panel, label_lines
from experiments.visualization.figures.quantities import curve, over_time
from experiments.visualization.figures.subject import Subject
from experiments.visualization.figures.support import COLORS, Support, margin_of_stability
from experiments.visualization.look import style
from experiments.visualization.look.words import disturbance_text
from experiments.visualization.look.writing import width_of
from experiments.visualization.panels.panel import Panel, Points

#: [s] shown before the disturbance.
BEFORE = 0.2
#: [s] at the start of a run that are ignored in scaling ground reaction forces: the landing.
LANDING = 0.05
#: [N] smallest half range of a force axis.
LEAST = 1.0
#: [inch] A narrower sheet has its panels in one column.
NARROW = 5.0
#: [inch] width of the sheet, height of a row of panels.
WIDTH, ROW = 11.0, 1.85
#: Letters per inch of the heading at 1 point.
LETTERS = 100.0

#: A function that draws one panel over time.
Draw = Callable[[Axes, Subject], None]


def overview(subject: Subject) -> Figure:
    """Draw the overview from shortly before the disturbance on; without contact points: motion, energy and momentum."""
    shown = subject.since(BEFORE)
    if not subject.model.nc:
        return _sheet(shown, [_root, _orientation, _drive, _energy, _angular_momentum, _residual], [], None)
    ahead, support = ahead_of(subject.model), Support(shown)
    paths: list[Draw] = [_path(support, axis) for axis in (ahead, 1 - ahead)]
    forces: list[Draw] = [_force(axis) for axis in ("z", "xy"[ahead], "xy"[1 - ahead])]
    balance = _margin if subject.model.joint_names else _orientation
    return _sheet(shown, [*paths, balance, _drive, _states], forces, lambda axes: draw_stabilogram(axes, support))


def _sheet(subject: Subject, left: list[Draw], right: list[Draw], square: Callable[[Axes], None] | None) -> Figure:
    """Draw panels over time in two columns, the square one on top of the right column; one column on a narrow page."""
    if not right:
        left, right = left[0::2], left[1::2]
    above = 2 if square else 0
    rows = max(len(left), above + len(right))
    is_narrow = width_of(WIDTH) < NARROW
    places = [(row, 0) for row in range(len(left))]
    places += [(rows + above + row, 0) if is_narrow else (above + row, 1) for row in range(len(right))]
    figure = Figure(figsize=(WIDTH / 2.0 if is_narrow else WIDTH, ROW * rows * (2 if is_narrow else 1)))
    grid = figure.add_gridspec(2 * rows if is_narrow else rows, 1 if is_narrow else 2)
    first: Axes | None = None
    for (row, column), draw in zip(places, [*left, *right], strict=True):
        axes = first = figure.add_subplot(grid[row, column], sharex=first)
        draw(axes, subject)
        lowest = not any(other[1] == column and other[0] > row for other in places)
        axes.tick_params(axis="x", labelbottom=lowest)
        axes.set_xlabel("time [s]" if lowest else "")
    if square is not None:
        square(figure.add_subplot(grid[rows : rows + above, 0] if is_narrow else grid[:above, 1]))
    _head(figure, subject)
    return figure


def _head(figure: Figure, subject: Subject) -> None:
    """Write the outcome of the run above the sheet, and below it the run's name and its disturbances."""
    letters = int(LETTERS * width_of(WIDTH) / matplotlib.rcParams["font.size"])
    done, name = disturbance_text(subject.run), subject.name or subject.model.name
    lines = [fill(text, letters) for text in (subject.run.verdict_line, f"{name}: {done}" if done else name)]
    figure.suptitle("\n".join(lines), fontsize="large", fontweight="bold", x=0.01, ha="left")


def _draw(axes: Axes, subject: Subject, panel: Panel, *, mark_labels: bool = False) -> None:
    draw_panel(axes, subject, replace(panel, legend=""), time_label=False, mark_labels=mark_labels)
    if panel.legend:
        _add_legend(axes, panel.title, label_lines(axes, subject.marks) if mark_labels else 0)


def _add_legend(axes: Axes, title: str, lines: int) -> None:
    """Add the legend below the title and above the marks' labels, so that it covers no curve."""
    assert isinstance(axes.figure, Figure)
    above = offset_copy(axes.transAxes, axes.figure, y=LINE * lines, units="points")
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), bbox_transform=above, ncols=9, fontsize="small", handlelength=1.4,
        columnspacing=1.0, borderaxespad=0.1, borderpad=0.1,
    )  # fmt: skip
    axes.set_title(title, pad=6.0 + LINE * (lines + 1))


def _path(support: Support, axis: int) -> Draw:
    def draw(axes: Axes, subject: Subject) -> None:
        shade_base(axes, support, axis)
        is_first = axis == ahead_of(subject.model)
        _draw(axes, subject, path_panel(support, axis, legend=is_first), mark_labels=is_first)
        axes.set_ylim(*direction_of(subject.model, axis).of(*support.limits(axis, 1e3)))

    return draw


def _floor_path(subject: Subject, axis: int) -> tuple[Points, ...]:
    """Return the displacement [mm] of a moving floor from its start."""
    if not subject.has("platform_x"):
        return ()
    sign = direction_of(subject.model, axis).sign
    return (curve("floor", sign * 1e3 * subject.column(f"platform_{XYZ[axis]}"), style.GREY, width=1.1),)


def _margin(axes: Axes, subject: Subject) -> None:
    _draw(axes, subject, margin_of_stability(subject))


def _drive(axes: Axes, subject: Subject) -> None:
    """Draw the largest torques, or the velocity of the root if no torque acts."""
    if any(np.any(subject.column(f"torque_{joint}")) for joint in q.joints_with(subject, "torque")):
        return _draw(axes, subject, q.largest_torques(subject))
    velocity = q.in_space(subject, q.columns(subject, f"{subject.root}_v"))
    return _draw(axes, subject, over_time("Velocity of the root's centre of mass", "velocity [m/s]", velocity))


def _states(axes: Axes, subject: Subject) -> None:
    panel = replace(modes_panel(subject, "Contact states"), legend="")
    draw_panel(axes, subject, panel, time_label=False, mark_labels=False)
    add_state_legend(axes)


def _force(axis: str) -> Draw:
    def draw(axes: Axes, subject: Subject) -> None:
        curves, title = q.foot_forces(subject, axis), "Vertical GRF"
        if axis != "z":
            shown = direction_of(subject.model, XYZ.index(axis))
            curves = tuple(replace(c, y=shown.sign * np.asarray(c.y)) for c in curves)
            title = f"{shown.name} GRF" if shown.name in AXES else f"GRF along {shown.name}"
        _draw(axes, subject, over_time(title, "force [N]", curves, legend=axis == "z"))
        _scale(axes, subject, [np.asarray(c.y) for c in curves])

    return draw


def _scale(axes: Axes, subject: Subject, curves: list[Floats]) -> None:
    """Scale the y axis without the landing at the start of the run."""
    landed = subject.time >= subject.begins + LANDING
    values = np.array([curve[landed] for curve in curves])
    values = values[np.isfinite(values)]
    if values.size:
        low, high = min(float(values.min()), -LEAST), max(float(values.max()), LEAST)
        margin = 0.06 * (high - low)
        axes.set_ylim(low - margin, high + margin)


def _root(axes: Axes, subject: Subject) -> None:
    target, _ = q.targets(subject)
    panel = over_time("Centre of mass of the root body", "position [mm]", q.root_position(subject), target)
    _draw(axes, subject, panel, mark_labels=True)


def _orientation(axes: Axes, subject: Subject) -> None:
    _draw(axes, subject, q.leans(subject, "Orientation of the root body", q.root_orientation(subject)))


def _energy(axes: Axes, subject: Subject) -> None:
    curves = q.named(q.columns(subject, "ledger_", ("kinetic", "potential")), ("kinetic", "potential"))
    _draw(axes, subject, over_time("Energy", "energy [J]", curves))


def _angular_momentum(axes: Axes, subject: Subject) -> None:
    title = "Change of angular momentum about the centre of mass"
    _draw(axes, subject, q.rescaled(over_time(title, "change [N·m·s]", q.angular_momentum(subject, change=True))))


def _residual(axes: Axes, subject: Subject) -> None:
    _draw(axes, subject, q.energy_residual(subject))


#: Largest ratio of the sides of the top view.
SLIMMEST = 2.0
_BASE = "#E9EEF2"


def path_panel(support: Support, axis: int, *, legend: bool) -> Panel:
    """Return CoM, XCoM and CoP [mm] along x (0) or y (1) over time; the CoM is on top."""
    shown = direction_of(support.subject.model, axis)
    paths = {name: shown.sign * 1e3 * support.paths[name][:, axis] for name in COLORS}
    curves = tuple(curve(name, path, COLORS[name]) for name, path in paths.items())
    floor = _floor_path(support.subject, axis)
    return over_time(shown.title, f"{shown.name} [mm]", (*floor, *curves), legend=legend)


def shade_base(axes: Axes, support: Support, axis: int) -> None:
    """Shade the range of the base of support along an axis over time [mm]."""
    low, high = (direction_of(support.subject.model, axis).sign * end for end in support.reach(axis))
    look: Any = {"color": _BASE, "linewidth": 0.0, "label": "base of support", "zorder": 0.5}
    axes.fill_between(support.subject.time, 1e3 * low, 1e3 * high, **look)


def draw_stabilogram(axes: Axes, support: Support) -> None:
    """Draw a top view in which the model faces up: paths that end in dots; soles and base of support at the start.

    On a moving floor the axes move with the floor: the soles stay in place, and paths are relative to the floor.
    """
    support = replace(support, carried=True)
    model = support.subject.model
    ahead = ahead_of(model)
    places = (1 - ahead, ahead)
    shown = [direction_of(model, axis, from_above=True) for axis in places]

    def seen(points: Floats) -> list[Floats]:
        return [1e3 * direction.sign * points[:, axis] for direction, axis in zip(shown, places, strict=True)]

    axes.fill(*seen(support.base(0)), facecolor=_BASE, linewidth=0.0)
    for ring in support.soles.values():
        axes.plot(*seen(ring), color=style.GREY, linewidth=0.8)
    for name, color in COLORS.items():
        across, along_it = seen(support.paths[name])
        axes.plot(across, along_it, color=color, linewidth=1.1)
        axes.plot(across[-1:], along_it[-1:], "o", color=color, markersize=4.0, markeredgecolor="white")
    axes.set_aspect("equal", anchor="W")
    limits = [support.limits(axis, 1e3) for axis in places]
    least = max(high - low for low, high in limits) / SLIMMEST
    (left, right), (low, high) = (
        direction.of(*_widened(*ends, least)) for direction, ends in zip(shown, limits, strict=True)
    )  # fmt: skip
    axes.set_xlim(left, right)
    axes.set_ylim(low, high)
    axes.set_xlabel(f"{shown[0].name} [mm]")
    axes.set_ylabel(f"{shown[1].name} [mm]")
    moving = ", on the moving floor" if support.subject.has("platform_x") else ""
    axes.set_title(f"Top view{moving}; {name_in_text(model)} faces up")


def _widened(low: float, high: float, least: float) -> tuple[float, float]:
    more = max(least - (high - low), 0.0) / 2.0
    return low - more, high + more
