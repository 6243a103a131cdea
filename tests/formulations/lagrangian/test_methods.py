"""Methods against the papers: recurrences, equivalences, orders."""

import numpy as np
import pytest
import sympy

from biped.kernels.variational.free_body import fly
from formulations.lagrangian import System, rate, rigid_body

from . import conftest

TRIPLE_JUMP = (1 / (2 - 2 ** (1 / 3)), -(2 ** (1 / 3)) / (2 - 2 ** (1 / 3)), 1 / (2 - 2 ** (1 / 3)))
x, y = sympy.symbols("x y", real=True)


def dsp_angles(q):
    """Return (a1, b1, a2, b2) of a configuration."""
    found = []
    for rod in (q[:3], q[3:] - q[:3]):
        found += [np.arctan2(rod[0], -rod[2]), np.arcsin(rod[1] / np.linalg.norm(rod))]
    return np.array(found)


def dsp_rates(q, v):
    """Return the rates of these angles, by central differences along a straight line through q."""
    return (dsp_angles(q + 1e-6 * v) - dsp_angles(q - 1e-6 * v)) / 2e-6


def test_on_a_quadratic_potential_it_is_the_three_point_recurrence():
    """(2.30): M (v₂ − 2 v₁ + v₀)/h² + K (v₂ + 2 v₁ + v₀)/4 = 0."""
    a, b = sympy.symbols("a b", real=True)
    M, K = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[3.0, -1.0], [-1.0, 2.0]])
    x = sympy.Matrix([a, b])
    system = System(coordinates=(a, b), mass=M.tolist(), potential=(x.T * sympy.Matrix(K.tolist()) * x)[0] / 2)
    h = 0.1
    q = system.integrate("midpoint-dvp", [1.0, -0.5], [0.3, 0.7], step=h, duration=20.0).frame[["a", "b"]].to_numpy()
    second, mean = q[2:] - 2.0 * q[1:-1] + q[:-2], (q[2:] + 2.0 * q[1:-1] + q[:-2]) / 4.0
    np.testing.assert_allclose(second @ M / h**2, -mean @ K, atol=1e-11)


def test_the_printed_pendulum_recurrence_holds(dsp):
    """(2.55), with the multipliers that are reported."""
    h = 0.02
    run = dsp.integrate("midpoint-dvp", *conftest.dsp_start(), step=h, duration=2.0)
    q, held = run.frame[conftest.DSP].to_numpy(), run.multipliers[["multiplier_1", "multiplier_2"]].to_numpy()
    m, down = np.array([2.0] * 3 + [3.5] * 3), np.array([0, 0, 1.0] * 2)
    rod = q[:, 3:] - q[:, :3]
    slope = 2 * np.stack([np.hstack([q[:, :3], 0 * rod]), np.hstack([-rod, rod])], axis=1)
    push = np.einsum("kc,kcj->kj", held[1:], slope[1:-1])
    left = m * (q[2:] - 2 * q[1:-1] + q[:-2]) / h + h * 9.81 * m * down - h * push
    assert np.abs(left).max() < 1e-11
    np.testing.assert_allclose(run.multipliers["time"], run.frame["time"][:-1])


def test_the_printed_energy_momentum_algorithm_holds(dsp):
    """After (2.55), with λ there = −h λ here."""
    h = 0.05
    run = dsp.integrate("energy-momentum", *conftest.dsp_start(), step=h, duration=2.0)
    q, p = run.frame[conftest.DSP].to_numpy(), run.frame[[f"p_{name}" for name in conftest.DSP]].to_numpy()
    held = -h * run.multipliers[["multiplier_1", "multiplier_2"]].to_numpy()
    m, down = np.array([2.0] * 3 + [3.5] * 3), np.array([0, 0, 1.0] * 2)
    total = q[1:] + q[:-1]
    one, two = total[:, :3], total[:, 3:]
    np.testing.assert_allclose(q[1:] - q[:-1], h * (p[1:] + p[:-1]) / 2 / m, atol=1e-13)
    left = p[1:] - p[:-1] + h * 9.81 * m * down
    left += held[:, :1] * np.hstack([one, 0 * one]) + held[:, 1:] * np.hstack([one - two, two - one])
    assert np.abs(left).max() < 1e-11


