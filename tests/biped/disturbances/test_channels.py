"""Senses by channel: delays of their own, coloured and signal-dependent noise, thresholds, presets."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, ModelError, Push, Scene, Sensors, Session, State, human, simulate
from biped.control.controller import Controller
from biped.derivatives.gradients import gradient
from biped.derivatives.linearization import Linearizer
from biped.disturbances.sensors import CHANNELS, PRESETS
from biped.kernels.loop.random import normal
from biped.model.geometry import quaternion_matrix
from controllers import JointPD
from experiments.catalogue.registry import experiment_named

from ...conftest import assert_same_arrays

PD = JointPD()
PUSH = Push("trunk", (1, 0.3, 0), 4.0, 0.02, 0.05)
TICK = PD.period


class Spy(Controller):
    """A law that keeps what it is shown."""

    def __init__(self, controller):
        self.controller, self.period, self.seen = controller, controller.period, []

    def torques(self, observation):
        self.seen.append(observation)
        return self.controller.torques(observation)


def watched(sensors, duration=0.2):
    """What a law was shown at each tick, and what there was: q, v, and the floor's forces."""
    person, spy = human(), Spy(PD)
    state = State.at(person, person.configuration((0.0, 0.0, 1.2288)))
    run = simulate(person, spy, state=state, disturbances=(sensors, PUSH), duration=duration, step=TICK)
    count = len(spy.seen)
    forces = [f"contact_{name}_f{axis}" for name in person.contact_names for axis in "xyz"]
    names = ([*person.coordinate_names], [*person.velocity_names], forces)
    true = [run.frame[columns].to_numpy()[:count] for columns in names]
    seen = [
        np.array([one.q for one in spy.seen]), np.array([one.v for one in spy.seen]),
        np.array([one.contact_forces.ravel() for one in spy.seen]),
    ]  # fmt: skip
    return seen, true


def test_each_channel_has_a_delay_of_its_own():
    sensors = Sensors(
        delay=2 * TICK, vestibular_delay=3 * TICK, visual_delay=TICK, proprioceptive_delay=7 * TICK,
        force_delay=4 * TICK,
    )  # fmt: skip
    seen, true = watched(sensors)
    place, turn, joints = slice(0, 3), slice(3, 7), slice(7, None)
    spin, rates, all_of = slice(3, 6), slice(6, None), slice(None)
    for of, columns, ticks in (
        (0, place, 3), (1, place, 3), (0, turn, 5), (1, spin, 5), (0, joints, 9), (1, rates, 9), (2, all_of, 4),
    ):  # fmt: skip
        shown, was = seen[of][:, columns], true[of][:, columns]
        assert (shown[ticks:] == was[:-ticks]).all()
        assert (shown[:ticks] == was[0]).all()
        assert np.ptp(was, axis=0).max() > 0.0


def test_all_channels_late_by_the_same_is_one_delay():
    own = {f"{name}_delay": 5 * TICK for name in CHANNELS if name != "force"}
    shared, split = (watched(sensors)[0] for sensors in (Sensors(delay=5 * TICK), Sensors(**own)))
    for one, other in zip(shared, split, strict=True):
        assert np.array_equal(one, other)


def dead(away, threshold):
    return np.sign(away) * np.maximum(np.abs(away) - threshold, 0.0)


def test_nothing_is_felt_within_a_threshold():
    """About what was shown at the start; of the orientation, of the components of its rotation vector."""
    sensors = Sensors(
        position_threshold=1e-3, velocity_threshold=0.02, joint_threshold=2e-3, joint_rate_threshold=0.05,
        orientation_threshold=1.5e-3, angular_velocity_threshold=0.02, force_threshold=30.0,
    )  # fmt: skip
    seen, true = watched(sensors)
    for of, columns, threshold in (
        (0, slice(0, 3), 1e-3), (0, slice(7, None), 2e-3), (1, slice(0, 3), 0.02), (1, slice(3, 6), 0.02),
        (1, slice(6, None), 0.05),
    ):  # fmt: skip
        was = true[of][:, columns]
        left = dead(was - was[0], threshold)
        assert seen[of][:, columns] == pytest.approx(was[0] + left, abs=1e-14)
        assert (left != 0.0).any()
        assert (left[1:] == 0.0).any()
    assert seen[2] == pytest.approx(dead(true[2], 30.0), abs=1e-12)
    vectors = [np.array([turn_from(row[3:7], true[0][0, 3:7]) for row in of[0]]) for of in (seen, true)]
    # The logarithm has rounding of its own, of a unit quaternion's.
    assert vectors[0] == pytest.approx(dead(vectors[1], 1.5e-3), abs=1e-14)
    assert np.abs(vectors[0]).max() > 0.0


