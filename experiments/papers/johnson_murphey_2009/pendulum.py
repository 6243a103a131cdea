"""Figure 1: the energy of a pendulum over 5000 s."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.mechanism.examples import n_link_pendulum, pendulum_frames
from contact.arrays import Floats
from experiments.engines.pybullet.linkage import Linkage
from experiments.papers.criteria import below, smaller, stated, when, within
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.johnson_murphey_2009.motion import (
    BASELINE,
    BULLET,
    COLORS,
    OURS,
    Motion,
    bullet,
    in_turn,
    ours,
)

DURATION, QUICK_DURATION, STEP = 5000.0, 200.0, 0.01
#: [s] between two looks at the energy.
EVERY = 0.1
#: [m], [kg], [kg m²] and [rad].
LENGTH, MASS, INERTIA, START = 1.0, 1.0, 0.1, math.pi / 4.0
LOWEST = -MASS * 9.81 * LENGTH


def produce(quick: bool, progress: Progress) -> Outcome:
    duration, q = QUICK_DURATION if quick else DURATION, {"J1": START}
    mechanism = n_link_pendulum(1, length=LENGTH, mass=MASS, inertia=INERTIA)
    own = ours(
        mechanism, q, "J1", duration=duration, step=STEP, every=round(EVERY / STEP), progress=in_turn(progress, 0, 2)
    )
    linkage = Linkage([pendulum_frames(1, LENGTH, (MASS, INERTIA, INERTIA, INERTIA))], q, step=STEP)
    other = bullet(linkage, "J1", duration=duration, every=EVERY, progress=in_turn(progress, 1, 2))
    found = {OURS: own, BULLET: other}
    assumed = (
        f"the pendulum, of which nothing is printed: {MASS:g} kg and {INERTIA:g} kg m² {LENGTH:g} m below the hinge, "
        "released at 45°, as the pendulum of section VI-A",
        f"{duration:g} s; energies are compared above that of the pendulum at rest",
        BASELINE,
    )
    return Outcome(_findings(found), assumed, {"Energy above rest": _table(found)}, {"energy": _draw(found)})


def height(motion: Motion) -> Floats:
    """Return the energy above that of the pendulum at rest [J]."""
    return motion.energy - LOWEST


def drift(motion: Motion) -> float:
    """Return the mean energy of the last tenth of the run less that of the first, over the energy at the start."""
    energy = height(motion)
    tenth = len(energy) // 10
    return float((energy[-tenth:].mean() - energy[:tenth].mean()) / energy[0])


def _findings(found: dict[str, Motion]) -> tuple[Finding, ...]:
    own, other = found[OURS], found[BULLET]
    energy = height(own)
    tenth = len(energy) // 10
    widening = float(np.ptp(energy[-tenth:]) / np.ptp(energy[:tenth]))
    left = float(height(other)[-1] / height(other)[0])
    return (
        stated("range of the energy, variational integrator, of what it has at the start",
               "does not perfectly conserve energy at each step", float(np.ptp(energy) / energy[0]),
               when("above 1e-9 and below 1e-3", 1e-9 < np.ptp(energy) / energy[0] < 1e-3)),
        stated("drift of the mean energy, variational integrator, of what it has at the start",
               "maintains the correct average energy", drift(own), smaller(1e-6)),
        stated("range of the energy, last tenth of the run over the first", "maintains the correct average energy",
               widening, within(1.0, 0.01)),
        stated("energy at the end of what it has at the start, force balance", "slowly dissipates energy over time",
               left, below(0.9), "ODE in the paper, PyBullet here"),
    )  # fmt: skip


def _table(found: dict[str, Motion]) -> pd.DataFrame:
    return pd.DataFrame([{
        "method": name, "at the start [J]": height(motion)[0], "at the end [J]": height(motion)[-1],
        "least [J]": height(motion).min(), "most [J]": height(motion).max(),
        "drift of the mean, of the start": drift(motion), "run time [s]": motion.seconds,
    } for name, motion in found.items()])  # fmt: skip


def _draw(found: dict[str, Motion]) -> Figure:
    with plotted("A pendulum, h = 0.01 s", "time [s]", "energy above rest [J]") as (figure, axes):
        for name in reversed(found):
            axes.plot(found[name].time, height(found[name]), lw=1.0, color=COLORS[name], label=name)
        axes.set_ylim(bottom=0.0)
    return figure


ITEM = Item(
    "figure-1", "energy of a pendulum over 5000 s", "Johnson and Murphey 2009, figure 1", produce, ("pybullet",)
)
