"""The interactive figures of a run, the states of its contact points, and a view from above."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from biped.metrics import series
from biped.model import Model
from biped.runs.row_layout import POSE
from biped.runs.run import Run
from contact import ContactState
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures import style
from experiments.visualization.figures.directions import AXES, Direction, direction_of
from experiments.visualization.figures.labels import STATES, along, point_label
from experiments.visualization.figures.quantities import Curve, Panel
from experiments.visualization.figures.subject import Subject, subject_of
from experiments.visualization.pages import Chart
from experiments.visualization.report import theme
from experiments.visualization.report.curves import TIME, time_figure
from experiments.visualization.report.top_view import top_view


def run_figures(run: Run) -> dict[str, go.Figure]:
    """All figures of a run by name, as on its page; those that a model has nothing for are left out."""
    return {chart.name: chart.figure for chart in run_charts(run)}


def run_charts(run: Run) -> list[Chart]:
    """All figures of a run, in the order of its page; none of a run with fewer than two rows."""
    if len(run.frame) < 2:
        return []
    if run.world is not None:
        figure = time_figure(run.frame["time"].to_numpy(), q.world_panels(run, run.world))
        return [Chart(figure, "What is worth a look in the columns of the run.", "quantities")]
    return list(_drawings(subject_of(run, run.set_point)))


def _drawings(subject: Subject) -> Iterator[Chart]:
    def drawing(name: str, caption: str, panels: Sequence[Panel]) -> Chart:
        return Chart(time_figure(subject.time, panels, subject.marks), caption, name)

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
        Panel("Height of the root body", "z [mm]", position[2:], place[2:]),
        Panel("Horizontal place", "x, y [mm]", position[:2], place[:2]),
        q.leans(subject, "Orientation", orientation),
        Panel("Orientation: scalar part", "[–]", orientation[:1], turn[:1]),
        Panel("Orientation: vector part", "[–]", orientation[1:], turn[1:]),
    ]


def _errors(subject: Subject) -> list[Panel]:
    return [
        Panel("Distance from the set point", "[mm], [°]", q.error_sizes(subject), logarithmic=True),
        Panel("Position error", "error [mm]", q.by_axis(q.position_error(subject).T), least=LEAST),
        q.leans(subject, "Orientation error", q.orientation_error(subject)),
    ]


#: [mm], [N] that axes of places and of the floor's horizontal forces show on both sides of zero at least.
LEAST = 1.0
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

    def curves(axis: str = "", sign: float = 1.0) -> tuple[Curve, ...]:
        """The places along an axis; without one, the margins."""
        found = []
        for label, place, margin, color, hidden in _POINTS:
            name = f"{place}_{axis}" if axis else margin
            if name:
                found.append(Curve(label, sign * 1e3 * table[name].to_numpy(), color, hidden=hidden))
        return tuple(found)

    places = [
        Panel(title, f"{shown.name} [mm]", curves(axis, shown.sign), least=LEAST)
        for axis, shown, title in _horizontal(subject.model)
    ]
    return [Panel("Margins", "inside by [mm]", curves(), ((0.0, theme.MARKED),)), *places]


def _horizontal(model: Model) -> list[tuple[str, Direction, str]]:
    """Of x and y, how the sheet has them, and a heading: theirs in the world, where no axis here is turned round."""
    shown = [direction_of(model, axis) for axis in range(2)]
    return [
        (axis, one, one.title if one.name in AXES else along(axis, model))
        for axis, one in zip("xy", shown, strict=True)
    ]


def _forces(subject: Subject) -> list[Panel]:
    horizontal = []
    for axis, shown, title in _horizontal(subject.model):
        curves = tuple(replace(c, values=shown.sign * c.values) for c in q.foot_forces(subject, axis))
        is_anatomical = shown.name in AXES
        label = f"{shown.name} force [N]" if is_anatomical else f"f{axis} [N]"
        horizontal.append(Panel(title if is_anatomical else f"Along {axis}", label, curves, least=LEAST))
    return [Panel("Vertical force of the floor", "fz [N]", q.foot_forces(subject, "z")), *horizontal]


def _joints(subject: Subject, joints: Sequence[str], kind: str, unit: str) -> list[Panel]:
    groups = q.joint_curves(subject, kind, joints)
    return [Panel(f"Joint {kind}s{f', {name}' if name else ''}", unit, curves) for name, curves in groups]


def _platform(subject: Subject) -> list[Panel]:
    """Shift, and the rotation vector of the turn."""
    shift = [1e3 * part for part in q.columns(subject, "platform_")]
    turn = Rotation.from_quat(np.column_stack(q.columns(subject, "platform_", POSE[3:])), scalar_first=True)
    turns = turn.as_rotvec(degrees=True).T
    return [Panel("Shift of the floor", "[mm]", q.by_axis(shift)), Panel("Turn of the floor", "[°]", q.by_axis(turns))]


#: Bars of one figure at most; of a run with more changes, only some rows are looked at.
MOST_BARS = 3000
_COLORS = (theme.FAINT, *style.MODES[1:5], theme.NEUTRAL)


def contact_states(subject: Subject) -> Chart:
    """The figure; the model must have contact points."""
    names = subject.model.contact_names
    modes = np.array([subject.column(f"contact_{name}_mode") for name in names], dtype=np.int64)
    stride = 1
    while sum(len(_changes(row[::stride])) for row in modes) > MOST_BARS:
        stride *= 2
    caption = "State of each contact point, as found at the end of the last step."
    if stride > 1:
        caption += f" Every {stride}th row is shown: there are too many changes to draw them all."
    labels = [point_label(name) for name in names]
    time, modes = subject.time[::stride], modes[:, ::stride]
    figure = theme.new_figure(
        110 + 26 * len(labels),
        barmode="overlay",
        bargap=0.15,
        meta={"axis": TIME},
        xaxis={"title": {"text": "time [s]"}, "range": [float(time[0]), float(time[-1])]},
        margin={"l": 130},
        yaxis={"categoryorder": "array", "categoryarray": labels, "autorange": "reversed", "showgrid": False},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    spans = [  # a row holds until the next one
        (row[begin], label, float(time[begin]), float(time[end]))
        for label, row in zip(labels, modes, strict=True)
        for begin, end in pairwise([*_changes(row), len(row) - 1])
        if end > begin
    ]
    for state in ContactState:
        mine = [(label, begin, end) for mode, label, begin, end in spans if mode == state.value]
        if mine:
            rows, begins, ends = zip(*mine, strict=True)
            figure.add_bar(
                orientation="h",
                base=begins,
                x=np.subtract(ends, begins),
                y=rows,
                name=STATES[state],
                marker={"color": _COLORS[state.value - 1], "line": {"width": 0}},
                customdata=ends,
                hovertemplate="%{y}: %{base:.4f} to %{customdata:.4f} s",
            )
    return Chart(figure, caption, "contact-states")


def _changes(row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a new state begins; the first row too."""
    return np.flatnonzero(np.concatenate([[True], row[1:] != row[:-1]]))
