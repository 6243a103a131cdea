"""Figure 14: torques of an exoskeleton's elbow with high and with adapted gains, on a healthy and a spastic arm."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.assembly import Motion
from contact.arrays import Floats
from experiments.papers.bruedigam_2024.exoskeleton import EIGHTH, FITTING, PROGRAM, Gains, exoskeleton
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.visualization.figures import style

STEP, DURATION = 0.001, 10.0
#: [N·m] that is comfortable.
LIMIT = 5.0
HIGH = Gains(100.0, 50.0)
GAINS = {"high": HIGH, "adapted": Gains(HIGH.shoulder / 4.75, HIGH.elbow / 4.75)}
PATIENTS = {"healthy": False, "spastic": True}
#: [m] below which joints count as closed.
CLOSED = 1e-9
ASSUMED = (
    "geometry, masses, gains, springs and sines are those of the authors' program, which locks two of the "
    "exoskeleton's four joints; the paper prints none of them",
    "torques are those of the motor at the exoskeleton's elbow, through each step: the spring's where the step begins, "
    "the damper's of the step itself",
    "attachments have springs, as in the program, and no dampers, as the paper has it",
    "the lower attachment is at the forearm's centre of mass, where its spring is at rest; in the program one sign "
    "of it is another, so that it starts stretched by 0.139 m: the table has both",
)


def followed(time: Floats) -> tuple[Floats, Floats]:
    """[rad] what the shoulder's and the elbow's motor follow."""
    swing = EIGHTH * np.sin(time)
    return EIGHTH + swing, -EIGHTH + swing


def rehabilitated(
    gains: Gains, spastic: bool, point: tuple[float, float, float] = FITTING, step: float = STEP
) -> Motion:
    """The routine, whose motors' springs are at rest where they are to be."""
    assembly, start = exoskeleton(gains, spastic, point)
    forces = {
        "sFE": lambda time: gains.shoulder * followed(time)[0],
        "eFE": lambda time: gains.elbow * followed(time)[1],
    }
    return assembly.simulate(DURATION, step, start, forces=forces)


def elbow_torque(motion: Motion, gains: Gains) -> Floats:
    """(rows − 1,) [N·m] of the motor through each step."""
    angle, h = motion.frame["angle_eFE"].to_numpy(), float(motion.summary["step"])
    aim = followed(motion.time[:-1] + 0.5 * h)[1]
    return np.asarray(gains.elbow * (aim - angle[:-1]) - 0.1 * gains.elbow * np.diff(angle) / h)


def produce(quick: bool, progress: Progress) -> Outcome:
    points = {"fitting": FITTING} if quick else {"fitting": FITTING, "of the program": PROGRAM}
    rows = []
    torques: dict[tuple[str, str], Floats] = {}
    for place, point in points.items():
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
                progress(len(rows) / (len(points) * len(GAINS) * len(PATIENTS)))
    table = pd.DataFrame(rows)
    loops = len(exoskeleton(HIGH, spastic=False)[0].closing_joints)
    figures = {f"torque-{kind}": _draw(kind, torques) for kind in GAINS}
    return Outcome(_findings(table, loops), ASSUMED, {"Routines": table}, figures)


def _findings(table: pd.DataFrame, loops: int) -> tuple[Finding, ...]:
    fitting = table[table["lower attachment"] == "fitting"].set_index(["gains", "patient"])
    opened = float(table["joints open at most [m]"].max())
    findings = [
        Finding("loops of the mechanism", "two connected kinematic loops", loops, "2", loops == 2),
    ]  # fmt: skip
    for kind, patient in fitting.index:
        torque = float(fitting.loc[(kind, patient), "greatest elbow torque [N·m]"])
        within = (kind, patient) != ("high", "spastic")
        findings.append(Finding(
            f"greatest elbow torque, {kind} gains, {patient} [N·m]",
            "within the limit" if within else "exceeds the limit", torque,
            f"at most {LIMIT:g}" if within else f"above {LIMIT:g}", (torque <= LIMIT) is within,
        ))  # fmt: skip
    findings.append(Finding("joints open at most [m]", "proper kinematic loops", opened, f"below {CLOSED:g}",
                            opened < CLOSED))  # fmt: skip
    return tuple(findings)


def _draw(kind: str, torques: dict[tuple[str, str], Floats]) -> Figure:
    with plotted(f"Elbow torque, {kind} gains", "time [s]", "torque [N·m]") as (figure, axes):
        for patient, color in zip(PATIENTS, (style.BLUE, style.RED), strict=True):
            torque = torques[kind, patient]
            axes.plot(STEP * (np.arange(len(torque)) + 0.5), torque, color=color, label=patient)
        for side in (-LIMIT, LIMIT):
            axes.axhline(side, color=style.GREY, ls="--", label="limit" if side > 0.0 else None)
    return figure


ITEM = Item("figure-14", "an exoskeleton's gains", "Brüdigam et al. 2024, figure 14, section 5.4", produce)
