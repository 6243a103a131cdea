"""Figure 7b: the energy of a double pendulum without friction."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contact.arrays import Floats
from experiments.papers.bruedigam_2024.pendulums import cubes, double_energy, double_rates, heun, stepped
from experiments.papers.criteria import above, below, smaller, stated
from experiments.papers.figures import plotted
from experiments.papers.item import Item, Outcome, Progress
from experiments.visualization.figures import style

DURATION, QUICK_DURATION, STEP = 3600.0, 60.0, 0.01
EVERY = 20
ASSUMED = (
    "cubes of 0.1 m hung 1 m below, the start at (π/2, π/2) between the links, and the duration are those of the "
    "authors' program; the second angle is taken as that of the joint",
    "energies of the variational integrator are of the mean of the momenta before and after each time",
)


def produce(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    assembly = cubes(2)
    start = assembly.place({"joint_1": math.pi / 2.0, "joint_2": math.pi / 2.0})
    motion = assembly.simulate(duration, STEP, start, record_every=EVERY, progress=lambda done: progress(0.7 * done))
    ours = motion.frame["energy"].to_numpy()
    steps = round(duration / STEP)
    states = stepped(heun, double_rates, (math.pi / 2.0, math.pi, 0.0, 0.0), STEP, steps, EVERY)
    other = double_energy(states)
    progress(1.0)
    span = float(motion.frame["kinetic_energy"].max())
    half = len(ours) // 2
    ranged, drift = float(np.ptp(ours)) / span, float(ours[half:].mean() - ours[:half].mean()) / span
    gained = float(other[-1] - other[0]) / span
    findings = (
        stated("range of the energy, variational integrator, over the greatest kinetic energy",
               "the energy error stays bounded", ranged, below(0.05)),
        stated("mean of its second half less that of the first, likewise", "the energy error stays bounded", drift,
               smaller(1e-3)),
        stated("energy gained by Heun's method, likewise", "injects energy into the system", gained, above(1e-3)),
    )  # fmt: skip
    times = EVERY * STEP * np.arange(len(other), dtype=np.float64)
    table = pd.DataFrame({
        "method": ["variational integrator", "Heun"], "energy at the start [J]": [ours[0], other[0]],
        "at the end [J]": [ours[-1], other[-1]], "least [J]": [ours.min(), other.min()],
        "most [J]": [ours.max(), other.max()],
    })  # fmt: skip
    return Outcome(findings, ASSUMED, {"Energy": table}, {"energy": _draw(motion.time, ours, times, other)})


def _draw(time: Floats, ours: Floats, other_time: Floats, other: Floats) -> Figure:
    with plotted("Double pendulum without friction, Δt = 0.01 s", "time [s]", "energy less its start's [J]") as (
        figure,
        axes,
    ):
        axes.plot(other_time, other - other[0], color=style.RED, label="Heun")
        axes.plot(time, ours - ours[0], color=style.BLUE, lw=0.6, label="variational integrator (ours)")
    return figure


ITEM = Item("figure-7b", "energy of a double pendulum", "Brüdigam et al. 2024, figure 7b, section 5.1", produce)
