"""Figures of the joints: angles and torques, one panel for each group of six."""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.visualization.figures import style
from experiments.visualization.figures.labels import joint_groups, joint_label
from experiments.visualization.figures.panels import draw_curves, finish, new_figure
from experiments.visualization.figures.subject import Subject

_PER_PANEL = len(style.LINES)


def joint_angles(subject: Subject) -> Figure:
    """Thesis, figures 4.3 and 4.12."""
    return _by_side(
        subject, "Joint angles", "angle [°]", lambda joint: np.degrees(subject.column(f"angle_{joint}")), "angle"
    )


def joint_torques(subject: Subject) -> Figure:
    """Thesis, figures 4.4 and 4.13."""
    return _by_side(subject, "Joint torques", "torque [N·m]", lambda joint: subject.column(f"torque_{joint}"), "torque")


def panels_of(subject: Subject, kind: str) -> list[tuple[str, list[str]]]:
    """The joints that have a column of this kind, left and right where there are sides, else a few a panel."""
    joints = [joint for joint in subject.model.joint_names if subject.has(f"{kind}_{joint}")]
    return joint_groups(joints, _PER_PANEL)


def _by_side(
    subject: Subject, title: str, ylabel: str, curve: Callable[[str], NDArray[np.float64]], kind: str
) -> Figure:
    panels = panels_of(subject, kind)
    figure = new_figure(len(panels), size=(style.SIZE[0], 0.8 + 2.3 * len(panels)), sharey=True)
    for place, (axes, (name, joints)) in enumerate(zip(figure.axes, panels, strict=True)):
        draw_curves(axes, subject, [curve(joint) for joint in joints], [joint_label(joint) for joint in joints])
        heading = f"{title}, {name}" if name else title
        finish(axes, subject, ylabel, title=heading, time_label=place == len(panels) - 1, mark_labels=place == 0)
    return figure
