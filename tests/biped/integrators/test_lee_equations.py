"""The equations of Lee et al. 2016, longhand: in body frames, with matrix logarithms and Bernoulli's series."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.linalg import expm, logm
from scipy.special import bernoulli

from biped import dynamics
from biped.disturbances import compile_ground
from biped.integrators.lee.kernels import screw_body
from biped.integrators.lee.kernels.dense_newton import fill_columns, new_column_newton
from biped.kernels.state.pushes import new_pushes
from biped.kernels.state.simulation_state import new_simulation_state
from biped.kernels.step.step import prepare
from biped.kernels.variational.discrete_body import MidpointBody, body_momentum
from biped.kernels.variational.equations import new_scratch, reference_point, set_discrete_momentum, set_newton_blocks
from biped.kernels.variational.newton import evaluate
from biped.model import Model, chain, random_tree
from biped.model.geometry import quaternion_matrix
from contact import RUBBER
from tests.differences import jacobian

H = 2e-3
#: Bernoulli's numbers, with B_1 = −1/2 as the paper has it (below equation 13).
B = bernoulli(40)


def hat(a: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def bracket(V: np.ndarray) -> np.ndarray:
    """[V] of equation 5; V = (w, v)."""
    M = np.zeros((4, 4))
    M[:3, :3], M[:3, 3] = hat(V[:3]), V[3:]
    return M


def unbracket(M: np.ndarray) -> np.ndarray:
    return np.array([M[2, 1], M[0, 2], M[1, 0], *M[:3, 3]])


def Ad(T: np.ndarray) -> np.ndarray:
    """Equation 15."""
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [hat(p) @ R, R]])


def ad(V: np.ndarray) -> np.ndarray:
    """Equation 13."""
    return np.block([[hat(V[:3]), np.zeros((3, 3))], [hat(V[3:]), hat(V[:3])]])


def dlog(V: np.ndarray) -> np.ndarray:
    """Equation 13, term by term."""
    return sum(B[j] / math.factorial(j) * np.linalg.matrix_power(ad(V), j) for j in range(31))


def dlog_change(V: np.ndarray, dV: np.ndarray) -> np.ndarray:
    A, D = ad(V), ad(dV)
    power, change, total = np.eye(6), np.zeros((6, 6)), np.zeros((6, 6))
    for j in range(1, 31):
        power, change = power @ A, change @ A + power @ D
        total = total + B[j] / math.factorial(j) * change
    return total


@dataclass
class Longhand:
    """Algorithm 2 and 4 for a model at three configurations q^{k−1}, q^k, q^{k+1}."""

    model: Model

    def poses(self, q: np.ndarray) -> np.ndarray:
        """T_i of equation 18, in the frames of the centres of mass."""
        at = dynamics.forward_kinematics(self.model, q)
        T = np.tile(np.eye(4), (self.model.n, 1, 1))
        for i in range(self.model.n):
            T[i, :3, :3], T[i, :3, 3] = quaternion_matrix(at.orientation[i]), at.position[i]
        return T

    def parent(self, T: np.ndarray, i: int) -> np.ndarray:
        return T[self.model.tree.parent[i]] if self.model.tree.parent[i] >= 0 else np.eye(4)

    def relative(self, T: np.ndarray, i: int) -> np.ndarray:
        """T_{λ(i),i}."""
        return np.linalg.inv(self.parent(T, i)) @ T[i]

    def inertia(self, i: int) -> np.ndarray:
        tree = self.model.tree
        return np.block([
            [tree.inertia[i].reshape(3, 3), np.zeros((3, 3))],
            [np.zeros((3, 3)), tree.mass[i] * np.eye(3)],
        ])  # fmt: skip

    def joint(self, T: np.ndarray, i: int) -> np.ndarray:
        """S_i (6, n_i) in the body's frame; joints of several degrees of freedom turn about the world's axes."""
        tree, R, lever = self.model.tree, T[i, :3, :3], self.model.tree.com_offset[i]
        kind = self.model.bodies[i].joint.kind
        if kind == "revolute":
            return np.concatenate([tree.axis[i], np.cross(tree.axis[i], lever)])[:, None]
        if kind == "prismatic":
            return np.concatenate([np.zeros(3), tree.axis[i]])[:, None]
        if kind == "spherical":
            return np.array([np.concatenate([a, np.cross(a, lever)]) for a in R]).T
        return np.block([[np.zeros((3, 3)), R.T], [R.T, np.zeros((3, 3))]])

    def displacements(self, T: np.ndarray, T_next: np.ndarray) -> np.ndarray:
        """ΔT_i by the recursion of equation 19."""
        moved = np.zeros_like(T)
        for i in range(self.model.n):
            root = self.model.tree.parent[i] < 0
            inboard = np.eye(4) if root else moved[self.model.tree.parent[i]]
            moved[i] = np.linalg.inv(self.relative(T, i)) @ inboard @ self.relative(T_next, i)
        return moved

    def velocities(self, T: np.ndarray, T_next: np.ndarray) -> np.ndarray:
        """V_i of equation 10."""
        return np.array([unbracket(logm(D).real) / H for D in self.displacements(T, T_next)])

    def momentum(self, i: int, V: np.ndarray) -> np.ndarray:
        """μ_i of equation 21b."""
        return dlog(H * V).T @ self.inertia(i) @ V

    def residual(self, before: np.ndarray, now: np.ndarray, after: np.ndarray, torque: np.ndarray) -> np.ndarray:
        """f of algorithm 2: gravity is F^ext, half of it from each step by the trapezoidal rule (9)."""
        T0, T1, T2 = (self.poses(q) for q in (before, now, after))
        V0, V1 = self.velocities(T0, T1), self.velocities(T1, T2)
        F = np.zeros((self.model.n, 6))
        f = np.zeros(self.model.nv)
        for i in range(self.model.n - 1, -1, -1):
            weight = H * self.model.tree.mass[i] * T1[i, :3, :3].T @ self.model.tree.gravity
            carried = Ad(expm(H * bracket(V0[i]))).T @ self.momentum(i, V0[i])
            F[i] += self.momentum(i, V1[i]) - carried - np.concatenate([np.zeros(3), weight])
            first = self.model.tree.first_v[i]
            S = self.joint(T1, i)
            f[first : first + S.shape[1]] = S.T @ F[i] - H * torque[first : first + S.shape[1]]
            if self.model.tree.parent[i] >= 0:
                F[self.model.tree.parent[i]] += Ad(np.linalg.inv(self.relative(T1, i))).T @ F[i]
        return f

    def derivative(self, now: np.ndarray, after: np.ndarray) -> np.ndarray:
        """∂f/∂q^{k+1} of algorithm 4, for joints of one degree of freedom."""
        n, tree = self.model.n, self.model.tree
        T1, T2 = self.poses(now), self.poses(after)
        moved, V = self.displacements(T1, T2), self.velocities(T1, T2)
        result = np.zeros((n, n))
        for j in range(n):
            dmoved, dF = np.zeros((n, 4, 4)), np.zeros((n, 6))
            for i in range(n):
                own = moved[i] @ bracket(self.joint(T2, i)[:, 0]) if i == j else np.zeros((4, 4))
                carried = dmoved[tree.parent[i]] if tree.parent[i] >= 0 else np.zeros((4, 4))
                dmoved[i] = np.linalg.inv(self.relative(T1, i)) @ carried @ self.relative(T2, i) + own
            for i in range(n - 1, -1, -1):
                dV = dlog(H * V[i]) @ unbracket(dmoved[i] @ expm(-H * bracket(V[i]))) / H
                G = self.inertia(i)
                dF[i] += dlog_change(H * V[i], H * dV).T @ G @ V[i] + dlog(H * V[i]).T @ G @ dV
                result[i, j] = self.joint(T1, i)[:, 0] @ dF[i]
                if tree.parent[i] >= 0:
                    dF[tree.parent[i]] += Ad(np.linalg.inv(self.relative(T1, i))).T @ dF[i]
        return result


class Ours:
    def __init__(self, model: Model, torque: np.ndarray) -> None:
        self.model, self.tree = model, model.tree
        self.arrays = new_simulation_state(model.nq, model.nv, model.nc)
        self.scratch = new_scratch(model.n, model.nq, model.nv, model.nc)
        self.pushes, self.ground = new_pushes(0), compile_ground(RUBBER, model)
        self.arrays.torque[:] = torque

    def evaluate(self, now: np.ndarray, after: np.ndarray) -> np.ndarray:
        self.arrays.q[:] = now
        prepare(self.tree, self.arrays, self.scratch)
        self.scratch.q[:] = after
        start, end = (np.array(reference_point(self.tree, q)) for q in (now, after))
        self.scratch.shift[:] = end - start
        evaluate(screw_body.ScrewBody(), self.tree, self.ground, self.arrays, self.pushes, self.scratch, H)
        return self.scratch.residual.copy()

    def residual(self, before: np.ndarray, now: np.ndarray, after: np.ndarray) -> np.ndarray:
        self.evaluate(before, now)
        self.scratch.residual[:] = 0.0
        set_discrete_momentum(screw_body.ScrewBody(), self.tree, self.arrays, self.pushes, self.scratch, H)
        return self.evaluate(now, after)

    def derivative(self) -> np.ndarray:
        scratch, buffers = self.scratch, new_column_newton(self.model.n, self.model.nv)
        set_newton_blocks(screw_body.ScrewBody(), self.tree, self.ground, self.arrays, scratch, H)
        left, right, factors = scratch.motion.poses.motion, scratch.next.motion, scratch.motion.factors
        fill_columns(
            self.tree, left, right, factors.block, scratch.diagonal, buffers.moves, factors.wrench, buffers.matrix
        )  # fmt: skip
        return buffers.matrix


def three_configurations(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rates = 4.0 * rng.normal(size=model.nv)

    def along(amount: float) -> np.ndarray:
        q = model.neutral()
        for part, first, dof in zip(model.bodies, model.tree.first_q, model.tree.first_v, strict=True):
            kind = part.joint.kind
            if kind in ("revolute", "prismatic"):
                q[first] = 0.7 * math.sin(3.0 * dof) + amount * rates[dof]
                continue
            start, turn = (first + 3, dof + 3) if kind == "floating" else (first, dof)
            axis = rates[turn : turn + 3] / np.linalg.norm(rates[turn : turn + 3])
            angle = 0.5 * (0.9 + amount * np.linalg.norm(rates[turn : turn + 3]))
            q[start : start + 4] = np.concatenate([[math.cos(angle)], math.sin(angle) * axis])
            if kind == "floating":
                q[first : first + 3] = 0.3 + amount * rates[dof : dof + 3]
        return q

    return along(-H), along(0.0), along(1.1 * H)


def trees():
    yield pytest.param(chain(6).without_contacts(), 0, id="chain")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        kinds = ("revolute", "prismatic", "spherical")
        model = random_tree(rng, 7, floating=seed % 2 == 0, kinds=kinds)
        yield pytest.param(model, seed, id=f"tree-{seed}-{'floating' if seed % 2 == 0 else 'fixed'}")


def simple_trees():
    yield pytest.param(chain(6).without_contacts(), 0, id="chain")
    for seed in range(2):
        model = random_tree(np.random.default_rng(seed), 7, floating=False, kinds=("revolute", "prismatic"))
        yield pytest.param(model, seed, id=f"tree-{seed}")


@pytest.mark.parametrize(("model", "seed"), list(trees()))
def test_residual_is_that_of_algorithm_2(model, seed):
    """To what SciPy's logarithm of a matrix leaves, 1e-15 over h, times the momentum of a body."""
    before, now, after = three_configurations(model, seed)
    torque = np.random.default_rng(seed).normal(size=model.nv)
    f = Longhand(model).residual(before, now, after, torque)
    e = Ours(model, torque).residual(before, now, after)
    assert np.abs(f).max() > 1e-2
    assert np.abs(e + f).max() < 1e-12 / H


