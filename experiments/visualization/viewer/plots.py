"""The quantities of a run over time that can be plotted beside the scene."""

from pathlib import Path

import numpy as np

from biped.metrics.timeseries import series
from biped.model.legs import common_name, legs_of
from biped.records.record import are_left_out
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.cli.quantities import unit_text
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures.labels import joint_label
from experiments.visualization.figures.quantities import curve, over_time
from experiments.visualization.figures.subject import Subject
from experiments.visualization.figures.support import COM, COP, Support
from experiments.visualization.figures.words import words_of
from experiments.visualization.panels.panel import Panel, Points
from experiments.visualization.report.beside_record import BesideRecord

#: Points of a curve that are sent to the browser.
POINTS = 480


def plots_of(run: Run) -> list[Panel]:
    """All that a run has, the most telling first; the title has the unit."""
    if run.world is not None:
        return q.world_panels(run, run.world)
    subject, table = Subject(run), series(run)
    model = run.state.model
    plots: list[Panel] = []

    def add(title: str, *curves: Points) -> None:
        plots.append(over_time(title, "", curves))

    if model.nc and model.is_floating:
        for title, curves in ahead_and_aside(subject):
            add(f"{title} [mm]", *curves)
    if run.set_point is not None and model.is_floating:
        distance, angle = q.error_sizes(subject)
        add(f"position error of the {model.root.name} [mm]", curve("", distance.y))
        add(f"orientation error of the {model.root.name} [°]", curve("", angle.y))
    if model.is_floating:
        add(f"height of the {model.root.name} [m]", curve("", subject.column(f"{subject.root}_z")))
    torques = {joint: subject.column(f"torque_{joint}") for joint in q.joints_with(subject, "torque")}
    legs = legs_of(model)
    pairs = list(zip(*((*leg.sagittal, *leg.frontal[-1:]) for leg in legs), strict=False))
    for pair in pairs:
        curves = [curve(leg.side, torques[joint]) for leg, joint in zip(legs, pair, strict=True) if joint in torques]
        add(f"{joint_label(common_name(*pair))} torque [N·m]", *curves)
    if torques and not pairs:
        add("torque [N·m]", *(curve(name.replace("_", " "), torques[name]) for name in model.joint_names[:4]))
    if model.nc:
        add("ground force [N]", curve("", table["grf_z"].to_numpy()))
        for column, title in (
            ("margin_of_stability", "margin of stability [mm]"),
            ("cop_margin", "margin of the centre of pressure [mm]"),
        ):
            if table[column].notna().any():
                add(title, curve("", 1e3 * table[column].to_numpy()))
    add("height of the centre of mass [m]", curve("", table["com_z"].to_numpy()))
    add("kinetic energy [J]", curve("", subject.column("ledger_kinetic")))
    return plots


def measured_plots(run: Run, record: str | Path) -> list[Panel]:
    """Columns of a record over those of a run, at the run's times; see ``pairs_beside`` for the file."""
    times, plots = run.frame["time"].to_numpy(), []
    for one, remark in BesideRecord.of(run, record).remarked:
        after = np.searchsorted(one.time, times).clip(1, len(one.time) - 1)
        is_gap = are_left_out(one.time)[after - 1] & (times < one.time[after])
        measured, model = (
            np.where(is_gap, np.nan, np.interp(times, one.time, each, np.nan, np.nan))
            for each in (one.measured, one.model)
        )
        title = f"{words_of(one.column)}, and measured{remark} [{unit_text(one.unit) or '–'}]"
        plots.append(over_time(title, "", (curve("model", model), curve("measured", measured))))
    return plots


def ahead_and_aside(subject: Subject) -> list[tuple[str, list[Points]]]:
    """[mm] Centres of pressure and of mass, forwards and to the left positive; on a moving floor in its axes."""
    paths, model = Support(subject, carried=True).paths, subject.model
    found = []
    for title, way in (("forwards", model.facing), ("to the left", model.left)):
        curves = [curve(name, 1e3 * paths[long] @ np.array(way[:2])) for name, long in (("CoP", COP), ("CoM", COM))]
        found.append((f"CoP and CoM, {title}", curves))
    return found


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
