"""Optimal trajectories of the paper's pendulum, its map written out here with its derivatives by SymPy."""

import numpy as np
import pytest
import sympy

from biped.errors import InputError, IntegrationError
from biped.optimal import QuadraticCost, Trajectory, closed_loop, descent_direction, optimize, regulator, rollout

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
    step = H

    def linearize(self, x: np.ndarray, u: np.ndarray, time: float = 0.0) -> Linearized:
        return Linearized(x, u)

    def advance(self, x: np.ndarray, u: np.ndarray, time: float = 0.0) -> np.ndarray:
        b = self.linearize(x, u).next
        return np.array([b, PARTS(x[0], x[1], u[0], b)[1][0]])


SYSTEM = Pendulum()


def swing_up(steps: int = 30) -> tuple[QuadraticCost, Trajectory]:
    """(35): hang for half of the time, then stand on the head; shorter than the paper's, and begun at rest."""
    x = np.zeros((steps + 1, 2))
    x[steps // 2 :, 0] = np.pi
    wanted = Trajectory(x, np.zeros((steps, 1)))
    cost = QuadraticCost(wanted, np.diag([1000.0, 1.0]), np.diag([50.0]))
    return cost, rollout(SYSTEM, np.zeros(2), wanted.u)


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
    _, wanted = swing_up(100)
    A, B = (
        np.array([getattr(SYSTEM.linearize(wanted.x[k], u), name) for k, u in enumerate(wanted.u)]) for name in "AB"
    )
    gains = regulator(A, B, np.eye(2), np.eye(1)).gains
    closed = closed_loop(SYSTEM, wanted, gains, np.ones(2))
    opened = closed_loop(SYSTEM, wanted, 0.0 * gains, np.ones(2))
    assert np.linalg.norm(closed.x[-1] - wanted.x[-1]) < 0.1
    assert np.linalg.norm(opened.x[-10:] - wanted.x[-10:], axis=1).max() > 1.0


def test_a_trajectory_that_does_not_fit_is_refused() -> None:
    cost, start = swing_up(4)
    with pytest.raises(InputError, match="methods are steepest, quasi-newton, newton"):
        optimize(SYSTEM, cost, start, method="bfgs")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="one state more"):
        QuadraticCost(Trajectory(np.zeros((4, 2)), np.zeros((4, 1))), np.eye(2), np.eye(1))
    with pytest.raises(InputError, match=r"must be a symmetric \(2, 2\)"):
        QuadraticCost(cost.wanted, np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(1))
