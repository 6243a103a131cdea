"""Figure 4 (b): how many iterations the steps of a run take."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from biped.integrators import Lee, LeeNewton, LeeRiqn
from biped.simulation.simulate import simulate
from experiments.papers.criteria import near, stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.lee_2016.chain import ASSUMPTIONS, STEP, lee_chain, random_start
from experiments.visualization.figures import style

BODIES = 50
#: [s] It takes a second or two: the short version is the same.
DURATION = 1.0
#: What our means may differ from the printed ones by.
MARGIN = 1.0

Integers = NDArray[np.int64]
OURS = "exact Newton in O(n), extrapolated (ours)"
METHODS: dict[str, tuple[Lee, str]] = {
    "Newton, IG1": (LeeNewton(guess="current"), style.RED),
    "RIQN, IG1": (LeeRiqn(guess="current"), style.BLUE),
    "Newton, IG3": (LeeNewton(guess="dynamics"), style.ORANGE),
    "RIQN, IG3": (LeeRiqn(guess="dynamics"), style.SKY),
    OURS: (Lee(), style.GREEN),
}


def produce(_quick: bool, progress: Progress) -> Outcome:
    model = lee_chain(BODIES)
    counts: dict[str, Integers] = {}
    for label, (integrator, _) in METHODS.items():
        run = simulate(
            model, state=random_start(model), step=STEP, duration=DURATION, integrator=integrator, record_every=STEP
        )
        counts[label] = run.frame["newton_iterations"].to_numpy()[1:].astype(np.int64) + 1
        progress(len(counts) / len(METHODS))
    table = pd.DataFrame({
        "method": list(counts), "mean": [found.mean() for found in counts.values()],
        "standard deviation": [found.std() for found in counts.values()],
        "least": [found.min() for found in counts.values()], "most": [found.max() for found in counts.values()],
    })  # fmt: skip
    return Outcome(
        _findings(counts), (*ASSUMPTIONS, *_ASSUMED), {"Evaluations of a step": table}, {"iterations": _draw(counts)}
    )


_ASSUMED = (
    "50 bodies, 1000 steps, gravity on and a tolerance of 1e-8, as in the authors' program; in a chain as long as "
    "this one, rounding leaves more than that of the residual, and the tolerance is what it leaves",
    "counted as in that program: evaluations of the residual, one more than there are corrections",
    "IG1 as the first guess: with it Newton's method takes the printed 4 in nearly every step; the program as it is "
    "now has IG3, which is tabulated too",
)


def _findings(counts: dict[str, Integers]) -> tuple[Finding, ...]:
    newton, riqn, ours = counts["Newton, IG1"], counts["RIQN, IG1"], counts[OURS]
    least, most = float(ours.mean()), int(ours.max())
    fewest = min(riqn.mean(), counts["RIQN, IG3"].mean())
    return (
        stated("mean evaluations, Newton", 4.0, float(newton.mean()), near(4.0, MARGIN, f"within {MARGIN:g}"),
               "IG1 was chosen by it", fitted=True),
        _near("standard deviation, Newton", 0.0, newton.std(), 0.1),
        _near("mean evaluations, RIQN", 5.69, riqn.mean(), MARGIN),
        _near("standard deviation, RIQN", 1.16, riqn.std(), 0.5),
        stated("Newton needs fewer iterations than RIQN", "4 against 5.69",
               f"{newton.mean():.2f} against {riqn.mean():.2f}", when("in the mean", newton.mean() < riqn.mean())),
        stated("evaluations, exact Newton in O(n) (ours)", "not in the paper",
               f"{least:.2f} in the mean, {most} at most",
               when("fewer than RIQN's; 3 corrections at most", least < fewest and most <= 4)),
    )  # fmt: skip


_WHY = "the state of the paper's chain is not known, and its program has the residual of its SVI"


def _near(quantity: str, published: float, ours: float, margin: float) -> Finding:
    return stated(quantity, published, float(ours), near(published, margin, f"within {margin:g}"), why=_WHY)


def _draw(counts: dict[str, Integers]) -> Figure:
    title = f"Evaluations a step, {BODIES} bodies, h = 1 ms"
    with plotted(title, "step", "evaluations of the residual") as (figure, axes):
        for label, found in counts.items():
            text = f"{label}: {found.mean():.2f} ± {found.std():.2f}"
            axes.plot(np.arange(1, len(found) + 1), found, ".", ms=2.5, color=METHODS[label][1], label=text)
        axes.set_ylim(0.0, 1.45 * max(found.max() for found in counts.values()))
        axes.legend(loc="upper right", markerscale=4)
    return figure


ITEM = Item("figure-4b", "iterations of the steps of a run", "Lee et al. 2016, figure 4 (b)", produce)
