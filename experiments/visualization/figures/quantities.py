"""Curves of a run with labels, units and colours, and panels of them, for files and pages."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from biped.metrics import anatomical
from biped.metrics.timeseries import error_quaternions, orientation_errors, position_errors
from biped.model import Model
from biped.model.legs import common_name, legs_of
from biped.runs.row_layout import POSE
from biped.runs.run import Run
from biped.runs.world import Plot, World
from contact.arrays import Floats
from experiments.cli.quantities import unit_text
from experiments.visualization.figures.directions import XYZ, is_anatomical, space_axes
from experiments.visualization.figures.labels import (
    OPPOSITES,
    SIDES,
    WORKS,
    contact_groups,
    joint_groups,
    joint_label,
    joint_motions,
    motion_label,
)
from experiments.visualization.figures.subject import Subject
from experiments.visualization.look import style
from experiments.visualization.panels.panel import Axis, Dash, Panel, Points, Rule

#: Prefixes of units: 1, 1e-3, 1e-6, …
_PREFIXES = ("", "m", "µ", "n", "p")
#: (value, colour) of dashed lines at target values.
Targets = tuple[tuple[float, str], ...]
#: (rows,) values of each curve.
Values = Sequence[Floats] | Floats


def curve(label: str, values: ArrayLike, color: str = style.BLUE, dash: Dash = "solid", **look: Any) -> Points:
    """Return a curve of values (rows,) at the recorded times of a run; ``look`` sets other fields of ``Points``."""
    return Points(None, values, label, color, dash=dash, **{"width": None, **look})


def over_time(
    title: str,
    unit: str,
    curves: Sequence[Points],
    targets: Targets = (),
    *,
    log: bool = False,
    legend: bool = True,
    least: float = 0.0,
    target: str = "set point",
) -> Panel:
    """Return a panel of curves over time; ``unit`` labels the y axis, ``target`` the horizontal lines at ``targets``.

    If all values are smaller than ``least``, such as rounding errors, the y axis extends to about ±``least``.
    """
    rules = [
        Rule(value, color, "" if place else target, "y", "dash", 0.9) for place, (value, color) in enumerate(targets)
    ]
    axis = Axis(unit, log=log, least=least)
    return Panel((*curves, *rules), Axis("time [s]"), axis, title, legend="right" if legend else "")


def named(values: Values, labels: Sequence[str], colors: Sequence[str] = style.LINES) -> tuple[Points, ...]:
    """Return one curve for each label."""
    return tuple(curve(label, value, color) for value, label, color in zip(values, labels, colors, strict=False))


#: Most curves in one panel.
MOST_CURVES = 8


def world_panels(run: Run, world: World) -> list[Panel]:
    """Return the panels that a run without a tree of bodies defines, each with the curves with the largest values."""
    return [_world_panel(run, plot) for plot in world.plots]


def _world_panel(run: Run, plot: Plot) -> Panel:
    sizes = {name: float(run.frame[name].abs().max()) for name in plot.columns}
    greatest = sorted(plot.columns, key=lambda name: -sizes[name])[:MOST_CURVES]
    names = [name for name in plot.columns if name in greatest]
    title = plot.title if len(names) == len(plot.columns) else f"{plot.title}, the {MOST_CURVES} largest"
    curves = named([run.frame[name].to_numpy() for name in names], [name.replace("_", " ") for name in names])
    return over_time(title, f"[{unit_text(plot.unit) or '–'}]", curves, log=plot.logarithmic)


def columns(subject: Subject, prefix: str, parts: Sequence[str] = XYZ) -> list[Floats]:
    return [subject.column(f"{prefix}{part}") for part in parts]


def by_axis(values: Values) -> tuple[Points, ...]:
    """Return curves of x, y and z."""
    return named(values, XYZ, style.AXES)


def in_space(subject: Subject, values: Values) -> tuple[Points, ...]:
    """Return curves of a vector in the axes of the current look: AP, ML and vertical, or x, y and z."""
    axes = space_axes(subject.model)
    return named([sign * values[k] for _, k, sign in axes], [name for name, _, _ in axes], style.AXES)


def root_position(subject: Subject) -> tuple[Points, ...]:
    """Return the position of the root [mm]."""
    return in_space(subject, [1e3 * part for part in columns(subject, f"{subject.root}_")])


def root_orientation(subject: Subject) -> tuple[Points, ...]:
    return _quaternion(columns(subject, f"{subject.root}_", POSE[3:]))


def _quaternion(values: Values) -> tuple[Points, ...]:
    return named(values, POSE[3:], style.QUATERNION)


def targets(subject: Subject) -> tuple[Targets, Targets]:
    """Return targets of the root's position [mm] and quaternion; both empty without a set point."""
    if subject.set_point is None:
        return (), ()
    position, orientation = subject.set_point.position, subject.set_point.orientation
    millimetres = [1e3 * sign * position[k] for _, k, sign in space_axes(subject.model)]
    return tuple(zip(millimetres, style.AXES, strict=True)), tuple(zip(orientation, style.QUATERNION, strict=True))


