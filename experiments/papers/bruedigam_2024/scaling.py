"""Figure 11: pendulums of three sizes, with smaller and smaller time steps."""

import math
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from scipy.special import ellipk

from experiments.papers.criteria import above, at_most, below, near, stated, when
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import ENDED, Finding, Outcome, Progress, Row, attempted, tabulated
from experiments.timing import slope
from experiments.visualization.look import style
from formulations.assembly import Assembly, Motion, joint
from formulations.assembly.examples import thin_rod

SCALES = (1.0, 0.5, 0.1)
START, G = math.pi / 2.0, 9.81
#: Steps in a half swing.
STEPS, QUICK_STEPS = tuple(2**k for k in range(3, 18)), (8, 32, 128, 2048, 8192)
TOLERANCE = 1e-14
#: Largest error [rad] of the angle at the end, at the smallest step, that counts as accurate.
ACCURATE = 1e-9
#: Largest number of steps for the order of the error, which is then far above rounding.
COARSE = 128
ASSUMED = (
    "thin rods that hang from one end, of mass s and length s² as printed; tolerances of the solver are 1e-14, or the "
    "rounding error if that is larger",
    "a half swing from π/2 takes 1.18 times the printed T/2, which holds for small swings",
    "the paper's curves cannot be read off: its statements about them are compared",
)


def rod(scale: float) -> Assembly:
    """Return a thin rod of scale kg and scale² m that hangs from its upper end and turns about x there."""
    length = scale**2
    body = thin_rod("rod", length, scale)
    hinge = joint("revolute", "hinge", None, "rod", (1.0, 0.0, 0.0), outboard_point=(0.0, 0.0, 0.5 * length))
    return Assembly("rod", (body,), (hinge,), gravity=(0.0, 0.0, -G))


def small_period(scale: float) -> float:
    """Return the period of small swings [s], as printed: T = 2π √(2 l / 3 g)."""
    return 2.0 * math.pi * math.sqrt(2.0 * scale**2 / (3.0 * G))


def period(scale: float) -> float:
    """Return the period [s] of the swing from π/2: 2 K/π times that of small swings, K(sin π/4): elliptic integral."""
    return small_period(scale) * 2.0 / math.pi * float(ellipk(math.sin(0.5 * START) ** 2))


def swing(scale: float, steps: int, duration: float) -> Row:
    """Return a row of the table: a swing from π/2, in a number of steps."""
    assembly, step = rod(scale), duration / steps

    def simulate() -> Motion:
        start = assembly.place({"hinge": START})
        return assembly.simulate(duration, step, start, tolerance=TOLERANCE, record_every=steps)

    def measured(motion: Motion) -> Row:
        error = abs(-START - float(motion.frame["angle_hinge"].iloc[-1]))
        return {"iterations a step": motion.summary["newton_mean"], "error [rad]": error}

    return attempted({"scale": scale, "steps": steps, "Δt/s [s]": step / scale}, simulate, measured)


def scales(quick: bool, progress: Progress) -> Outcome:
    cases = [(scale, n, 0.5 * period(scale)) for scale, n in product(SCALES, QUICK_STEPS if quick else STEPS)]
    table = tabulated(cases, swing, progress)
    early = swing(1.0, COARSE, 0.5 * small_period(1.0))
    figures = {
        "iterations": _draw(table, "iterations a step", "Newton iterations per step", ylim=(0.0, None)),
        "error": _draw(table, "error [rad]", "error of the last angle [rad]", yscale="log"),
    }
    return Outcome(_findings(table, float(str(early["error [rad]"]))), ASSUMED, {"Half swings": table}, figures)


def _findings(table: pd.DataFrame, early: float) -> tuple[Finding, ...]:
    finest, coarsest = (table[table["steps"] == most] for most in (table["steps"].max(), table["steps"].min()))
    coarse = table[(table["steps"] <= COARSE) & (table["scale"] == 1.0)]
    ended, error = int((table["ended"] == ENDED).sum()), float(finest["error [rad]"].max())
    order = slope(coarse["Δt/s [s]"].tolist(), coarse["error [rad]"].tolist())
    by_scale = table[table["steps"] <= COARSE].pivot_table("error [rad]", "steps", "scale")
    apart = float((by_scale.max(axis=1) / by_scale.min(axis=1) - 1.0).max())
    few, many = (float(rows["iterations a step"].mean()) for rows in (coarsest, finest))
    return (
        stated("runs that are complete", "simulation is successful", f"{ended} of {len(table)}",
               when("all", ended == len(table))),
        stated("error of the last angle at the smallest step [rad]", "accurate results even for small step sizes",
               error, at_most(ACCURATE)),
        stated("power of the step with which the error falls", "falls", order, near(4, 0.5),
               "the phase is of second order, and the angle at the turning point of second order in the phase"),
        stated("errors of the three scales at equal Δt/s, largest / smallest − 1",
               "periods are proportional to the scale", apart, at_most(1e-3)),
        stated("error of the last angle after the printed T/2, Δt = T/256 [rad]", "falls with the step", early,
               below(0.01),
               "T is the period of small swings; a half swing from π/2 takes 1.18 times as long"),
        stated("Newton iterations per step, smallest step / largest step", "rise", many / few, above(1),
               "ours start from the displacements of the step before, a better guess if the step is smaller"),
    )  # fmt: skip


def _draw(table: pd.DataFrame, column: str, label: str, **limits: Any) -> Figure:
    curves = []
    for scale, color, line in zip(SCALES, (style.PURPLE, style.ORANGE, style.GREEN), ("o-", "s--", "^:"), strict=True):
        mine = table[table["scale"] == scale]
        curves.append(Curve(mine["Δt/s [s]"], mine[column], f"s = {scale:g}", color, line, marker=4))
    return drawn(("Half swings of pendulums of scale s", "Δt/s [s]", label), curves, "semilogx", **limits)
