"""LQR of standing: its closed loop is the designed one, at the cost of the Riccati equation."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import solve_discrete_are

from biped import InputError, ModelError, Recursive, Scene, Session, chain, forward_kinematics, human, standing
from biped.control.observation import Observation
from biped.derivatives.linearization import gain_sensitivities, held_stance, linearize, linearize_stance
from biped.derivatives.linearization.coordinates import displaced, displacement
from biped.dynamics.whole_body import WholeBody
from contact import RUBBER, Floor
from contact.regimes import HELD
from controllers import LQR
from experiments import experiment_named
from tests.refusals import refuses

TIGHT = Recursive(tolerance=1e-11)
NV = 18
PER_SECOND = 500


@pytest.fixture(scope="module")
def model():
    return human()


@pytest.fixture(scope="module")
def exact(model):
    return LQR(reference="world").design(model)


def scene_of(controller, model, **more):
    return Scene(model, controller, integrator=TIGHT, state=controller.design(model).stance.state, **more)


@pytest.mark.parametrize("floor", [RUBBER, Floor(k_n=2e4, k_t=1e4)])
def test_held_torques_keep_the_stance(model, floor):
    state = held_stance(model, floor, standing(model).q)
    found = linearize_stance(model, floor, state, step=5e-4, period=2e-3)
    assert np.abs(found.moved).max() < 1e-9
    assert (found.regimes == HELD).all()
    assert found.kept == tuple(range(2 * NV))
    assert found.controllability_rank == 2 * NV


def test_the_floor_carries_the_weight_below_the_centre_of_mass_and_pulls_nowhere(model):
    state = held_stance(model, RUBBER, standing(model).q)
    body = WholeBody(model, state.q)
    points = np.array([body.contact_position(name) for name in model.contact_names])
    forces = -RUBBER.k_n * points[:, 2]
    assert forces.sum() == pytest.approx(model.total_mass * 9.81, rel=1e-12)
    assert forces @ points[:, :2] / forces.sum() == pytest.approx(body.com[:2], abs=1e-12)
    assert state.arrays.anchor == pytest.approx(points[:, :2], abs=1e-15)
    # Of all forces that carry it, those of least norm are linear in the points' places.
    plane = np.column_stack([np.ones(len(points)), points[:, :2]])
    assert plane @ np.linalg.lstsq(plane, forces, rcond=None)[0] == pytest.approx(forces, rel=1e-9)


def test_no_stance_where_the_centre_of_mass_is_not_above_the_feet(model):
    q = standing(model).q.copy()
    q[3:7] = np.cos(0.3), 0.0, np.sin(0.3), 0.0
    with pytest.raises(InputError, match="above its feet"):
        held_stance(model, RUBBER, q)
    with pytest.raises(InputError, match="cannot stand"):
        held_stance(chain(3), RUBBER, chain(3).neutral())


def test_half_of_the_torques_strain_the_feet_only(model, exact):
    """With rigid soles: M a = S τ + Jᵀ λ, J a = 0."""
    body = WholeBody(model, exact.stance.state.q)
    J = np.vstack([body.contact_jacobian(name) for name in model.contact_names])
    strains = exact.stance.straining
    assert strains.shape == (12, 6)
    assert strains.T @ strains == pytest.approx(np.eye(6), abs=1e-12)
    basis = np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :].T
    moved = np.linalg.solve(basis.T @ body.mass_matrix @ basis, basis.T[:, 6:])
    assert np.abs(moved @ strains).max() < 1e-9 * np.abs(moved).max()
    rest = np.linalg.svd(strains.T)[2][6:].T
    assert np.linalg.svd(moved @ rest)[1].min() > 1e-3 * np.abs(moved).max()
    assert "6 of 12 torques only strain the feet" in str(exact)


def test_gains_are_those_of_riccati(exact):
    A, B, Q, R = exact.stance.A, exact.stance.B, exact.Q, exact.R
    P = solve_discrete_are(A, B, Q, R)
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    assert np.abs(exact.steady_gain - K).max() < 1e-9 * np.abs(K).max()
    left = Q + A.T @ P @ A - A.T @ P @ B @ K - P
    assert np.abs(left).max() < 1e-8 * np.abs(P).max()


def test_gains_of_a_long_horizon_begin_as_the_steady_ones(model, exact):
    design = LQR(reference="world", horizon=3.0, weight_end=0.1).design(model)
    assert design.gains.shape == (3 * PER_SECOND + 1, 12, 2 * NV)
    assert np.array_equal(design.gains[-1], exact.steady_gain)
    assert np.abs(design.gains[0] - exact.steady_gain).max() < 1e-5 * np.abs(exact.steady_gain).max()
    assert np.abs(design.gains[-2] - exact.steady_gain).max() > 0.1 * np.abs(exact.steady_gain).max()


def test_weights_do_not_depend_on_the_period(model):
    designs = [LQR(period=period, step=5e-4).design(model) for period in (1e-3, 2e-3)]
    values = [np.abs(np.linalg.eigvals(design.closed_loop)).max() for design in designs]
    rates = [-np.log(value) / period for value, period in zip(values, (1e-3, 2e-3), strict=True)]
    assert rates[0] == pytest.approx(rates[1], rel=0.02)


def test_its_closed_loop_is_the_one_that_was_designed(model, exact):
    found = linearize(scene_of(LQR(reference="world"), model), exact.stance.state)
    assert np.abs(found.moved).max() < 1e-9
    assert np.abs(found.dynamic - exact.closed_loop).max() < 1e-10 * np.abs(exact.closed_loop).max()
    # The fastest modes are deadbeat, whose eigenvalues are as sharp as a root of round-off.
    expected = np.linalg.eigvals(exact.closed_loop)
    assert max(np.abs(expected - value).min() for value in found.eigenvalues) < 1e-7
    assert found.is_stable


def seen_from_feet(model, q):
    """Return the matrix (nv, nv) to displacements relative to the feet."""
    body = WholeBody(model, q)
    feet = [body.jacobian(foot) for foot in model.feet]
    shift = sum(J[:2] for J in feet) / len(feet)
    turn = sum(J[5] for J in feet) / len(feet)
    middle = sum(body.position(foot) for foot in model.feet) / len(feet)
    seen = np.eye(model.nv)
    seen[:2] -= shift
    arm = q[:2] - middle[:2]
    seen[0] += arm[1] * turn
    seen[1] -= arm[0] * turn
    seen[5] -= turn
    return seen


def test_seen_from_the_feet_it_is_the_designed_one_but_for_the_soles_deflections(model):
    controller = LQR(reference="feet")
    design = controller.design(model)
    found = linearize(scene_of(controller, model), design.stance.state)
    K = design.steady_gain.copy()
    K[:, :NV] = K[:, :NV] @ seen_from_feet(model, design.stance.state.q)
    expected = design.stance.A - design.stance.B @ K
    assert np.abs(found.dynamic - expected).max() < 1e-9 * np.abs(expected).max()
    rates = [np.log(np.sort(np.abs(np.linalg.eigvals(A)))[-6:]) for A in (found.dynamic, design.closed_loop)]
    assert rates[0] == pytest.approx(rates[1], rel=0.02)


def deviations(scene, at, change, ticks):
    """Return deviations (ticks + 1, 36) of (q, p) from ``at``, and (ticks, 12) of the held torques."""
    start = at.copy()
    start.arrays.q[:] = displaced(scene.model, at.q, change[:NV])
    start.arrays.momentum[:] += change[NV:]
    session = Session(replace(scene, state=start))
    x, u = [change], []
    for _ in range(ticks):
        assert session.advance(1) == 1
        live = session.state
        x.append(np.concatenate([displacement(scene.model, at.q, live.q), live.momentum - at.momentum]))
        u.append(live.arrays.torque[6:] - at.arrays.torque[6:])
    return np.array(x), np.array(u)


def a_small_change():
    return 1e-6 * np.random.default_rng(5).normal(size=2 * NV) * np.repeat([1.0, 10.0], NV)


def test_a_deviation_costs_what_riccati_says(model, exact):
    change = a_small_change()
    scene = scene_of(LQR(reference="world"), model)
    x, u = deviations(scene, exact.stance.state, change, 6 * PER_SECOND)
    cost = np.einsum("ki,ij,kj->", x[:-1], exact.Q, x[:-1]) + np.einsum("ki,ij,kj->", u, exact.R, u)
    assert cost == pytest.approx(change @ exact.steady_cost @ change, rel=1e-4)


def test_over_a_finite_horizon_too(model, exact):
    controller = LQR(reference="world", horizon=0.2, weight_end=3.0)
    design, change = controller.design(model), a_small_change()
    x, u = deviations(scene_of(controller, model), exact.stance.state, change, 100)
    end = 3.0 / 2e-3 * x[-1] @ design.Q @ x[-1]
    cost = np.einsum("ki,ij,kj->", x[:-1], design.Q, x[:-1]) + np.einsum("ki,ij,kj->", u, design.R, u) + end
    assert cost == pytest.approx(change @ design.costs[0] @ change, rel=1e-4)
    steady = change @ exact.steady_cost @ change
    assert abs(cost - steady) > 0.01 * steady


def test_it_is_the_cheapest_near_by(exact):
    A, B, Q, R, K = exact.stance.A, exact.stance.B, exact.Q, exact.R, exact.steady_gain
    change, rng = a_small_change(), np.random.default_rng(0)

    def cost(gain):
        x, total = change, 0.0
        for _ in range(4 * PER_SECOND):
            u = -gain @ x
            total += x @ Q @ x + u @ R @ u
            x = A @ x + B @ u
        return total

    least = cost(K)
    for _ in range(3):
        off = rng.normal(size=K.shape) * np.abs(K) * 0.02
        more = [cost(K + e * off) - least for e in (-1.0, -0.5, 0.5, 1.0)]
        assert min(more) > 0.0
        assert more[0] + more[3] == pytest.approx(4.0 * (more[1] + more[2]), rel=0.2)


def test_slopes_of_its_closed_loop_by_its_weights(model):
    controller = LQR(reference="world")
    state = controller.design(model).stance.state
    ends = {
        "weight_com_velocity[1]": (0.02, {"weight_com_velocity": (2.5, 0.69, 1.0)},
            {"weight_com_velocity": (2.5, 0.71, 1.0)}),
        "weight_torque": (4e-7, {"weight_torque": 0.98e-5}, {"weight_torque": 1.02e-5}),
    }  # fmt: skip
    for one in gain_sensitivities(scene_of(controller, model), state, tuple(ends)):
        width, *fields = ends[one.name]
        low, high = (
            np.abs(np.linalg.eigvals(replace(controller, **values).design(model).closed_loop)).max()
            for values in fields
        )
        assert one.slope == pytest.approx((high - low) / width, rel=1e-2)
    assert len(gain_sensitivities(scene_of(controller, model), state)) == 16


def pushed(impulse=6.0, azimuth=0.3, **options):
    experiment = experiment_named("balance").driven_by("lqr")
    return experiment.run({"push.impulse": impulse, "push.azimuth": azimuth, **options})


def test_it_recovers_from_a_push():
    assert pushed().summary["verdict"] == "recovered"


def test_runs_are_the_same_bit_by_bit_in_any_thread():
    first = pushed().frame
    with ThreadPoolExecutor(4) as threads:
        others = [run.frame for run in threads.map(lambda _: pushed(), range(4))]
    for other in others:
        assert other.equals(first)


def test_seen_from_the_feet_place_and_heading_do_not_matter(model):
    q = LQR().design(model).stance.state.q.copy()
    rng = np.random.default_rng(2)
    q = displaced(model, q, 0.02 * rng.normal(size=NV))
    v = 0.1 * rng.normal(size=NV)
    half = 0.35
    R = np.array([[np.cos(2 * half), -np.sin(2 * half), 0], [np.sin(2 * half), np.cos(2 * half), 0], [0, 0, 1]])
    moved, turned = q.copy(), v.copy()
    moved[:3] = R @ q[:3] + [0.4, -0.7, 0.0]
    w, x, y, z = q[3:7]
    c, s = np.cos(half), np.sin(half)
    moved[3:7] = c * w - s * z, c * x - s * y, c * y + s * x, c * z + s * w
    turned[:3], turned[3:6] = R @ v[:3], R @ v[3:6]
    assert forward_kinematics(model, moved).position[0] == pytest.approx(moved[:3])
    for reference, same in (("feet", True), ("world", False)):
        controller = LQR(reference=reference)
        a, b = (controller.torques(Observation(model, 0.0, *state)) for state in ((q, v), (moved, turned)))
        assert (np.abs(a - b).max() < 1e-9 * np.abs(a).max()) == same


def test_torques_stay_within_limits(model):
    q = displaced(model, LQR().design(model).stance.state.q, 0.1 * np.random.default_rng(1).normal(size=NV))
    told = Observation(model, 0.0, q, np.zeros(NV))
    free = LQR().torques(told)
    assert np.abs(free).max() > 60.0
    limited = LQR(torque_limit={"left_knee_pitch": 5.0, "right_hip_roll": 20.0}).torques(told)
    expected = free.copy()
    for joint, most in (("left_knee_pitch", 5.0), ("right_hip_roll", 20.0)):
        k = model.joint_names.index(joint)
        expected[k] = np.clip(free[k], -most, most)
    assert np.array_equal(limited, expected)


def test_its_gains_change_over_the_horizon(model):
    controller = LQR(reference="world", horizon=0.01)
    design = controller.design(model)
    x = np.zeros(2 * NV)
    x[[1, 8]] = 1e-3, 2e-3
    q = displaced(model, design.stance.state.q, x[:NV])
    for tick in range(8):
        torques = controller.torques(Observation(model, tick * 2e-3, q, np.zeros(NV)))
        expected = design.stance.state.arrays.torque[6:] - design.gains[min(tick, 5)] @ x
        assert torques == pytest.approx(expected, rel=1e-9)


@refuses(
    ({"weight_com": (-1.0, 1.0, 1.0)}, "zero or above"),
    ({"weight_com_velocity": (np.nan, 1.0, 1.0)}, "3 finite numbers"),
    ({"weight_trunk": (1.0, 1.0)}, "3 finite numbers"),
    ({"weight_joints": -1.0}, "0 or above"),
    ({"weight_joint_rates": {"left_knee_pitch": np.inf}}, "finite"),
    ({"weight_torque": 0.0}, "all weights must be above zero"),
    ({"weight_torque": np.nan}, "finite number"),
    ({"weight_torque": {"left_knee_pitch": -1.0}}, "all weights must be above zero"),
    ({"weight_torque": np.diag([1.0] * 11 + [-1.0])}, "positive definite"),
    ({"weight_torque": np.ones((12, 11))}, "a matrix"),
    ({"horizon": 0.0}, "above zero"),
    ({"horizon": np.nan}, "above zero"),
    ({"horizon": 1e6}, "10000 periods"),
    ({"weight_end": -1.0}, "zero or above"),
    ({"reference": "hips"}, "world, feet"),
    ({"torque_limit": -1.0}, "0 or above"),
    ({"period": 0.0}, "above zero"),
    ({"step": 0.0}, "above zero"),
    ({"floor": "rubber"}, "contact.Floor"),
    ({"target_position": (0.0, 0.0)}, "3 finite numbers"),
)
def test_bad_numbers_are_refused(fields):
    LQR(**fields)


def test_what_does_not_fit_the_model_is_refused(model):
    with pytest.raises(InputError, match="floating root and feet"):
        LQR().law(chain(3))
    with pytest.raises(InputError, match=r"must be \(12, 12\)"):
        LQR(weight_torque=np.eye(3)).design(model)
    with pytest.raises(InputError, match="no weight for left_hip_roll"):
        LQR(weight_torque={"left_knee_pitch": 1.0}).design(model)
    with pytest.raises(ModelError, match="unknown joint .tail"):
        LQR(weight_joints={"tail": 1.0}).design(model)
    with pytest.raises(InputError, match="does not divide"):
        LQR(step=3e-4).design(model)
    with pytest.raises(InputError, match="there is no steady regulator"):
        LQR(
            weight_com=(0,) * 3, weight_com_velocity=(0,) * 3, weight_trunk=(0,) * 3, weight_trunk_rate=(0,) * 3,
            weight_joints=0.0, weight_joint_rates=0.0, weight_torque=1e-300,
        ).design(model)  # fmt: skip
