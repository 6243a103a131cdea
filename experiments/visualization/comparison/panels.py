"""Panels of a comparison, for its page and its figure sheet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from biped.metrics import series
from biped.metrics.timeseries import orientation_errors
from biped.model.legs import knees_of
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.comparison.backends import Backend
from experiments.comparison.flight import MOTIONS
from experiments.comparison.stages import EQUAL, SETTINGS, VENDOR, Results
from experiments.visualization.figures.directions import XYZ, space_axes
from experiments.visualization.look import style
from experiments.visualization.panels.panel import Axis, Dash, Panel, Points, Rule

#: Number of joints whose torques are shown if a model has no knees.
FEW = 2
#: Limits at which values outside are drawn: [m] smallest creep; smallest and largest relative error.
LEAST_CREEP, LEAST_ERROR, MOST_ERROR = 1e-9, 1e-13, 1e2
#: Colours of engines, in the order of backends; an engine's settings for smooth motion are dashed in its colour.
COLORS = (style.BLUE, style.RED, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.GREY)


def colors_of(backends: Sequence[Backend]) -> dict[str, str]:
    """Return the colour of each label, including the labels of settings for smooth motion."""
    colors = {backend.label: COLORS[k % len(COLORS)] for k, backend in enumerate(backends)}
    for backend in backends:
        for other in backend.smooth:
            colors.setdefault(other.label, colors[backend.label])
    return colors


def line(results: Results, label: str, x: ArrayLike, y: ArrayLike, dash: Dash = "solid") -> Points:
    """Return a curve in the colour of an engine, with the engine's title in the legend."""
    return Points(x, y, results.titles[label], colors_of(results.backends)[label], dash=dash, width=1.6)


def marked(curve: Points) -> Points:
    """Return a curve with markers at its points."""
    return replace(curve, marker="circle", size=3.2, width=1.4)


def is_smooth(label: str, results: Results) -> bool:
    """Return whether a label stands for an engine's settings for smooth motion."""
    return all(backend.label != label for backend in results.backends)


def shown_runs(results: Results, settings: str) -> dict[str, Run]:
    """Return the runs with more than one row, by label of the engine."""
    return {label: made.run for label, made in results.runs[settings].items() if len(made.run.frame) > 1}


def common_times(runs: Mapping[str, Run]) -> Floats:
    """Return the times (rows,) [s] of the longest run."""
    return max((run.frame["time"].to_numpy() for run in runs.values()), key=lambda time: float(time[-1]))


def resampled(time: Floats, run: Run, values: Floats) -> Floats:
    """Return values (rows,) of a run at other times; NaN after its end."""
    return np.interp(time, run.frame["time"].to_numpy(), values, right=np.nan)


def turn(run: Run) -> Floats:
    """Return the angle (rows,) [°] of the root from its set point; NaN without a set point."""
    if run.set_point is None:
        return np.full(len(run.frame), np.nan)
    return np.degrees(orientation_errors(run, run.set_point))


def column(name: str, run: Run, sign: float = 1.0) -> Floats:
    return sign * run.frame[name].to_numpy()


def ground_reaction(axis: str, run: Run, sign: float = 1.0) -> Floats:
    """Return the total ground reaction force (rows,) [N] along x, y or z, multiplied by ``sign``."""
    return sign * series(run)[f"grf_{axis}"].to_numpy()


Quantity = tuple[str, str, Callable[[Run], Floats]]


def pose(run: Run) -> list[Quantity]:
    """Return title, unit and values of the root's position, and of its angle from the set point."""
    quantities: list[Quantity] = [
        (f"Root, {name}", "m", partial(column, f"{run.root}_{XYZ[k]}", sign=sign))
        for name, k, sign in space_axes(run.state.model)
    ]
    return quantities if run.set_point is None else [*quantities, ("Angle from the set point", "°", turn)]


def torques(run: Run) -> list[Quantity]:
    """Return (title, unit, function of a run) for each knee's torque, or the first joints' without knees."""
    model = run.state.model
    shown = knees_of(model) or model.joint_names[:FEW]
    return [(joint.replace("_", " ").capitalize(), "N·m", partial(column, f"torque_{joint}")) for joint in shown]


def forces(run: Run) -> list[Quantity]:
    """Return title, unit and values of the total ground reaction force."""
    if not run.state.model.nc:
        return []
    name, k, sign = space_axes(run.state.model)[0]
    ahead = partial(ground_reaction, XYZ[k], sign=sign)
    return [("Vertical GRF", "N", partial(ground_reaction, "z")), (f"{name} GRF", "N", ahead)]


