"""How a tree's bodies change with its coordinates while it moves, and what their inertia takes.

A body's pose is a matrix X (4, 4), (2) of Johnson & Murphey 2009. A coordinate l moves all that is beyond it by its
twist ŝ_l: X_l = ŝ_l X and X_lm = ŝ_l ŝ_m X for l before m (3), (4). While coordinates go as q + v t + ½ a t², a twist
changes by ŝ' = [V̂, ŝ], V̂ being the velocity of what carries its joint, and X' = V̂ X. So all of them are had with their
first and second derivatives by time: the first axis of the arrays here, 0, 1 and 2. Products follow Leibniz.

A function of the coordinates alone has ∂ḧ/∂q_l = d²/dt² h_l, ∂ḧ/∂v_l = 2 d/dt h_l and ∂ḧ/∂a_l = h_l, and alike twice:
what accelerates is differentiated by q, v and a without a fourth derivative being written down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
from biped.kernels.tree.tree import Tree
from contact.arrays import Floats, Integers
from formulations.mechanism.frames import hat


def leibniz(product: Callable[[Floats, Floats], Floats], a: Floats, b: Floats) -> Floats:
    """(3, …) a product of two arrays with their derivatives by time."""
    first = product(a[1], b[0]) + product(a[0], b[1])
    second = product(a[2], b[0]) + 2.0 * product(a[1], b[1]) + product(a[0], b[2])
    return np.stack([product(a[0], b[0]), first, second])


class Jet(NamedTuple):
    """A vector of k numbers with its derivatives by n coordinates, all with theirs by time."""

    value: Floats  # (3, k)
    first: Floats  # (3, n, k)
    second: Floats  # (3, n, n, k)

    def __sub__(self, other: Jet) -> Jet:
        """Their difference."""
        return Jet(*(one - another for one, another in zip(self, other, strict=True)))

    def dot(self, other: Jet) -> Jet:
        """Their scalar product, of one number."""
        a, b = self, other
        first = leibniz(_dot, a.first, b.value[:, None]) + leibniz(_dot, a.value[:, None], b.first)
        second = leibniz(_dot, a.second, b.value[:, None, None]) + leibniz(_dot, a.value[:, None, None], b.second)
        second += leibniz(_dot, a.first[:, :, None], b.first[:, None])
        second += leibniz(_dot, a.first[:, None], b.first[:, :, None])
        return Jet(leibniz(_dot, a.value, b.value), first, second)


def _dot(a: Floats, b: Floats) -> Floats:
    found: Floats = np.sum(a * b, axis=-1, keepdims=True)
    return found


class Inertial(NamedTuple):
    """Derivatives of the inertial forces M q̈ + … by (q, v, a), row by row of M."""

    mass: Floats  # (n, n) by a
    by_q: Floats  # (n, n)
    by_v: Floats  # (n, n)


class MovingTree:
    """A tree of one coordinate a body, at coordinates q, rates v and accelerations a, (n,) each."""

    def __init__(self, tree: Tree, above: NDArray[np.bool_], q: Floats, v: Floats, a: Floats) -> None:
        """``above`` (n, n) says whether the joint of a column moves the body of a row."""
        self.tree, self.above, self.motion = tree, above, (q, v, a)
        data = new_tree_data(q.size, q.size, 0)
        set_tree_data(tree, q, np.zeros(q.size), data)
        self.twists = np.zeros((3, q.size, 4, 4))
        self.poses = np.zeros((3, q.size, 4, 4))
        ground = np.zeros((2, 4, 4))
        moving: list[Floats] = []  # of each body V̂ and its derivative by time
        for i, parent in enumerate(tree.parent):
            V, change = moving[parent] if parent >= 0 else ground
            s = hat(data.poses.motion[i])
            turned = _bracket(V, s)
            self.twists[:, i] = s, turned, _bracket(change, s) + _bracket(V, turned)
            V, change = V + v[i] * s, change + v[i] * turned + a[i] * s
            moving.append(np.stack([V, change]))
            X = np.eye(4)
            X[:3, :3], X[:3, 3] = data.poses.rotation[i].reshape(3, 3), data.poses.com[i]
            self.poses[:, i] = X, V @ X, (change + V @ V) @ X

    @property
    def size(self) -> int:
        """How many coordinates."""
        return len(self.tree.parent)

    # --- what bodies carry ---

    def carried(self, body: int, vector: Sequence[float]) -> Jet:
        """What a body carries, or the world (−1), by its home axes.

        That is (x, y, z, 1) for a place from its centre of mass, and (x, y, z, 0) for a direction.
        """
        given, n = np.asarray(vector, dtype=float), self.size
        jet = Jet(np.zeros((3, 3)), np.zeros((3, n, 3)), np.zeros((3, n, n, 3)))
        if body < 0:
            jet.value[0] = given[:3]
            return jet
        path, first = self._path(body)
        second = leibniz(_turned, self.twists[:, path], first)
        jet.value[:] = self.poses[:, body, :3] @ given
        jet.first[:, path] = first @ given
        jet.second[:, path[:, None], path] = second @ given
        return jet

    def along(self, coordinate: int, derivatives: Floats) -> Jet:
        """A function of one coordinate, by its value and four derivatives."""
        g, n, (_, v, a) = derivatives, self.size, self.motion
        rate, bend = v[coordinate], a[coordinate]

        def in_time(k: int) -> Floats:
            return np.array([g[k], g[k + 1] * rate, g[k + 2] * rate * rate + g[k + 1] * bend])

        jet = Jet(in_time(0)[:, None], np.zeros((3, n, 1)), np.zeros((3, n, n, 1)))
        jet.first[:, coordinate, 0], jet.second[:, coordinate, coordinate, 0] = in_time(1), in_time(2)
        return jet

    def _path(self, body: int) -> tuple[Integers, Floats]:
        """The d joints that move a body, and the upper three rows of X_l, (3, d, 3, 4)."""
        path = np.flatnonzero(self.above[body])
        return path, leibniz(np.matmul, self.twists[:, path, :3], self.poses[:, body, None])

    # --- what their inertia takes ---

    def inertial(self) -> Inertial:
        """By d/dt T_v − T_q = Σ tr(X_i Σ Ẍᵀ) over all bodies, Σ their second moments of mass."""
        n = self.size
        found = Inertial(*(np.zeros((n, n)) for _ in range(3)))
        for body in np.flatnonzero((self.tree.mass > 0.0) | self.tree.inertia.any(axis=1)):
            self._add_body(int(body), found)
        return found

    def _add_body(self, body: int, found: Inertial) -> None:
        moments, (path, first) = self._moments(body), self._path(body)
        twists = self.twists[:, path]
        two = _turned(twists[0], first[0])
        d, flat = path.size, np.ix_(path, path)
        force = self.poses[2, body, :3] @ moments
        at, slow, fast = first.reshape(3, d, 12)
        heavy = (first[0] @ moments).reshape(d, 12)
        found.mass[flat] += heavy @ at.T
        found.by_q[flat] += two.reshape(d, d, 12) @ force.ravel() + heavy @ fast.T
        found.by_v[flat] += 2.0 * heavy @ slow.T

    def _moments(self, body: int) -> Floats:
        """(4, 4) Σ, the second moments of mass about the centre of mass in home axes, and the mass."""
        inertia = self.tree.inertia[body].reshape(3, 3)
        moments = np.zeros((4, 4))
        moments[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        moments[3, 3] = self.tree.mass[body]
        return moments


def _turned(twists: Floats, first: Floats) -> Floats:
    """(d, d, 3, 4) ŝ_l X_m for l before m, in either order of them.

    As derivatives of poses have a last row of zeros, only the turns in the twists matter.
    """
    found = twists[:, None, :3, :3] @ first
    before = np.tri(len(twists), dtype=bool).T[..., None, None]
    return np.where(before, found, found.swapaxes(0, 1))


def _bracket(a: Floats, b: Floats) -> Floats:
    return a @ b - b @ a
