"""How places along x and y are shown: in the world's axes, or anteroposterior and mediolateral."""

import math
from dataclasses import dataclass

from biped.model import Model
from experiments.lookup.figure_look import ANATOMICAL, current_look
from experiments.visualization.figures.labels import along
from experiments.visualization.figures.quantities import XYZ
from experiments.visualization.figures.support import ahead_of

#: Anteroposterior and mediolateral.
AXES = ("AP", "ML")


@dataclass(frozen=True)
class Direction:
    """How places along x or y are shown."""

    name: str  # of the axis
    title: str  # what is up
    sign: float  # -1 where they are counted the other way
    grows: bool  # whether larger numbers are farther up, and on the view from above farther to the right

    def of(self, low: float, high: float) -> tuple[float, float]:
        """From where to where an axis goes, from the bottom up."""
        ends = sorted((self.sign * low, self.sign * high), reverse=not self.grows)
        return ends[0], ends[1]


def direction_of(model: Model, axis: int, *, from_above: bool = False) -> Direction:
    """Of x (0) or y (1) in the axes of the current look; ``from_above`` the model's right is on the right."""
    is_ahead = axis == ahead_of(model)
    if current_look().axes == ANATOMICAL:
        title = "Anteroposterior; anterior is up" if is_ahead else "Mediolateral; right is up"
        towards = model.facing[axis] if is_ahead else -model.left[axis]
        return Direction(AXES[not is_ahead], title, math.copysign(1.0, towards), grows=True)
    upwards = model.facing[axis] if is_ahead else model.left[axis]
    return Direction(XYZ[axis], f"{along(XYZ[axis], model)}, up", 1.0, (upwards > 0.0) != (from_above and not is_ahead))
