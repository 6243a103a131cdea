"""What the figures of a comparison show: panels of lines, which the page and the figure sheet draw alike."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from biped.metrics import series
from biped.metrics.timeseries import orientation_errors
from biped.model.legs import knees_of
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.benchmarks.comparison.backends import Backend
from experiments.benchmarks.comparison.results import EQUAL, SETTINGS, VENDOR, Results
from experiments.benchmarks.free_flight import MOTIONS
from experiments.visualization.figures import style

#: So many joints' torques are shown where there are no knees.
FEW = 2
#: [m] creep below this, and relative errors outside of these, are drawn at them, so that axes show what matters.
LEAST_CREEP, LEAST_ERROR, MOST_ERROR = 1e-9, 1e-13, 1e2
SOLID, DASHED, DOTTED = "solid", "dash", "dot"
#: Of engines, in the order of backends; what an engine has for smooth motion is dashed in its colour.
COLORS = (style.BLUE, style.RED, style.GREEN, style.PURPLE, style.ORANGE, style.SKY, style.GREY)


@dataclass(frozen=True)
class Line:
    """Of an engine."""

    label: str  # the engine's
    x: ArrayLike  # (points,)
    y: ArrayLike  # (points,)
    dash: str = SOLID  # solid in equal settings; what a figure means by others is in its text
    suffix: str = ""  # of its name, besides the engine's title


@dataclass(frozen=True)
class Panel:
    """Lines on axes."""

    title: str  # above it
    x: str  # what is along it
    y: str  # likewise
    lines: tuple[Line, ...]  # what it shows
    log_x: bool = False  # whether that axis is logarithmic
    log_y: bool = True  # likewise
    ticks: tuple[float, ...] = field(default=())  # along x, where they are few


def colors_of(backends: Sequence[Backend]) -> dict[str, str]:
    """By label, those for smooth motion included."""
    found = {one.label: COLORS[k % len(COLORS)] for k, one in enumerate(backends)}
    for one in backends:
        for other in one.smooth:
            found.setdefault(other.label, found[one.label])
    return found


def is_smooth(label: str, results: Results) -> bool:
    """Whether it is what an engine has for smooth motion besides its equal settings."""
    return all(one.label != label for one in results.backends)


def shown_runs(results: Results, settings: str) -> dict[str, Run]:
    """Those that have more than a start."""
    return {label: made.run for label, made in results.runs[settings].items() if len(made.run.frame) > 1}


def common_times(runs: Mapping[str, Run]) -> Floats:
    """(rows,) [s] those of the run that lasted longest, of one run or more."""
    return max((run.frame["time"].to_numpy() for run in runs.values()), key=lambda time: float(time[-1]))


def resampled(time: Floats, run: Run, values: Floats) -> Floats:
    """(rows,) values of a run at other times; NaN after its end."""
    return np.interp(time, run.frame["time"].to_numpy(), values, right=np.nan)


def turn(run: Run) -> Floats:
    """(rows,) [°] of the root from its set point, or NaN where it has none."""
    if run.set_point is None:
        return np.full(len(run.frame), np.nan)
    return np.degrees(orientation_errors(run, run.set_point))


def column(name: str, run: Run) -> Floats:
    return run.frame[name].to_numpy()


def floor_force(axis: str, run: Run) -> Floats:
    """(rows,) [N] of the floor on the whole model along x, y or z."""
    return series(run)[f"grf_{axis}"].to_numpy()


Quantity = tuple[str, str, Callable[[Run], Floats]]


def pose(run: Run) -> list[Quantity]:
    """Title, unit and values of where the root is, and how far it is turned."""
    found: list[Quantity] = [(f"Root, {axis}", "m", partial(column, f"{run.root}_{axis}")) for axis in "xyz"]
    return found if run.set_point is None else [*found, ("Turn from the set point", "°", turn)]


def torques(run: Run) -> list[Quantity]:
    """Likewise of the knees, or of the first few joints."""
    model = run.state.model
    shown = knees_of(model) or model.joint_names[:FEW]
    return [(joint.replace("_", " ").capitalize(), "N·m", partial(column, f"torque_{joint}")) for joint in shown]


def forces(run: Run) -> list[Quantity]:
    """Likewise of the floor's force on all contact points together."""
    axes = (("z", "Floor's force, vertical"), ("x", "Floor's force, along x")) if run.state.model.nc else ()
    return [(title, "N", partial(floor_force, axis)) for axis, title in axes]


