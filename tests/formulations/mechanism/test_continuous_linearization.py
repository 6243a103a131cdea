"""Exact derivatives of the continuous dynamics: differences on random mechanisms, SymPy, the limit of a step's."""

import numpy as np
import pytest
import sympy as sp

from biped.model.errors import ModelError
from formulations import mechanism as mech
from formulations.mechanism import rx, ry, rz, tx, tz
from tests.differences import jacobian

from .random_frames import random_mechanism, tangent_rates
from .test_custom import START, OwnDamper, OwnRod, OwnSpring, arms
from .test_linearization import Random

TIME = 0.3
REACHES = (2e-4,)


def shafts() -> mech.Mechanism:
    """A cam, a gear and a string of a length that is given, on a leaning base that is given too."""
    follower = tz("lift", tx(0.3, name="follower", mass=(2.0, 0.1, 0.2, 0.3)))
    shaft = rz("theta", tx(0.1, mass=(1.0, 0.03, 0.03, 0.05)), follower)
    geared = rx("geared", tz(-0.4, ry("swing", tz(-0.6, name="bob", mass=0.7)), mass=(0.5, 0.1, 0.1, 0.2)))
    hung = tx(1.5, rx("p", ry("r", tz(-1.0, name="hung", mass=0.4))), tx(mech.kinematic("string")))
    return mech.Mechanism(
        "shafts", [ry(mech.kinematic("base"), shaft, geared, hung)],
        potentials=[mech.LinearSpring("follower", "bob", 7.0, 0.3)],
        constraints=[mech.Cam("theta", "lift", (0.1, -0.02), (0.03, 0.01), 0.2), mech.Gear("theta", "geared", -1.5),
            mech.Distance("bob", "hung", "string")],
        forces=[mech.Torque("theta", 0.0), mech.Damper("swing", 0.2)],
    )  # fmt: skip


def at_random(system: mech.ContinuousMechanism, seed: int, q: np.ndarray) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([q, rng.normal(size=system.mechanism.size + system.inputs)])


def systems() -> list[tuple[mech.ContinuousMechanism, np.ndarray]]:
    found = []
    for seed in range(3):
        random = Random(seed)
        system = mech.ContinuousMechanism(random.system.mechanism, random.system.torques)
        found.append((system, at_random(system, seed, random.system.configuration_of(random.x))))
    system = mech.ContinuousMechanism(shafts())
    q = shafts().satisfy_constraints({"theta": 0.4, "r": 0.5, "string": 1.7, "base": 0.2})
    return [*found, (system, at_random(system, 3, q))]


def first(found: mech.ContinuousLinearization) -> np.ndarray:
    return np.block([[found.A, found.B], [found.multipliers_by_state, found.multipliers_by_input]])


@pytest.mark.parametrize("which", range(4))
def test_first_derivatives_are_those_that_differences_find(which: int) -> None:
    system, w = systems()[which]

    def values(w: np.ndarray) -> np.ndarray:
        found = system._solved(w[: system.states], w[system.states :], TIME)
        return np.concatenate([found.rate, found.multipliers])

    found = system.linearize(w[: system.states], w[system.states :], TIME)
    expected, exact = jacobian(values, w, *REACHES), first(found)
    n = system.mechanism.size
    for part in (slice(0, n), slice(n, 2 * n), slice(2 * n, None)):
        assert expected[part].departure(exact[part], 1e-9, alike=True) <= 1.0


def test_a_double_pendulum_is_that_of_symbols() -> None:
    """Lagrange's equations of two points, a damper and a torque, solved and differentiated by SymPy."""
    m1, m2, l1, l2, g, b = 1.2, 0.7, 0.8, 0.5, 9.81, 0.3
    lower = ry("lower", tz(-l2, mass=m2))
    mechanism = mech.Mechanism(
        "double", [ry("upper", tz(-l1, lower, mass=m1))], forces=[mech.Torque("lower", 0.0), mech.Damper("lower", b)]
    )
    q1, q2, v1, v2, u = x = sp.symbols("q1 q2 v1 v2 u")
    q, v = sp.Matrix([q1, q2]), sp.Matrix([v1, v2])
    elbow = -l1 * sp.Matrix([sp.sin(q1), sp.cos(q1)])
    tip = elbow - l2 * sp.Matrix([sp.sin(q1 + q2), sp.cos(q1 + q2)])
    energies = [(m, place.jacobian(q) * v, place[1]) for m, place in ((m1, elbow), (m2, tip))]
    L = sum(m * (rate.dot(rate) / 2 - g * height) for m, rate, height in energies)
    by_v = sp.Matrix([L]).jacobian(v)
    push = sp.Matrix([L]).jacobian(q).T + sp.Matrix([0, u - b * v2]) - by_v.jacobian(q) * v
    M = by_v.jacobian(v)
    rate = sp.Matrix([*v, *M.adjugate() * push / M.det()])
    numbers = [0.4, -0.9, 1.1, -0.6, 0.35]
    slopes = rate.jacobian(sp.Matrix(x))
    rates, expected = sp.lambdify(x, [rate, slopes], cse=True)(*numbers)
    found = mech.ContinuousMechanism(mechanism).linearize(np.array(numbers[:4]), np.array(numbers[4:]))
    np.testing.assert_allclose(found.rate, rates.ravel(), rtol=1e-13)
    np.testing.assert_allclose(np.hstack([found.A, found.B]), expected, rtol=1e-12, atol=1e-12)


