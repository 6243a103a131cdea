"""Balls on planes: motion of the touching material point."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.errors import InputError
from formulations.assembly import Assembly, PointContact, RigidBody

RADIUS, FRICTION, G = 0.25, 0.3, 9.81
MOMENT = 0.4 * RADIUS * RADIUS
SOLID = ((MOMENT, 0.0, 0.0), (0.0, MOMENT, 0.0), (0.0, 0.0, MOMENT))


def ball(friction=FRICTION, **more):
    contact = PointContact("rim", "ball", friction=friction, radius=RADIUS)
    return Assembly("ball", (RigidBody("ball", 1.0, SOLID),), (), (contact,), **more)


def thrown(assembly, velocity, turning, step=0.01, duration=2.0, **more):
    start = assembly.place(poses={"ball": ((0.0, 0.0, RADIUS), (1.0, 0.0, 0.0, 0.0))})
    return assembly.simulate(duration, step, start.moving(np.array([*velocity, *turning])), **more)


@pytest.mark.parametrize(("speed", "spin"), [(2.0, 0.0), (2.0, -20.0), (0.0, 30.0)])
@pytest.mark.parametrize("step", [0.01, 0.002])
def test_a_ball_ends_rolling_as_its_momentum_about_the_floor_says(speed, spin, step):
    """(5 v₀ + 2 r ω₀)/7, backspin and topspin, at any step: friction acts at the floor, whatever its course."""
    motion = thrown(ball(), (speed, 0.0, 0.0), (0.0, spin, 0.0), step)
    velocity = motion.velocity("ball")[-1]
    assert_allclose(velocity[0], (5.0 * speed + 2.0 * RADIUS * spin) / 7.0, atol=1e-11)
    assert_allclose(velocity[0], RADIUS * velocity[4], atol=1e-13)
    height = motion.position("ball")[:, 2]
    assert height.min() >= RADIUS
    assert height.max() < RADIUS + 1e-8


def test_a_ball_slips_until_the_time_of_the_closed_form():
    """2 v₀/(7 μ g), at v₀ − μ g t until then."""
    motion = thrown(ball(), (2.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.001)
    until = motion.time < 2.0 * 2.0 / (7.0 * FRICTION * G) - 0.001
    speed = motion.velocity("ball")[:, 0]
    assert_allclose(speed[until], 2.0 - FRICTION * G * motion.time[until], atol=1e-6)
    assert_allclose(speed[~until][2:], 10.0 / 7.0, atol=1e-9)


@pytest.mark.parametrize(("spin", "close"), [(0.0, 1e-9), (4.0, 1e-4)])
def test_a_ball_rolls_down_an_incline_with_five_sevenths_of_gravity_and_keeps_its_spin(spin, close):
    """The spin about the normal is kept; with a spin, rolling is of second order in the step."""
    tilt = 0.2
    assembly = ball(0.5, gravity=(G * math.sin(tilt), 0.0, -G * math.cos(tilt)))
    motion = thrown(assembly, (0.0, 0.0, 0.0), (0.0, 0.0, spin), 0.005, 1.0)
    assert_allclose(motion.velocity("ball")[-1, 0], 5.0 / 7.0 * G * math.sin(tilt), rtol=close)
    assert_allclose(motion.velocity("ball")[-1, 5], spin, atol=1e-9)


def test_without_friction_a_ball_slides_and_turns_on():
    motion = thrown(ball(0.0), (1.0, 0.5, 0.0), (3.0, 2.0, 1.0))
    assert_allclose(motion.velocity("ball")[-1], (1.0, 0.5, 0.0, 3.0, 2.0, 1.0), atol=1e-10)


def test_a_radius_below_zero_is_refused_and_so_is_a_start_in_the_floor():
    with pytest.raises(InputError, match="radius"):
        PointContact("rim", "ball", radius=-0.1)
    assembly = ball()
    with pytest.raises(InputError, match="below its plane"):
        assembly.simulate(0.1, 0.01, assembly.place())
