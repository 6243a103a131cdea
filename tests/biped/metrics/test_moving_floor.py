"""Metrics of simulated runs on moving floors: a rigid body that follows its floor, and the human."""

import math

import numpy as np
import pytest

from biped import InputError, Platform, Signal, State, simulate
from biped.metrics import Stimulus, measure_run, series
from biped.runs.summary import Ending
from contact import Floor
from experiments.catalogue.registry import experiment_named

from .rows import G, Rows, block, on_sole, sole

A, H, M, GYRATION = 0.1, 1.0, 10.0, 0.1
FREQUENCY, SIZE, FADE, DURATION = 0.5, 0.01, 2.0, 16.0
FLOOR = Floor(k_n=1e6, b_n=1e3, k_t=1e6, b_t=1e3, mu_s=1.0, mu_d=1.0)
OMEGA = 2.0 * math.pi * FREQUENCY
#: The floor's springs resist a turn of the sole with 4 k a², gravity and inertia of the swaying body add to it.
STIFFNESS = 4.0 * FLOOR.k_n * A * A
SWAYING = M * G * H + M * (H * H + GYRATION**2) * OMEGA**2


def on_platform(axis):
    model = block(A, A, H, mass=M, gyration=GYRATION)
    state = State.at(model)
    state.arrays.q[2] -= M * G / 4 / FLOOR.k_n
    motion = Platform(**{axis: Signal.sine(SIZE, FREQUENCY, 0.0, DURATION, FADE)})
    return simulate(
        model, floor=FLOOR, state=State.at(model, state.arrays.q), duration=DURATION, step=1e-3, disturbances=[motion],
        record_every=0.01,
    )  # fmt: skip


@pytest.mark.parametrize(("axis", "channel"), [("pitch", "tilt_y"), ("roll", "tilt_x")])
def test_a_rigid_body_sways_with_its_floor(axis, channel):
    """φ = θ + δ with k δ = (m g h + I ω²) φ: the springs give way by half a percent of the tilt."""
    stimulus = Stimulus(channel, (FREQUENCY,), begin=FADE + 2.0, end=DURATION - FADE)
    measured = measure_run(on_platform(axis), stimulus=stimulus)
    assert measured["sway_gain_1"] == pytest.approx(1.0 / (1.0 - SWAYING / STIFFNESS), rel=2e-4)
    assert measured["sway_phase_1"] == pytest.approx(0.0, abs=1e-3)
    assert measured["verdict"] == "recovered"
    assert measured["foot_displacement"] < 1e-4


@pytest.mark.parametrize(("axis", "sense"), [("x", 1.0), ("y", -1.0)])
def test_a_rigid_body_on_a_floor_that_shifts_tilts_by_its_inertia(axis, sense):
    """k δ = m h ω² X + (m g h + I ω²) δ: where the floor is at its farthest it brakes, and the body tilts outwards.

    Outwards along y is a turn about −x.
    """
    stimulus = Stimulus(axis, (FREQUENCY,), begin=FADE + 2.0, end=DURATION - FADE)
    run = on_platform(axis)
    measured = measure_run(run, stimulus=stimulus)
    assert measured["sway_gain_1"] == pytest.approx(M * H * OMEGA**2 / (STIFFNESS - SWAYING), rel=1e-2)
    assert math.cos(measured["sway_phase_1"]) == pytest.approx(sense, abs=1e-3)
    # Its centre of pressure moves against the acceleration of the floor: by h ω² X / g, in the floor's own frame.
    span = series(run).query("4.0 < time < 14.0")[f"cop_{axis}"]
    assert np.ptp(span) / 2 == pytest.approx(H * OMEGA**2 * SIZE / G, rel=2e-2)


@pytest.mark.parametrize("axis", ["pitch", "roll", "x"])
def test_on_a_moving_floor_the_zero_moment_point_is_still_the_centre_of_pressure(axis):
    """In the floor's frame, up to the depth by which points sink in, 2.5 mm, times the slope of the force."""
    changes = {
        "platform.motion": "sine", "platform.axis": axis, "platform.size": 0.02, "platform.rise": 1.0,
        "platform.duration": 5.0, "run.duration": 5.0,
    }  # fmt: skip
    run = experiment_named("balance").run(changes)
    measured = measure_run(run)
    assert measured["verdict"] == "recovered"
    assert measured["foot_displacement"] < 1e-3
    table = series(run).query("time > 1.0")
    assert (table["zmp_x"] - table["cop_x"]).abs().max() < 2e-4
    assert (table["zmp_y"] - table["cop_y"]).abs().max() < 2e-4


TIMES = np.arange(0.0, 20.0 + 1e-9, 0.01)


def swaying(stimulus, sway, axis="y"):
    """A floor that tilts (about ``axis``) about the middle of the sole, and a body that sways by these angles [rad]."""
    rows = Rows(block(), TIMES, platform=True)
    for k, tilt in enumerate(stimulus):
        c, s = math.cos(tilt), math.sin(tilt)
        turned = [(c * x, y, -s * x) if axis == "y" else (x, c * y, s * y) for x, y, _ in sole()]
        rows.stand(turned, where=k)
    rows["platform_qw"], rows[f"platform_q{axis}"] = np.cos(stimulus / 2), np.sin(stimulus / 2)
    rows["com_z"] = np.cos(sway)
    rows["com_x" if axis == "y" else "com_y"] = np.sin(sway) * (1 if axis == "y" else -1)
    return rows