@pytest.mark.parametrize("name", ["midpoint-dvp", "first-order-dvp", "shake", "rattle", "energy-momentum"])
def test_multipliers_are_forces(name):
    """At rest a pendulum's constraint carries its weight: Dᵀg λ = 2 z λ = m g."""
    run = conftest.pendulum().integrate(name, [0.0, -1.5], [0.0, 0.0], step=0.01, duration=0.1)
    held = run.multipliers["multiplier_1"].to_numpy()
    np.testing.assert_allclose(held[1:], -2.0 * 9.81 / 3.0, rtol=1e-12)
    halved = name in ("midpoint-dvp", "shake")
    if name != "first-order-dvp":  # whose momentum has all of the first step's weight
        assert held[0] == pytest.approx(held[1] * (0.5 if halved else 1.0), rel=1e-12)


def test_shake_is_the_first_order_discrete_lagrangian_in_two_step_form(dsp):
    """2.3.1: (2.45) reproduces SHAKE where the mass matrix is constant, and Verlet without constraints."""
    q0, v0 = conftest.dsp_start()
    q1 = dsp.integrate("shake", q0, v0, step=0.01, duration=0.01).frame[conftest.DSP].to_numpy()[-1]
    shake = dsp.integrate("shake", q0, q1=q1, step=0.01, duration=2.0).frame
    first = dsp.integrate("first-order-dvp", q0, q1=q1, step=0.01, duration=2.0).frame
    np.testing.assert_allclose(shake[conftest.DSP], first[conftest.DSP], atol=1e-11)


def test_shake_and_rattle_move_alike_but_for_the_hidden_constraints(dsp):
    shake, rattle = (
        dsp.integrate(name, *conftest.dsp_start(), step=0.01, duration=2.0).frame for name in ("shake", "rattle")
    )
    np.testing.assert_allclose(shake[conftest.DSP], rattle[conftest.DSP], atol=1e-11)
    np.testing.assert_allclose(shake["v_y2"], rattle["v_y2"], atol=1e-11)  # SHAKE's are projected to be shown


def test_a_start_from_two_positions_is_the_same_motion(dsp):
    whole = dsp.integrate("midpoint-dvp", *conftest.dsp_start(), step=0.01, duration=1.0).frame
    q = whole[conftest.DSP].to_numpy()
    again = dsp.integrate("midpoint-dvp", q[0], q1=q[1], step=0.01, duration=1.0, every=4).frame
    np.testing.assert_allclose(again[conftest.DSP], q[::4], atol=1e-11)
    np.testing.assert_allclose(again["energy"], whole["energy"][::4], atol=1e-9)


@pytest.mark.slow
def test_theorem_2_1_on_the_double_spherical_pendulum(dsp):
    q0, v0 = conftest.dsp_start()
    held = dsp.integrate("midpoint-dvp", q0, v0, step=0.01, duration=3.0).frame
    q1 = held[conftest.DSP].to_numpy()[1]
    free = dsp.integrate("generalized-dvp", dsp_angles(q0), q1=dsp_angles(q1), step=0.01, duration=3.0).frame
    np.testing.assert_allclose(free[conftest.DSP], held[conftest.DSP], atol=1e-10)
    from_rates = dsp.integrate("generalized-dvp", dsp_angles(q0), dsp_rates(q0, v0), step=0.01, duration=1.0).frame
    np.testing.assert_allclose(from_rates[conftest.DSP], held[conftest.DSP][: len(from_rates)], atol=1e-7)


@pytest.mark.slow
def test_theorem_2_1_on_the_rigid_body(body):
    q0, v0 = conftest.BODY_START
    held = body.integrate("midpoint-dvp", q0, v0, step=0.01, duration=0.3).frame
    free = body.integrate("generalized-dvp", q0[1:], v0[1:], step=0.01, duration=0.3).frame
    np.testing.assert_allclose(free[conftest.QUATERNION], held[conftest.QUATERNION], atol=1e-10)


