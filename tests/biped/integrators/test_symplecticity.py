"""The map of a step preserves the symplectic form: its derivative D satisfies Dᵀ Ω D = Ω, at both ends' own Ω.

D is that by displacements δ and by velocities, whose momenta M δ are: the columns of a basis B, for finite differences
of one size. What is tested is (D B)ᵀ Ω (D B) = Bᵀ Ω B.
"""

import numpy as np
import pytest

from biped import INTEGRATORS, Model, dynamics
from biped.kernels.tree.kinematics import new_poses, place_bodies
from tests.differences import SURE, noise_of

from .conftest import variants

STEP = 0.1
#: Of the finite differences, in rad, m, rad/s and m/s.
REACH = 0.005
#: Central differences of order 6 and 8: weights of the values at −4, −3, … 4 times REACH.
SIXTH = np.array([0.0, -1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0, 0.0]) / 60.0
EIGHTH = np.array([3.0, -32.0, 168.0, -672.0, 0.0, 672.0, -168.0, 32.0, -3.0]) / 840.0


def multiply(a, b):
    w, u = a[0], a[1:]
    return np.concatenate([[w * b[0] - u @ b[1:]], w * b[1:] + b[0] * u + np.cross(u, b[1:])])


def exponential(phi):
    angle = np.linalg.norm(phi)
    return np.concatenate([[np.cos(angle / 2)], 0.5 * np.sinc(angle / (2 * np.pi)) * phi])


def logarithm(quaternion):
    w, u = quaternion[0], quaternion[1:]
    if w < 0:
        w, u = -w, -u
    sine = np.linalg.norm(u)
    return 2.0 * u if sine < 1e-12 else 2.0 * np.arctan2(sine, w) / sine * u


class Frame:
    """The unit displacements δ at a configuration: those that the velocities v are components of."""

    def __init__(self, model: Model, q: np.ndarray) -> None:
        self.model, self.q = model, q
        self.poses = new_poses(model.n, model.nv, model.nc)
        place_bodies(model.tree, q, self.poses)

    def parent_rotation(self, i: int) -> np.ndarray:
        parent = self.model.tree.parent[i]
        return np.eye(3) if parent < 0 else self.poses.rotation[parent].reshape(3, 3)

    def joints(self):
        """Of each joint: its number, its first straight coordinate and velocity, how many, and its turn's, or None."""
        for i, body in enumerate(self.model.bodies):
            a, j = int(self.model.tree.first_q[i]), int(self.model.tree.first_v[i])
            kind = body.joint.kind
            straight = {"floating": 3, "spherical": 0}.get(kind, 1)
            turn = (a + straight, j + straight) if kind in ("floating", "spherical") else None
            yield i, a, j, straight, turn

    def displaced(self, delta: np.ndarray) -> np.ndarray:
        q = self.q.copy()
        for i, a, j, straight, turn in self.joints():
            q[a : a + straight] += delta[j : j + straight]
            if turn is not None:
                at, dof = turn
                phi = self.parent_rotation(i).T @ delta[dof : dof + 3]
                q[at : at + 4] = multiply(exponential(phi), q[at : at + 4])
        return q

    def displacement(self, q: np.ndarray) -> np.ndarray:
        """The inverse of ``displaced``."""
        delta = np.zeros(self.model.nv)
        for i, a, j, straight, turn in self.joints():
            delta[j : j + straight] = q[a : a + straight] - self.q[a : a + straight]
            if turn is not None:
                at, dof = turn
                conjugate = self.q[at : at + 4] * [1, -1, -1, -1]
                delta[dof : dof + 3] = self.parent_rotation(i) @ logarithm(multiply(q[at : at + 4], conjugate))
        return delta

    def form(self, p: np.ndarray) -> np.ndarray:
        """Ω: δ₁ · π₂ − δ₂ · π₁ + p · [δ₁, δ₂].

        Turns are measured in world axes: two of the same joint commute to minus their cross product, and one of a
        joint inboard of it turns the axes that a ball's are measured in, which is the same formula.
        """
        n = self.model.nv
        bracket = np.zeros((n, n))
        for i, _, _, _, turn in self.joints():
            if turn is None:
                continue
            dofs = slice(turn[1], turn[1] + 3)
            for k in self.inboard(i, dofs):
                bracket[k, dofs] = -np.cross(p[dofs], self.poses.motion[k, 3:])
                bracket[dofs, k] = -bracket[k, dofs]
        return np.block([[bracket, np.eye(n)], [-np.eye(n), np.zeros((n, n))]])

    def inboard(self, i: int, own: slice) -> list[int]:
        found = list(range(own.start, own.stop))
        tree = self.model.tree
        parent = tree.parent[i]
        while parent >= 0:
            found += range(tree.first_v[parent], tree.first_v[parent] + tree.dofs[parent])
            parent = tree.parent[parent]
        return found


