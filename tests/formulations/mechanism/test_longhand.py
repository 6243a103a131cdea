"""Longhand twin: small systems by SymPy, closed chains by one angle, and misprints of the paper."""

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose

from formulations.mechanism import rx, ry, rz, tx, tz
from formulations.mechanism.examples import scissor_configuration, scissor_lift

from . import longhand
from .closed_chains import four_bar, mechanism_of, rssr
from .twin import twin_of

EXACT = {"rtol": 1e-12, "atol": 1e-12}


# Small systems by SymPy: the Lagrangians are written down from the geometry, not from frames.

A, B, C, U, V, W = sympy.symbols("a b c u v w", real=True)
G = 9.81


def double_pendulum():
    """Two links in the x-z plane, l = 1.2 and 0.7, with masses and moments at their ends."""
    x1, z1 = 1.2 * sympy.sin(A), -1.2 * sympy.cos(A)
    x2, z2 = x1 + 0.7 * sympy.sin(A + B), z1 - 0.7 * sympy.cos(A + B)
    T = moving(1.5, x1, z1) + moving(0.8, x2, z2) + 0.3 / 2 * U**2 + 0.2 / 2 * (U + V) ** 2
    potential = G * (1.5 * z1 + 0.8 * z2)
    # Turning about −y, as x grows with the angle.
    frames = [ry("a", tz(-1.2, ry("b", tz(-0.7, mass=(0.8, 0, 0.2, 0))), mass=(1.5, 0, 0.3, 0)))]
    return frames, T - potential, (A, B), (-1.0, -1.0)


def spherical_pendulum():
    x, y, z = -0.9 * sympy.sin(B), 0.9 * sympy.cos(B) * sympy.sin(A), -0.9 * sympy.cos(B) * sympy.cos(A)
    return [rx("a", ry("b", tz(-0.9, mass=1.3)))], moving(1.3, x, y, z) - 1.3 * G * z, (A, B), (1.0, 1.0)


def cart():
    """A cart on a rail along x, with a spring to the origin, and a pendulum on it that also turns about z."""
    x, y, z = A + 0.5 * sympy.sin(B) * sympy.cos(C), 0.5 * sympy.sin(B) * sympy.sin(C), -0.5 * sympy.cos(B)
    T = 2.0 / 2 * U**2 + moving(0.4, x, y, z)
    V = 0.4 * G * z + 30.0 / 2 * (sympy.sqrt(A**2) - 0.1) ** 2
    return [tx("a", rz("c", ry("b", tz(-0.5, mass=0.4))), mass=2.0, name="cart")], T - V, (A, C, B), (1.0, 1.0, -1.0)


def moving(mass, *place):
    rates = {A: U, B: V, C: W}
    speeds = [sum(x.diff(q) * rates[q] for q in rates) for x in place]
    return mass / 2 * sum(speed**2 for speed in speeds)


