"""Settling, overshoot and steady-state error of decays with closed forms."""

import math

import numpy as np
import pytest

from biped import InputError, SetPoint
from biped.metrics import metric_named
from biped.runs.summary import Ending

from .rows import Rows, arm, on_sole

TIMES = np.linspace(0.0, 10.0, 10_001)
SET_POINT = SetPoint((0.1, 0.2, 1.0), (1.0, 0.0, 0.0, 0.0))
SIGMA, OMEGA = 1.0, 3.0


def decay(amplitude):
    return amplitude * np.exp(-SIGMA * TIMES) * np.cos(OMEGA * TIMES)


def swinging(offset=0.3, turn=0.0):
    rows = on_sole(TIMES)
    x, y, z = SET_POINT.position
    rows["body_x"], rows["body_y"], rows["body_z"] = x, y + decay(offset), z
    rows["body_qw"], rows["body_qx"] = np.cos(decay(turn) / 2), np.sin(decay(turn) / 2)
    return rows


def greatest_on_the_other_side(amplitude):
    """−e has its first maximum where e' = 0: tan(ωt) = −σ/ω."""
    t = (math.pi - math.atan(SIGMA / OMEGA)) / OMEGA
    return amplitude * math.exp(-SIGMA * t) * math.cos(math.atan(SIGMA / OMEGA))


def test_peaks_and_overshoots_of_a_damped_swing():
    measured = swinging(0.3, 0.2).measure(set_point=SET_POINT)
    assert measured["peak_position_error"] == pytest.approx(0.3)
    assert measured["peak_orientation_error"] == pytest.approx(0.2)
    assert measured["position_overshoot"] == pytest.approx(greatest_on_the_other_side(0.3), rel=1e-5)
    assert measured["orientation_overshoot"] == pytest.approx(greatest_on_the_other_side(0.2), rel=1e-5)


def test_errors_over_all_the_time_have_their_closed_form():
    """∫ e^(−2σt) cos² ωt dt = [−e^(−2σt) ((σ cos 2ωt − ω sin 2ωt)/(σ² + ω²) + 1/σ)]/4."""

    def antiderivative(t):
        turning = (SIGMA * np.cos(2.0 * OMEGA * t) - OMEGA * np.sin(2.0 * OMEGA * t)) / (SIGMA**2 + OMEGA**2)
        return -0.25 * np.exp(-2.0 * SIGMA * t) * (turning + 1.0 / SIGMA)

    mean = (antiderivative(TIMES[-1]) - antiderivative(TIMES[0])) / (TIMES[-1] - TIMES[0])
    measured = swinging(0.3, 0.2).measure(set_point=SET_POINT)
    assert measured["rms_position_error"] == pytest.approx(0.3 * math.sqrt(mean), rel=1e-5)
    assert measured["rms_orientation_error"] == pytest.approx(0.2 * math.sqrt(mean), rel=1e-5)


@pytest.mark.parametrize(
    ("offset", "turn", "limit", "start"),
    [(0.3, 0.0, 0.02, 0.0), (0.0, 0.2, math.radians(2.0), 0.0), (0.3, 0.0, 0.02, 1.0)],
)
def test_it_has_settled_after_the_last_time_beyond_2_cm_or_2_degrees(offset, turn, limit, start):
    """The time counts from a push, if a start time is given."""
    measured = swinging(offset, turn).measure(set_point=SET_POINT, start_time=start)
    swing = np.abs(decay(offset + turn))
    assert measured["settling_time"] == pytest.approx(TIMES[swing > limit][-1] + 0.001 - start, abs=1e-9)
    if turn:
        assert measured["position_overshoot"] == pytest.approx(0.0, abs=1e-15)
    else:
        assert measured["peak_position_error"] == pytest.approx(swing[start <= TIMES].max())


def test_a_quaternion_and_its_negative_are_the_same_turn():
    rows = swinging(0.0, 0.2)
    before = rows.measure(set_point=SET_POINT)
    for part in "wxyz":
        rows[f"body_q{part}"] *= -1.0
    after = rows.measure(set_point=SET_POINT)
    assert after["orientation_overshoot"] == before["orientation_overshoot"]
    assert after["settling_time"] == before["settling_time"]


def test_the_steady_state_error_is_the_mean_of_the_last_tenth():
    rows = on_sole(TIMES)
    rows["body_x"], rows["body_y"], rows["body_z"] = SET_POINT.position
    rows["body_x"] += 0.05
    measured = rows.measure(set_point=SET_POINT)
    assert measured["position_error"] == pytest.approx(0.05)
    assert measured["settling_time"] is None
    assert measured["position_overshoot"] == 0.0
    assert measured["verdict"] == "recovered"  # it balances, if elsewhere


