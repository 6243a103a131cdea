"""Metrics of forces on the body: ground reaction forces, and impacts of thrown bodies."""

import numpy as np

from biped.kernels.loop.log import IMPACT
from biped.metrics.definitions.feet import feet
from biped.metrics.definitions.margins import stability
from biped.metrics.definitions.sources import WINTER
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, register


def impact_impulse(run: Measurement) -> float | None:
    if run.events is None:
        return None
    impulses = run.events[run.events[:, 1] == IMPACT, 3:6]
    return float(np.linalg.norm(impulses.sum(axis=0))) if len(impulses) else None


register(
    Metric("peak_grf", "N", "peak ground reaction force", stability, "maximum of the total force across the floor",
           WINTER),
    Metric("peak_grf_FOOT", "N", "peak normal force of a foot", feet, "maximum of the foot's normal force", WINTER),
    Metric("mean_grf_FOOT", "N", "mean normal force of a foot", feet, "impulse / duration", WINTER),
    Metric("impact_peak_FOOT", "N", "impact peak of a foot", feet,
           "maximum of the normal force within 50 ms after a landing; none without a landing"),
    Metric("impact_impulse", "N*s", "impulse of projectiles on the model", impact_impulse,
           "magnitude of the sum of all impacts", of_whole_run=True),
)  # fmt: skip
