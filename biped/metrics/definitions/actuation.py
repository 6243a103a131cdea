"""Metrics of actuation: torques, power and work of the joints."""

import math

import numpy as np

from biped.errors import InputError
from biped.metrics.definitions.sources import WINTER
from biped.metrics.measurement import Measurement, added
from biped.metrics.metric import Metric, Value, register


def actuation(run: Measurement) -> dict[str, float]:
    """Return peak and RMS torque, peak power, and positive and negative work, of all joints together and of each."""
    joints, places, rows = run.layout.joints, run.places, run.rows[run.first :]
    if not joints:
        return {}
    time, torque, rate = rows[:, places.time], rows[:, places.torque], rows[:, places.rate]
    span = float(time[-1] - time[0]) or math.nan
    squares = added(torque[:-1] ** 2 * np.diff(time)[:, None])
    work = torque[:-1] * np.diff(rows[:, places.angle], axis=0)
    each = {
        "peak_torque": np.abs(torque).max(axis=0),
        "rms_torque": np.sqrt(squares / span),
        "peak_power": np.abs(torque * rate).max(axis=0),
        "positive_work": added(np.maximum(work, 0.0)),
        "negative_work": added(np.minimum(work, 0.0)),
    }
    total = {
        "peak_torque": each["peak_torque"].max(),
        "rms_torque": math.sqrt(added(squares) / span),
        "peak_power": np.abs(added((torque * rate).T)).max(),
        "positive_work": added(each["positive_work"]),
        "negative_work": added(each["negative_work"]),
    }
    return total | {f"{name}_{joint}": values[k] for name, values in each.items() for k, joint in enumerate(joints)}


def saturation(run: Measurement) -> dict[str, Value]:
    """Return the times for which the joints' actuators are at their limits, and the longest of them."""
    known = run.context.saturation
    if known is None:
        return {}
    unknown = sorted(set(known) - set(run.layout.joints))
    if unknown:
        raise InputError(f"saturation: the model has no joints {', '.join(unknown)}")
    times = {joint: float(known.get(joint, 0.0)) for joint in run.layout.joints}
    each: dict[str, Value] = {f"saturation_time_{joint}": time for joint, time in times.items()}
    return each | {"saturation_time": max(times.values(), default=None)}


register(
    Metric("peak_torque", "N*m", "peak torque of any joint", actuation, "maximum of all joints and rows"),
    Metric("peak_torque_JOINT", "N*m", "peak torque of a joint", actuation,
           "maximum of |τ|; in N for a prismatic joint"),
    Metric("rms_torque", "N*m", "RMS of the vector of torques", actuation, "√(∫ Σ τ² dt / T)"),
    Metric("rms_torque_JOINT", "N*m", "RMS torque of a joint", actuation, "√(∫ τ² dt / T)"),
    Metric("peak_power", "W", "peak power of all joints together", actuation, "maximum of |Σ τ ω|", WINTER),
    Metric("peak_power_JOINT", "W", "peak power of a joint", actuation, "maximum of |τ ω|", WINTER),
    Metric("positive_work", "J", "positive work of the joints", actuation, "sum over joints", WINTER),
    Metric("positive_work_JOINT", "J", "positive work of a joint", actuation,
           "sum of τ Δθ above zero; τ is constant between two recorded rows", WINTER),
    Metric("negative_work", "J", "negative work of the joints", actuation, "sum over joints", WINTER),
    Metric("negative_work_JOINT", "J", "negative work of a joint", actuation, "sum of τ Δθ below zero", WINTER),
    Metric("saturation_time", "s", "longest time of an actuator at its limit", saturation, "maximum over joints",
           of_whole_run=True),
    Metric("saturation_time_JOINT", "s", "time of a joint's actuator at its limit", saturation,
           "time in which the desired torque exceeds the actuator's limit", of_whole_run=True),
)  # fmt: skip
