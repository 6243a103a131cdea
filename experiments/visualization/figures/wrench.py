"""Figures of the wrench that the controller wants to act on the root body."""

from matplotlib.figure import Figure

from experiments.visualization.figures import style
from experiments.visualization.figures.panels import draw_curves, finish, new_figure
from experiments.visualization.figures.subject import Subject

FORCE = ("desired_fx", "desired_fy", "desired_fz")
TORQUE = ("desired_nx", "desired_ny", "desired_nz")


def desired_force(subject: Subject) -> Figure:
    """Thesis, figures 4.9 and 4.18."""
    figure = new_figure()
    draw_curves(figure.axes[0], subject, [subject.column(c) for c in FORCE], ("$f_x$", "$f_y$", "$f_z$"), style.AXES)
    finish(figure.axes[0], subject, "force [N]", title="Desired force on the trunk, body axes")
    return figure


def desired_torque(subject: Subject) -> Figure:
    """Thesis, figures 4.10 and 4.19."""
    figure = new_figure()
    draw_curves(figure.axes[0], subject, [subject.column(c) for c in TORQUE], ("$n_x$", "$n_y$", "$n_z$"), style.AXES)
    finish(figure.axes[0], subject, "torque [N·m]", title="Desired torque on the trunk, body axes")
    return figure
