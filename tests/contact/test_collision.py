"""The collision impulse against mechanics: Coulomb, Stronge, energy, momentum, and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from contact import collision
from contact.collision import (
    collision_impulse,
    contact_frame,
    impulse_in_contact_frame,
    inverse3,
    rigid_body_collision_matrix,
)

from .test_boxes import random_rotation

pytestmark = pytest.mark.jit_off

UP = (0.0, 0.0, 1.0)
many = settings(max_examples=300, deadline=None, derandomize=True)


class Body:
    """A free rigid body in world axes; ``r`` is the lever arm of the contact point."""

    def __init__(self, rng):
        self.mass = rng.uniform(0.3, 50.0)
        sides = rng.uniform(0.05, 1.0, 3)
        turn = random_rotation(rng)
        self.inertia = turn @ np.diag(self.mass / 12 * ((sides**2).sum() - sides**2)) @ turn.T
        self.r = turn @ (0.5 * sides * rng.uniform(-1, 1, 3))
        self.v, self.w = rng.normal(size=3), rng.normal(size=3)

    def K(self):
        return np.reshape(rigid_body_collision_matrix(self.mass, flat(self.inertia), tuple(self.r)), (3, 3))

    def point_velocity(self):
        return self.v + np.cross(self.w, self.r)

    def energy(self):
        return 0.5 * self.mass * self.v @ self.v + 0.5 * self.w @ self.inertia @ self.w

    def hit(self, impulse):
        self.v = self.v + impulse / self.mass
        self.w = self.w + np.linalg.solve(self.inertia, np.cross(self.r, impulse))

    def angular_momentum(self):
        """About the contact point."""
        return self.inertia @ self.w - self.mass * np.cross(self.r, self.v)


def flat(matrix):
    return tuple(map(float, np.ravel(matrix)))


def approaching_pair(seed):
    """Two bodies, a normal and the relative velocity with which they approach along it."""
    rng = np.random.default_rng(seed)
    one, two = Body(rng), Body(rng)
    normal = random_rotation(rng)[0]
    u = two.point_velocity() - one.point_velocity()
    return one, two, u, normal if u @ normal < 0 else -normal


def solve(u, normal, K, e, mu):
    return np.array(collision_impulse(flat(u), flat(normal), flat(K), float(e), float(mu)))


seeds = st.integers(0, 2**32 - 1)
restitutions = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0))
frictions = st.one_of(st.just(0.0), st.floats(0.0, 3.0))


# --- small helpers ---------------------------------------------------------------------------------------


def test_inverse_and_collision_matrix():
    rng = np.random.default_rng(3)
    for _ in range(50):
        A = rng.normal(size=(3, 3)) + 3.0 * np.eye(3)
        assert np.allclose(np.reshape(inverse3(flat(A)), (3, 3)) @ A, np.eye(3), rtol=0, atol=1e-13)
        body = Body(rng)
        impulse = rng.normal(size=3)
        before = body.point_velocity()
        body.hit(impulse)
        assert np.allclose(
            body.K() @ impulse, body.point_velocity() - before, rtol=0, atol=1e-12 * np.abs(body.K()).max()
        )
        assert np.array_equal(body.K(), body.K().T)


@pytest.mark.parametrize("normal", [UP, (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (0.6, 0.0, -0.8), (0.48, -0.64, 0.6)])
def test_contact_frame_is_a_rotation_onto_the_normal(normal):
    frame = np.reshape(contact_frame(normal), (3, 3))
    assert np.allclose(frame @ frame.T, np.eye(3), rtol=0, atol=1e-15)
    assert np.linalg.det(frame) == pytest.approx(1.0, abs=1e-15)
    assert tuple(frame[2]) == normal


# --- laws that hold for every collision ------------------------------------------------------------------


@many
@given(seeds, restitutions, frictions)
def test_every_collision_obeys_newton_coulomb_and_thermodynamics(seed, e, mu):
    one, two, u, normal = approaching_pair(seed)
    K = one.K() + two.K()
    p = solve(u, normal, K, e, mu)
    energy = one.energy() + two.energy()
    momentum = one.mass * one.v + two.mass * two.v
    angular = one.angular_momentum() + two.angular_momentum()
    one.hit(-p)
    two.hit(p)
    after = two.point_velocity() - one.point_velocity()
    size = np.linalg.norm(u)
    # The state after is the one K predicts, and the bodies part.
    assert np.abs(after - u - K @ p).max() <= 1e-12 * (size + np.abs(K @ p).max())
    assert after @ normal >= -1e-12 * size
    # Nothing is lost but energy.
    assert np.allclose(one.mass * one.v + two.mass * two.v, momentum, rtol=0, atol=1e-12 * one.mass + 1e-12 * two.mass)
    assert np.allclose(one.angular_momentum() + two.angular_momentum(), angular, rtol=0, atol=1e-11)
    normal_part = p @ normal
    assert normal_part > 0.0
    assert np.linalg.norm(p - normal_part * normal) <= mu * normal_part + 1e-13 * normal_part
    change = one.energy() + two.energy() - energy
    in_collision = 0.5 * u @ np.linalg.solve(K, u)
    assert change <= 1e-10 * in_collision
    if mu == 0.0 and e == 1.0:
        assert abs(change) <= 1e-10 * in_collision


@many
@given(seeds, restitutions, frictions, st.floats(1e-6, 1e6), st.floats(1e-3, 1e3))
def test_neither_frame_nor_order_matters_and_impulses_scale_with_velocity_and_mass(seed, e, mu, faster, heavier):
    one, two, u, normal = approaching_pair(seed)
    K, R = one.K() + two.K(), random_rotation(np.random.default_rng(seed + 1))
    p = solve(u, normal, K, e, mu)
    for found, expected in (
        (solve(R @ u, R @ normal, R @ K @ R.T, e, mu), R @ p),
        (solve(-u, -normal, K, e, mu), -p),  # the bodies swapped: the impulse is the one on the other
        (solve(faster * u, normal, K / heavier, e, mu), faster * heavier * p),
    ):
        assert np.allclose(found, expected, rtol=0, atol=1e-9 * np.linalg.norm(expected))


def test_separating_and_grazing_bodies_are_left_alone():
    K = flat(np.diag([1.0, 2.0, 3.0]))
    assert collision_impulse((1.0, 2.0, 0.5), UP, K, 0.5, 0.3) == (0.0, 0.0, 0.0)
    assert collision_impulse((1.0, 2.0, 0.0), UP, K, 0.5, 0.3) == (0.0, 0.0, 0.0)
    assert np.isnan(collision_impulse((1.0, 2.0, math.nan), UP, K, 0.5, 0.3)).all()


# --- closed forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("e", [0.0, 0.37, 1.0])
@pytest.mark.parametrize("mu", [0.0, 0.8])
def test_a_central_head_on_collision_returns_e(e, mu):
    K = np.diag([0.7, 0.7, 0.7])
    after = np.array([0.0, 0.0, -2.0]) + K @ solve((0.0, 0.0, -2.0), UP, K, e, mu)
    assert np.allclose(after, [0.0, 0.0, 2.0 * e], rtol=0, atol=1e-14)


@many
@given(seeds, restitutions)
def test_without_friction_the_normal_velocity_returns_e(seed, e):
    one, two, u, normal = approaching_pair(seed)
    K = one.K() + two.K()
    after = u + K @ solve(u, normal, K, e, 0.0)
    assert after @ normal == pytest.approx(-e * (u @ normal), abs=1e-13 * np.linalg.norm(u))


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("mu", [0.05, 0.2, 0.5, 5.0])
def test_a_ball_slides_until_it_grips(e, mu):
    # A ball's K is diagonal and the same in all tangential directions: the direction of sliding is constant.
    k_t, k_n, u = 3.5, 1.0, np.array([0.9, -1.2, -2.0])
    p_n = (1 + e) * 2.0 / k_n
    p_t = min(mu * p_n, 1.5 / k_t)
    expected = np.array([-0.6 * p_t, 0.8 * p_t, p_n])
    assert np.allclose(solve(u, UP, np.diag([k_t, k_t, k_n]), e, mu), expected, rtol=0, atol=1e-12)


def test_a_plastic_central_collision_that_grips_ends_at_rest():
    K = np.diag([2.0, 5.0, 1.0])
    u = np.array([0.3, 0.4, -1.0])
    after = u + K @ solve(u, UP, K, 0.0, 10.0)
    assert np.abs(after).max() <= 1e-12


def stick_cone(K):
    """Friction that holds a contact at rest: the slope of K⁻¹ (0, 0, 1)."""
    x = np.linalg.solve(K, UP)
    return np.hypot(x[0], x[1]) / x[2]


@many
@given(seeds)
def test_a_plastic_collision_that_grips_stably_ends_at_rest(seed):
    one, two, u, normal = approaching_pair(seed)
    K = one.K() + two.K()
    frame = np.reshape(contact_frame(flat(normal)), (3, 3))
    u_c, K_c = frame @ u, frame @ K @ frame.T
    rollout = stick_cone(K_c)
    u_c[:2] *= 1e-4 * abs(u_c[2]) / np.linalg.norm(u_c[:2])  # so slow that it grips during compression
    p = solve(u_c, UP, K_c, 0.0, 2.0 * rollout + 1.0)
    assert np.abs(u_c + K_c @ p).max() <= 1e-12 * np.linalg.norm(u)


def planar_impulse(u, K, e, mu):
    """Routh's planar collision, piece by piece: (p_x, p_z) for K's x and z rows, any number of reversals.

    Along each piece the impulse grows in a constant direction ξ, so u and the work are elementary.
    """
    p, scratch, goal = np.zeros(2), 0.0, None
    while True:
        v = u + K @ p
        rollout = K[0, 1] / K[0, 0]
        if abs(v[0]) > 1e-14:
            xi = np.array([-mu * np.sign(v[0]), 1.0])
        elif rollout <= mu and -rollout <= mu:
            xi = np.array([-rollout, 1.0])
        else:
            xi = np.array([-mu * np.sign(rollout), 1.0])
        rate = K @ xi
        ends = []
        if abs(v[0]) > 1e-14 and rate[0] * v[0] < 0:
            ends.append((-v[0] / rate[0], "rest"))
        if goal is None and rate[1] > 0:
            ends.append((-v[1] / rate[1], "turn"))
        if goal is not None:
            roots = np.roots([0.5 * rate[1], v[1], scratch - goal])
            ends += [(root.real, "over") for root in roots if abs(root.imag) < 1e-12 and root.real > 1e-14]
        length, event = min(ends)
        p = p + length * xi
        scratch += length * (v[1] + 0.5 * length * rate[1])
        if event == "turn":
            goal = (1 - e**2) * scratch
        if event == "over" or (event == "turn" and e == 0.0):
            return p


def test_planar_collisions_with_grip_and_reversal_match_routh():
    rng = np.random.default_rng(8)
    kinds = set()
    for _ in range(400):
        one = Body(rng)
        mass, gyration, x, z = one.mass, rng.uniform(0.1, 0.5), *rng.uniform(-0.5, 0.5, 2)
        k2 = gyration**2
        K = np.array([[1 + z * z / k2, -x * z / k2], [-x * z / k2, 1 + x * x / k2]]) / mass
        K3 = np.diag([K[0, 0], 1.3 * K[0, 0], K[1, 1]])
        K3[0, 2] = K3[2, 0] = K[0, 1]
        u, mu, e = np.array([rng.normal(), -rng.uniform(0.1, 2.0)]), rng.uniform(0.01, 1.2), rng.choice([0.0, 0.5, 0.9])
        expected = planar_impulse(u, K, e, mu)
        p = solve((u[0], 0.0, u[1]), UP, K3, e, mu)
        assert np.allclose(p, [expected[0], 0.0, expected[1]], rtol=0, atol=1e-9 * np.abs(expected).max())
        after = u[0] + K[0] @ expected
        kinds.add("grip" if abs(after) < 1e-9 else "reverse" if after * u[0] < 0 else "slide")
    assert kinds == {"grip", "reverse", "slide"}


@many
@given(seeds, restitutions, st.floats(0.0, 0.95))
def test_from_rest_friction_holds_or_gives_way_along_a_ray(seed, e, share):
    one, two, _, normal = approaching_pair(seed)
    frame = np.reshape(contact_frame(flat(normal)), (3, 3))
    K = frame @ (one.K() + two.K()) @ frame.T
    u, mu = np.array([0.0, 0.0, -1.0]), share * stick_cone(K)
    p = solve(u, UP, K, 0.5, mu)
    slip = (K @ p)[:2]
    # The friction has its full size and opposes the slip from beginning to end.
    assert np.hypot(p[0], p[1]) == pytest.approx(mu * p[2], rel=1e-12, abs=1e-15)
    assert p[:2] @ slip == pytest.approx(-mu * p[2] * np.hypot(*slip), rel=1e-9, abs=1e-14 * p[2])
    after = u + K @ solve(u, UP, K, e, 1.01 * stick_cone(K))  # which can hold
    assert np.allclose(after, [0.0, 0.0, e], rtol=0, atol=1e-12)


# --- the integration -------------------------------------------------------------------------------------


def oracle(u0, K, e, mu):
    """SciPy's integration of a collision in three dimensions; None if the sliding comes to rest in it."""

    def rates(_, y):
        u = u0 + K @ y[:3]
        xi = np.array([*(-mu * u[:2] / np.hypot(u[0], u[1])), 1.0])
        return np.array([*xi, u[2]])

    def event(function):
        function.terminal = True
        function.direction = 1
        return function

    rest = event(lambda _, y: 0.02 * np.linalg.norm(u0) - np.hypot(*(u0 + K @ y[:3])[:2]))
    turn = event(lambda _, y: (u0 + K @ y[:3])[2])
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}
    first = solve_ivp(rates, (0, np.inf), np.zeros(4), events=[turn, rest], **options)
    if first.t_events[1].size:
        return None
    y = first.y[:, -1]
    if e > 0:
        over = event(lambda _, z: z[3] - (1 - e**2) * y[3])
        second = solve_ivp(rates, (0, np.inf), y, events=[over, rest], **options)
        if second.t_events[1].size:
            return None
        y = second.y[:, -1]
    return y[:3]


