"""One figure with the panels that tell a run's story."""

from collections.abc import Callable
from textwrap import fill

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from biped.model.legs import legs_of
from experiments.visualization.figures import quantities as q
from experiments.visualization.figures.contacts import draw_modes
from experiments.visualization.figures.labels import joint_label
from experiments.visualization.figures.panels import draw_panel, finish
from experiments.visualization.figures.quantities import Panel
from experiments.visualization.figures.subject import Subject

#: As many stand above the panels in one line.
LETTERS = 115


def overview(subject: Subject) -> Figure:
    """Body, errors or orientation, torques or velocity, floor, contact states and ledger."""
    figure = Figure(figsize=(11.0, 8.0))
    cells = figure.subplots(3, 2, sharex=True)
    for place, (axes, panel_of) in enumerate(zip(cells.flat, _PANELS, strict=True)):
        panel = panel_of(subject)
        if panel is None:
            draw_modes(axes, subject, "Contact: blue sticking, orange sliding, dark pulling", labels=False)
        else:
            _draw(axes, subject, panel, mark_labels=place < 2)
        axes.set_xlabel("time [s]" if place >= 4 else "")
    figure.suptitle(_heading(subject), fontsize=11.5, fontweight="bold", x=0.01, ha="left")
    return figure


def _heading(subject: Subject) -> str:
    return fill(f"{subject.name or subject.model.name}: {subject.run.verdict_line}", LETTERS)


def _draw(axes: Axes, subject: Subject, panel: Panel, *, mark_labels: bool) -> None:
    draw_panel(axes, subject, panel)
    if panel.logarithmic:
        axes.set_yscale("log")
        axes.set_ylim(bottom=max(1e-3, 0.5 * min(float(curve.values.min()) for curve in panel.curves)))
    without = Panel(panel.title, panel.unit, panel.curves, legend=False)
    finish(axes, subject, without, time_label=False, mark_labels=mark_labels)
    if panel.legend:
        axes.legend(ncols=2, fontsize=7.0, handlelength=1.4, frameon=True, framealpha=0.85, edgecolor="none")


def _body(subject: Subject) -> Panel:
    target, _ = q.targets(subject)
    return Panel("Centre of mass of the root body", "position [m]", q.root_position(subject), target)


def _errors(subject: Subject) -> Panel:
    if subject.set_point is None:
        return Panel("Orientation", "quaternion [–]", q.root_orientation(subject))
    title = "Distance and angle from the set point"
    return Panel(title, "error [mm], [°]", q.error_sizes(subject), logarithmic=True)


def _drive(subject: Subject) -> Panel:
    bends = [joint for leg in legs_of(subject.model) for joint in leg.sagittal[-2:]]
    joints = bends or list(subject.model.joint_names[:4])
    if joints:
        names = [joint_label(joint).replace(" pitch", "") for joint in joints]
        torques = q.named(q.columns(subject, "torque_", joints), names)
        return Panel("Joint torques", "torque [N·m]", q.dash_the_right(torques))
    velocity = q.by_axis(q.columns(subject, f"{subject.root}_v"), "v")
    return Panel("Velocity of the centre of mass", "velocity [m/s]", velocity)


def _forces(subject: Subject) -> Panel:
    if subject.model.nc:
        return Panel("Normal force of the floor", "normal force [N]", q.foot_forces(subject, "z"))
    energies = q.columns(subject, "ledger_", ("kinetic", "potential"))
    return Panel("Energy", "energy [J]", q.named(energies, ("kinetic", "potential")))


def _contacts(subject: Subject) -> Panel | None:
    """None for the states of the contact points, which are no curves."""
    if subject.model.nc:
        return None
    title = "Change of angular momentum about the centre of mass"
    return Panel(title, "change [N·m·s]", q.angular_momentum(subject, change=True))


def _ledger(subject: Subject) -> Panel:
    size = float(np.ptp(subject.column("ledger_kinetic") + subject.column("ledger_potential")))
    title = f"Energy no work accounts for, of {size:.0f} J exchanged"
    return Panel(title, "left over [mJ]", q.energy_left_over(subject), legend=False)


_PANELS: tuple[Callable[[Subject], Panel | None], ...] = (_body, _errors, _drive, _forces, _contacts, _ledger)
