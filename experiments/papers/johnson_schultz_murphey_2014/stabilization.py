"""Figures 6 and 7: the marionette, turned a little, with and without feedback."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.mechanism import DiscreteMechanism
from biped.optimal import Trajectory, closed_loop
from contact.arrays import Floats
from experiments.papers.criteria import above, below, stated
from experiments.papers.figures import plotted
from experiments.papers.item import Finding, Item, Outcome, Progress
from experiments.papers.johnson_schultz_murphey_2014 import puppet
from experiments.papers.johnson_schultz_murphey_2014.following import apart, feedback
from experiments.papers.johnson_schultz_murphey_2014.puppet import STEP
from experiments.visualization.figures import style

DURATION, QUICK_DURATION = 10.0, 3.0
#: What the error with feedback falls below, of that at the start; in a short version it has less time.
SMALL, QUICK_SMALL = 0.05, 0.3
#: What is turned, and by how much [rad].
TURNED, BY = "torso_rz", 0.1
#: Of configurations; 1 of all else.
WEIGHT = 100.0
CLOSED, OPEN = "with feedback", "without"
COLORS = {OPEN: style.GREY, CLOSED: style.BLUE}


def produce(quick: bool, progress: Progress) -> Outcome:
    system = puppet.puppet()
    steps = round((QUICK_DURATION if quick else DURATION) / STEP)
    path = puppet.reference(system, steps, lambda done: progress(0.2 * done))
    n, size = system.states, system.mechanism.size
    weights = np.where(np.arange(n) < size, WEIGHT, 1.0)
    gains = feedback(system, path, np.diag(weights), np.eye(system.inputs), lambda done: progress(0.2 + 0.4 * done))
    x = turned(system, path)
    found = {CLOSED: closed_loop(system, path, gains, x), OPEN: closed_loop(system, path, 0.0 * gains, x)}
    progress(1.0)
    time = np.linspace(0.0, STEP * steps, steps + 1)
    errors = {name: apart(one, path, size) for name, one in found.items()}
    column = system.state_names.index(TURNED)
    angles = {name: (one.x - path.x)[:, column] for name, one in found.items()}
    closures = system.mechanism.largest_constraints(system.configuration_of(found[CLOSED].x))
    assumed = (
        *puppet.ASSUMPTIONS,
        f"the torso is turned about the vertical, {TURNED}, by {BY:g} rad, and all is moved by as little as makes the "
        f"strings fit again, which leaves {angles[CLOSED][0]:.5f} rad; the authors' program runs on with constant "
        "inputs instead, to a state that is 44 % off",
        f"the error is that of the {size} configuration variables, the end of the regulator's cost as its Q",
        f"{time[-1]:g} s",
    )
    findings = _findings(errors, angles, QUICK_SMALL if quick else SMALL, float(np.max(closures)))
    figures = {
        "error": _draw(time, errors, "error of the configuration"),
        "torso": _draw(time, angles | {"reference": 0.0 * time}, "error of the torso's turn [rad]"),
    }
    return Outcome(findings, assumed, {"Errors": _table(time, errors, angles)}, figures)


def turned(system: DiscreteMechanism, path: Trajectory) -> Floats:
    """Return the start, turned, (80,)."""
    mechanism = system.mechanism
    q = system.configuration_of(path.x[0])
    q[mechanism.coordinates.index(TURNED)] += BY
    return system.state(mechanism.satisfy_constraints(q))


def persisting(error: Floats) -> float:
    """Return the root mean square of the last quarter over what the error is at first."""
    return float(np.sqrt(np.mean(error[-(len(error) // 4) :] ** 2)) / error[0])


def _findings(
    errors: dict[str, Floats], angles: dict[str, Floats], small: float, closure: float
) -> tuple[Finding, ...]:
    closed, opened = persisting(errors[CLOSED]), persisting(errors[OPEN])
    better = float(np.mean(errors[CLOSED] < errors[OPEN]))
    half = len(angles[OPEN]) // 2
    torso, free = (float(np.sqrt(np.mean(angles[name][half:] ** 2))) for name in (CLOSED, OPEN))
    return (
        stated("error in the last quarter with feedback, of that at the start", "quickly converges to the reference",
               closed, below(small)),
        stated("error in the last quarter without feedback, likewise", "persists throughout the time horizon", opened,
               above(0.2)),
        stated("share of the time in which the error with feedback is the smaller one",
               "significantly improves the norm of the error", better, above(0.8)),
        stated("root mean square of the torso's error in the second half, with feedback over without",
               "significantly improves", torso / free, below(0.5)),
        stated("constraints, at most [m]", "the holonomic constraint at every time step", closure, below(1e-9)),
    )  # fmt: skip


def _table(time: Floats, errors: dict[str, Floats], angles: dict[str, Floats]) -> pd.DataFrame:
    columns = {f"error {name}": values for name, values in errors.items()}
    columns |= {f"torso {name} [rad]": values for name, values in angles.items()}
    return pd.DataFrame({"time [s]": time} | columns).iloc[::5]


def _draw(time: Floats, found: dict[str, Floats], label: str) -> Figure:
    with plotted("The marionette, its torso turned by 0.1 rad", "time [s]", label) as (figure, axes):
        for name, values in found.items():
            dashes = "-" if name in COLORS else ":"
            axes.plot(time, values, dashes, color=COLORS.get(name, style.BLACK), label=name)
    return figure


ITEM = Item(
    "figure-6", "the marionette led back to its motion, and its torso (figure 7)",
    "Johnson, Schultz and Murphey 2014, figures 6 and 7, section VIII-B", produce,
)  # fmt: skip
