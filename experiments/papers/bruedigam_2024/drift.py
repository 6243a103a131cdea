"""Figure 7a: how far the loop of three links comes apart."""

import math

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.assembly.examples import LOOP_START, THICKNESS, three_link_loop
from biped.errors import IntegrationError
from biped.mechanism import Coincident, Mechanism, integrate, rx, ty, tz
from biped.model import box_inertia
from contact.arrays import Floats
from experiments.papers.criteria import above, below, stated
from experiments.papers.figures import plotted
from experiments.papers.item import Outcome, Progress
from experiments.visualization.figures import style

DURATION, QUICK_DURATION, STEP = 600.0, 20.0, 0.01
#: Steps from one look to the next.
EVERY = 10
#: [m] below which a loop counts as closed.
CLOSED = 1e-9
ASSUMED = (
    "start, boxes of 0.1 m across and 600 s are those of the authors' program",
    "in place of the Runge-Kutta-Munthe-Kaas method of order 4 in maximal coordinates: Runge and Kutta's of order 4 on "
    "the angles, with the loop's closure held in its accelerations, as the paper says of it, and not stabilized; "
    "the loop opens until the motion has no bounds, and what was before is compared",
)


def produce(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    assembly, start = three_link_loop()
    motion = assembly.simulate(duration, STEP, start, record_every=EVERY, progress=lambda done: progress(0.7 * done))
    ours = motion.frame["joint_openness"].to_numpy()
    time, other = runge_kutta(duration)
    progress(1.0)
    half = len(ours) // 2
    findings = (
        stated("loop open at most, variational integrator [m]", "zero constraint drift", float(ours.max()),
               below(CLOSED)),
        stated("the same in the second half, over the first half", "zero constraint drift",
               float(ours[half:].max() / ours[:half].max()), below(10),
               "both are what the solver's tolerance of 1e-10 leaves"),
        stated("loop open at the end, Runge and Kutta's method [m]", "drifts", float(other[-1]), above(CLOSED)),
        stated("the same over that in the middle", "drifts", float(other[-1] / other[len(other) // 2]), above(1.2)),
        stated("range of the energy of the variational integrator, over the greatest kinetic one", "not in the paper",
               _energy_range(motion.frame), below(0.05)),
    )  # fmt: skip
    table = pd.DataFrame({
        "method": ["variational integrator", "Runge and Kutta, accelerations"],
        "open at most [m]": [ours.max(), other.max()],
        "open at the end [m]": [ours[-1], other[-1]],
    })  # fmt: skip
    return Outcome(findings, ASSUMED, {"Drift": table}, {"drift": _draw(motion.time, ours, time, other)})


def _energy_range(frame: pd.DataFrame) -> float:
    return float(np.ptp(frame["energy"]) / frame["kinetic_energy"].max())


def loop_in_angles() -> Mechanism:
    """Return the loop of three links in generalized coordinates."""
    short = math.sqrt(0.5)

    def mass(length: float) -> tuple[float, float, float, float]:
        tensor = box_inertia(length, (THICKNESS, THICKNESS, length))
        return length, tensor[0][0], tensor[1][1], tensor[2][2]

    coupler = rx("left_tip", tz(-0.5 * short, mass=mass(short)), tz(-short, name="one"))
    left = rx("left", tz(-0.5, mass=mass(1.0)), tz(-1.0, coupler))
    right = rx("right", tz(-0.5, mass=mass(1.0)), tz(-1.0, name="other"))
    return Mechanism("loop", [left, ty(1.0, right)], (0.0, 0.0, -9.81), constraints=[Coincident("one", "other", "yz")])


def runge_kutta(duration: float) -> tuple[Floats, Floats]:
    """Return times [s] and how far the loop is open [m], as long as the motion lasts: open far enough, it ends."""
    mechanism = loop_in_angles()
    first, second = LOOP_START
    q = mechanism.satisfy_constraints({"left": first, "left_tip": second, "right": math.pi})
    try:
        motion = integrate(mechanism, duration, STEP, method="rk4", q=q, record_every=EVERY)
    except IntegrationError as error:  # a result too
        motion = error.run
    return motion.frame["time"].to_numpy(), np.abs(motion.constraint_errors)


def _draw(time: Floats, ours: Floats, other_time: Floats, other: Floats) -> Figure:
    with plotted("Three links in a loop, Δt = 0.01 s", "time [s]", "loop open by [m]") as (figure, axes):
        axes.semilogy(other_time, np.maximum(other, 1e-17), color=style.RED, label="Runge and Kutta, accelerations")
        axes.semilogy(time, np.maximum(ours, 1e-17), color=style.BLUE, lw=0.8, label="variational integrator (ours)")
    return figure
