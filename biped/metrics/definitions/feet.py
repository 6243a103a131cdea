"""Metrics of the feet: displacement, slip, creep, lifts and forces."""

import math
from functools import partial

import numpy as np

from biped.kernels.loop.log import LIFT
from biped.metrics.kernels.support import FEET
from biped.metrics.measurement import Measurement, added
from biped.metrics.metric import Metric, Value, register
from contact.modes import STICKING

#: [s] Time after a landing in which the foot's largest normal force counts as the impact.
LANDING = 0.05


def displacement(run: Measurement) -> dict[str, float]:
    if not run.model.nc or not len(run.rows):
        return {}
    (where, down), tail = run.contacts, max(1, len(run.rows) // 4)
    stood = np.flatnonzero(down.any(axis=0))
    moved = np.linalg.norm(where[-1, stood] - where[down.argmax(axis=0)[stood], stood], axis=1)
    sticks = np.flatnonzero((run.rows[-tail:, run.places.contact] == STICKING).all(axis=0) & (tail > 1))
    crept = np.linalg.norm(where[-1, sticks, :2] - where[-tail, sticks, :2], axis=1)
    most = partial(np.fmax.reduce, initial=math.nan)
    return {"foot_displacement": most(moved), "foot_creep": most(crept)}


def feet(run: Measurement) -> dict[str, Value]:
    """Return the largest and the mean normal force on each foot, and the largest within 0.05 s after a landing."""
    time, values = run["time"][run.first :], dict[str, Value]()
    for number, foot in enumerate(run.layout.feet):
        down, force = run.is_foot_down(number)[run.first :], run.series[run.first :, FEET + number]
        landed = np.append(-math.inf, np.where(down[1:] & ~down[:-1], time[1:], -math.inf))
        impacts = force[time - np.maximum.accumulate(landed) <= LANDING]
        values[f"peak_grf_{foot}"] = max(0.0, force.max())
        impulse, span = added(force[1:] * np.diff(time)), time[-1] - time[0]  # a row's force is of the step before
        values[f"mean_grf_{foot}"] = impulse / span if span > 0.0 else None
        values[f"impact_peak_{foot}"] = impacts.max() if len(impacts) else None
    return values


def lifts(run: Measurement) -> int | None:
    if run.events is None:
        return None
    after = True if run.start_time is None else run.events[:, 0] >= run.start_time
    return int(np.count_nonzero((run.events[:, 1] == LIFT) & after))


register(
    Metric("foot_displacement", "m", "final foot displacement", displacement,
           "3-D displacement from the first contact to the end, in the floor's frame; maximum of all contact points",
           of_whole_run=True),
    Metric("lifts", "1", "contact points that left the floor", lifts, "count of the events", of_whole_run=True),
    Metric("foot_slip", "m", "max foot slip", lambda run: run.context.foot_slip,
           "longest path that a contact point slid or yielded, in this run and in the runs that it continues",
           of_whole_run=True),
    Metric("foot_creep", "m", "max creep of sticking contacts", displacement,
           "along the floor, in the last quarter of the rows; maximum of contact points that stick throughout",
           of_whole_run=True),
)  # fmt: skip
