"""The state estimator: its error model, its filter, and what it knows of a body in motion."""

import copy

import numpy as np
import pytest
from scipy.stats import chi2

from biped import Sensors, human
from biped.derivatives.linearization.coordinates import displaced
from biped.dynamics.whole_body import WholeBody
from biped.kernels.loop import kalman
from biped.kernels.loop.error_model import set_load_stiffness
from biped.model import ModelError
from biped.simulation import estimation
from biped.simulation.batch import SessionBatch
from biped.simulation.session import Session
from experiments import experiment_named

LATE = {"sensors.delay": 0.15, "sensors.force.delay": 0.15}
MUSCLES = {"actuators.stiffness": 300.0, "actuators.damping": 30.0}
STEPS = {"run.step": 2e-3, "initial.stance": "upright", "initial.settle": 0.0}


def scene_of(law="whole-body", **changes):
    balance = experiment_named("balance").driven_by(law)
    return balance.build({**STEPS, **LATE, **MUSCLES, "run.duration": 2.0, **changes})


def test_nothing_unexpected_is_predicted_exactly():
    session = Session(scene_of())
    session.advance(1000)
    estimator = session.plan.world.estimator
    assert np.abs(estimator.filter.innovation).max() < 1e-5  # of rates; Newton's tolerance is 1e-9 N·s
    frame = scene_of().run().frame
    for name in ("body_x", "body_z", "angle_left_knee_pitch"):
        assert np.abs(frame[name] - frame[f"estimate_{name}"]).max() < 1e-7


def test_the_estimate_of_an_unexpected_push_becomes_exact(monkeypatch):
    """Without noise only the linearity of the error model limits the estimate, and errors decay as the body rests."""
    monkeypatch.setattr(estimation, "LINEARITY", 1e-12)  # the filter relies on exact measurements
    frame = scene_of(**{"push.impulse": 12.0, "push.start": 0.2}).run().frame
    error = np.abs(frame["body_x"] - frame["estimate_body_x"])
    at = frame["time"]
    assert error[at < 0.2].max() < 1e-7
    assert error[(at > 0.2) & (at < 0.35)].max() > 5e-3  # nobody knows of it yet
    assert error[at > 1.8].max() < 1e-3 * error.max()


def test_the_stiffness_of_loads_is_minus_the_derivative_of_their_generalized_forces():
    model = human()
    q = model.neutral()
    q[7:] += 0.3 * np.sin(np.arange(model.nq - 7))
    force = np.random.default_rng(1).normal(size=(model.nc, 3)) * 100.0

    def generalized(q):
        body = WholeBody(model, q)
        total = -body.gravity_forces.copy()
        for c, name in enumerate(model.contact_names):
            total += body.contact_jacobian(name).T @ force[c]
        return total

    body, load = WholeBody(model, q), np.zeros((model.nv, model.nv))
    set_load_stiffness(model.tree, body._motion.poses, force, np.zeros((model.n, 12)), load)
    for dof in range(model.nv):
        way = 1e-5 * np.eye(model.nv)[dof]
        slope = (generalized(displaced(model, q, way)) - generalized(displaced(model, q, -way))) / 2e-5
        np.testing.assert_allclose(-load[:, dof], slope, atol=1e-5 * np.abs(load).max())


