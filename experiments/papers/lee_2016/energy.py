"""Figure 2 (b): the energy of a passive chain, by RIQN and by the semi-implicit Euler method."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.integrators import Integrator, Lee, LeeRiqn, SemiImplicitEuler
from biped.simulation.simulate import simulate
from contact.arrays import Floats
from experiments.papers.criteria import below, near, stated
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.lee_2016.chain import ASSUMPTIONS, STEP, lee_chain, random_start
from experiments.visualization.figures import style

BODIES = 10
#: [s] simulated, and between two looks at the energy.
DURATION, QUICK_DURATION = 1000.0, 40.0
EVERY = 0.02

METHODS: dict[str, tuple[Integrator, str]] = {
    "RIQN": (LeeRiqn(guess="dynamics"), style.BLUE),
    "exact Newton in O(n) (ours)": (Lee(), style.GREEN),
    "semi-implicit Euler": (SemiImplicitEuler(), style.RED),
}


def produce(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    model = lee_chain(BODIES)
    curves: dict[str, Floats] = {}
    time = np.zeros(0)
    for number, (label, (integrator, _)) in enumerate(METHODS.items()):

        def report(now: float, done: int = number) -> None:
            progress((done + now / duration) / len(METHODS))

        run = simulate(
            model,
            state=random_start(model),
            step=STEP,
            duration=duration,
            integrator=integrator,
            record_every=EVERY,
            progress=report,
        )
        time = run.frame["time"].to_numpy()
        curves[label] = (run.frame["ledger_kinetic"] + run.frame["ledger_potential"]).to_numpy()
    table = pd.DataFrame({
        "method": list(curves), "energy at the start [J]": [curve[0] for curve in curves.values()],
        "drift [J]": [drift(time, curve) for curve in curves.values()],
        "largest deviation [J]": [np.abs(curve - curve[0]).max() for curve in curves.values()],
    })  # fmt: skip
    assumed = (
        f"{duration:g} s, semi-implicit Euler with its joint rates as the velocities; RIQN from the guess IG3 "
        "with a tolerance of 1e-8 N·s"
    )
    found, figures = _findings(time, curves), {"energy": _draw(time, curves)}
    return Outcome(found, (*ASSUMPTIONS, assumed), {"Energy": table}, figures)


def drift(time: Floats, energy: Floats) -> float:
    """Return the change of the straight line through the energy from start to end [J]."""
    return float(np.polyfit(time, energy, 1)[0] * (time[-1] - time[0]))


def _findings(time: Floats, curves: dict[str, Floats]) -> tuple[Finding, ...]:
    lost = drift(time, curves["semi-implicit Euler"])

    def steady(label: str) -> Finding:
        ours = drift(time, curves[label])
        return stated(f"drift of the energy, {label} [J]", "does not artificially dissipate the energy", ours,
                      near(0, 0.1 * abs(lost), "a tenth of semi-implicit Euler's at most"))  # fmt: skip

    return (
        steady("RIQN"),
        steady("exact Newton in O(n) (ours)"),
        stated("drift of the energy, semi-implicit Euler [J]", "dissipates", lost, below(0, "negative"),
               why="it drifts upwards here: the sign hangs on the motion, and the paper's is not known"),
    )  # fmt: skip


def _draw(time: Floats, curves: dict[str, Floats]) -> Figure:
    title = f"Energy of a passive chain of {BODIES} bodies, h = 1 ms"
    with plotted(title, "time [s]", "total energy [J]") as (figure, axes):
        for label, curve in reversed(curves.items()):
            axes.plot(time, curve, color=METHODS[label][1], lw=1.0, label=label)
    return figure


ITEM = Item("figure-2b", "energy of a passive chain of ten bodies", "Lee et al. 2016, figure 2 (b)", produce)
