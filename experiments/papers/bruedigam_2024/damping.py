"""Figure 7c: the energy that a damped pendulum loses."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

from contact.arrays import Floats
from experiments.papers.bruedigam_2024.pendulums import cubes, euler, single_energy, single_rates, stepped
from experiments.papers.criteria import above, below, stated
from experiments.papers.figures import plotted
from experiments.papers.item import Item, Outcome, Progress
from experiments.visualization.figures import style

DAMPING, DURATION = 0.5, 10.0
#: [s] of the paper, and of the authors' program.
STEPS = (0.1, 0.05)
START = math.pi / 2.0
ASSUMED = (
    "a cube of 0.1 m hung 1 m below, as in figure 7b, from π/2; the paper prints Δt = 0.1 s, the authors' program has "
    "0.05 s and 10 s: both steps are shown; the unit of the damping, N·s/m in the paper, is N·m·s/rad",
)


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is short as it is
    rates = single_rates(DAMPING)
    curves: dict[str, tuple[Floats, Floats]] = {}
    findings = []
    rows = []
    for number, step in enumerate(STEPS):
        times = step * np.arange(round(DURATION / step) + 1, dtype=np.float64)
        exact = _exact(times)
        assembly = cubes(1, DAMPING)
        ours = assembly.simulate(DURATION, step, assembly.place({"joint_1": START})).frame["energy"].to_numpy()
        other = single_energy(stepped(euler, rates, (START, 0.0), step, len(times) - 1))
        span = float(np.ptp(exact))
        own, theirs = (float(np.abs(energy - exact).max()) / span for energy in (ours, other))
        findings += [
            stated(f"greatest error of the energy, of all that is lost, variational integrator, Δt = {step:g} s",
                   "good dissipation after a small initial error", own, below(0.1)),
            stated(f"the same of Euler's method, Δt = {step:g} s", "large error", theirs, above(0.5)),
            stated(f"energy of Euler's method at the end less the exact one, likewise, Δt = {step:g} s",
                   "drastically underdamps", float(other[-1] - exact[-1]) / span,
                   above(0.05)),
        ]  # fmt: skip
        rows.append({"Δt [s]": step, "exact, at the end [J]": exact[-1], "ours [J]": ours[-1], "Euler [J]": other[-1],
                     "greatest error of ours": own, "of Euler's": theirs})  # fmt: skip
        curves |= {f"exact {step}": (times, exact), f"ours {step}": (times, ours), f"euler {step}": (times, other)}
        progress((number + 1) / len(STEPS))
    return Outcome(tuple(findings), ASSUMED, {"Energy": pd.DataFrame(rows)}, {"energy": _draw(curves)})


def _exact(times: Floats) -> Floats:
    rates = single_rates(DAMPING)
    solution = solve_ivp(
        lambda _, y: rates(tuple(y)), (0.0, DURATION), [START, 0.0], "DOP853", times, rtol=1e-11, atol=1e-12
    )
    return single_energy(solution.y.T)


def _draw(curves: dict[str, tuple[Floats, Floats]]) -> Figure:
    looks = {"exact": (style.BLACK, "-"), "ours": (style.BLUE, "-"), "euler": (style.RED, "-")}
    names = {"exact": "exact", "ours": "variational integrator (ours)", "euler": "Euler"}
    with plotted("Damped pendulum, Δt = 0.1 s", "time [s]", "energy [J]") as (figure, axes):
        for kind, (color, line) in looks.items():
            axes.plot(*curves[f"{kind} {STEPS[0]}"], line, color=color, label=names[kind])
        axes.set_ylim(-10.5, 6.0)
    return figure


ITEM = Item("figure-7c", "energy of a damped pendulum", "Brüdigam et al. 2024, figure 7c, section 5.1", produce)
