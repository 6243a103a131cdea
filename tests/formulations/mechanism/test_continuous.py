"""Continuous dynamics: accelerations and multipliers against the twin's, and the baselines that integrate them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.errors import IntegrationError
from formulations import mechanism as mech
from formulations.mechanism import rx, ry, tx, ty, tz

from .closed_chains import four_bar, mechanism_of, rssr
from .random_frames import random_mechanism
from .twin import twin_of

G = 9.81


@pytest.mark.parametrize(("seed", "loops", "prescribed"), [(0, 0, 0), (1, 6, 0), (2, 3, 2), (3, 0, 2), (4, 2, 1)])
def test_accelerations_and_multipliers_are_the_papers(seed, loops, prescribed):
    """(29) and (36a, b), by recursions in O(n) against dense second derivatives, also off the constraints' tangents."""
    mechanism, q = random_mechanism(seed, loops=loops, prescribed=prescribed)
    twin = twin_of(mechanism)
    v = np.random.default_rng(seed).normal(size=mechanism.size)
    found = mech.accelerations(mechanism, q, v, time=0.4)
    expected, multipliers = twin.accelerations(q, v, 0.4)
    assert_allclose(found.coordinates, expected, rtol=1e-9, atol=1e-9)
    twin.tree.set(q, v)
    force = mechanism.constraint_jacobian(q).T @ found.multipliers
    assert_allclose(force, twin.Dh().T @ multipliers, rtol=1e-9, atol=1e-9)


def test_accelerations_of_kinematic_variables_drive_the_others():
    mechanism = mech.Mechanism("shaken", [tx(mech.kinematic("x"), ry("a", tz(-0.5, mass=2.0)))])
    found = mech.accelerations(mechanism, {"a": 0.4}, {}, given={"x": 3.0}).coordinates
    assert_allclose(found, [3.0, (3.0 * np.cos(0.4) - G * np.sin(0.4)) / 0.5], rtol=1e-12)


@pytest.mark.parametrize("make", [four_bar, rssr])
def test_dormand_and_prince_follow_the_motion_of_one_coordinate(make):
    chain = make()
    mechanism = mechanism_of(chain)
    q = chain.configuration(chain.start)
    motion = mech.integrate(mechanism, 1.0, 0.1, method="dop853", q=q, tolerance=1e-12)
    expected = chain.motion(motion.frame["time"].to_numpy())
    assert_allclose(motion.q[:, 0], expected[:, 0], atol=1e-8)
    assert_allclose(motion.v[:, 0], expected[:, 1], atol=1e-7)
    for k in (3, 7):
        now = mech.accelerations(mechanism, motion.q[k], motion.v[k])
        assert_allclose(motion.frame.filter(like="multiplier_").to_numpy()[k], now.multipliers, rtol=1e-9)


def test_runge_kutta_is_of_order_four():
    mechanism, q = random_mechanism(6, prescribed=1, loops=0)
    given = {mechanism.kinematic_coordinates[0]: lambda t: 0.2 * np.sin(2.0 * t)}
    options = {"q": q, "kinematic": given, "start": 0.3}
    exact = mech.integrate(mechanism, 0.4, 0.4, method="dop853", tolerance=1e-12, **options)
    steps, errors = np.array([0.02, 0.01, 0.005]), []
    for step in steps:
        found = mech.integrate(mechanism, 0.4, step, record_every=round(0.4 / step), **options)
        errors.append(np.abs(found.frame.iloc[-1] - exact.frame.iloc[-1]).max())
    assert np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(4.0, abs=0.3)
    gap = found.frame["energy"] - found.frame["work"]
    assert not np.isnan(gap).any()


def test_columns_are_those_of_the_variational_integrator_and_both_agree():
    links = rx("b", tz(-0.7, mass=(0.8, 0.1, 0.2, 0.1), name="tip"))
    frames = [
        tx(mech.kinematic("x"), ry("a", tz(-1.0, links, mass=1.0))),
        tx(0.5, ry("c", tz(-1.2, mass=1.0, name="other"))),
    ]
    plain, q = mech.Mechanism("pair", frames, forces=[mech.Damper("b", 0.2)]), [0.0, 0.3, 0.2, -0.4]
    gap = np.linalg.norm(plain.frame("tip").position(q) - plain.frame("other").position(q))
    mechanism = replace(plain, constraints=[mech.Distance("tip", "other", float(gap))])
    given = {"x": lambda t: 0.1 * np.sin(3.0 * t) ** 3}
    options = {"q": q, "kinematic": given}
    exact = mech.integrate(mechanism, 1.0, 0.01, method="dop853", tolerance=1e-11, **options).frame
    gaps = []
    for step in (0.01, 0.005):
        frame = mechanism.simulate(1.0, step, record_every=round(0.01 / step), **options).frame
        assert [name for name in frame if name != "newton_iterations"] == list(exact)
        # Momenta before a constraint's impulse are not those of the rates.
        names = [name for name in exact if not name.startswith("momentum_")]
        gaps.append((frame[names] - exact[names]).iloc[1:-1].abs().max())
    assert (gaps[0].drop(["time", "position_x"]) / gaps[1].drop(["time", "position_x"])).between(3.0, 5.0).all()