@pytest.mark.parametrize(("model", "seed"), list(simple_trees()))
def test_derivative_is_that_of_algorithm_4(model, seed):
    _, now, after = three_configurations(model, seed)
    ours = Ours(model, np.zeros(model.nv))
    ours.evaluate(now, after)
    exact = Longhand(model).derivative(now, after)
    assert np.abs(ours.derivative() - exact).max() < 1e-11 * np.abs(exact).max()


def test_algorithm_4_is_the_derivative_of_algorithm_2():
    model = chain(5).without_contacts()
    before, now, after = three_configurations(model, 2)
    longhand, torque, size = Longhand(model), np.zeros(model.nv), 1e-4

    def f(j: int, amount: float) -> np.ndarray:
        return longhand.residual(before, now, after + amount * np.eye(model.nq)[j], torque)

    columns = [(f(j, -2 * size) - 8 * f(j, -size) + 8 * f(j, size) - f(j, 2 * size)) / 12 for j in range(model.nv)]
    exact = longhand.derivative(now, after)
    assert np.abs(np.array(columns).T / size - exact).max() < 1e-8 * np.abs(exact).max()


# One body.

MASS = 2.0
INERTIA = np.array([[0.3, 0.05, -0.02], [0.05, 0.2, 0.03], [-0.02, 0.03, 0.25]])
ANGLES = [1e-12, 1e-8, 1e-5, 1e-3, 0.0628, 0.0632, 0.3, 1.0, 1.046, 1.048, 2.0, 3.0]


