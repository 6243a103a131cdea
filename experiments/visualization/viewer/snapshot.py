"""What is seen at one instant: of a recorded run, or of a simulation that is going on."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biped.disturbances import Disturbance
from biped.runs.state import State
from contact.arrays import Floats


@dataclass(frozen=True)
class Snapshot:
    """One instant; world axes, SI units. What is not there is NaN, an array of no rows, or None."""

    time: float  # [s]
    position: Floats  # (n, 3) [m] the bodies' centres of mass, in the order of ``model.body_names``
    quaternion: Floats  # (n, 4) unit quaternions, scalar first, body to world
    contact_place: Floats  # (nc, 3) [m] the contact points
    contact_force: Floats  # (nc, 3) [N] of the floor on them
    contact_mode: NDArray[np.int64]  # (nc,) ``contact.modes``, 1 … 6
    com: Floats  # (3,) [m] the whole model's centre of mass
    com_on_floor: Floats  # (3,) [m] the floor below it
    xcom: Floats  # (3,) [m] the extrapolated centre of mass, on the floor (Hof et al. 2005); NaN where it has none
    cop: Floats  # (3,) [m] the centre of pressure; NaN without load
    base: Floats  # (corners, 3) [m] the support polygon on the floor: of all points of the feet that touch
    platform: Floats | None  # (7,) the pose of a floor that moves: place [m] and quaternion; None for one at rest
    thrown: Floats | None  # (7,) the pose of a thrown box; None without one
    push_body: NDArray[np.int64]  # (pushes,) numbers of the bodies that the pushes and forces of the run act on
    push_place: Floats  # (pushes, 3) [m] where, whether they act now or not
    push_force: Floats  # (pushes, 3) [N] zero while one does not act

    def point_of(self, body: int, offset: Floats) -> Floats:
        """(…, 3) [m] where points of a body are; ``offset`` [m] from its centre of mass, home axes."""
        return self.position[body] + turned(self.quaternion[body], offset)


def snapshot_of(state: State, disturbances: Sequence[Disturbance] = ()) -> Snapshot:
    """What is seen of a simulation that is going on.

    The extrapolated centre of mass takes the floor to be at rest: one state does not tell how fast it moves.

    Args:
        state: of it.
        disturbances: those whose pushes and forces are to be seen.
    """
    from experiments.visualization.viewer.trajectory import film_of_state

    return film_of_state(state, disturbances).at(state.time)


def turned(quaternion: Floats, vector: Floats) -> Floats:
    """R(q) x for unit quaternions (…, 4), scalar first, and vectors (…, 3); the leading axes are broadcast."""
    quaternion, vector = np.asarray(quaternion, dtype=float), np.asarray(vector, dtype=float)
    w, u = quaternion[..., :1], quaternion[..., 1:]
    across = 2.0 * np.cross(u, vector)
    result: Floats = vector + w * across + np.cross(u, across)
    return result


def quaternion_between(before: Floats, after: Floats, part: Floats | float) -> Floats:
    """Unit quaternions on the way from one (…, 4) to another, the shorter way round.

    The chord is normalized: on it the angle goes astray from an even motion by at most θ³/72/√3 rad of a turn by θ,
    which is less than 1e-6 rad of the turn between two recorded rows.
    """
    part = np.asarray(part, dtype=float)[..., np.newaxis] if np.ndim(part) else float(part)
    sign = np.where(np.sum(before * after, axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    chord = (1.0 - part) * before + part * sign * after
    unit: Floats = chord / np.linalg.norm(chord, axis=-1, keepdims=True)
    return unit
