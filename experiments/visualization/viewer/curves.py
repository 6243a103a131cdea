"""What can be plotted beside the scene: a few quantities of a run over time."""

from dataclasses import dataclass

import numpy as np

from biped.metrics.timeseries import series
from biped.runs.run import Run
from biped.runs.summary import error_quaternions, position_errors
from contact.arrays import Floats

#: Points of a curve that are sent to the browser.
POINTS = 480


@dataclass(frozen=True)
class Curve:
    """One line."""

    label: str  # ``left``, ``x``, or nothing where there is one only
    values: Floats  # (rows,)


@dataclass(frozen=True)
class Plot:
    """Lines that belong together."""

    title: str  # with its unit
    curves: tuple[Curve, ...]  # the lines


def plots_of(run: Run) -> list[Plot]:
    frame, model = run.frame, run.state.model
    plots: list[Plot] = []
    table = series(run)
    root = model.root.joint.name
    if run.set_point is not None and model.is_floating:
        distance = 1e3 * np.linalg.norm(position_errors(frame, run.set_point), axis=1)
        quaternion = error_quaternions(frame, run.set_point)
        angle = np.degrees(2.0 * np.arctan2(np.linalg.norm(quaternion[:, 1:], axis=1), np.abs(quaternion[:, 0])))
        plots.append(Plot("position error of the trunk [mm]", (Curve("", distance),)))
        plots.append(Plot("orientation error of the trunk [°]", (Curve("", angle),)))
    if model.is_floating:
        plots.append(Plot(f"height of the {model.root.name} [m]", (Curve("", frame[f"{root}_z"].to_numpy()),)))
    for joint in ("hip_pitch", "knee_pitch", "ankle_pitch", "ankle_roll"):
        sides = [side for side in ("left", "right") if f"torque_{side}_{joint}" in frame.columns]
        curves = tuple(Curve(side, frame[f"torque_{side}_{joint}"].to_numpy()) for side in sides)
        if curves:
            plots.append(Plot(f"{joint.replace('_', ' ')} torque [N·m]", curves))
    if not any("torque" in plot.title for plot in plots):
        names = model.joint_names[:4]
        curves = tuple(Curve(name.replace("_", " "), frame[f"torque_{name}"].to_numpy()) for name in names)
        plots += [Plot("torque [N·m]", curves)] if curves else []
    if model.nc:
        plots.append(Plot("ground force [N]", (Curve("", table["grf_z"].to_numpy()),)))
        for column, title in (
            ("margin_of_stability", "margin of stability [mm]"),
            ("cop_margin", "margin of the centre of pressure [mm]"),
        ):
            if table[column].notna().any():
                plots.append(Plot(title, (Curve("", 1e3 * table[column].to_numpy()),)))
    plots.append(Plot("height of the centre of mass [m]", (Curve("", table["com_z"].to_numpy()),)))
    kinetic = frame["ledger_kinetic"].to_numpy()
    plots.append(Plot("kinetic energy [J]", (Curve("", kinetic),)))
    return plots


def pooled(time: Floats, values: Floats, grid: Floats) -> Floats:
    """Values on an even grid [s]: of each interval about a grid point the one farthest from the interval's mean.

    So no peak is lost. NaN where the run has none; by interpolation where no row falls into an interval.
    """
    half = 0.5 * (grid[1] - grid[0]) if len(grid) > 1 else 0.0
    result = np.interp(grid, time, values, left=np.nan, right=np.nan)
    first = np.searchsorted(time, grid - half)
    last = np.searchsorted(time, grid + half)
    for k in np.flatnonzero(last - first > 1):
        part = values[first[k] : last[k]]
        if np.isfinite(part).any():
            result[k] = part[np.nanargmax(np.abs(part - np.nanmean(part)))]
    return result