def test_of_a_fall_only_what_led_to_it_is_measured():
    rows = swinging(0.3)
    measured = rows.measure(set_point=SET_POINT, ending=Ending("fell", 0.5))
    assert measured["verdict"] == "fell"
    assert measured["settling_time"] is None
    assert measured["position_overshoot"] is None
    assert measured["peak_position_error"] == pytest.approx(0.3)
    assert measured["peak_grf"] is not None
    late = rows.measure(set_point=SET_POINT, ending=Ending("fell", 0.5), start_time=1.0)
    assert late["peak_position_error"] is None
    assert late["peak_grf"] is None
    assert late["verdict"] == "fell"


def test_without_a_set_point_there_are_no_errors():
    measured = swinging(0.3).measure()
    assert measured["settling_time"] is None
    assert measured["position_error"] is None


def test_after_the_end_nothing_is_measured():
    measured = swinging().measure(set_point=SET_POINT, start_time=11.0)
    for name in ("settling_time", "peak_position_error", "margin_of_stability_end", "cop_area", "peak_grf"):
        assert measured[name] is None, name
    assert measured["verdict"] == "recovered"
    assert measured["foot_displacement"] == 0.0


def test_a_run_that_ends_at_once_has_no_mean_over_its_time():
    measured = on_sole(np.zeros(2)).measure(set_point=SET_POINT)
    assert measured["rms_position_error"] is None
    assert measured["rms_orientation_error"] is None
    assert measured["peak_position_error"] > 0.0


def test_rows_of_another_width_are_refused():
    rows = swinging()
    rows.array = rows.array[:, :-1]
    with pytest.raises(InputError, match="rows, 74"):
        rows.measure()


ROWS = 20_000
WHOLE = 2.0 * math.pi
TURN = np.linspace(0.0, WHOLE, ROWS + 1)


def driven(torque, rate, angle):
    rows = Rows(arm(), TURN)
    rows["torque_elbow"], rows["rate_elbow"], rows["angle_elbow"] = torque, rate, angle
    return rows.measure()


def test_a_spring_takes_up_what_it_gives_back():
    """τ = −k sin t along sin t, four quarters of ± k/2 each."""
    measured = driven(-3.0 * np.sin(TURN), np.cos(TURN), np.sin(TURN))
    assert measured["positive_work_elbow"] == pytest.approx(2 * 3.0 / 2, rel=2e-3)
    assert measured["negative_work_elbow"] == pytest.approx(-2 * 3.0 / 2, rel=2e-3)
    assert measured["peak_torque_elbow"] == pytest.approx(3.0)
    assert measured["rms_torque_elbow"] == pytest.approx(3.0 / math.sqrt(2), rel=1e-6)
    assert measured["peak_power_elbow"] == pytest.approx(1.5)  # 3 sin t cos t


def test_a_motor_against_a_damper_only_gives():
    """τ = b cos t along the rate cos t: ∫ b cos² over a turn is b π."""
    measured = driven(5.0 * np.cos(TURN), np.cos(TURN), np.sin(TURN))
    assert measured["positive_work_elbow"] == pytest.approx(5.0 * math.pi, rel=1e-3)
    assert measured["negative_work_elbow"] == pytest.approx(0.0, abs=1e-3)
    assert measured["peak_power_elbow"] == pytest.approx(5.0)
    for name in ("peak_torque", "rms_torque", "peak_power", "positive_work", "negative_work"):  # of one joint it is all
        assert measured[name] == pytest.approx(measured[f"{name}_elbow"])


def test_a_body_without_contact_points_or_feet_has_nothing_of_theirs():
    measured = driven(0.0 * TURN, 0.0 * TURN, 0.0 * TURN)
    for name in ("margin_of_stability_min", "cop_path_length", "foot_displacement", "footsteps", "time_outside"):
        assert measured[name] is None, name
    assert measured["verdict"] == "completed"
    assert not [name for name in measured if metric_named(name).per == "FOOT"]


def test_times_in_saturation_are_told_by_joint_and_the_longest():
    rows = Rows(arm(), TURN)
    measured = rows.measure(saturation={"elbow": 0.25})
    assert measured["saturation_time"] == measured["saturation_time_elbow"] == 0.25
    assert rows.measure()["saturation_time"] is None
    assert rows.measure(saturation={})["saturation_time_elbow"] == 0.0
    with pytest.raises(InputError, match="saturation: the model has no joints knee"):
        rows.measure(saturation={"knee": 1.0})