def position_error(subject: Subject) -> Floats:
    """Return the position error (rows, 3) [mm]; requires a set point."""
    assert subject.set_point is not None
    return 1e3 * position_errors(subject.run, subject.set_point)


def orientation_error(subject: Subject) -> tuple[Points, ...]:
    """Return the error quaternion q_et, the identity at the set point; requires a set point."""
    assert subject.set_point is not None
    return _quaternion(error_quaternions(subject.run, subject.set_point).T)


def leans(subject: Subject, title: str, quaternion: Sequence[Points]) -> Panel:
    """Return a panel of pitch, roll and yaw [°] of a rotation given by curves of its w, x, y and z."""
    angles = anatomical.leans(subject.model, np.column_stack([part.y for part in quaternion])).T
    labels = ("pitch, forward +", "roll, right +", "yaw, left +")
    return over_time(title, "angle [°]", named(angles, labels, (style.RED, style.BLUE, style.GREEN)), least=0.1)


def error_sizes(subject: Subject) -> tuple[Points, Points]:
    """Return curves of the position error [mm] and the orientation error [°]; requires a set point."""
    assert subject.set_point is not None
    angle = np.degrees(orientation_errors(subject.run, subject.set_point))
    distance = np.linalg.norm(position_error(subject), axis=1)
    return curve("position [mm]", distance, style.BLUE), curve("angle [°]", angle, style.RED)


def joints_with(subject: Subject, *kinds: str) -> list[str]:
    """Return the joints that have columns of all these kinds (angle, torque)."""
    return [joint for joint in subject.model.joint_names if subject.has(*(f"{kind}_{joint}" for kind in kinds))]


def joint_curves(subject: Subject, kind: str, joints: Sequence[str]) -> list[tuple[str, tuple[Points, ...]]]:
    """Return a title and curves [°] or [N·m] for each leg, then for groups of the other joints without a title.

    In the anatomical look an angle or torque of a leg is positive in the direction of its label, such as flexion.
    """
    convert: Callable[[Floats], Floats] = np.degrees if kind == "angle" else np.asarray
    groups = []
    for name, members in joint_groups(subject.model, joints, len(style.LINES)):
        motions = [_motion(subject.model, *member) for member in members]
        values = [convert(subject.column(f"{kind}_{joint}")) for joint, _ in members]
        signed = [sign * value for value, (_, sign) in zip(values, motions, strict=True)]
        groups.append((name, named(signed, [label for label, _ in motions])))
    return groups


def _motion(model: Model, joint: str, label: str, value: float | None = None) -> tuple[str, float]:
    """Return a joint's label in the current look (in the direction of ``value``, if given), and its values' sign."""
    if joint not in joint_motions(model):
        return label, 1.0
    motion, sign = joint_motions(model)[joint]
    if is_anatomical(model):
        return motion_label(label, motion if value is None or sign * value > 0.0 else OPPOSITES[motion]), sign
    return f"{label}, {motion} {'+' if sign > 0.0 else '−'}", 1.0


def largest_torques(subject: Subject) -> Panel:
    """Return the torques of the three joint pairs with the largest peaks; right joints are darker and dashed."""
    legs = legs_of(subject.model)
    twins = [[leg.joints[k] for leg in legs] for k in range(min((len(leg.joints) for leg in legs), default=0))]
    paired = {joint for pair in twins for joint in pair}
    kinds = [*twins, *([joint] for joint in subject.model.joint_names if joint not in paired)]
    torques = {joint: subject.column(f"torque_{joint}") for joint in joints_with(subject, "torque")}
    peaks = {joint: float(np.abs(torque).max()) for joint, torque in torques.items()}
    kinds = [[joint for joint in kind if joint in torques] for kind in kinds]
    shown = sorted(filter(None, kinds), key=lambda kind: -max(peaks[joint] for joint in kind))[:3]
    dashes: tuple[Dash, ...] = ("solid", "dash")
    curves = []
    for kind, colors in zip(shown, zip(style.LINES, style.DARKER, strict=True), strict=False):
        for place, (joint, color, dash) in enumerate(zip(kind, colors, dashes, strict=False)):
            label, sign = _motion(subject.model, joint, joint_label(common_name(joint, kind[-1])))
            label = "" if place else label.partition(",")[0]
            curves.append(curve(label, sign * torques[joint], color, dash=dash))
    if any(len(kind) > 1 for kind in shown):
        curves.append(curve("right", np.full_like(subject.time, np.nan), style.BLACK, dash="dash"))
    largest = max(peaks, key=lambda joint: peaks[joint])
    peak = float(torques[largest][np.argmax(np.abs(torques[largest]))])
    name, _, _ = _motion(subject.model, largest, joint_label(largest), peak)[0].partition(",")
    title = f"Largest joint torques: {name} {abs(peak):.0f} N·m"
    return over_time(title, "torque [N·m]", tuple(curves))