def runs_panel(results: Results, settings: str, quantity: Quantity) -> Panel:
    """Return a panel of one quantity of all runs; later lines are thinner, so that earlier ones remain visible."""
    name, unit, values = quantity
    runs = shown_runs(results, settings)
    time = common_times(runs)
    lines = tuple(
        replace(line(results, label, time, resampled(time, run, values(run))), width=2.6 - 0.65 * min(k, 2))
        for k, (label, run) in enumerate(runs.items())
    )
    impacts = next(iter(runs.values())).summary["events"]["impacts"][:1]
    marks = (Rule(impact["time"], style.GREY, dash="dot") for impact in impacts)
    x = Axis("time [s]", 0.0, until(results, float(time[-1])))
    label = name if name[:2].isupper() else name[0].lower() + name[1:]
    return Panel((*lines, *marks), x, Axis(f"{label} [{unit}]"))


def creep(results: Results) -> list[Panel]:
    """Return a panel for each settings: sideways displacement of the farthest point of the soles."""
    shown = []
    for name in SETTINGS:
        dash: Dash = "dot" if name == VENDOR else "solid"
        lines = tuple(
            line(results, label, time, 1e3 * np.maximum(distance, LEAST_CREEP), dash)
            for (which, label), (time, distance) in results.drifts.items()
            if which == name
        )
        if lines:
            y = Axis("sideways displacement [mm]", log=True, powers=True)
            shown.append(Panel(lines, Axis("time [s]"), y, f"Creep, {SETTINGS[name]}"))
    return shown


def flights(results: Results) -> list[Panel]:
    """Return a panel for each motion in flight: the largest relative energy error up to each time."""
    shown = []
    for motion in MOTIONS:
        lines = []
        for (which, label), flown in results.flown.items():
            if which == motion:
                dash: Dash = "dash" if is_smooth(label, results) else "solid"
                lines.append(line(results, label, *_clipped(*flown.worst_so_far), dash))
        if lines:
            y = Axis("largest relative error so far", log=True, powers=True)
            shown.append(Panel(tuple(lines), Axis("time [s]"), y, f"{motion.capitalize()} flight"))
    return shown


def _clipped(time: Floats, error: Floats) -> tuple[Floats, Floats]:
    return time, np.clip(error, LEAST_ERROR, MOST_ERROR)


def refinements(results: Results) -> list[Panel]:
    """Return two panels: largest and final distance of the root from the engine's solution at its finest step."""
    rows = [row for row in results.refinements if row.peak is not None and row.final is not None]
    if not rows:
        return []
    ticks = {1e3 * step: f"{1e3 * step:g}" for step in sorted({row.step for row in rows})}
    x, shown = Axis("step [ms]", log=True, ticks=ticks), []
    for number, title in (("peak", "largest distance [m]"), ("final", "distance at the end [m]")):
        lines = []
        for label in dict.fromkeys(row.engine for row in rows):
            mine = [row for row in rows if row.engine == label]
            errors = [max(getattr(row, number), 1e-16) for row in mine]
            lines.append(marked(line(results, label, [1e3 * row.step for row in mine], errors)))
        shown.append(Panel(tuple(lines), x, Axis(title, log=True, powers=True)))
    return shown


def precision(results: Results) -> list[Panel]:
    """Return two panels: error after one second of free flight against the cost, and against the step."""
    curves = [] if results.precision is None else [c for c in results.precision.curves if c.measurements]
    shown = []
    for by_cost, title in ((True, "cost per simulated second [ms]"), (False, "step [ms]")):
        lines = []
        for curve in curves:
            x = [1e3 * (m.seconds if by_cost else m.size.step) for m in curve.measurements]
            dash: Dash = "dash" if is_smooth(curve.method, results) else "solid"
            lines.append(marked(line(results, curve.method, x, [m.error for m in curve.measurements], dash)))
        if lines:
            y = Axis("error [m]", log=True, powers=True, margin=0.06)
            shown.append(Panel(tuple(lines), replace(y, label=title), y))
    return shown


def until(results: Results, end: float) -> float:
    """Return the end [s] of the time axis: twice the longest settling time, or ``end`` if a run has not settled."""
    outcomes = results.outcomes[EQUAL]
    settled = [row.settling_time for row in outcomes if row.settling_time is not None]
    return min(end, max(1.0, 2.0 * max(settled))) if settled and len(settled) == len(outcomes) else end
