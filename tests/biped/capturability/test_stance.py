"""The human as a pendulum with a flywheel, by numbers computed by hand from its table."""

import math

import numpy as np
import pytest

from biped.capturability.pendulum import NoLimitError
from biped.capturability.stance import stance_of
from biped.disturbances import Push
from biped.model import human
from biped.model.human import HEEL, TOE, TRUNK_COM, TRUNK_MASS, TRUNK_MOMENTS
from biped.model.strength import HUMAN_TORQUES, human_torques
from biped.runs.postures import standing
from biped.signals import Signal


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


def test_within_a_tenth_of_a_second_a_fifth_more(stance):
    at_once = Signal.rectangle(1e6, 0.0, 1e-6).integral()
    given = Push("trunk", (1.0, 0.0, 0.0), 1.0, duration=0.1, waveform="half-sine").given
    assert stance.impulse(0.0, given) == pytest.approx(1.18 * stance.impulse(0.0, at_once), rel=5e-3)


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


def test_what_touches_nothing_has_no_limit():
    model = human().without_contacts()
    with pytest.raises(NoLimitError, match="no contact points"):
        stance_of(model, model.neutral())
