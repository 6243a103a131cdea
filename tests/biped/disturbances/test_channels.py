"""Sensors by channel: different delays, coloured and signal-dependent noise, thresholds, presets."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from biped import InputError, ModelError, Scene, Sensors, Session, State, human, simulate
from biped.derivatives.gradients import gradient
from biped.derivatives.linearization import Linearizer
from biped.disturbances.sensors.row import Row
from biped.disturbances.sensors.sensors import PRESETS
from biped.inputs.fields import replaced
from biped.kernels.loop.random import normal
from biped.model.geometry import quaternion_matrix
from experiments.catalogue.registry import experiment_named

from ...conftest import assert_same_arrays
from .watching import PD, PUSH, TICK, watched


def sensors_with(**changes):
    """Return sensors with values of channels, by names such as ``visual__delay``."""
    return replaced(Sensors(estimator="none"), {name.replace("__", "."): value for name, value in changes.items()})


def test_each_channel_has_a_delay_of_its_own():
    sensors = sensors_with(
        delay=2 * TICK, vestibular__delay=3 * TICK, visual__delay=TICK, proprioceptive__delay=7 * TICK,
        force__delay=4 * TICK,
    )  # fmt: skip
    _, seen, true = watched(sensors)
    place, turn, joints = slice(0, 3), slice(3, 7), slice(7, None)
    spin, rates, all_of = slice(3, 6), slice(6, None), slice(None)
    for of, columns, ticks in (
        (0, place, 3), (1, place, 3), (0, turn, 5), (1, spin, 5), (0, joints, 9), (1, rates, 9), (2, all_of, 4),
    ):  # fmt: skip
        shown, was = seen[of][:, columns], true[of][:, columns]
        assert (shown[ticks:] == was[:-ticks]).all()
        assert (shown[:ticks] == was[0]).all()
        assert np.ptp(was, axis=0).max() > 0.0


def test_ankles_have_imperfections_besides_those_of_all_joints():
    """Delays and thresholds add up; other joints have only those of the proprioceptive channel."""
    _, seen, true = watched(
        sensors_with(
            delay=TICK, ankles__delay=2 * TICK, proprioceptive__joint_threshold=1e-3, ankles__joint_threshold=2e-3
        )
    )
    names = human().joint_names
    for joint, name in enumerate(names):
        ticks, threshold = (3, 3e-3) if "ankle" in name else (1, 1e-3)
        was = true[0][:-ticks, 7 + joint]
        assert seen[0][ticks:, 7 + joint] == pytest.approx(was[0] + dead(was - was[0], threshold), abs=1e-14)
        assert (seen[1][ticks:, 6 + joint] == true[1][:-ticks, 6 + joint]).all()
    assert sum("ankle" in name for name in names) == 4


def test_every_number_is_shown_by_one_channel_that_counts_the_common_delay():
    """Channels of contact forces, and a second one of a number, have a delay of their own."""
    row = Row(human())
    shown, delayed = np.zeros((2, row.width), dtype=int)
    for channel in (field.default for field in fields(Sensors) if hasattr(field.default, "entries")):
        for places, _, _ in channel.entries(row):
            shown[places] += 1
            delayed[places] += channel.shares_delay
    assert np.flatnonzero(shown == 0).size == 0
    assert delayed.max() == 1


def dead(away, threshold):
    return np.sign(away) * np.maximum(np.abs(away) - threshold, 0.0)


def test_nothing_is_felt_within_a_threshold():
    """Thresholds are relative to the values at the start, for orientations by components of the rotation vector."""
    sensors = sensors_with(
        visual__position_threshold=1e-3, visual__velocity_threshold=0.02, proprioceptive__joint_threshold=2e-3,
        proprioceptive__joint_rate_threshold=0.05, vestibular__orientation_threshold=1.5e-3,
        vestibular__angular_velocity_threshold=0.02, force__threshold=30.0,
    )  # fmt: skip
    _, seen, true = watched(sensors)
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
    """Return the rotation vector between orientations, from the antisymmetric part of the matrix between them."""
    R = np.array(quaternion_matrix(quaternion)) @ np.array(quaternion_matrix(start)).T
    sine = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size = float(np.linalg.norm(sine))
    return sine * (math.asin(size) / size if size > 0.0 else 1.0)


def test_coloured_noise_is_a_filter_of_the_white():
    """n_{k+1} = a n_k + √(1 − a²) w_k, where w is the white noise without a time constant."""
    constant, size = 0.02, 1e-3
    sensors = sensors_with(proprioceptive__joint_noise=size, proprioceptive__time_constant=constant, seed=4)
    _, seen, true = watched(sensors, duration=1.5)
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
    sensors = sensors_with(
        proprioceptive__joint_rate_noise=0.01, proprioceptive__relative_noise=0.2, force__relative_noise=0.05, seed=7
    )
    _, seen, true = watched(sensors)
    rates = true[1][:, 6:]
    drawn = np.array([[normal(7, k, 18 + 6 + joint) for joint in range(12)] for k in range(len(rates))])
    error = (seen[1] - true[1])[:, 6:]
    assert error == pytest.approx((0.01 + 0.2 * np.abs(rates - rates[0])) * drawn, abs=1e-13)
    forces = true[2]
    drawn = np.array([[normal(7, k, 3 * 18 + place) for place in range(forces.shape[1])] for k in range(len(forces))])
    assert seen[2] == pytest.approx(forces + 0.05 * np.abs(forces) * drawn, abs=1e-9)


def test_senses_without_faults_are_none():
    """A run through perfect sensors equals a run without sensors, bit for bit."""
    setup = experiment_named("balance").build({"run.duration": 0.1})
    runs = [
        simulate(
            setup.model, setup.controller, state=setup.state.copy(), floor=setup.floor, duration=0.1, step=1e-3,
            disturbances=acting,
        )
        for acting in ((PUSH,), (PUSH, Sensors()), (PUSH, sensors_with(force__time_constant=0.1)))
    ]  # fmt: skip
    for run in runs[1:]:
        assert run.frame.equals(runs[0].frame)


ALL = sensors_with(
    delay=4e-3, vestibular__delay=2e-3, force__delay=6e-3, proprioceptive__joint_noise=1e-4,
    proprioceptive__joint_rate_noise=2e-3, vestibular__orientation_noise=1e-4, force__noise=1.0,
    force__relative_noise=0.02, proprioceptive__relative_noise=0.1, proprioceptive__joint_threshold=1e-4,
    vestibular__angular_velocity_threshold=1e-3, ankles__joint_noise=1e-4, seed=11,
    **{f"{name}__time_constant": 0.05 for name in ("vestibular", "visual", "proprioceptive", "force")},
)  # fmt: skip


def test_a_session_goes_back_to_what_its_senses_remember():
    """An intermediate observation changes nothing."""
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


@pytest.mark.parametrize(
    "sensors", [sensors_with(vestibular__delay=4e-3), sensors_with(proprioceptive__joint_threshold=1e-3)]
)
def test_what_has_no_derivative_is_refused(sensors):
    scene = Scene(human(), PD, disturbances=(sensors,), duration=0.01)
    for ask in (lambda: Linearizer(scene), lambda: gradient(scene, "rms_torque", ("controller.kp",))):
        with pytest.raises(InputError, match="thresholds or different delays has no derivative"):
            ask()


def test_presets_by_name_in_every_command():
    build = experiment_named("balance").build
    for name in PRESETS:
        (sensors,) = build({"sensors.preset": name}).disturbances
        assert sensors == Sensors.preset(name)
        assert sensors.compile(human(), 2e-3, np.zeros(3)).depth[0] == 1 + round(sensors.delay / 2e-3)
    (sensors,) = build({"sensors.preset": "foam", "sensors.delay": 0.1, "sensors.seed": 3}).disturbances
    assert sensors == replace(Sensors.preset("foam", seed=3), delay=0.1)


def test_presets_differ_as_their_sources_say():
    seeing, blind, foam, old = map(Sensors.preset, ("eyes-open", "eyes-closed", "foam", "old"))
    assert 0.67 * seeing.proprioceptive.joint_noise == pytest.approx(0.003, rel=0.15)  # Fitzpatrick, McCloskey 1994
    assert 0.033 <= seeing.proprioceptive.relative_noise <= 0.049  # Huang et al. 2023
    assert 2.1 <= old.vestibular.orientation_noise / seeing.vestibular.orientation_noise <= 3.0  # Bermúdez Rey 2016
    assert (seeing.delay, blind.delay) == (0.15, 0.16)  # DEC
    assert math.degrees(blind.vestibular.angular_velocity_threshold) == pytest.approx(0.33)
    assert math.degrees(blind.vestibular.orientation_threshold) == pytest.approx(0.07)
    assert foam.proprioceptive.joint_noise > seeing.proprioceptive.joint_noise
    assert old.delay > seeing.delay
    assert old.proprioceptive.joint_rate_noise > seeing.proprioceptive.joint_rate_noise


def balance(**changes):
    return experiment_named("balance").build({name.replace("__", "."): value for name, value in changes.items()})


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: sensors_with(force__noise=-1.0),
            InputError,
            r"sensors.force.noise = -1.0: it must be a finite number",
        ),
        (lambda: Sensors(delay=-1.0), InputError, "sensors.delay = -1.0: it must be a finite number, zero or above"),
        (lambda: Sensors(seed=1.5), InputError, "whole number"),
        (lambda: Sensors(seed=2**63), InputError, "below 2"),
        (
            lambda: Sensors(delay=1e9).compile(human(), TICK, np.zeros(3)),
            InputError,
            "must be at most 100000 control periods",
        ),
        (lambda: simulate(human(), PD, disturbances=[Sensors(delay=3e-3)]), InputError, "0.002 or 0.004"),
        (
            lambda: simulate(human(), PD, disturbances=[sensors_with(visual__delay=3e-3)]),
            InputError,
            r"sensors.visual.delay = 0.003 s: it must be a whole number of control periods",
        ),
        (
            lambda: balance(sensors__delay=0.1, sensors__visual__delay=0.2, run__duration=0.3),
            InputError,
            "sensors.delay plus the delay of a channel = 0.3 s: it must be below run.duration",
        ),
        (lambda: balance(sensors__visual_delay=0.1), InputError, "did you mean 'sensors.visual.delay'"),
        (lambda: balance(sensors__joint_noise=0.1), InputError, "'sensors.proprioceptive.joint_noise'"),
        (lambda: Sensors.preset("eyes-shut"), ModelError, "sensor presets are eyes-open, eyes-closed"),
        (
            lambda: balance(sensors__preset="eyes-shut"),
            InputError,
            "sensors.preset = eyes-shut: it must be one of none",
        ),
    ],
)
def test_refusals(make, error, words):
    with pytest.raises(error, match=words):
        make()
