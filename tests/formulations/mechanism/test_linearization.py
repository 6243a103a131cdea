"""A step's exact derivatives: the paper's pendulum digit by digit, differences on random mechanisms, symplecticity."""

import numpy as np
import pytest

from biped import IntegrationError
from formulations import mechanism as mech
from formulations.mechanism import DiscreteMechanism, Linearization, SingularStepError, rx, ry, rz, tx, ty, tz
from tests.differences import jacobian

from .random_frames import GRAVITY, regular_frames, tangent_rates

N = 8


def pendulum() -> DiscreteMechanism:
    """Of sections II-A, IV-A and V-A: m = l = 1, g = 9.8, Δt = 0.1, the torque's impulse at the step's beginning."""
    frames = [rx("theta", tz(-1.0, mass=1.0))]
    mechanism = mech.Mechanism("pendulum", frames, gravity=(0.0, 0.0, -9.8), forces=[mech.Torque("theta", 0.0)])
    return DiscreteMechanism(mechanism, 0.1, force_share=1.0)


def at_the_print() -> Linearization:
    return pendulum().linearize(np.array([0.2, 0.5]), np.array([0.8]))


class Random:
    """A mechanism with all kinds of joints and components, where it meets its constraints, in motion."""

    def __init__(self, seed: int, *, conservative: bool = False, prescribed: int = 2, loops: int = 3) -> None:
        rng = np.random.default_rng(seed)
        frames = regular_frames(rng, N - 1, prescribed)
        frames.append(tx(mech.kinematic("string") if prescribed else "string", mass=0.0 if prescribed else 1.0))
        plain = mech.Mechanism("plain", frames)
        ends = [f"c{i}" for i in range(N - 1)]
        a, b, c, d = (str(name) for name in rng.choice(ends, size=4, replace=False))
        q = rng.uniform(-0.8, 0.8, N)
        place = {name: plain.frame(name).position(q) for name in ends} | {"world": np.zeros(3)}
        q[-1], R = np.linalg.norm(place[c] - place[d]), plain.frame(a).rotation(q)
        free = list(plain.dynamic_coordinates[:-1] if not prescribed else plain.dynamic_coordinates)
        potentials = [
            mech.LinearSpring(a, b, 12.0, 0.4),
            mech.LinearSpring(b, c, 3.0),
            mech.NonlinearSpring(c, "world", (5.0, 2.0, 1.0), 0.1),
            mech.NewtonianGravity(b, d, constant=0.7) if _massive(plain, b, d) else mech.LinearSpring(b, d, 1.0, 0.3),
            mech.CoordinateSpring(free[1], (3.0, 0.5, 0.2), 0.2),
            *(mech.Gravity(name, (1.0, 2.0, -0.5)) for name in ends if _massive(plain, name)),
        ]
        forces = [
            mech.Torque(free[0], 0.4),
            mech.Torque(free[-1], lambda t: np.sin(t)),
            mech.Damper(free[0], 0.3),
            mech.Damper(free[2], 0.7),
            mech.BodyWrench(a, tuple(rng.normal(size=3)), tuple(rng.normal(size=3))),
            mech.HybridWrench(b, tuple(rng.normal(size=3)), tuple(rng.normal(size=3))),
            mech.SpatialWrench(c, tuple(rng.normal(size=3)), tuple(rng.normal(size=3))),
        ]
        constraints = [
            mech.Distance(a, c, float(np.linalg.norm(place[a] - place[c]))),
            mech.PointAlong(b, d, tuple(R.T @ np.cross(place[b] - place[d], rng.normal(size=3))), axes=a),
            mech.Distance(c, d, "string"),
        ][:loops]
        mechanism = mech.Mechanism("random", frames, GRAVITY, potentials, constraints, () if conservative else forces)
        self.system = DiscreteMechanism(mechanism, 0.01, tolerance=1e-14)
        q = mechanism.satisfy_constraints(q, 1e-13)
        v = rng.normal(size=N)
        v = tangent_rates(mechanism, q, np.where(mechanism.mechanics.prescribed != 0, 0.2 * v, v))
        self.x = self.system.state(q, v)
        moving = q[self.system._kinematic] + 0.01 * v[self.system._kinematic]
        self.u = np.concatenate([[] if conservative else [0.4, 0.3], moving])


