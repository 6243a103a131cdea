"""Margins of stability: distances of balance points inside of the base of support."""

import math

import numpy as np

from biped.metrics.definitions.sources import HOF, KOOLEN, SARDAIN, VUKOBRATOVIC
from biped.metrics.kernels.support import AREA, CAPTURE_MARGIN, COP_MARGIN, DOWN, MARGIN, NORMAL, ZMP_MARGIN
from biped.metrics.measurement import Measurement, added
from biped.metrics.metric import Metric, register


def stability(run: Measurement) -> dict[str, float]:
    """Return the margins, the flight time, and the largest ground reaction force."""
    if not run.model.nc:
        return {}
    table, time = run.series[run.first :], run["time"][run.first :]
    least, last = np.fmin.reduce(table, axis=0, initial=math.nan), table[-1]
    return {
        "margin_of_stability_min": least[MARGIN],
        "margin_of_stability_end": last[MARGIN],
        "capture_margin_min": least[CAPTURE_MARGIN],
        "capture_margin_end": last[CAPTURE_MARGIN],
        "cop_margin_min": least[COP_MARGIN],
        "zmp_margin_min": least[ZMP_MARGIN],
        "support_area_end": last[AREA],
        "flight_time": added(np.where(table[:-1, DOWN] == 0, np.diff(time), 0.0)),
        "peak_grf": np.fmax.reduce(table[:, NORMAL]),
    }


register(
    Metric("margin_of_stability_min", "m", "min margin of stability", stability,
           "signed distance from the extrapolated centre of mass to the boundary of the base of support, above zero "
           "inside; minimum of all rows with contact", HOF),
    Metric("margin_of_stability_end", "m", "final margin of stability", stability, "margin in the last row", HOF),
    Metric("capture_margin_min", "m", "min margin of the capture point", stability,
           "signed distance from the instantaneous capture point to the boundary of the base of support, above zero "
           "inside; minimum of all rows with contact", KOOLEN),
    Metric("capture_margin_end", "m", "final margin of the capture point", stability, "capture margin in the last row",
           KOOLEN),
    Metric("cop_margin_min", "m", "min margin of the centre of pressure", stability,
           "signed distance to the boundary of the support polygon, above zero inside", SARDAIN),
    Metric("zmp_margin_min", "m", "min margin of the zero moment point", stability,
           "signed distance of the point computed from the body's momenta; below zero if other forces push",
           VUKOBRATOVIC),
    Metric("support_area_end", "m**2", "final area of the support polygon", stability,
           "area of the convex hull of the touching contact points", HOF),
    Metric("flight_time", "s", "flight time without any contact", stability, "sum over rows without a touching point"),
)  # fmt: skip
