"""Steps, slides, landings and forces of feet, and the verdicts that follow from them."""

import numpy as np
import pytest

from biped.kernels.loop.log import EVENT_WIDTH, IMPACT, LIFT, TOUCH
from contact.modes import STICKING

from .rows import G, on_sole

pytestmark = pytest.mark.jit_off

TIMES = np.linspace(0.0, 1.0, 101)
WEIGHT = 10.0 * G


def move(rows, shift, where):
    for point in rows.model.contact_names:
        for axis, by in zip("xyz", shift, strict=True):
            rows[f"contact_{point}_{axis}"][where] += by
    rows["com_x"][where] += shift[0]
    rows["com_y"][where] += shift[1]


def lift(rows, where):
    for point in rows.model.contact_names:
        rows[f"contact_{point}_mode"][where] = 1.0
        for axis in "xyz":
            rows[f"contact_{point}_f{axis}"][where] = 0.0


def test_standing_still_is_recovered():
    measured = on_sole(TIMES).measure()
    assert (measured["verdict"], measured["foot_displacement"], measured["footsteps"]) == ("recovered", 0.0, 0)
    assert measured["time_outside"] == 0.0


@pytest.mark.parametrize(("by", "verdict"), [(0.049, "recovered"), (0.051, "stepped")])
def test_a_foot_that_is_elsewhere_has_stepped(by, verdict):
    rows = on_sole(TIMES)
    lift(rows, slice(40, 60))
    move(rows, (by, 0.0, 0.0), slice(50, None))
    measured = rows.measure()
    assert measured["verdict"] == verdict
    assert measured["foot_displacement"] == pytest.approx(by)
    assert measured["footsteps"] == (1 if verdict == "stepped" else 0)
    assert rows.measure(step_threshold=0.5)["verdict"] == "recovered"


def test_a_foot_that_slid_has_been_moved_without_a_step():
    rows = on_sole(TIMES)
    move(rows, (0.0, 0.2, 0.0), slice(50, None))
    measured = rows.measure()
    assert (measured["verdict"], measured["footsteps"]) == ("stepped", 0)


def test_where_it_first_stood_is_where_it_first_came_down():
    rows = on_sole(TIMES)
    lift(rows, slice(0, 20))
    move(rows, (-1.0, 0.0, 0.5), slice(0, 20))
    measured = rows.measure()
    assert (measured["verdict"], measured["foot_displacement"]) == ("recovered", 0.0)


def test_a_foot_in_the_air_is_not_where_it_stood():
    """Two of the foot's points are lifted by 6 cm, and the body stands on the others."""
    rows = on_sole(TIMES)
    for point in ("p0", "p1"):
        rows[f"contact_{point}_mode"][80:] = 1.0
        rows[f"contact_{point}_fz"][80:] = 0.0
        rows[f"contact_{point}_z"][80:] += 0.06
    measured = rows.measure()
    assert measured["verdict"] == "stepped"
    assert measured["foot_displacement"] == pytest.approx(0.06)


def test_on_a_moving_floor_a_foot_that_goes_with_it_stands():
    rows = on_sole(TIMES, platform=True)
    shift = 0.3 * np.sin(TIMES)
    for point in rows.model.contact_names:
        rows[f"contact_{point}_x"] += shift
    rows["platform_x"], rows["com_x"] = shift, shift
    measured = rows.measure()
    assert measured["foot_displacement"] == pytest.approx(0.0, abs=1e-15)
    assert measured["foot_creep"] == pytest.approx(0.0, abs=1e-15)
    for point in rows.model.contact_names:
        rows[f"contact_{point}_x"] -= shift  # now the floor goes away below it
    assert rows.measure()["foot_displacement"] == pytest.approx(0.3 * np.sin(1.0))


def test_creep_is_that_of_the_points_that_stick():
    rows = on_sole(TIMES)
    rows["contact_p0_x"] += 1e-4 * TIMES
    rows["contact_p1_y"] += 5e-4 * TIMES
    rows["contact_p1_mode"][90] = STICKING - 1
    assert rows.measure()["foot_creep"] == pytest.approx(1e-4 * 24 / 100)  # the last quarter: 25 rows


def test_force_of_a_foot_and_of_a_landing():
    rows = on_sole(TIMES)
    lift(rows, slice(30, 50))
    for point in rows.model.contact_names:
        rows[f"contact_{point}_fz"][50:55] *= 4.0
        rows[f"contact_{point}_fz"][70:72] *= 7.0  # later than a landing
    measured = rows.measure()
    assert measured["peak_grf_trunk"] == pytest.approx(7 * WEIGHT)
    assert measured["impact_peak_trunk"] == pytest.approx(4 * WEIGHT)
    assert measured["mean_grf_trunk"] == pytest.approx(WEIGHT * (100 - 20 + 5 * 3 + 2 * 6) / 100)
    assert on_sole(TIMES).measure()["impact_peak_trunk"] is None


def test_events_are_counted():
    events = np.full((5, EVENT_WIDTH), np.nan)
    events[:, 0], events[:, 1] = (0.1, 0.2, 0.3, 0.4, 0.5), (LIFT, TOUCH, LIFT, IMPACT, IMPACT)
    events[3, 3:6], events[4, 3:6] = (3.0, 0.0, 1.0), (0.0, 4.0, -1.0)
    measured = on_sole(TIMES).measure(events=events)
    assert measured["lifts"] == 2
    assert measured["impact_impulse"] == pytest.approx(5.0)
    assert on_sole(TIMES).measure(events=events, start_time=0.25)["lifts"] == 1
    assert on_sole(TIMES).measure(events=events[:3])["impact_impulse"] is None


def test_a_body_that_tips_over_an_edge_falls_and_one_that_rocks_back_does_not():
    """On the edge at x = 0.1 the pressed points form a line; the base of support is the whole sole."""
    rows = on_sole(TIMES)
    rows["com_x"] = 0.09
    for point in ("p0", "p1"):
        rows[f"contact_{point}_mode"][:] = 1.0
        rows[f"contact_{point}_fz"][:] = 0.0
    back = rows.measure()
    assert back["margin_of_stability_end"] == pytest.approx(0.01)
    assert (back["time_outside"], back["verdict"]) == (0.0, "recovered")
    rows["com_x"] = 0.11
    assert rows.measure()["verdict"] == "fell"


def test_who_leans_against_a_steady_force_does_not_fall():
    """The centre of mass is 2 cm behind the sole, but a force holds it; the zero moment point is within the sole."""
    rows = on_sole(TIMES)
    rows["com_x"] = 0.12
    rows.press(np.tile((0.05, 0.0), (len(TIMES), 1)))
    held = rows.measure()
    assert held["margin_of_stability_end"] == pytest.approx(-0.02)
    assert (held["time_outside"], held["verdict"]) == (0.0, "recovered")
