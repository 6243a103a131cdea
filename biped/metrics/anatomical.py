"""Positions on the floor and inclinations in the axes of posturography: anteroposterior (AP), mediolateral (ML).

Anterior is the model's forward direction in the home posture. Anterior, right, and leaning forward or to the right are
positive.
"""

from typing import TYPE_CHECKING

import numpy as np

from biped.kernels.loop.log import ABSENT
from biped.metrics.kernels.support import COM, COP, SHIFT
from biped.metrics.posturography import AXES
from biped.model import Model
from contact.arrays import Floats

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

    from biped.metrics.measurement import Measurement

#: Quantities on the floor with columns in these axes.
_PLACES = ("cop", "com", "floor")


def anatomical_units(model: Model) -> dict[str, str]:
    """Return the units of the columns of ``anatomical_series``, by name."""
    places = {f"{place}_{axis}": "m" for place in _PLACES for axis in AXES}
    angles = (f"{model.root.name}_pitch", f"{model.root.name}_roll") if model.is_floating else ()
    return places | dict.fromkeys(angles, "deg")


def anatomical_series(run: "Measurement") -> dict[str, Floats]:
    """Return columns (rows,): CoP, CoM (floor's frame) and floor positions [m], inclination of the root [deg]."""
    floor, places = run.series[:, SHIFT : SHIFT + 2], run.places
    com = run.series[:, COM : COM + 3]
    if places.platform != ABSENT:
        pose = run.rows[:, places.platform : places.platform + 7]
        com = _rotations(pose[:, 3:]).inv().apply(com - pose[:, :3])
    on_floor = (run.series[:, COP : COP + 2], com[:, :2], floor)
    columns = {
        f"{name}_{axis}": column
        for name, points in zip(_PLACES, on_floor, strict=True)
        for axis, column in zip(AXES, in_anatomical_axes(run.model, points).T, strict=True)
    }
    if places.root != ABSENT:
        pitch, roll, _ = leans(run.model, run.rows[:, places.root + 3 : places.root + 7]).T
        columns |= {f"{run.model.root.name}_pitch": pitch, f"{run.model.root.name}_roll": roll}
    return columns


def in_anatomical_axes(model: Model, points: Floats) -> Floats:
    """Return the AP and ML coordinates (n, 2) of points (x, y) on the floor (n, 2)."""
    forward_x, forward_y, _ = model.facing
    x, y = points[:, 0], points[:, 1]
    return np.column_stack([forward_x * x + forward_y * y, forward_y * x - forward_x * y])


def leans(model: Model, quaternions: Floats) -> Floats:
    """Return rotation vectors (n, 3) [deg] of quaternions (n, 4): pitch (forward), roll (right) and yaw (left)."""
    x, y, z = _rotations(quaternions).as_rotvec(degrees=True).T
    forward_x, forward_y, _ = model.facing
    return np.column_stack([forward_x * y - forward_y * x, forward_x * x + forward_y * y, z])


def _rotations(quaternions: Floats) -> "Rotation":
    from scipy.spatial.transform import Rotation  # importing takes a quarter of a second

    return Rotation.from_quat(quaternions, scalar_first=True)