def test_constraints_drift_where_accelerations_alone_keep_them():
    """What the variational integrator is held against: at the same step, and without stabilization."""
    chain = four_bar()
    mechanism, q = mechanism_of(chain), chain.configuration(chain.start)
    explicit, ours = mech.integrate(mechanism, 20.0, 0.02, q=q), mechanism.simulate(20.0, 0.02, q=q)
    off = [mechanism.largest_constraints(one.q).max() for one in (explicit, ours)]
    assert off[0] > 1e-5
    assert off[1] < 1e-9


def test_what_cannot_be_integrated_is_told():
    pendulum = mech.Mechanism("pendulum", [ry("a", tz(-1.0, mass=1.0))])
    with pytest.raises(mech.MechanismError, match="it must be one of rk4, dop853"):
        mech.integrate(pendulum, 1.0, method="euler")
    with pytest.raises(mech.MechanismError, match="whole number of steps"):
        mech.integrate(pendulum, 1.0, 0.3)
    massless = mech.Mechanism("massless", [ry("a", tz(-1.0))])
    with pytest.raises(mech.MechanismError, match="massless at q: the derivative of the equations is singular"):
        mech.accelerations(massless, {}, {})
    with pytest.raises(mech.MechanismError, match="mass matrix is singular"):
        mech.integrate(massless, 1.0)
    links = ry("a", tz(-1.0, mass=1.0, name="tip"))
    twice = mech.Mechanism("twice", [tx(0.0, name="pivot"), links], constraints=[mech.Distance("tip", "pivot", 1.0)])
    with pytest.raises(mech.MechanismError, match="depend on each other"):
        mech.accelerations(twice, {}, {})


@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_a_motion_that_ends_in_a_singularity_says_when_and_keeps_what_was(method):
    spinning = mech.Mechanism("gimbal", [rx("a", ry("b", rx("c", mass=(1.0, 1.0, 2.0, 3.0))))], gravity=None)
    with pytest.raises(IntegrationError, match=r"gimbal at t = .* s: ") as caught:
        mech.integrate(spinning, 5.0, 0.01, method=method, q={"b": 0.5}, v={"b": -1.0})
    assert 0 < len(caught.value.run.frame) < 60
    assert not caught.value.run.frame.isna().any(axis=None)


def test_a_baselines_motion_is_a_run_too():
    pendulum = mech.Mechanism("pendulum", [ry("a", tz(-1.0, mass=1.0, name="tip"))])
    assert mech.integrate(pendulum, 0.1, q={"a": 0.3}).run.verdict_line.startswith("completed")


@pytest.mark.parametrize("driven", [False, True])
def test_a_string_that_is_let_out_stays_as_long_as_it_is_told(driven):
    """d²h/dt² = 0 along the accelerations, the length being a coordinate that is free or given."""
    bob = tx("x", ty("y", tz("z", name="bob", mass=1.3)))
    length = tx(mech.kinematic("length") if driven else "length", mass=0.7)
    mechanism = mech.Mechanism("string", [bob, length], constraints=[mech.Distance("bob", "world", "length")])
    q = np.array([0.3, -0.4, -1.1, np.sqrt(0.09 + 0.16 + 1.21)])
    v = np.array([0.5, 0.7, -0.2, 0.0])
    v[3] = q[:3] @ v[:3] / q[3]
    found = mech.accelerations(mechanism, q, v, given={"length": 0.9} if driven else None).coordinates

    def h(t):
        return mechanism.constraint_values(q + v * t + 0.5 * found * t * t)[0]

    bend = (-h(0.02) + 16.0 * h(0.01) - 30.0 * h(0.0) + 16.0 * h(-0.01) - h(-0.02)) / (12.0 * 0.01**2)
    assert bend == pytest.approx(0.0, abs=1e-6)
    assert (found[3] == 0.9) == driven
