"""What figures of a run show, whatever draws them: its curves with labels, units and colours, and panels of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biped.metrics.timeseries import error_quaternions, orientation_errors, position_errors
from biped.runs.row_layout import POSE
from contact.arrays import Floats
from experiments.visualization.figures import style
from experiments.visualization.figures.labels import SIDES, WORKS, contact_groups, joint_groups
from experiments.visualization.figures.subject import Subject

XYZ = ("x", "y", "z")
#: (value, colour) of dashed lines: where curves should be.
Targets = tuple[tuple[float, str], ...]
#: Of each curve: (rows,).
Values = Sequence[Floats] | Floats


@dataclass(frozen=True)
class Curve:
    """One line."""

    label: str  # in the legend
    values: Floats  # (rows,)
    color: str = style.BLUE
    symbol: str = ""  # the label as matplotlib's mathematics; the label itself where there is none
    dash: str = "solid"  # solid or dash
    is_step: bool = False  # whether a value holds until the next row
    hidden: bool = False  # whether it is drawn only when its entry in the legend is clicked, where one can
    width: float | None = None  # [points] on paper; the style's if not given


@dataclass(frozen=True)
class Panel:
    """Some curves on one axis."""

    title: str
    unit: str  # of its axis
    curves: tuple[Curve, ...]
    targets: Targets = ()
    logarithmic: bool = False
    legend: bool = True


def named(
    values: Values, labels: Sequence[str], colors: Sequence[str] = style.LINES, symbols: Sequence[str] = ()
) -> tuple[Curve, ...]:
    """One curve for each label; ``symbols`` as mathematics without the dollar signs."""
    signs = [f"${symbol}$" for symbol in symbols] or [""] * len(labels)
    return tuple(
        Curve(label, value, color, sign)
        for value, label, color, sign in zip(values, labels, colors, signs, strict=False)
    )


def columns(subject: Subject, prefix: str, parts: Sequence[str] = XYZ) -> list[Floats]:
    return [subject.column(f"{prefix}{part}") for part in parts]


def by_axis(values: Values, letter: str | None = None) -> tuple[Curve, ...]:
    """x, y and z; ``letter`` is what matplotlib writes them with as indices, nothing for x, y and z themselves."""
    symbols = () if letter is None else [f"{letter}_{axis}" if letter else axis for axis in XYZ]
    return named(values, XYZ, style.AXES, symbols)


def root_position(subject: Subject) -> tuple[Curve, ...]:
    return by_axis(columns(subject, f"{subject.root}_"), "")


def root_orientation(subject: Subject) -> tuple[Curve, ...]:
    return _quaternion(columns(subject, f"{subject.root}_", POSE[3:]))


def _quaternion(values: Values) -> tuple[Curve, ...]:
    return named(values, POSE[3:], style.QUATERNION, [f"q_{part[1]}" for part in POSE[3:]])


def targets(subject: Subject) -> tuple[Targets, Targets]:
    """Of position and orientation of the root; none without a set point."""
    if subject.set_point is None:
        return (), ()
    position, orientation = subject.set_point.position, subject.set_point.orientation
    return tuple(zip(position, style.AXES, strict=True)), tuple(zip(orientation, style.QUATERNION, strict=True))


def position_error(subject: Subject) -> Floats:
    """(rows, 3) [mm]; needs a set point."""
    assert subject.set_point is not None
    return 1e3 * position_errors(subject.run, subject.set_point)


def orientation_error(subject: Subject) -> tuple[Curve, ...]:
    """q_et, which goes to the identity; needs a set point."""
    assert subject.set_point is not None
    return _quaternion(error_quaternions(subject.run, subject.set_point).T)


def error_sizes(subject: Subject) -> tuple[Curve, Curve]:
    """Distance from the set point and angle of the turn to it; needs one."""
    assert subject.set_point is not None
    angle = np.degrees(orientation_errors(subject.run, subject.set_point))
    distance = np.linalg.norm(position_error(subject), axis=1)
    return Curve("position [mm]", distance, style.BLUE), Curve("angle [°]", angle, style.RED)


def joints_with(subject: Subject, *kinds: str) -> list[str]:
    """The joints that have columns of all these kinds: angle, torque."""
    return [joint for joint in subject.model.joint_names if subject.has(*(f"{kind}_{joint}" for kind in kinds))]


def joint_curves(subject: Subject, kind: str, joints: Sequence[str]) -> list[tuple[str, tuple[Curve, ...]]]:
    """[°] or [N·m] of each leg, and of the others a few a group; with a label, or an empty one."""
    convert: Callable[[Floats], Floats] = np.degrees if kind == "angle" else np.asarray
    return [
        (
            name,
            named(
                [convert(subject.column(f"{kind}_{joint}")) for joint, _ in members], [label for _, label in members]
            ),
        )
        for name, members in joint_groups(subject.model, joints, len(style.LINES))
    ]


def desired_wrench(subject: Subject, letter: str) -> tuple[Curve, ...]:
    """What the controller wants on the root: force for f, torque for n; in the body's axes."""
    parts = [f"{letter}{axis}" for axis in XYZ]
    return named(columns(subject, "desired_", parts), parts, style.AXES, [f"{letter}_{axis}" for axis in XYZ])


def foot_forces(subject: Subject, axis: str) -> tuple[Curve, ...]:
    """[N] the floor's force on each foot, or on each contact point of a model without feet."""
    groups = contact_groups(subject.model)
    forces = [np.sum([subject.column(f"contact_{point}_f{axis}") for point in points], axis=0) for _, points in groups]
    labels, colors = [label for label, _ in groups], [style.LINES[k % len(style.LINES)] for k in range(len(groups))]
    return tuple(replace(curve, width=1.1) for curve in dash_the_right(named(forces, labels, colors)))


def dash_the_right(curves: Sequence[Curve]) -> tuple[Curve, ...]:
    """Lines of the right side dashed: where both sides do the same, both are seen."""
    return tuple(replace(c, dash="dash") if c.label.startswith(SIDES[1]) else c for c in curves)


def energy_and_work(subject: Subject) -> tuple[Curve, ...]:
    """[J] since the start; works that do nothing are left out."""
    energy = subject.column("ledger_kinetic") + subject.column("ledger_potential")
    works = {column: label for column, label in WORKS.items() if np.any(subject.column(column))}
    total = Curve("kinetic + potential", energy - energy[0], style.BLACK)
    return total, *named(columns(subject, "", list(works)), list(works.values()))


def energy_left_over(subject: Subject) -> tuple[Curve, ...]:
    """[mJ] that no work accounts for."""
    return (Curve("left over", 1e3 * subject.column("ledger_residual"), style.RED),)


def angular_momentum(subject: Subject, *, change: bool = False) -> tuple[Curve, ...]:
    """[N·m·s] about the centre of mass; or how far it is from where it started."""
    values = columns(subject, "momentum_l")
    return by_axis([part - part[0] for part in values] if change else values)


def newton_iterations(subject: Subject) -> tuple[Curve, ...]:
    return (Curve("most", subject.column("newton_iterations").astype(float), style.BLUE, is_step=True, width=0.9),)


def floats(subject: Subject) -> bool:
    return subject.has(*(f"{subject.root}_{part}" for part in POSE))
