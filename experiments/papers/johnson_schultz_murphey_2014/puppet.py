"""Section VIII-B and figure 5: the marionette as a discrete system, and the motion of its strings."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from biped.optimal import Trajectory
from contact.arrays import Floats
from experiments.papers.criteria import same, stated
from experiments.papers.item import Outcome, Progress
from experiments.visualization.look.writing import styled
from formulations.mechanism import DiscreteMechanism, Mechanism
from formulations.mechanism.marionette import marionette, marionette_start

#: Time step [s]; amplitude [m] and angular frequency [rad/s] of the strings' motion.
STEP = 0.01
AMPLITUDE, FREQUENCY = 0.1, 0.6 * math.pi
#: Strings that are let out and pulled in: 1 starts by being let out, −1 by being pulled in.
MOVED = {"left_hand": 1.0, "right_hand": -1.0, "left_knee": -1.0, "right_knee": 1.0}
ASSUMPTIONS = (
    f"lengths, masses, posture and damping of the marionette, and time steps of {STEP:g} s, are those of the authors' "
    "program, as none is printed",
    "the whole impulse of a force acts at the beginning of a step, as in II-A",
    "the strings of the left hand and the right knee are let out first; hand and knee of a side move in opposite phase",
)


def puppet() -> DiscreteMechanism:
    return DiscreteMechanism(marionette(), STEP, force_share=1.0)


def start(system: DiscreteMechanism) -> Floats:
    """Return the initial state (80,), at rest under vertical strings."""
    return system.state(marionette_start(system.mechanism))


def inputs(system: DiscreteMechanism, steps: int) -> Floats:
    """Return the inputs (N, 18): positions and lengths of the strings at the end of each step."""
    names = system.mechanism.kinematic_coordinates
    first = system.mechanism.size - len(names)
    u = np.tile(start(system)[first : first + len(names)], (steps, 1))
    moved = AMPLITUDE * np.sin(FREQUENCY * STEP * np.arange(1, steps + 1))
    for string, sign in MOVED.items():
        u[:, names.index(f"{string}_length")] += sign * moved
    return u


def reference(system: DiscreteMechanism, steps: int, progress: Progress = lambda _: None) -> Trajectory:
    """Return the marionette's motion with these inputs."""
    x, u = [start(system)], inputs(system, steps)
    for k, row in enumerate(u):
        x.append(system.advance(x[-1], row, k * STEP))
        progress((k + 1) / steps)
    return Trajectory(np.array(x), u)


def produce(quick: bool, progress: Progress) -> Outcome:  # noqa: ARG001 - it is one configuration
    system = puppet()
    mechanism = system.mechanism
    sizes = (  # as printed, and ours
        ("dynamic configuration variables", 22, len(mechanism.dynamic_coordinates)),
        ("kinematic configuration variables", 18, len(mechanism.kinematic_coordinates)),
        ("holonomic constraints", 6, len(mechanism.constraint_names)),
        ("states", 80, system.states),
        ("inputs", 18, system.inputs),
    )
    note = "the marionette is that of the authors' program, which has these sizes"
    findings = [
        stated(what, float(printed), float(count), same(printed), note, kind="chosen") for what, printed, count in sizes
    ]
    q = marionette_start(mechanism)
    table = pd.DataFrame({"configuration variable": mechanism.coordinates, "at the start [m or rad]": np.asarray(q)})
    progress(1.0)
    figures = {"marionette": _draw(mechanism)}
    return Outcome(tuple(findings), ASSUMPTIONS[:1], {"Configuration at the start": table}, figures)


def _draw(mechanism: Mechanism) -> Figure:
    with styled():
        figure = mechanism.plot(marionette_start(mechanism), names=False)
        figure.set_size_inches(6.0, 6.0)
        axes: Any = figure.axes[0]
        axes.view_init(14.0, 35.0)
        axes.set_box_aspect(np.ptp(np.array(axes.get_w_lims()).reshape(3, 2), axis=1), zoom=1.15)
        axes.set_axis_off()
        axes.set_title("")
    return figure
