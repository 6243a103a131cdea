"""Gait at the end of a run: landings of the feet, and repetition of the last gait cycles.

A walking body is outside of its base of support in every swing, and ahead of it all the time when it walks fast. It is
balanced if its steps catch it as well as one cycle before: the margin of stability at landing does not get worse (Hof
2008). An unbalanced motion grows e-fold within a time constant of the pendulum.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from biped.metrics.kernels.support import COM, FEET, MARGIN
from biped.metrics.measurement import Measurement
from contact.arrays import Integers
from contact.modes import NONE

#: Reason of the verdict "stepped" for a body in a steady gait.
STEPPING_ON = "stepping on"
#: [s] Shortest swing; a foot that is off the floor for less has bounced or scuffed.
LEAST_SWING = 0.05
#: Duration of a late step over the longest step of the last two cycles.
LATE = 1.5
#: Tolerances of a repeated cycle: loss of margin at landing and in swings, over the pendulum's length, and drop of the
#: centre of mass, over its standing height.
LANDING, SWING, LOWER = 0.1, 0.2, 0.1


@dataclass(frozen=True)
class Gait:
    """Last steps of a run.

    Attributes:
        due: [s] time from which the next step is late.
        cycle: [s] duration of the longer of the last two cycles; zero if there are fewer than two cycles.
        caught: [s] time of the last landing with a margin no worse than the same foot had one cycle before.
        doubt: text that says how the last cycle is worse than the previous cycle; empty if not, or if ``cycle`` is 0.
    """

    due: float
    cycle: float
    caught: float
    doubt: str


def gait_of(run: Measurement) -> Gait | None:
    """Return the gait at the end of a run; None if there are fewer than two steps."""
    rows, feet = landings(run)
    if len(rows) < 2:
        return None
    times, margins = run["time"][rows], run.series[rows, MARGIN]
    same = np.flatnonzero(feet == feet[-1])[-3:]
    first, middle = (int(same[0]), int(same[1])) if len(same) == 3 else (0, 0)
    due = float(times[-1] + LATE * np.diff(times[first:]).max())
    before = [next((j for j in range(k - 1, -1, -1) if feet[j] == feet[k]), k) for k in range(len(feet))]
    is_caught = (margins >= margins[before] - LANDING * run.body.length) & (before != np.arange(len(feet)))
    caught = float(times[is_caught][-1]) if is_caught.any() else -math.inf
    if len(same) < 3:
        return Gait(due, 0.0, caught, "")
    doubt = _doubt(run, bool(is_caught[middle + 1 :].all()), int(rows[first]), int(rows[middle]))
    return Gait(due, float(np.diff(times[same]).max()), caught, doubt)


def landings(run: Measurement) -> tuple[Integers, Integers]:
    """Return the rows in which feet land after a swing, in order, and the numbers of these feet.

    If several feet step, only the last of consecutive landings of a foot counts; earlier landings were corrections.
    """
    time, pairs = run["time"], list[tuple[int, int]]()
    for foot in range(len(run.layout.feet)):
        points = run.places.contact[run.places.foot == foot]
        down = (run.rows[:, points] != NONE).any(axis=1) | (run.series[:, FEET + foot] > 0.0)
        changes = np.flatnonzero(down[1:] != down[:-1])
        swings = [(k, after + 1) for k, after in pairwise(changes) if down[k]]
        pairs += [(int(after), foot) for k, after in swings if time[after] - time[k] >= LEAST_SWING]
    pairs.sort()
    if len({foot for _, foot in pairs}) > 1:
        pairs = [pair for pair, after in zip(pairs, [*pairs[1:], (0, -1)], strict=True) if pair[1] != after[1]]
    rows, feet = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return rows, feet


def _doubt(run: Measurement, is_caught: bool, first: int, middle: int) -> str:
    """Describe how the rows from ``middle`` on are worse than the cycle from ``first`` to ``middle``, or return ""."""
    column = run.series[:, (MARGIN, COM + 2)]
    margin, lower = np.nanmin(column[first:middle], axis=0) - np.nanmin(column[middle:], axis=0)
    if not is_caught or margin > SWING * run.body.length:
        return "its steps do not catch it as well as those one cycle before"
    sinks = lower > LOWER * run.layout.standing_height
    return "its centre of mass gets lower from cycle to cycle" if sinks else ""
