"""A pendulum, and whether it is lost under a policy, by integrating its equation of motion."""

import math

import numpy as np
import pytest

from biped.capturability.pendulum import Pendulum
from biped.disturbances import Push


@pytest.fixture
def pendulum():
    return Pendulum(70.0, 0.9, 9.81)


@pytest.fixture(params=["rectangle", "half-sine"])
def shape(request):
    return Push("trunk", (1.0, 0.0, 0.0), 1.0, duration=0.15, waveform=request.param).given


@pytest.fixture
def rectangle():
    return Push("trunk", (1.0, 0.0, 0.0), 1.0, duration=0.15).given


def force_of(shape, time):
    piece = np.searchsorted(shape.knots, time, side="right") - 1
    powers = shape.coefficients[piece]
    slopes = powers[1:] * np.arange(1, len(powers))
    return float(np.polyval(slopes[::-1], time - shape.knots[piece])) if piece >= 0 else 0.0


def is_lost(pendulum, shape, impulse, point, far=1.0, until=8.0, step=1e-3):
    """Whether a pendulum along a line, at rest at zero, goes away to ``far`` [m] and not back.

    Solved exactly over each step for the point and the mean force of its middle, of second order in the step.

    Args:
        point: where its centre of pressure and flywheel act together, of the time and the place.
    """
    rate, place, speed = pendulum.rate, 0.0, 0.0
    cosh, sinh = math.cosh(rate * step), math.sinh(rate * step)
    times = np.arange(0.0, until, step)
    forces = np.diff(shape(np.append(times, until))) * impulse / step
    for time, force in zip(times.tolist(), forces.tolist(), strict=True):
        middle = point(time + 0.5 * step, place + 0.5 * step * speed)
        balanced = middle - force / pendulum.weight * pendulum.height  # the place where nothing accelerates it
        away = place - balanced
        place, speed = balanced + away * cosh + speed / rate * sinh, rate * away * sinh + speed * cosh
        if place > far:
            return True
        if time > shape.ends and speed <= 0.0:
            return False
    raise AssertionError("neither lost nor back")
