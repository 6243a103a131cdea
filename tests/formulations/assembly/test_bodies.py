"""Free bodies: the discrete body against its twin in momenta, what it keeps, and where it starts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.kernels.variational.free_body import fly
from biped.model.geometry import quaternion_matrix
from formulations.assembly import Assembly, Placement

from .random_assemblies import random_body, random_unit

STEP = 0.01


def thrown(seed, bodies=3, spin=4.0):
    rng = np.random.default_rng(seed)
    assembly = Assembly("thrown", tuple(random_body(rng, f"body_{k}") for k in range(bodies)))
    orientation = np.array([random_unit(rng, 4) for _ in range(bodies)])
    velocity = rng.normal(size=(bodies, 6)) * np.array([3.0] * 3 + [spin] * 3)
    return assembly, Placement(rng.normal(size=(bodies, 3)), orientation, velocity)


def momenta(assembly, motion, row):
    """(n, 6) [N·s, N·m·s] about centres of mass, world axes."""
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
    """To rounding: its momentum moves on the ellipsoid of the continuous body's, as that of Moser and Veselov does."""
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