def turn_from(quaternion, start):
    """The rotation vector from one orientation to another, by the antisymmetric part of the matrix between them."""
    R = np.array(quaternion_matrix(quaternion)) @ np.array(quaternion_matrix(start)).T
    sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size = float(np.linalg.norm(sine))
    return sine * (math.asin(size) / size if size > 0.0 else 1.0)


def test_coloured_noise_is_a_filter_of_the_white():
    """n_{k+1} = a n_k + √(1 − a²) w_k with the numbers that are white noise without a time constant."""
    sensors, constant, size = Sensors(joint_noise=1e-3, seed=4), 0.02, 1e-3
    seen, true = watched(replace(sensors, proprioceptive_time_constant=constant), duration=1.5)
    noise = (seen[0] - true[0])[:, 7:] / size
    a = math.exp(-TICK / constant)
    white = (noise[1:] - a * noise[:-1]) / math.sqrt(1.0 - a * a)
    expected = np.array([[normal(4, k, 6 + joint) for joint in range(12)] for k in range(len(noise))])
    # Angles of less than 1 rad were rounded when the noise was added.
    assert np.abs(noise[0] - expected[0]).max() < 1e-11
    assert np.abs(white - expected[1:]).max() < 1e-11
    # Stationary from the start: the relative error of a variance is √(2/N), N the independent numbers that there are.
    independent = noise.size * (1.0 - a * a) / (1.0 + a * a)
    assert np.mean(noise**2) == pytest.approx(1.0, abs=4.0 * math.sqrt(2.0 / independent))


def test_noise_grows_with_what_is_felt():
    sensors = Sensors(joint_rate_noise=0.01, proprioceptive_relative_noise=0.2, force_relative_noise=0.05, seed=7)
    seen, true = watched(sensors)
    rates = true[1][:, 6:]
    drawn = np.array([[normal(7, k, 18 + 6 + joint) for joint in range(12)] for k in range(len(rates))])
    error = (seen[1] - true[1])[:, 6:]
    assert error == pytest.approx((0.01 + 0.2 * np.abs(rates - rates[0])) * drawn, abs=1e-13)
    forces = true[2]
    drawn = np.array([[normal(7, k, 3 * 18 + place) for place in range(forces.shape[1])] for k in range(len(forces))])
    assert seen[2] == pytest.approx(forces + 0.05 * np.abs(forces) * drawn, abs=1e-9)


def test_senses_without_faults_are_none():
    """The same run, bit for bit, through sensors that do nothing and through those that are not there."""
    setup = experiment_named("balance").build({"run.duration": 0.1})
    runs = [
        simulate(
            setup.model, setup.controller, state=setup.state.copy(), floor=setup.floor, duration=0.1, step=1e-3,
            disturbances=acting,
        )
        for acting in ((PUSH,), (PUSH, Sensors()), (PUSH, Sensors(force_time_constant=0.1)))
    ]  # fmt: skip
    for run in runs[1:]:
        assert run.frame.equals(runs[0].frame)


ALL = Sensors(
    delay=4e-3, vestibular_delay=2e-3, force_delay=6e-3, joint_noise=1e-4, joint_rate_noise=2e-3,
    orientation_noise=1e-4, force_noise=1.0, force_relative_noise=0.02,
    **{f"{name}_time_constant": 0.05 for name in CHANNELS},
    proprioceptive_relative_noise=0.1, joint_threshold=1e-4, angular_velocity_threshold=1e-3, seed=11,
)  # fmt: skip


