"""Mechanisms: what is conserved, what is refused and what ends a motion, each with a sentence."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from biped import IntegrationError, ModelError, Signal
from formulations import mechanism as mech
from formulations.mechanism import rx, ry, rz, tx, ty, tz

G = 9.81


def pendulum(**options) -> mech.Mechanism:
    return mech.Mechanism("pendulum", [ry("a", tz(-1.0, name="tip", mass=2.0))], **options)


def free_body(*children, name: str = "b") -> object:
    inner = rz("rz", *children, name=name, mass=(2.0, 0.1, 0.2, 0.25))
    return tx("x", ty("y", tz("z", rx("rx", ry("ry", inner)))))


def four_bar() -> tuple[mech.Mechanism, np.ndarray]:
    """A crank, a coupler and a rocker of 1, 2 and 1.5 m, grounded 2 m apart; and a start."""
    crank = ry("a", tz(-0.5, mass=1.0), tz(-1.0, ry("b", tz(-1.0, mass=1.0), tz(-2.0, name="end"))))
    rocker = tx(2.0, ry("c", tz(-0.75, mass=1.0), tz(-1.5, name="top")))
    m = mech.Mechanism("four-bar", [crank, rocker], constraints=[mech.Coincident("end", "top", "xz")])
    return m, m.satisfy_constraints({"a": -0.9, "b": -0.8, "c": 0.3})


def test_a_pendulum_keeps_its_energy_and_its_period() -> None:
    run = pendulum().simulate(20.0, 0.01, q={"a": 0.1})
    energy = run.frame["energy"]
    assert np.ptp(energy) < 1e-6 * 2.0 * G
    angle = run.frame["angle_a"].to_numpy()
    rising = np.flatnonzero((angle[:-1] < 0.0) & (angle[1:] >= 0.0))
    crossings = rising * 0.01 - 0.01 * angle[rising] / (angle[rising + 1] - angle[rising])
    period = 2.0 * np.pi * np.sqrt(1.0 / G) * (1.0 + 0.1**2 / 16.0)
    assert np.diff(crossings).mean() == pytest.approx(period, rel=2e-4)


def test_a_free_body_keeps_its_momenta_to_rounding() -> None:
    body = mech.Mechanism("body", [free_body()], gravity=None)
    run = body.simulate(2.0, 0.01, q={"x": 0.3, "rx": 0.2, "ry": -0.4}, v=[0.3, -0.2, 0.4, 1.0, -2.0, 1.5])
    for row in (0, 1, 2):
        np.testing.assert_allclose(run.momentum[:, row], run.momentum[0, row], rtol=0, atol=1e-13)
    spins = []
    for q, v in zip(run.q[::20], run.v[::20], strict=True):
        frame = body.frame("b")
        R, twist = frame.rotation(q), frame.velocity(q, v)
        spins.append(R @ (np.array([0.1, 0.2, 0.25]) * (R.T @ twist[3:])))
    assert np.ptp(spins, axis=0).max() < 2e-3  # of second order: the angles are no quaternion


def test_a_closed_chain_stays_closed_and_keeps_its_energy() -> None:
    m, start = four_bar()
    run = m.simulate(10.0, 0.01, q=start)
    assert run.constraint_errors.max() < 1e-10
    assert np.ptp(run.frame["energy"]) < 1e-3 * np.ptp(run.frame["potential_energy"])
    # The forces in the pin hold what is in motion: Newton's law of the rocker about its hinge.
    k = 250
    q, a = run.q[k], (run.v[k + 1, 2] - run.v[k - 1, 2]) / 0.02
    arm = m.frame("top").position(q) - np.array([2.0, 0.0, 0.0])
    force = -np.array([run.frame["multiplier_end_top_x"][k], 0.0, run.frame["multiplier_end_top_z"][k]])
    moment = np.cross(arm, force)[1] + np.cross(0.5 * arm, [0.0, 0.0, -G])[1]
    assert moment == pytest.approx(0.75**2 * a, rel=1e-2)


@pytest.mark.parametrize("force", ["torque", "body", "hybrid", "spatial"])
def test_forces_do_the_work_that_the_energy_gains(force: str) -> None:
    push = Signal.half_sine(3.0, 0.1, 0.5)
    acting = {
        "torque": mech.Torque("b", push),
        "body": mech.BodyWrench("tip", force=(push, 0.0, 0.2), moment=(0.0, 0.1, 0.0)),
        "hybrid": mech.HybridWrench("tip", force=(0.3, 0.0, push)),
        "spatial": mech.SpatialWrench("tip", force=(push, 0.0, 0.0), moment=(0.0, 0.4, 0.0)),
    }[force]
    links = ry("a", tz(-1.0, ry("b", tz(-0.7, name="tip", mass=1.0)), mass=(2.0, 0.1, 0.1, 0.1)))
    m = mech.Mechanism("double", [links], forces=[acting, mech.Damper("a", 0.3)])
    errors = []
    for step in (0.01, 0.005):
        run = m.simulate(1.0, step, q={"a": 0.4})
        errors.append(np.abs(run.frame["energy"] - run.frame["work"] - run.frame["energy"][0]).max())
    assert errors[1] < 0.3 * errors[0]
    assert errors[1] < 1e-3


def test_newtonian_gravity_holds_a_circle() -> None:
    planet = tx("x", ty("y", mass=1.0, name="planet"))
    m = mech.Mechanism(
        "orbit", [tz(0.0, mass=5.0, name="sun"), planet], None, [mech.NewtonianGravity("sun", "planet", 2.0)]
    )
    speed = np.sqrt(2.0 * 5.0)
    run = m.simulate(2.0, 0.005, q={"x": 1.0}, v={"y": speed})
    np.testing.assert_allclose(np.hypot(*run.q.T), 1.0, atol=1e-3)
    spin = run.q[:, 0] * run.momentum[:, 1] - run.q[:, 1] * run.momentum[:, 0]
    np.testing.assert_allclose(spin, speed, rtol=1e-11)


def test_lines_and_planes_hold() -> None:
    slope = ry(0.3, name="slope")
    m = mech.Mechanism("line", [slope, free_body()], constraints=[mech.PointOnLine("slope", (1, 0, 0), "b")])
    end = m.simulate(1.0, 0.01).q[-1]
    np.testing.assert_allclose(end[:3], 0.5 * G * np.sin(0.3) * np.array([np.cos(0.3), 0.0, -np.sin(0.3)]), atol=1e-6)
    m = mech.Mechanism("plane", [slope, free_body()], constraints=[mech.PointOnPlane("slope", (0, 0, 1), "b")])
    run = m.simulate(1.0, 0.01, v={"y": 0.5})
    np.testing.assert_allclose(run.q[-1, :3], [*end[:1], 0.5, *end[2:3]], atol=1e-6)
    assert run.frame.filter(like="multiplier").iloc[50, 0] == pytest.approx(2.0 * G * np.cos(0.3), rel=1e-6)


def test_a_torsional_spring_and_a_rod() -> None:
    wheel = ry("p", mass=(1.0, 1.0, 0.5, 1.0))
    run = mech.Mechanism("torsion", [wheel], None, [mech.CoordinateSpring("p", 8.0, 0.1)]).simulate(
        1.0, 0.002, q={"p": 0.3}
    )
    np.testing.assert_allclose(run.frame["angle_p"], 0.1 + 0.2 * np.cos(4.0 * run.frame["time"]), atol=1e-4)
    m = mech.Mechanism(
        "rod", [tx("x", tz("z", name="bob", mass=1.0))], constraints=[mech.Distance("bob", "world", 2.0)]
    )
    run = m.simulate(1.0, 0.01, q={"z": -2.0}, v={"x": 0.0})
    np.testing.assert_allclose(run.frame["multiplier_bob_world"], -G, rtol=1e-9)


def refused(match: str, make) -> None:
    with pytest.raises((mech.MechanismError, ModelError), match=match):
        make()


def test_what_does_not_fit_is_told() -> None:
    tip = ry("a", tz(-1.0, name="tip", mass=1.0))
    refused("unknown frame 'tap'", lambda: mech.Mechanism("m", [tip], constraints=[mech.Distance("tip", "tap", 1.0)]))
    refused("unknown configuration variable", lambda: mech.Mechanism("m", [tip], forces=[mech.Damper("b", 1.0)]))
    refused("nothing can move", lambda: mech.Mechanism("m", [tz(1.0, mass=1.0)]))
    refused("is not a Potential", lambda: mech.Mechanism("m", [tip], potentials=[mech.Damper("a", 1.0)]))
    refused("has no mass", lambda: mech.Mechanism("m", [tip], potentials=[mech.NewtonianGravity("tip", "world")]))
    refused("alpha", lambda: pendulum().simulate(1.0, alpha=1.5))
    refused("no motion for k", lambda: mech.Mechanism("m", [tx(mech.kinematic("k"), tip)]).simulate(1.0))
    refused("not a kinematic variable", lambda: pendulum().simulate(1.0, kinematic={"a": 1.0}))
    refused("mass matrix is singular", lambda: mech.Mechanism("m", [ry("a", mass=1.0)]).simulate(1.0))
    gimbal = mech.Mechanism("gimbal", [rz("a", ry("b", rx("c", mass=(1.0, 0.1, 0.2, 0.3))))], None)
    refused(
        "mass matrix is singular at the start: .*three rotation axes", lambda: gimbal.simulate(1.0, q={"b": np.pi / 2})
    )


def test_constraints_that_cannot_be_satisfied_are_told() -> None:
    far = mech.Mechanism(
        "far", [ry("a", tz(-1.0, name="tip", mass=1.0))], constraints=[mech.Distance("tip", "world", 3.0)]
    )
    with pytest.raises(IntegrationError, match="'tip_world' is off by"):
        far.satisfy_constraints([0.0])


def test_what_ends_a_motion_is_told_with_its_time_and_what_was_before() -> None:
    late = pendulum(forces=[mech.Torque("a", lambda t: np.where(t < 0.5, 0.0, np.inf))])
    refused("its value at 0.505 s is not finite", lambda: late.simulate(1.0))
    fast = pendulum(forces=[mech.Torque("a", lambda t: np.where(t < 0.3, 0.0, 1e9))])
    with pytest.raises(IntegrationError, match=r"pendulum at t = 0\.3 s: .*more than 180°") as told:
        fast.simulate(1.0, 0.01)
    assert len(told.value.run.frame) == 31
    hook = tx(mech.kinematic("k"), name="hook")
    arm = ry("a", tz(-1.0, ry("b", tz(-1.0, name="tip", mass=1.0)), mass=1.0))
    pulled = mech.Mechanism("pulled", [hook, arm], constraints=[mech.Coincident("tip", "hook", "xz")])
    start = pulled.satisfy_constraints({"a": -0.9, "b": -1.1, "k": 1.5})
    with pytest.raises(IntegrationError, match=r"pulled at t = 0\.[45]\d* s: (Newton|no part|the constraints)"):
        pulled.simulate(1.0, 0.01, q=start, kinematic={"k": lambda t: start[0] + t})
    knot = mech.Mechanism("knot", [tx("x", mass=1.0, name="bob")], None, [mech.LinearSpring("bob", "world", 1.0, 0.1)])
    with pytest.raises(IntegrationError, match="knot at t = 0 s: a number is not finite"):
        knot.simulate(1.0)


def test_gravity_of_some_masses_is_theirs_alone() -> None:
    two = [tx("x", tz("z", name="a", mass=2.0)), ty("y", tz("w", name="b", mass=1.0))]
    run = mech.Mechanism("some", two, None, [mech.Gravity("a", (0.0, 0.0, -2.0))]).simulate(1.0)
    last = run.frame.iloc[-1]
    assert last["position_z"] == pytest.approx(-1.0, rel=1e-12)
    assert last["position_w"] == 0.0
    assert last["potential_energy"] == pytest.approx(-4.0, rel=1e-12)
    everywhere = mech.Mechanism("all", two, (0.0, 0.0, -2.0)).simulate(1.0)
    each = mech.Mechanism("each", two, None, [mech.Gravity(name, (0.0, 0.0, -2.0)) for name in "ab"]).simulate(1.0)
    np.testing.assert_allclose(each.frame, everywhere.frame, rtol=0, atol=1e-12)


def test_a_hardening_spring_keeps_its_energy_and_its_equilibrium() -> None:
    spring = mech.NonlinearSpring("a", "world", (30.0, 0.0, 400.0), 1.0)
    m = mech.Mechanism("hard", [tz("z", name="a", mass=2.0)], (0.0, 0.0, -G), [spring])
    energy = m.simulate(2.0, 0.002, q={"z": -1.2}).frame["energy"]
    assert np.ptp(energy) < 1e-3
    sag = np.roots([400.0, 0.0, 30.0, -2.0 * G])
    rest = -1.0 - float(sag[np.isreal(sag)].real[0])
    still = m.simulate(0.5, q={"z": rest})
    np.testing.assert_allclose(still.q, rest, rtol=0, atol=1e-9)


def test_motions_in_threads_are_the_same_bit_for_bit() -> None:
    m, start = four_bar()
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: m.simulate(2.0, 0.01, q=start).frame, range(4)))
    for frame in runs[1:]:
        assert frame.equals(runs[0])


def test_what_is_recorded_changes_nothing_and_progress_is_told() -> None:
    m, start = four_bar()
    told: list[float] = []
    every = m.simulate(1.0, 0.0001, q=start)
    some = m.simulate(1.0, 0.0001, q=start, record_every=100, progress=told.append)
    np.testing.assert_array_equal(some.q, every.q[::100])
    np.testing.assert_array_equal(some.momentum, every.momentum[::100])
    assert len(told) == 3
    assert told == sorted(told)
    assert told[-1] == 1.0
