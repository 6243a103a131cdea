"""Where the feet go."""

import numpy as np

from biped.kernels.loop.log import LIFT
from biped.metrics.kernels import metrics as kernels
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, Value, register


def displacement(run: Measurement) -> dict[str, float]:
    if not run.model.nc or not len(run.rows):
        return {}
    return kernels.measure_displacement(run.rows, run.places)._asdict()


def feet(run: Measurement) -> dict[str, Value]:
    """Forces of each foot."""
    if not run.layout.feet:
        return {}
    table = np.empty((len(run.layout.feet), len(kernels.OF_FOOT)))
    kernels.measure_feet(run.rows, run.places, run.series, run.first, table)
    return {
        f"{name}_{foot}": number
        for foot, numbers in zip(run.layout.feet, table.tolist(), strict=True)
        for name, number in zip(kernels.OF_FOOT, numbers, strict=True)
    }


def lifts(run: Measurement) -> int | None:
    if run.events is None:
        return None
    after = True if run.start_time is None else run.events[:, 0] >= run.start_time
    return int(np.count_nonzero((run.events[:, 1] == LIFT) & after))


register(
    Metric("foot_displacement", "m", "final foot displacement", displacement,
           "most of all contact points, at the end, in space and in the floor's frame, from where each was first down",
           of_whole_run=True),
    Metric("lifts", "1", "contact points that left the floor", lifts, "count of the events", of_whole_run=True),
    Metric("foot_slip", "m", "max foot slip", lambda run: run.context.foot_slip,
           "longest path that one slid or yielded, counted in every step of the run and of those that it continues",
           of_whole_run=True),
    Metric("foot_creep", "m", "max creep of sticking contacts", displacement,
           "along the floor, in the last quarter of the rows, of the points that stick throughout it",
           of_whole_run=True),
)  # fmt: skip
