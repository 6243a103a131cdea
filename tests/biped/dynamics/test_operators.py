"""The recursions against the factorization of the equations of motion: Wendlandt 1997, section 3.3.4, and A.8.

The operators A, φ, H and M stand here as dense matrices in the bodies' own frames, which the product does not form.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import dynamics
from biped.model import Body, Model, helical, principal_inertia, prismatic, revolute

PARENTS = (None, 0, 1, 1, 0, 4)
KINDS = ("revolute", "prismatic", "helical", "revolute", "revolute", "prismatic")
PITCH = 0.2
MAKE = {
    "revolute": revolute,
    "prismatic": prismatic,
    "helical": lambda name, axis, place: helical(name, axis, PITCH, place),
}


def tree(seed):
    """A branching tree of hinges, slides and screws, and coordinates and rates for it."""
    rng, bodies = np.random.default_rng(seed), []
    for k, (parent, kind) in enumerate(zip(PARENTS, KINDS, strict=True)):
        axis, place, com = (tuple(map(float, rng.normal(size=3))) for _ in range(3))
        joint = MAKE[kind](f"joint_{k}", axis, place)
        inertia = principal_inertia((1.0, 1.3, 0.9), Rotation.random(random_state=rng).as_matrix())
        above = None if parent is None else f"body_{parent}"
        bodies.append(Body(f"body_{k}", float(rng.uniform(1.0, 3.0)), inertia, com, joint, above))
    return Model("branches", tuple(bodies)), rng.normal(size=6), rng.normal(size=6)


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def ad(twist):
    v, w = hat(twist[:3]), hat(twist[3:])
    return np.block([[w, v], [np.zeros((3, 3)), w]])


class Operators:
    """A, Ȧ, φ, H, the bodies' masses, and the skew N by which N V is Ω M V of (3.18); frames at centres of mass."""

    def __init__(self, model, q, v):
        arrays, n = model.tree, len(q)
        self.A, rates, self.H, masses = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n)), np.zeros((6 * n, n)), []
        turned = []
        for k in range(n):
            axis, offset, com, i = arrays.axis[k], arrays.joint_offset[k], arrays.com_offset[k], arrays.parent[k]
            slides = KINDS[k] == "prismatic"
            pitch = {"prismatic": 1.0, "helical": PITCH, "revolute": 0.0}[KINDS[k]]
            R = np.eye(3) if slides else Rotation.from_rotvec(q[k] * axis).as_matrix()
            p = offset + pitch * q[k] * axis + R @ com
            here, above = slice(6 * k, 6 * k + 6), slice(6 * i, 6 * i + 6)
            turn = np.zeros(3) if slides else axis
            self.H[here, k] = [*(pitch * axis + np.cross(turn, com)), *turn]
            if i >= 0:
                self.A[here, above] = np.block([[R.T, -R.T @ hat(p)], [np.zeros((3, 3)), R.T]])
                rates[here, above] = -ad(v[k] * self.H[here, k]) @ self.A[here, above]
            turned.append((turned[i] if i >= 0 else np.eye(3)) @ R)
            masses.append((arrays.mass[k], arrays.inertia[k].reshape(3, 3)))
        self.phi = np.linalg.inv(np.eye(6 * n) - self.A)
        V = (self.phi @ self.H @ v).reshape(n, 6)
        M, N, weight = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
        for k, (m, inertia) in enumerate(masses):
            force, torque = slice(6 * k, 6 * k + 3), slice(6 * k + 3, 6 * k + 6)
            M[force, force], M[torque, torque] = m * np.eye(3), inertia
            N[force, force], N[torque, torque] = m * hat(V[k, 3:]), -hat(inertia @ V[k, 3:])
            weight[force] = m * turned[k].T @ arrays.gravity
        J = self.phi @ self.H
        self.mass = J.T @ M @ J  # (3.32)
        self.coriolis = J.T @ (M @ self.phi @ rates + N) @ J  # of (3.33), as a matrix that takes the rates
        self.weight = J.T @ weight


@pytest.mark.parametrize("seed", range(3))
def test_recursions_are_the_factorization(seed):
    model, q, v = tree(seed)
    found = Operators(model, q, v)
    powers = sum(np.linalg.matrix_power(found.A, k) for k in range(len(q)))
    np.testing.assert_allclose(found.phi, powers, atol=1e-12)
    np.testing.assert_allclose(dynamics.mass_matrix(model, q), found.mass, rtol=1e-12, atol=1e-12)
    bias = found.coriolis @ v - found.weight
    np.testing.assert_allclose(dynamics.inverse_dynamics(model, q, v, np.zeros(6)), bias, rtol=1e-11, atol=1e-11)
    torque = np.cos(np.arange(6.0))
    expected = np.linalg.solve(found.mass, torque - bias)
    np.testing.assert_allclose(dynamics.forward_dynamics(model, q, v, torque), expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_the_mass_matrix_s_rate_less_twice_the_coriolis_matrix_is_skew(seed):
    """A.8; the rate is that of the recursions' mass matrix, by central differences."""
    model, q, v = tree(seed)
    ahead, behind = (dynamics.mass_matrix(model, q + sign * 1e-5 * v) for sign in (1.0, -1.0))
    difference = (ahead - behind) / 2e-5 - 2.0 * Operators(model, q, v).coriolis
    assert np.abs(difference).max() > 0.1
    np.testing.assert_allclose(difference, -difference.T, atol=1e-7)
