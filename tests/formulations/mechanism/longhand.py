"""Algorithm of Johnson and Murphey 2009 as printed, in NumPy: an oracle for the kernels.

Equations (2)-(10) are the recursions of the paper's figure 7, whose values are kept until a configuration is written.
Upon them: the Lagrangian and its derivatives (11), (23)-(27); the generalized midpoint rule (19)-(22); potentials,
constraints and forces with their derivatives; the continuous dynamics (28), (29) and (36); the combined integrator
(44)-(46) with its two writes an iteration. With the kernels it shares the description of frames.

Misprints are corrected here and named in comments; ``test_longhand.py`` demonstrates them.
Everything works with complex numbers too, so that derivatives can be checked by complex steps, exact to rounding.
Indices: k a frame, i and j configuration variables. λ is the paper's: equation (45) has −Dhᵀ λ_k.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from experiments.papers.johnson_murphey_2009 import recursions
from experiments.papers.johnson_murphey_2009.recursions import inverse, primitive, twist, unhat
from formulations.mechanism import Frame

__all__ = ["inverse", "primitive", "twist", "unhat"]
KINDS = ("tx", "ty", "tz", "rx", "ry", "rz")


def hat(v: np.ndarray) -> np.ndarray:
    x, y, z, a, b, c = v
    return np.array([[0, -c, b, x], [c, 0, -a, y], [-b, a, 0, z], [0, 0, 0, 0]])


class Tree(recursions.Tree):
    """Recursions of a tree, for potentials and constraints."""

    def __init__(self, frames: Sequence[Frame], caching: bool = True) -> None:
        super().__init__(frames, caching)
        self.dynamic = np.array([not f.is_kinematic for f in self.frames if f.coordinate is not None], dtype=bool)
        self.names = {frame.name: k for k, frame in enumerate(self.frames) if frame.name} | {"world": -1}
        self.massive = list(self.masses)

    def mass(self, k: int) -> float:
        return self.masses[k][0]

    def p(self, k: int) -> np.ndarray:
        """p_{s,k}, a column of (2)."""
        return self.g(k)[:3, 3]

    def carried(self, k: int, x: Sequence[float] = (0.0, 0.0, 0.0, 1.0)) -> Jet:
        """Where (x, 1) of a frame's axes is in the world, by default its origin; how (x, 0) is directed."""
        x = np.asarray(x, dtype=float)
        return Jet(
            (self.g(k) @ x)[:3],
            self.vector(lambda i: (self.g(k, i) @ x)[:3]),
            self.matrix(lambda i, j: (self.g(k, i, j) @ x)[:3]),
        )


class Jet(NamedTuple):
    """Function of q with derivatives ∂/∂q_i and ∂²/∂q_i ∂q_j; i and j are the first indices."""

    f: np.ndarray
    d: np.ndarray
    dd: np.ndarray

    def __sub__(self, other: Jet) -> Jet:
        return Jet(*(one - two for one, two in zip(self, other, strict=True)))

    def __matmul__(self, other: Jet) -> Jet:
        mixed = self.d @ other.d.T
        bend = self.dd @ other.f + other.dd @ self.f + mixed + mixed.T
        return Jet(self.f @ other.f, self.d @ other.f + other.d @ self.f, bend)

    def into(self, *U: Callable[[complex], complex]) -> Jet:
        value, slope, bend = (one(self.f) for one in U)
        return Jet(value, slope * self.d, bend * np.outer(self.d, self.d) + slope * self.dd)


#: A potential V or a constraint's h.
Function = Callable[[Tree], Jet]


def gravity(k: int, mass: float, g: Sequence[float]) -> Function:
    """(30)-(32), of one mass."""
    return lambda tree: Jet(*(-mass * part @ np.asarray(g) for part in tree.carried(k)))


def squared(tree: Tree, a: int, b: int) -> Jet:
    v = tree.carried(a) - tree.carried(b)
    return v @ v


def between(a: int, b: int, *U: Callable[[complex], complex]) -> Function:
    """A potential U(x) of the distance x of two frames' origins, with its first two derivatives by x (33)-(35).

    The print has −½ x⁻² ∂x/∂q_j vᵀ ∂v/∂q_i in ∂²x/∂q_i ∂q_j: the ½ is one too many.
    """
    return lambda tree: squared(tree, a, b).into(*SQUARE_ROOT).into(*U)


