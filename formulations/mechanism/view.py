"""Where a frame of a mechanism is, and how it moves."""

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
    """One frame of a mechanism, and its kinematics.

    Attributes:
        mechanism: whose frame it is.
        name: the name of the frame.
        place: where it is in the home configuration.
    """

    mechanism: Mechanism
    name: str
    place: Place

    def position(self, q: Vector) -> Floats:
        """(3,) [m] p_{s,k} of its origin, in the world."""
        return self._arm(self._placed(q))

    def rotation(self, q: Vector) -> Floats:
        """(3, 3) R_{s,k} from its axes to the world's."""
        if self.place.body < 0:
            return self.place.rotation.copy()
        data = self._placed(q)
        return data.poses.rotation[self.place.body].reshape(3, 3) @ self.place.rotation

    def transform(self, q: Vector) -> Floats:
        """(4, 4) g_{s,k} (2)."""
        result = np.eye(4)
        result[:3, :3], result[:3, 3] = self.rotation(q), self.position(q)
        return result

    def jacobian(self, q: Vector) -> Floats:
        """(6, n) from rates to the velocity of its origin [m/s] and its angular velocity [rad/s], in world axes."""
        data = self._placed(q)
        result = np.zeros((6, self.mechanism.size))
        if self.place.body >= 0:
            point_jacobian(self.mechanism.structure.tree, data.poses, self.place.body, self._arm(data), result)
        return result

    def velocity(self, q: Vector, v: Vector) -> Floats:
        """(6,) velocity of its origin [m/s] and angular velocity [rad/s], in world axes."""
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
