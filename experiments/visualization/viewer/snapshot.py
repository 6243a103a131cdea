"""The bodies, forces and points of one instant, of a recorded run or of a simulation that is going on."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contact.arrays import Floats


def turned(quaternion: Floats, vector: Floats) -> Floats:
    """R(q) x for unit quaternions (…, 4), scalar first, and vectors (…, 3); the leading axes are broadcast."""
    quaternion, vector = np.asarray(quaternion, dtype=float), np.asarray(vector, dtype=float)
    w, u = quaternion[..., :1], quaternion[..., 1:]
    across = 2.0 * np.cross(u, vector)
    result: Floats = vector + w * across + np.cross(u, across)
    return result


def quaternion_between(before: Floats, after: Floats, part: float) -> Floats:
    """Unit quaternions on the way from one (…, 4) to another, the shorter way round.

    The chord is normalized: on it the angle goes astray from an even motion by at most θ³/72/√3 rad of a turn by θ,
    which is less than 1e-6 rad of the turn between two recorded rows.
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


#: Of fields that have a value between two rows; any other is that of the row before, for it may jump.
_POINT, _TURN, _POSE = ({"between": function} for function in (_point_between, quaternion_between, _pose_between))


@dataclass(frozen=True)
class Snapshot:
    """One instant; world axes, SI units. What is not there is NaN, an array of no rows, or None.

    The rows of a ``PoseTrajectory`` are a snapshot, too: there each field has one entry more, its rows, in front.
    """

    time: float  # [s]
    position: Floats = field(metadata=_POINT)  # (n, 3) [m] the bodies' centres of mass, as model.body_names
    quaternion: Floats = field(metadata=_TURN)  # (n, 4) unit quaternions, scalar first, body to world
    contact_place: Floats = field(metadata=_POINT)  # (nc, 3) [m] the contact points
    contact_force: Floats  # (nc, 3) [N] of the floor on them
    contact_mode: NDArray[np.int64]  # (nc,) ``contact.modes``, 1 … 6
    com: Floats = field(metadata=_POINT)  # (3,) [m] the whole model's centre of mass
    com_on_floor: Floats = field(metadata=_POINT)  # (3,) [m] the floor below it
    xcom: Floats  # (3,) [m] extrapolated centre of mass, on the floor (Hof et al. 2005); NaN where it has none
    foothold: Floats  # (3,) [m] where the foot that steps is to land, on the floor; NaN while none does
    capture: Floats  # (corners, 3) [m] on the floor: where that foot can catch the body; none while no foot steps
    cop: Floats  # (3,) [m] the centre of pressure; NaN without load
    support: Floats  # (corners, 3) [m] the support polygon on the floor, counter-clockwise from above
    platform: Floats | None = field(metadata=_POSE)  # (7,) pose of a floor that moves; None for one at rest
    projectile: Floats | None = field(metadata=_POSE)  # (7,) pose of a thrown box; None without one
    push_body: NDArray[np.int64]  # (pushes,) numbers of the bodies that the pushes and forces of the run act on
    push_place: Floats = field(metadata=_POINT)  # (pushes, 3) [m] where, whether they act now or not
    push_force: Floats  # (pushes, 3) [N] mean from this row to the next one; zero while it does not act

    @classmethod
    def of_each(cls, function: Callable[..., Any], *snapshots: "Snapshot") -> "Snapshot":
        """A snapshot of what ``function`` makes of each field and its values; None where a snapshot has none there."""
        found: dict[str, Any] = {}
        for item in fields(cls):
            values = [getattr(snapshot, item.name) for snapshot in snapshots]
            found[item.name] = None if any(value is None for value in values) else function(item, *values)
        return cls(**found)

    def point_of(self, body: int, offset: Floats) -> Floats:
        """(…, 3) [m] where points of a body are; ``offset`` [m] from its centre of mass, home axes."""
        return self.position[body] + turned(self.quaternion[body], offset)
