"""Postural controller: longhand torques, its equilibrium stance, and stability with sensory delay."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import (
    Fall,
    ModelError,
    Platform,
    Push,
    Sensors,
    Settle,
    Signal,
    Stance,
    State,
    chain,
    human,
    simulate,
    subject,
)
from biped.control.observation import Observation
from biped.disturbances.sensors import ProprioceptiveChannel
from biped.dynamics.whole_body import WholeBody
from biped.errors import InputError
from controllers import Postural


@pytest.fixture(scope="module")
def stance():
    model = human()
    q = Stance().configuration(model)
    return model, q, Postural().holding(model, q)


def stood(stance, acting=(), law=None, duration=4.0):
    model, q, usual = stance
    return simulate(
        model, usual if law is None else law.holding(model, q), state=State.at(model, q), disturbances=list(acting),
        duration=duration, step=2e-3, fall=Fall(),
    )  # fmt: skip


def test_its_torques_are_those_of_an_inverted_pendulum(stance):
    """Torques from the whole body's centre of mass (NumPy), in a posture and motion far from a stance."""
    model, q, law = stance
    rng = np.random.default_rng(2)
    moved, v = q.copy(), 0.3 * rng.normal(size=model.nv)
    moved[7:] += 0.1 * rng.normal(size=len(q) - 7)
    body, rest = WholeBody(model, moved, v), WholeBody(model, q)

    def ankles(of, value):
        points = [(foot, -np.array(model.bodies[model.body_index(foot)].com)) for foot in model.feet]
        return np.mean([getattr(of, value)(*point)[:3] for point in points], axis=0)

    arm, speed = body.com - ankles(body, "position"), body.com_velocity - ankles(body, "velocity")
    upright = rest.com - ankles(rest, "position")
    toppling = model.total_mass * 9.81 * upright[2]
    slope, rate = -arm[0] / arm[2], (-speed[0] * arm[2] + arm[0] * speed[2]) / arm[2] ** 2
    at_rest = -upright[0] / upright[2]
    expected = -toppling * (at_rest + law.stiffness * (slope - at_rest) + law.damping * rate) / 2.0
    torques = dict(zip(model.joint_names, law.torques(Observation(model, 0.0, moved, v)), strict=True))
    for joint, torque in torques.items():
        assert torque == pytest.approx(expected if joint.endswith("ankle_pitch") else 0.0, rel=1e-9), joint


def test_the_stance_is_its_equilibrium(stance):
    model, q, law = stance
    rested = simulate(model, law, state=State.at(model, q), step=2e-3, duration=0.1, settle=Settle())
    apart = rested.frame["com_x"].iloc[-1] - WholeBody(model, q).com[0]
    hips = 74.0 * 9.81 * 0.05 / 3000.0  # [rad] at most: the weight at a lever of 5 cm on springs of 3000 N·m/rad
    assert abs(apart) < 2.0 * hips * WholeBody(model, q).com[2]
    assert abs(rested.frame["rate_left_ankle_pitch"]).max() < 1e-4


@pytest.mark.parametrize("delay", [0.0, 0.12, 0.2])
def test_it_stands_with_late_and_noisy_senses_and_recovers(stance, delay):
    senses = Sensors(delay, proprioceptive=ProprioceptiveChannel(joint_noise=1e-3, joint_rate_noise=1e-2), seed=3)
    floor = Platform(x=Signal.step(0.06, start=0.5, rise=0.4))
    quiet, moved = stood(stance, [senses], duration=6.0), stood(stance, [senses, floor], duration=6.0)
    assert (quiet.summary["verdict"], moved.summary["verdict"]) == ("recovered", "recovered")
    assert quiet.metrics["com_excursion"] < moved.metrics["com_excursion"]


def test_a_push_to_the_side_is_held_by_the_legs(stance):
    push = Push("trunk", direction=(0.0, 1.0, 0.0), impulse=8.0, start=0.5)
    assert stood(stance, [push, Sensors(delay=0.12)]).summary["verdict"] == "recovered"


def test_below_the_toppling_torque_nothing_stands(stance):
    """An inverted pendulum on a spring of k m g h falls for k < 1, and stands for k > 1 with enough damping."""
    weak = Postural(stiffness=0.2, passive_stiffness=0.7, damping=0.4)
    assert stood(stance, law=weak, duration=20.0).summary["verdict"] != "recovered"
    enough = Postural(stiffness=0.6, passive_stiffness=0.7, damping=0.4)
    assert stood(stance, law=enough, duration=20.0).summary["verdict"] == "recovered"


def test_gains_are_in_parts_of_the_subjects_own_toppling_torque():
    small, large = subject(1.5, 50.0, "male"), subject(1.8, 75.0, "male")
    laws = [Postural().pendulum(model) for model in (small, large)]
    assert laws[1].toppling / laws[0].toppling == pytest.approx(1.2 * 1.5, rel=2e-3)  # soles sink in otherwise
    assert laws[1].upright == pytest.approx(laws[0].upright, rel=1e-9)
    passive = [Postural().impedance(model).stiffness["left_ankle_pitch"] for model in (small, large)]
    assert passive == [pytest.approx(0.65 * law.toppling / 2.0) for law in laws]


def test_it_records_the_sway_as_it_was(stance):
    """With a delay of 0.1 s the recorded sway is that of the configuration then."""
    model = stance[0]
    run = stood(stance, [Sensors(delay=0.1), Platform(x=Signal.step(0.06, start=0.2, rise=0.4))], duration=0.6)
    rows = {round(time, 6): k for k, time in enumerate(run.frame["time"])}
    body = WholeBody(model, run.frame[list(model.coordinate_names)].to_numpy()[rows[0.4]])
    feet = [model.bodies[model.body_index(foot)] for foot in model.feet]
    arm = body.com - np.mean([body.position(foot.name, -np.array(foot.com)) for foot in feet], axis=0)
    assert run.frame["sensed_sway"][rows[0.5]] == pytest.approx(-arm[0] / arm[2], rel=1e-9)
    assert run.units["sensed_sway"] == "rad"


@pytest.mark.parametrize("name", ["stiffness", "damping", "passive_stiffness", "held_damping"])
def test_what_it_cannot_have_is_refused(name):
    with pytest.raises(InputError, match=rf"postural\.{name}"):
        replace(Postural(), **{name: -1.0})
    with pytest.raises(InputError, match=rf"postural\.{name}"):
        replace(Postural(), **{name: math.nan})


def test_what_has_no_ankles_is_refused():
    with pytest.raises(ModelError, match="two feet"):
        Postural().law(chain(3))
