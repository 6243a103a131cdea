"""Refusals: impossible inputs give one-line errors, and unsolved steps raise."""

import numpy as np
import pytest
import sympy

from biped.errors import InputError, IntegrationError
from formulations import lagrangian
from tests.refusals import refuses

from .conftest import BODY_START, DSP, dsp_start, kepler, kepler_in_polar_coordinates, pendulum

x, y = sympy.symbols("x y", real=True)


@refuses(
    ({"coordinates": ()}, "at least one"),
    ({"coordinates": (x, x), "mass": (1, 1)}, "no name may occur twice"),
    ({"coordinates": (x,)}, "either mass"),
    ({"coordinates": (x,), "mass": (1,), "lagrangian": lagrangian.rate(x) ** 2}, "not both"),
    ({"coordinates": (x,), "lagrangian": lagrangian.rate(x) ** 2, "potential": x}, "must include the potential"),
    ({"coordinates": (x,), "mass": (1, 2)}, "must be square"),
    ({"coordinates": (x, y), "mass": (1, 1), "forces": [x]}, "one for each"),
    ({"coordinates": (x,), "mass": (1,), "constraints": [x]}, "must be fewer than coordinates"),
    ({"coordinates": (x,), "mass": (1,), "potential": y}, "potential contains y"),
    ({"coordinates": (x, y), "mass": (1, 1), "constraints": [lagrangian.rate(x)]}, "constraints contains v_x"),
    ({"coordinates": (x,), "mass": (1,), "parameters": {y: float("nan")}}, "must be finite"),
    ({"coordinates": (x,), "mass": (1,), "chart": lagrangian.Chart([y], [y, y])}, "must map 1"),
    ({"coordinates": (x,), "mass": (1,), "chart": lagrangian.Chart([x], [x])}, "x: two columns"),
    ({"coordinates": (x,), "mass": (1,), "conserved": {"energy": lagrangian.rate(x)}}, "energy: two columns"),
    ({"coordinates": (x,), "mass": (1,), "potential": y, "invariants": {y: x**3}}, "quadratic"),
    ({"coordinates": (x,), "mass": (1,), "potential": y, "invariants": {y: sympy.sqrt(x)}}, "quadratic"),
    ({"coordinates": (x, y), "mass": (1, 1), "constraints": [sympy.Eq(y, x**2)]}, "write a = b as a - b"),
    ({"coordinates": (x, y), "mass": (1, 1), "constraints": y - x**2}, "list of one or more expressions"),
    ({"coordinates": (x,), "mass": (1,), "potential": sympy.oo * x}, "finite expression"),
    ({"coordinates": (x,), "mass": (1,), "parameters": {x: 1.0}}, "x: a symbol can only be one of"),
    ({"coordinates": (x,), "mass": (1,), "inertia": sympy.diag(y, 1, 1)}, "inertia contains y"),
)
def test_systems_that_do_not_fit_together(what):
    lagrangian.System(**what)


@refuses(
    ({"q0": [0.0, 1.0]}, r"must be \(6,\): x1, y1, z1, x2, y2, z2"),
    ({"q0": [np.nan] * 6}, "q0 = .* must be finite"),
    ({"v0": [np.inf] * 6}, "v0 = .* must be finite"),
    ({"v0": None}, "either a velocity v0 or a second"),
    ({"q1": dsp_start()[0]}, "either a velocity v0 or a second"),
    ({"v0": None, "q1": dsp_start()[0] + 0.1}, "q1 is off the constraints"),
    ({"composition": ()}, "one or more weights"),
    ({"composition": (0.5, 0.6)}, "add up to 1"),
    ({"method": "first-order-dvp", "composition": (0.5, 0.5)}, "needs a symmetric method"),
    ({"composition": (0.5, 0.5), "v0": None, "q1": dsp_start()[0]}, "cannot start from two configurations"),
    ({"method": "euler"}, "unknown method 'euler'"),
    ({"method": "rigid-energy-momentum"}, "needs System.inertia"),
    ({"method": "energy-momentum", "v0": None, "q1": dsp_start()[0]}, "no discrete Lagrangian"),
)
def test_starts_that_cannot_be(dsp, change):
    q0, v0 = dsp_start()
    arguments = {"method": "midpoint-dvp", "q0": q0, "v0": v0, "step": 0.1, "duration": 1.0} | change
    dsp.integrate(**arguments)


