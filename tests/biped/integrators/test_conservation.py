"""What the variational integrator keeps: momentum, energy without trend, time's arrow; and its order."""

import numpy as np
import pytest

from biped.model import chain, human, random_tree
from biped.runs.state import State
from biped.simulation.simulate import simulate
from controllers import JointImpedance

from ...rounding import walked
from .motions import momenta, order_of, swinging, tumbling


@pytest.mark.parametrize("step", [1e-3, 2e-3])
def test_momentum_over_1e5_steps_of_flight(step):
    model = human().without_contacts().with_gravity((0.0, 0.0, 0.0))
    state = tumbling(model, 1)
    before = momenta(state)
    state = simulate(model, state=state, step=step, duration=1e5 * step, record_every=1000 * step).state
    after = momenta(state)
    for part in (slice(0, 3), slice(3, 6)):
        assert np.linalg.norm(after[part] - before[part]) <= 1e-9 * np.linalg.norm(before[part])


def test_momentum_under_gravity_changes_by_its_impulse():
    model = human().without_contacts()
    state = tumbling(model, 2)
    before = momenta(state)
    run = simulate(model, state=state, step=1e-3, duration=2.0)
    state = run.state
    change = momenta(state) - before
    weight = model.total_mass * np.array(model.gravity) * 2.0
    assert np.allclose(change[:3], weight, rtol=1e-12, atol=1e-9)
    assert np.allclose(change, state.arrays.ledger.impulse, rtol=0.0, atol=1e-8)
    assert run.summary["momentum_defect"] < walked(2000 * model.n, np.linalg.norm(weight))
    assert run.summary["angular_momentum_defect"] < 1e-9


def test_energy_of_a_chain_has_no_trend():
    """4e5 steps of a chaotic chain, after 1e5 in which its energy spreads over all joints.

    The error is that of the modified energy, which depends on the state: it wanders, and goes nowhere.
    """
    model = chain(10).without_contacts()
    state = State.at(model, model.configuration(angles=dict.fromkeys(model.joint_names, 0.3)))
    state = simulate(model, state=state, step=1e-3, duration=100.0, record_every=1.0).state
    run = simulate(model, state=state, step=1e-3, duration=400.0, record_every=0.01)
    error = run.frame["ledger_residual"].to_numpy()
    time = run.frame["time"].to_numpy()
    slope = np.polyfit(time, error, 1)[0]
    assert np.abs(error).max() < 1e-3 * run.frame["ledger_kinetic"].max()
    assert abs(slope) * (time[-1] - time[0]) < 0.5 * error.std()


def test_time_reverses():
    model = random_tree(np.random.default_rng(4), 8, floating=True, kinds=("revolute", "prismatic", "spherical"))
    state = tumbling(model, 4)
    start = state.q.copy()
    state = simulate(model, state=state, step=1e-3, duration=0.2).state
    assert np.linalg.norm(state.q - start) > 0.1
    back = State.at(model, state.q)
    back.arrays.momentum[:] = -state.momentum
    back.arrays.cache.rate[:] = -state.arrays.cache.rate
    back = simulate(model, state=back, step=1e-3, duration=0.2).state
    for i in range(model.nq):
        assert abs(back.q[i] - start[i]) < 1e-9


def test_order_two_against_an_independent_integrator():
    model, q, exact = swinging(4, 0.5)
    steps = np.array([4e-3, 2e-3, 1e-3, 5e-4])
    errors = []
    for step in steps:
        state = State.at(model, q)
        state = simulate(model, state=state, step=float(step), duration=0.5, record_every=0.5).state
        apart = np.concatenate([state.q, state.momentum]) - exact
        errors.append([np.linalg.norm(part) for part in np.split(apart, 2)])
    for error in np.array(errors).T:
        assert order_of(steps, error) == pytest.approx(2.0, abs=0.05)


def test_order_two_of_the_human_in_flight():
    model = human().without_contacts()

    def end(step: float) -> np.ndarray:
        state = tumbling(model, 5)
        state = simulate(model, state=state, step=step, duration=0.256, record_every=0.256).state
        return state.q.copy()

    exact = end(1e-3 / 64)
    steps = np.array([4e-3, 2e-3, 1e-3])
    errors = [np.linalg.norm(end(float(step)) - exact) for step in steps]
    assert order_of(steps, errors) == pytest.approx(2.0, abs=0.05)


def test_ledger_closes_to_second_order_with_joint_impedance():
    model = human().without_contacts()
    steps = np.array([2e-3, 1e-3, 5e-4])
    residuals = []
    for step in steps:
        state = tumbling(model, 6, 1.0)
        run = simulate(model, JointImpedance(stiffness=50.0, damping=1.0), state=state, step=float(step), duration=0.3)
        assert abs(run.frame["ledger_actuators"].iloc[-1]) > 1.0
        residuals.append(run.summary["ledger_residual"])
    assert order_of(steps, residuals) == pytest.approx(2.0, abs=0.1)


def test_a_chain_of_sixty_metres_converges():
    """Far from the reference point rounding leaves more of the residual than the default tolerance."""
    model = chain(200, length=0.3, mass=1.0).without_contacts()
    state = State.at(model, model.configuration(angles=dict.fromkeys(model.joint_names, 0.02)))
    run = simulate(model, state=state, step=1e-3, duration=0.2, record_every=0.02)
    assert run.summary["newton_mean"] < 3.0
    assert run.summary["retried_steps"] == 0
    assert run.summary["ledger_residual"] < 1e-3 * run.frame["ledger_kinetic"].max()
