"""Metrics of actuation: torques, power and work of the joints."""

import numpy as np

from biped.errors import InputError
from biped.metrics.definitions.sources import WINTER
from biped.metrics.kernels import metrics as kernels
from biped.metrics.measurement import Measurement
from biped.metrics.metric import Metric, Value, register


def actuation(run: Measurement) -> dict[str, float]:
    """Torques, powers and works of all joints and of each."""
    joints = run.layout.joints
    if not joints:
        return {}
    table = np.empty((len(joints), len(kernels.OF_JOINT)))
    found: dict[str, float] = kernels.measure_joints(run.rows, run.places, run.first, table)._asdict()
    each = {
        f"{name}_{joint}": number
        for joint, numbers in zip(joints, table.tolist(), strict=True)
        for name, number in zip(kernels.OF_JOINT, numbers, strict=True)
    }
    return found | each | {"peak_torque": float(table[:, kernels.PEAK_TORQUE].max())}


def saturation(run: Measurement) -> dict[str, Value]:
    """The times of each joint at its limit, and the longest."""
    known = run.context.saturation
    if known is None:
        return {}
    unknown = sorted(set(known) - set(run.layout.joints))
    if unknown:
        raise InputError(f"saturation of {', '.join(unknown)}: no such joints")
    times = {joint: float(known.get(joint, 0.0)) for joint in run.layout.joints}
    each: dict[str, Value] = {f"saturation_time_{joint}": time for joint, time in times.items()}
    return each | {"saturation_time": max(times.values(), default=None)}


register(
    Metric("peak_torque", "N*m", "peak torque of any joint", actuation, "maximum of all joints and rows"),
    Metric("peak_torque_JOINT", "N*m", "peak torque of a joint", actuation,
           "maximum of |τ|; N of a prismatic joint"),
    Metric("rms_torque", "N*m", "RMS of the vector of torques", actuation, "√(∫ Σ τ² dt / T)"),
    Metric("rms_torque_JOINT", "N*m", "RMS torque of a joint", actuation, "√(∫ τ² dt / T)"),
    Metric("peak_power", "W", "peak power of all joints together", actuation, "maximum of |Σ τ ω|", WINTER),
    Metric("peak_power_JOINT", "W", "peak power of a joint", actuation, "maximum of |τ ω|", WINTER),
    Metric("positive_work", "J", "work that the joints did", actuation, "sum over joints", WINTER),
    Metric("positive_work_JOINT", "J", "work that a joint did", actuation,
           "sum of τ Δθ above zero, torque held between rows", WINTER),
    Metric("negative_work", "J", "work that the joints took up, not above zero", actuation, "sum over joints", WINTER),
    Metric("negative_work_JOINT", "J", "work that a joint took up", actuation, "sum of τ Δθ below zero", WINTER),
    Metric("saturation_time", "s", "longest time of a joint at its limit", saturation, "maximum over joints",
           of_whole_run=True),
    Metric("saturation_time_JOINT", "s", "time of a joint at its limit", saturation,
           "for which more than the actuator's limit was asked for", of_whole_run=True),
)  # fmt: skip
