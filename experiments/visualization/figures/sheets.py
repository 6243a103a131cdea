"""All figures of a run: which there are, what each needs, and the files they go into."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from biped.control.controller import SetPoint
from biped.errors import InputError
from biped.runs.run import Run
from contact.errors import did_you_mean
from experiments.lookup.figure_names import file_name
from experiments.visualization.figures import contacts, style
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures.overview import overview
from experiments.visualization.figures.panels import time_figure
from experiments.visualization.figures.quantities import Panel
from experiments.visualization.figures.subject import Subject, subject_of
from experiments.visualization.figures.writing import styled, write_figure

TWO_PANELS = (style.SIZE[0], 4.4)
TALL = (style.SIZE[0], 5.0)
THREE_PANELS = (style.SIZE[0], 6.0)
ANGLES_AND_QUATERNION = {"height_ratios": (2.2, 1, 2.2)}


@dataclass(frozen=True)
class FigureSheet:
    """One kind of figure."""

    kind: str  # its name, one of ``figure_names.KINDS``
    draw: Callable[[Subject], Figure]
    applies: Callable[[Subject], bool]  # whether a run has what it shows
    general: bool = True  # whether it is drawn for every run that it applies to, or only where the experiment asks


def _joints(subject: Subject, kind: str, unit: str) -> Figure:
    """Thesis, figures 4.3, 4.4, 4.12 and 4.13."""
    groups = q.joint_curves(subject, kind, q.joints_with(subject, kind))
    titles = [f"Joint {kind}s, {name}" if name else f"Joint {kind}s" for name, _ in groups]
    panels = [Panel(title, unit, curves) for title, (_, curves) in zip(titles, groups, strict=True)]
    return time_figure(subject, panels, (style.SIZE[0], 0.8 + 2.3 * len(panels)), sharey=True)


def _body_position(subject: Subject) -> Figure:
    """Thesis, figures 4.5 and 4.14; the height on an axis of its own, for it is a hundred times the rest."""
    position, (target, _), root = q.root_position(subject), q.targets(subject), subject.model.root.name
    height = Panel(f"Position of the {root}'s centre of mass", "height [mm]", position[2:], target[2:])
    return time_figure(subject, [height, Panel("", "position [mm]", position[:2], target[:2])], TWO_PANELS)


def _angles_and_quaternion(subject: Subject, title: str, curves: tuple[q.Curve, ...], target: q.Targets = ()) -> Figure:
    """In degrees, and as the thesis has it, with the scalar part on an axis of its own."""
    panels = [
        q.leans(subject, title, curves),
        Panel("As a quaternion", "scalar part [–]", curves[:1], target[:1]),
        Panel("", "vector part [–]", curves[1:], target[1:]),
    ]
    return time_figure(subject, panels, THREE_PANELS, gridspec_kw=ANGLES_AND_QUATERNION)


def _position_error(subject: Subject) -> Figure:
    """Thesis, figures 4.7 and 4.16."""
    errors = q.by_axis(q.position_error(subject).T, "e")
    return time_figure(subject, [Panel(f"Position error of the {subject.model.root.name}", "error [mm]", errors)])


def _body_orientation(subject: Subject) -> Figure:
    """Thesis, figures 4.6 and 4.15."""
    title = f"Orientation of the {subject.model.root.name}"
    return _angles_and_quaternion(subject, title, q.root_orientation(subject), q.targets(subject)[1])


def _orientation_error(subject: Subject) -> Figure:
    """Thesis, figures 4.8 and 4.17."""
    title = f"Orientation error of the {subject.model.root.name}"
    return _angles_and_quaternion(subject, title, q.orientation_error(subject))


def _desired(subject: Subject, letter: str, what: str, unit: str) -> Figure:
    """Thesis, figures 4.9 and 4.18 (force), 4.10 and 4.19 (torque)."""
    title = f"Desired {what} on the {subject.model.root.name}, body axes"
    return time_figure(subject, [Panel(title, f"{what} [{unit}]", q.desired_wrench(subject, letter))])


def _centre_of_mass(subject: Subject) -> Figure:
    """Thesis, figure 5.3."""
    curves, titles = q.by_axis(q.columns(subject, "com_")), ("Centre of mass", "", "")
    panels = [Panel(title, f"${c.label}$ [m]", (c,), legend=False) for title, c in zip(titles, curves, strict=True)]
    return time_figure(subject, panels, TALL)


def _quaternion(subject: Subject) -> Figure:
    """Thesis, figure 5.4."""
    panel = Panel("Orientation", "quaternion [–]", q.root_orientation(subject), q.targets(subject)[1])
    return time_figure(subject, [panel])


def _newton_iterations(subject: Subject) -> Figure:
    """Thesis, figure 5.6."""
    title, curves = "Newton iterations, the most of any step since the row before", q.newton_iterations(subject)
    figure = time_figure(subject, [Panel(title, "iterations [–]", curves, legend=False)])
    figure.axes[0].set_ylim(0, max(5, int(curves[0].values.max())) + 0.5)
    figure.axes[0].yaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def _ledger(subject: Subject) -> Figure:
    """Energy and work since the start, and what none of them accounts for, on an axis of its own."""
    panels = [
        Panel("Energy balance since the start", "change, work [J]", q.energy_and_work(subject)),
        q.energy_residual(subject),
    ]
    return time_figure(subject, panels, TALL, gridspec_kw={"height_ratios": (2.2, 1)})


def _momentum(subject: Subject) -> Figure:
    """Angular momentum about the centre of mass, and its change on an axis of its own."""
    panels = [
        Panel("Angular momentum about the centre of mass", "[N·m·s]", q.angular_momentum(subject)),
        q.rescaled(Panel("", "change [N·m·s]", q.angular_momentum(subject, change=True), legend=False)),
    ]
    return time_figure(subject, panels, TALL)


def _has_set_point(subject: Subject) -> bool:
    return subject.set_point is not None and q.floats(subject)


def _has_joints(subject: Subject) -> bool:
    return bool(q.joints_with(subject, "torque"))


def _touches(subject: Subject) -> bool:
    return subject.model.nc > 0


#: Every run is drawn with these; append one of your own.
SHEETS = [
    FigureSheet("overview", overview, q.floats),
    FigureSheet("joint-angles", lambda s: _joints(s, "angle", "angle [°]"), _has_joints),
    FigureSheet("joint-torques", lambda s: _joints(s, "torque", "torque [N·m]"), _has_joints),
    FigureSheet("body-position", _body_position, lambda s: q.floats(s) and _has_joints(s)),
    FigureSheet("body-orientation", _body_orientation, lambda s: q.floats(s) and _has_joints(s)),
    FigureSheet("position-error", _position_error, _has_set_point),
    FigureSheet("orientation-error", _orientation_error, _has_set_point),
    FigureSheet("desired-force", lambda s: _desired(s, "f", "force", "N"), lambda s: s.has("desired_fx")),
    FigureSheet("desired-torque", lambda s: _desired(s, "n", "torque", "N·m"), lambda s: s.has("desired_nx")),
    FigureSheet("centre-of-mass", _centre_of_mass, lambda s: s.has("com_x"), general=False),
    FigureSheet("quaternion", _quaternion, q.floats, general=False),
    FigureSheet("friction-states", contacts.friction_states, _touches, general=False),
    FigureSheet("newton-iterations", _newton_iterations, lambda _: True, general=False),
    FigureSheet("contact-modes", contacts.contact_modes, _touches),
    FigureSheet("ledger", _ledger, lambda _: True),
    FigureSheet("momentum", _momentum, lambda s: q.floats(s) and not _touches(s)),
]


def plot_run(run: Run, kind: str) -> Figure:
    """One figure of a run, by its kind; what ``Run.plot`` calls.

    Raises:
        InputError: there is none of this kind, or the run has nothing to show in it.
    """
    sheets = {sheet.kind: sheet for sheet in sheets_of(run)}
    subject = subject_of(run, run.set_point, str(run.parameters.get("experiment", "")) or run.name)
    fitting = [name for name, sheet in sheets.items() if len(run.frame) > 1 and sheet.applies(subject)]
    if kind not in fitting:
        known = f"of this run there are {', '.join(fitting)}" if fitting else "the run has fewer than two rows"
        raise InputError(f"no figure {kind!r}: {did_you_mean(kind, fitting)}{known}")
    with styled():
        return sheets[kind].draw(subject)


def sheets_of(run: Run) -> list[FigureSheet]:
    """The figures that there may be: of a run of no tree, one with all that its world says is worth a look."""
    if run.world is None:
        return SHEETS
    panels = q.world_panels(run, run.world)
    size = (style.SIZE[0], 0.8 + 1.6 * len(panels))
    return [FigureSheet("overview", lambda subject: time_figure(subject, panels, size), lambda _: bool(panels))]


def draw_figures(
    run: Run,
    folder: str | Path,
    set_point: SetPoint | None = None,
    numbers: Mapping[str, str] | None = None,
    name: str = "",
) -> list[Path]:
    """Draw all figures that a run has something to show in; as PNG, unless ``drawn_as`` says otherwise.

    Args:
        run: the run, with at least two rows.
        folder: where the files go; it must exist.
        set_point: where the root was to be; without it there are no figures of errors.
        numbers: by kind, the numbers of the figures in a publication that they correspond to.
        name: whose run it is, for the heading of the overview, which says what was done too.

    Returns:
        The files.

    Raises:
        OSError: a file cannot be written.
    """
    numbers = numbers or {}
    if len(run.frame) < 2:
        return []
    subject = subject_of(run, set_point, name)
    files: list[Path] = []
    with styled():
        for sheet in sheets_of(run):
            if (sheet.general or sheet.kind in numbers) and sheet.applies(subject):
                files += write_figure(sheet.draw(subject), Path(folder) / file_name(sheet.kind, numbers))
    return files
