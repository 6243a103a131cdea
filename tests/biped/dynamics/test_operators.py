"""The recursions against the factorization of the equations of motion: Wendlandt 1997, section 3.3.4, and A.8.

The operators A, φ, H and M stand here as dense matrices in the bodies' own frames, which the product does not form.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from biped import dynamics
from biped.model import Body, Model, helical, principal_inertia, prismatic, revolute

PARENTS = (None, 0, 1, 1, 0, 4)
#: Of each joint: how it is made, whether it turns, and how far it goes along its axis with its coordinate.
KINDS = ((revolute, 1, 0.0), (prismatic, 0, 1.0), (lambda *args: helical(*args[:2], 0.2, args[2]), 1, 0.2)) * 2


def tree(seed):
    rng, bodies = np.random.default_rng(seed), []
    for k, (parent, (make, _, _)) in enumerate(zip(PARENTS, KINDS, strict=True)):
        axis, place, com = (tuple(map(float, rng.normal(size=3))) for _ in range(3))
        inertia = principal_inertia((1.0, 1.3, 0.9), Rotation.random(random_state=rng).as_matrix())
        above = None if parent is None else f"body_{parent}"
        bodies.append(Body(f"body_{k}", 1.0 + k, inertia, com, make(f"joint_{k}", axis, place), above))
    return Model("branches", tuple(bodies)), rng.normal(size=6), rng.normal(size=6)


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def pair(rotation, v):
    """[R, v̂ R; 0, R]: the adjoint, and ad for a rate of turn in place of R."""
    return np.block([[rotation, v], [np.zeros((3, 3)), rotation]])


def operators(model, q, v):
    """A, φ, the mass matrix (3.32), the Coriolis matrix of (3.33) by the skew N with N V = Ω M V, and weights."""
    t, n = model.tree, len(q)
    A, rate, H, M, N = *(np.zeros((6 * n, 6 * n)) for _ in range(2)), np.zeros((6 * n, n)), *np.zeros((2, 6 * n, 6 * n))
    weight, turned, at = np.zeros(6 * n), [], [slice(6 * k, 6 * k + 6) for k in range(n)]
    for k, (_, turns, pitch) in enumerate(KINDS):
        i, axis, com = t.parent[k], t.axis[k], t.com_offset[k]
        R = Rotation.from_rotvec(turns * q[k] * axis).as_matrix()
        p = t.joint_offset[k] + pitch * q[k] * axis + R @ com
        H[at[k], k] = [*(pitch * axis + np.cross(turns * axis, com)), *(turns * axis)]
        if i >= 0:
            A[at[k], at[i]] = pair(R.T, -R.T @ hat(p))
            twist = v[k] * H[at[k], k]
            rate[at[k], at[i]] = -pair(hat(twist[3:]), hat(twist[:3])) @ A[at[k], at[i]]
        turned.append((turned[i] if i >= 0 else np.eye(3)) @ R)
    phi = np.linalg.inv(np.eye(6 * n) - A)
    V = phi @ H @ v
    for k in range(n):
        force, torque, w = slice(6 * k, 6 * k + 3), slice(6 * k + 3, 6 * k + 6), V[6 * k + 3 : 6 * k + 6]
        M[force, force], M[torque, torque] = t.mass[k] * np.eye(3), t.inertia[k].reshape(3, 3)
        N[force, force], N[torque, torque] = t.mass[k] * hat(w), -hat(M[torque, torque] @ w)
        weight[force] = t.mass[k] * turned[k].T @ t.gravity
    J = phi @ H
    return A, phi, J.T @ M @ J, J.T @ (M @ phi @ rate + N) @ J, J.T @ weight


@pytest.mark.parametrize("seed", range(3))
def test_recursions_are_the_factorization(seed):
    model, q, v = tree(seed)
    A, phi, mass, coriolis, weight = operators(model, q, v)
    bias, torque = coriolis @ v - weight, np.cos(np.arange(6.0))
    np.testing.assert_allclose(phi, sum(np.linalg.matrix_power(A, k) for k in range(6)), atol=1e-12)
    np.testing.assert_allclose(dynamics.mass_matrix(model, q), mass, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(dynamics.inverse_dynamics(model, q, v, np.zeros(6)), bias, rtol=1e-11, atol=1e-11)
    expected = np.linalg.solve(mass, torque - bias)
    np.testing.assert_allclose(dynamics.forward_dynamics(model, q, v, torque), expected, rtol=1e-9, atol=1e-10)


def test_the_mass_matrix_s_rate_less_twice_the_coriolis_matrix_is_skew():
    """A.8; the rate is that of the recursions' mass matrix, by central differences."""
    model, q, v = tree(3)
    ahead, behind = (dynamics.mass_matrix(model, q + sign * 1e-5 * v) for sign in (1.0, -1.0))
    difference = (ahead - behind) / 2e-5 - 2.0 * operators(model, q, v)[3]
    assert np.abs(difference).max() > 0.1
    np.testing.assert_allclose(difference, -difference.T, atol=1e-7)
