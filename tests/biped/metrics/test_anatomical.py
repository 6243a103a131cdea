"""Columns in the axes of posturography for a moving and tilting floor, leaning bodies, and both forward directions."""

import math

import numpy as np
import pytest

from biped import InputError, Platform, Signal, human, simulate
from biped.metrics import Layout, Measurement, MeasurementContext, series
from biped.metrics.anatomical import in_anatomical_axes, leans

from .rows import Rows, block, on_sole, sole

pytestmark = pytest.mark.jit_off

TIMES = np.linspace(0.0, 1.0, 5)


def facing(model, x, y):
    object.__setattr__(model, "facing", (x, y, 0.0))
    return model


@pytest.mark.parametrize(
    ("way", "expected"),
    [((1.0, 0.0), (1.0, -2.0)), ((-1.0, 0.0), (-1.0, 2.0)), ((0.0, 1.0), (2.0, 1.0)), ((0.0, -1.0), (-2.0, -1.0))],
)
def test_anterior_and_to_the_right_are_positive(way, expected):
    """In the horizontal plane, a turn to the right goes from x to −y."""
    assert in_anatomical_axes(facing(block(), *way), np.array([[1.0, 2.0]])).tolist() == [list(expected)]


def test_the_humans_are_against_x_and_along_y():
    model = human()
    assert in_anatomical_axes(model, np.array([[-0.1, 0.02]])).tolist() == [[0.1, 0.02]]
    right = model.home_positions[model.body_index("right_foot")]
    assert in_anatomical_axes(model, right[None, :2])[0, 1] > 0.0


def test_centres_of_pressure_and_mass_on_a_floor_at_rest():
    rows = on_sole(TIMES)
    facing(rows.model, -1.0, 0.0)
    rows.press(np.tile((0.03, -0.02), (5, 1)))
    rows["com_x"], rows["com_y"] = 0.01, 0.005
    table = rows.series()
    assert table["cop_ap"].to_numpy() == pytest.approx(-0.03)
    assert table["cop_ml"].to_numpy() == pytest.approx(-0.02)
    assert table["com_ap"].to_numpy() == pytest.approx(-0.01)
    assert table["com_ml"].to_numpy() == pytest.approx(0.005)
    assert table["floor_ap"].isna().all()  # it does not move
    assert table.attrs["units"]["cop_ap"] == "m"


def test_on_a_floor_that_moves_and_tilts_they_are_in_its_frame():
    rows = Rows(facing(block(), -1.0, 0.0), TIMES, platform=True)
    angle, origin = 0.2, np.array([1.0, 2.0, 0.3])
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    rows.stand([origin + turn @ place for place in sole()])
    for axis, value in zip("xyz", origin, strict=True):
        rows[f"platform_{axis}"] = value
    rows["platform_qw"], rows["platform_qy"] = math.cos(angle / 2), math.sin(angle / 2)
    for axis, value in zip("xyz", origin + turn @ (0.04, 0.03, 0.9), strict=True):
        rows[f"com_{axis}"] = value
    table = rows.series()
    assert table["com_ap"].to_numpy() == pytest.approx(-0.04)
    assert table["com_ml"].to_numpy() == pytest.approx(0.03)
    assert table["cop_ap"].to_numpy() == pytest.approx(0.0, abs=1e-12)
    assert table["floor_ap"].to_numpy() == pytest.approx(-1.0)
    assert table["floor_ml"].to_numpy() == pytest.approx(2.0)


@pytest.mark.parametrize("way", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)])
def test_leaning_forwards_and_to_the_right_are_positive(way):
    model, half = facing(block(), *way), math.radians(5.0)
    forwards, right = np.array([*way, 0.0]), np.array([way[1], -way[0], 0.0])
    for towards, expected in ((forwards, (10.0, 0.0, 0.0)), (right, (0.0, 10.0, 0.0))):
        axis = np.cross((0.0, 0.0, 1.0), towards)
        assert leans(model, np.array([[math.cos(half), *(math.sin(half) * axis)]]))[0] == pytest.approx(expected)


def test_the_roots_inclination_is_in_degrees_and_named_by_it():
    rows = on_sole(TIMES)
    rows["body_qw"], rows["body_qy"] = math.cos(0.05), math.sin(0.05)  # about y, from z to x: forwards
    table = rows.series()
    assert table["trunk_pitch"].to_numpy() == pytest.approx(math.degrees(0.1))
    assert table["trunk_roll"].to_numpy() == pytest.approx(0.0, abs=1e-12)
    assert table.attrs["units"]["trunk_pitch"] == "deg"


def test_a_metric_takes_them_by_name():
    rows = on_sole(TIMES)
    rows.press(np.tile((0.03, -0.02), (5, 1)))
    run = Measurement(Layout.of(rows.model, rows.names), rows.array, None, MeasurementContext())
    assert run["cop_ap"] == pytest.approx(0.03)
    with pytest.raises(InputError, match="trunk_pitch"):
        run["trunk_yaw"]


def test_the_humans_floor_goes_backwards():
    """A platform to +x is behind the human, who faces −x."""
    floor = Platform(x=Signal.step(0.02, start=0.05, rise=0.05))
    table = series(simulate(human(), disturbances=[floor], duration=0.15))
    assert table["floor_ap"].iloc[-1] == pytest.approx(-0.02)
    assert (table["com_ap"] + table["com_x"] - table["floor_x"]).abs().max() < 1e-12
