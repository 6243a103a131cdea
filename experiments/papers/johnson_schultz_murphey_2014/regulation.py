"""Figure 4: a pendulum that begins elsewhere, with and without feedback."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.optimal import Trajectory, closed_loop
from contact.arrays import Floats
from experiments.papers.criteria import above, below, stated, when
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014 import swing_up
from experiments.papers.johnson_schultz_murphey_2014.following import apart, back_after, feedback
from experiments.papers.johnson_schultz_murphey_2014.pendulum import STEP, pendulum
from experiments.visualization.figures import style

#: (θ, p) in place of (0, 0).
START = (1.0, 1.0)
#: Of the error at the start: what counts as back.
BACK = 0.05
REFERENCE, FEASIBLE, CLOSED, OPEN = "infeasible reference", "feasible reference", "closed loop", "open loop"


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - the whole takes seconds
    system = pendulum()
    desired = swing_up.search(system, "newton", progress=lambda done: progress(0.8 * done)).path
    gains = feedback(system, desired, np.eye(2), np.eye(1))
    closed, opened = (closed_loop(system, desired, K, np.array(START)) for K in (gains, 0.0 * gains))
    progress(1.0)
    paths = {REFERENCE: swing_up.desired(), FEASIBLE: desired, CLOSED: closed, OPEN: opened}
    time = np.linspace(0.0, STEP * swing_up.STEPS, swing_up.STEPS + 1)
    assumed = (
        *swing_up.ASSUMPTIONS,
        "the regulator's costs, which are not printed: Q = I, R = 1, the end as Q: by the authors' program",
        f"back: the norm of the error of (θ, p) stays below {BACK:.0%} of what it is at the start",
    )
    findings = _findings(time, apart(closed, desired), apart(opened, desired))
    return Outcome(findings, assumed, {"Angles": _table(time, paths)}, {"regulation": _draw(time, paths)})


def _findings(time: Floats, closed: Floats, opened: Floats) -> tuple[Finding, ...]:
    soon, never = back_after(time, closed, BACK), back_after(time, opened, BACK)
    left = float(opened[len(opened) // 2 :].max() / opened[0])
    return (
        stated("back on the feasible reference with feedback after [s]", "quickly stabilizes", soon,
               when("before the 10 s are over, which without feedback it is not", soon < float(time[-1]) < never),
               "how quickly is not printed"),
        stated("error at the end with feedback, of that at the start", "quickly stabilizes",
               float(closed[-1] / closed[0]), below(1e-2)),
        stated("error without feedback in the second half, at most, of that at the start", "drawn: it never comes back",
               left, above(1)),
    )  # fmt: skip


def _table(time: Floats, paths: dict[str, Trajectory]) -> pd.DataFrame:
    columns = {f"θ, {name} [rad]": path.x[:, 0] for name, path in paths.items()}
    return pd.DataFrame({"time [s]": time} | columns)


def _draw(time: Floats, paths: dict[str, Trajectory]) -> Figure:
    looks = {
        REFERENCE: (style.BLACK, ":"),
        FEASIBLE: (style.BLACK, "-"),
        CLOSED: (style.BLUE, "--"),
        OPEN: (style.RED, "-."),
    }
    with plotted("A pendulum that begins at (1, 1) in place of (0, 0)", "time [s]", "θ [rad]") as (figure, axes):
        for name, path in paths.items():
            color, dashes = looks[name]
            axes.plot(time, path.x[:, 0], dashes, color=color, label=name)
    return figure


ITEM = Item(
    "figure-4", "a pendulum led back to its trajectory", "Johnson, Schultz and Murphey 2014, figure 4, (36), (37)",
    produce,
)  # fmt: skip