SQUARE_ROOT = np.sqrt, lambda s: 0.5 / np.sqrt(s), lambda s: -0.25 / (s * np.sqrt(s))


def of_variable(i: int, *U: Callable[[complex], complex]) -> Function:
    return lambda tree: affine({i: 1.0})(tree).into(*U)


def spring(stiffness: float | Sequence[float], rest: float) -> tuple[Callable[[complex], complex], ...]:
    """The potential of a force Σ c_k (x − x₀)^k, and its derivatives."""
    force = np.polynomial.Polynomial([0.0, *np.atleast_1d(stiffness)])
    return tuple(lambda x, one=one: one(x - rest) for one in (force.integ(), force, force.deriv()))


def newtonian_gravity(a: int, b: int, product: float) -> Function:
    """−G m₁ m₂ / x, ``product`` = G m₁ m₂."""
    return between(a, b, lambda x: -product / x, lambda x: product / x**2, lambda x: -2.0 * product / x**3)


def distance(a: int, b: int, length: float, factor: float = 1.0) -> Function:
    """The wire constraint (37), (38), times a constant: its multiplier is as much smaller."""
    return lambda tree: squared(tree, a, b).into(lambda s: factor * (s - length**2), lambda _: factor, lambda _: 0.0)


def point(a: int, b: int, direction: Sequence[float], axes: int = -1) -> Function:
    """n̂ · (p_a − p_b) = 0 (IV-D4), with n̂ in the axes of the world (−1) or of a frame."""
    return lambda tree: tree.carried(axes, [*direction, 0.0]) @ (tree.carried(a) - tree.carried(b))


def affine(terms: dict[int, float], offset: float = 0.0) -> Function:
    """Σ c_i q_i = offset: the screw (39), (40) with c = (p, −1), a gear, a coordinate that is held."""

    def h(tree: Tree) -> Jet:
        slope = tree.vector(lambda i: terms.get(i, 0.0))
        return Jet(slope @ tree.q - offset, slope, np.zeros((tree.n, tree.n)))

    return h


def at(value: float | Callable[[float], float], t: float) -> float:
    return value(t) if callable(value) else value


class JointForce:
    """A torque and a damper on one variable: f_i = τ(t) − c q̇_i."""

    def __init__(self, i: int, torque: float | Callable[[float], float] = 0.0, damping: float = 0.0) -> None:
        self.i, self.torque, self.damping = i, torque, damping

    def f(self, tree: Tree, i: int, t: float) -> complex:
        return at(self.torque, t) - self.damping * tree.v[i] if i == self.i else 0.0

    def f_q(self, tree: Tree, i: int, j: int, t: float) -> complex:
        return 0.0

    def f_v(self, tree: Tree, i: int, j: int, t: float) -> complex:
        return -self.damping if i == j == self.i else 0.0


class Wrench:
    """Jᵀ F of a wrench at a frame (IV-E1), a function of time, in axes and about an origin.

    In the body's: Jᵇ. In space's, its moment about the world's origin: Jˢ. Hybrid: in the world's axes, at the frame's.
    """

    def __init__(self, k: int, wrench: Callable[[float], Sequence[float]], axes: str = "body") -> None:
        self.k, self.wrench, self.axes = k, wrench, axes

    def column(self, tree: Tree, i: int, *j: int) -> np.ndarray:
        """Of J: g⁻¹ ∂g/∂q_i or ∂g/∂q_i g⁻¹; or its derivative by q_j."""
        back, g_i = np.linalg.inv(tree.g(self.k)), tree.g(self.k, i)
        if j:
            g_j, g_ij = tree.g(self.k, *j), tree.g(self.k, i, *j)
        if self.axes == "body":
            return unhat(back @ (g_ij - g_j @ back @ g_i if j else g_i))
        found = unhat((g_ij - g_i @ back @ g_j if j else g_i) @ back)
        if self.axes == "hybrid":
            found[:3] = (g_ij if j else g_i)[:3, 3]
        return found

    def f(self, tree: Tree, i: int, t: float) -> complex:
        return self.column(tree, i) @ self.wrench(t)

    def f_q(self, tree: Tree, i: int, j: int, t: float) -> complex:
        return self.column(tree, i, j) @ self.wrench(t)

    def f_v(self, tree: Tree, i: int, j: int, t: float) -> complex:
        return 0.0


