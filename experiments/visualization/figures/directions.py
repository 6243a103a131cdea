"""Axes of figures: anteroposterior, mediolateral and vertical, or the world's x, y and z."""

import math
from dataclasses import dataclass

from biped.model import Model
from experiments.lookup.figure_look import ANATOMICAL, current_look
from experiments.visualization.figures.labels import along

XYZ = ("x", "y", "z")
#: Anteroposterior and mediolateral.
AXES = ("AP", "ML")


@dataclass(frozen=True)
class Direction:
    """Axis of a figure that shows positions along x or y."""

    name: str  # name of the axis
    title: str  # heading that says what is positive, or up
    sign: float  # -1 if values are drawn with the opposite sign
    grows: bool  # whether larger numbers are farther up; in a top view of the lateral axis, farther to the right

    def of(self, low: float, high: float) -> tuple[float, float]:
        """Return the ends of the axis from the bottom up, for positions from ``low`` to ``high``."""
        ends = sorted((self.sign * low, self.sign * high), reverse=not self.grows)
        return ends[0], ends[1]


def ahead_of(model: Model) -> int:
    """Return the index of the axis along which the model faces: 0 (x) or 1 (y)."""
    return int(abs(model.facing[1]) > abs(model.facing[0]))


def is_anatomical(model: Model) -> bool:
    """Return whether figures of a model have anatomical axes and joint motions; models without feet never do."""
    return current_look().axes == ANATOMICAL and bool(model.feet)


def direction_of(model: Model, axis: int, *, from_above: bool = False) -> Direction:
    """Return the axis for x (0) or y (1) in the current look; ``from_above``: for a top view, right on the right."""
    is_ahead = axis == ahead_of(model)
    if is_anatomical(model):
        title = "Anteroposterior (AP); anterior positive" if is_ahead else "Mediolateral (ML); right positive"
        towards = model.facing[axis] if is_ahead else -model.left[axis]
        return Direction(AXES[not is_ahead], title, math.copysign(1.0, towards), grows=True)
    upwards = model.facing[axis] if is_ahead else model.left[axis]
    return Direction(XYZ[axis], f"{along(XYZ[axis], model)}, up", 1.0, (upwards > 0.0) != (from_above and not is_ahead))


def space_axes(model: Model) -> list[tuple[str, int, float]]:
    """Return name, index and sign of three axes in the current look: AP, ML and vertical, or x, y and z."""
    if not is_anatomical(model):
        return [(name, k, 1.0) for k, name in enumerate(XYZ)]
    ahead = ahead_of(model)
    horizontal = [(axis, direction_of(model, axis)) for axis in (ahead, 1 - ahead)]
    return [*((shown.name, axis, shown.sign) for axis, shown in horizontal), ("vertical", 2, 1.0)]