def sine(amplitude, frequency, phase=0.0):
    return amplitude * np.sin(2 * math.pi * frequency * TIMES + phase)


@pytest.mark.parametrize("axis", ["x", "y"])
@pytest.mark.parametrize(
    ("gain", "phase", "frequency", "offset"),
    [
        (1.0, 0.0, 0.25, 0.0), (2.0, -0.7, 0.25, 0.0), (0.3, 2.5, 0.25, 0.0), (1.5, -3.0, 0.25, 0.0),
        (1.5, -0.5, 0.27, 0.01),  # five cycles are 18.5185 s of the 20 s, between rows
    ],
)  # fmt: skip
def test_gain_and_phase_of_one_frequency(axis, gain, phase, frequency, offset):
    rows = swaying(sine(0.02, frequency), offset + sine(0.02 * gain, frequency, phase), axis)
    measured = rows.measure(stimulus=Stimulus(f"tilt_{axis}", (frequency,)))
    assert measured["sway_gain_1"] == pytest.approx(gain, rel=1e-9)
    assert measured["sway_phase_1"] == pytest.approx(phase, abs=1e-9)


def test_frequencies_are_told_apart():
    stimulus = sine(0.01, 0.1) + sine(0.01, 0.3) + sine(0.01, 0.7)
    sway = sine(0.02, 0.1, -0.1) + sine(0.01, 0.3, -1.0) + sine(0.001, 0.7, 3.0) + 0.03
    measured = swaying(stimulus, sway).measure(stimulus=Stimulus("tilt_y", (0.1, 0.3, 0.7)))
    assert measured["sway_gain_1"] == pytest.approx(2.0, rel=1e-9)
    assert measured["sway_gain_2"] == pytest.approx(1.0, rel=1e-9)
    assert measured["sway_gain_3"] == pytest.approx(0.1, rel=1e-9)
    assert measured["sway_phase_2"] == pytest.approx(-1.0, abs=1e-9)


def test_runs_at_other_frequencies_have_the_same_columns():
    slow, fast = (swaying(sine(0.02, f), sine(0.01, f)).measure(stimulus=Stimulus("tilt_y", (f,))) for f in (0.1, 0.7))
    assert list(slow) == list(fast)
    assert (slow["sway_frequency_1"], fast["sway_frequency_1"]) == (0.1, 0.7)


def test_what_swung_before_does_not_count():
    sway = sine(0.02, 0.25, -0.5) + np.where(TIMES < 8.0, 0.1 * np.sin(3.0 * TIMES), 0.0)
    measured = swaying(sine(0.02, 0.25), sway).measure(stimulus=Stimulus("tilt_y", (0.25,)), start_time=8.0)
    assert measured["sway_gain_1"] == pytest.approx(1.0, rel=1e-9)


def test_only_the_time_counts_in_which_the_floor_moves_periodically():
    """It begins at 4 s and ends at 17 s; the body sways on as it likes."""
    moves = (TIMES >= 4.0) & (TIMES <= 17.0)
    stimulus, sway = np.where(moves, sine(0.02, 0.5), 0.0), np.where(moves, sine(0.01, 0.5, 0.4), 0.05 * TIMES)
    measured = swaying(stimulus, sway).measure(stimulus=Stimulus("tilt_y", (0.5,), begin=4.0, end=17.0))
    assert measured["sway_gain_1"] == pytest.approx(0.5, rel=1e-9)
    assert measured["sway_phase_1"] == pytest.approx(0.4, abs=1e-9)
    with pytest.raises(InputError, match=r"^stimulus\.end"):
        Stimulus("tilt_y", (0.5,), begin=4.0, end=4.0)


def test_a_floor_that_shifts_makes_radians_a_metre():
    rows = on_sole(TIMES, platform=True)
    shift = sine(0.05, 0.5)
    for point in rows.model.contact_names:
        rows[f"contact_{point}_x"] += shift
    rows["platform_x"], rows["com_x"] = shift, shift + np.tan(sine(0.02, 0.5, math.pi / 2))
    measured = rows.measure(stimulus=Stimulus("x", (0.5,)))
    assert measured["sway_gain_1"] == pytest.approx(0.4, rel=1e-9)
    assert measured["sway_phase_1"] == pytest.approx(math.pi / 2)


def test_there_is_none_of_a_fall_of_a_floor_at_rest_or_of_too_short_a_run():
    rows = swaying(sine(0.02, 0.25), sine(0.02, 0.25))
    name = "sway_gain_1"
    assert rows.measure(stimulus=Stimulus("tilt_y", (0.25,)), ending=Ending("fell", 15.0))[name] is None
    assert rows.measure(stimulus=Stimulus("tilt_x", (0.25,)))[name] is None
    assert rows.measure(stimulus=Stimulus("tilt_y", (0.02,)))["sway_gain_1"] is None
    still = Rows(block(), TIMES)
    still.stand(sole())
    assert still.measure(stimulus=Stimulus("tilt_y", (0.25,)))[name] is None
    assert name not in rows.measure()


@pytest.mark.parametrize(("channel", "frequencies"), [("z", (1.0,)), ("x", ()), ("x", (0.0,)), ("x", (math.inf,))])
def test_a_stimulus_that_is_none_is_refused(channel, frequencies):
    with pytest.raises(InputError, match=r"^stimulus\."):
        Stimulus(channel, frequencies)
