"""Differences that have converged, and both engines' derivatives held against them."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from experiments.benchmarks.linearization import COMPILED, OURS, PERIOD, SECOND, beside_mujoco, converged


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
    assert found[OURS].error < 3e-9
    theirs = [way for name, way in found.items() if name.startswith("MuJoCo")]
    assert 1e-7 < min(way.error for way in theirs) < 1e-4
    assert max(way.error for way in theirs) > 1e-2
    assert all(way.doubt < 1e-8 for way in (found[OURS], *theirs))
    assert all(len(found[name].times) == 1 for name in (OURS, COMPILED, SECOND, PERIOD))
