"""Regulators and optimal trajectories, against the paper's numbers, direct minimization and scipy."""

import numpy as np
import pytest
import sympy

from biped import InputError
from biped.errors import IntegrationError
from biped.optimal import (
    QuadraticCost,
    Trajectory,
    closed_loop,
    descent_direction,
    optimize,
    regulator,
    rollout,
    steady_regulator,
)

# Section IV-A of Johnson, Schultz & Murphey 2014, with more digits than it prints.
A = np.array([[0.95333434, 0.09766672], [-0.93331323, 0.95333434]])
B = np.array([[0.00976667], [0.09533343]])


def along(count: int = 6, n: int = 3, m: int = 2, seed: int = 0) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    Q, R, F = (np.array([(lambda a: a @ a.T + 0.1 * np.eye(k))(rng.normal(size=(k, k)))])[0] for k in (n, m, n))
    return rng.normal(size=(count, n, n)), rng.normal(size=(count, n, m)), Q, R, F


def test_the_regulators_cost_is_the_least_of_all_inputs() -> None:
    As, Bs, Q, R, F = along()
    count, n, m = Bs.shape
    found = regulator(As, Bs, Q, R, F)
    z0 = np.array([0.7, -0.2, 1.1])
    free, forced = [np.eye(n)], [np.zeros((n, count * m))]
    for k in range(count):
        free.append(As[k] @ free[-1])
        forced.append(As[k] @ forced[-1] + Bs[k] @ np.eye(count * m)[k * m : (k + 1) * m])
    weights = [Q] * count + [F]
    H = sum(f.T @ W @ f for f, W in zip(forced, weights, strict=True)) + np.kron(np.eye(count), R)
    g = sum(f.T @ W @ x @ z0 for f, x, W in zip(forced, free, weights, strict=True))
    c = sum(z0 @ x.T @ W @ x @ z0 for x, W in zip(free, weights, strict=True))
    best = -np.linalg.solve(H, g)
    assert z0 @ found.costs[0] @ z0 == pytest.approx(c + g @ best, rel=1e-10)
    np.testing.assert_allclose(-found.gains[0] @ z0, best[:m], rtol=1e-8)


def test_a_long_horizon_leads_to_the_steady_regulator_which_is_stable() -> None:
    steady = steady_regulator(A, B, np.eye(2), np.eye(1))
    long = regulator(np.repeat(A[None], 400, 0), np.repeat(B[None], 400, 0), np.eye(2), np.eye(1))
    np.testing.assert_allclose(long.gains[0], steady.gains[0], rtol=1e-9)
    assert np.abs(np.linalg.eigvals(A - B @ steady.gains[0])).max() < 1.0


def test_what_does_not_fit_is_refused() -> None:
    As, Bs, Q, R, _ = along()
    with pytest.raises(InputError, match="Q and R have shapes"):
        regulator(As, Bs, Q[:2], R)
    with pytest.raises(InputError, match="give every input a cost"):
        regulator(As, 0.0 * Bs, Q, 0.0 * R)
    with pytest.raises(InputError, match="steady regulator"):
        steady_regulator(np.diag([2.0, 0.5]), np.array([[0.0], [1.0]]), np.eye(2), np.eye(1))


H, G = 0.1, 9.8


def _functions():  # type: ignore[no-untyped-def]
    """(6a) as e(θ, p, u, θ') and (6b) as p'(θ, θ'), with their derivatives by all of their arguments."""
    a, p, u, b = symbols = sympy.symbols("a p u b")
    e = p - (b - a) / H - G * H / 2 * sympy.sin((a + b) / 2) + u * H
    after = (b - a) / H - G * H / 2 * sympy.sin((a + b) / 2)
    parts = [(f, [f.diff(x) for x in symbols], sympy.hessian(f, symbols)) for f in (e, after)]
    return sympy.lambdify(symbols, parts)


PARTS = _functions()


class Linearized:
    def __init__(self, x: np.ndarray, u: np.ndarray) -> None:
        self.next = self._solved(x, u)
        (_, e, ee), (_, p, pp) = PARTS(x[0], x[1], u[0], self.next)
        by_w = -np.array(e[:3]) / e[3]
        total = np.vstack([np.eye(3), by_w])
        second_q = -(total.T @ np.array(ee, dtype=float) @ total) / e[3]
        second_p = total.T @ np.array(pp, dtype=float) @ total + p[3] * second_q
        rows = np.vstack([by_w, np.array(p) @ total])
        self.A, self.B, self.second = rows[:, :2], rows[:, 2:], (second_q, second_p)

    def _solved(self, x: np.ndarray, u: np.ndarray) -> float:
        b = x[0] + H * x[1]
        for _ in range(30):
            value, slopes, _ = PARTS(x[0], x[1], u[0], b)[0]
            b -= value / slopes[3]
            if abs(value) < 1e-13:
                return float(b)
        raise IntegrationError("no solution")

    def weighted_second(self, weights: np.ndarray) -> np.ndarray:
        return weights[0] * self.second[0] + weights[1] * self.second[1]


