"""Extrapolated centre of mass, capture point and their margins, of point masses on known soles."""

import math

import numpy as np
import pytest

from biped.metrics.layout import standing_height

from .rows import G, Rows, block, on_sole, sole

pytestmark = pytest.mark.jit_off

TIMES = np.linspace(0.0, 1.0, 11)


def standing(velocity=(0.0, 0.0), com=(0.0, 0.0, 1.0), height=1.0):
    rows = on_sole(TIMES, height=height)
    for axis, place in zip("xyz", com, strict=True):
        rows[f"com_{axis}"] = place
    for axis, speed in zip("xy", velocity, strict=True):
        rows[f"momentum_p{axis}"] = rows.model.total_mass * speed
    return rows


def test_the_pendulum_is_as_long_as_the_body_is_high():
    assert standing_height(block(height=1.3)) == pytest.approx(1.3)


def test_the_humans_pendulum_is_that_of_its_masses(person):
    """Wendlandt 1997, section 4.1: masses and heights of the links in the home configuration, soles at z = 0."""
    masses = [45.0] + 2 * [0.343, 0.343, 7.5, 4.79, 0.343, 1.455]
    heights = [1.23] + 2 * [0.96, 0.96, 0.73, 0.28, 0.06, 0.03473]
    assert standing_height(person) == pytest.approx(np.average(heights, weights=masses), rel=1e-9)


def test_the_extrapolated_centre_of_mass_is_hofs():
    """XcoM = x + v sqrt(l/g): with l = 9.81/4 m half a second ahead."""
    rows = standing(velocity=(0.1, -0.02), com=(0.01, 0.02, 1.0), height=G / 4)
    table = rows.series()
    assert table["xcom_x"].to_numpy() == pytest.approx(0.01 + 0.05)
    assert table["xcom_y"].to_numpy() == pytest.approx(0.02 - 0.01)
    # From (0.06, 0.01) it is 4 cm to the sole's end and 4 cm to its side.
    assert table["margin_of_stability"].to_numpy() == pytest.approx(0.04)


def test_another_length_is_taken_as_given():
    rows = standing(velocity=(0.1, 0.0))
    measured = rows.measure(pendulum_length=G)
    assert measured["margin_of_stability_end"] == pytest.approx(0.1 - 0.1, abs=1e-12)


def test_the_capture_point_takes_the_present_height():
    rows = standing(velocity=(0.1, 0.0), com=(0.0, 0.0, G / 16), height=1.0)
    table = rows.series()
    assert table["capture_point_x"].to_numpy() == pytest.approx(0.1 / 4)
    assert table["xcom_x"].to_numpy() == pytest.approx(0.1 * math.sqrt(1.0 / G))


def test_a_falling_linear_pendulum_loses_its_margin_as_its_closed_form_says():
    """x'' = ω² (x − p) about the sole's end: x + v/ω grows with exp(ωt), x − v/ω shrinks with it (Hof 2005)."""
    omega = math.sqrt(G)
    ahead, behind = 0.001, -0.05  # of the two modes about the edge at 0.1
    x = 0.1 + (ahead * np.exp(omega * TIMES) + behind * np.exp(-omega * TIMES)) / 2
    v = omega * (ahead * np.exp(omega * TIMES) - behind * np.exp(-omega * TIMES)) / 2
    rows = standing(velocity=(v, 0.0), com=(x, 0.0, 1.0))
    table = rows.series()
    assert table["margin_of_stability"].to_numpy() == pytest.approx(-ahead * np.exp(omega * TIMES), rel=1e-9)


def test_without_contact_there_is_no_margin_and_it_is_falling():
    rows = Rows(block(), TIMES)
    measured = rows.measure()
    assert measured["margin_of_stability_end"] is None
    assert measured["margin_of_stability_min"] is None
    assert measured["time_outside"] == pytest.approx(1.0)
    assert measured["verdict"] == "fell"
    assert measured["flight_time"] == pytest.approx(1.0)


def test_without_gravity_there_is_no_pendulum():
    rows = standing()
    rows.model = rows.model.with_gravity((0.0, 0.0, 0.0))
    measured = rows.measure()
    assert measured["margin_of_stability_end"] is None
    assert measured["time_outside"] is None


def test_the_least_margin_is_that_since_a_time():
    rows = standing(velocity=(np.where(TIMES < 0.45, 5.0, 0.0), 0.0))
    whole = rows.measure()
    later = rows.measure(start_time=0.5)
    assert whole["margin_of_stability_min"] == pytest.approx(0.1 - 5.0 / math.sqrt(G))
    assert later["margin_of_stability_min"] == pytest.approx(0.05)


def on_platform(shift, velocity, turn=(1.0, 0.0, 0.0, 0.0)):
    """Return a body on a floor that moves along x by ``shift`` (n,), with this velocity relative to it."""
    rows = on_sole(TIMES, platform=True)
    for point in rows.model.contact_names:
        rows[f"contact_{point}_x"] += shift
    rows["platform_x"], rows["com_x"] = shift, shift
    rows["momentum_px"] = rows.model.total_mass * velocity
    for part, number in zip("wxyz", turn, strict=True):
        rows[f"platform_q{part}"] = number
    return rows


def test_on_a_floor_at_constant_speed_all_is_as_on_one_at_rest():
    moving = on_platform(0.7 * TIMES, 0.7).series()
    resting = on_platform(0.0 * TIMES, 0.0).series()
    for name in ("margin_of_stability", "capture_margin", "cop_x", "cop_margin", "support_area", "sway_y"):
        assert moving[name].to_numpy() == pytest.approx(resting[name].to_numpy(), abs=1e-12), name


def test_a_body_left_behind_by_its_floor_moves_against_it():
    rows = on_platform(0.3 * TIMES, 0.0)
    rows["com_x"] = rows["platform_x"]
    table = rows.series()
    assert table["margin_of_stability"].to_numpy() == pytest.approx(0.1 - 0.3 / math.sqrt(G))


def test_on_a_tilted_floor_the_margin_is_that_of_the_plumb_line():
    """The sole turned by 0.2 rad about y: from above it is cos(0.2) as long, and the plumb line is what counts."""
    rows = Rows(block(), TIMES, platform=True)
    c, s = math.cos(0.2), math.sin(0.2)
    rows.stand([(c * x, y, -s * x) for x, y, _ in sole(half_width=0.5)])
    rows["platform_qw"], rows["platform_qy"] = math.cos(0.1), math.sin(0.1)
    table = rows.series()
    assert table["margin_of_stability"].to_numpy() == pytest.approx(0.1 * c)
    assert table["support_area"].to_numpy() == pytest.approx(0.2 * 1.0)  # in the floor's own plane
    assert table["floor_tilt_y"].to_numpy() == pytest.approx(0.2)
    assert table["sway_y"].to_numpy() == pytest.approx(0.0, abs=1e-12)
