"""Second derivatives of steps, from those of their equations: the implicit function theorem once more.

A step solves e(q, p, τ, a, q') = 0 and gives p' and a' (``biped.derivatives.linearization.kernels.step``). Let z_i be
how (q, q', a) moves with the i-th of (q, p, a), in unit twists of their own configurations. Differentiated again along
j,

    ∂_j z_i' = A⁻¹ (∂_j E z_i + E_q Γ_ij),       ∂_j ∂_i p' = ∂_j G z_i + G_q Γ_ij + G_q' ∂_j z_i',

with E and G the first derivatives of e and p' by (q, q', a), and Γ_ij = ∂_j z_i of q: unit twists that turn do not
commute. Coordinates are rotation vectors, at q and at q', whose second derivatives are those of the turns less the same
terms: half of the cross product of the turns, and what turns with the parent of a ball joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biped.derivatives.linearization.kernels.second import SecondDerivative
from biped.kernels.tree.kinematics import Poses
from biped.kernels.tree.tree import FLOATING, SPHERICAL, Tree
from contact.arrays import Floats, Integers


def turn_terms(tree: Tree, poses: Poses, moved: Floats) -> Floats:
    """(nv, m, m) Γ_ij, [:, j, i]: how the i-th of m displacements in unit twists turns while the j-th is made.

    Args:
        tree: of which.
        poses: of the configuration.
        moved: (nv, m) displacements of which each begins a straight line in rotation vectors.
    """
    nv, m = moved.shape
    found = np.zeros((nv, m, m))
    for i in range(tree.parent.shape[0]):
        if tree.kind[i] not in (FLOATING, SPHERICAL):
            continue
        first = int(tree.first_v[i]) + (3 if tree.kind[i] == FLOATING else 0)
        own = moved[first : first + 3]
        turning = 0.5 * own + _turn_of(tree, poses, int(tree.parent[i]), moved)
        found[first : first + 3] = np.cross(turning.T[:, None, :], own.T[None, :, :]).transpose(2, 0, 1)
    return found


def _turn_of(tree: Tree, poses: Poses, body: int, moved: Floats) -> Floats:
    """(3, m) how a body turns."""
    total = np.zeros((3, moved.shape[1]))
    while body >= 0:
        dofs = slice(int(tree.first_v[body]), int(tree.first_v[body] + tree.dofs[body]))
        total += poses.motion[dofs, 3:].T @ moved[dofs]
        body = int(tree.parent[body])
    return total


@dataclass(frozen=True, eq=False)
class StepCurvature:
    """The second derivatives of one step by its state (q, p, a) and by torques that are held on it."""

    first: Floats  #: (2 nv + 2 nc,) squared: ∂(e, p', a')/∂(q, q', a)
    second: Floats  #: (columns, rows, columns) its derivatives along the same columns
    begin: Floats  #: (nv, nv, nv) Γ of the columns of q
    end_tree: Tree  #: whose
    end_poses: Poses  #: where the step ends
    by_torque: Floats  #: (nv,) [s] ∂p/∂τ: half of the step, or zero at an actuator's limit
    dofs: Integers  #: of the torques that are inputs

    @classmethod
    def of(cls, found: SecondDerivative, by_torque: Floats, dofs: Integers) -> StepCurvature:
        """Second derivatives copied from the kernels' arrays, which the next step overwrites."""
        nv = found.direction.shape[0]
        begin = turn_terms(found.tree, found.begin_poses, np.eye(nv))
        poses = Poses(*(array.copy() for array in found.end_poses))
        return cls(found.first.copy(), found.second.copy(), begin, found.tree, poses, by_torque, dofs)

    @property
    def _nv(self) -> int:
        return int(self.begin.shape[0])

    @cached_property
    def _inverse(self) -> Floats:
        nv = self._nv
        return np.asarray(np.linalg.inv(-self.first[:nv, nv : 2 * nv]))

    @cached_property
    def _ends(self) -> Floats:
        """(columns, states) Z: how (q, q', a) moves with (q, p, a)."""
        nv, E, size = self._nv, self.first[: self._nv], self.first.shape[0]
        Z = np.zeros((size, size))
        Z[:nv, :nv] = np.eye(nv)
        Z[2 * nv :, 2 * nv :] = np.eye(size - 2 * nv)
        Z[nv : 2 * nv] = self._inverse @ np.hstack([E[:, :nv], np.eye(nv), E[:, 2 * nv :]])
        return Z

    @cached_property
    def linear(self) -> tuple[Floats, Floats]:
        """(A, B) of the step."""
        nv, Z = self._nv, self._ends
        by_state = np.vstack([Z[nv : 2 * nv], self.first[nv:] @ Z])
        B = by_state[:, nv : 2 * nv] * self.by_torque
        B[nv : 2 * nv] += np.diag(self.by_torque)
        return by_state, B[:, self.dofs]

    @cached_property
    def _end(self) -> Floats:
        """Γ of what q' does."""
        return turn_terms(self.end_tree, self.end_poses, self._ends[self._nv : 2 * self._nv])

    def _with_torques(self, found: Floats) -> Floats:
        """From (…, states, states) to (…, N, N): torques act as momenta do."""
        size, nv = self.first.shape[0], self._nv
        N = size + self.dofs.size
        grown, places, weight = np.empty((*found.shape[:-2], N, N)), nv + self.dofs, self.by_torque[self.dofs]
        grown[..., :size, :size] = found
        grown[..., :size, size:] = found[..., places] * weight
        grown[..., size:, :] = grown[..., places, :] * weight[:, None]
        return grown

    def full(self) -> Floats:
        """(states, N, N) of (q', p', a')."""
        nv, size, Z = self._nv, self.first.shape[0], self._ends
        rows, columns = (np.flatnonzero(self.second.any(axis=other)) for other in ((0, 2), (0, 1)))
        moved = np.ascontiguousarray(Z[columns])
        second = self.second[np.ix_(columns, rows, columns)].reshape(columns.size, -1)
        found = np.zeros((size, size, size))  # [row, j, i]
        along = (np.ascontiguousarray(moved.T @ second).reshape(-1, columns.size) @ moved).reshape(size, -1, size)
        found[rows] = along.transpose(1, 0, 2)
        found[:, :nv, :nv] += np.tensordot(self.first[:, :nv], self.begin, 1)
        flat = found.reshape(size, -1)
        flat[:nv] = self._inverse @ flat[:nv]
        flat[nv:] += self.first[nv:, nv : 2 * nv] @ flat[:nv]
        found[:nv] -= self._end
        return self._with_torques(found)

    def weighted(self, weights: Floats) -> Floats:
        """(N, N) Σ w_i of these, without the single ones."""
        nv, Z = self._nv, self._ends
        on_rows = np.concatenate([
            self._inverse.T @ (weights[:nv] + self.first[nv:, nv : 2 * nv].T @ weights[nv:]), weights[nv:]
        ])  # fmt: skip
        found = Z.T @ np.tensordot(self.second, on_rows, (1, 0)) @ Z
        found[:nv, :nv] += np.tensordot(self.first[:, :nv].T @ on_rows, self.begin, 1)
        return self._with_torques(found - np.tensordot(weights[:nv], self._end, 1))


@dataclass(frozen=True, eq=False)
class Curvature:
    """Second derivatives of successive steps, by the first state and by torques held through them."""

    steps: tuple[StepCurvature, ...]  #: of each

    @cached_property
    def _roads(self) -> tuple[Floats, ...]:
        """(N, N) how (x, u) of each step moves with those of the first."""
        states, inputs = self.steps[0].linear[1].shape
        roads = [np.eye(states + inputs)]
        for step in self.steps[:-1]:
            after = np.eye(states + inputs)
            after[:states] = np.hstack(step.linear) @ roads[-1]
            roads.append(after)
        return tuple(roads)

    def full(self) -> Floats:
        """(states, N, N)."""
        found = np.zeros(())
        for step, road in zip(self.steps, self._roads, strict=True):
            own = road.T @ step.full() @ road
            found = own if found.ndim == 0 else own + np.tensordot(step.linear[0], found, 1)
        return found

    def weighted(self, weights: Floats) -> Floats:
        """(N, N) Σ w_i of these."""
        total = np.zeros(())
        for step, road in zip(self.steps[::-1], self._roads[::-1], strict=True):
            total = total + road.T @ step.weighted(weights) @ road
            weights = step.linear[0].T @ weights
        return total
