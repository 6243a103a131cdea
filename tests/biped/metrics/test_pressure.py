"""Centre of pressure and zero moment point: known circles and lines, statics, and their difference under a push."""

import math

import numpy as np
import pytest

from .rows import G, Rows, block, on_sole, sole

N = 2000


def pressed(xy, duration=4.0):
    rows = on_sole(np.linspace(0.0, duration, len(xy)))
    rows.press(xy)
    return rows


def circle(turns=1, radius=0.02, middle=(0.01, -0.005)):
    phase = np.linspace(0.0, 2.0 * np.pi * turns, turns * N + 1)
    return np.column_stack([middle[0] + radius * np.cos(phase), middle[1] + radius * np.sin(phase)])


def test_the_centre_of_pressure_is_where_the_weight_was_put():
    xy = circle()
    table = pressed(xy).series()
    assert np.allclose(table[["cop_x", "cop_y"]], xy, atol=1e-15)
    assert table["grf_normal"].to_numpy() == pytest.approx(10.0 * G)


def test_a_circles_path_and_speed_are_its_circumference():
    """A polygon of 2000 sides is short of the circle by a part of π²/(6 · 2000²)."""
    measured = pressed(circle(turns=2)).measure()
    assert measured["cop_path_length"] == pytest.approx(2 * 2 * math.pi * 0.02, rel=1e-6)
    assert measured["cop_mean_velocity"] == pytest.approx(2 * 2 * math.pi * 0.02 / 4.0, rel=1e-6)


def test_a_circles_spread_is_its_radius_and_its_ellipse_a_circle():
    """Both variances are r²/2, so that the ellipse has the area π χ² r²/2 with χ² = −2 ln 0.05 = 5.991."""
    rows = pressed(circle()[:-1])  # each place once
    measured = rows.measure()
    assert measured["cop_rms_distance"] == pytest.approx(0.02, rel=1e-12)
    assert measured["cop_mean_distance"] == pytest.approx(0.02, rel=1e-12)
    assert measured["cop_range_ap"] == pytest.approx(0.04, rel=1e-12)
    assert measured["cop_range_ml"] == pytest.approx(0.04, rel=1e-12)
    assert measured["cop_area"] == pytest.approx(math.pi * 5.991464547 * 0.0004 / 2 * N / (N - 1), rel=1e-9)


def test_the_ellipse_holds_95_percent_of_a_normal_scatter():
    rng = np.random.default_rng(1)
    xy = np.clip(rng.multivariate_normal((0.0, 0.0), [[1e-4, 3e-5], [3e-5, 5e-5]], size=20000), -0.0499, 0.0499)
    measured = pressed(xy).measure()
    covariance = np.cov(xy.T)
    square = np.einsum("ij,jk,ik->i", xy - xy.mean(axis=0), np.linalg.inv(covariance), xy - xy.mean(axis=0))
    radius = measured["cop_area"] / (math.pi * math.sqrt(np.linalg.det(covariance)))
    assert (square < radius).mean() == pytest.approx(0.95, abs=0.005)  # 3 σ of 20 000 draws: 0.0046


def test_a_line_has_a_length_and_no_area():
    back_and_forth = 0.03 * np.sin(np.linspace(0.0, 2 * np.pi, N + 1))
    measured = pressed(np.column_stack([back_and_forth, 0 * back_and_forth])).measure()
    assert measured["cop_path_length"] == pytest.approx(4 * 0.03, rel=1e-5)
    assert measured["cop_area"] == pytest.approx(0.0, abs=1e-15)
    assert measured["cop_range_ml"] == pytest.approx(0.0, abs=1e-15)


def test_the_path_is_not_drawn_across_a_flight():
    xy = np.repeat([[-0.05, 0.0], [0.0, 0.0], [0.05, 0.0]], 10, axis=0)
    rows = pressed(xy)
    for point in rows.model.contact_names:
        rows[f"contact_{point}_fz"][10:20] = 0.0
        rows[f"contact_{point}_mode"][10:20] = 1.0
    measured = rows.measure()
    assert measured["cop_path_length"] == pytest.approx(0.0, abs=1e-15)
    assert measured["flight_time"] == pytest.approx(10 * 4.0 / 29)


