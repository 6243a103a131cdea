"""The interactive figures of a run, and a view from above."""

from collections.abc import Callable, Iterator

import numpy as np
import plotly.graph_objects as go

from biped.metrics import series
from biped.runs.run import Run
from biped.runs.summary import error_quaternions, orientation_errors, position_errors
from contact.arrays import Floats
from experiments.visualization.figures import style
from experiments.visualization.figures.labels import WORKS, contact_groups, joint_groups, joint_label
from experiments.visualization.figures.subject import Subject, subject_of
from experiments.visualization.report import theme
from experiments.visualization.report.contact_figures import contact_states
from experiments.visualization.report.curves import Curve, Panel, time_figure
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.report.top_view import top_view

_XYZ = ("x", "y", "z")
_ROOT = tuple(f"body_{name}" for name in (*_XYZ, "qw", "qx", "qy", "qz"))
_SIDE_DASHES = {"left foot": "solid", "right foot": "dash"}


def run_figures(run: Run) -> dict[str, go.Figure]:
    """All figures of a run by name, as on its page; those that a model has nothing for are left out."""
    return {drawing.name: drawing.figure for drawing in run_drawings(run)}


def run_drawings(run: Run) -> list[Drawing]:
    """All figures of a run, in the order of its page; none of a run with fewer than two rows."""
    if len(run.frame) < 2:
        return []
    return list(_drawings(subject_of(run, run.set_point)))


def _drawings(subject: Subject) -> Iterator[Drawing]:
    floats = subject.has(*_ROOT)
    if floats:
        yield Drawing("root", "Place and orientation of the root body; dashed: its set point.", _root(subject))
    if floats and subject.set_point is not None:
        text = "Distance of the root body from its set point and angle of the turn to it; below, by axis."
        yield Drawing("errors", text, _errors(subject))
    if subject.model.nc and floats:
        yield top_view(subject)
        text = (
            "How far the extrapolated centre of mass (Hof, Gazendam, Sinke 2005), the capture point (Koolen et al. "
            "2012), the centre of pressure and the zero moment point are inside of what supports them; below zero: "
            "outside. Then where they are; the centre of pressure and the zero moment point in the floor's frame."
        )
        yield Drawing("support", text, _support(subject))
        yield Drawing("floor-forces", "Force of the floor: sum over the contact points of a foot.", _forces(subject))
        yield contact_states(subject)
    if subject.has("platform_x"):
        yield Drawing("platform", "How the floor moves.", _platform(subject))
    joints = [joint for joint in subject.model.joint_names if subject.has(f"torque_{joint}", f"angle_{joint}")]
    if joints:
        text = "Torques on the outboard bodies, held torque and impedance together."
        yield Drawing("joint-torques", text, _joints(subject, joints, "torque", "torque [N·m]"))
        yield Drawing("joint-angles", "Joint angles.", _joints(subject, joints, "angle", "angle [°]", np.degrees))
    if subject.has("desired_fx", "desired_nx"):
        text = "The wrench that the controller wants on the root body, in the body's axes."
        yield Drawing("desired-wrench", text, _wrench(subject))
    text = "Energy and work since the start. What no work accounts for is the integrator's own error."
    yield Drawing("ledger", text, _ledger(subject))
    if floats:
        text = "Momentum that no impulse accounts for, since the start: round-off, if nothing is wrong."
        yield Drawing("momentum-defect", text, _defect(subject))
    if floats and not subject.model.nc:
        yield Drawing("momentum", "Angular momentum about the centre of mass.", _momentum(subject))
    text = "Newton iterations: the most of any step since the row before."
    yield Drawing("newton-iterations", text, _iterations(subject))


def _time_figure(subject: Subject, *panels: Panel) -> go.Figure:
    return time_figure(subject.time, panels, subject.marks)