#: Part of a panel's range within which two curves look like one line.
SAME = 0.004
#: Dashes of curves that coincide, from the bottom up: gaps show the curves below.
_ONE_ON_ANOTHER: tuple[Dash, ...] = ("solid", "8px,8px", "4px,12px", "2px,14px")


def distinct_lines(panel: Panel) -> Panel:
    """Return a panel whose coinciding lines are dashed, unless dashes already have a meaning."""
    curves = panel.curves
    if any(c.dash != "solid" or c.hidden for c in curves):
        return panel
    ends = [end for c in curves if np.isfinite(c.y).any() for end in _ends(c.y)]
    near = SAME * (max(ends) - min(ends)) if ends else 0.0
    dashes = [
        _ONE_ON_ANOTHER[min(sum(_is_near(c.y, other.y, near) for other in curves[:k]), len(_ONE_ON_ANOTHER) - 1)]
        for k, c in enumerate(curves)
    ]
    dashed = (replace(c, dash=dash) for c, dash in zip(curves, dashes, strict=True))
    return replace(panel, items=(*dashed, *(item for item in panel.items if not isinstance(item, Points))))


def _ends(values: ArrayLike) -> tuple[float, float]:
    values = np.asarray(values, dtype=float)
    return float(np.nanmin(values)), float(np.nanmax(values))


def _is_near(first: ArrayLike, second: ArrayLike, near: float) -> bool:
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    both = np.isfinite(first) & np.isfinite(second)
    return bool(both.any()) and float(np.abs(first[both] - second[both]).max()) <= near


def desired_wrench(subject: Subject, letter: str) -> tuple[Points, ...]:
    """Return the force (letter f) or torque (n) on the root that the controller requests, in the root's axes."""
    parts = [f"{letter}{axis}" for axis in XYZ]
    return named(columns(subject, "desired_", parts), parts, style.AXES)


def foot_forces(subject: Subject, axis: str) -> tuple[Points, ...]:
    """Return the ground reaction force [N] on each foot, or on each contact point of a model without feet."""
    groups = contact_groups(subject.model)
    forces = [np.sum([subject.column(f"contact_{point}_f{axis}") for point in points], axis=0) for _, points in groups]
    for values in forces:
        if values[0] == 0.0 and len(values) > 1 and values[1] != 0.0:
            values[0] = np.nan  # unknown before the first step
    labels, colors = [label for label, _ in groups], [style.LINES[k % len(style.LINES)] for k in range(len(groups))]
    return tuple(replace(c, width=1.1) for c in dash_the_right(named(forces, labels, colors)))


def dash_the_right(curves: Sequence[Points]) -> tuple[Points, ...]:
    """Dash the lines of the right side, so that both sides are visible where they coincide."""
    return tuple(replace(c, dash="dash") if c.label.startswith(SIDES[1]) else c for c in curves)


def energy_and_work(subject: Subject) -> tuple[Points, ...]:
    """Return curves of the energy change and the works [J] since the start; works that are zero are left out."""
    energy = subject.column("ledger_kinetic") + subject.column("ledger_potential")
    total = curve("kinetic + potential", energy - energy[0], style.BLACK)
    works = {column: label for column, label in WORKS.items() if subject.has(column) and np.any(subject.column(column))}
    changes = [values - values[0] for values in columns(subject, "", list(works))]
    return total, *named(changes, list(works.values()))


def energy_residual(subject: Subject) -> Panel:
    """Return a panel of the energy change that no work explains, in a unit that fits its size."""
    residual = curve("residual", subject.column("ledger_residual"), style.RED)
    return rescaled(over_time("Energy residual, not explained by work", "residual [J]", (residual,), legend=False))


def rescaled(panel: Panel) -> Panel:
    """Return a panel in a thousandth, millionth or billionth of its unit if all values are that small."""
    largest = max((float(np.nanmax(np.abs(c.y), initial=0.0)) for c in panel.curves), default=0.0)
    steps = next((k for k in range(len(_PREFIXES)) if largest * 1e3**k >= 1.0), len(_PREFIXES) - 1 if largest else 0)
    what, _, unit = panel.y.label.partition("[")
    curves = tuple(replace(c, y=1e3**steps * np.asarray(c.y)) for c in panel.curves)
    return replace(panel, y=replace(panel.y, label=f"{what}[{_PREFIXES[steps]}{unit}"), items=curves)


def angular_momentum(subject: Subject, *, change: bool = False) -> tuple[Points, ...]:
    """Return the angular momentum about the centre of mass [N·m·s], or its change since the start."""
    values = columns(subject, "momentum_l")
    return by_axis([part - part[0] for part in values] if change else values)


def newton_iterations(subject: Subject) -> tuple[Points, ...]:
    return (curve("most", subject.column("newton_iterations").astype(float), style.BLUE, is_step=True, width=0.9),)


def floats(subject: Subject) -> bool:
    return subject.has(*(f"{subject.root}_{part}" for part in POSE))