@pytest.mark.parametrize(
    ("xy", "margin"),
    [((0.0, 0.0), 0.05), ((0.07, 0.0), 0.03), ((0.0, -0.04), 0.01), ((0.1, 0.0), 0.0), ((0.1, 0.05), 0.0)],
)
def test_the_margin_of_the_centre_of_pressure(xy, margin):
    measured = pressed(np.tile(xy, (5, 1))).measure()
    assert measured["cop_margin_min"] == pytest.approx(margin, abs=1e-15)


def test_a_load_of_less_than_a_hundredth_of_the_weight_has_no_centre():
    rows = pressed(np.zeros((5, 2)))
    for point in rows.model.contact_names:
        rows[f"contact_{point}_fz"] *= 0.009
    measured = rows.measure()
    assert measured["cop_margin_min"] is None
    assert measured["cop_path_length"] is None


def test_at_rest_the_zero_moment_point_is_below_the_centre_of_mass():
    rows = pressed(np.zeros((5, 2)))
    rows["com_x"], rows["com_y"] = 0.03, -0.02
    table = rows.series()
    assert table["zmp_x"].to_numpy() == pytest.approx(0.03)
    assert table["zmp_y"].to_numpy() == pytest.approx(-0.02)
    assert table["zmp_margin"].to_numpy() == pytest.approx(0.03)


def test_the_zero_moment_point_of_an_accelerated_and_turning_body():
    """x = x_c − (z x'' + L_y' / m) / g with constant rates, which central differences have exactly."""
    rows = pressed(np.zeros((9, 2)), duration=1.0)
    times, mass = rows["time"], rows.model.total_mass
    rows["momentum_px"], rows["momentum_ly"] = mass * 0.3 * times, 2.0 * times
    rows["momentum_py"], rows["momentum_lx"] = mass * -0.2 * times, 1.5 * times
    table = rows.series()
    assert table["zmp_x"].to_numpy() == pytest.approx(-(1.0 * 0.3 + 2.0 / mass) / G)
    assert table["zmp_y"].to_numpy() == pytest.approx(-(1.0 * -0.2 - 1.5 / mass) / G)


def test_on_a_tilted_floor_both_are_in_its_own_frame():
    """A body at rest on a floor that is tilted by 0.2 rad about y and shifted: the plumb line meets it at (x, y)."""
    rows = Rows(block(), np.linspace(0.0, 1.0, 5), platform=True)
    c, s = math.cos(0.2), math.sin(0.2)
    origin = np.array([1.0, 2.0, 0.3])
    u = 0.04  # along the floor
    rows.stand([np.add(origin, (c * x, y, -s * x)) for x, y, _ in sole(half_width=0.5)])
    for point, share in zip(rows.model.contact_names, (0.3, 0.3, 0.7, 0.7), strict=True):
        rows[f"contact_{point}_fz"] = rows.model.total_mass * G * share / 2
    for axis, value in zip("xyz", origin, strict=True):
        rows[f"platform_{axis}"] = value
    rows["platform_qw"], rows["platform_qy"] = math.cos(0.1), math.sin(0.1)
    rows["com_x"], rows["com_y"], rows["com_z"] = 1.0 + c * u, 2.1, 1.3
    table = rows.series()
    assert table["cop_x"].to_numpy() == pytest.approx(u)  # 0.1 · (0.7 − 0.3)
    assert table["cop_y"].to_numpy() == pytest.approx(0.0, abs=1e-12)
    assert table["zmp_x"].to_numpy() == pytest.approx(u)
    assert table["zmp_y"].to_numpy() == pytest.approx(0.1)


def test_only_what_comes_after_counts():
    xy = np.vstack([circle(), np.tile((0.01, 0.0), (N, 1))])
    rows = pressed(xy, duration=4.0)
    measured = rows.measure(start_time=2.1)
    assert measured["cop_path_length"] == pytest.approx(0.0, abs=1e-12)
