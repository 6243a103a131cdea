"""Figures of a run: their kinds, the runs they apply to, and the files."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from biped.errors import InputError
from biped.metrics import series
from biped.model import Model
from biped.runs.row_layout import POSE
from biped.runs.run import Run
from contact.errors import did_you_mean
from experiments.lookup.figure_look import WORLD, current_look, drawn_as
from experiments.lookup.figure_names import file_name
from experiments.visualization.figures import contacts
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures.directions import AXES, Direction, direction_of
from experiments.visualization.figures.labels import along
from experiments.visualization.figures.overview import overview
from experiments.visualization.figures.panels import time_figure
from experiments.visualization.figures.quantities import over_time
from experiments.visualization.figures.subject import Subject, subject_of
from experiments.visualization.look import style
from experiments.visualization.look.writing import styled, write_figure
from experiments.visualization.panels.panel import Panel, Points

#: [mm], [N] smallest half range of axes of positions and of horizontal forces.
LEAST = 1.0
ANGULAR = "Angular momentum about the centre of mass"
#: Label, columns of the position and of the margin, colour, and whether a page hides it at first.
_POINTS = (
    ("CoM", "com", "", style.BLUE, False),
    ("XCoM", "xcom", "margin_of_stability", style.RED, False),
    ("capture point", "capture_point", "capture_margin", style.PURPLE, True),
    ("CoP", "cop", "cop_margin", style.ORANGE, False),
    ("ZMP", "zmp", "zmp_margin", style.GREEN, True),
)
_SUPPORT = (
    "Margins: distances of the extrapolated centre of mass (XCoM; Hof, Gazendam, Sinke 2005), the capture point "
    "(Koolen et al. 2012), the centre of pressure (CoP) and the zero moment point (ZMP) from the edge of the base of "
    "support, positive inside. Below: positions of these points and the centre of mass (CoM); CoP, ZMP in the floor's "
    "frame."
)


@dataclass(frozen=True)
class FigureSheet:
    """Kind of figure of a run, drawn into a file or on a page: its name, content, and the runs that it suits."""

    kind: str  # name, one of ``figure_names.KINDS``
    content: Callable[[Subject], list[Panel] | Figure]  # panels over time, or a Matplotlib figure for files only
    applies: Callable[[Subject], bool]  # whether a run has the data
    general: Callable[[Subject], bool] = lambda _: True  # whether such a run gets the file without a request
    caption: str = ""  # caption on a page; empty: the figure is not on pages
    options: Mapping[str, Any] = field(default_factory=dict)  # further arguments of ``Figure.subplots`` for a file

    def draw(self, subject: Subject) -> Figure:
        """Return the figure for a file."""
        content = self.content(subject)
        return content if isinstance(content, Figure) else time_figure(subject, content, **self.options)


def _joints(subject: Subject, kind: str, unit: str) -> list[Panel]:
    """Return the panels of the thesis's figures 4.3, 4.4, 4.12 and 4.13."""
    groups = q.joint_curves(subject, kind, q.joints_with(subject, kind))
    return [over_time(f"Joint {kind}s{f', {name}' if name else ''}", unit, curves) for name, curves in groups]


def _body_position(subject: Subject) -> list[Panel]:
    """Return the panels of the thesis's figures 4.5 and 4.14; the much larger height has a separate axis."""
    position, (target, _), root = q.root_position(subject), q.targets(subject), subject.model.root.name
    height = over_time(f"Position of the {root}'s centre of mass", "height [mm]", position[2:], target[2:])
    return [height, over_time("", "position [mm]", position[:2], target[:2])]


def _angles_and_quaternion(
    subject: Subject, what: str, curves: tuple[Points, ...], target: q.Targets = ()
) -> list[Panel]:
    """Return angles in degrees, and the quaternion as in the thesis, with the scalar part on a separate axis."""
    return [
        q.leans(subject, f"{what} of the {subject.model.root.name}", curves),
        over_time("As a quaternion", "scalar part [–]", curves[:1], target[:1]),
        over_time("", "vector part [–]", curves[1:], target[1:]),
    ]


def _body_orientation(subject: Subject) -> list[Panel]:
    """Return the panels of the thesis's figures 4.6 and 4.15."""
    return _angles_and_quaternion(subject, "Orientation", q.root_orientation(subject), q.targets(subject)[1])


def _orientation_error(subject: Subject) -> list[Panel]:
    """Return the panels of the thesis's figures 4.8 and 4.17."""
    return _angles_and_quaternion(subject, "Orientation error", q.orientation_error(subject))


def _position_error(subject: Subject) -> list[Panel]:
    """Return the panels of the thesis's figures 4.7 and 4.16."""
    errors = q.in_space(subject, q.position_error(subject).T)
    return [over_time(f"Position error of the {subject.model.root.name}", "error [mm]", errors, least=LEAST)]


