"""Differences that have converged, and both engines' derivatives held against them."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from experiments.benchmarks.linearization import OURS, beside_mujoco, converged


def test_differences_converge_to_the_derivative():
    """Of a map with a known one, which is far from linear."""
    rng = np.random.default_rng(0)
    M, x = 3.0 * rng.normal(size=(6, 6)), rng.normal(size=6)
    found = converged(lambda column, reach: np.sin(M @ (x + reach * np.eye(6)[column])) * 100.0, 6)
    exact = 100.0 * np.cos(M @ x)[:, None] * M
    assert found.doubt < 1e-9
    assert found.error(exact) < 10.0 * found.doubt + 1e-12
    assert found.error(exact * (1.0 + 1e-6)) == pytest.approx(1e-6, rel=1e-3)


@pytest.mark.slow
def test_ours_is_exact_and_mujocos_are_differences():
    found = beside_mujoco(1)
    errors, doubts = ({name: row[k] for name, row in found.items()} for k in (3, 4))
    assert errors[OURS] < 3e-9
    theirs = [name for name in found if name.startswith("MuJoCo")]
    assert 1e-7 < min(errors[name] for name in theirs) < 1e-4
    assert max(errors[name] for name in theirs) > 1e-2
    assert all(doubts[name] < 1e-8 for name in (OURS, *theirs))
    assert all(row[0] == row[2] > 0.0 for row in found.values())
