"""Controllability and regulators, against the paper's numbers, direct minimization and scipy."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from biped import InputError, optimal
from biped.optimal import controllability_matrix, controllability_rank, regulator, steady_regulator

# Section IV-A of Johnson, Schultz & Murphey 2014, with more digits than it prints.
A = np.array([[0.95333434, 0.09766672], [-0.93331323, 0.95333434]])
B = np.array([[0.00976667], [0.09533343]])


def test_the_papers_pendulum_is_controllable() -> None:
    np.testing.assert_allclose(controllability_matrix(A, B), [[0.00976, 0.0186], [0.09533, 0.0818]], atol=5e-5)
    assert controllability_rank(A, B) == 2


def test_rank_is_that_of_the_states_that_inputs_reach() -> None:
    rng = np.random.default_rng(0)
    blocks = [rng.normal(size=(n, n)) for n in (3, 12, 4)]
    basis = np.linalg.qr(rng.normal(size=(19, 19)))[0]
    whole = basis @ block_diag(*blocks) @ basis.T
    drive = basis @ np.vstack([rng.normal(size=(15, 1)), np.zeros((4, 1))])
    assert controllability_rank(whole, drive) == 15
    assert controllability_rank(whole, 0.0 * drive) == 0


def test_outputs_tell_the_states_apart_that_they_differ_by() -> None:
    """A free mass: its place tells its rate too, its rate not its place; outputs of x₀ by the matrix, step by step."""
    free, place, rate = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    assert optimal.observability_rank(free, place) == 2
    assert optimal.observability_rank(free, rate) == 1
    x = np.array([0.3, -1.2])
    np.testing.assert_allclose(optimal.observability_matrix(free, place) @ x, [0.3, 0.3 - 0.12])


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
    with pytest.raises(InputError, match=r"must be \(n, n\) and \(n, m\)"):
        controllability_rank(A, np.zeros((3, 1)))
    with pytest.raises(
        InputError, match=r"A and C have shapes \(2, 2\) and \(2, 3\); they must be \(n, n\) and \(k, n\)"
    ):
        optimal.observability_rank(A, np.zeros((2, 3)))
    As, Bs, Q, R, _ = along()
    with pytest.raises(InputError, match="Q has shape"):
        regulator(As, Bs, Q[:2], R)
    with pytest.raises(InputError, match="give every input a cost"):
        regulator(As, 0.0 * Bs, Q, 0.0 * R)
    with pytest.raises(InputError, match="steady state"):
        steady_regulator(np.diag([2.0, 0.5]), np.array([[0.0], [1.0]]), np.eye(2), np.eye(1))