def _curves(
    subject: Subject, columns: tuple[str, ...], labels: tuple[str, ...], colors: tuple[str, ...]
) -> list[Curve]:
    table = zip(columns, labels, colors, strict=True)
    return [Curve(label, subject.column(column), color) for column, label, color in table]


def _root(subject: Subject) -> go.Figure:
    position = _curves(subject, _ROOT[:3], _XYZ, theme.AXES)
    orientation = _curves(subject, _ROOT[3:], ("qw", "qx", "qy", "qz"), theme.QUATERNION)
    place: list[tuple[float, str]] = []
    turn: list[tuple[float, str]] = []
    if subject.set_point is not None:
        place = list(zip(subject.set_point.position, theme.AXES, strict=True))
        turn = list(zip(subject.set_point.orientation, theme.QUATERNION, strict=True))
    return _time_figure(
        subject,
        Panel("Height of the root body", "z [m]", (position[2],), tuple(place[2:])),
        Panel("Horizontal place", "x, y [m]", tuple(position[:2]), tuple(place[:2])),
        Panel("Orientation: scalar part", "[–]", (orientation[0],), tuple(turn[:1])),
        Panel("Orientation: vector part", "[–]", tuple(orientation[1:]), tuple(turn[1:])),
    )


def _errors(subject: Subject) -> go.Figure:
    assert subject.set_point is not None
    frame = subject.run.frame
    errors = 1e3 * position_errors(frame, subject.set_point)
    angle = np.degrees(orientation_errors(frame, subject.set_point))
    turns = 2.0 * np.degrees(error_quaternions(frame, subject.set_point)[:, 1:])
    sizes = (
        Curve("position [mm]", np.linalg.norm(errors, axis=1), style.BLUE),
        Curve("angle [°]", angle, style.RED),
    )
    return _time_figure(
        subject,
        Panel("Distance from the set point", "[mm], [°]", sizes, logarithmic=True),
        Panel("Position error", "error [mm]", _by_axis(errors)),
        Panel("Orientation error: twice the vector part of the quaternion", "error [°]", _by_axis(turns)),
    )


_POINTS = (
    ("centre of mass", "com", style.BLUE, False),
    ("extrapolated", "xcom", style.RED, False),
    ("capture point", "capture_point", style.PURPLE, True),
    ("centre of pressure", "cop", style.ORANGE, False),
    ("zero moment point", "zmp", style.GREEN, True),
)
_MARGINS = (
    ("extrapolated", "margin_of_stability", style.RED, False),
    ("capture point", "capture_margin", style.PURPLE, True),
    ("centre of pressure", "cop_margin", style.ORANGE, False),
    ("zero moment point", "zmp_margin", style.GREEN, True),
)


def _support(subject: Subject) -> go.Figure:
    table = series(subject.run)

    def curves(points: tuple[tuple[str, str, str, bool], ...], suffix: str) -> tuple[Curve, ...]:
        return tuple(
            Curve(label, 1e3 * table[name + suffix].to_numpy(), color, hidden=hidden)
            for label, name, color, hidden in points
        )

    return _time_figure(
        subject,
        Panel("Margins", "inside by [mm]", curves(_MARGINS, ""), ((0.0, theme.MARKED),)),
        Panel("Along x; the human faces −x", "x [mm]", curves(_POINTS, "_x")),
        Panel("Along y; its left is −y", "y [mm]", curves(_POINTS, "_y")),
    )


def _by_axis(values: Floats) -> tuple[Curve, ...]:
    return tuple(Curve(axis, column, color) for axis, column, color in zip(_XYZ, values.T, theme.AXES, strict=True))


def _forces(subject: Subject) -> go.Figure:
    groups = contact_groups(subject.model)

    def curves(axis: str) -> tuple[Curve, ...]:
        return tuple(
            Curve(
                label,
                np.sum([subject.column(f"contact_{point}_f{axis}") for point in points], axis=0),
                theme.LINES[k % len(theme.LINES)],
                _SIDE_DASHES.get(label, "solid"),
            )
            for k, (label, points) in enumerate(groups)
        )

    return _time_figure(
        subject,
        Panel("Vertical force of the floor", "fz [N]", curves("z")),
        Panel("Along x", "fx [N]", curves("x")),
        Panel("Along y", "fy [N]", curves("y")),
    )