ROOT, CORNER = sympy.sqrt(x), sympy.Abs(x)  # the first is left by x; y, which nothing pushes, has no residual at all


@pytest.mark.parametrize(
    ("system", "method", "q", "v", "step", "error", "message"),
    [
        *(
            (kepler_in_polar_coordinates, name, [1.0, 0.0], [0.0, 1.0], 0.1, InputError, "constant mass")
            for name in ("shake", "rattle", "energy-momentum")
        ),
        (kepler, "generalized-dvp", [1.0, 0.0], [0.0, 1.0], 0.1, InputError, r"needs System\.chart"),
        (lambda: lagrangian.System(coordinates=(x, y), mass=(1, 0)), "midpoint-dvp", [0.0, 0.0], [0.0, 1.0], 0.1,
         InputError, "mass matrix is singular"),
        (lambda: lagrangian.System(coordinates=(x,), mass=(1,), potential=CORNER), "midpoint-dvp", [1.0], [0.0], 0.01,
         InputError, "^DiracDelta cannot be compiled"),
        (lambda: lagrangian.System(coordinates=(x, y), mass=(1, 1), potential=ROOT), "midpoint-dvp", [0.05, 1.0],
         [-1.0, 1.0], 0.01, IntegrationError, "relative residual is nan"),
        # In the centre of −1/r, with a momentum that carries the first step out of it.
        (kepler, "midpoint-dvp", [0.0, 0.0], [1.0, 0.0], 0.5, IntegrationError, "at t = "),
        (pendulum, "shake", [1.5, 0.0], [0.0, 0.0], 2.0,
         IntegrationError, r"shake at t = .* s: the step of 2 s .* residual is"),
    ],
)  # fmt: skip
def test_what_cannot_be_solved_says_when_and_how_far(system, method, q, v, step, error, message):
    with pytest.raises(error, match=message):
        system().integrate(method, q, v, step=step, duration=20.0)


def test_examples_refuse_what_is_no_body():
    with pytest.raises(InputError, match="above zero"):
        lagrangian.double_spherical_pendulum(m1=0.0)
    for inertia in ((1.0, 2.0), (1.0, -2.0, 3.0), [[1, 1, 0], [0, 1, 0], [0, 0, 1]]):
        with pytest.raises(InputError, match="must be"):
            lagrangian.rigid_body(inertia)


def test_methods_have_names():
    with pytest.raises(InputError, match="unknown method"):
        lagrangian.lagrangian_method_named("verlet")


def test_rows_progress_and_counts(dsp):
    done = []
    run = dsp.integrate("rattle", *dsp_start(), step=0.001, duration=10.0, every=10, progress=done.append)
    assert done[-1] == 1.0
    assert list(run.frame.columns[:7]) == ["time", *DSP]
    assert len(run.frame) == 1001
    assert len(run.multipliers) == 1000
    assert run.metrics["steps"] == 10_000
    assert 1.0 <= run.metrics["newton_mean"] <= run.metrics["newton_max"]
    assert run.metrics["residual"] < 1e-8
    none = dsp.integrate("rattle", *dsp_start(), step=0.001, duration=0.0)
    assert len(none.frame) == 1
    assert none.multipliers.empty


def test_chunks_do_not_change_a_result(body, monkeypatch):
    from formulations.lagrangian import integrate

    whole = body.integrate("midpoint-dvp", *BODY_START, step=0.01, duration=3.0).frame
    monkeypatch.setattr(integrate, "CHUNK", 7)
    assert body.integrate("midpoint-dvp", *BODY_START, step=0.01, duration=3.0).frame.equals(whole)
