"""A pendulum, and whether it is lost under a policy, by integrating its equation of motion."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

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
    """The derivative of an impulse given up to a time, from its pieces."""
    piece = np.searchsorted(shape.knots, time, side="right") - 1
    powers = shape.coefficients[piece]
    slopes = powers[1:] * np.arange(1, len(powers))
    return float(np.polyval(slopes[::-1], time - shape.knots[piece])) if piece >= 0 else 0.0


def is_lost(pendulum, shape, impulse, point, far=1.0, until=8.0):
    """Whether a pendulum along a line, at rest at zero, goes away to ``far`` [m] and not back.

    ``point`` is where its centre of pressure and flywheel act together, of the time and the place.
    """

    def slope(time, x):
        return [x[1], pendulum.rate**2 * (x[0] - point(time, x[0])) + impulse * force_of(shape, time) / pendulum.mass]

    def goes_away(_, x):
        return x[0] - far

    def turns(time, x):
        return x[1] if time > shape.ends else 1.0

    goes_away.terminal = turns.terminal = True
    turns.direction = -1
    found = solve_ivp(slope, (0.0, until), [0.0, 0.0], rtol=1e-9, atol=1e-12, max_step=2e-3, events=[goes_away, turns])
    assert found.status == 1, "neither lost nor back"
    return bool(len(found.t_events[0]))
