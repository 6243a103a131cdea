"""Figure 7a: how far the loop of three links comes apart."""

import numpy as np
import pandas as pd

from experiments.papers.bruedigam_2024 import munthe_kaas
from experiments.papers.criteria import above, below, stated
from experiments.papers.figures import Curve, drawn
from experiments.papers.item import Outcome, Progress
from experiments.visualization.figures import style
from formulations.assembly.examples import three_link_loop

DURATION, QUICK_DURATION, STEP = 600.0, 20.0, 0.01
#: Steps from one look to the next.
EVERY = 10
#: [m] below which a loop counts as closed.
CLOSED = 1e-9
ASSUMED = (
    "start, boxes of 0.1 m across and 600 s are those of the authors' program",
    "the Runge-Kutta-Munthe-Kaas method of order 4 on all poses, joints held in the accelerations, as the paper says, "
    "and not stabilized: all links turn about one axis, on which it is Runge and Kutta's on places and angles; joints "
    "open until the motion has no bounds, and what was before is compared",
)


def produce(quick: bool, progress: Progress) -> Outcome:
    duration = QUICK_DURATION if quick else DURATION
    assembly, start = three_link_loop()
    motion = assembly.simulate(duration, STEP, start, record_every=EVERY, progress=lambda done: progress(0.5 * done))
    ours = motion.frame["joint_openness"].to_numpy()
    other = munthe_kaas.motion(*munthe_kaas.in_plane(assembly, start), STEP, round(duration / STEP), EVERY)
    progress(1.0)
    half = len(ours) // 2
    findings = (
        stated("joints open at most, variational integrator [m]", "zero constraint drift", float(ours.max()),
               below(CLOSED)),
        stated("the same in the second half, over the first half", "zero constraint drift",
               float(ours[half:].max() / ours[:half].max()), below(10),
               "both are what the solver's tolerance of 1e-10 leaves"),
        stated("joints open at the end, Runge-Kutta-Munthe-Kaas [m]", "drifts", float(other[-1]), above(CLOSED)),
        stated("the same over that in the middle", "drifts", float(other[-1] / other[len(other) // 2]), above(1.2)),
        stated("range of the energy of the variational integrator, over the greatest kinetic one", "not in the paper",
               float(np.ptp(motion.frame["energy"]) / motion.frame["kinetic_energy"].max()), below(0.05), kind="ours"),
    )  # fmt: skip
    table = pd.DataFrame({
        "method": ["variational integrator", "Runge-Kutta-Munthe-Kaas, accelerations"],
        "open at most [m]": [ours.max(), other.max()],
        "open at the end [m]": [ours[-1], other[-1]],
    })  # fmt: skip
    titles = "Three links in a loop, Δt = 0.01 s", "time [s]", "joints open by [m]"
    curves = (
        Curve(motion.time[: len(other)], np.maximum(other, 1e-17), "Runge-Kutta-Munthe-Kaas", style.RED),
        Curve(motion.time, np.maximum(ours, 1e-17), "variational integrator (ours)", width=0.8),
    )
    return Outcome(findings, ASSUMED, {"Drift": table}, {"drift": drawn(titles, curves, "semilogy")})
