"""Metrics of simulated runs on moving floors: a rigid body that follows its floor, and the human."""

import math

import numpy as np
import pytest

from biped import State, simulate
from biped.disturbances import Platform
from biped.metrics import Stimulus, measure_run, series
from biped.signals import Signal
from contact import Floor
from experiments.catalogue.registry import experiment_named

from .rows import G, block

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