def turning_cases(count):
    """Collisions in three dimensions in which the direction of sliding turns: (u, K, e, mu), contact frame."""
    rng = np.random.default_rng(4)
    for seed in range(count):
        one, two, u, normal = approaching_pair(seed)
        frame = np.reshape(contact_frame(flat(normal)), (3, 3))
        yield frame @ u, frame @ (one.K() + two.K()) @ frame.T, rng.choice([0.0, 0.6, 1.0]), rng.uniform(0.05, 1.0)


def test_turning_collisions_match_scipy():
    compared = 0
    for u, K, e, mu in turning_cases(60):
        expected = oracle(u, K, e, mu)
        if expected is not None:
            assert np.allclose(solve(u, UP, K, e, mu), expected, rtol=0, atol=1e-9 * np.linalg.norm(expected))
            compared += 1
    assert compared > 20


def integrated(case, tolerance):
    u, K, e, mu = case
    return np.array(impulse_in_contact_frame(flat(u), flat(K), float(e), float(mu), tolerance))


def test_the_error_follows_the_tolerance():
    tolerances = (1e-5, 1e-7, 1e-9)
    errors = []
    for case in turning_cases(200):
        exact = integrated(case, 1e-13)
        scale = np.linalg.norm(exact)
        errors.append([np.linalg.norm(integrated(case, t) - exact) / scale for t in tolerances])
    worst = np.max(errors, axis=0)
    assert (worst < tolerances).all()
    slope = np.polyfit(np.log10(tolerances), np.log10(worst), 1)[0]
    assert 0.85 < slope < 1.3