def _joints(
    subject: Subject, joints: list[str], kind: str, unit: str, convert: Callable[[Floats], Floats] = np.asarray
) -> go.Figure:
    panels = [
        Panel(
            f"Joint {kind}s{f', {name}' if name else ''}",
            unit,
            tuple(
                Curve(joint_label(joint), convert(subject.column(f"{kind}_{joint}")), color)
                for joint, color in zip(members, theme.LINES, strict=False)
            ),
        )
        for name, members in joint_groups(joints, len(theme.LINES))
    ]
    return _time_figure(subject, *panels)


def _wrench(subject: Subject) -> go.Figure:
    force = _curves(subject, ("desired_fx", "desired_fy", "desired_fz"), ("fx", "fy", "fz"), theme.AXES)
    torque = _curves(subject, ("desired_nx", "desired_ny", "desired_nz"), ("nx", "ny", "nz"), theme.AXES)
    return _time_figure(
        subject,
        Panel("Desired force", "force [N]", tuple(force)),
        Panel("Desired torque", "torque [N·m]", tuple(torque)),
    )


def _ledger(subject: Subject) -> go.Figure:
    energy = subject.column("ledger_kinetic") + subject.column("ledger_potential")
    works = {column: label for column, label in WORKS.items() if np.any(subject.column(column))}
    curves = [Curve("kinetic + potential", energy - energy[0], theme.NEUTRAL)]
    curves += _curves(subject, tuple(works), tuple(works.values()), theme.LINES[: len(works)])
    residual = Curve("left over", 1e3 * subject.column("ledger_residual"), style.RED)
    return _time_figure(
        subject,
        Panel("Energy and work", "change [J]", tuple(curves)),
        Panel("Energy that no work accounts for", "left over [mJ]", (residual,)),
    )


def _defect(subject: Subject) -> go.Figure:
    linear = _curves(subject, tuple(f"momentum_defect_p{axis}" for axis in _XYZ), _XYZ, theme.AXES)
    angular = _curves(subject, tuple(f"momentum_defect_l{axis}" for axis in _XYZ), _XYZ, theme.AXES)
    return _time_figure(
        subject,
        Panel("Linear momentum", "defect [N·s]", tuple(linear)),
        Panel("Angular momentum about the centre of mass", "defect [N·m·s]", tuple(angular)),
    )


def _momentum(subject: Subject) -> go.Figure:
    curves = _curves(subject, tuple(f"momentum_l{axis}" for axis in _XYZ), _XYZ, theme.AXES)
    return _time_figure(subject, Panel("Angular momentum about the centre of mass", "[N·m·s]", tuple(curves)))


def _platform(subject: Subject) -> go.Figure:
    shift = 1e3 * np.stack([subject.column(f"platform_{axis}") for axis in _XYZ], axis=1)
    w, *vector = (subject.column(f"platform_q{part}") for part in "wxyz")
    sine = np.linalg.norm(vector, axis=0)
    angle = 2.0 * np.arctan2(sine, w)
    turn = np.degrees(np.stack(vector, axis=1) * (angle / np.where(sine > 0.0, sine, 1.0))[:, None])
    return _time_figure(
        subject, Panel("Shift of the floor", "[mm]", _by_axis(shift)), Panel("Turn of the floor", "[°]", _by_axis(turn))
    )


def _iterations(subject: Subject) -> go.Figure:
    values = subject.column("newton_iterations").astype(float)
    return _time_figure(
        subject, Panel("Newton iterations", "iterations [–]", (Curve("most", values, style.BLUE, is_step=True),))
    )