def test_the_filter_equals_its_equations_longhand():
    random, m, nv, span, a = np.random.default_rng(2), 6, 3, 0.008, 0.9
    state = kalman.new_filter(m, 1e-5)
    state.kept[:], state.spread[:] = a, random.uniform(0.1, 0.2, m)
    R, B = random.normal(size=(nv, m)), random.normal(size=(nv, 4))
    P, mean = np.zeros((2 * m, 2 * m)), np.zeros(2 * m)
    P[m:, m:] = np.eye(m)
    F, G = np.zeros((m, m)), np.vstack([span * B, B])
    F[:nv], F[nv:] = np.hstack([np.eye(nv), np.zeros((nv, nv))]) + span * R, R
    whole = np.block([[F, np.zeros((m, m))], [np.zeros((m, m)), a * np.eye(m)]])
    Q = np.block([[G @ G.T, np.zeros((m, m))], [np.zeros((m, m)), (1 - a * a) * np.eye(m)]])
    H = np.hstack([np.eye(m), np.diag(state.spread)])
    for _ in range(5):
        y = random.normal(size=m)
        mean, P = whole @ mean, whole @ P @ whole.T + Q
        kalman.advance_error(R, span, state.mean[0], np.zeros(nv))
        kalman.advance_covariance(state, R, B, span)
        innovation = y - H @ mean
        state.innovation[:] = y - state.mean[0] - state.spread * state.mean[1]
        S = H @ P @ H.T
        S += np.diag(state.linearity + kalman.SHARE * S.diagonal())
        surprise = innovation @ np.linalg.solve(S, innovation) / m
        if surprise > kalman.SURPRISE:
            P[:m, :m] *= surprise
            S = H @ P @ H.T
            S += np.diag(state.linearity + kalman.SHARE * S.diagonal())
        K = P @ H.T @ np.linalg.inv(S)
        mean, P = mean + K @ innovation, P - K @ H @ P
        kalman.update(state)
        assert state.surprise[0] == pytest.approx(surprise)
        np.testing.assert_allclose(np.concatenate(state.mean), mean, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(state.errors, P[:m, :m], rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(state.cross, P[:m, m:], rtol=1e-6, atol=1e-9)


def test_innovations_are_consistent_with_the_sensors_noise(monkeypatch):
    """In a body that only its own noise disturbs, the normalized squared innovations have a χ² distribution."""
    monkeypatch.setattr(estimation, "CALM", 1e-8)  # the simulated body has no process noise
    monkeypatch.setattr(estimation, "LINEARITY", 1e-12)  # and the errors are small
    names = ("orientation_threshold", "angular_velocity_threshold")
    thresholds = {f"sensors.vestibular.{name}": 1e-12 for name in names}
    total, count = 0.0, 0
    for seed in range(100):
        changes = {"sensors.preset": "young", "sensors.seed": seed, **thresholds}
        session = Session(scene_of(**changes, **{"controller.capture": 5.0}))
        session.advance(300)
        estimator = session.plan.world.estimator
        total += estimator.filter.surprise[0] * len(estimator.filter.innovation)
        count += len(estimator.filter.innovation)
    assert chi2.ppf(0.001, count) < total < chi2.ppf(0.999, count)


def test_orientations_within_a_dead_zone_do_not_surprise():
    """The zone's uncertainty only adds to that of the noise, with which χ² of 36 numbers never exceeds 4 × 36."""
    assert chi2.sf(kalman.SURPRISE * 36, 36) < 1e-13
    session = Session(scene_of(**{"sensors.preset": "eyes-closed"}))
    state, most, dead = session.plan.world.estimator.filter, 0.0, np.zeros(3)
    for _ in range(500):
        session.step()
        most, dead = max(most, state.surprise[0]), np.maximum(dead, state.dead[3:6])
    assert dead.any()
    assert 0.0 < most < kalman.SURPRISE


@pytest.mark.parametrize("azimuth", [0.0, np.pi / 2.0, np.pi])
def test_noisy_late_sensors_suffice_to_recover(azimuth):
    changes = {"sensors.preset": "young", "sensors.seed": 3, "push.impulse": 20.0, "push.azimuth": azimuth}
    run = scene_of("stepping", **changes, **{"run.duration": 3.0}).run()
    assert run.summary["verdict"] in ("recovered", "stepped")


def test_a_restored_session_and_a_batch_continue_bit_for_bit():
    scene = scene_of("whole-body", **{"sensors.preset": "young", "push.impulse": 5.0, "push.start": 0.1})
    session = Session(scene)
    session.advance(100)
    saved = session.save()
    session.advance(100)
    there = session.state.q.copy()
    session.restore(saved)
    session.advance(100)
    np.testing.assert_array_equal(session.state.q, there)
    np.testing.assert_array_equal(copy.copy(session).observe().q, session.observe().q)
    alone, batch = Session(scene), SessionBatch(scene, 2, workers=2)
    batch.reset([None, None])
    alone.reset()
    for tick in range(100):
        torques = np.full(12, 0.1 * np.sin(tick))
        alone.step(torques)
        batch.step([torques, torques])
    batch.close()
    np.testing.assert_array_equal(batch.q[0], alone.observe().q)
    np.testing.assert_array_equal(batch.q[1], batch.q[0])


def test_an_observation_changes_nothing():
    session, other = (Session(scene_of(**{"sensors.preset": "young"})) for _ in range(2))
    for _ in range(5):
        session.advance(10)
        other.advance(10)
        session.observe()
    np.testing.assert_array_equal(session.state.q, other.state.q)


def test_only_models_of_simple_joints_are_estimated():
    with pytest.raises(ModelError, match="did you mean 'kalman'"):
        Sensors(estimator="kalmann")
    assert Session(scene_of("postural")).plan.internal is None  # a model of sensory feedback
    assert Session(scene_of("postural", **{"sensors.estimator": "kalman"})).plan.internal is not None
    assert Session(scene_of(**{"sensors.estimator": "none"})).plan.internal is None
