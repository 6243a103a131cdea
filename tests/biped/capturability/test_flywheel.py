"""What a flywheel adds, against torques that are searched for, and a pendulum with one that is simulated."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from biped.capturability.flywheel import Flywheel, widened
from biped.capturability.pendulum import edge
from biped.capturability.stance import Stance, heading
from biped.errors import InputError
from tests.biped.capturability.conftest import is_lost

EQUAL = Flywheel(5.0, (300.0, 300.0), (1.2, 0.4))
WHEELS = (Flywheel(5.0, (300.0, 200.0), (1.2, 0.4)), Flywheel(4.0, (150.0, 250.0), (0.5, 0.5)))
CORNERS = np.array([[0.12, 0.1], [0.12, -0.1], [-0.07, 0.16], [-0.07, -0.16]])


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
    stance = Stance(pendulum, CORNERS, (wheel, WHEELS[1]))
    limit, distance = stance.impulse(0.0, shape, hips=True), stance.distance(0.0)
    push, brake = wheel.torques
    switch = math.sqrt(2.0 * wheel.inertia * wheel.angles[0] / (push * (1.0 + push / brake)))

    def bang_bang(time, _):
        torque = push if time < switch else -brake if time < switch * (1.0 + push / brake) else 0.0
        return distance + torque / pendulum.weight

    assert not is_lost(pendulum, shape, 0.99 * limit, bang_bang)
    assert is_lost(pendulum, shape, 1.01 * limit, bang_bang)


def test_each_axis_adds_on_its_own(pendulum):
    wide = widened(CORNERS, WHEELS, pendulum)
    for azimuth, wheel, side in ((0.0, 0, 0), (math.pi, 0, 1), (math.pi / 2.0, 1, 0), (-math.pi / 2.0, 1, 1)):
        reach = WHEELS[wheel].reach(pendulum, side)
        far = np.abs(CORNERS @ heading(azimuth)).max() if wheel else edge(CORNERS, heading(azimuth))
        assert (wide @ heading(azimuth)).max() == pytest.approx(far + reach)


def test_a_hip_at_its_stop_adds_nothing(pendulum):
    assert Flywheel(5.0, (300.0, 300.0), (0.0, 0.4)).reach(pendulum, 0) == 0.0


def test_unknown_hips_are_told(pendulum, rectangle):
    with pytest.raises(InputError, match="give their joints limits"):
        Stance(pendulum, CORNERS).impulse(0.0, rectangle, hips=True)
