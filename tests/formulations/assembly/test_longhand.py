"""Steps of two bodies against the paper's equations as they are printed (Brüdigam et al. 2024), with nothing shared.

Velocities are the unknowns, turns are in body axes, constraints are functions of quaternions whose gradients are
complex steps, and all twenty equations are solved at once.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations.assembly import Assembly, RigidBody, joint

STEP, STEPS, WEIGHT = 0.02, 30, 9.81
MASS = np.array([2.0, 0.5])
INERTIA = np.array([np.diag([0.02, 0.03, 0.04]), [[0.02, 0.004, 0.0], [0.004, 0.03, 0.002], [0.0, 0.002, 0.025]]])
#: From each centre of mass: to the ground's point, and to the hinge between the two, whose axis is the same in both.
HOOK, INNER, OUTER, AXIS = (0.3, 0.1, 0.4), (-0.2, 0.3, -0.1), (0.1, -0.2, 0.3), (0.6, 0.0, 0.8)
ACROSS = ((0.0, 1.0, 0.0), (-0.8, 0.0, 0.6))


def left(q):
    a, b, c, d = q
    return np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])


def turned(q, vector):
    return (left(q) @ left((0.0, *vector)) @ (q * (1.0, -1.0, -1.0, -1.0)))[1:]


def constraints(x, q):
    """g(z): a's hook at the origin, one place for both at the hinge, and b's axis across two directions of a."""
    axis = turned(q[1], AXIS)
    return np.concatenate([
        x[0] + turned(q[0], HOOK),
        x[0] + turned(q[0], INNER) - x[1] - turned(q[1], OUTER),
        [turned(q[0], across) @ axis for across in ACROSS],
    ])  # fmt: skip


def derivatives(function, at):
    """By complex steps: exact but for rounding, since all is algebraic."""
    return np.stack([function(at + 1e-30j * one).imag / 1e-30 for one in np.eye(len(at))], axis=1)


def gradient(x, q):
    """(21): by places, and by quaternions times L(q) Vᵀ; (8, 2, 6)."""
    by_place = derivatives(lambda flat: constraints(flat.reshape(2, 3), q.astype(complex)), x.ravel())
    by_turn = derivatives(lambda flat: constraints(x.astype(complex), flat.reshape(2, 4)), q.ravel())
    rotational = [by_turn[:, 4 * k : 4 * k + 4] @ left(q[k])[:, 1:] for k in range(2)]
    return np.stack([np.hstack([by_place[:, 3 * k : 3 * k + 3], rotational[k]]) for k in range(2)], axis=1)


def after(x, q, v, omega):
    """(11) and (17)."""
    whole = [np.concatenate([[np.sqrt((2.0 / STEP) ** 2 - w @ w)], w]) for w in omega]
    return x + STEP * v, np.stack([0.5 * STEP * left(q[k]) @ whole[k] for k in range(2)])


def spin(omega, k, sign):
    """J ω √(4/Δt² − ωᵀω) ± ω × J ω of (16)."""
    momentum = INERTIA[k] @ omega
    return momentum * np.sqrt(4.0 / STEP**2 - omega @ omega) + sign * left((0.0, *omega))[1:, 1:] @ momentum


def solved(x, q, before, share):
    """(20a, b) by Newton's method: (2, 6) velocities from those of the step before; ``share`` of the weight acts."""
    held = gradient(x, q)

    def equations(unknown):
        motion, pull = unknown[:12].reshape(2, 6), unknown[12:]
        rows = []
        for k in range(2):
            fall = MASS[k] * ((motion[k, :3] - before[k, :3]) / STEP + share * np.array([0.0, 0.0, WEIGHT]))
            turn = spin(motion[k, 3:], k, 1.0) - spin(before[k, 3:], k, -1.0)
            rows.append(np.concatenate([fall, turn]) - held[:, k].T @ pull)
        return np.concatenate([*rows, constraints(*after(x, q, motion[:, :3], motion[:, 3:])) / STEP])

    unknown = np.concatenate([before.ravel(), np.zeros(8)])
    for _ in range(4):  # it converges quadratically, from a velocity nearby
        unknown = unknown - np.linalg.solve(derivatives(equations, unknown), equations(unknown))
    assert np.abs(equations(unknown)[:12]).max() < 1e-9  # [N]: rounding of 2 J/Δt² and of masses over Δt
    return unknown[:12].reshape(2, 6)


@pytest.mark.parametrize("order", [1, 2])
def test_two_bodies_move_by_the_printed_equations(order):
    """From rest, all of the weight in the first step, or half of it.

    Where equations are solved to ε [N·s], each of n steps moves what it acts on by at most h ε/J a step from there on,
    at levers of up to a metre.
    """
    tolerance = 1e-12
    bodies = tuple(RigidBody(name, MASS[k], INERTIA[k].tolist()) for k, name in enumerate("ab"))
    joints = (
        joint("spherical", "hook", None, "a", outboard_point=HOOK),
        joint("revolute", "hinge", "a", "b", AXIS, inboard_point=INNER, outboard_point=OUTER),
    )
    assembly = Assembly("two", bodies, joints, gravity=(0.0, 0.0, -WEIGHT))
    start = assembly.assemble(assembly.place({"hinge": 0.7}))
    motion = assembly.simulate(STEPS * STEP, STEP, start, order=order, tolerance=tolerance)
    x, q, velocity = start.position, start.orientation, np.zeros((2, 6))
    least = min(np.linalg.eigvalsh(inertia)[0] for inertia in INERTIA)
    bound = STEPS**2 * STEP * tolerance / least + 1e-12
    for row in range(STEPS):
        velocity = solved(x, q, velocity, 0.5 if row == 0 and order == 2 else 1.0)
        x, q = after(x, q, velocity[:, :3], velocity[:, 3:])
        for k, name in enumerate("ab"):
            assert_allclose(motion.position(name)[row + 1], x[k], atol=bound, rtol=0.0)
            assert_allclose(motion.orientation(name)[row + 1], q[k], atol=bound, rtol=0.0)
    assert np.linalg.norm(q[1] - start.orientation[1]) > 0.5  # it moves
