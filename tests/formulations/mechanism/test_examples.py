"""The mechanisms of the paper: closed where they should be, and as free."""

import math
from pathlib import Path

import numpy as np
import pytest

from biped.errors import InputError
from formulations.mechanism import examples, load_mechanism

LISTING = Path(__file__).parents[3] / "examples" / "closed-chain.trep"


def freedom(mechanism, q):
    return len(mechanism.coordinates) - np.linalg.matrix_rank(mechanism.constraint_jacobian(q))


@pytest.mark.parametrize("segments", [1, 2, 5])
def test_a_scissor_lift_has_one_degree_of_freedom(segments):
    lift = examples.scissor_lift(segments)
    assert len(lift.coordinates) == 2 * segments + 1
    for angle in (0.1, 1.0, 2.0):
        q = examples.scissor_configuration(segments, angle)
        assert np.abs(lift.constraint_values(q)).max() < 1e-12
        assert freedom(lift, q) == 1
        for one, other in examples.scissor_pins(segments):
            assert lift.frame(one).position(q) == pytest.approx(lift.frame(other).position(q))
        bottom = lift.frame(f"L{segments} end").position(q)
        assert bottom == pytest.approx([5.0 * math.cos(angle), 0.0, -5.0 * segments * math.sin(angle)])


def test_the_device_is_closed_near_its_start_and_has_three_degrees_of_freedom():
    device = examples.closed_chain_device()
    assert device.coordinates == ("J", "H", "K", "M", "A", "C", "E")
    q = device.satisfy_constraints(examples.CLOSED_CHAIN_START)
    assert freedom(device, q) == 3
    for one, other in examples.CLOSED_CHAIN_PINS:
        assert device.frame(one).position(q) == pytest.approx(device.frame(other).position(q), abs=1e-11)
    assert np.abs(q - device.configuration(examples.CLOSED_CHAIN_START)).max() < 0.6


def test_the_device_is_that_of_listing_1():
    printed, device = load_mechanism(LISTING), examples.closed_chain_device()
    assert list(printed.frames) == list(device.frames)
    assert printed.gravity == device.gravity
    assert {(c.first, c.second, c.direction) for c in printed.constraints} == {
        (c.first, c.second, c.direction) for c in device.constraints
    }


def test_a_pendulum_hangs_link_below_link():
    pendulum = examples.n_link_pendulum(3, length=0.5, mass=2.0, inertia=0.1)
    assert pendulum.frame("end 3").position({}) == pytest.approx([0.0, 0.0, -1.5])
    assert pendulum.frame("end 3").position({"J1": math.pi / 2.0}) == pytest.approx([-1.5, 0.0, 0.0])
    assert pendulum.kinetic_energy({}, {"J3": 1.0}) == pytest.approx(0.5 * (2.0 * 0.25 + 0.1))
    with pytest.raises(InputError, match="links = 0"):
        examples.n_link_pendulum(0)
    with pytest.raises(InputError, match="segments = 0"):
        examples.scissor_lift(0)


def test_the_human_weighs_75_kg_and_falls():
    human = examples.planar_human()
    assert len(human.coordinates) == 11
    assert human.kinetic_energy({}, {"z": 1.0}) == pytest.approx(0.5 * 75.05)
    assert human.frame("head").position({})[2] - human.frame("left toes").position({})[2] == pytest.approx(1.73)
    assert human.frame("left toes").position({})[0] > 0.1  # it faces +x
