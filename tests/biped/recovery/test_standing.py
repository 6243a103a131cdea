"""The parts of optimal recovery on the human: kinematics, costs, derivatives of ticks, plans that are followed."""

from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Push, Scene, Session, WholeBody, human, standing
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.recovery import HeldTorques, Path, PlanThenLaw, RecoveryPlan, Standing, tracking_gains
from biped.recovery.cost import places_of
from biped.recovery.descent import backward, limited
from biped.recovery.rollout import deviation
from controllers.whole_body import WholeBodyController
from tests.differences import derivative, jacobian

TICKS, PERIOD, STEP = 60, 4e-3, 1e-3


@pytest.fixture(scope="module")
def model():
    return human()


@pytest.fixture(scope="module")
def random():
    return np.random.default_rng(5)


def test_places_are_those_of_the_whole_body(model, random):
    q = np.array([displaced(model, standing(model).q, 0.4 * random.normal(size=model.nv)) for _ in range(3)])
    found = places_of(model, q)
    for k, row in enumerate(q):
        body = WholeBody(model, row)
        np.testing.assert_allclose(found.com[k], body.com, atol=1e-14)
        points = [body.contact_position(name) for name in model.contact_names]
        np.testing.assert_allclose(found.contact[k], points, atol=1e-14)


def test_jacobians_of_places_are_their_differences(model, random):
    q = displaced(model, standing(model).q, 0.4 * random.normal(size=model.nv))
    found = places_of(model, q[None])

    def places(change):
        there = places_of(model, displaced(model, q, change)[None])
        return np.vstack([there.com, there.contact[0]])

    exact = np.concatenate([found.com_jacobian, found.contact_jacobian[0]])
    assert jacobian(places, np.zeros(model.nv), 1e-2).departure(exact, 1e-9, alike=True) <= 1.0


def test_the_slope_of_the_cost_is_its_difference(model, random):
    q0, count = standing(model).q, 30
    q = np.array([displaced(model, q0, 0.1 * random.normal(size=model.nv)) for _ in range(count + 1)])
    p = 20.0 * random.normal(size=(count + 1, model.nv))
    u = 30.0 * random.normal(size=(count, 12))
    path = Path(q, p, np.zeros((count + 1, 2 * model.nc)), u)
    cost = Standing(model, q0, count, 0.01, np.full(12, 100.0))
    assert all(value > 0.0 for value in cost.parts(path).values())  # all tasks are in it
    slope, nv = cost.quadratic(path).slope, model.nv
    by_q, by_p = random.normal(size=(2, count + 1, nv))

    def displaced_by(e):
        return cost.value(replace(path, q=np.array([displaced(model, a, e * b) for a, b in zip(q, by_q, strict=True)])))

    expected = derivative(displaced_by, 1e-4, 1e-5)
    assert expected.departure(np.sum(slope[:, :nv] * by_q), 1e-6) <= 1.0
    expected = derivative(lambda e: cost.value(replace(path, p=p + e * by_p)), 1e-2, 1e-4)
    assert expected.departure(np.sum(slope[:, nv : 2 * nv] * by_p), 1e-6) <= 1.0


def test_deviations_are_displacements(model, random):
    q = standing(model).q
    to = displaced(model, q, 0.3 * random.normal(size=model.nv))
    path = Path(q[None], np.zeros((1, model.nv)), np.zeros((1, 16)), np.zeros((0, 12)))
    away = deviation(to, np.ones(model.nv), np.ones(16), path, 0)
    np.testing.assert_allclose(away[: model.nv], displacement(model, q, to), atol=1e-14)
    assert (away[model.nv :] == 1.0).all()


def test_steps_within_limits(random):
    for _ in range(50):
        root = random.normal(size=(4, 4))
        H, g = root @ root.T + 0.1 * np.eye(4), random.normal(size=4)
        low, high = -random.uniform(0.0, 0.5, 4), random.uniform(0.0, 0.5, 4)
        d, free, _ = limited(H, g, low, high)
        assert (low <= d).all()
        assert (d <= high).all()
        assert g @ d + 0.5 * d @ H @ d <= 0.0
        np.testing.assert_allclose((H @ d + g)[free], 0.0, atol=1e-12)


def test_without_limits_it_is_the_least_of_the_quadratic_program(random):
    count, n, m = 4, 3, 2
    A, B = random.normal(size=(count, n, n)), random.normal(size=(count, n, m))
    root = random.normal(size=(count + 1, n, n))
    curve, slope = root @ np.swapaxes(root, 1, 2), random.normal(size=(count + 1, n))
    R, u = np.eye(m), random.normal(size=(count, m))
    wide = np.full((count, m), np.inf)
    found = backward(A, B, slope, curve, R, u, -wide, wide, np.zeros((m, m)))
    z, change = np.zeros(n), np.zeros((count, m))
    for k in range(count):
        change[k] = found.change[k] - found.gains[k] @ z
        z = A[k] @ z + B[k] @ change[k]

    def to_states(changes):
        states = [np.zeros(n)]
        for k in range(count):
            states.append(A[k] @ states[-1] + B[k] @ changes[k])
        return np.array(states)

    columns = np.array([to_states(unit.reshape(count, m)).ravel() for unit in np.eye(count * m)]).T
    block = np.zeros(((count + 1) * n, (count + 1) * n))
    for k in range(count + 1):
        block[k * n : k * n + n, k * n : k * n + n] = curve[k]
    hessian = columns.T @ block @ columns + np.eye(count * m)
    best = np.linalg.solve(hessian, -(columns.T @ slope.ravel() + u.ravel()))
    np.testing.assert_allclose(change.ravel(), best, rtol=1e-8)