def test_theorem_2_1_with_forces():
    system, angle, turning = conftest.pendulum(0.5), 0.8, 0.4
    q0 = 1.5 * np.array([np.sin(angle), -np.cos(angle)])
    v0 = 1.5 * turning * np.array([np.cos(angle), np.sin(angle)])
    held = system.integrate("midpoint-dvp", q0, v0, step=0.02, duration=4.0).frame
    free = system.integrate("generalized-dvp", [angle], [turning], step=0.02, duration=4.0).frame
    np.testing.assert_allclose(free[["x", "z"]], held[["x", "z"]], atol=1e-10)


@pytest.mark.slow
def test_what_the_discrete_lagrangian_is_off_the_constraint_does_not_matter(body):
    """2.4.1: (2.51) in place of (2.23)."""
    from dataclasses import replace

    plain = replace(body, discrete_lagrangian=None)
    ours, other = (
        s.integrate("midpoint-dvp", *conftest.BODY_START, step=0.02, duration=2.0).frame for s in (body, plain)
    )
    np.testing.assert_allclose(ours[conftest.QUATERNION], other[conftest.QUATERNION], atol=1e-12)


def test_the_rigid_body_is_the_discrete_body_of_the_trees():
    rng = np.random.default_rng(3)
    a = rng.normal(size=(3, 3))
    J = a @ a.T + 3.0 * np.eye(3)
    q0, omega = conftest.BODY_START[0], np.array([0.4, -1.0, 2.0])
    h, steps = 0.02, 200
    run = rigid_body(J.tolist()).integrate("midpoint-dvp", q0, [0.0, *(omega / 2)], step=h, duration=h * steps)
    state = np.array([0, 0, 0, *q0, 0, 0, 0, *(J @ omega)], dtype=float)
    flown = [state[3:7].copy()]
    for _ in range(steps):
        assert fly(state, 1.0, tuple(J.ravel()), (0.0, 0.0, 0.0), h)
        flown.append(state[3:7].copy())
    np.testing.assert_allclose(run.frame[conftest.QUATERNION], flown, atol=1e-13)
    momenta = run.frame[[f"angular_momentum_{axis}" for axis in "xyz"]]
    np.testing.assert_allclose(momenta, np.tile(J @ omega, (steps + 1, 1)), atol=1e-12)


def slope(system, method, columns, start, steps, reference, duration, **how):
    fine = system.integrate(*reference, step=steps[-1] / 50, duration=duration, every=50, **how).frame
    exact = fine[columns].to_numpy()[-1]
    frames = [system.integrate(method, *start, step=h, duration=duration, **how).frame[columns] for h in steps]
    errors = [np.linalg.norm(frame.to_numpy()[-1] - exact) for frame in frames]
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


STEPS = (0.01, 0.005, 0.0025, 0.00125)


def dsp_start_in(name):
    q0, v0 = conftest.dsp_start()
    return (dsp_angles(q0), dsp_rates(q0, v0)) if name == "generalized-dvp" else (q0, v0)


@pytest.mark.parametrize("name", ["midpoint-dvp", "shake", "rattle", "energy-momentum", "generalized-dvp"])
def test_second_order_on_the_pendulum(dsp, name):
    start = dsp_start_in(name)
    assert slope(dsp, name, conftest.DSP, start, STEPS, (name, *start), 1.0) == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("name", ["midpoint-dvp", "rigid-energy-momentum"])
def test_second_order_on_the_rigid_body(body, name):
    found = slope(
        body, name, conftest.QUATERNION, conftest.BODY_START, STEPS, ("midpoint-dvp", *conftest.BODY_START), 2.0
    )
    assert found == pytest.approx(2.0, abs=0.05)


@pytest.mark.slow
def test_the_first_order_variant_is_one_for_a_mass_that_is_not_constant():
    """2.3.5."""
    system, start = conftest.kepler_in_polar_coordinates(), ([1.0, 0.0], [0.1, 0.8])
    steps = (0.002, 0.001, 0.0005, 0.00025)
    found = slope(system, "first-order-dvp", ["r", "phi"], start, steps, ("midpoint-dvp", *start), 1.0)
    assert found == pytest.approx(1.0, abs=0.05)
    found = slope(system, "midpoint-dvp", ["r", "phi"], start, STEPS, ("midpoint-dvp", *start), 1.0)
    assert found == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("name", ["midpoint-dvp", "rattle", "energy-momentum"])
