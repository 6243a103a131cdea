"""Motions against what is known otherwise: one-coordinate solutions, other descriptions, work, prescribed motions."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from formulations import mechanism as mech
from formulations.mechanism import rx, ry, rz, tx, ty, tz
from tests.differences import jacobian

from .closed_chains import Chain, four_bar, mechanism_of, rssr

G = 9.81


def order_of(errors, steps):
    return np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize("make", [four_bar, rssr])
@pytest.mark.parametrize(("alpha", "order"), [(0.5, 2.0), (0.0, 1.0), (0.25, 1.0), (1.0, 1.0)])
def test_closed_chains_move_as_with_one_coordinate_to_the_rules_order(make, alpha, order):
    """Loops of a plane and of space: errors of the crank's angle and rate after 1 s, regressed over four step sizes."""
    chain: Chain = make()
    mechanism = mechanism_of(chain)
    theta, rate = chain.motion(np.array([0.0, 1.0]))[-1]
    steps = np.array([8, 4, 2, 1]) * (5e-4 if order == 2.0 else 6.25e-5)
    errors = []
    for step in steps:
        motion = mechanism.simulate(
            1.0, step, q=chain.configuration(chain.start), alpha=alpha, record_every=round(1 / step)
        )
        errors.append(np.hypot(motion.q[-1, 0] - theta, motion.v[-1, 0] - rate))
    assert order_of(errors, steps) == pytest.approx(order, abs=0.05)
    assert errors[-1] < (2e-5 if order == 2.0 else 2e-2)


def damped_pendulum(damping=0.4, torque=np.cos):
    """A driven pendulum with friction and a torsional spring: q̈ by hand."""
    mechanism = mech.Mechanism(
        "pendulum", [ry("a", tz(-0.8, mass=(1.2, 0.0, 0.1, 0.0)))],
        forces=[mech.Damper("a", damping), mech.Torque("a", torque)], potentials=[mech.CoordinateSpring("a", 2.0, 0.3)],
    )  # fmt: skip
    J = 1.2 * 0.8**2 + 0.1

    def slope(t, y):
        moment = torque(t) - damping * y[1] - 1.2 * G * 0.8 * np.sin(y[0]) - 2.0 * (y[0] - 0.3)
        return [y[1], moment / J]

    return mechanism, slope


