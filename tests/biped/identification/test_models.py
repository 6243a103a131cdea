"""The closed form: against its equations solved as they stand, and what was published."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped.identification import IndependentChannels
from biped.identification.channels import GRAVITY
from tests.refusals import refuses

FREQUENCIES = np.array([0.05, 0.15, 0.35, 0.65, 1.15])
CHANNELS = IndependentChannels(
    70.6, 634.0, stiffness=1.4, damping=0.45, weight=0.4, delay=0.13, passive_stiffness=0.2, passive_damping=0.06,
    torque_feedback=0.1, torque_feedback_time=8.0, smoothing=0.02,
)  # fmt: skip


@pytest.mark.parametrize("stimulus", ["tilt", "torque", "translation"])
def test_independent_channels_solve_their_equations(stimulus):
    m = CHANNELS
    for frequency, found in zip(FREQUENCIES, m.response(FREQUENCIES, stimulus), strict=True):
        s = 2j * math.pi * frequency
        tilt = float(stimulus == "tilt")
        outside = {"tilt": 0.0, "torque": 1.0, "translation": -m.toppling / GRAVITY * s**2}[stimulus]
        late = m.toppling * (m.stiffness + m.damping * s) * np.exp(-s * m.delay)
        passive = m.toppling * (m.passive_stiffness + m.passive_damping * s)
        legs = m.weight / (1.0 + m.smoothing * s)
        fed = m.torque_feedback / m.toppling / (1.0 + m.torque_feedback_time * s)
        equations = [
            [m.inertia * s**2 - m.toppling, -1.0],
            [late * (legs + 1.0 - m.weight) + passive, 1.0 - late * fed],
        ]
        sway, _ = np.linalg.solve(equations, [outside, (late * legs + passive) * tilt])
        assert found == pytest.approx(sway, rel=1e-12)


@pytest.mark.parametrize(("stiffness", "delay", "weight", "gain", "phase"), [
    (17.0, 0.20, 0.70, (2.00, 2.20, 3.52, 3.53, 0.71), (1, -9, -33, -161, -217)),
    (19.0, 0.18, 0.50, (1.19, 1.30, 2.00, 3.15, 0.56), (1, -6, -22, -144, -206)),
    (21.0, 0.11, 0.22, (0.46, 0.50, 0.64, 0.65, 0.25), (0, -7, -29, -94, -150)),
])  # fmt: skip
def test_with_peoples_parameters_gains_and_phases_are_those_of_their_page(stiffness, delay, weight, gain, phase):
    """The table of docs/postural.md: a pendulum of 70.6 kg·m² and 634 N·m/rad, 5 N·m·s/°, 0.01 °/(N·m) with 15 s.

    Both are rounded to 7e-4 of them, of which near the resonance 1 − N E F + B N E, a small difference, has several.
    """
    per_degree = math.degrees(1.0) / 634.0
    found = IndependentChannels(
        70.6, 634.0, stiffness=stiffness * per_degree, damping=5.0 * per_degree, weight=weight, delay=delay,
        passive_stiffness=0.0, passive_damping=0.0, torque_feedback=0.01 / per_degree,
    ).response(FREQUENCIES)  # fmt: skip
    assert np.abs(np.abs(found) - gain).max() < 0.005 + 5e-3 * max(gain)
    assert np.degrees(np.unwrap(np.angle(found))) == pytest.approx(phase, abs=1.0)


@refuses(
    (lambda: replace(CHANNELS, weight=1.2), "from 0"),
    (lambda: replace(CHANNELS, inertia=0.0), "inertia"),
    (lambda: replace(CHANNELS, delay=-0.1), "delay"),
    (lambda: CHANNELS.response([0.1], "pull"), "tilt, torque or translation"),
)
def test_what_makes_no_sense_is_said(make):
    make()