def test_a_symmetric_composition_raises_the_order(dsp, name):
    """Yoshida 1990: the triple jump."""
    start, steps = conftest.dsp_start(), (0.02, 0.01, 0.005)
    found = slope(dsp, name, conftest.DSP, start, steps, (name, *start), 1.0, composition=TRIPLE_JUMP)
    assert found == pytest.approx(4.0, abs=0.15)


SLOW = [pytest.param(make, marks=pytest.mark.slow) for make in (conftest.quartic, conftest.crystal)]


@pytest.mark.parametrize("make", [conftest.kepler, *SLOW])
def test_discrete_gradients_are_second_order_too(make):
    system = make()
    start = ([1.0, 0.2, -0.1][: system.size], [0.1, 0.9, 0.5][: system.size])
    columns = [symbol.name for symbol in system.coordinates]
    found = slope(system, "energy-momentum", columns, start, STEPS, ("midpoint-dvp", *start), 1.0)
    assert found == pytest.approx(2.0, abs=0.05)


@pytest.mark.slow
def test_a_force_that_is_one_of_a_potential_is_that_of_the_potential():
    """5.1: it would be recovered."""
    x = sympy.Symbol("x", real=True)
    potential = System(coordinates=(x,), mass=(1,), potential=x**4)
    force = System(coordinates=(x,), mass=(1,), forces=[-4 * x**3])
    for name in ("midpoint-dvp", "rattle"):
        one, other = (s.integrate(name, [1.0], [0.5], step=0.05, duration=2.0).frame for s in (potential, force))
        np.testing.assert_allclose(one[["x", "v_x"]], other[["x", "v_x"]], atol=1e-12)


def test_a_mass_that_rates_do_not_enter_quadratically():
    """A relativistic mass: L = −√(1 − v²) − x²/2; the energy is γ + x²/2, the momentum γ v."""
    x = sympy.Symbol("x", real=True)
    system = System(coordinates=(x,), lagrangian=-sympy.sqrt(1 - rate(x) ** 2) - x**2 / 2)
    frame = system.integrate("midpoint-dvp", [1.0], [0.6], step=0.01, duration=5.0).frame
    np.testing.assert_allclose(frame["p_x"], frame["v_x"] / np.sqrt(1 - frame["v_x"] ** 2), rtol=1e-12)
    np.testing.assert_allclose(frame["energy"], 1.25 + 0.5, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["h", "x_0"])
def test_names_of_parameters_mean_nothing_to_a_discrete_lagrangian(name):
    def end(stiffness):
        system = System(
            coordinates=(x,), mass=(1,), potential=stiffness * x**2 / 2, discrete_lagrangian=lambda b, a,
            h: (b[0] - a[0]) ** 2 / (2 * h**2) - stiffness * (b[0] + a[0]) ** 2 / 8, parameters={stiffness: 4.0},
        )  # fmt: skip
        return system.integrate("midpoint-dvp", [1.0], [0.0], step=0.01, duration=1.0).frame["x"].iloc[-1]

    assert end(sympy.Symbol(name, real=True)) == end(sympy.Symbol("stiffness", real=True))
    assert end(sympy.Symbol(name, real=True)) == pytest.approx(np.cos(2.0), abs=1e-4)


@pytest.mark.parametrize("name", ["q_0"])
def test_names_of_invariants_mean_nothing(name):
    square = sympy.Symbol(name, real=True)
    system = System(
        coordinates=(x, y), mass=(1, 1), potential=0.3 * x - 1 / sympy.sqrt(square), invariants={square: x**2 + y**2},
    )  # fmt: skip
    energy = system.integrate("energy-momentum", [1.0, 0.0], [0.0, 0.9], step=0.01, duration=1.0).frame["energy"]
    assert np.ptp(energy) < 1e-12
