"""Figure 14: torques of an exoskeleton's elbow with high and with adapted gains, on a healthy and a spastic arm.

The exoskeleton for the shoulder and the elbow has the parameters of the authors' program, which locks two of its four
joints, as does this module. The world's z is up; the arm is fixed to the ground at the shoulder and moves about y.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.model.geometry import Quaternion, Vector3, quaternion_matrix
from contact.arrays import Floats
from experiments.papers.bruedigam_2024.learning import Unit
from experiments.papers.criteria import above, at_most, below, near, stated
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Finding, Outcome, Progress
from experiments.visualization.look import style
from formulations.assembly import Assembly, Freedom, Joint, Motion, Placement, RigidBody, joint

EIGHTH = 0.25 * math.pi
_Y: Vector3 = (0.0, 1.0, 0.0)
_Z: Vector3 = (0.0, 0.0, 1.0)
_ORIGIN: Vector3 = (0.0, 0.0, 0.0)
SHOULDER: Vector3 = (0.2483, 0.0, 0.0)
#: Positions of the elbow [m], in the axes of the exoskeleton's sFE and of the upper arm.
ELBOW_OF_EXOSKELETON, ELBOW_OF_ARM = (0.0, 0.3087, 0.0), (0.0, 0.0, 0.3087)
#: Rotations from outboard to inboard axes with joints at zero: a third of a turn either way, a quarter about x.
ALONG_EXOSKELETON, ALONG_ARM = (0.5, -0.5, -0.5, -0.5), (0.5, 0.5, 0.5, 0.5)
FORTH, BACK = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0), (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)
#: Stiffness of the attachments [N/m, N·m/rad].
ATTACHMENT = 100.0


UNITS = {
    "sFE": Unit(3.487, (0.0001, 0.1051, -0.1201), (0.1108677, -0.0000977, 0.0000399, 0.0689688, 0.0384741, 0.0569634)),
    "sIE": Unit(1.663, (-0.0006, 0.1079, -0.03), (0.0266938, 0.0001282, -0.0000556, 0.007941, 0.0038772, 0.0235228)),
    "eFE": Unit(0.494, (0.0, 0.0557, -0.0803), (0.0069974, -0.0000009, -0.0000004, 0.0035498, 0.001812, 0.0037622)),
    "upper_arm": Unit(2.25, (0.0, 0.0, 0.155), (0.01875, 0.0, 0.0, 0.01875, 0.0, 0.00375)),
    "lower_arm": Unit(1.5, (0.0, 0.125, 0.0), (0.008515625, 0.0, 0.0, 0.00140625, 0.0, 0.008515625)),
}  # fmt: skip
#: Attachment [m] of the upper arm, from the centre of mass of sIE.
UPPER_POINT: Vector3 = (0.0006, -0.1079, -0.1237)
#: Attachments [m] of the forearm, from the centre of mass of eFE: at the forearm's, and as in the authors' program.
FITTING: Vector3 = (0.0, 0.0693, 0.0803)
PROGRAM: Vector3 = (0.0, -0.0693, 0.0803)
#: Attachments by their names in the table; that of the program gives evidence, the fitting one was chosen here.
POINTS: dict[str, Vector3] = {"fitting": FITTING, "of the program": PROGRAM}


class Gains(NamedTuple):
    """Stiffness of the motors at the shoulder and the elbow [N·m/rad]; their damping is a tenth of it [N·m·s/rad]."""

    shoulder: float
    elbow: float


def exoskeleton(gains: Gains, spastic: bool, lower_point: Vector3 = FITTING) -> tuple[Assembly, Placement]:
    """Return the arm in the exoskeleton, and its initial placement.

    Motors hold joints sFE and eFE by springs and dampers; forces move their targets. A spastic elbow has a spring of
    10 N·m/rad, at rest at −π/4, and a damper of 2 N·m·s/rad.
    """
    attached = [Freedom(stiffness=ATTACHMENT)]
    elbow = Freedom(stiffness=10.0, rest=-EIGHTH, damping=2.0) if spastic else Freedom()
    joints = (
        _hinge("sFE", None, "sFE", SHOULDER, ALONG_EXOSKELETON, _motor(gains.shoulder)),
        joint("fixed", "sIE", "sFE", "sIE", inboard_point=_from_com("sFE", ELBOW_OF_EXOSKELETON),
              outboard_point=_from_com("sIE"), alignment=BACK),
        _hinge("eFE", "sIE", "eFE", _ORIGIN, FORTH, _motor(gains.elbow)),
        joint("planar_axis", "upper_attachment", "sIE", "upper_arm", _Y, inboard_point=UPPER_POINT, freedoms=attached),
        _hinge("elbow", "upper_arm", "lower_arm", ELBOW_OF_ARM, FORTH, elbow),
        joint("planar_axis", "lower_attachment", "eFE", "lower_arm", _Z, inboard_point=lower_point, freedoms=attached),
        joint("spherical", "shoulder", None, "upper_arm", inboard_point=SHOULDER,
              outboard_point=_from_com("upper_arm"), alignment=ALONG_ARM),
    )  # fmt: skip
    bodies = tuple(RigidBody(name, unit.mass, unit.tensor) for name, unit in UNITS.items())
    assembly = Assembly("exoskeleton", bodies, joints)
    start = assembly.place({"sFE": EIGHTH, "eFE": -EIGHTH, "elbow": -EIGHTH})
    return assembly, assembly.assemble(start)


def _motor(gain: float) -> Freedom:
    return Freedom(stiffness=gain, damping=0.1 * gain)


def _from_com(unit: str, point: Vector3 = _ORIGIN) -> tuple[float, ...]:
    """Return the position [m] of a point of a link relative to the centre of mass."""
    return tuple((np.array(point) - UNITS[unit].com).tolist())


def _hinge(
    name: str, inboard: str | None, outboard: str, point: Vector3, alignment: Quaternion, freedom: Freedom
) -> Joint:
    """Return a hinge about the outboard link's z, at its origin and a point of the inboard link, or of the ground."""
    return joint(
        "revolute", name, inboard, outboard, quaternion_matrix(alignment) @ _Z,
        inboard_point=point if inboard is None else _from_com(inboard, point), outboard_point=_from_com(outboard),
        alignment=alignment, freedoms=[freedom],
    )  # fmt: skip