@pytest.mark.parametrize(("alpha", "order"), [(0.5, 2.0), (0.0, 1.0), (0.25, 1.0), (1.0, 1.0)])
def test_forced_motions_have_the_rules_order(alpha, order):
    mechanism, slope = damped_pendulum()
    exact = solve_ivp(slope, (0.0, 1.0), [1.0, 0.0], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    steps = np.array([8, 4, 2, 1]) * 1e-3
    errors = []
    for step in steps:
        motion = mechanism.simulate(1.0, step, q={"a": 1.0}, alpha=alpha, record_every=round(1 / step))
        errors.append(np.hypot(motion.q[-1, 0] - exact[0], motion.v[-1, 0] - exact[1]))
    assert order_of(errors, steps) == pytest.approx(order, abs=0.05)


def test_the_work_of_forces_is_what_the_energy_changes_by():
    """To rounding for a mass on a rail under a constant force."""
    sledge = mech.Mechanism(
        "sledge", [tx("x", mass=2.0, name="s")], gravity=None, forces=[mech.HybridWrench("s", (3.0, 0.0, 0.0))]
    )
    frame = sledge.simulate(2.0, 0.1, v={"x": 0.7}).frame
    assert_allclose(frame["energy"] - frame["energy"][0], frame["work"], atol=1e-13)
    assert_allclose(frame["position_x"], 0.7 * frame["time"] + 0.75 * frame["time"] ** 2, atol=1e-13)


@pytest.mark.parametrize("alpha", [0.5, 0.25])
def test_a_constant_force_is_a_weight(alpha):
    frames = [ry("a", tz(-1.0, mass=1.0, name="m"))]
    pull = (0.0, 0.0, -G)
    weighed = mech.Mechanism("weighed", frames, gravity=None, potentials=[mech.Gravity("m", pull)])
    pulled = mech.Mechanism("pulled", frames, gravity=None, forces=[mech.HybridWrench("m", pull)])
    plain = mech.Mechanism("plain", frames)
    motions = [one.simulate(2.0, 0.01, q=[1.0], alpha=alpha, tolerance=1e-13).q for one in (plain, weighed, pulled)]
    assert_allclose(motions[1], motions[0], atol=1e-11)
    if alpha == 0.5:
        assert_allclose(motions[2], motions[0], atol=1e-11)
    else:
        assert 1e-4 < np.abs(motions[2] - motions[0]).max() < 0.1


# Trees are not unique: what moves does not depend on how it was described.


def double_pendulum(kind, **options):
    second = {
        "plain": lambda: tz(-1.0, ry("b", tz(-0.7, mass=(0.8, 0.1, 0.2, 0.1), name="tip"))),
        # The same way in pieces, with the axes turned on the way and a mass in two halves.
        "pieces": lambda: tz(
            -0.4,
            rz(np.pi, tz(-0.6, rz(np.pi, ry("b", tz(-0.2, tz(-0.5, mass=(0.5, 0.1, 0.2, 0.1), name="tip"),
                                                       tz(-0.5, mass=0.3)))))),
        ),
        # Turned on the way, and back.
        "turned": lambda: tz(-1.0, rx(0.5, rx(-0.5, ry("b", tz(-0.7, mass=(0.8, 0.1, 0.2, 0.1), name="tip"))))),
    }[kind]()  # fmt: skip
    return mech.Mechanism(kind, [ry("a", second, tz(-1.0, mass=1.5, name="knee"))], **options)


@pytest.mark.parametrize("kind", ["pieces", "turned"])
def test_constants_may_be_split_and_turned(kind):
    start = {"q": {"a": 0.7, "b": -1.2}, "v": {"a": 1.0, "b": 2.0}}
    plain, other = (double_pendulum(one).simulate(2.0, 0.01, tolerance=1e-13, **start) for one in ("plain", kind))
    assert_allclose(other.q, plain.q, atol=1e-9)
    assert_allclose(other.frame["kinetic_energy"], plain.frame["kinetic_energy"], atol=1e-8)


def test_a_joint_may_be_a_constraint():
    """The second link free in the plane and pinned to the first: other coordinates, another motion of equal order."""
    plain = double_pendulum("plain")
    link = ry("c", tz(-0.7, mass=(0.8, 0.1, 0.2, 0.1)), name="joint")
    pinned = mech.Mechanism(
        "pinned",
        [ry("a", tz(-1.0, mass=1.5, name="knee")), tx("x", tz("z", link))],
        constraints=[mech.Coincident("knee", "joint", "xz")],
    )
    a, b, va, vb = 0.7, -1.2, 1.0, 2.0
    q = {"a": a, "x": -np.sin(a), "z": -np.cos(a), "c": a + b}
    v = {"a": va, "x": -np.cos(a) * va, "z": np.sin(a) * va, "c": va + vb}
    gaps = []
    for step in (0.01, 0.005):
        one = plain.simulate(1.0, step, q={"a": a, "b": b}, v={"a": va, "b": vb})
        two = pinned.simulate(1.0, step, q=q, v=v)
        gaps.append(abs(one.frame["angle_a"] - two.frame["angle_a"]).max())
    assert gaps[0] < 2e-3
    assert gaps[0] / gaps[1] == pytest.approx(4.0, rel=0.1)


def test_a_variable_that_is_held_is_a_constant():
    def cart(parameter):
        return mech.Mechanism(
            "cart", [tx(parameter, rz(0.4, ry("a", tz(-1.0, ry("b", tz(-1.0, mass=1.0)), mass=1.0))))]
        )

    start = {"a": 0.7, "b": 0.2}
    held = cart(mech.kinematic("x")).simulate(1.0, 0.01, q=start, kinematic={"x": 0.3}, tolerance=1e-13)
    fixed = cart(0.3).simulate(1.0, 0.01, q=start, tolerance=1e-13)
    assert_allclose(held.q[:, 1:], fixed.q, atol=1e-11)
    assert np.ptp(held.frame["driving_x"]) > 1.0


def test_a_prescribed_pivot_drives_a_pendulum():
    """x(t) prescribed: q̈ = (−g sin q + ẍ cos q)/l, and the force that moves the pivot is m ẍ of the mass."""
    frames = [tx(mech.kinematic("x"), ry("a", tz(-0.5, mass=2.0, name="m")))]
    mechanism = mech.Mechanism("shaken", frames)

    def x(t):
        return 0.1 * np.sin(3.0 * np.asarray(t))

    def slope(t, y):
        # The mass is at x − l sin q.
        return [y[1], (-0.9 * np.sin(3.0 * t) * np.cos(y[0]) - G * np.sin(y[0])) / 0.5]

    errors, forces = [], []
    for step in (0.01, 0.005):
        motion = mechanism.simulate(2.0, step, q={"a": 0.4}, v={"a": 0.0}, kinematic={"x": x})
        t = motion.frame["time"].to_numpy()
        exact = solve_ivp(slope, (0.0, 2.0), [0.4, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12).y
        bend = np.array([slope(*pair)[1] for pair in zip(t, exact.T, strict=True)])
        acceleration = -0.9 * np.sin(3.0 * t) - 0.5 * (np.cos(exact[0]) * bend - np.sin(exact[0]) * exact[1] ** 2)
        assert_allclose(motion.q[:, 0], x(t), atol=1e-15)
        errors.append(np.abs(motion.q[:, 1] - exact[0]).max())
        forces.append(np.abs(motion.frame["driving_x"] - 2.0 * acceleration)[1:-1].max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)
    assert forces[0] / forces[1] == pytest.approx(4.0, rel=0.25)


def test_a_screw_turns_as_it_sinks():
    """m z̈ = −m g + λ…: with the pitch p = dz/dθ, (I/p² + m) z̈ = −m g."""
    m, moment, p = 1.5, 0.3, 0.4
    frames = [rz("theta", tz("d", mass=(m, 0.1, 0.1, moment)))]
    mechanism = mech.Mechanism("screw", frames, constraints=[mech.Screw("theta", "d", p)])
    frame = mechanism.simulate(1.0, 0.01).frame
    sinking = -m * G / (moment / p**2 + m)
    assert_allclose(frame["position_d"], 0.5 * sinking * frame["time"] ** 2, atol=1e-11)
    assert_allclose(frame["angle_theta"], frame["position_d"] / p, atol=1e-11)
    # h = p θ − d: the force along d is −λ, m d̈ + m g.
    assert_allclose(frame["multiplier_theta_d"], -(m * sinking + m * G), rtol=1e-9)


def test_gears_turn_in_their_ratio():
    frames = [rz("a", mass=(1.0, 0.1, 0.1, 0.2)), rz("b", mass=(1.0, 0.1, 0.1, 0.5))]
    mechanism = mech.Mechanism("gears", frames, constraints=[mech.Gear("a", "b", -2.0)], forces=[mech.Torque("a", 3.0)])
    frame = mechanism.simulate(1.0, 0.05).frame
    turning = 3.0 / (0.2 + 4.0 * 0.5)
    assert_allclose(frame["angle_a"], 0.5 * turning * frame["time"] ** 2, atol=1e-12)
    assert_allclose(frame["angle_b"], -2.0 * frame["angle_a"], atol=1e-12)
    # On a acts r λ = −2 λ: 0.2 ä = 3 − 2 λ.
    assert_allclose(frame["multiplier_a_b"], 0.5 * (3.0 - 0.2 * turning), rtol=1e-9)


def frequency_of(omega: float, h: float) -> float:
    """Of an oscillator by the midpoint rule, which turns it by 2 atan(ω h/2) a step."""
    return 2.0 / h * np.arctan(omega * h / 2.0)


def test_a_spring_between_two_carts_swings_at_its_frequency():
    frames = [tx("a", mass=1.0, name="one"), tx(1.0, tx("b", mass=3.0, name="other"))]
    mechanism = mech.Mechanism("carts", frames, potentials=[mech.LinearSpring("one", "other", 30.0, 1.0)])
    run = mechanism.simulate(5.0, 0.01, q={"a": -0.06, "b": 0.02})
    swing = np.cos(frequency_of(np.sqrt(30.0 * (1.0 + 1.0 / 3.0)), 0.01) * run.frame["time"])
    assert_allclose(run.frame["position_a"], -0.06 * swing, atol=1e-9)
    assert_allclose(run.frame["position_b"], 0.02 * swing, atol=1e-9)
    assert_allclose(run.frame["momentum_a"] + run.frame["momentum_b"], 0.0, atol=1e-12)
    assert run.summary["newton_mean"] <= 1.1  # linear: Newton's matrix has the border's part


def test_springs_of_zero_length_have_no_kink():
    mechanism = mech.Mechanism(
        "well", [tx("x", ty("y", mass=2.0, name="m"))], potentials=[mech.LinearSpring("m", "world", 50.0)]
    )
    frame = mechanism.simulate(3.0, 0.01, q={"x": 0.3}).frame
    assert_allclose(frame["position_x"], 0.3 * np.cos(frequency_of(5.0, 0.01) * frame["time"]), atol=1e-9)
    assert not frame["position_y"].any()


def test_rates_that_are_zero_but_for_rounding_are_on_the_constraints():
    frames = [tx("x", mass=1.0), rz("a", mass=(1.0, 0.1, 0.1, 0.2)), rz("b", mass=(1.0, 0.1, 0.1, 0.5))]
    mechanism = mech.Mechanism("gears", frames, constraints=[mech.Gear("a", "b", -2.0)])
    frame = mechanism.simulate(0.1, 0.05, v={"x": 3.0, "a": 1e-16}).frame
    assert_allclose(frame["rate_a"], 0.0, atol=1e-15)


def test_a_prescribed_motion_must_be_one():
    mechanism = mech.Mechanism("cart", [tx(mech.kinematic("x"), ry("a", tz(-1.0, mass=1.0)))])
    for run in (mechanism.simulate, lambda *given, **more: mech.integrate(mechanism, *given, **more)):
        with pytest.raises(mech.MechanismError, match="motion of 'x' = 'fast': it must be"):
            run(1.0, kinematic={"x": "fast"})


CAM = mech.Cam("theta", "lift", cosines=(0.03, 0.004), sines=(0.0, 0.01), mean=0.1)


def lifted(angle: float) -> tuple[float, float, float]:
    """The profile of ``CAM`` and its first two derivatives."""
    k = np.arange(1, 3)
    a, b = np.array(CAM.cosines), np.array(CAM.sines)
    cosine, sine = np.cos(k * angle), np.sin(k * angle)
    along, across = a * cosine + b * sine, b * cosine - a * sine
    return CAM.mean + along.sum(), (k * across).sum(), -(k * k * along).sum()


def cam_shaft() -> mech.Mechanism:
    """A flywheel of 0.05 kg m² about its vertical axis that lifts 2 kg."""
    frames = [rz("theta", mass=(1.0, 0.03, 0.03, 0.05)), tz("lift", name="follower", mass=2.0)]
    return mech.Mechanism("cam shaft", frames, constraints=[CAM])


def test_a_cam_lifts_its_follower_with_the_force_that_this_takes():
    """(36) against the shaft's one equation, (J + m s'²) θ'' = −m s' (s'' θ'² + g)."""
    mechanism = cam_shaft()
    for angle, rate in ((0.4, 3.0), (2.0, -5.0), (5.5, 0.7)):
        s, slope, bend = lifted(angle)
        turning = -2.0 * slope * (bend * rate**2 + G) / (0.05 + 2.0 * slope**2)
        lifting = slope * turning + bend * rate**2
        found = mech.accelerations(mechanism, {"theta": angle, "lift": s}, {"theta": rate, "lift": slope * rate})
        assert found.coordinates == pytest.approx([turning, lifting], rel=1e-11)
        assert found.multipliers == pytest.approx([-2.0 * (lifting + G)], rel=1e-11)


def test_a_cam_shaft_keeps_its_energy_and_its_follower_on_the_profile():
    mechanism, (s, slope, _) = cam_shaft(), lifted(0.4)
    motion = mechanism.simulate(20.0, 0.005, q={"theta": 0.4, "lift": s}, v={"theta": 6.0, "lift": 6.0 * slope})
    assert motion.q[-1, 0] > 50.0
    assert max(abs(lift - lifted(angle)[0]) for angle, lift in motion.q) < 1e-10
    energy = motion.frame["energy"].to_numpy()
    assert np.ptp(energy) < 1e-3 * motion.frame["kinetic_energy"].max()


def test_a_cams_step_has_its_derivatives():
    mechanism = cam_shaft()
    system, nothing = mech.DiscreteMechanism(mechanism, 0.01), np.zeros(0)
    s, slope, _ = lifted(0.4)
    x = np.concatenate([[0.4, s], mechanism.momentum({}, {"theta": 4.0, "lift": 4.0 * slope})])
    found = system.linearize(x, nothing)
    assert jacobian(lambda x: system.advance(x, nothing), x, 1e-4).departure(found.A, 1e-7) <= 1.0
    assert jacobian(lambda x: system.linearize(x, nothing).A, x, 1e-3, 1e-4).departure(found.second(), 1e-7) <= 1.0


def test_cams_are_read_and_written_and_refused():
    mechanism = cam_shaft()
    assert mech.load_mechanism(mech.mechanism_text(mechanism)).constraints == (CAM,)
    read = mech.load_mechanism('(system (rz "q" (mass 1 1 1 1)) (tz "d" (mass 1)) (cam "q" "d" (0.1 0.2) (sines 0.3)))')
    assert read.constraints == (mech.Cam("q", "d", (0.1, 0.2), 0.3),)
    for wrong, told in (
        (mech.Cam("theta", "lift"), "the cam is a circle"),
        (mech.Cam("theta", "theta", (0.1,)), "it needs two different configuration variables"),
        (mech.Cam("theta", "lift", (np.nan,)), "cosines = .*finite"),
        (mech.Cam("theta", "lift", "round"), "cosines = 'round'"),
    ):
        with pytest.raises(mech.MechanismError, match=told):
            replace(mechanism, constraints=(wrong,))