def _desired(subject: Subject, letter: str, what: str, unit: str) -> list[Panel]:
    """Return the panels of the thesis's figures 4.9 and 4.18 (force), 4.10 and 4.19 (torque)."""
    title = f"Desired {what} on the {subject.model.root.name}, body axes"
    return [over_time(title, f"{what} [{unit}]", q.desired_wrench(subject, letter))]


def _centre_of_mass(subject: Subject) -> list[Panel]:
    """Return the panels of the thesis's figure 5.3."""
    curves, titles = q.in_space(subject, q.columns(subject, "com_")), ("Centre of mass", "", "")
    return [over_time(title, f"{c.label} [m]", (c,), legend=False) for title, c in zip(titles, curves, strict=True)]


def _newton_iterations(subject: Subject) -> list[Panel]:
    """Return the panel of the thesis's figure 5.6."""
    title, curves = "Newton iterations, maximum since the previous row", q.newton_iterations(subject)
    panel = over_time(title, "iterations [–]", curves, legend=False)
    return [replace(panel, y=replace(panel.y, low=0.0, high=max(5, int(np.max(curves[0].y))) + 0.5))]


def _ledger(subject: Subject) -> list[Panel]:
    """Return energy and work since the start, and the unexplained rest on a separate axis."""
    energy = over_time("Energy balance since the start", "change, work [J]", q.energy_and_work(subject))
    return [energy, q.energy_residual(subject)]


def _momentum(subject: Subject) -> list[Panel]:
    """Return the angular momentum about the centre of mass, and its change on a separate axis."""
    change = over_time("", "change [N·m·s]", q.angular_momentum(subject, change=True), legend=False)
    return [over_time(ANGULAR, "[N·m·s]", q.angular_momentum(subject)), q.rescaled(change)]


def _momentum_defect(subject: Subject) -> list[Panel]:
    linear, angular = (q.by_axis(q.columns(subject, f"momentum_defect_{kind}")) for kind in "pl")
    return [over_time("Linear momentum defect", "defect [N·s]", linear), over_time(ANGULAR, "defect [N·m·s]", angular)]


def _support(subject: Subject) -> list[Panel]:
    table = series(subject.run)

    def curves(axis: str = "", sign: float = 1.0) -> tuple[Points, ...]:
        """Return positions along ``axis`` (x or y), or margins if it is empty."""
        points = []
        for label, position, margin, color, hidden in _POINTS:
            if name := f"{position}_{axis}" if axis else margin:
                points.append(q.curve(label, sign * 1e3 * table[name].to_numpy(), color, hidden=hidden))
        return tuple(points)

    positions = [
        over_time(title, f"{shown.name} [mm]", curves(axis, shown.sign), least=LEAST)
        for axis, shown, title in _horizontal(subject.model)
    ]
    margins = over_time("Margins; positive inside", "margin [mm]", curves(), ((0.0, style.GREY),), target="")
    return [margins, *positions]


def _horizontal(model: Model) -> list[tuple[str, Direction, str]]:
    """Return x and y with their directions in the current look, and headings."""
    shown = [direction_of(model, axis) for axis in range(2)]
    return [
        (axis, direction, direction.title if direction.name in AXES else along(axis, model))
        for axis, direction in zip("xy", shown, strict=True)
    ]


def _floor_forces(subject: Subject) -> list[Panel]:
    horizontal = []
    for axis, shown, _ in _horizontal(subject.model):
        curves = tuple(replace(c, y=shown.sign * np.asarray(c.y)) for c in q.foot_forces(subject, axis))
        heading = f"{shown.name} GRF" if shown.name in AXES else f"GRF along {axis}"
        horizontal.append(over_time(heading, "force [N]", curves, least=LEAST))
    return [over_time("Vertical ground reaction force (GRF)", "force [N]", q.foot_forces(subject, "z")), *horizontal]


def _platform(subject: Subject) -> list[Panel]:
    """Return the translation and the rotation of a moving floor."""
    shift = [1e3 * part for part in q.columns(subject, "platform_")]
    turn = [q.curve("", part) for part in q.columns(subject, "platform_", POSE[3:])]
    return [
        over_time("Translation of the floor", "position [mm]", q.in_space(subject, shift)),
        q.leans(subject, "Rotation of the floor", turn),
    ]


def _has_set_point(subject: Subject) -> bool:
    return subject.set_point is not None and q.floats(subject)


def _has_joints(subject: Subject) -> bool:
    return bool(q.joints_with(subject, "torque"))


def _touches(subject: Subject) -> bool:
    return subject.model.nc > 0


def _stands(subject: Subject) -> bool:
    return _touches(subject) and q.floats(subject)


def _asked(_: Subject) -> bool:
    return False


