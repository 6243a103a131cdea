"""The linear program of limits on slippery floors, against closed forms and policies that are simulated."""

import math

import numpy as np
import pytest

from biped.capturability.flywheel import Flywheel
from biped.capturability.friction import Case, largest_impulse
from biped.capturability.stance import Stance, heading
from biped.errors import InputError
from tests.biped.capturability.conftest import is_lost

WHEELS = (Flywheel(5.0, (300.0, 200.0), (1.2, 0.4)), Flywheel(4.0, (150.0, 250.0), (0.5, 0.5)))
CORNERS = np.array([[0.12, 0.1], [0.12, -0.1], [-0.07, 0.16], [-0.07, -0.16]])
#: By how much the program may be below the truth, for its controls are constant over intervals.
LESS = 0.005


@pytest.mark.parametrize("wheels", [(), WHEELS], ids=["feet", "hips"])
@pytest.mark.parametrize("azimuth", [0.0, 0.7, 2.0, math.pi])
@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_with_much_friction_it_is_the_closed_form(pendulum, shape, wheels, azimuth, delay):
    stance = Stance(pendulum, CORNERS, wheels)
    expected = stance.impulse(azimuth, shape, delay=delay, hips=bool(wheels))
    found = largest_impulse(Case(pendulum, CORNERS, wheels, 50.0, heading(azimuth), shape, delay))
    assert (1.0 - LESS) * expected <= found <= 1.0005 * expected


@pytest.mark.parametrize("friction", [0.12, 0.08, 0.04])
def test_with_little_friction_the_best_is_to_pull_as_much_as_it_gives(pendulum, shape, friction):
    """Whatever is pulled less at first lets the mass go farther, and where it is farther can less be pulled."""
    most, distance = friction * pendulum.height, 0.12

    def greedy(_, place):
        return min(distance, place + most)

    found = Stance(pendulum, CORNERS).impulse(0.0, shape, friction=friction)
    assert not is_lost(pendulum, shape, (1.0 - LESS) * found, greedy)
    assert is_lost(pendulum, shape, (1.0 + LESS) * found, greedy)


def test_friction_that_does_not_bind_changes_nothing(pendulum, shape):
    stance = Stance(pendulum, CORNERS)
    assert stance.impulse(0.0, shape, friction=0.14) == stance.impulse(0.0, shape)
    assert stance.impulse(0.0, shape, friction=0.13) < stance.impulse(0.0, shape)


def test_less_friction_is_a_lower_limit(pendulum, rectangle):
    stance = Stance(pendulum, CORNERS, WHEELS)
    found = [stance.impulse(0.4, rectangle, friction=mu, hips=True) for mu in (0.1, 0.2, 0.4, 0.8, math.inf)]
    assert np.all(np.diff(found) > 0.0)


def test_no_friction_is_refused(pendulum, rectangle):
    with pytest.raises(InputError, match="friction = 0"):
        Stance(pendulum, CORNERS).impulse(0.0, rectangle, friction=0.0)
