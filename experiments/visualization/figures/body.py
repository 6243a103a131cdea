"""Figures of the root body: where it is, how it is turned, and how far from its set point."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from biped.runs.summary import error_quaternions, position_errors
from experiments.visualization.figures import style
from experiments.visualization.figures.panels import draw_curves, draw_targets, finish, new_figure
from experiments.visualization.figures.subject import Subject

POSITION = ("body_x", "body_y", "body_z")
ORIENTATION = ("body_qw", "body_qx", "body_qy", "body_qz")
QUATERNION_LABELS = ("$q_w$", "$q_x$", "$q_y$", "$q_z$")

TWO_PANELS = (style.SIZE[0], 4.4)
SCALAR_AND_VECTOR = {"height_ratios": (1, 2.2)}


def draw_position(axes: Axes, subject: Subject) -> None:
    draw_curves(axes, subject, [subject.column(name) for name in POSITION], ("$x$", "$y$", "$z$"), style.AXES)
    if subject.set_point is not None:
        draw_targets(axes, subject.set_point.position, style.AXES)


def draw_orientation(axes: Axes, subject: Subject) -> None:
    """The four numbers of the quaternion over time, and their set points."""
    parts = [subject.column(name) for name in ORIENTATION]
    draw_curves(axes, subject, parts, QUATERNION_LABELS, style.QUATERNION)
    if subject.set_point is not None:
        draw_targets(axes, subject.set_point.orientation, style.QUATERNION)


def body_position(subject: Subject) -> Figure:
    """Thesis, figures 4.5 and 4.14; the height on an axis of its own, for it is a hundred times the rest."""
    figure = new_figure(2, size=TWO_PANELS)
    upper, lower = figure.axes
    draw_curves(upper, subject, [subject.column("body_z")], ("$z$",), style.AXES[2:])
    draw_curves(lower, subject, [subject.column(name) for name in POSITION[:2]], ("$x$", "$y$"), style.AXES)
    if subject.set_point is not None:
        draw_targets(upper, subject.set_point.position[2:], style.AXES[2:])
        draw_targets(lower, subject.set_point.position[:2], style.AXES)
    finish(upper, subject, "height [m]", title="Position of the trunk's centre of mass", time_label=False)
    finish(lower, subject, "position [m]", mark_labels=False)
    return figure


def body_orientation(subject: Subject) -> Figure:
    """Thesis, figures 4.6 and 4.15; the scalar part on an axis of its own."""
    figure = new_figure(2, size=TWO_PANELS, gridspec_kw=SCALAR_AND_VECTOR)
    upper, lower = figure.axes
    parts = [subject.column(name) for name in ORIENTATION]
    draw_curves(upper, subject, parts[:1], QUATERNION_LABELS, style.QUATERNION)
    draw_curves(lower, subject, parts[1:], QUATERNION_LABELS[1:], style.AXES)
    if subject.set_point is not None:
        draw_targets(upper, subject.set_point.orientation[:1], style.QUATERNION)
        draw_targets(lower, subject.set_point.orientation[1:], style.AXES)
    finish(upper, subject, "scalar part [–]", title="Orientation of the trunk", time_label=False)
    finish(lower, subject, "vector part [–]", mark_labels=False)
    return figure


def position_error(subject: Subject) -> Figure:
    """Thesis, figures 4.7 and 4.16; needs a set point."""
    assert subject.set_point is not None
    figure = new_figure()
    errors = 1e3 * position_errors(subject.run.frame, subject.set_point)
    draw_curves(figure.axes[0], subject, list(errors.T), ("$e_x$", "$e_y$", "$e_z$"), style.AXES)
    finish(figure.axes[0], subject, "error [mm]", title="Position error of the trunk")
    return figure


def orientation_error(subject: Subject) -> Figure:
    """Thesis, figures 4.8 and 4.17: q_et, which goes to the identity; needs a set point."""
    assert subject.set_point is not None
    figure = new_figure(2, size=TWO_PANELS, gridspec_kw=SCALAR_AND_VECTOR)
    upper, lower = figure.axes
    error = error_quaternions(subject.run.frame, subject.set_point)
    draw_curves(upper, subject, [error[:, 0]], QUATERNION_LABELS, style.QUATERNION)
    finish(upper, subject, "scalar part [–]", title="Orientation error of the trunk, $q_{et}$", time_label=False)
    draw_curves(lower, subject, list(error[:, 1:].T), QUATERNION_LABELS[1:], style.AXES)
    finish(lower, subject, "vector part [–]", mark_labels=False)
    return figure


def centre_of_mass(subject: Subject) -> Figure:
    """Thesis, figure 5.3."""
    figure = new_figure(3, size=(style.SIZE[0], 5.0))
    for axes, name, color in zip(figure.axes, "xyz", style.AXES, strict=True):
        draw_curves(axes, subject, [subject.column(f"com_{name}")], (name,), (color,))
        first, last = name == "x", name == "z"
        finish(axes, subject, f"${name}$ [m]", legend=False, time_label=last, mark_labels=first,
               title="Centre of mass" if first else "")  # fmt: skip
    return figure


def quaternion(subject: Subject) -> Figure:
    """Thesis, figure 5.4."""
    figure = new_figure()
    draw_orientation(figure.axes[0], subject)
    finish(figure.axes[0], subject, "quaternion [–]", title="Orientation")
    return figure


def draw_error_sizes(axes: Axes, subject: Subject) -> None:
    """Distance from the set point [mm] and angle from it [°], on a logarithmic axis; needs a set point."""
    assert subject.set_point is not None
    distance = 1e3 * np.linalg.norm(position_errors(subject.run.frame, subject.set_point), axis=1)
    error = error_quaternions(subject.run.frame, subject.set_point)
    angle = np.degrees(2.0 * np.arctan2(np.linalg.norm(error[:, 1:], axis=1), error[:, 0]))
    draw_curves(axes, subject, [distance, angle], ("position [mm]", "angle [°]"), (style.BLUE, style.RED))
    axes.set_yscale("log")
    axes.set_ylim(bottom=max(1e-3, 0.5 * float(min(distance.min(), angle.min()))))