def _massive(mechanism: mech.Mechanism, *names: str) -> bool:
    return all(mechanism.frame(name).place.frame.mass is not None for name in names)


def test_the_papers_pendulum_to_every_digit_it_prints() -> None:
    found = at_the_print()
    np.testing.assert_allclose(found.next_state, [0.2471, 0.3627], atol=5e-5)
    np.testing.assert_allclose(found.A, [[0.9533, 0.0976], [-0.9333, 0.9533]], atol=1e-4)  # 0.09767 printed as 0.0976
    np.testing.assert_allclose(found.B, [[0.00976], [0.09533]], atol=1e-5)
    assert found.determinant == pytest.approx(-10.2389, abs=5e-5)
    q, p = found.second()
    np.testing.assert_allclose(
        q, [[1.01e-2, 5.06e-4, 5.06e-5], [5.06e-4, 2.53e-5, 2.53e-6], [5.06e-5, 2.53e-6, 2.53e-7]], rtol=3e-3
    )
    np.testing.assert_allclose(
        p, [[2.02e-1, 1.01e-2, 1.01e-3], [1.01e-2, 5.06e-4, 5.06e-5], [1.01e-3, 5.06e-5, 5.06e-6]], rtol=3e-3
    )


def test_the_pendulum_against_its_closed_form() -> None:
    """(3b) differentiated by hand: with s, c of the middle angle, D₂D₁ = −1/Δt − gΔt/4 c and so on."""
    found, h, g = at_the_print(), 0.1, 9.8
    middle = 0.5 * (0.2 + found.next_state[0])
    same, across = 1.0 / h - 0.25 * g * h * np.cos(middle), -1.0 / h - 0.25 * g * h * np.cos(middle)
    a = -same / across
    A = np.array([[a, -1.0 / across], [same * a + across, -same / across]])
    np.testing.assert_allclose(found.A, A, rtol=1e-13)
    np.testing.assert_allclose(found.B, [[-h / across], [-h * same / across]], rtol=1e-13)
    third = g * h / 8.0 * np.sin(middle)  # of L_d by any three angles
    z = np.array([1.0 + a, -1.0 / across, -h / across])  # how θ + θ' changes with θ, p, u
    q, p = found.second()
    np.testing.assert_allclose(q, -third / across * np.outer(z, z), rtol=1e-12)
    np.testing.assert_allclose(p, third * np.outer(z, z) * (1.0 - same / across), rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_first_derivatives_are_those_that_differences_find(seed: int) -> None:
    random = Random(seed)
    system, w = random.system, np.concatenate([random.x, random.u])
    found = system.linearize(random.x, random.u, 0.3)

    def solved(w: np.ndarray) -> np.ndarray:
        step = system._solved(w[: system.states], w[system.states :], 0.3)
        return np.concatenate([step.next_state, -step.multiplier / system.step])

    # Off the constraints' surface a step leads back to it: all of q may be varied.
    expected = jacobian(solved, w, 2e-5)
    exact = np.block([[found.A, found.B], [found.multipliers_by_state, found.multipliers_by_input]])
    assert exact.shape == expected.value.shape
    for part in (slice(0, N), slice(N, system.states), slice(system.states, None)):
        assert expected[part].departure(exact[part], 1e-7, alike=True) <= 1.0


@pytest.mark.parametrize("seed", range(2))
def test_second_derivatives_are_those_of_the_first(seed: int) -> None:
    random = Random(seed)
    system, w = random.system, np.concatenate([random.x, random.u])

    def first(w: np.ndarray) -> np.ndarray:
        found = system.linearize(w[: system.states], w[system.states :], 0.3)
        return np.hstack([found.A, found.B])

    expected = jacobian(first, w, 2e-5)
    found = system.linearize(random.x, random.u, 0.3)
    for part in (slice(0, N), slice(N, None)):
        assert expected[part].departure(found.second()[part], 1e-6, alike=True) <= 1.0


@pytest.mark.parametrize("seed", range(3))
def test_there_is_room_for_all_third_derivatives_and_no_more(seed: int) -> None:
    random = Random(seed)
    random.system.linearize(random.x, random.u).second()
    found = random.system._second.step.results
    for used, buffers in (
        (found.triples, found.triples.value),
        (found.bends, found.bends.value),
        (found.bent, found.bent.value),
    ):
        assert 0 < used.total[0] == len(buffers)


def test_weighted_second_derivatives_are_the_weighted_sum() -> None:
    random = Random(1)
    found = random.system.linearize(random.x, random.u)
    weights = np.random.default_rng(0).normal(size=random.system.states)
    expected = np.tensordot(weights, found.second(), 1)
    np.testing.assert_allclose(found.weighted_second(weights), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("seed", range(3))
def test_without_dissipation_the_map_is_symplectic(seed: int) -> None:
    """Aᵀ J A = J; without constraints, as with them the map lives on their surface."""
    random = Random(seed, conservative=True, prescribed=0, loops=0)
    A = random.system.linearize(random.x, random.u).A
    J = np.block([[np.zeros((N, N)), np.eye(N)], [-np.eye(N), np.zeros((N, N))]])
    np.testing.assert_allclose(A.T @ J @ A, J, rtol=0, atol=1e-12 * np.abs(A).max() ** 2)


@pytest.mark.parametrize("seed", range(3))
def test_with_constraints_it_is_symplectic_along_their_surface(seed: int) -> None:
    """On variations that keep h(q_k) = 0, whatever their momenta: p' is modulo the constraints' forces."""
    random = Random(seed, conservative=True, prescribed=0)
    system = random.system
    A = system.linearize(random.x, random.u).A
    q = system.configuration_of(random.x)
    _, _, rows = np.linalg.svd(system.mechanism.constraint_jacobian(q))
    tangent = rows[3:].T
    along = np.zeros((2 * N, tangent.shape[1] + N))
    along[:N, : tangent.shape[1]], along[N:, tangent.shape[1] :] = tangent, np.eye(N)
    J = np.block([[np.zeros((N, N)), np.eye(N)], [-np.eye(N), np.zeros((N, N))]])
    # λ depends on (q, p), and pairs with q only through D h δq = 0, so that the two-form is kept.
    moved = A @ along
    scale = np.abs(moved).max() ** 2
    np.testing.assert_allclose(moved.T @ J @ moved, along.T @ J @ along, rtol=0, atol=1e-11 * scale)


def test_the_map_is_the_step_that_simulate_takes() -> None:
    random = Random(0)
    system, m = random.system, random.system.mechanism
    q, rate = system.configuration_of(random.x), 0.2

    def moving(start: float):  # type: ignore[no-untyped-def]
        return lambda t: start + rate * t

    given = {name: moving(q[m.coordinates.index(name)]) for name in m.kinematic_coordinates}
    v = np.linspace(-1.0, 1.0, N)
    v[system._kinematic] = rate
    v = tangent_rates(m, q, v)
    run = m.simulate(0.05, 0.01, q=q, v=v, kinematic=given, tolerance=1e-14)
    x, times = system.state(q, v), 0.01 * np.arange(5)
    k = system._kinematic
    for time in times:
        middle = time + 0.005
        x = system.advance(x, np.concatenate([[0.4, np.sin(middle)], q[k] + rate * (time + 0.01)]), time)
    np.testing.assert_allclose(system.configuration_of(x), run.q[-1], rtol=0, atol=1e-12)
    d = system._dynamic
    np.testing.assert_allclose(x[N : N + d.size], run.momentum[-1][d], rtol=0, atol=1e-11)


def spherical_pendulum(r: float = 1.3, m: float = 0.7) -> mech.Mechanism:
    """Section VII-A: θ from the vertical downwards, φ about it."""
    return mech.Mechanism("spherical", [rz("phi", ry("theta", tz(-r, mass=m)))], gravity=(0.0, 0.0, -9.8))


@pytest.mark.parametrize("h", [0.02, 0.1, 0.3])
def test_the_spherical_pendulums_determinant_is_the_papers(h: float) -> None:
    """(34), which holds for L_d with the factor Δt that the print leaves out of it."""
    r, m, g = 1.3, 0.7, 9.8
    system = DiscreteMechanism(spherical_pendulum(r, m), h)
    x = system.state({"phi": 0.3, "theta": 0.9}, {"phi": 1.1, "theta": -0.4})
    found = system.linearize(x, np.zeros(0))
    (phi, theta), (phi1, theta1) = system.configuration_of(x), system.configuration_of(found.next_state)
    both = theta + theta1
    expected = m**2 * r**3 / (4.0 * h**2) * np.sin(0.5 * both) ** 2
    expected *= h**2 * g * np.cos(0.5 * both) + r * (2.0 + np.cos(both)) * (phi - phi1) ** 2 + 4.0 * r
    assert found.determinant == pytest.approx(expected, rel=1e-11)


def test_a_step_through_the_pole_of_a_chart_is_told() -> None:
    """θ' = −θ: M is singular there, (34)."""
    system = DiscreteMechanism(spherical_pendulum(), 0.1)
    with pytest.raises(SingularStepError, match="moves no mass"):
        system.linearize(np.zeros(4), np.zeros(0))


def test_no_pendular_step_below_the_papers_bound_is_singular() -> None:
    """Δt < √(4 r/g); above it there are singular ones, at cos((θ + θ')/2) = −4 r/(g Δt²)."""
    r, m, g = 1.3, 0.7, 9.8
    bound = np.sqrt(4.0 * r / g)
    for factor, possible in ((0.99, False), (1.3, True)):
        system = DiscreteMechanism(mech.Mechanism("plane", [ry("t", tz(-r, mass=m))], (0, 0, -g)), factor * bound)
        values = []
        for middle in (0.5 * np.pi, np.pi):
            h = system.step
            # From middle − d to middle + d, with the momentum that leads there.
            p = m * r * r * 0.2 / h + 0.5 * h * m * g * r * np.sin(middle)
            values.append(system.linearize(np.array([middle - 0.1, p]), np.zeros(0)).determinant)
        assert (np.max(values) > 0.0) == possible


def test_the_constrained_pendulums_determinant_is_the_papers() -> None:
    """VII-B with L_d's factor Δt: h = x² + y² − l² gives −4 Δt/m (x x' + y y'); ours is that h over 2 l."""
    m, length, step = 0.7, 1.2, 0.05
    mechanism = mech.Mechanism(
        "point", [tx("x", ty("y", name="bob", mass=m))], None, constraints=[mech.Distance("bob", "world", length)]
    )
    system = DiscreteMechanism(mechanism, step)
    angle = 0.4
    q = length * np.array([np.cos(angle), np.sin(angle)])
    found = system.linearize(system.state(q, [-q[1], q[0]]), np.zeros(0))
    x = system.configuration_of(found.next_state)
    assert found.constraint_determinant == pytest.approx(-4.0 * step / m * (q @ x) / (2.0 * length) ** 2, rel=1e-12)
    assert found.determinant == pytest.approx((m / step) ** 2, rel=1e-12)


def test_constraints_that_say_the_same_are_told() -> None:
    mechanism = mech.Mechanism(
        "twice", [tx("x", ty("y", name="bob", mass=1.0))], None,
        constraints=[mech.Distance("bob", "world", 1.0), mech.Distance("world", "bob", 1.0)],
    )  # fmt: skip
    system = DiscreteMechanism(mechanism, 0.05)
    with pytest.raises(SingularStepError, match="depend on each other"):
        system.linearize(system.state([1.0, 0.0], [0.0, 1.0]), np.zeros(0))


def test_what_cannot_be_used_is_refused() -> None:
    system = pendulum()
    with pytest.raises(mech.MechanismError, match=r"x has shape \(3,\); it must be \(2,\), one for each of theta"):
        system.advance(np.zeros(3), np.zeros(1))
    with pytest.raises(mech.MechanismError, match="not finite: momentum_theta"):
        system.advance(np.array([0.0, np.nan]), np.zeros(1))
    with pytest.raises(mech.MechanismError, match="from 0 to 1"):
        DiscreteMechanism(system.mechanism, 0.1, force_share=2.0)
    far = DiscreteMechanism(system.mechanism, 5.0)
    with pytest.raises(IntegrationError, match="try a smaller step"):
        far.advance(np.array([0.3, 40.0]), np.array([0.0]))