def test_the_method_has_order_five():
    u, K, mu = (1.0, 0.5, -2.0), (1.0, 0.1, 0.2, 0.1, 4.5, 0.3, 0.2, 0.3, 2.0), 0.4
    steps = (4, 8, 16, 32)

    def after(count, total=0.5):
        p, scratch = (0.0, 0.0, 0.0), 0.0
        for _ in range(count):
            p, scratch, _ = collision._runge_kutta(u, K, mu, p, scratch, total / count)
        return np.array([*p, scratch])

    exact = after(2048)
    errors = np.array([np.abs(after(n) - exact) for n in steps])[:, [0, 1, 3]]
    for error in errors.T:
        assert -np.polyfit(np.log(steps), np.log(error), 1)[0] == pytest.approx(5.0, abs=0.3)


@pytest.mark.parametrize("seed", range(8))
def test_restitution_gives_back_work_as_e_squared(seed):
    # The impulses for all e lie on one path, on which dW/dp_z = u_z: integrate along it.
    one, two, u, normal = approaching_pair(seed)
    K = one.K() + two.K()
    e = np.linspace(0.0, 1.0, 401)
    path = np.array([solve(u, normal, K, x, 0.4) for x in e])
    speed, p_n = (u + path @ K) @ normal, path @ normal
    scratch = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(p_n))])
    assert abs(speed[0]) <= 1e-12 * np.linalg.norm(u)
    assert np.allclose(scratch / scratch[-1], e**2, rtol=0, atol=1e-5)
