"""A floor that turns with the body's sway, so that joints do not show it."""

import numpy as np
import pytest

from biped import (
    Fall,
    InputError,
    Platform,
    Push,
    Scene,
    Sensors,
    Session,
    Signal,
    Stance,
    State,
    SwayReferenced,
    human,
)
from biped.disturbances.sensors import ForceChannel
from controllers import Postural
from experiments.catalogue.registry import experiment_named

MODEL = human()
NUDGE = Push("trunk", direction=(-1.0, 0.0, 0.0), impulse=0.5, start=0.1, duration=0.1)
BY_JOINTS = Postural(weight=1.0, stiffness=1.5)
BY_SPACE = Postural(weight=0.0, stiffness=1.5)


def standing(law, *acting, duration=6.0):
    q = Stance().configuration(MODEL)
    late = Sensors(delay=0.1, force=ForceChannel(delay=0.1))
    return Scene(
        MODEL, law.holding(MODEL, q), state=State.at(MODEL, q), disturbances=(NUDGE, late, *acting), fall=Fall(),
        duration=duration, step=2e-3,
    )  # fmt: skip


def test_by_the_joints_alone_it_sways_away_and_in_space_it_stands():
    assert standing(BY_JOINTS).run().summary["verdict"] == "recovered"
    assert standing(BY_JOINTS, SwayReferenced()).run().summary["verdict"] == "fell"
    assert standing(BY_SPACE, SwayReferenced()).run().summary["verdict"] == "recovered"


@pytest.mark.parametrize("gain", [1.0, 0.5])
def test_the_floor_has_the_sway_of_a_tick_ago(gain):
    floor = SwayReferenced(gain, pivot=(0.0, 0.0, 0.06))
    run = standing(BY_SPACE, floor, duration=1.0).run()
    frame = run.frame
    sway = np.arctan2(frame["com_x"], frame["com_z"] - 0.06).to_numpy()
    turn = 2.0 * np.arctan2(frame["platform_qy"], frame["platform_qw"]).to_numpy()
    assert np.abs(turn).max() > 1e-4
    assert np.abs(turn[1:] - gain * (sway - sway[0])[:-1]).max() < 1e-14
    assert run.summary["ledger_residual"] < 1e-4


def test_what_was_saved_goes_on_to_the_last_bit():
    session = Session(standing(BY_SPACE, SwayReferenced()))
    session.advance(200)
    saved = session.save()
    session.advance(100)
    once = session.save().state
    session.restore(saved)
    session.advance(100)
    again = session.save().state
    assert np.array_equal(once.q, again.q)
    assert np.array_equal(once.floor, again.floor)


def test_one_motion_of_the_floor_at_most():
    slide = Platform(x=Signal.step(0.1, 1.0))
    with pytest.raises(InputError, match="2 motions of the floor"):
        standing(BY_SPACE, SwayReferenced(), slide).run()


def test_it_is_a_motion_of_every_experiment():
    values = {"initial.stance": "upright", "platform.motion": "sway-referenced", "platform.gain": 0.5}
    scene = experiment_named("balance").build(values)
    assert SwayReferenced(0.5) in scene.disturbances
