"""The interactive figures of a run, and a view from above."""

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
from scipy.spatial.transform import Rotation

from biped.metrics import series
from biped.runs.row_layout import POSE
from biped.runs.run import Run
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures import style
from experiments.visualization.figures.labels import along
from experiments.visualization.figures.quantities import Curve, Panel
from experiments.visualization.figures.subject import Subject, subject_of
from experiments.visualization.report import theme
from experiments.visualization.report.contact_figures import contact_states
from experiments.visualization.report.curves import time_figure
from experiments.visualization.report.drawing import Drawing
from experiments.visualization.report.top_view import top_view


def run_figures(run: Run) -> dict[str, go.Figure]:
    """All figures of a run by name, as on its page; those that a model has nothing for are left out."""
    return {drawing.name: drawing.figure for drawing in run_drawings(run)}


def run_drawings(run: Run) -> list[Drawing]:
    """All figures of a run, in the order of its page; none of a run with fewer than two rows."""
    if len(run.frame) < 2:
        return []
    if run.world is not None:
        figure = time_figure(run.frame["time"].to_numpy(), q.world_panels(run, run.world))
        return [Drawing("quantities", "What is worth a look in the columns of the run.", figure)]
    return list(_drawings(subject_of(run, run.set_point)))


def _drawings(subject: Subject) -> Iterator[Drawing]:
    def drawing(name: str, caption: str, panels: Sequence[Panel]) -> Drawing:
        return Drawing(name, caption, time_figure(subject.time, panels, subject.marks))

    floats = q.floats(subject)
    if floats:
        yield drawing("root", "Place and orientation of the root body; dashed: its set point.", _root(subject))
    if floats and subject.set_point is not None:
        text = "Distance of the root body from its set point and angle of the turn to it; below, by axis."
        yield drawing("errors", text, _errors(subject))
    if subject.model.nc and floats:
        yield top_view(subject)
        text = (
            "How far the extrapolated centre of mass (Hof, Gazendam, Sinke 2005), the capture point (Koolen et al. "
            "2012), the centre of pressure and the zero moment point are inside of what supports them; below zero: "
            "outside. Then where they are; the centre of pressure and the zero moment point in the floor's frame."
        )
        yield drawing("support", text, _support(subject))
        yield drawing("floor-forces", "Force of the floor: sum over the contact points of a foot.", _forces(subject))
        yield contact_states(subject)
    if subject.has("platform_x"):
        yield drawing("platform", "How the floor moves.", _platform(subject))
    joints = q.joints_with(subject, "torque", "angle")
    if joints:
        text = "Torques on the outboard bodies, held torque and impedance together."
        yield drawing("joint-torques", text, _joints(subject, joints, "torque", "torque [N·m]"))
        yield drawing("joint-angles", "Joint angles.", _joints(subject, joints, "angle", "angle [°]"))
    if subject.has("desired_fx", "desired_nx"):
        text = "The wrench that the controller wants on the root body, in the body's axes."
        force = Panel("Desired force", "force [N]", q.desired_wrench(subject, "f"))
        torque = Panel("Desired torque", "torque [N·m]", q.desired_wrench(subject, "n"))
        yield drawing("desired-wrench", text, [force, torque])
    text = "Energy and work since the start. What no work accounts for is the integrator's own error."
    energy = Panel("Energy balance", "change [J]", q.energy_and_work(subject))
    yield drawing("ledger", text, [energy, q.energy_residual(subject)])
    angular = "Angular momentum about the centre of mass"
    if floats:
        text = "Momentum that no impulse accounts for, since the start: round-off, if nothing is wrong."
        defects = [q.by_axis(q.columns(subject, f"momentum_defect_{kind}")) for kind in ("p", "l")]
        linear = Panel("Linear momentum", "defect [N·s]", defects[0])
        yield drawing("momentum-defect", text, [linear, Panel(angular, "defect [N·m·s]", defects[1])])
    if floats and not subject.model.nc:
        yield drawing("momentum", f"{angular}.", [Panel(angular, "[N·m·s]", q.angular_momentum(subject))])
    text = "Newton iterations: the most of any step since the row before."
    iterations = Panel("Newton iterations", "iterations [–]", q.newton_iterations(subject))
    yield drawing("newton-iterations", text, [iterations])


def _root(subject: Subject) -> list[Panel]:
    position, orientation = q.root_position(subject), q.root_orientation(subject)
    place, turn = q.targets(subject)
    return [
        Panel("Height of the root body", "z [m]", position[2:], place[2:]),
        Panel("Horizontal place", "x, y [m]", position[:2], place[:2]),
        Panel("Orientation: scalar part", "[–]", orientation[:1], turn[:1]),
        Panel("Orientation: vector part", "[–]", orientation[1:], turn[1:]),
    ]


def _errors(subject: Subject) -> list[Panel]:
    turns = [2.0 * np.degrees(curve.values) for curve in q.orientation_error(subject)[1:]]
    return [
        Panel("Distance from the set point", "[mm], [°]", q.error_sizes(subject), logarithmic=True),
        Panel("Position error", "error [mm]", q.by_axis(q.position_error(subject).T)),
        Panel("Orientation error: twice the vector part of the quaternion", "error [°]", q.by_axis(turns)),
    ]


#: Label, columns of the place and of the margin, colour, and whether it is hidden at first.
_POINTS = (
    ("centre of mass", "com", "", style.BLUE, False),
    ("extrapolated", "xcom", "margin_of_stability", style.RED, False),
    ("capture point", "capture_point", "capture_margin", style.PURPLE, True),
    ("centre of pressure", "cop", "cop_margin", style.ORANGE, False),
    ("zero moment point", "zmp", "zmp_margin", style.GREEN, True),
)


def _support(subject: Subject) -> list[Panel]:
    table = series(subject.run)

    def curves(axis: str = "") -> tuple[Curve, ...]:
        """The places along an axis; without one, the margins."""
        found = []
        for label, place, margin, color, hidden in _POINTS:
            name = f"{place}_{axis}" if axis else margin
            if name:
                found.append(Curve(label, 1e3 * table[name].to_numpy(), color, hidden=hidden))
        return tuple(found)

    return [
        Panel("Margins", "inside by [mm]", curves(), ((0.0, theme.MARKED),)),
        Panel(along("x", subject.model), "x [mm]", curves("x")),
        Panel(along("y", subject.model), "y [mm]", curves("y")),
    ]


def _forces(subject: Subject) -> list[Panel]:
    return [
        Panel("Vertical force of the floor", "fz [N]", q.foot_forces(subject, "z")),
        Panel("Along x", "fx [N]", q.foot_forces(subject, "x")),
        Panel("Along y", "fy [N]", q.foot_forces(subject, "y")),
    ]


def _joints(subject: Subject, joints: Sequence[str], kind: str, unit: str) -> list[Panel]:
    groups = q.joint_curves(subject, kind, joints)
    return [Panel(f"Joint {kind}s{f', {name}' if name else ''}", unit, curves) for name, curves in groups]


def _platform(subject: Subject) -> list[Panel]:
    """Shift, and the rotation vector of the turn."""
    shift = [1e3 * part for part in q.columns(subject, "platform_")]
    turn = Rotation.from_quat(np.column_stack(q.columns(subject, "platform_", POSE[3:])), scalar_first=True)
    turns = turn.as_rotvec(degrees=True).T
    return [Panel("Shift of the floor", "[mm]", q.by_axis(shift)), Panel("Turn of the floor", "[°]", q.by_axis(turns))]