def flow(system: mech.ContinuousMechanism, x: np.ndarray, u: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """X, and its derivatives by where it began and by u, after a time h, by the classical method in a quarter of it."""
    n, k, step = x.size, u.size, h / 4.0

    def slope(t: float, y: np.ndarray) -> np.ndarray:
        found = system.linearize(y[:, 0], u, TIME + t)
        carried = found.A @ y[:, 1:]
        carried[:, n:] += found.B
        return np.column_stack([found.rate, carried])

    y = np.column_stack([x, np.eye(n), np.zeros((n, k))])
    for i in range(4):
        t = i * step
        one = slope(t, y)
        two = slope(t + 0.5 * step, y + 0.5 * step * one)
        three = slope(t + 0.5 * step, y + 0.5 * step * two)
        four = slope(t + step, y + step * three)
        y = y + step / 6.0 * (one + 2.0 * two + 2.0 * three + four)
    return y[:, 0], y[:, 1:]


def by_momenta(mechanism: mech.Mechanism, x: np.ndarray) -> np.ndarray:
    """(2 n, 2 n) from changes of (q, v) to those of (q, p)."""
    n = mechanism.size
    found = np.eye(2 * n)
    found[n:] = jacobian(lambda x: mechanism.momentum(x[:n], x[n:]), x, 1e-3).value
    return found


STEPS = np.array([0.02, 0.01, 0.005])


def order_of(errors: list[float]) -> float:
    return float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0])


def test_a_step_of_the_variational_integrator_has_their_derivatives_in_the_limit() -> None:
    """Of one step to h², as the midpoint rule's own error is of the third order: A, B in (q, p)."""
    mechanism, q = random_mechanism(5, loops=0)
    system, n = mech.ContinuousMechanism(mechanism), mechanism.size
    x, u = np.concatenate([q, np.random.default_rng(5).normal(size=n)]), np.array([0.4, -0.2])
    errors = []
    for h in STEPS:
        end, carried = flow(system, x, u, h)
        after, before = by_momenta(mechanism, end), by_momenta(mechanism, x)
        expected = after @ carried
        expected[:, : 2 * n] = expected[:, : 2 * n] @ np.linalg.inv(before)
        discrete = mech.DiscreteMechanism(mechanism, h)
        found = discrete.linearize(discrete.state(q, x[n:]), u, TIME)
        errors.append(np.abs(np.hstack([found.A, found.B]) - expected).max())
    assert order_of(errors) == pytest.approx(3.0, abs=0.15)


def test_so_has_one_on_constraints() -> None:
    mechanism, q = random_mechanism(2, loops=2)
    system, n = mech.ContinuousMechanism(mechanism), mechanism.size
    v = tangent_rates(mechanism, q, np.random.default_rng(2).normal(size=n))
    x, u = np.concatenate([q, v]), np.array([0.4, -0.2])
    held = jacobian(
        lambda x: np.concatenate([mechanism.constraint_values(x[:n]), mechanism.constraint_jacobian(x[:n]) @ x[n:]]),
        x, 1e-3,
    ).value  # fmt: skip
    along = np.linalg.svd(held)[2][len(held) :].T
    errors = []
    for h in STEPS:
        _, carried = flow(system, x, u, h)
        discrete = mech.DiscreteMechanism(mechanism, h)
        found = discrete.linearize(discrete.state(q, v), u, TIME)
        expected = np.hstack([carried[:n, : 2 * n] @ along, carried[:n, 2 * n :]])
        ours = np.hstack([found.A[:n] @ by_momenta(mechanism, x) @ along, found.B[:n]])
        errors.append(np.abs(ours - expected).max())
    assert order_of(errors) == pytest.approx(3.0, abs=0.15)


def test_components_of_ones_own_are_those_of_the_built_in_ones() -> None:
    place = arms().frame
    length = float(np.linalg.norm(place("left").position(START) - place("right").position(START)))
    own = arms(
        constraints=[OwnRod("left", "right", length)],
        potentials=[OwnSpring("left", "right", 30.0, 0.4)],
        forces=[OwnDamper("left", "b", 0.3, 0.0)],
    )
    built_in = arms(
        constraints=[mech.Distance("left", "right", length)],
        potentials=[mech.LinearSpring("left", "right", 30.0, 0.4)],
        forces=[mech.Damper("b", 0.3)],
    )
    x = np.array([*own.configuration(START), 0.5, -1.0, 0.8])
    found, expected = (mech.ContinuousMechanism(one).linearize(x, []) for one in (own, built_in))
    scale = np.abs(first(expected)).max()
    np.testing.assert_allclose(first(found), first(expected), rtol=0.0, atol=1e-8 * scale)


def test_states_and_inputs_have_names() -> None:
    system = mech.ContinuousMechanism(shafts())
    assert system.state_names[:2] == ("base", "theta")
    assert system.state_names[system.mechanism.size] == "rate_base"
    assert system.input_names == ("torque_theta", "acceleration_base", "acceleration_string")
    assert (system.states, system.inputs) == (16, 3)


def test_what_cannot_be_is_refused() -> None:
    system = mech.ContinuousMechanism(shafts())
    with pytest.raises(mech.MechanismError, match=r"u has shape \(2,\)"):
        system.linearize(system.state(), [0.0, 0.0])
    with pytest.raises(ModelError, match="torque"):
        mech.ContinuousMechanism(shafts(), ["swing"])
    folded = mech.Mechanism("folded", [rz("a", ry("b", tz(-1.0, mass=1.0)))])
    with pytest.raises(mech.MechanismError, match="'a' moves no mass"):
        mech.ContinuousMechanism(folded).linearize(np.zeros(4), [])
