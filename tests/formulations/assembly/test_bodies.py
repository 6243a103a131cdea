"""Free bodies: the discrete body against its twin in momenta, conservation, and its start."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.kernels.variational.free_body import fly
from biped.model.geometry import quaternion_matrix
from formulations.assembly import Assembly, Placement, RigidBody, joint

from .random_assemblies import random_body, random_unit

STEP = 0.01


def thrown(seed, bodies=3, spin=4.0):
    rng = np.random.default_rng(seed)
    assembly = Assembly("thrown", tuple(random_body(rng, f"body_{k}") for k in range(bodies)))
    orientation = np.array([random_unit(rng, 4) for _ in range(bodies)])
    velocity = rng.normal(size=(bodies, 6)) * np.array([3.0] * 3 + [spin] * 3)
    return assembly, Placement(rng.normal(size=(bodies, 3)), orientation, velocity)


def momenta(assembly, motion, row):
    """Return the momenta (n, 6) [N·s, N·m·s] about centres of mass, world axes."""
    found = []
    for body in assembly.bodies:
        R = quaternion_matrix(motion.orientation(body.name)[row])
        v = motion.velocity(body.name)[row]
        found.append(np.concatenate([body.mass * v[:3], R @ np.array(body.inertia) @ R.T @ v[3:]]))
    return np.array(found)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_body_flies_as_the_one_written_in_momenta(seed):
    """``free_body.fly`` solves the same discrete body by itself; gravity by halves is gravity at the nodes."""
    assembly, start = thrown(seed)
    motion = assembly.simulate(1.0, STEP, start, tolerance=1e-14)
    for i, body in enumerate(assembly.bodies):
        R = quaternion_matrix(start.orientation[i])
        inertia = R @ np.array(body.inertia) @ R.T
        state = np.concatenate([
            start.position[i], start.orientation[i], body.mass * start.velocity[i, :3], inertia @ start.velocity[i, 3:],
        ])  # fmt: skip
        for _ in range(100):
            assert fly(state, body.mass, tuple(np.array(body.inertia).ravel()), assembly.gravity, STEP)
        assert_allclose(motion.position(body.name)[-1], state[:3], atol=1e-11)
        q = motion.orientation(body.name)[-1]
        assert_allclose(q * np.sign(q @ state[3:7]), state[3:7], atol=1e-10)


def test_momenta_of_free_bodies_are_kept():
    assembly, start = thrown(5, spin=10.0)
    motion = assembly.simulate(2.0, STEP, start, tolerance=1e-14)
    first, last = momenta(assembly, motion, 0), momenta(assembly, motion, -1)
    assert_allclose(last[:, 3:], first[:, 3:], atol=1e-11)
    fallen = np.array([[0.0, 0.0, -2.0 * 9.81 * body.mass] for body in assembly.bodies])
    assert_allclose(last[:, :3], first[:, :3] + fallen, atol=1e-10)


def test_positions_fall_on_the_parabola_of_order_2_and_beside_it_of_order_1():
    """Störmer and Verlet's positions are exact in a constant field; symplectic Euler's are h t g/2 lower."""
    assembly, start = thrown(6, bodies=1)
    t = 1.0
    exact = start.position[0] + start.velocity[0, :3] * t - np.array([0.0, 0.0, 0.5 * 9.81 * t * t])
    second = assembly.simulate(t, STEP, start)
    assert_allclose(second.position("body_0")[-1], exact, atol=1e-12)
    first = assembly.simulate(t, STEP, start, order=1)
    assert_allclose(first.position("body_0")[-1], exact - [0.0, 0.0, 0.5 * 9.81 * STEP * t], atol=1e-12)


def test_a_tumbling_body_keeps_its_energy():
    """Energy is constant to rounding: the momentum stays on the continuous body's ellipsoid (Moser, Veselov)."""
    assembly, start = thrown(7, bodies=1, spin=5.0)
    assembly = Assembly("weightless", assembly.bodies, gravity=(0.0, 0.0, 0.0))
    motion = assembly.simulate(20.0, 0.02, start, tolerance=1e-14)
    energy = motion.frame["energy"].to_numpy()
    assert np.ptp(energy) < 1e-10 * energy[0]
    assert np.ptp(motion.velocity("body_0")[:, 3:], axis=0).max() > 0.3  # it does tumble


