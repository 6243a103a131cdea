"""Metrics of the root's return to its set point."""

import math

import numpy as np

from biped.kernels.loop.log import ABSENT
from biped.metrics.definitions.sources import OGATA
from biped.metrics.measurement import Measurement, added
from biped.metrics.metric import Metric, register

#: [m] and [rad] Errors up to which the root has settled.
SETTLED_POSITION = 0.02
SETTLED_ORIENTATION = math.radians(2.0)
_NOT_OF_A_FALL = ("settling_time", "position_overshoot", "orientation_overshoot")


def recovery(run: Measurement) -> dict[str, float | None]:
    if run.places.root == ABSENT or run.context.set_point is None:
        return {}
    time, first, tail = run["time"], run.first, max(1, len(run.rows) // 10)
    values: dict[str, float | None] = {}
    unsettled = np.zeros(len(time), dtype=bool)
    for what, at, limit in (("position", 0, SETTLED_POSITION), ("orientation", 3, SETTLED_ORIENTATION)):
        errors = run.errors[:, at : at + 3]
        sizes = np.linalg.norm(errors, axis=1)
        peak = first + int(np.argmax(sizes[first:]))
        back = -(errors[peak:] * errors[peak]).sum(axis=1)  # against the direction of the peak
        values[f"peak_{what}_error"] = sizes[peak]
        values[f"{what}_overshoot"] = max(0.0, back.max() / sizes[peak]) if sizes[peak] > 0.0 else 0.0
        values[f"{what}_error"] = added(sizes[-tail:]) / tail
        unsettled |= sizes > limit
    beyond = np.flatnonzero(unsettled[first:])
    settled = first + int(beyond[-1]) + 1 if len(beyond) else first
    values["settling_time"] = time[settled] - time[first] if settled < len(time) else None
    return values | dict.fromkeys(_NOT_OF_A_FALL) if run.fell else values


def integrated(run: Measurement) -> dict[str, float]:
    """Return RMS errors of the root from the start of the disturbance to the end."""
    if run.places.root == ABSENT or run.context.set_point is None:
        return {}
    times, squares = run.rows[run.first :, run.places.time], run.errors[run.first :] ** 2
    span = float(times[-1] - times[0])
    if not span > 0.0:  # the run ended at this time
        return {}
    position, orientation = (np.trapezoid(squares[:, at : at + 3].sum(axis=1), times) for at in (0, 3))
    return {
        "rms_position_error": math.sqrt(float(position) / span),
        "rms_orientation_error": math.sqrt(float(orientation) / span),
    }


register(
    Metric("settling_time", "s", "settling time of the root at its set point", recovery,
           "time of the last error above 2 cm or 2°, from the start of the disturbance; none if the run fell, did not "
           "settle, or the controller has no set point", OGATA),
    Metric("peak_position_error", "m", "peak position error of the root", recovery, "maximum of |x − x_d|"),
    Metric("peak_orientation_error", "rad", "peak orientation error of the root", recovery,
           "maximum of the angle of q q̄_d"),
    Metric("position_overshoot", "m", "overshoot of the root's position", recovery,
           "largest error opposite to the peak error, after it; 0 without such an error; none for a fall", OGATA),
    Metric("orientation_overshoot", "rad", "overshoot of the root's orientation", recovery,
           "as for the position, with the rotation vector of q q̄_d", OGATA),
    Metric("position_error", "m", "steady-state position error", recovery,
           "mean of |x − x_d| over the last tenth of the rows", OGATA),
    Metric("orientation_error", "rad", "steady-state orientation error", recovery,
           "mean of the angle over the last tenth of the rows", OGATA),
    Metric("rms_position_error", "m", "RMS position error of the root", integrated, "√(∫ |x − x_d|² dt / T)"),
    Metric("rms_orientation_error", "rad", "RMS orientation error of the root", integrated,
           "√(∫ θ² dt / T), θ the angle of q q̄_d"),
)  # fmt: skip