@dataclass
class System:
    """Tree with potentials, constraints and forces: L (11) and derived quantities."""

    tree: Tree
    potentials: list = field(default_factory=list)
    constraints: list = field(default_factory=list)
    forces: list = field(default_factory=list)
    alpha: float = 0.5

    def with_gravity(self, g: Sequence[float]) -> System:
        tree = self.tree
        self.potentials += [gravity(k, tree.mass(k), g) for k in tree.massive]
        return self

    # The Lagrangian at what is written to the tree.

    def kinetic_energy(self) -> complex:
        tree = self.tree
        velocities = {k: unhat(tree.V(k)) for k in tree.massive}
        return sum(0.5 * v @ tree.inertia[k] @ v for k, v in velocities.items())

    def potential_energy(self) -> complex:
        return sum(potential(self.tree).f for potential in self.potentials)

    def L(self) -> complex:
        """(11)."""
        return self.kinetic_energy() - self.potential_energy()

    def kinetic(self, of: Callable[[int], complex]) -> complex:
        return sum(of(k) for k in self.tree.massive)

    def L_q(self) -> np.ndarray:
        """(23)."""
        tree, M = self.tree, self.tree.inertia
        kinetic = tree.vector(lambda i: self.kinetic(lambda k: unhat(tree.V(k)) @ M[k] @ unhat(tree.V(k, i))))
        return kinetic - sum(potential(tree).d for potential in self.potentials)

    def L_qq(self) -> np.ndarray:
        """(24)."""
        return self.tree.kinetic_qq() - sum(potential(self.tree).dd for potential in self.potentials)

    def L_v(self) -> np.ndarray:
        """(25): the momenta P."""
        tree, M = self.tree, self.tree.inertia
        return tree.vector(lambda i: self.kinetic(lambda k: unhat(tree.V(k)) @ M[k] @ unhat(tree.V_rate(k, i))))

    def L_qv(self) -> np.ndarray:
        """(26): ∂²L/∂q_i ∂q̇_j in row i, column j."""
        return self.tree.kinetic_qv()

    def L_vv(self) -> np.ndarray:
        """(27) with (9): M(q)."""
        return self.tree.kinetic_vv()

    def force(self, t: float) -> np.ndarray:
        return self.tree.vector(lambda i: sum(force.f(self.tree, i, t) for force in self.forces))

    def force_q(self, t: float) -> np.ndarray:
        return self.tree.matrix(lambda i, j: sum(force.f_q(self.tree, i, j, t) for force in self.forces))

    def force_v(self, t: float) -> np.ndarray:
        return self.tree.matrix(lambda i, j: sum(force.f_v(self.tree, i, j, t) for force in self.forces))

    def h(self) -> np.ndarray:
        return np.array([one(self.tree).f for one in self.constraints])

    def Dh(self) -> np.ndarray:
        return np.array([one(self.tree).d for one in self.constraints]).reshape(len(self.constraints), self.tree.n)

    def DDh(self, v: np.ndarray) -> np.ndarray:
        """∂²h/∂q∂q · (v, v)."""
        return np.array([v @ one(self.tree).dd @ v for one in self.constraints])

    # Continuous dynamics.

    def accelerations(self, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        """q̈ and λ by (28), (29) and (36a, b) with forces; where variables are kinematic, they do not accelerate."""
        tree = self.tree
        tree.set(q, v)
        free = tree.dynamic
        right = (self.L_q() + self.force(t) - self.L_qv().T @ v)[free]
        Dh = self.Dh()[:, free]
        m = len(self.constraints)
        matrix = np.block([[self.L_vv()[np.ix_(free, free)], -Dh.T], [Dh, np.zeros((m, m))]])
        found = np.linalg.solve(matrix, np.concatenate([right, -self.DDh(v)]))
        acceleration = np.zeros(tree.n)
        acceleration[free] = found[: free.sum()]
        return acceleration, found[free.sum() :]

    # The discrete Lagrangian (19) at what ``midpoint`` has written.

    def midpoint(self, q: np.ndarray, q_next: np.ndarray, dt: float) -> None:
        """Set tree: q = (1 − α) q_k + α q_{k+1}. The algorithm's print lacks this α; (19) has it."""
        self.tree.set((1.0 - self.alpha) * q + self.alpha * q_next, (q_next - q) / dt)

    def D1(self, dt: float) -> np.ndarray:
        """(20)."""
        return self.L_q() * (1.0 - self.alpha) * dt - self.L_v()

    def D2(self, dt: float) -> np.ndarray:
        """(21)."""
        return self.L_q() * self.alpha * dt + self.L_v()

    def D2D1(self, dt: float) -> np.ndarray:
        """(22), rows by D1, columns by D2."""
        return recursions.D2D1(self.L_qq(), self.L_qv(), self.L_vv(), dt, self.alpha)

    def half_force(self, t: float, dt: float) -> np.ndarray:
        """f_d⁻ = f_d⁺ = ½ f_c Δt (IV-E); t is that of the step's start."""
        return 0.5 * dt * self.force(t + self.alpha * dt)

    def D2_half_force(self, t: float, dt: float) -> np.ndarray:
        time = t + self.alpha * dt
        return 0.5 * dt * (self.alpha * self.force_q(time) + self.force_v(time) / dt)

    # The combined integrator (44)-(46).

    def start(self, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> State:
        """From a configuration and a velocity: p = ∂L/∂q̇."""
        self.tree.set(q, v)
        return State(t, np.array(q, dtype=float), self.L_v(), self.Dh(), np.zeros(len(self.constraints)))

    def residual(self, state: State, q_next: np.ndarray, lam: np.ndarray, dt: float) -> np.ndarray:
        """f₁ of (45) at what ``midpoint`` has written, of all variables: a kinematic one's is not to be zero."""
        return state.p + self.D1(dt) + self.half_force(state.t, dt) - state.pi.T @ lam

    def step(
        self, state: State, dt: float, tolerance: float = 1e-12, kinematic: Sequence[float] = (), most: int = 30
    ) -> State:
        """(q_k, p_k) → (q_{k+1}, p_{k+1}) with two writes an iteration; ``kinematic``: their variables' next values.

        The print loops while |f| < tolerance: it must be while it is larger.
        """
        tree, free = self.tree, self.tree.dynamic
        m, n = len(self.constraints), int(free.sum())
        q, lam = state.q.copy(), state.lam.copy()
        q[~free] = kinematic
        for _ in range(most):
            tree.set(q, tree.v)
            f2, pi = self.h(), self.Dh()
            self.midpoint(state.q, q, dt)
            f1 = self.residual(state, q, lam, dt)
            f = np.concatenate([f1[free], f2])
            if np.max(np.abs(f)) <= tolerance:
                break
            Df = np.zeros((n + m, n + m))
            Df[:n, :n] = (self.D2D1(dt) + self.D2_half_force(state.t, dt))[np.ix_(free, free)]
            Df[:n, n:], Df[n:, :n] = -state.pi.T[free], pi[:, free]
            z = -np.linalg.solve(Df, f)
            q[free] += z[:n]
            lam += z[n:]
        else:
            raise RuntimeError(f"no convergence in {most} iterations: |f| = {np.max(np.abs(f))}")
        p = self.D2(dt) + self.half_force(state.t, dt)
        tree.set(q, (q - state.q) / dt)
        return State(state.t + dt, q, p, pi, lam, f1[~free])

    def energy(self, q: np.ndarray, v: np.ndarray) -> float:
        self.tree.set(q, v)
        return float(self.kinetic_energy() + self.potential_energy())


@dataclass(frozen=True)
class State:
    """State of a step: λ of the last step, ``driving``: impulses on kinematic variables."""

    t: float
    q: np.ndarray
    p: np.ndarray
    pi: np.ndarray
    lam: np.ndarray
    driving: np.ndarray = field(default_factory=lambda: np.zeros(0))