STEP, DURATION = 0.001, 10.0
#: Comfortable torque [N·m].
LIMIT = 5.0
HIGH = Gains(100.0, 50.0)
GAINS = {"high": HIGH, "adapted": Gains(HIGH.shoulder / 4.75, HIGH.elbow / 4.75)}
PATIENTS = {"healthy": False, "spastic": True}
#: Joint gap [m] below which joints count as closed.
CLOSED = 1e-9
ASSUMED = (
    "geometry, masses, gains, springs and sines are those of the authors' program, which locks two of the "
    "exoskeleton's four joints; the paper prints none of them",
    "torques are those of the motor at the exoskeleton's elbow in each step: of the spring at the step's beginning, of "
    "the damper in the step",
    "attachments have springs, as in the authors' program, and no dampers, as in the paper",
    "the lower attachment is that of the program or, with one sign changed, at the forearm's centre of mass: there its "
    "spring is at rest, while the program's starts stretched by 0.139 m; figures are for the one at the centre of mass",
)


def followed(time: Floats) -> tuple[Floats, Floats]:
    """Return the target angles of the shoulder's and the elbow's motor [rad]."""
    swing = EIGHTH * np.sin(time)
    return EIGHTH + swing, -EIGHTH + swing


def rehabilitated(
    gains: Gains, spastic: bool, point: tuple[float, float, float] = FITTING, step: float = STEP
) -> Motion:
    """Simulate the exercise, in which forces move the rest of the motors' springs to the target angles."""
    assembly, start = exoskeleton(gains, spastic, point)
    forces = {
        "sFE": lambda time: gains.shoulder * followed(time)[0],
        "eFE": lambda time: gains.elbow * followed(time)[1],
    }
    return assembly.simulate(DURATION, step, start, forces=forces)


