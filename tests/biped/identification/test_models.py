"""Closed-form models against their equations, against each other, and against published values."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped.identification import DoublePendulum, IndependentChannels
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


DOUBLE = DoublePendulum(
    leg_mass=22.0, leg_length=0.85, leg_com=0.5, leg_inertia=1.6, trunk_mass=48.0, trunk_com=0.35, trunk_inertia=3.5,
    ankle_stiffness=900.0, ankle_damping=260.0, hip_stiffness=400.0, hip_damping=60.0, ankle_by_hip=120.0,
    ankle_by_hip_rate=30.0, hip_by_ankle=80.0, hip_by_ankle_rate=15.0, weight=0.6, delay=0.09,
    passive_ankle_stiffness=90.0, passive_ankle_damping=20.0, passive_hip_stiffness=70.0, passive_hip_damping=9.0,
)  # fmt: skip


def places(angles):
    """Return x and z of the centres of mass of legs and trunk (2, 2), for angles (2,) in space."""
    along = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    hip = DOUBLE.leg_length * along[0]
    return np.array([DOUBLE.leg_com * along[0], hip + DOUBLE.trunk_com * along[1]])


def test_masses_and_gravity_are_those_of_two_links():
    """M and gravity's torques equal differences of positions, exact to h²."""
    h, mass = 1e-4, np.array([DOUBLE.leg_mass, DOUBLE.trunk_mass])
    steps = h * np.eye(2)
    slopes = np.array([(places(step) - places(-step)) / (2.0 * h) for step in steps])  # (angle, link, axis)
    turned = np.diag([DOUBLE.leg_inertia, DOUBLE.trunk_inertia])
    assert np.einsum("alx,l,blx->ab", slopes, mass, slopes) + turned == pytest.approx(DOUBLE.mass_matrix, rel=1e-6)
    bent = [(places(step) + places(-step) - 2.0 * places(np.zeros(2))) / h**2 for step in steps]
    assert [-(mass @ each[:, 1]) for each in bent] == pytest.approx(DOUBLE.moments, rel=1e-6)


def test_a_stiff_hip_makes_it_the_single_pendulum():
    """The hip's flexion is of first order in the inverse of its stiffness."""
    stiff = 1e9
    double = replace(
        DOUBLE, passive_hip_stiffness=stiff, ankle_by_hip=0.0, ankle_by_hip_rate=0.0, hip_by_ankle=0.0,
        hip_by_ankle_rate=0.0,
    )  # fmt: skip
    toppling = GRAVITY * float(double.moments.sum())
    single = IndependentChannels(
        float(double.mass_matrix.sum()), toppling, stiffness=double.ankle_stiffness / toppling,
        damping=double.ankle_damping / toppling, weight=double.weight, delay=double.delay,
        passive_stiffness=double.passive_ankle_stiffness / toppling,
        passive_damping=double.passive_ankle_damping / toppling,
    )  # fmt: skip
    for stimulus in ("tilt", "translation"):
        assert double.response(FREQUENCIES, stimulus)["sway"] == pytest.approx(
            single.response(FREQUENCIES, stimulus), rel=1e-4
        )
    push = double.response(FREQUENCIES, "push_trunk", 0.2)
    assert push["sway"] == pytest.approx((DOUBLE.leg_length + 0.2) * single.response(FREQUENCIES, "torque"), rel=1e-4)
    assert np.abs(push["hip"]).max() < 1e-4 * np.abs(push["ankle"]).min()


@pytest.mark.parametrize("stimulus", ["tilt", "translation", "push_leg", "push_trunk"])
def test_the_double_pendulum_solves_its_equations(stimulus):
    height, m = 0.3, DOUBLE
    found = m.response(FREQUENCIES, stimulus, height)
    for k, frequency in enumerate(FREQUENCIES):
        s, tilt = 2j * math.pi * frequency, float(stimulus == "tilt")
        leg, ankle, hip = found["ankle"][k] + tilt, found["ankle"][k], found["hip"][k]
        trunk, late = leg + hip, np.exp(-s * m.delay)
        felt = leg - m.weight * tilt
        of_ankle = -late * (
            (m.ankle_stiffness + m.ankle_damping * s) * felt + (m.ankle_by_hip + m.ankle_by_hip_rate * s) * hip
        )
        of_ankle -= (m.passive_ankle_stiffness + m.passive_ankle_damping * s) * ankle
        of_hip = -late * (
            (m.hip_by_ankle + m.hip_by_ankle_rate * s) * felt + (m.hip_stiffness + m.hip_damping * s) * hip
        )
        of_hip -= (m.passive_hip_stiffness + m.passive_hip_damping * s) * hip
        outside = {
            "tilt": np.zeros(2), "translation": -(s**2) * m.moments, "push_leg": np.array([height, 0.0]),
            "push_trunk": np.array([m.leg_length, height]),
        }[stimulus]  # fmt: skip
        theta = np.array([leg, trunk])
        balance = s**2 * m.mass_matrix @ theta - GRAVITY * m.moments * theta - outside
        # On the legs act the ankles' torque and the hips' reaction, on the trunk the hips' torque.
        wanted = np.array([of_ankle - of_hip, of_hip])
        assert balance == pytest.approx(wanted, abs=1e-9 * np.abs(m.mass_matrix @ theta * s**2).max() + 1e-9)
        assert found["sway"][k] == pytest.approx(m.moments @ theta / m.moments.sum())


@refuses(
    (lambda: replace(CHANNELS, weight=1.2), "from 0"),
    (lambda: replace(CHANNELS, inertia=0.0), "inertia"),
    (lambda: replace(CHANNELS, delay=-0.1), "delay"),
    (lambda: CHANNELS.response([0.1], "pull"), "tilt, torque or translation"),
    (lambda: replace(DOUBLE, weight=-0.1), "from 0"),
    (lambda: replace(DOUBLE, leg_length=math.nan), "leg_length"),
    (lambda: replace(DOUBLE, passive_hip_damping=-1.0), "passive_hip_damping"),
    (lambda: DOUBLE.response([0.1], "pull"), "one of tilt"),
)
def test_what_makes_no_sense_is_said(make):
    make()
