"""Our configurations, velocities and generalized forces as Drake's, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biped.model import Model
from contact.arrays import Floats

#: Of a floating body Drake has quaternion, place; angular velocity, velocity.
_FLOATING_Q, _FLOATING_V = (4, 5, 6, 0, 1, 2, 3), (3, 4, 5, 0, 1, 2)


@dataclass(frozen=True)
class Ball:
    """A spherical joint."""

    q: slice  # where its quaternion is in our configuration
    v: slice  # where its angular velocity is in our velocity
    angles: int  # where its angles begin in Drake's
    parent: Any  # Drake's body on its inboard side


class Coordinates:
    """Maps of one plant. Its context has the positions that velocities belong to."""

    def __init__(self, plant: Any, model: Model, joints: Sequence[Any]) -> None:
        self._plant = plant
        self._balls: list[Ball] = []
        ours: list[int] = []
        theirs: list[int] = []
        velocities: list[int] = []
        for body, joint in zip(model.bodies, joints, strict=True):
            q, v = model.coordinates(body.joint.name), model.dofs(body.joint.name)
            first, start = joint.position_start(), joint.velocity_start()
            if body.joint.kind == "spherical":
                self._balls.append(Ball(q, v, first, joint.parent_body()))
                velocities += range(start, start + 3)
                continue
            floats = body.joint.kind == "floating"
            ours += range(q.start, q.stop)
            theirs += [first + k for k in (_FLOATING_Q if floats else (0,))]
            velocities += [start + k for k in (_FLOATING_V if floats else (0,))]
        self._ours, self._theirs, self._velocities = np.array(ours), np.array(theirs), np.array(velocities)

    def positions(self, q: Floats) -> Floats:
        """Our configuration (nq,) as Drake's positions; zero for what is not the model's."""
        from pydrake.common.eigen_geometry import Quaternion
        from pydrake.math import RollPitchYaw

        positions = np.zeros(self._plant.num_positions())
        positions[self._theirs] = q[self._ours]
        for ball in self._balls:
            unit = q[ball.q] / np.linalg.norm(q[ball.q])
            positions[ball.angles : ball.angles + 3] = RollPitchYaw(Quaternion(unit)).vector()
        return positions

    def read_positions(self, positions: Floats, q: Floats) -> None:
        """Write our configuration of Drake's positions into q; unit quaternions."""
        from pydrake.math import RollPitchYaw

        q[self._ours] = positions[self._theirs]
        for ball in self._balls:
            q[ball.q] = RollPitchYaw(positions[ball.angles : ball.angles + 3]).ToQuaternion().wxyz()

    def velocities(self, context: Any, v: Floats) -> Floats:
        """Our velocity (nv,), or generalized force, as Drake's; zero for what is not the model's."""
        values = np.zeros(self._plant.num_velocities())
        values[self._velocities] = v
        for ball in self._balls:
            values[self._velocities[ball.v]] = self._parent(context, ball).T @ v[ball.v]
        return values

    def read_velocities(self, context: Any, values: Floats, v: Floats) -> None:
        v[:] = values[self._velocities]
        for ball in self._balls:
            v[ball.v] = self._parent(context, ball) @ v[ball.v]

    def _parent(self, context: Any, ball: Ball) -> Floats:
        return np.asarray(self._plant.EvalBodyPoseInWorld(context, ball.parent).rotation().matrix())