@pytest.mark.parametrize("make", [double_pendulum, spherical_pendulum, cart])
def test_small_systems_against_sympy(make):
    """L and all derivatives, and the accelerations (29)."""
    frames, lagrangian, coordinates, signs = make()
    rates = [{A: U, B: V, C: W}[q] for q in coordinates]
    found = longhand.System(longhand.Tree(frames)).with_gravity((0.0, 0.0, -G))
    if "cart" in found.tree.names:
        found.potentials.append(longhand.between(found.tree.names["cart"], -1, *longhand.spring(30.0, 0.1)))
    rng, signs = np.random.default_rng(3), np.array(signs)
    n = len(coordinates)
    q, v = rng.uniform(0.2, 1.2, n), rng.normal(size=n)
    values = dict(zip([*coordinates, *rates], [*q, *v], strict=True))

    def number(expression):
        return np.array(sympy.Matrix(expression).subs(values), dtype=float)

    L_q, L_v = sympy.Matrix([lagrangian]).jacobian(coordinates), sympy.Matrix([lagrangian]).jacobian(rates)
    L_qv, L_vv = L_q.jacobian(rates), L_v.jacobian(rates)
    found.tree.set(signs * q, signs * v)
    D = np.diag(signs)
    assert_allclose(found.L(), float(lagrangian.subs(values)), rtol=1e-12)
    assert_allclose(signs * found.L_q(), number(L_q)[0], **EXACT)
    assert_allclose(signs * found.L_v(), number(L_v)[0], **EXACT)
    assert_allclose(D @ found.L_qq() @ D, number(L_q.jacobian(coordinates)), **EXACT)
    assert_allclose(D @ found.L_qv() @ D, number(L_qv), **EXACT)
    assert_allclose(D @ found.L_vv() @ D, number(L_vv), **EXACT)
    expected = np.linalg.solve(number(L_vv), number(L_q)[0] - number(L_qv).T @ v)
    assert_allclose(signs * found.accelerations(signs * q, signs * v)[0], expected, **EXACT)


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_the_lifts_lagrangian_has_a_quarter_of_the_sine(segments):
    """Kinetic energy of the scissor lift at θ̇ = 1 from its frames: ¼ sin² θ, and I outside of m_L L²."""
    theta, m, J, L, m_s = 0.4, 1.0, 1.7, 2.0, 0.6
    lift = scissor_lift(segments, length=L, mass=m, inertia=J, slider=m_s)
    here, there = (scissor_configuration(segments, angle, length=L) for angle in (theta, theta + 1.0))
    turning = {name: there[name] - here[name] for name in here}  # all but the slider go evenly
    q, v = lift.configuration(here), lift.rates(turning | {"slider": -L * np.sin(theta)})
    system = twin_of(lift)
    system.tree.set(q, v)
    assert_allclose(system.h(), 0.0, atol=1e-13)
    assert_allclose(system.Dh() @ v, 0.0, atol=1e-13)

    def energy(part, outside):
        links = sum(
            m * L**2 * ((0.5 - n) ** 2 * np.cos(theta) ** 2 + part * np.sin(theta) ** 2 + (0.0 if outside else J))
            + (J if outside else 0.0)
            for n in range(1, segments + 1)
        )
        return links + 0.5 * m_s * L**2 * np.sin(theta) ** 2

    assert_allclose(system.kinetic_energy(), energy(0.25, True), rtol=1e-12)
    assert abs(energy(0.5, True) / system.kinetic_energy() - 1.0) > 1e-3
    assert abs(energy(0.25, False) / system.kinetic_energy() - 1.0) > 0.1


def test_springs_dampers_and_gears_of_variables():
    found = longhand.System(longhand.Tree([rx("a", mass=(1.0, 2.0, 1.0, 1.0)), rx("b", mass=(1.0, 0.5, 1.0, 1.0))]))
    found.potentials, found.forces = (
        [longhand.of_variable(0, *longhand.spring(3.0, 0.1))],
        [longhand.JointForce(0, damping=0.4)],
    )
    found.constraints = [longhand.affine({0: 2.0, 1: -1.0})]  # b = 2 a
    acceleration, multiplier = found.accelerations(np.array([0.3, 0.6]), np.array([1.0, 2.0]))
    # (2 + 4 · 0.5) ä = −3 (0.3 − 0.1) − 0.4
    assert_allclose(acceleration, [-0.25, -0.5], rtol=1e-13)
    assert_allclose(multiplier, [-0.5 * acceleration[1]], rtol=1e-13)  # 0.5 b̈ = −λ


@pytest.mark.parametrize("make", [four_bar, rssr])
def test_closed_chains_accelerate_as_with_one_coordinate(make):
    """(36a, b) against a Lagrangian of one angle, whose loops trigonometry closes."""
    chain = make()
    found = twin_of(mechanism_of(chain))
    theta, rate = chain.start + 0.3, 1.3
    configuration, rates = chain.configuration(theta), chain.rates(theta, rate)
    q, v = (np.array([values[name] for name in found.tree.variables]) for values in (configuration, rates))
    acceleration, _ = found.accelerations(q, v)
    assert_allclose(found.h(), 0.0, atol=1e-13)
    assert_allclose(found.Dh() @ v, 0.0, atol=1e-13)
    assert_allclose(acceleration[0], chain.acceleration(theta, rate), rtol=1e-11)
