"""Planar linkages in PyBullet: the bodies that frames become, and how they move where steps are fine."""

import math

import numpy as np
import pytest

from biped.errors import InputError
from experiments.engines.pybullet.linkage import GROUND, Linkage, LinkageSettings, bodies_and_pins
from formulations.mechanism import rx, ry, tx, tz

pytest.importorskip("pybullet")

SLIDING = [ry("L", tx(1.0, name="rod", mass=(2.0, 0.3, 0.3, 0.3))), tx("slider", tz(-0.5, name="end", mass=1.5))]


def pendulum(step, **settings):
    frames = [
        ry("first", tz(-0.5, mass=(2.0, 0.1, 0.1, 0.1)), tz(-1.0, ry("second", tz(-0.7, mass=(1.0, 0.1, 0.1, 0.1)))))
    ]
    return Linkage(frames, {"first": 0.8, "second": -0.3}, step=step, settings=LinkageSettings(**settings))


def test_frames_between_two_joints_are_one_body():
    frames = [ry("J", tz(-1.0, mass=(1.0, 0.0, 0.2, 0.0)), tz(-2.0, tx(1.0, mass=3.0)))]
    (body,), (pin,) = bodies_and_pins(frames, {"J": 0.0}, (), 0.01)
    assert body.mass == 4.0
    assert body.centre == pytest.approx([0.75, 0.0, -1.75])
    about = 0.2 + 1.0 * (0.75**2 + 0.75**2) + 3.0 * (0.25**2 + 0.25**2)
    assert body.inertia == pytest.approx(about)
    assert (pin.first, pin.second) == (0, GROUND)


def test_pins_are_where_the_joints_are():
    bodies, pins = bodies_and_pins(SLIDING, {"L": math.pi / 2.0, "slider": 0.3}, [("rod", "end")], 0.01)
    assert [body.slides for body in bodies] == [False, True]
    assert bodies[0].centre == pytest.approx([0.0, 0.0, -1.0])
    assert len(pins) == 2  # the slider's rail is none
    assert pins[1].gap == pytest.approx([0.3, 0.0, 0.5])
    assert bodies[1].inertia == 0.01  # of a point


@pytest.mark.parametrize("direct", [False, True])
def test_with_fine_steps_a_double_pendulum_keeps_its_energy(direct):
    linkage = pendulum(1e-4, direct=direct)
    start = linkage.energy()
    assert start == pytest.approx(-9.81 * (2.0 * 0.5 * math.cos(0.8) + math.cos(0.8) + 0.7 * math.cos(0.5)), rel=1e-12)
    linkage.advance(5000)
    assert linkage.energy() == pytest.approx(start, abs=0.01)
    assert linkage.defect() < 1e-5
    assert linkage.angle("first") != pytest.approx(0.8, abs=0.1)


def test_a_slider_moves_along_its_rail_alone():
    linkage = Linkage([tx("cart", ry("J", tz(-1.0, mass=(1.0, 0.1, 0.1, 0.1))), mass=1.0)], {"J": 1.0}, step=1e-3)
    start = linkage.energy()
    linkage.advance(300)
    place, turn, velocity, spin = linkage._motion(0)
    assert place[0] < -0.01  # the weight is on its left
    assert np.abs(place[1:]).max() == np.abs(velocity[1:]).max() == np.abs(spin).max() == 0.0
    assert turn == pytest.approx(np.eye(3))
    assert linkage.energy() == pytest.approx(start, abs=0.05)


def test_the_direct_solver_says_nothing(capfd):
    pendulum(1e-3, direct=True)
    out, err = capfd.readouterr()
    assert out == err == ""


def test_what_is_no_planar_linkage_is_refused():
    load = tz(-1.0, mass=1.0)
    with pytest.raises(InputError, match="moves by rx"):
        bodies_and_pins([rx("J", load)], {}, (), 0.01)
    with pytest.raises(InputError, match="moves by tx"):
        bodies_and_pins([ry("J", tx("slide", load))], {}, (), 0.01)
    with pytest.raises(InputError, match="the body that 'J' moves has no mass"):
        bodies_and_pins([ry("J", tz(-1.0))], {}, (), 0.01)
    with pytest.raises(InputError, match="unknown frame 'here'; frames are 'end'"):
        bodies_and_pins([ry("J", tz(-1.0, name="end", mass=1.0))], {}, [("here", "end")], 0.01)
    with pytest.raises(InputError, match="unknown configuration variable 'K'"):
        Linkage([ry("J", load)], {}, step=0.01).angle("K")
