"""Positions of a model's points over time, like those of markers, and their sampling rate."""

import re
from dataclasses import replace

import numpy as np

from biped.errors import InputError
from biped.runs.run import Run
from contact.arrays import Floats
from experiments.visualization.viewer.snapshot import turned
from experiments.visualization.viewer.trajectory import trajectory_of

#: Allowed deviation of times from even sampling / sampling interval.
UNEVEN = 1e-3


def rate_of(run: Run) -> float:
    """Return the sampling rate [Hz] of the rows; raise InputError if they are not evenly spaced."""
    time = run.frame["time"].to_numpy(dtype=np.float64)
    step = (time[-1] - time[0]) / max(len(time) - 1, 1)
    if not (step > 0.0 and np.abs(time - time[0] - step * np.arange(len(time))).max() <= UNEVEN * step):
        raise InputError("the recorded times must be evenly spaced for this format: record the run at a constant rate")
    return float(1.0 / step)


def points_of(run: Run) -> dict[str, Floats]:
    """Return positions (n, 3) [m], world axes: whole-body and root centre of mass, joints, contact points.

    Joints at the same position, such as a hip's three hinges, are one point, named without the axis: ``left_hip``.
    """
    model = run.state.model
    rows = trajectory_of(replace(run, after=None)).rows
    points = {"com": rows.com, model.root.name: rows.position[:, 0]}
    for k, body in enumerate(model.bodies):
        place = rows.position[:, k] - turned(rows.quaternion[:, k], np.asarray(body.com))
        if body is not model.root and not any(np.allclose(place, other, atol=1e-9) for other in points.values()):
            name = re.sub("_(roll|pitch|yaw)$", "", body.joint.name)
            points[body.joint.name if name in points else name] = place
    for k, name in enumerate(model.contact_names):
        points[f"contact_{name}"] = rows.contact_place[:, k]
    return points