@pytest.fixture(scope="module")
def pushed(model):
    push = Push("trunk", (-1.0, 0.3, 0.0), impulse=26.0, start=0.1, duration=0.1)
    law = WholeBodyController(period=PERIOD)
    scene = Scene(model, law, state=standing(model), disturbances=[push], step=STEP)
    session = Session(scene)
    session.advance(25)
    state = session.state.copy()
    rows = []
    for _ in range(TICKS):
        session.advance(1)
        rows.append((session.state.arrays.torque[6:].copy(), session.state.q.copy()))
    u, q = (np.array(part) for part in zip(*rows, strict=True))
    return scene, state, u, q


def empty(model, u):
    count = len(u)
    return Path(np.zeros((count + 1, model.nq)), np.zeros((count + 1, model.nv)), np.zeros((count + 1, 16)), u)


def test_held_torques_are_what_the_law_did(model, pushed):
    scene, state, u, q = pushed
    path = HeldTorques(scene, state, PERIOD).follow(empty(model, u))
    np.testing.assert_array_equal(path.q[1:], q)


def test_derivatives_along_a_path_are_its_differences(model, pushed):
    """Of the end by each of the first torques, modes and slips as they come: through 60 ticks at once."""
    scene, state, u, _ = pushed
    held = HeldTorques(scene, state, PERIOD)
    path = held.follow(empty(model, u))
    A, B = held.linearize(path)
    last, h = 12, 1e-5
    carried = B[0]
    for k in range(1, last):
        carried = A[k] @ carried
    for joint in (1, 3, 5):
        change = np.zeros_like(u)
        change[0, joint] = h
        ends = [held.follow(path, None, sign * change) for sign in (1.0, -1.0)]
        difference = [deviation(one.q[last], one.p[last], one.anchor[last], path, last) for one in ends]
        slope = (difference[0] - difference[1]) / (2.0 * h)
        np.testing.assert_allclose(carried[:36, joint], slope[:36], rtol=2e-3, atol=2e-4 * np.abs(slope).max())


def test_a_period_that_no_step_divides_is_refused(pushed):
    scene, state, _, _ = pushed
    with pytest.raises(InputError, match="multiple of the step"):
        HeldTorques(scene, state, 2.5e-3)


def test_a_plan_is_followed_and_saved(model, pushed, tmp_path):
    scene, state, u, q = pushed
    path = HeldTorques(scene, state, PERIOD).follow(empty(model, u))
    plan = RecoveryPlan(state.time, PERIOD, path, np.zeros((TICKS, 12, 36)), np.full(12, -500.0), np.full(12, 500.0),
                        {"impulse": 26.0})  # fmt: skip
    plan.save(tmp_path / "plan.npz")
    again = RecoveryPlan.load(tmp_path / "plan.npz")
    np.testing.assert_array_equal(again.path.u, u)
    assert again.facts == plan.facts
    assert again.ends == pytest.approx(state.time + TICKS * PERIOD)
    law = WholeBodyController()
    follows = replace(scene, controller=PlanThenLaw(again, law), state=state.copy(), duration=TICKS * PERIOD)
    np.testing.assert_array_equal(follows.run().state.q, q[-1])
    with pytest.raises(InputError, match="no multiple"):
        PlanThenLaw(again, WholeBodyController(period=3e-3))
    (tmp_path / "other.npz").write_bytes(b"no plan")
    with pytest.raises(InputError, match="not a plan"):
        RecoveryPlan.load(tmp_path / "other.npz")


def test_feedback_keeps_to_a_plan(model, pushed):
    scene, state, u, _ = pushed
    held = HeldTorques(scene, state, PERIOD)
    path = held.follow(empty(model, u))
    weight = np.diag(np.concatenate([np.full(18, 400.0), np.full(18, 0.2)]))
    gains = tracking_gains(held, path, weight, np.eye(12) / 40.0**2)
    off = state.copy()
    off.arrays.momentum[0] += 0.5
    other = HeldTorques(scene, off, PERIOD)
    wide = np.concatenate([gains, np.zeros((TICKS, 12, 16))], axis=2)
    ends = [other.follow(path, feedback) for feedback in (None, wide)]
    away = [np.linalg.norm(deviation(one.q[-1], one.p[-1], one.anchor[-1], path, TICKS)[:18]) for one in ends]
    assert away[1] < 0.7 * away[0]
