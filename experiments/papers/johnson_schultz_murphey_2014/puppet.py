"""Section VIII-B: the marionette as a discrete system, and how its strings are moved."""

import math

import numpy as np

from biped.mechanism import DiscreteMechanism
from biped.mechanism.marionette import marionette, marionette_start
from biped.optimal import Trajectory
from contact.arrays import Floats
from experiments.papers.item import Progress

#: [s], [m] and [rad/s]
STEP = 0.01
AMPLITUDE, FREQUENCY = 0.1, 0.6 * math.pi
#: Which strings are let out and pulled in, and which begins how.
MOVED = {"left_hand": 1.0, "right_hand": -1.0, "left_knee": -1.0, "right_knee": 1.0}
ASSUMPTIONS = (
    f"lengths, masses, posture and damping of the marionette, and steps of {STEP:g} s: those of the authors' program, "
    "as none is printed",
    "all of an impulse acts at a step's beginning, as in II-A",
    "strings of the left hand and the right knee are let out first; hands and knees of a side move against each other",
)


def puppet() -> DiscreteMechanism:
    return DiscreteMechanism(marionette(), STEP, force_share=1.0)


def start(system: DiscreteMechanism) -> Floats:
    """Return the start, at rest under straight strings, (80,)."""
    return system.state(marionette_start(system.mechanism))


def inputs(system: DiscreteMechanism, steps: int) -> Floats:
    """Return where the strings are at the end of each step, (N, 18)."""
    names = system.mechanism.kinematic_coordinates
    first = system.mechanism.size - len(names)
    u = np.tile(start(system)[first : first + len(names)], (steps, 1))
    moved = AMPLITUDE * np.sin(FREQUENCY * STEP * np.arange(1, steps + 1))
    for string, sign in MOVED.items():
        u[:, names.index(f"{string}_length")] += sign * moved
    return u


def reference(system: DiscreteMechanism, steps: int, progress: Progress = lambda _: None) -> Trajectory:
    """Return the marionette's motion."""
    x, u = [start(system)], inputs(system, steps)
    for k, row in enumerate(u):
        x.append(system.advance(x[-1], row, k * STEP))
        progress((k + 1) / steps)
    return Trajectory(np.array(x), u)
