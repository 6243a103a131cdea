"""Bodies, forces and points of one instant, of a recorded run or a running simulation."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact.arrays import Floats


def turned(quaternion: Floats, vector: Floats) -> Floats:
    """Return R(q) x for unit quaternions (…, 4), scalar first, and vectors (…, 3); leading axes are broadcast."""
    quaternion, vector = np.asarray(quaternion, dtype=float), np.asarray(vector, dtype=float)
    w, u = quaternion[..., :1], quaternion[..., 1:]
    across = 2.0 * np.cross(u, vector)
    result: Floats = vector + w * across + np.cross(u, across)
    return result


def quaternion_between(before: Floats, after: Floats, part: float) -> Floats:
    """Return unit quaternions between two (…, 4), along the shorter rotation.

    The chord is normalized: for a rotation by θ the angle deviates from a uniform one by at most θ³/72/√3 rad, less
    than 1e-6 rad for the rotation between two recorded rows.
    """
    sign = np.where(np.sum(before * after, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    chord = (1.0 - part) * before + part * sign * after
    unit: Floats = chord / np.linalg.norm(chord, axis=-1, keepdims=True)
    return unit


def _point_between(before: Floats, after: Floats, part: float) -> Floats:
    return (1.0 - part) * before + part * after if part else before


def _pose_between(before: Floats, after: Floats, part: float) -> Floats:
    turn = quaternion_between(before[3:], after[3:], part)
    return np.concatenate([_point_between(before[:3], after[:3], part), turn])


#: Fields that are interpolated between two rows; other fields may jump, and keep the earlier row's value.
_POINT, _TURN, _POSE = ({"between": function} for function in (_point_between, quaternion_between, _pose_between))


@dataclass(frozen=True)
class Snapshot:
    """One instant in world axes and SI units. Missing values are NaN, an array without rows, or None.

    The rows of a ``PoseTrajectory`` are also a snapshot, in which each field has the rows as an additional first axis.
    """

    time: float  # [s]
    position: Floats = field(metadata=_POINT)  # (n, 3) [m] the bodies' centres of mass, as model.body_names
    quaternion: Floats = field(metadata=_TURN)  # (n, 4) unit quaternions, scalar first, body to world
    contact_place: Floats = field(metadata=_POINT)  # (nc, 3) [m] positions of the contact points
    contact_force: Floats  # (nc, 3) [N] contact forces on the body
    contact_mode: NDArray[np.int64]  # (nc,) ``contact.modes``, 1 … 6
    com: Floats = field(metadata=_POINT)  # (3,) [m] the whole model's centre of mass
    com_on_floor: Floats = field(metadata=_POINT)  # (3,) [m] projection of ``com`` onto the floor
    xcom: Floats  # (3,) [m] extrapolated centre of mass on the floor (Hof et al. 2005); NaN if undefined
    foothold: Floats  # (3,) [m] planned foothold on the floor; NaN while no foot steps
    capture: Floats  # (corners, 3) [m] capture region of the stepping foot on the floor; empty while no foot steps
    cop: Floats  # (3,) [m] the centre of pressure; NaN without load
    support: Floats  # (corners, 3) [m] base of support on the floor, counter-clockwise in top view
    platform: Floats | None = field(metadata=_POSE)  # (7,) pose of a moving floor; None for one at rest
    projectile: Floats | None = field(metadata=_POSE)  # (7,) pose of a thrown box; None without one
    push_body: NDArray[np.int64]  # (pushes,) bodies on which the run's pushes and forces act
    push_place: Floats = field(metadata=_POINT)  # (pushes, 3) [m] points of application, active or not
    push_force: Floats  # (pushes, 3) [N] mean from this row to the next one; zero while inactive

    @classmethod
    def of_each(cls, function: Callable[..., Any], *snapshots: "Snapshot") -> "Snapshot":
        """Return a snapshot of ``function`` applied to each field and its values; None if a value is None."""
        values_by_field: dict[str, Any] = {}
        for item in fields(cls):
            values = [getattr(snapshot, item.name) for snapshot in snapshots]
            values_by_field[item.name] = None if any(value is None for value in values) else function(item, *values)
        return cls(**values_by_field)

    def point_of(self, body: int, offset: Floats) -> Floats:
        """Return positions (…, 3) [m] of a body's points; ``offset`` [m] is from its centre of mass, home axes."""
        return self.position[body] + turned(self.quaternion[body], offset)
