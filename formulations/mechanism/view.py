"""Where a frame of a mechanism is, and how it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from biped.kernels.tree.whole_body import bias_at, drift, point_jacobian
from biped.model.errors import unknown
from contact.arrays import Floats
from formulations.mechanism.frames import hat

if TYPE_CHECKING:
    from biped.kernels.tree.dynamics import TreeData
    from formulations.mechanism.compilation import Place
    from formulations.mechanism.mechanism import Mechanism, Vector


@dataclass(frozen=True, eq=False)
class FrameView:
    """A frame of a mechanism.

    Attributes:
        mechanism: whose frame it is.
        name: the frame's; empty if it has none.
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

    def derivative(self, q: Vector, *variables: str) -> Floats:
        """(4, 4) ∂g_{s,k}/∂q_i (3), ∂²g_{s,k}/∂q_i∂q_j (4), … by as many configuration variables as are named.

        With spatial twists ŝ_i, root first, that is ŝ_i ŝ_j … g_{s,k}; the last column is the place's derivative.

        Raises:
            ModelError: there is no such variable; the message lists those that there are.
        """
        twists, above = self._twists(q)
        found = self.transform(q)
        for i in sorted(map(self._row, variables), reverse=True):
            found = hat(twists[i]) @ found if i in above else np.zeros((4, 4))
        return found

    def body_jacobian(self, q: Vector, *variables: str) -> Floats:
        """(6, n) J^b of v^b = J^b q̇ (5), (8), or its derivative by some variables, of any order (6), (7), (10).

        With body twists ξ_i a column's derivative is [ξ_i, ξ_j] for each joint j between i and the frame, else zero.

        Raises:
            ModelError: there is no such variable; the message lists those that there are.
        """
        g, (twists, above) = self.transform(q), self._twists(q)
        inverse = np.linalg.inv(g)
        body = {i: inverse @ hat(twists[i]) @ g for i in above}
        rows, found = sorted(map(self._row, variables)), np.zeros((6, self.mechanism.size))
        for i in above:
            if all(j in above and j > i for j in rows):
                column = body[i]
                for j in rows:
                    column = column @ body[j] - body[j] @ column
                found[:, i] = _unhat(column)
        return found

    def velocity(self, q: Vector, v: Vector) -> Floats:
        """(6,) velocity of its origin [m/s] and angular velocity [rad/s], in world axes."""
        return self.jacobian(q) @ self.mechanism.rates(v)

    def body_velocity(self, q: Vector, v: Vector) -> Floats:
        """(6,) the same in its own axes: v^b_{s,k} (5)."""
        R = self.rotation(q)
        both = self.velocity(q, v)
        return np.concatenate([R.T @ both[:3], R.T @ both[3:]])

    def bias(self, q: Vector, v: Vector) -> Floats:
        """(6,) its acceleration while the rates do not change, J̇ v [m/s², rad/s²], in world axes."""
        data = self._placed(q, v)
        if self.place.body < 0:
            return np.zeros(6)
        drift(self.mechanism.structure.tree, data)
        x, y, z = self._arm(data).tolist()
        return np.array(bias_at(data, self.place.body, (x, y, z)))

    def _placed(self, q: Vector, v: Vector | None = None) -> TreeData:
        tree, n = self.mechanism.structure.tree, self.mechanism.size
        data = new_tree_data(n, n, 0)
        set_tree_data(tree, self.mechanism.configuration(q), self.mechanism.rates(v), data)
        return data

    def _twists(self, q: Vector) -> tuple[Floats, set[int]]:
        """(n, 6) spatial twists of all joints, linear part first, and the rows of those that move the frame."""
        parents, above, j = self.mechanism.structure.tree.parent, set(), self.place.body
        while j >= 0:
            above.add(j)
            j = int(parents[j])
        return self._placed(q).poses.motion, above

    def _row(self, variable: str) -> int:
        rows = self.mechanism.structure.rows
        if variable not in rows:
            raise unknown("configuration variable", variable, rows)
        return rows[variable]

    def _arm(self, data: TreeData) -> Floats:
        structure, body = self.mechanism.structure, self.place.body
        if body < 0:
            return self.place.position.copy()
        return data.poses.com[body] + data.poses.rotation[body].reshape(3, 3) @ structure.offset(self.place)


def _unhat(matrix: Floats) -> Floats:
    """(6,) its inverse."""
    return np.array([*matrix[:3, 3], matrix[2, 1], matrix[0, 2], matrix[1, 0]])
