"""Generated modules: exact derivatives, cached on disk, one module for all parameter values."""

import sys

import numpy as np
import pytest

from formulations.lagrangian import LAGRANGIAN_METHODS, build, double_spherical_pendulum, rigid_body
from formulations.lagrangian.build import built
from formulations.lagrangian.kernels import equations, loop
from tests.differences import jacobian

from ...conftest import run_python
from .conftest import crystal, kepler, kepler_in_polar_coordinates, pendulum, quartic

CONSTANT_MASS = ("midpoint-dvp", "first-order-dvp", "shake", "rattle", "energy-momentum")
CASES = [
    *[(kepler, name) for name in CONSTANT_MASS],
    *[(quartic, name) for name in CONSTANT_MASS],
    (crystal, "energy-momentum"),
    *[(kepler_in_polar_coordinates, name) for name in ("midpoint-dvp", "first-order-dvp")],
    *[(lambda: pendulum(0.3), name) for name in (*CONSTANT_MASS, "generalized-dvp")],
    *[(double_spherical_pendulum, name) for name in (*CONSTANT_MASS, "generalized-dvp")],
    *[
        (lambda: rigid_body((1.0, 2.0, 3.0)), name)
        for name in ("midpoint-dvp", "first-order-dvp", "generalized-dvp", "rigid-energy-momentum")
    ],
]


def departure(exact, fill, x):
    """Return the difference of a matrix from ∂r/∂x of ``fill(x, r)``."""

    def filled(x):
        r = np.zeros(len(exact))
        fill(x, r)
        return r

    return jacobian(filled, x, 1e-3, 1e-4).departure(exact, 1e-7, alike=True)


@pytest.mark.parametrize(("make", "name"), CASES)
def test_generated_derivatives_are_those_of_the_residuals(make, name):
    system = make()
    module = built(system, name)
    rng = np.random.default_rng(1)
    n, k, w = module.SIZE, module.UNKNOWNS, module.VELOCITY_ROWS
    q, p, z, c = 0.3 * rng.uniform(0.5, 1.5, n), rng.normal(size=n), rng.normal(size=k), system.parameter_values
    A = np.zeros((k, k))
    module.set_equations(q, p, z, 0.05, c, np.zeros(k), A)
    assert departure(A, lambda x, r: module.set_equations(q, p, x, 0.05, c, r, np.zeros((k, k))), z) <= 1.0
    B, v = np.zeros((w, w)), rng.normal(size=w)
    module.set_velocity_equations(q, p, v, c, np.zeros(w), B)
    assert departure(B, lambda x, r: module.set_velocity_equations(q, p, x, c, r, np.zeros((w, w))), v) <= 1.0
    if module.CONSTRAINTS:
        G = np.zeros((module.CONSTRAINTS, n))
        module.set_constraints(q, c, np.zeros(module.CONSTRAINTS), G)
        assert departure(G, lambda x, g: module.set_constraints(x, c, g, np.zeros_like(G)), q) <= 1.0


def test_the_template_stands_for_itself():
    h, steps = 0.1, 50
    state, report = np.array([[1.0], [0.0]]), np.zeros(4)
    table = np.zeros((steps + 1, 3 * equations.SIZE + equations.OBSERVED))
    scratch = (*(np.zeros(1) for _ in range(8)), np.zeros((1, 1)), np.zeros((1, 1)))
    past, weights, held = np.zeros((1, 3, 1)), np.ones(1), np.zeros((steps, 0))
    c, solver = np.ones(1), (1e-14, 20, 10)
    outcome = loop.advance(state, past, 0, 0, c, h, weights, steps, 1, table, held, scratch, solver, report)
    assert outcome == loop.DONE
    turn = 2.0 * np.arctan(h / 2.0)
    np.testing.assert_allclose(table[:, 0], np.cos(turn * np.arange(steps + 1)), atol=1e-13)
    np.testing.assert_allclose(table[:, 3], 0.5, atol=1e-14)


def test_other_values_of_parameters_are_the_same_module():
    assert built(double_spherical_pendulum(m1=1.0), "shake") is built(double_spherical_pendulum(l2=0.5), "shake")
    assert built(rigid_body((1, 2, 3)), "midpoint-dvp") is not built(rigid_body((1, 2, 3)), "first-order-dvp")


SECOND_PROCESS = """
from formulations.lagrangian import build, double_spherical_pendulum
build.module_text = None
system, start = double_spherical_pendulum(), ([4.0, 0.0, 0.0, 4.0, 0.0, -3.0], [0.0] * 6)
system.integrate("shake", *start, step=0.01, duration=0.0)
advance = build.built(system, "shake").advance
print(sum(advance.stats.cache_hits.values()), sum(advance.stats.cache_misses.values()))
"""


def test_a_second_process_neither_derives_nor_compiles():
    start = [4.0, 0.0, 0.0, 4.0, 0.0, -3.0], [0.0] * 6
    double_spherical_pendulum().integrate("shake", *start, step=0.01, duration=0.0)
    found = run_python(SECOND_PROCESS)
    assert found.stderr == ""
    assert found.stdout.split() == ["1", "0"]


def test_a_module_that_fails_is_not_kept(tmp_path):
    path = tmp_path / "half_loaded.py"
    path.write_text("VALUE = 1\nraise ArithmeticError('half')\n")
    with pytest.raises(ArithmeticError, match="half"):
        build._loaded("half_loaded", path)
    assert "half_loaded" not in sys.modules


def test_of_two_candidates_that_differ_by_rounding_the_better_is_kept(monkeypatch):
    """A residual that Newton's step makes worse, both below what rounding leaves: z is the one before, and r its."""
    calls = []

    def set_equations(_q, _p, z, _h, _c, r, A):
        calls.append(float(z[0]))
        r[0] = 1e-12 if z[0] == 1.0 else 5e-12
        A[0, 0] = 1.0

    monkeypatch.setattr(loop, "set_equations", set_equations)
    for name in ("solve_step", "set_scales", "set_scales_at_rest", "relative", "eliminate"):
        monkeypatch.setattr(loop, name, getattr(getattr(loop, name), "py_func", getattr(loop, name)))
    z, r = np.ones(1), np.zeros(1)
    scratch = r, np.zeros((1, 1)), np.zeros(1), np.zeros(1), np.zeros(1)
    found = loop.solve_step(np.ones(1), np.ones(1), z, 0.1, np.zeros(0), *scratch, 1e-14, 20, 5)
    assert found == (True, 1e-12, 1)
    assert (z[0], r[0]) == (1.0, 1e-12)
    assert len(calls) == 3


def test_methods_have_a_table_of_what_they_can_do():
    for name, method in LAGRANGIAN_METHODS.items():
        assert method.name == name
        assert method.paper
        assert method.coordinates in ("constrained", "generalized", "quaternion")
        assert not method.takes_contact
        assert not (method.symplectic and method.conserves_energy)
