"""Sections II-A, IV-A and V: a time step of a pendulum and its derivatives, compared digit by digit."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from contact.arrays import Floats
from experiments.papers.criteria import same, stated, when
from experiments.papers.item import Finding, Outcome, Progress
from formulations.mechanism import DiscreteMechanism, Linearization, Mechanism, Torque, rx, tz

#: Time step [s] and gravitational acceleration [m/s²].
STEP, G = 0.1, 9.8
#: Step [rad] of differences, whose relative error is below 1e-7.
DIFFERENCE = 1e-3
#: Angle [rad], momentum [N·m·s] and torque [N·m] at the start of the step.
THETA, MOMENTUM, TORQUE = 0.2, 0.5, 0.8

#: Printed quantities, as matrices of numbers with their printed digits.
PRINTED = {
    "θ' [rad]": (("0.2471",),),
    "p' [N·m·s]": (("0.3627",),),
    "D₁D₁L_d": (("9.7610",),),
    "D₂D₁L_d": (("-10.2389",),),
    "D₁D₂L_d": (("-10.2389",),),
    "D₂D₂L_d": (("9.7610",),),
    "M⁻¹": (("-0.0976",),),
    "A": (("0.9533", "0.0976"), ("-0.9333", "0.9533")),
    "B": (("0.00976",), ("0.09533",)),
    "[B AB]": (("0.00976", "0.0186"), ("0.09533", "0.0818")),
    "δ²q'": (("1.01e-2", "5.06e-4", "5.06e-5"), ("5.06e-4", "2.53e-5", "2.53e-6"), ("5.06e-5", "2.53e-6", "2.53e-7")),
    "δ²p'": (("2.02e-1", "1.01e-2", "1.01e-3"), ("1.01e-2", "5.06e-4", "5.06e-5"), ("1.01e-3", "5.06e-5", "5.06e-6")),
}
ASSUMPTIONS = (
    "the second derivatives of L_d are central differences of (3a), computed from the mechanism's energies in the "
    "middle of the step: they do not use the linearization",
    "a number agrees if ours equals the printed one when rounded or cut off to its digits: 0.097667 is printed as "
    "0.0976, 0.0097667 as 0.00976, 9.761097 as 9.7610",
)


def pendulum() -> DiscreteMechanism:
    """Return the pendulum (1 kg, 1 m) of Johnson et al. 2014, fig. 2; torque acts at the start of a step (II-A)."""
    bob = rx("theta", tz(-1.0, mass=1.0))
    mechanism = Mechanism("pendulum", [bob], gravity=(0.0, 0.0, -G), forces=[Torque("theta", 0.0)])
    return DiscreteMechanism(mechanism, STEP, force_share=1.0)


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is one step
    system = pendulum()
    step = system.linearize(np.array([THETA, MOMENTUM]), np.array([TORQUE]))
    quantities = computed(system, step)
    progress(1.0)
    findings = [_finding(name, quantities[name]) for name in PRINTED]
    rank = np.linalg.matrix_rank(quantities["[B AB]"])
    findings.append(stated("rank of [B AB]", 2.0, float(rank), same(2)))
    return Outcome(tuple(findings), ASSUMPTIONS, {"Digits": _table(quantities)})


def computed(system: DiscreteMechanism, step: Linearization) -> dict[str, Floats]:
    """Return the quantities of ``PRINTED`` as matrices."""
    q, p = step.second()
    bend = second_differences(system.mechanism, THETA, float(step.next_state[0]))
    single = {
        "θ' [rad]": step.next_state[0],
        "p' [N·m·s]": step.next_state[1],
        "D₁D₁L_d": bend[0, 0],
        "D₂D₁L_d": bend[1, 0],
        "D₁D₂L_d": bend[0, 1],
        "D₂D₂L_d": bend[1, 1],
        "M⁻¹": 1.0 / step.determinant,
    }
    matrices = {"A": step.A, "B": step.B, "[B AB]": np.hstack([step.B, step.A @ step.B]), "δ²q'": q, "δ²p'": p}
    return {name: np.array([[value]]) for name, value in single.items()} | matrices


def second_differences(mechanism: Mechanism, now: float, then: float) -> Floats:
    """Return the second derivatives of L_d (3a) by its two angles [rad], by central differences, (2, 2)."""

    def L_d(ends: Floats) -> float:  # noqa: N802 - the paper's symbol
        kinetic, potential = mechanism.energies([ends.mean()], [(ends[1] - ends[0]) / STEP])
        return STEP * (kinetic - potential)

    at = np.array([now, then])
    moves = [(a, b) for a in (DIFFERENCE, -DIFFERENCE) for b in (DIFFERENCE, -DIFFERENCE)]
    return np.array([
        [sum(np.sign(a * b) * L_d(at + a * first + b * second) for a, b in moves) / (2.0 * DIFFERENCE) ** 2
         for second in np.eye(2)] for first in np.eye(2)
    ])  # fmt: skip


def same_digits(printed: str, value: float) -> bool:
    """Return True if a value equals the printed one, rounded or truncated to its digits."""
    beyond = (abs(value) - abs(float(printed))) / last_digit(printed)
    return -0.5 <= beyond < 1.0 and value * float(printed) > 0.0


def last_digit(printed: str) -> float:
    """Return the unit of the last printed digit: 0.0001 for 0.2471, 0.0001 for 1.01e-2."""
    mantissa, _, power = printed.partition("e")
    return float(10.0 ** (int(power or 0) - len(mantissa.partition(".")[2])))


def _finding(name: str, ours: Floats) -> Finding:
    printed = PRINTED[name]
    texts = [text for row in printed for text in row]
    agrees = all(same_digits(text, value) for text, value in zip(texts, ours.ravel().tolist(), strict=True))
    mine = _shown([[f"{value:.6g}" for value in row] for row in ours])
    return stated(name, _shown(printed), mine, when("every printed digit", agrees))


def _shown(rows: Iterable[Iterable[str]]) -> str:
    return "; ".join(" ".join(row) for row in rows)


def _table(quantities: dict[str, Floats]) -> pd.DataFrame:
    return pd.DataFrame([{
        "what": name, "row": i + 1, "column": j + 1, "printed": text, "ours": float(quantities[name][i, j]),
    } for name, rows in PRINTED.items() for i, row in enumerate(rows) for j, text in enumerate(row)])  # fmt: skip