def displacement(angle: float, seed: int = 5) -> tuple[tuple[float, ...], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    return (math.cos(angle / 2), *(math.sin(angle / 2) * axis)), angle * axis, angle * rng.normal(size=3)


def tuples(A: np.ndarray) -> tuple[float, ...]:
    return tuple(float(x) for x in A.ravel())


@pytest.mark.parametrize("angle", ANGLES)
def test_momentum_of_a_body_to_round_off(angle):
    """Against the series of dlog for the rotation vector, whose terms fall as (angle/2π)^j."""
    turn, phi, moved = displacement(angle)
    P, spin = body_momentum(screw_body.ScrewBody(), MASS, tuples(INERTIA), turn, tuples(moved), H)
    rho = (sum(B[j] / math.factorial(j) * np.linalg.matrix_power(hat(phi), j) for j in range(39))) @ moved
    V = np.concatenate([phi, rho]) / H
    G = np.block([[INERTIA, np.zeros((3, 3))], [np.zeros((3, 3)), MASS * np.eye(3)]])
    series = sum(B[j] / math.factorial(j) * np.linalg.matrix_power(ad(H * V), j) for j in range(39))
    mu = series.T @ G @ V
    truncated = (angle / (2 * math.pi)) ** 38
    size = np.linalg.norm(mu)
    assert np.linalg.norm(np.concatenate([spin, P]) - mu) < (1e-13 + 50.0 * truncated) * size


@pytest.mark.parametrize("angle", ANGLES)
def test_derivatives_of_a_body(angle):
    turn, _, moved = displacement(angle)
    size = 2e-3 * angle if angle < 2.5 else 2e-4

    def at(change: np.ndarray) -> np.ndarray:
        c, u = turn[0], np.array(turn[1:])
        angle = np.linalg.norm(change[3:])
        axis = change[3:] / angle if angle else change[3:]
        dc, du = math.cos(angle / 2), math.sin(angle / 2) * axis
        turned = (dc * c - du @ u, *(dc * u + c * du + np.cross(du, u)))
        return np.concatenate(
            body_momentum(screw_body.ScrewBody(), MASS, tuples(INERTIA), turned, tuples(moved + change[:3]), H)
        )

    by_move, by_turn, spin_by_move, spin_by_turn = (
        np.reshape(part, (3, 3)) for part in screw_body.screw_derivatives(MASS, tuples(INERTIA), turn, tuples(moved), H)
    )
    exact = np.block([[by_move, by_turn], [spin_by_move, spin_by_turn]])
    assert jacobian(at, np.zeros(6), size).departure(exact, 1e-9, alike=True) <= 1.0


@pytest.mark.parametrize("edge", [0.001, 0.25])
def test_series_and_closed_form_meet(edge):
    def terms(sigma: float) -> np.ndarray:
        c = math.sqrt(1.0 - sigma)
        return np.array([*screw_body.screw_terms(c, sigma), screw_body.screw_curve(c, sigma)])

    below, above = terms(edge), terms(math.nextafter(edge, 1.0))
    assert np.abs(above / below - 1.0).max() < 1e-12
    assert np.abs(np.array(screw_body.far_screw_terms(math.sqrt(1.0 - edge), edge)) / below - 1.0).max() < 1e-12


def test_it_is_the_midpoint_body_for_small_turns():
    ratio: Callable[[float], float] = lambda angle: difference(angle) / difference(angle / 2)  # noqa: E731

    def difference(angle: float) -> float:
        turn, _, moved = displacement(angle)
        arguments = (MASS, tuples(INERTIA), turn, tuples(moved), H)
        pairs = (np.concatenate(body_momentum(body, *arguments)) for body in (screw_body.ScrewBody(), MidpointBody()))
        screw, midpoint = pairs
        return float(np.linalg.norm(screw - midpoint) / np.linalg.norm(midpoint))

    assert difference(0.1) > 1e-5
    assert ratio(0.1) == pytest.approx(4.0, rel=0.01)
