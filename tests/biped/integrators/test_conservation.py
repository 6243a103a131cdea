"""What the variational integrator keeps: momentum, energy without trend, time's arrow; and its order."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from biped import Lee, Maximal, Midpoint, Push, Recursive, RungeKutta4, State, dynamics, simulate, standing
from biped.model import Body, Model, box_inertia, chain, human, prismatic
from controllers import JointImpedance

from ...rounding import walked
from .motions import momenta, order_of, tumbling


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


@pytest.mark.parametrize(
    ("integrator", "links", "angle", "spread", "duration"),
    [(Recursive(), 10, 0.3, 100.0, 400.0), (Midpoint(), 4, 0.6, 20.0, 100.0)],
)
def test_energy_of_a_chain_has_no_trend(integrator, links, angle, spread, duration):
    """Run a chaotic chain for up to 4e5 steps, after its energy has spread over all joints.

    The error is that of the modified energy, which depends on the state: it wanders, and goes nowhere.
    """
    model = chain(links).without_contacts()
    state = State.at(model, model.configuration(angles=dict.fromkeys(model.joint_names, angle)))
    how = {"integrator": integrator, "step": 1e-3}
    state = simulate(model, state=state, duration=spread, record_every=1.0, **how).state
    run = simulate(model, state=state, duration=duration, record_every=0.01, **how)
    error, time = run.frame["ledger_residual"].to_numpy(), run.frame["time"].to_numpy()
    slope = np.polyfit(time, error, 1)[0]
    assert np.abs(error).max() < 1e-3 * run.frame["ledger_kinetic"].max()
    assert abs(slope) * (time[-1] - time[0]) < 0.5 * error.std()


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


def with_rotors(model: Model, armature: float) -> Model:
    bodies = [
        replace(body, joint=replace(body.joint, armature=armature)) if body.joint.has_axis else body
        for body in model.bodies
    ]
    return replace(model, bodies=tuple(bodies))


@pytest.mark.parametrize(
    "integrator", [*(kind(tolerance=1e-14) for kind in (Recursive, Lee, Maximal, Midpoint)), RungeKutta4()]
)
def test_a_slide_falls_as_if_its_rotor_were_mass_without_weight(integrator):
    """z = −m g t²/2 (m + a), which all of these have exactly."""
    joint = replace(prismatic("slide", (0, 0, 1)), armature=1.5)
    body = Body("box", 2.0, box_inertia(2.0, (0.1, 0.1, 0.1)), (0, 0, 0), joint)
    model = Model("slide", (body,))
    state = State.at(model)
    run = simulate(model, state=state, integrator=integrator, step=1e-3, duration=0.5)
    state = run.state
    acceleration = -9.81 * 2.0 / 3.5
    assert state.q[0] == pytest.approx(0.5 * acceleration * 0.25, abs=1e-10)
    assert state.momentum[0] == pytest.approx(3.5 * acceleration * 0.5, abs=1e-10)
    assert np.abs(run.frame["ledger_residual"]).max() < 1e-10
    assert run.frame["ledger_kinetic"].iloc[-1] == pytest.approx(0.5 * 3.5 * (0.5 * acceleration) ** 2, abs=1e-9)


def swing() -> tuple[Model, np.ndarray]:
    model = with_rotors(chain(3).without_contacts(), 0.08)
    return model, np.array([0.5, -0.4, 0.9])


def test_a_chain_with_rotors_converges_to_its_differential_equation():
    """Of order 2, to a solution by forward dynamics, which the tests hold against Pinocchio's."""
    model, q = swing()

    def rate(_, x):
        return np.concatenate([x[3:], dynamics.forward_dynamics(model, x[:3], x[3:], np.zeros(3))])

    exact = solve_ivp(rate, (0.0, 0.4), np.concatenate([q, np.zeros(3)]), rtol=1e-11, atol=1e-11, method="DOP853")
    errors = []
    for step in (4e-3, 2e-3):
        state = State.at(model, q)
        state = simulate(model, state=state, step=step, duration=0.4, record_every=0.4).state
        errors.append(np.abs(state.q - exact.y[:3, -1]).max())
    assert errors[1] < 1e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


def test_energy_with_rotors_has_no_trend():
    model, q = swing()
    state = State.at(model, q)
    residual = simulate(model, state=state, step=1e-3, duration=20.0, record_every=0.01).frame["ledger_residual"]
    early, late = np.abs(residual[:500]).max(), np.abs(residual[-500:]).max()
    assert late < 2.0 * early
    assert early < 2e-3  # [J], of some 5 exchanged


def test_a_person_with_rotors_stands_pushed_and_its_ledger_closes():
    plain = human()
    model = with_rotors(plain, 0.1)
    residuals = []
    for one in (plain, model):
        push = Push("trunk", (1.0, 0.0, 0.0), impulse=8.0, start=0.2)
        run = simulate(one, JointImpedance(), state=standing(one), disturbances=[push], step=5e-4, duration=1.0)
        assert run.summary["momentum_defect"] < 1e-9
        residuals.append(np.abs(run.frame["ledger_residual"]).max())
    assert residuals[1] < 3.0 * residuals[0]


def test_rotors_are_felt():
    plain = chain(1).without_contacts()
    model = with_rotors(plain, float(dynamics.mass_matrix(plain, [0.0])[0, 0]))
    fast, slow = (dynamics.forward_dynamics(one, [0.3], [0.0], [0.0])[0] for one in (plain, model))
    assert slow == pytest.approx(0.5 * fast, rel=1e-14)
