"""Mechanisms against the paper's longhand algorithm, on random trees with all kinds of components."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from formulations.mechanism import Mechanism

from .longhand import System, unhat
from .random_frames import GRAVITY, random_mechanism, tangent
from .twin import twin_of

CLOSE = {"rtol": 1e-10, "atol": 1e-10}
STEP = 0.01
STEPS = 2
CASES = [(0, 0), (2, 0), (0, 2), (3, 2)]


def motion_of(name: str, phase: float):
    return lambda t: phase + 0.3 * np.sin(2.0 * np.asarray(t) + float(name[1:]))


def started(seed: int, loops: int, prescribed: int) -> tuple[Mechanism, System, np.ndarray, np.ndarray, dict]:
    """A random mechanism and its twin, a start on the constraints, and motions that begin there."""
    mechanism, q = random_mechanism(seed, loops=loops, prescribed=prescribed)
    twin = twin_of(mechanism)
    v = np.random.default_rng(seed + 100).normal(size=mechanism.size)
    given = {}
    for name in mechanism.kinematic_coordinates:
        row = mechanism.coordinates.index(name)
        given[name] = motion_of(name, q[row] - 0.3 * np.sin(float(name[1:])))
        v[row] = (given[name](STEP) - given[name](-STEP)) / (2.0 * STEP)
    return mechanism, twin, q, tangent(twin, q, v), given


@pytest.mark.parametrize("seed", range(4))
def test_frames_energies_momenta_and_constraints(seed):
    mechanism, twin, q, v, _ = started(seed, 6, 0)
    twin.tree.set(q, v)
    for name, k in twin.tree.names.items():
        if k >= 0:
            frame = mechanism.frame(name)
            assert_allclose(frame.transform(q), twin.tree.g(k), **CLOSE)
            assert_allclose(frame.position(q), twin.tree.p(k), **CLOSE)
            R = frame.rotation(q).T
            assert_allclose(np.kron(np.eye(2), R) @ frame.velocity(q, v), unhat(twin.tree.V(k)), **CLOSE)
    assert_allclose(mechanism.kinetic_energy(q, v), twin.kinetic_energy(), rtol=1e-12)
    # Masses on frames that nothing moves add a constant, which a mechanism leaves out.
    still = [k for k in twin.tree.massive if not twin.tree.above[k]]
    constant = -sum(twin.tree.mass(k) * np.dot(GRAVITY, twin.tree.p(k)) for k in still)
    assert_allclose(mechanism.potential_energy(q), twin.potential_energy() - constant, rtol=1e-12)
    assert_allclose(mechanism.momentum(q, v), twin.L_v(), **CLOSE)
    assert_allclose(np.sort(np.abs(mechanism.constraint_values(q))), 0.0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_constraint_values_and_jacobian_off_the_constraints(seed):
    mechanism, q = random_mechanism(seed, loops=6)
    twin, rng = twin_of(mechanism), np.random.default_rng(seed)
    q = q + 0.1 * rng.normal(size=q.shape)
    twin.tree.set(q, q)
    h, Dh = twin.h(), twin.Dh()
    # Across a line any two directions do: their squares have the same sum, and their rows the same span.
    assert_allclose(mechanism.constraint_values(q) @ mechanism.constraint_values(q), h @ h, rtol=1e-11)
    found = mechanism.constraint_jacobian(q)
    assert_allclose(found.T @ found, Dh.T @ Dh, **CLOSE)
    assert_allclose(found.T @ mechanism.constraint_values(q), Dh.T @ h, **CLOSE)


#: Constraints, kinematic variables and α; the rest of all combinations is long.
EVERY_TIME = [(0, 0, 0.0), (2, 0, 0.25), (0, 2, 0.5), (3, 2, 1.0), (3, 0, 0.5)]
OTHERS = [(*case, alpha) for case in CASES for alpha in (0.0, 0.25, 0.5, 1.0) if (*case, alpha) not in EVERY_TIME]


@pytest.mark.parametrize(
    ("loops", "prescribed", "alpha"), [*EVERY_TIME, *(pytest.param(*case, marks=pytest.mark.slow) for case in OTHERS)]
)
def test_steps_are_the_papers(loops, prescribed, alpha):
    """(45) with (46): configurations, momenta, the constraints' forces, and those that drive prescribed variables."""
    seed = 10 * loops + prescribed + int(4 * alpha)
    mechanism, twin, q, v, given = started(seed, loops, prescribed)
    twin.alpha, start = alpha, 0.2
    given = {name: (lambda t, f=f: f(np.asarray(t) - start)) for name, f in given.items()}
    motion = mechanism.simulate(
        STEPS * STEP, STEP, q=q, v=v, alpha=alpha, kinematic=given, tolerance=1e-13, start=start
    )
    state = twin.start(q, v, start)
    multipliers = motion.frame.filter(like="multiplier_").to_numpy()
    driving = motion.frame.filter(like="driving_").to_numpy()
    for k in range(STEPS):
        before = state
        after = [
            float(given[mechanism.coordinates[j]](start + (k + 1) * STEP)) for j in np.flatnonzero(~twin.tree.dynamic)
        ]
        state = twin.step(before, STEP, 1e-12, after)
        assert_allclose(motion.q[k + 1], state.q, **CLOSE)
        assert_allclose(motion.momentum[k + 1][twin.tree.dynamic], state.p[twin.tree.dynamic], **CLOSE)
        # At the start the momentum is that of rates: the first impulse is half of a step's.
        scale = -(2.0 if k == 0 else 1.0) / STEP
        expected = before.pi.T @ (scale * state.lam)
        found = mechanism.constraint_jacobian(motion.q[k]).T @ multipliers[k]
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
        assert_allclose(driving[k], scale * state.driving, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_any_tree_steps_as_the_paper_has_it_and_keeps_its_constraints(seed):
    """Trees, loops, α and steps drawn at random: one step against the twin, then many on the constraints."""
    rng = np.random.default_rng(seed)
    n, alpha, step = int(rng.integers(5, 9)), float(rng.uniform(0.0, 1.0)), float(rng.choice([0.002, 0.01]))
    mechanism, q = random_mechanism(seed, n, loops=int(rng.integers(0, 4)))
    twin = twin_of(mechanism, alpha)
    v = tangent(twin, q, rng.normal(size=n))
    state = twin.step(twin.start(q, v), step, 1e-11)
    motion = mechanism.simulate(0.1, step, q=q, v=v, alpha=alpha, tolerance=1e-12)
    assert_allclose(motion.q[1], state.q, **CLOSE)
    assert_allclose(motion.momentum[1], state.p, rtol=1e-9, atol=1e-9)
    assert mechanism.largest_constraints(motion.q).max() <= 2e-12