class Pendulum:
    def linearize(self, x: np.ndarray, u: np.ndarray) -> Linearized:
        return Linearized(x, u)

    def advance(self, x: np.ndarray, u: np.ndarray) -> np.ndarray:
        b = self.linearize(x, u).next
        return np.array([b, PARTS(x[0], x[1], u[0], b)[1][0]])


SYSTEM = Pendulum()


def swing_up(steps: int = 30) -> tuple[QuadraticCost, Trajectory]:
    """(35): hang for half of the time, then stand on the head; shorter than the paper's, and begun at rest."""
    x = np.zeros((steps + 1, 2))
    x[steps // 2 :, 0] = np.pi
    desired = Trajectory(x, np.zeros((steps, 1)))
    cost = QuadraticCost(desired, np.diag([1000.0, 1.0]), np.diag([50.0]))
    return cost, rollout(SYSTEM, np.zeros(2), desired.u)


def test_the_map_is_the_papers() -> None:
    np.testing.assert_allclose(SYSTEM.advance(np.array([0.2, 0.5]), np.array([0.8])), [0.2471, 0.3627], atol=5e-5)


@pytest.mark.parametrize("method", ["steepest", "quasi-newton", "newton"])
def test_slopes_are_those_of_the_projected_cost(method: str) -> None:
    cost, _ = swing_up(12)
    path = rollout(SYSTEM, np.array([0.3, 0.1]), np.sin(np.arange(12.0))[:, None])
    found = descent_direction(SYSTEM, cost, path, method)

    def projected(part: float) -> float:
        curve = Trajectory(path.x + part * found.direction.x, path.u + part * found.direction.u)
        return cost.value(closed_loop(SYSTEM, curve, found.gains))

    spread = 1e-5 / np.abs(found.direction.u).max()
    slope = (projected(spread) - projected(-spread)) / (2.0 * spread)
    assert found.slope == pytest.approx(slope, rel=1e-6)
    assert found.slope < 0.0


def test_newtons_method_converges_quadratically_to_where_the_cost_is_stationary() -> None:
    cost, start = swing_up()
    found = optimize(SYSTEM, cost, start, first_iterations=4, tolerance=1e-12)
    assert found.converged
    assert found.history[-1].method == "newton"
    slopes = np.array([abs(one.slope) for one in found.history])
    assert slopes[-1] < 1e-3 * slopes[-2] < 1e-3 * slopes[-3]
    assert np.all(np.diff([one.cost for one in found.history]) < 0.0)
    # Optimality without the projection: the costates' equation, H_u = 0.
    slope = cost.slopes(found.path)
    costate = slope.x[-1]
    for k in range(len(found.path.u) - 1, -1, -1):
        step = SYSTEM.linearize(found.path.x[k], found.path.u[k])
        assert abs(slope.u[k] + costate @ step.B) < 1e-5 * np.abs(slope.u).max()
        costate = slope.x[k] + costate @ step.A


def test_first_order_descent_needs_many_times_more_iterations() -> None:
    """Figure 3: 14 against 653 there."""
    cost, start = swing_up(20)
    fast = optimize(SYSTEM, cost, start, first_iterations=4)
    slow = optimize(SYSTEM, cost, start, method="steepest", first_iterations=4, max_iterations=3 * len(fast.history))
    assert not slow.converged
    assert slow.cost > fast.cost


def test_feedback_leads_back_to_the_trajectory_and_without_it_the_error_stays() -> None:
    """Figure 4: from (1, 1) in place of (0, 0)."""
    _, desired = swing_up(100)
    A, B = (
        np.array([getattr(SYSTEM.linearize(desired.x[k], u), name) for k, u in enumerate(desired.u)]) for name in "AB"
    )
    gains = regulator(A, B, np.eye(2), np.eye(1)).gains
    closed = closed_loop(SYSTEM, desired, gains, np.ones(2))
    opened = closed_loop(SYSTEM, desired, 0.0 * gains, np.ones(2))
    assert np.linalg.norm(closed.x[-1] - desired.x[-1]) < 0.1
    assert np.linalg.norm(opened.x[-10:] - desired.x[-10:], axis=1).max() > 1.0


def test_a_trajectory_that_does_not_fit_is_refused() -> None:
    cost, start = swing_up(4)
    with pytest.raises(InputError, match="methods are steepest, quasi-newton, newton"):
        optimize(SYSTEM, cost, start, method="bfgs")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one state more"):
        QuadraticCost(Trajectory(np.zeros((4, 2)), np.zeros((4, 1))), np.eye(2), np.eye(1))
    with pytest.raises(InputError, match=r"must be a symmetric \(2, 2\)"):
        QuadraticCost(cost.desired, np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(1))
