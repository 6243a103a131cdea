"""The inverted pendulum's bounds, against pendulums whose equation of motion is integrated."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp
from scipy.optimize import linprog

from biped import InputError, Push, Signal, human, standing
from biped.capturability.flywheel import Flywheel, widened
from biped.capturability.pendulum import NoLimitError, Pendulum, edge, sides_of, transform
from biped.capturability.stance import Stance, heading, stance_of
from biped.model.human import HEEL, TOE, TRUNK_COM, TRUNK_MASS, TRUNK_MOMENTS
from biped.model.strength import HUMAN_TORQUES, human_torques
from tests.biped.capturability.conftest import force_of, is_lost
from tests.refusals import refuses

CORNERS = np.array([[0.12, 0.1], [0.12, -0.1], [-0.07, 0.16], [-0.07, -0.16], [0.02, 0.18], [0.02, -0.18]])


def test_the_transform_of_a_push_is_its_integral(shape):
    parts = zip(shape.knots, shape.knots[1:], strict=False)
    expected = sum(quad(lambda t: math.exp(-3.3 * t) * force_of(shape, t), a, b)[0] for a, b in parts)
    assert transform(shape, 3.3) == pytest.approx(expected, rel=1e-10)


def test_the_transform_of_a_rectangle_in_closed_form(rectangle):
    assert transform(rectangle, 3.3) == pytest.approx((1.0 - math.exp(-3.3 * 0.15)) / (3.3 * 0.15), rel=1e-12)


def test_a_push_at_once_is_m_omega_d(pendulum):
    at_once = Signal.rectangle(1e6, 0.0, 1e-6).integral()
    assert pendulum.impulse(0.1, at_once) == pytest.approx(70.0 * math.sqrt(9.81 / 0.9) * 0.1, rel=1e-5)


@pytest.mark.parametrize("azimuth", [math.radians(angle) for angle in (0.0, 33.0, 90.0, 151.0, 180.0, 262.0)])
@pytest.mark.parametrize("delay", [0.0, 0.08, 0.25])
def test_a_push_just_below_the_limit_is_recovered_from_and_one_just_above_by_no_policy(pendulum, shape, azimuth, delay):
    stance, direction = Stance(pendulum, CORNERS), heading(azimuth)
    limit, distance = stance.impulse(azimuth, shape, delay=delay), stance.distance(azimuth)

    def straight(time, _):
        return distance if time >= delay else 0.0

    assert not is_lost(pendulum, shape, 0.995 * limit, straight)
    # Across the side that the direction leads to no point of the support is farther than that side.
    normals, offsets = sides_of(CORNERS)
    side = np.argmin(np.abs(distance * normals @ direction - offsets))

    def best(time, _):
        return offsets[side] if time >= delay else 0.0

    assert is_lost(pendulum, shape, 1.005 * limit * float(normals[side] @ direction), best)


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_a_floor_displaced_by_just_less_than_the_limit_is_ridden_and_by_just_more_is_not(pendulum, delay):
    rise, distance = 0.5, 0.1
    limit = pendulum.platform(distance, Signal.step(1.0, 0.0, rise), delay)

    def end_of(size):
        """Where a pendulum is in the end that has its centre of pressure at the edge, in the frame of the floor."""

        def slope(time, x):
            part = time / rise
            jerky = size * (60.0 * part - 180.0 * part**2 + 120.0 * part**3) / rise**2 if part < 1.0 else 0.0
            return [x[1], pendulum.rate**2 * (x[0] - (distance if time >= delay else 0.0)) + jerky]

        return solve_ivp(slope, (0.0, 4.0), [0.0, 0.0], rtol=1e-9, atol=1e-12, max_step=2e-3).y[0, -1]

    assert end_of(0.995 * limit) < -1.0  # thrown back, to be caught at leisure
    assert end_of(1.005 * limit) > 1.0


def test_edges_of_a_square():
    square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert edge(square, heading(0.0)) == pytest.approx(1.0)
    assert edge(square, heading(math.pi / 4.0)) == pytest.approx(math.sqrt(2.0))


@refuses(
    ([[0.5, 1.0], [0.5, -1.0], [2.0, 0.0]], r"0\.5 m outside the support"),
    ([[0.1, 1.0], [0.1, -1.0], [0.1, 0.0]], "no area"),
    error=NoLimitError,
)
def test_what_does_not_stand_on_its_support_has_no_limit(support):
    edge(np.array(support), heading(0.0))


def test_what_has_no_limit_is_told(pendulum, rectangle):
    with pytest.raises(InputError, match="height"):
        Pendulum(70.0, 0.0, 9.81)
    model = human().without_contacts()
    with pytest.raises(NoLimitError, match="no contact points"):
        stance_of(model, model.neutral())
    with pytest.raises(InputError, match="angle limits of the hip joints"):
        Stance(pendulum, SQUARE).impulse(0.0, rectangle, hips=True)


@pytest.fixture(scope="module")
def stance():
    model = human()
    torques = {joint: (torque, 0.5 * torque) for joint, torque in human_torques(model).items()}
    return stance_of(model, standing(model).q, torques)


def test_the_human_is_a_pendulum_of_75_kg_at_84_cm(stance):
    assert stance.pendulum.mass == human().total_mass
    assert stance.pendulum.height == pytest.approx(0.839, abs=5e-4)


def test_it_withstands_at_once_26_to_the_back_28_to_the_front_and_51_to_the_side(stance):
    at_once = Signal.rectangle(1e6, 0.0, 1e-6).integral()
    found = [stance.impulse(azimuth, at_once) for azimuth in (0.0, math.pi / 2.0, math.pi)]
    assert found == pytest.approx([28.2, 51.0, 25.6], abs=0.05)
    distances = [stance.distance(azimuth) for azimuth in (0.0, math.pi / 2.0, math.pi)]
    assert distances[0] + distances[2] == pytest.approx(TOE + HEEL)
    assert distances == pytest.approx([0.111, 0.2, 0.100], abs=5e-4)
    within_a_tenth = Push("trunk", (1.0, 0.0, 0.0), 1.0, duration=0.1, waveform="half-sine").given
    assert stance.impulse(0.0, within_a_tenth) == pytest.approx(1.18 * found[0], rel=5e-3)


def test_its_trunk_turns_about_the_hips(stance):
    pitch, roll = stance.flywheels
    lever = TRUNK_COM[2] - 0.96
    assert pitch.inertia == pytest.approx(TRUNK_MOMENTS[1] + TRUNK_MASS * lever**2)
    assert roll.inertia == pytest.approx(TRUNK_MOMENTS[0] + TRUNK_MASS * lever**2)
    # Flexion turns the trunk forwards, and is positive; turning the thighs about x, which is positive, turns the trunk
    # the other way, to the right.
    assert pitch.torques == (2.0 * HUMAN_TORQUES["hip_pitch"], HUMAN_TORQUES["hip_pitch"])
    assert roll.torques == (HUMAN_TORQUES["hip_roll"], 2.0 * HUMAN_TORQUES["hip_roll"])
    model = human()
    hip = float(standing(model).q[model.coordinate("left_hip_pitch")])
    assert np.degrees(pitch.angles) == pytest.approx([120.0 - math.degrees(hip), 30.0 + math.degrees(hip)])
    assert np.degrees(roll.angles) == pytest.approx([30.0, 30.0])


def test_hips_of_unknown_strength_are_no_flywheel():
    model = human()
    assert stance_of(model, standing(model).q).flywheels == ()


EQUAL = Flywheel(5.0, (300.0, 300.0), (1.2, 0.4))
WHEELS = (Flywheel(5.0, (300.0, 200.0), (1.2, 0.4)), Flywheel(4.0, (150.0, 250.0), (0.5, 0.5)))
SQUARE = np.array([[0.12, 0.1], [0.12, -0.1], [-0.07, 0.16], [-0.07, -0.16]])


def test_equal_torques_are_koolens(pendulum):
    switch = math.sqrt(EQUAL.inertia * 1.2 / 300.0)
    expected = 300.0 / (70.0 * 9.81) * (1.0 - math.exp(-pendulum.rate * switch)) ** 2
    assert EQUAL.reach(pendulum, 0) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("wheel", WHEELS)
@pytest.mark.parametrize("side", [0, 1])
def test_no_other_torque_reaches_farther(pendulum, wheel, side):
    step, n = 0.004, 600
    middles = step * (np.arange(n) + 0.5)
    gain = np.exp(-pendulum.rate * middles) * pendulum.rate * step / pendulum.weight
    rates = np.tril(np.ones((n, n))) * step / wheel.inertia
    angles = np.cumsum(rates, axis=0) * step - 0.5 * step * rates
    bounds = [(-wheel.torques[1 - side], wheel.torques[side])] * n
    most = np.full(n, wheel.angles[side])
    found = linprog(-gain, angles, most, rates[-1:], [0.0], bounds, method="highs")
    assert wheel.reach(pendulum, side) == pytest.approx(-found.fun, rel=2e-3)


@pytest.mark.parametrize("wheel", WHEELS)
def test_a_push_just_below_the_limit_is_recovered_from_and_one_just_above_is_not(pendulum, shape, wheel):
    stance = Stance(pendulum, SQUARE, (wheel, WHEELS[1]))
    limit, distance = stance.impulse(0.0, shape, hips=True), stance.distance(0.0)
    push, brake = wheel.torques
    switch = math.sqrt(2.0 * wheel.inertia * wheel.angles[0] / (push * (1.0 + push / brake)))

    def bang_bang(time, _):
        torque = push if time < switch else -brake if time < switch * (1.0 + push / brake) else 0.0
        return distance + torque / pendulum.weight

    assert not is_lost(pendulum, shape, 0.99 * limit, bang_bang)
    assert is_lost(pendulum, shape, 1.01 * limit, bang_bang)


def test_each_axis_adds_on_its_own(pendulum):
    wide = widened(SQUARE, WHEELS, pendulum)
    for azimuth, wheel, side in ((0.0, 0, 0), (math.pi, 0, 1), (math.pi / 2.0, 1, 0), (-math.pi / 2.0, 1, 1)):
        reach = WHEELS[wheel].reach(pendulum, side)
        far = np.abs(SQUARE @ heading(azimuth)).max() if wheel else edge(SQUARE, heading(azimuth))
        assert (wide @ heading(azimuth)).max() == pytest.approx(far + reach)


def test_a_hip_at_its_stop_adds_nothing(pendulum):
    assert Flywheel(5.0, (300.0, 300.0), (0.0, 0.4)).reach(pendulum, 0) == 0.0
