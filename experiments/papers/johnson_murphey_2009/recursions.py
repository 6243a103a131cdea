"""Equations (2) to (10) as printed, with or without the cache of III-E, and Newton's matrix (22) computed by them.

Frames are related by six basic transforms, 4 x 4 matrices in NumPy. The module measures the benefit of caching, and
tests the compiled recursions. Functions accept complex numbers, so that derivatives can be checked by complex steps.
Indices: k for a frame, i and j for configuration variables.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from formulations.mechanism import Frame

#: Real or complex.
Matrix = np.ndarray[Any, np.dtype[Any]]

AXES = {"x": 0, "y": 1, "z": 2}


def primitive(kind: str, x: complex, order: int = 0) -> Matrix:
    """Return g(x) of a basic transform (R1), or a derivative; those of a rotation repeat after four (III-D)."""
    axis = AXES[kind[1]]
    g = np.zeros((4, 4), dtype=np.result_type(x, float))
    if kind[0] == "t":
        if order == 0:
            g[:] = np.eye(4)
        g[axis, 3] = x if order == 0 else float(order == 1)
        return g
    turns = order * np.pi / 2.0
    j, k = (axis + 1) % 3, (axis + 2) % 3
    g[j, j] = g[k, k] = np.cos(x + turns)
    g[k, j] = np.sin(x + turns)
    g[j, k] = -np.sin(x + turns)
    if order == 0:
        g[axis, axis] = g[3, 3] = 1.0
    return g


def inverse(kind: str, x: complex, order: int = 0) -> Matrix:
    """Return g⁻¹(x) = g(−x), or its derivatives by x (III-D)."""
    return np.asarray((-1.0) ** order * primitive(kind, -x, order))


def unhat(m: Matrix) -> Matrix:
    """Return (x, y, z, a, b, c) of a 4 x 4 matrix: linear part first (II)."""
    return np.array([m[0, 3], m[1, 3], m[2, 3], m[2, 1], m[0, 2], m[1, 0]])


def twist(kind: str) -> Matrix:
    """Return the twist ξ̂ = g⁻¹ g′ (4, 4) of a basic transform g(x), for any x (Johnson & Murphey 2009, III-D)."""
    return np.asarray(inverse(kind, 0.0) @ primitive(kind, 0.0, 1))


def remembered(method: Callable[..., Matrix]) -> Callable[..., Matrix]:
    """Cache the values of a method for a configuration (III-E), unless the cache is switched off."""

    @functools.wraps(method)
    def look(self: "Tree", *args: int) -> Matrix:
        key: tuple[Any, ...] = (method.__name__, *args)
        if key in self.cache:
            return self.cache[key]
        self.evaluations += 1
        value = method(self, *args)
        if self.caching:
            self.cache[key] = value
        return value

    return look


class Tree:
    """Frames numbered from the root, the world s with the number −1, with equations (2)-(10)."""

    def __init__(self, frames: Sequence[Frame], caching: bool = True) -> None:
        self.frames: list[Frame] = []
        self.parent: list[int] = []
        self._add(frames, -1)
        named = [frame.coordinate for frame in self.frames]
        self.variables = [name for name in named if name is not None]
        assert len(set(self.variables)) == len(self.variables), "R2: a variable drives one transformation"
        self.n = len(self.variables)
        place = {name: i for i, name in enumerate(self.variables)}
        self.driver = [-1 if name is None else place[name] for name in named]
        self.above = [self._ancestors(k) for k in range(len(self.frames))]
        self.masses = {k: frame.mass for k, frame in enumerate(self.frames) if frame.mass is not None}
        self.inertia = {k: np.diag([mass[0]] * 3 + list(mass[1:])) for k, mass in self.masses.items()}
        self.caching = caching
        self.cache: dict[tuple[Any, ...], Matrix] = {}
        self.writes = self.evaluations = 0
        self.set(np.zeros(self.n), np.zeros(self.n))

    def _add(self, frames: Sequence[Frame], parent: int) -> None:
        for frame in frames:
            self.frames.append(frame)
            self.parent.append(parent)
            self._add(frame.children, len(self.frames) - 1)

    def _ancestors(self, k: int) -> frozenset[int]:
        """Return the variables on which frame k depends: those of k and of anc(k)."""
        variables = set()
        while k >= 0:
            variables.add(self.driver[k])
            k = self.parent[k]
        return frozenset(variables - {-1})

    def set(self, q: Matrix, v: Matrix) -> None:
        """Set a configuration; this clears the cache."""
        self.q, self.v = np.asarray(q), np.asarray(v)
        self.cache.clear()
        self.writes += 1

    def local(self, k: int, order: int = 0) -> Matrix:
        """Return g_k, g′_k, g″_k."""
        frame, i = self.frames[k], self.driver[k]
        return primitive(frame.transform, frame.parameter if i < 0 else self.q[i], order)  # type: ignore[arg-type]

    def local_inverse(self, k: int, order: int = 0) -> Matrix:
        frame, i = self.frames[k], self.driver[k]
        return inverse(frame.transform, frame.parameter if i < 0 else self.q[i], order)  # type: ignore[arg-type]

    @remembered
    def g(self, k: int, *by: int) -> Matrix:
        """Return (2), (3) and (4): g_{s,k} and its derivatives by variables; R1 and R2 are exchanged before (3)."""
        if k < 0 or not self.above[k].issuperset(by):
            return np.zeros((4, 4)) if by else np.eye(4)
        rest, order = self._split(k, by)
        return self.g(self.parent[k], *rest) @ self.local(k, order)

    @remembered
    def V(self, k: int, *by: int) -> Matrix:  # noqa: N802 - the paper's symbol
        """Return (5), (6) and (7): the body velocity as a 4 x 4 matrix, and its derivatives by variables."""
        if k < 0 or not self.above[k].issuperset(by):
            return np.zeros((4, 4))
        rest, order = self._split(k, by)
        carried = self._carried(k, self.V(self.parent[k], *rest), order)
        if by or self.driver[k] < 0:
            return carried
        return carried + twist(self.frames[k].transform) * self.v[self.driver[k]]

    @remembered
    def V_rate(self, k: int, j: int, *by: int) -> Matrix:  # noqa: N802 - the paper's symbol
        """Return (8) and (10): ∂v/∂q̇_j and its derivatives by variables; by (9) its derivative by q̇ is zero."""
        if k < 0 or not self.above[k].issuperset((j, *by)):
            return np.zeros((4, 4))
        if j == self.driver[k]:
            return np.zeros((4, 4)) if by else twist(self.frames[k].transform)
        rest, order = self._split(k, by)
        return self._carried(k, self.V_rate(self.parent[k], j, *rest), order)

    def _split(self, k: int, by: tuple[int, ...]) -> tuple[list[int], int]:
        """Return the variables of other frames, and the multiplicity of the variable of frame k."""
        rest = [i for i in by if i != self.driver[k]]
        return rest, len(by) - len(rest)

    def _carried(self, k: int, V: Matrix, order: int) -> Matrix:
        """Return g_k⁻¹ V g_k, or its derivative of an order by the variable of frame k at constant V."""
        terms = (
            math.comb(order, m) * self.local_inverse(k, order - m) @ V @ self.local(k, m) for m in range(order + 1)
        )
        return functools.reduce(np.add, terms)

    def vector(self, function: Callable[..., Any]) -> Matrix:
        """Return ``function(i)`` for all n variables, an array (n, …)."""
        return np.array([function(i) for i in range(self.n)])

    def matrix(self, function: Callable[..., Any]) -> Matrix:
        """Return ``function(i, j)`` for all pairs of the n variables, an array (n, n, …)."""
        return np.array([[function(i, j) for j in range(self.n)] for i in range(self.n)])

    # Derivatives of the kinetic energy in (22).

    def kinetic_qq(self) -> Matrix:
        """Return (24) without the potential."""
        return self._second(self.V, self.V)

    def kinetic_qv(self) -> Matrix:
        """Return (26): ∂²L/∂q_i ∂q̇_j in row i, column j."""
        return self._second(self.V_rate, lambda k, i, j: self.V_rate(k, j, i))

    def _second(self, by_j: Callable[..., Matrix], by_both: Callable[..., Matrix]) -> Matrix:
        """Return Σ ∂vᵀ M ∂v/∂q_i + vᵀ M ∂²v, ∂ by the variable or the rate j."""

        def of(i: int, j: int) -> Any:
            return self.sum(
                lambda k, M: (
                    unhat(by_j(k, j)) @ M @ unhat(self.V(k, i)) + unhat(self.V(k)) @ M @ unhat(by_both(k, i, j))
                )
            )

        return self.matrix(of)

    def kinetic_vv(self) -> Matrix:
        """Return (27) with (9): M(q)."""
        return self.matrix(lambda i, j: self.sum(lambda k, M: unhat(self.V_rate(k, j)) @ M @ unhat(self.V_rate(k, i))))

    def gravity_qq(self, g: Sequence[float]) -> Matrix:
        """Return (32), of all masses."""
        weight = {k: mass[0] * np.asarray(g) for k, mass in self.masses.items()}
        return self.matrix(lambda i, j: self.sum(lambda k, _: -self.g(k, i, j)[:3, 3] @ weight[k]))

    def sum(self, of: Callable[[int, Matrix], Any]) -> Any:
        """Return the sum over masses of a function of a frame and its inertia."""
        return sum((of(k, M) for k, M in self.inertia.items()), 0.0)


def D2D1(L_qq: Matrix, L_qv: Matrix, L_vv: Matrix, dt: float, alpha: float = 0.5) -> Matrix:  # noqa: N802 - the paper's symbol
    """Return (22), rows by D1, columns by D2."""
    return np.asarray(L_qq * (1.0 - alpha) * alpha * dt + L_qv * (1.0 - alpha) - L_qv.T * alpha - L_vv / dt)


def newton_matrix(tree: Tree, g: Sequence[float], dt: float) -> Matrix:
    """Return (22) of a tree in gravity, as Newton's method evaluates it once an iteration."""
    return D2D1(tree.kinetic_qq() - tree.gravity_qq(g), tree.kinetic_qv(), tree.kinetic_vv(), dt)
