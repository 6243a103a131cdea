"""One figure with the panels that tell a run's story."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.visualization.figures import style
from experiments.visualization.figures.body import draw_error_sizes, draw_orientation, draw_position
from experiments.visualization.figures.contacts import draw_modes, draw_normal_forces
from experiments.visualization.figures.ledger import draw_momentum_change, draw_residual
from experiments.visualization.figures.panels import draw_curves, finish
from experiments.visualization.figures.subject import Subject


def overview(subject: Subject) -> Figure:
    """Body, errors or orientation, torques or velocity, floor, contact states and ledger."""
    figure = Figure(figsize=(11.0, 8.0))
    cells = figure.subplots(3, 2, sharex=True)
    draws = (_body, _errors, _drive, _forces, _contacts, _books)
    for place, (axes, draw) in enumerate(zip(cells.flat, draws, strict=True)):
        draw(axes, subject, place < 2)
        axes.set_xlabel("time [s]" if place >= 4 else "")
    figure.suptitle(_heading(subject), fontsize=11.5, fontweight="bold", x=0.01, ha="left")
    return figure


def _heading(subject: Subject) -> str:
    summary = subject.run.summary
    fell = "" if summary["fell_at"] is None else f" at {summary['fell_at']:.3g} s"
    return f"{subject.name or subject.model.name}: {summary['outcome']}{fell}"


Draw = Callable[[Axes, Subject, bool], None]


def _finish(axes: Axes, subject: Subject, ylabel: str, title: str, labels: bool, *, legend: bool = True) -> None:
    finish(axes, subject, ylabel, title=title, legend=False, time_label=False, mark_labels=labels)
    if legend:
        axes.legend(ncols=2, fontsize=7.0, handlelength=1.4, frameon=True, framealpha=0.85, edgecolor="none")


def _body(axes: Axes, subject: Subject, labels: bool) -> None:
    draw_position(axes, subject)
    _finish(axes, subject, "position [m]", "Centre of mass of the root body", labels)


def _errors(axes: Axes, subject: Subject, labels: bool) -> None:
    if subject.set_point is None:
        draw_orientation(axes, subject)
        _finish(axes, subject, "quaternion [–]", "Orientation", labels)
        return
    draw_error_sizes(axes, subject)
    _finish(axes, subject, "error [mm], [°]", "Distance and angle from the set point", labels)


def _drive(axes: Axes, subject: Subject, labels: bool) -> None:
    every = subject.model.joint_names
    joints = [joint for joint in every if "knee" in joint or "ankle_pitch" in joint] or every[:4]
    if joints:
        names = [joint.replace("_pitch", "").replace("_", " ") for joint in joints]
        draw_curves(axes, subject, [subject.column(f"torque_{joint}") for joint in joints], names)
        _dash_the_right(axes)
        _finish(axes, subject, "torque [N·m]", "Joint torques", labels)
        return
    velocity = [subject.column(f"{subject.run.root}_v{axis}") for axis in "xyz"]
    draw_curves(axes, subject, velocity, ("$v_x$", "$v_y$", "$v_z$"), style.AXES)
    _finish(axes, subject, "velocity [m/s]", "Velocity of the centre of mass", labels)


def _dash_the_right(axes: Axes) -> None:
    """Lines of the right side dashed: where both sides do the same, both are seen."""
    for line in axes.lines:
        if str(line.get_label()).startswith("right"):
            line.set_linestyle((0, (4, 3)))


def _forces(axes: Axes, subject: Subject, labels: bool) -> None:
    if not subject.model.nc:
        energies = [subject.column(f"ledger_{kind}") for kind in ("kinetic", "potential")]
        draw_curves(axes, subject, energies, ("kinetic", "potential"))
        _finish(axes, subject, "energy [J]", "Energy", labels)
        return
    draw_normal_forces(axes, subject)
    _dash_the_right(axes)
    _finish(axes, subject, "normal force [N]", "Normal force of the floor", labels)


def _contacts(axes: Axes, subject: Subject, labels: bool) -> None:
    if subject.model.nc:
        draw_modes(axes, subject, "Contact: blue sticking, orange sliding, dark pulling", labels=labels)
        return
    draw_momentum_change(axes, subject)
    _finish(axes, subject, "change [N·m·s]", "Change of angular momentum about the centre of mass", labels)


def _books(axes: Axes, subject: Subject, labels: bool) -> None:
    draw_residual(axes, subject)
    size = float(np.ptp(subject.column("ledger_kinetic") + subject.column("ledger_potential")))
    title = f"Energy no work accounts for, of {size:.0f} J exchanged"
    _finish(axes, subject, "left over [mJ]", title, labels, legend=False)
