"""Figure 10: pendulums of many links at small tolerances of the solver."""

import math

import pandas as pd
from matplotlib.figure import Figure

from biped.assembly.examples import pendulum
from biped.errors import IntegrationError
from experiments.papers.criteria import at_most, stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Item, Outcome, Progress
from experiments.visualization.figures import style

TOLERANCES = (1e-6, 1e-8, 1e-10)
LINKS, QUICK_LINKS = (1, 2, 5, 10, 20, 50, 100), (10, 100)
STEP, STEPS, QUICK_STEPS = 0.01, 1000, 100
ASSUMED = (
    "the same pendulums as in figure 8a, from π/4 in the first joint",
    "tolerances are of the norm of the equations, which are momenta here and forces in the paper: a hundredth of them "
    "at this step; they are never below what rounding leaves, which is told",
    "the integrators in minimal coordinates that fail in the paper are not run here",
)


def produce(quick: bool, progress: Progress) -> Outcome:
    sizes, steps = (QUICK_LINKS, QUICK_STEPS) if quick else (LINKS, STEPS)
    rows = []
    for tolerance in TOLERANCES:
        for links in sizes:
            rows.append(_run(links, tolerance, steps))
            progress(len(rows) / (len(TOLERANCES) * len(sizes)))
    table = pd.DataFrame(rows)
    findings = tuple(
        stated(f"pendulums that come to their end at {tolerance:g}", "all", _succeeded(table, tolerance),
               when(f"{len(sizes)} of {len(sizes)}", _succeeded(table, tolerance) == f"{len(sizes)} of {len(sizes)}"))
        for tolerance in TOLERANCES
    )  # fmt: skip
    left = float((table["left of the equations [N·s, m]"] / table["tolerance"]).max())
    findings += (stated("left of the equations over the tolerance, at most", "not in the paper", left, at_most(1)),)
    return Outcome(findings, ASSUMED, {"Runs": table}, {"iterations": _draw(table)})


def _succeeded(table: pd.DataFrame, tolerance: float) -> str:
    mine = table[table["tolerance"] == tolerance]
    return f"{int((mine['ended'] == 'as asked').sum())} of {len(mine)}"


def _run(links: int, tolerance: float, steps: int) -> dict[str, object]:
    assembly = pendulum(links)
    row: dict[str, object] = {"tolerance": tolerance, "links": links}
    try:
        start = assembly.place({"joint_1": math.pi / 4.0})
        motion = assembly.simulate(steps * STEP, STEP, start, tolerance=tolerance)
    except IntegrationError as error:  # a result too
        return row | {"ended": str(error)}
    return row | {
        "ended": "as asked",
        "iterations a step": motion.summary["newton_mean"],
        "at most": motion.summary["newton_max"],
        "left of the equations [N·s, m]": float(motion.frame["equations"].max()),
        "joints open at most [m]": float(motion.frame["joint_openness"].max()),
    }


def _draw(table: pd.DataFrame) -> Figure:
    with plotted("Pendulums, Δt = 0.01 s", "links", "Newton's iterations a step", (7.0, 4.2)) as (figure, axes):
        for tolerance, color in zip(TOLERANCES, (style.SKY, style.BLUE, style.BLACK), strict=True):
            mine = table[table["tolerance"] == tolerance]
            axes.semilogx(mine["links"], mine["iterations a step"], "o-", ms=4, color=color, label=f"{tolerance:g}")
        axes.set_ylim(bottom=0.0)
    return figure


ITEM = Item("figure-10", "long pendulums at small tolerances", "Brüdigam et al. 2024, figure 10, section 5.3", produce)