def test_a_session_goes_back_to_what_its_senses_remember():
    """And a look at it in between changes nothing."""
    setup = experiment_named("balance").build({"run.duration": 0.2})
    session = Session(replace(setup, disturbances=(PUSH, ALL)))
    session.advance(20)
    saved = session.save()
    session.advance(40)
    first = session.state.copy().arrays
    session.restore(saved)
    for _ in range(8):
        session.observe()
        session.advance(5)
    assert_same_arrays(session.state.arrays, first)


def test_a_run_that_is_saved_goes_on(tmp_path):
    setup = experiment_named("balance").build()

    def go(state, duration):
        return simulate(
            setup.model, setup.controller, state=state, floor=setup.floor, disturbances=[ALL], duration=duration,
            step=1e-3,
        )  # fmt: skip

    whole, first = go(setup.state.copy(), 0.2), go(setup.state.copy(), 0.087)
    first.state.save(tmp_path / "state.npz")
    rest = go(State.load(tmp_path / "state.npz", setup.model), 0.113)
    assert np.array_equal(rest.state.q, whole.state.q)
    assert np.array_equal(rest.state.momentum, whole.state.momentum)
    assert np.array_equal(rest.state.arrays.past, whole.state.arrays.past)


@pytest.mark.parametrize("sensors", [Sensors(vestibular_delay=4e-3), Sensors(joint_threshold=1e-3)])
def test_what_has_no_derivative_is_refused(sensors):
    scene = Scene(human(), PD, disturbances=(sensors,), duration=0.01)
    for ask in (lambda: Linearizer(scene), lambda: gradient(scene, "rms_torque", ("controller.kp",))):
        with pytest.raises(InputError, match="delays of their own or thresholds have no derivative"):
            ask()


def test_presets_by_name_in_every_command():
    build = experiment_named("balance").build
    for name in PRESETS:
        (sensors,) = build({"sensors.preset": name}).disturbances
        assert sensors == Sensors.preset(name)
        assert max(sensors.ticks(2e-3)) == round(sensors.longest_delay / 2e-3)
    (sensors,) = build({"sensors.preset": "foam", "sensors.delay": 0.1, "sensors.seed": 3}).disturbances
    assert sensors == replace(Sensors.preset("foam", seed=3), delay=0.1)
    with pytest.raises(
        ModelError, match=r"unknown sense preset 'eyes-shut'; .*sense presets are eyes-open, eyes-closed"
    ):
        build({"sensors.preset": "eyes-shut"})


def test_presets_differ_as_their_sources_say():
    seeing, blind, foam, old = map(Sensors.preset, ("eyes-open", "eyes-closed", "foam", "old"))
    assert seeing.orientation_noise == pytest.approx(10.0 * seeing.joint_noise)  # van der Kooij and Peterka 2011
    assert (seeing.delay, blind.delay) == (0.15, 0.16)  # DEC
    assert math.degrees(blind.angular_velocity_threshold) == pytest.approx(0.33)
    assert math.degrees(blind.orientation_threshold) == pytest.approx(0.07)
    assert foam.joint_noise == pytest.approx(foam.orientation_noise)
    assert foam.orientation_noise == seeing.orientation_noise
    assert old.delay > seeing.delay
    assert old.joint_rate_noise > seeing.joint_rate_noise


def test_refusals():
    with pytest.raises(InputError, match=r"sensors.force.noise = -1.0: it must be a finite number, zero or above"):
        Sensors(force_noise=-1.0)
    with pytest.raises(InputError, match=r"sensors.visual.delay = 0.003 s is no whole number of control periods"):
        simulate(human(), PD, disturbances=[Sensors(visual_delay=3e-3)])
    with pytest.raises(InputError, match="sensors.delay with that of a channel = 0.3 s is as long as the run"):
        experiment_named("balance").build({"sensors.delay": 0.1, "sensors.visual.delay": 0.2, "run.duration": 0.3})
