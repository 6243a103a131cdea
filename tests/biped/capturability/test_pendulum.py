"""The inverted pendulum's bounds, against pendulums whose equation of motion is integrated."""

import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from biped.capturability.pendulum import NoLimitError, Pendulum, edge, sides_of, transform
from biped.capturability.stance import Stance, heading
from biped.errors import InputError
from biped.signals import Signal
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
    ([[0.5, 1.0], [0.5, -1.0], [2.0, 0.0]], r"0\.5 m outside of the support"),
    ([[0.1, 1.0], [0.1, -1.0], [0.1, 0.0]], "without area"),
    error=NoLimitError,
)
def test_what_does_not_stand_on_its_support_has_no_limit(support):
    edge(np.array(support), heading(0.0))


def test_a_pendulum_has_a_height():
    with pytest.raises(InputError, match="height"):
        Pendulum(70.0, 0.0, 9.81)