_WRENCH = "Wrench on the root body that the controller requests, in the body's axes."
_DEFECT = "Momentum change since the start that no impulse explains: round-off in a correct simulation."
_QUATERNION: Any = {"gridspec_kw": {"height_ratios": (2.2, 1, 2.2)}}
_SHARED = {"sharey": True}
#: Kinds of figures of runs; append your own.
SHEETS = [
    FigureSheet("overview", overview, q.floats),
    FigureSheet("joint-angles", lambda s: _joints(s, "angle", "angle [°]"), _has_joints, caption="Joint angles.",
                options=_SHARED),
    FigureSheet("joint-torques", lambda s: _joints(s, "torque", "torque [N·m]"), _has_joints, options=_SHARED,
                caption="Joint torques on the distal bodies: controller output and joint impedance."),
    FigureSheet("body-position", _body_position, q.floats, _has_joints, "Position of the root body."),
    FigureSheet("body-orientation", _body_orientation, q.floats, _has_joints, "Orientation of the root body.",
                _QUATERNION),
    FigureSheet("position-error", _position_error, _has_set_point, caption="Distance from the set point, by axis."),
    FigureSheet("orientation-error", _orientation_error, _has_set_point, caption="Rotation between root and set point.",
                options=_QUATERNION),
    FigureSheet("desired-force", lambda s: _desired(s, "f", "force", "N"), lambda s: s.has("desired_fx"),
                caption=_WRENCH),
    FigureSheet("desired-torque", lambda s: _desired(s, "n", "torque", "N·m"), lambda s: s.has("desired_nx"),
                caption=_WRENCH),
    FigureSheet("centre-of-mass", _centre_of_mass, lambda s: s.has("com_x"), _asked),
    FigureSheet("quaternion", lambda s: [over_time("Orientation", "quaternion [–]", q.root_orientation(s),
                                                   q.targets(s)[1])], q.floats, _asked),
    FigureSheet("friction-states", contacts.friction_states, _touches, _asked),
    FigureSheet("newton-iterations", _newton_iterations, lambda _: True, _asked, "Newton iterations."),
    FigureSheet("contact-modes", lambda s: [contacts.modes_panel(s, "State of each contact point")], _touches,
                caption="State of each contact point at the end of the last step."),
    FigureSheet("ledger", _ledger, lambda _: True, options={"gridspec_kw": {"height_ratios": (2.2, 1)}},
                caption="Energy and work since the start. The residual is the integrator's own error."),
    FigureSheet("momentum", _momentum, lambda s: q.floats(s) and not _touches(s), caption=f"{ANGULAR}."),
    FigureSheet("error", lambda s: [over_time("Error", "[mm], [°]", q.error_sizes(s), log=True)], _has_set_point,
                _asked, "Distance of the root body from its set point, and angle to it."),
    FigureSheet("support", _support, _stands, _asked, _SUPPORT),
    FigureSheet("floor-forces", _floor_forces, _stands, _asked,
                "Ground reaction force (GRF): sum over the contact points of a foot."),
    FigureSheet("platform", _platform, lambda s: s.has("platform_x"), _asked, "Motion of the floor."),
    FigureSheet("momentum-defect", _momentum_defect, q.floats, _asked, _DEFECT),
]  # fmt: skip


def plot_run(run: Run, kind: str) -> Figure:
    """Return one figure of a run; ``kind`` is the name of a kind of figure, such as ``overview``.

    Raises:
        InputError: the kind is unknown, or the run does not have the data for it.
    """
    sheets = {sheet.kind: sheet for sheet in sheets_of(run)}
    subject = subject_of(run, str(run.parameters.get("experiment", "")) or run.name)
    fitting = [name for name, sheet in sheets.items() if len(run.frame) > 1 and sheet.applies(subject)]
    if kind not in fitting:
        known = f"figures of this run are {', '.join(fitting)}" if fitting else "a figure needs two recorded rows"
        raise InputError(f"no figure {kind!r}: {did_you_mean(kind, fitting)}{known}")
    with styled():
        return sheets[kind].draw(subject)


def sheets_of(run: Run) -> list[FigureSheet]:
    """Return the kinds of figures for a run; a run without a tree of bodies has one, with the panels it defines."""
    if run.world is None:
        return SHEETS
    panels = q.world_panels(run, run.world)
    caption = "Main columns of the run."
    return [FigureSheet("overview", lambda _: panels, lambda _: bool(panels), caption=caption)]


def draw_figures(run: Run, folder: str | Path, numbers: Mapping[str, str] | None = None, name: str = "") -> list[Path]:
    """Write the figures for which a run has the data, as PNG files unless ``drawn_as`` sets other formats.

    Args:
        run: run to draw; with fewer than two recorded rows there are no figures.
        folder: existing folder for the files.
        numbers: by kind of figure, the number of the published figure that it reproduces; such figures have world axes.
        name: name of the run, for the heading of the overview.

    Returns:
        Paths of the files.

    Raises:
        OSError: a file cannot be written.
    """
    numbers = numbers or {}
    if len(run.frame) < 2:
        return []
    subject = subject_of(run, name)
    files: list[Path] = []
    with styled():
        for sheet in sheets_of(run):
            if not sheet.applies(subject) or not (sheet.kind in numbers or sheet.general(subject)):
                continue
            with drawn_as(replace(current_look(), axes=WORLD) if sheet.kind in numbers else current_look()):
                files += write_figure(sheet.draw(subject), Path(folder) / file_name(sheet.kind, numbers))
    return files
