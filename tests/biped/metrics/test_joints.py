"""Torque, power and work of motions with closed forms."""

import math

import numpy as np
import pytest

from biped.errors import InputError
from biped.metrics import metric_named

from .rows import Rows, arm

N = 20_000
T = 2.0 * math.pi
TIMES = np.linspace(0.0, T, N + 1)


def swinging(torque, rate, angle):
    rows = Rows(arm(), TIMES)
    rows["torque_elbow"], rows["rate_elbow"], rows["angle_elbow"] = torque, rate, angle
    return rows.measure()


def test_a_spring_takes_up_what_it_gives_back():
    """τ = −k sin t along sin t, four quarters of ± k/2 each."""
    measured = swinging(-3.0 * np.sin(TIMES), np.cos(TIMES), np.sin(TIMES))
    assert measured["positive_work_elbow"] == pytest.approx(2 * 3.0 / 2, rel=2e-3)
    assert measured["negative_work_elbow"] == pytest.approx(-2 * 3.0 / 2, rel=2e-3)
    assert measured["peak_torque_elbow"] == pytest.approx(3.0)
    assert measured["rms_torque_elbow"] == pytest.approx(3.0 / math.sqrt(2), rel=1e-6)
    assert measured["peak_power_elbow"] == pytest.approx(1.5)  # 3 sin t cos t


def test_a_motor_against_a_damper_only_gives():
    """τ = b cos t along the rate cos t: ∫ b cos² over a turn is b π."""
    measured = swinging(5.0 * np.cos(TIMES), np.cos(TIMES), np.sin(TIMES))
    assert measured["positive_work_elbow"] == pytest.approx(5.0 * math.pi, rel=1e-3)
    assert measured["negative_work_elbow"] == pytest.approx(0.0, abs=1e-3)
    assert measured["peak_power_elbow"] == pytest.approx(5.0)


def test_of_one_joint_all_is_the_whole():
    measured = swinging(5.0 * np.cos(TIMES), np.cos(TIMES), np.sin(TIMES))
    for name in ("peak_torque", "rms_torque", "peak_power", "positive_work", "negative_work"):
        assert measured[name] == pytest.approx(measured[f"{name}_elbow"])


def test_a_body_without_contact_points_or_feet_has_nothing_of_theirs():
    measured = swinging(0.0 * TIMES, 0.0 * TIMES, 0.0 * TIMES)
    for name in ("margin_of_stability_min", "cop_path_length", "foot_displacement", "footsteps", "time_outside"):
        assert measured[name] is None, name
    assert measured["verdict"] == "completed"
    assert not [name for name in measured if metric_named(name).per == "FOOT"]


def test_times_in_saturation_are_told_by_joint_and_the_longest():
    rows = Rows(arm(), TIMES)
    measured = rows.measure(saturation={"elbow": 0.25})
    assert measured["saturation_time"] == measured["saturation_time_elbow"] == 0.25
    assert rows.measure()["saturation_time"] is None
    assert rows.measure(saturation={})["saturation_time_elbow"] == 0.0
    with pytest.raises(InputError, match="saturation of knee"):
        rows.measure(saturation={"knee": 1.0})