def forms(system, one_step, integrator):
    """Bᵀ Ω B at the start, D B by differences of order 8 (those of order 6 are near), Ω at the end, noise of D B."""
    model, q, v = system
    M = dynamics.mass_matrix(model, q)
    begin = Frame(model, q)
    end_q, end_p = one_step(model, integrator, q, M @ v, v, STEP)
    end = Frame(model, end_q)
    n = model.nv
    basis = np.block([[np.eye(n), np.zeros((n, n))], [np.zeros((n, n)), M]])
    values = np.zeros((9, 2 * n, 2 * n))
    for column in range(2 * n):
        for k in range(-4, 5):
            change = k * REACH * basis[:, column]
            at, momentum = one_step(model, integrator, begin.displaced(change[:n]), M @ v + change[n:], v, STEP)
            values[k + 4, :, column] = *end.displacement(at), *momentum
    eighth, sixth = (np.tensordot(weights, values, 1) / REACH for weights in (EIGHTH, SIXTH))
    assert np.abs(eighth - sixth).max() < 1e-6
    return basis.T @ begin.form(M @ v) @ basis, eighth, end.form(end_p), SURE * noise_of(values) / REACH


def violation(system, one_step, name):
    """What (D B)ᵀ Ω (D B) lacks to Bᵀ Ω B, and what of it the noise of D may be: of what steps are solved to."""
    before, D, after, noise = forms(system, one_step, INTEGRATORS[name])
    spread = noise.T @ np.abs(after) @ np.abs(D)
    return np.abs(D.T @ after @ D - before).max(), (spread + spread.T).max()


SYMPLECTIC = [name for name, integrator in INTEGRATORS.items() if integrator.symplectic]
SLOW = (
    "hanging_chain-lee", "floating_tree-svi", "hanging_chain-svi", "floating_tree-lee-broyden",
    "floating_tree-lee-riqn",
)  # fmt: skip


@pytest.mark.parametrize(("system", "name"), variants(SYMPLECTIC, SLOW), indirect=["system"])
def test_the_symplectic_form_is_preserved(system, one_step, name):
    missed, noise = violation(system, one_step, name)
    assert missed < 1e-9 + noise


@pytest.mark.parametrize("name", [name for name, integrator in INTEGRATORS.items() if not integrator.symplectic])
def test_the_others_do_not_preserve_it(swinging, one_step, name):
    assert violation(swinging, one_step, name)[0] > 1e-6


def test_the_form_without_the_bracket_is_not_preserved(mixed, one_step):
    """What would be tested if momenta in moving axes were taken for canonical ones."""
    model, q, _ = mixed
    _, D, _, _ = forms(mixed, one_step, INTEGRATORS["recursive"])
    n, M = model.nv, dynamics.mass_matrix(model, q)
    canonical = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    before = np.block([[np.zeros((n, n)), M], [-M, np.zeros((n, n))]])
    assert np.abs(D.T @ canonical @ D - before).max() > 1e-3


def gap_after_return(system, one_step, integrator) -> float:
    """What is left of a step and the one back: with reversed momenta, in the same direction of time."""
    model, q, v = system
    p = dynamics.mass_matrix(model, q) @ v
    there, momentum = one_step(model, integrator, q, p, v, STEP)
    assert np.linalg.norm(there - q) > 0.05
    rates = np.linalg.solve(dynamics.mass_matrix(model, there), momentum)
    back, reversed_p = one_step(model, integrator, there, -momentum, -rates, STEP)
    return max(np.abs(back - q).max(), np.abs(reversed_p + p).max())


SYMMETRIC = [name for name, integrator in INTEGRATORS.items() if integrator.symmetric]
SLOW_RETURNS = (
    "floating_tree-svi", "hanging_chain-svi", "hanging_chain-lee-broyden", "hanging_chain-lee-riqn",
    "floating_tree-lee-broyden", "floating_tree-lee-riqn",
)  # fmt: skip


@pytest.mark.parametrize(("system", "name"), variants(SYMMETRIC, SLOW_RETURNS), indirect=["system"])
def test_a_step_back_undoes_a_step(system, one_step, name):
    assert gap_after_return(system, one_step, INTEGRATORS[name]) < 1e-11


@pytest.mark.parametrize("name", [name for name, integrator in INTEGRATORS.items() if not integrator.symmetric])
def test_the_others_do_not_come_back(swinging, one_step, name):
    assert gap_after_return(swinging, one_step, INTEGRATORS[name]) > 1e-7
