"""The table of steps, for rows with known contents and for a stepping human."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped.control.controller import SetPoint
from biped.metrics import Measurement, MeasurementContext
from biped.metrics.definitions.steps import UNITS, steps_table
from biped.runs.summary import Ending
from biped.runs.verdict import FELL, Limit

from .rows import G, on_sole
from .test_feet import TIMES, lift, move

pytestmark = pytest.mark.jit_off

#: It fell at the end.
LOW = Ending(FELL, 1.0, Limit("height", "trunk", 0.5, 0.6, 1.0))


def stepping(*steps):
    rows = on_sole(TIMES)
    for begin, end, shift in steps:
        lift(rows, slice(begin, end))
        move(rows, (0.0, 0.0, 0.08), slice(begin, end))
        move(rows, shift, slice((begin + end) // 2, None))
    return rows


def measured(rows, **context):
    return Measurement(rows.layout, rows.array, None, MeasurementContext(**context))


def test_a_step_has_a_row_of_the_table():
    rows = stepping((40, 60, (0.3, -0.1, 0.0)))
    rows["com_x"] += 0.05  # it leans ahead of the middle of its sole, by as much all the way
    table = steps_table(measured(rows, start_time=0.2))
    assert table.attrs["units"] == UNITS
    (step,) = table.to_dict("records")
    assert step.pop("foot") == "trunk"
    assert step == pytest.approx(
        {
            "onset": 0.39 - 0.2,
            "duration": 0.60 - 0.39,
            "length_ap": 0.3,
            "length_ml": 0.1,  # to the right is positive
            "clearance": 0.08,
            "landing_speed": 0.0,  # it is set down from one row to the next
            "beyond_xcom": -0.05 * 0.3 / math.hypot(0.3, 0.1),
            "margin_of_stability": 0.05,
            "lean": 0.0,
        },
        abs=1e-9,
    )


def test_how_fast_a_foot_comes_down_is_what_its_lowest_point_fell_in_the_last_rows_in_the_air():
    rows = stepping((40, 60, (0.3, 0.0, 0.0)), (80, 81, (0.2, 0.0, 0.0)))
    move(rows, (0.0, 0.0, -0.02), slice(59, 60))
    falling, short = steps_table(measured(rows)).to_dict("records")
    assert falling["landing_speed"] == pytest.approx(0.02 / 0.01)
    assert math.isnan(short["landing_speed"])  # in the air in one row only


def test_the_velocity_of_the_centre_of_mass_counts_in_where_it_lands():
    rows = stepping((40, 60, (0.3, 0.0, 0.0)))
    speed, omega = 0.2, math.sqrt(G)
    rows["momentum_px"] = rows.model.total_mass * speed
    (step,) = steps_table(measured(rows)).to_dict("records")
    assert step["beyond_xcom"] == pytest.approx(-speed / omega)


def test_steps_are_told_in_order_and_the_first_is_a_metric():
    rows = stepping((20, 30, (0.2, 0.0, 0.0)), (50, 70, (0.0, 0.1, 0.0)), (80, 90, (0.01, 0.0, 0.0)))
    run = measured(rows)
    table = steps_table(run)
    assert list(table["length_ap"]) == pytest.approx([0.2, 0.0], abs=1e-12)
    assert list(table["length_ml"]) == pytest.approx([0.0, -0.1], abs=1e-12)
    assert run.value("footsteps") == 2
    assert run.value("first_step_foot") == "trunk"
    assert run.value("first_step_length_ap") == pytest.approx(0.2)


def test_a_set_point_that_goes_with_the_feet_goes_with_each_step():
    rows = stepping((20, 30, (0.2, 0.0, 0.0)), (50, 70, (0.0, 0.1, 0.0)))
    rows["body_z"] = 1.0
    rows["body_x"][25:] = 0.2  # before the foot lands, by which it is ahead
    rows["body_y"][60:] = 0.1
    point = SetPoint((0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    fixed, along = (measured(rows, set_point=replace(point, with_feet=one)).errors for one in (False, True))
    np.testing.assert_allclose(fixed[-1, :2], (0.2, 0.1))
    expected = np.zeros((len(TIMES), 2))
    expected[25:30, 0], expected[60:70, 1] = 0.2, 0.1
    np.testing.assert_allclose(along[:, :2], expected, atol=1e-12)


def test_an_excursion_is_from_where_it_is_to_stand_after_a_step():
    rows = stepping((20, 30, (0.2, 0.0, 0.0)))
    rows["com_x"][:30], rows["com_x"][30:] = 0.0, 0.25
    point = SetPoint((0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0))
    fixed, along = (measured(rows, set_point=replace(point, with_feet=one)) for one in (False, True))
    assert fixed.value("com_excursion") == pytest.approx(0.25, rel=1e-12)
    assert along.value("com_excursion") == pytest.approx(0.05, rel=1e-12)


def test_who_does_not_step_has_no_step():
    run = measured(on_sole(TIMES))
    assert steps_table(run).empty
    assert run.value("first_step_foot") is None
    assert run.value("first_step_onset") is None


def test_a_fall_after_steps_tells_how_many():
    rows = stepping((20, 30, (0.2, 0.0, 0.0)), (50, 70, (0.3, 0.0, 0.0)))
    found = rows.measure(ending=LOW)
    assert (found["verdict"], found["reason"]) == (FELL, f"{LOW.limit.reason}, after 2 steps")
    assert on_sole(TIMES).measure(ending=LOW)["reason"] == LOW.limit.reason
