"""Kinematics of a frame of a mechanism: position, orientation, velocity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from biped.kernels.tree.whole_body import point_jacobian
from contact.arrays import Floats

if TYPE_CHECKING:
    from biped.kernels.tree.dynamics import TreeData
    from formulations.mechanism.compilation import Place
    from formulations.mechanism.mechanism import Mechanism, Vector


@dataclass(frozen=True, eq=False)
class FrameView:
    """Kinematics of one frame of a mechanism: position, orientation, velocity.

    Attributes:
        mechanism: mechanism that contains the frame.
        name: name of the frame.
        place: position and orientation of the frame in the home configuration, in which all variables are zero.
    """

    mechanism: Mechanism
    name: str
    place: Place

    def position(self, q: Vector) -> Floats:
        """Return the position (3,) [m] of the frame's origin, in world axes."""
        return self._arm(self._placed(q))

    def rotation(self, q: Vector) -> Floats:
        """Return the rotation (3, 3) from frame to world axes."""
        if self.place.body < 0:
            return self.place.rotation.copy()
        data = self._placed(q)
        return data.poses.rotation[self.place.body].reshape(3, 3) @ self.place.rotation

    def transform(self, q: Vector) -> Floats:
        """Return the homogeneous transform (4, 4) from frame to world (Johnson & Murphey 2009, eq. (2))."""
        result = np.eye(4)
        result[:3, :3], result[:3, 3] = self.rotation(q), self.position(q)
        return result

    def jacobian(self, q: Vector) -> Floats:
        """Return the Jacobian (6, n) of the origin's velocity [m/s] and the angular velocity [rad/s], in world axes."""
        data = self._placed(q)
        result = np.zeros((6, self.mechanism.size))
        if self.place.body >= 0:
            point_jacobian(self.mechanism.structure.tree, data.poses, self.place.body, self._arm(data), result)
        return result

    def velocity(self, q: Vector, v: Vector) -> Floats:
        """Return the origin's velocity [m/s] and the angular velocity [rad/s] (6,), in world axes."""
        return self.jacobian(q) @ self.mechanism.rates(v)

    def _placed(self, q: Vector) -> TreeData:
        tree, n = self.mechanism.structure.tree, self.mechanism.size
        data = new_tree_data(n, n, 0)
        set_tree_data(tree, self.mechanism.configuration(q), np.zeros(n), data)
        return data

    def _arm(self, data: TreeData) -> Floats:
        structure, body = self.mechanism.structure, self.place.body
        if body < 0:
            return self.place.position.copy()
        return data.poses.com[body] + data.poses.rotation[body].reshape(3, 3) @ structure.offset(self.place)