def elbow_torque(motion: Motion, gains: Gains) -> Floats:
    """Return the motor torque [N·m] in each step, (rows − 1,)."""
    angle, h = motion.frame["angle_eFE"].to_numpy(), float(motion.summary["step"])
    aim = followed(motion.time[:-1] + 0.5 * h)[1]
    return np.asarray(gains.elbow * (aim - angle[:-1]) - 0.1 * gains.elbow * np.diff(angle) / h)


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is short as it is
    rows = []
    torques: dict[tuple[str, str], Floats] = {}
    for place, point in POINTS.items():
        for kind, gains in GAINS.items():
            for patient, spastic in PATIENTS.items():
                motion = rehabilitated(gains, spastic, point)
                torque = elbow_torque(motion, gains)
                off = [motion.frame[f"angle_{name}"].to_numpy() - aim
                       for name, aim in zip(("sFE", "eFE"), followed(motion.time), strict=True)]  # fmt: skip
                rows.append({
                    "lower attachment": place, "gains": kind, "patient": patient,
                    "greatest elbow torque [N·m]": float(np.abs(torque).max()),
                    "shoulder off, mean square [rad]": float(np.sqrt(np.mean(off[0] ** 2))),
                    "elbow off [rad]": float(np.sqrt(np.mean(off[1] ** 2))),
                    "joints open at most [m]": float(motion.frame["joint_openness"].max()),
                })  # fmt: skip
                torques.setdefault((kind, patient), torque)
                progress(len(rows) / (len(POINTS) * len(GAINS) * len(PATIENTS)))
    table = pd.DataFrame(rows)
    loops = len(exoskeleton(HIGH, spastic=False)[0].closing_joints)
    figures = {f"torque-{kind}": _draw(kind, torques) for kind in GAINS}
    return Outcome(_findings(table, loops), ASSUMED, {"Routines": table}, figures)


def _findings(table: pd.DataFrame, loops: int) -> tuple[Finding, ...]:
    opened = float(table["joints open at most [m]"].max())
    findings = [
        stated("loops of the mechanism", "two connected kinematic loops", loops, near(2, 0, "2"), kind="chosen")
    ]
    for _, row in table.sort_values("lower attachment", ascending=False, kind="stable").iterrows():
        exceeds = (row["gains"], row["patient"]) == ("high", "spastic")
        printed, criterion = ("exceeds", above(LIMIT)) if exceeds else ("within", at_most(LIMIT))
        case = f"{row['gains']} gains, {row['patient']}, attachment {row['lower attachment']}"
        torque, chosen = float(row["greatest elbow torque [N·m]"]), row["lower attachment"] == "fitting"
        findings.append(
            stated(f"greatest elbow torque, {case} [N·m]", f"{printed} the limit", torque, criterion,
                   "the attachment was chosen here" if chosen else "", kind="chosen" if chosen else "evidence",
                   why="just above the limit with the program's sign; within it with the sign that was chosen here")
        )  # fmt: skip
    findings.append(stated("largest joint gap [m]", "proper kinematic loops", opened, below(CLOSED)))  # fmt: skip
    return tuple(findings)


def _draw(kind: str, torques: dict[tuple[str, str], Floats]) -> Figure:
    curves = []
    for patient, color in zip(PATIENTS, (style.BLUE, style.RED), strict=True):
        torque = torques[kind, patient]
        curves.append(Curve(STEP * (np.arange(len(torque)) + 0.5), torque, patient, color))
    ends = (0.0, DURATION)
    limits = [Curve(ends, (side, side), name, style.GREY, "--") for side, name in ((-LIMIT, None), (LIMIT, "limit"))]
    return drawn((f"Elbow torque, {kind} gains", "time [s]", "torque [N·m]"), [*curves, *limits])