def creep(results: Results, settings: Iterable[str] = SETTINGS) -> list[Panel]:
    """A panel for each settings."""
    found = []
    for name in settings:
        lines = tuple(
            Line(label, drift.time, 1e3 * np.maximum(drift.distance, LEAST_CREEP), DOTTED if name == VENDOR else SOLID)
            for (which, label), drift in results.drifts.items()
            if which == name
        )
        if lines:
            found.append(Panel(f"Creep, {SETTINGS[name]}", "time [s]", "moved sideways [mm]", lines))
    return found


def flights(results: Results, *, reported: bool) -> list[Panel]:
    """The greatest relative error of the energy so far, by motion; also from velocities as ``reported``."""
    found = []
    for motion in MOTIONS:
        lines = []
        for (which, label), flown in results.flown.items():
            if which == motion:
                dash = DASHED if is_smooth(label, results) else SOLID
                lines.append(Line(label, *_clipped(*flown.in_phase.worst_so_far), dash))
                if reported and flown.reported is not flown.in_phase:
                    lines.append(Line(label, *_clipped(*flown.reported.worst_so_far), DOTTED, ", as reported"))
        if lines:
            title = f"{motion.capitalize()} flight"
            found.append(Panel(title, "time [s]", "greatest relative error so far", tuple(lines)))
    return found


def _clipped(time: Floats, error: Floats) -> tuple[Floats, Floats]:
    return time, np.clip(error, LEAST_ERROR, MOST_ERROR)


def refinements(results: Results) -> list[Panel]:
    """Distances of the root from where it is at the engine's own finest step; runs that fell are not shown."""
    rows = [row for row in results.refinements if row.peak is not None and row.final is not None]
    if not rows:
        return []
    ticks = tuple(sorted({1e3 * row.step for row in rows}))
    found = []
    for number, title in (("peak", "greatest distance on the way [m]"), ("final", "distance at the end [m]")):
        lines = []
        for label in dict.fromkeys(row.engine for row in rows):
            mine = [row for row in rows if row.engine == label]
            errors = [max(getattr(row, number), 1e-16) for row in mine]
            lines.append(Line(label, [1e3 * row.step for row in mine], errors))
        found.append(Panel("", "step [ms]", title, tuple(lines), log_x=True, ticks=ticks))
    return found


def precision(results: Results) -> list[Panel]:
    """Error of a second of free flight against what it costs, and against the step."""
    curves = [] if results.precision is None else [one for one in results.precision.curves if one.measurements]
    found = []
    for by_cost, title in ((True, "engine time of a simulated second [ms]"), (False, "step [ms]")):
        lines = tuple(
            Line(
                curve.method,
                [1e3 * (m.seconds if by_cost else m.size.step) for m in curve.measurements],
                [m.error for m in curve.measurements],
                DASHED if is_smooth(curve.method, results) else SOLID,
            )
            for curve in curves
        )
        if lines:
            found.append(Panel("", title, "error [m]", lines, log_x=True))
    return found


def until(results: Results, end: float) -> float:
    """[s] what is shown of the experiment: until all have long settled, or to the end."""
    outcomes = results.outcomes[EQUAL]
    settled = [row.settling_time for row in outcomes if row.settling_time is not None]
    return min(end, max(1.0, 2.0 * max(settled))) if settled and len(settled) == len(outcomes) else end