def test_a_run_is_the_same_bit_for_bit_again():
    assembly, start = thrown(8)
    one, two = (assembly.simulate(0.5, STEP, start).frame for _ in range(2))
    assert one.equals(two)


LONG_STEP, STEPS, WEIGHT = 0.02, 30, 9.81
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
    """Return g(z): a's hook at the origin, coincident hinge points, and b's axis across two directions of a."""
    axis = turned(q[1], AXIS)
    return np.concatenate([
        x[0] + turned(q[0], HOOK),
        x[0] + turned(q[0], INNER) - x[1] - turned(q[1], OUTER),
        [turned(q[0], across) @ axis for across in ACROSS],
    ])  # fmt: skip


def derivatives(function, at):
    """Return derivatives by complex steps: exact to rounding, since all functions are algebraic."""
    return np.stack([function(at + 1e-30j * one).imag / 1e-30 for one in np.eye(len(at))], axis=1)


def gradient(x, q):
    """Return the gradient (21) (8, 2, 6): by positions, and by quaternions times L(q) Vᵀ."""
    by_place = derivatives(lambda flat: constraints(flat.reshape(2, 3), q.astype(complex)), x.ravel())
    by_turn = derivatives(lambda flat: constraints(x.astype(complex), flat.reshape(2, 4)), q.ravel())
    rotational = [by_turn[:, 4 * k : 4 * k + 4] @ left(q[k])[:, 1:] for k in range(2)]
    return np.stack([np.hstack([by_place[:, 3 * k : 3 * k + 3], rotational[k]]) for k in range(2)], axis=1)


def after(x, q, v, omega):
    """Return the next poses, (11) and (17)."""
    whole = [np.concatenate([[np.sqrt((2.0 / LONG_STEP) ** 2 - w @ w)], w]) for w in omega]
    return x + LONG_STEP * v, np.stack([0.5 * LONG_STEP * left(q[k]) @ whole[k] for k in range(2)])


def spin(omega, k, sign):
    """Return J ω √(4/Δt² − ωᵀω) ± ω × J ω of (16)."""
    momentum = INERTIA[k] @ omega
    return momentum * np.sqrt(4.0 / LONG_STEP**2 - omega @ omega) + sign * left((0.0, *omega))[1:, 1:] @ momentum


def solved(x, q, before, share):
    """Solve (20a, b) by Newton's method; return velocities (2, 6); ``share``: part of the weight."""
    held = gradient(x, q)

    def equations(unknown):
        motion, pull = unknown[:12].reshape(2, 6), unknown[12:]
        rows = []
        for k in range(2):
            fall = MASS[k] * ((motion[k, :3] - before[k, :3]) / LONG_STEP + share * np.array([0.0, 0.0, WEIGHT]))
            turn = spin(motion[k, 3:], k, 1.0) - spin(before[k, 3:], k, -1.0)
            rows.append(np.concatenate([fall, turn]) - held[:, k].T @ pull)
        return np.concatenate([*rows, constraints(*after(x, q, motion[:, :3], motion[:, 3:])) / LONG_STEP])

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
    motion = assembly.simulate(STEPS * LONG_STEP, LONG_STEP, start, order=order, tolerance=tolerance)
    x, q, velocity = start.position, start.orientation, np.zeros((2, 6))
    least = min(np.linalg.eigvalsh(inertia)[0] for inertia in INERTIA)
    bound = STEPS**2 * LONG_STEP * tolerance / least + 1e-12
    for row in range(STEPS):
        velocity = solved(x, q, velocity, 0.5 if row == 0 and order == 2 else 1.0)
        x, q = after(x, q, velocity[:, :3], velocity[:, 3:])
        for k, name in enumerate("ab"):
            assert_allclose(motion.position(name)[row + 1], x[k], atol=bound, rtol=0.0)
            assert_allclose(motion.orientation(name)[row + 1], q[k], atol=bound, rtol=0.0)
    assert np.linalg.norm(q[1] - start.orientation[1]) > 0.5  # it moves
