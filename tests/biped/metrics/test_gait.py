"""Verdicts of stepping bodies are equal at any duration, by whole cycles, for rows that were never simulated."""

import math
from dataclasses import replace

import numpy as np
import pytest

from biped import Body, ContactPoint, Fall, Model, Push, Scene, Session, floating, human, revolute
from biped.metrics import Measurement, MeasurementContext
from biped.metrics.context import Span
from biped.metrics.definitions.verdict import is_open
from biped.runs.verdict import verdict_line
from controllers import WorkspaceController

from .rows import G, Rows, sole

TAU = math.sqrt(1.0 / G)
SIDES = {"left": 0.1, "right": -0.1}
ROUND = tuple(tuple(0.1 * (i == j) for j in range(3)) for i in range(3))
CYCLE = 0.8  # s
TIMES = np.arange(0.0, 8.0, 2e-3)
ON = "recovered, stepping on"


def walker():
    """A trunk of 9 kg, its centre of mass 1 m above two soles of 20 by 10 cm."""
    feet = [Body(s, 0.5, ROUND, (0.0, 0.0, 0.0), revolute(f"{s}_ankle", (0.0, 1.0, 0.0)), "trunk") for s in SIDES]
    points = [ContactPoint(f"{s}_{k}", s, place) for s in SIDES for k, place in enumerate(sole(z=-1.0))]
    trunk = Body("trunk", 9.0, ROUND, (0.0, 0.0, 0.0), floating("body", (0.0, 0.0, 1.0)))
    return Model("walker", (trunk, *feet), tuple(points), feet=tuple(SIDES))


def gait(pace=0.0, aloft=0.38, hops=False, until=math.inf, drift=None):
    """Rows of a pendulum's gait of ``pace`` [m/s] whose feet are in the air for ``aloft`` [s] of each cycle.

    The left foot lifts at the beginning of a cycle, the right one half a cycle later, or with it if it ``hops``. From
    the time ``until`` on both stand. ``drift`` is where the body has gone besides, and how fast: (n,), (n,).
    """
    rows, (gone, rate) = Rows(walker(), TIMES), drift or (0.0 * TIMES, 0.0 * TIMES)
    shares, places, pressed = {}, {}, 0.0
    for side, y in SIDES.items():
        phase = (TIMES if side == "left" or hops else TIMES - CYCLE / 2.0) % CYCLE
        corners = [0.0, aloft, CYCLE / 2.0, CYCLE / 2.0 + aloft, CYCLE]
        one = np.where(phase < aloft, 0.0, 0.5) if hops else np.interp(phase, corners, [0.0, 0.0, 1.0, 1.0, 0.0])
        shares[side] = np.where(until < TIMES, 0.5, one)
        middle = np.where(phase < aloft, TIMES, TIMES - phase + aloft) + (CYCLE - aloft) / 2.0
        places[side] = np.column_stack([pace * middle, y + 0.0 * TIMES])
        pressed = pressed + shares[side][:, None] * places[side]
    ahead = np.column_stack([pace * TIMES, 0.0 * TIMES])
    com, velocity = pendulum(0.0 * ahead if hops else pressed - ahead)
    rows["com_x"], rows["com_y"] = (com + ahead + np.column_stack([gone, 0.0 * gone])).T
    rows["momentum_px"], rows["momentum_py"] = 10.0 * (velocity + np.column_stack([pace + rate, 0.0 * rate])).T
    for side in SIDES:
        down = shares[side] > 0.0
        for k, corner in enumerate(sole()):
            name = f"contact_{side}_{k}"
            rows[f"{name}_x"], rows[f"{name}_y"] = (places[side] + corner[:2]).T
            rows[f"{name}_z"], rows[f"{name}_mode"] = np.where(down, 0.0, 0.08), np.where(down, 4.0, 1.0)
            rows[f"{name}_fz"] = 10.0 * G / 4.0 * shares[side]
    return rows


def pendulum(pressed):
    """Return position and velocity of a linear inverted pendulum of 1 m over a periodic centre of pressure."""
    w = 2.0 * np.pi * np.fft.rfftfreq(len(TIMES), TIMES[1])[:, None]
    found = np.fft.rfft(pressed, axis=0) / (1.0 + (w * TAU) ** 2)
    return np.fft.irfft(found, len(TIMES), axis=0), np.fft.irfft(1j * w * found, len(TIMES), axis=0)


def told(rows, end, **context):
    run = cut(rows, end, **context)
    return verdict_line({"verdict": run.value("verdict"), "reason": run.value("reason")})


def cut(rows, end, **context):
    return Measurement(rows.layout, rows.array[end >= TIMES], None, MeasurementContext(**context))


def durations(begin):
    return np.linspace(begin, begin + 2.0 * CYCLE, 50)


GAITS = {
    "marks time": gait(),
    "quickly": gait(aloft=0.15),
    "walks": gait(pace=0.4),
    "is ahead of its feet all the time": gait(pace=1.6),
    "backwards": gait(pace=-0.6),
    "hops": gait(hops=True),
}


@pytest.mark.parametrize("name", GAITS)
def test_the_verdict_of_a_gait_is_the_same_at_each_duration(name):
    """Judged by the last row alone, bodies in a swing for longer than 1/ω₀, 0.32 s, would have fallen."""
    rows = GAITS[name]
    outside = [cut(rows, end).value("time_outside") for end in durations(4.0)]
    assert (max(outside) > TAU) == (name != "quickly")
    assert {told(rows, end) for end in durations(3.0)} == {ON}


def test_a_fast_walk_is_outside_of_its_base_from_its_first_steps_on():
    rows = GAITS["is ahead of its feet all the time"]
    assert cut(rows, 4.0).value("time_outside") > 3.0


def falling(since, by=0.01):
    """Return displacement and velocity of an uncaught fall, which grows e-fold in each time constant."""
    gone = np.where(since < TIMES, by * np.expm1(np.clip((TIMES - since) / TAU, 0.0, 12.0)), 0.0)
    return gone, (gone + by * (since < TIMES)) / TAU


@pytest.mark.parametrize("pace", [0.0, 0.4, 1.6])
def test_a_stepper_that_falls_has_fallen_although_its_feet_go_on(pace):
    """In 4 time constants 1 cm becomes half a metre; then no verdict is "recovered", and a cycle later it is a fall."""
    rows = gait(pace=pace, drift=falling(3.0))
    later = np.linspace(3.0 + 4.0 * TAU + CYCLE / 2.0, 7.9, 50)
    assert not any(told(rows, end).startswith("recovered") for end in later)
    assert {told(rows, end).partition(":")[0] for end in later if end > 3.0 + 4.0 * TAU + 2.0 * CYCLE} == {"fell"}


def test_who_stops_stepping_and_falls_is_told_as_who_never_stepped():
    rows = gait(until=3.0, drift=falling(5.0, 0.05))
    assert told(rows, 4.9) == "recovered in place"
    began = next(end for end in np.arange(5.0, 6.0, 0.01) if cut(rows, end).value("time_outside"))
    assert told(rows, began + 0.8 * TAU).startswith("undecided: outside of its base of support, but only")
    assert told(rows, began + 1.2 * TAU).startswith("fell: outside of its base of support for the last 0.3")


def test_who_gets_lower_with_each_cycle_is_undecided():
    rows = gait()
    rows["com_z"] = np.where(TIMES > 4.0, 1.0 - 0.2 * (TIMES - 4.0) / CYCLE, 1.0)
    assert told(rows, 4.0) == ON
    assert told(rows, 5.2) == "undecided: its centre of mass gets lower from cycle to cycle"


def test_a_push_is_waited_for_until_a_whole_cycle_after_it():
    rows = GAITS["marks time"]
    assert told(rows, 4.0, disturbance_spans=(Span("a push", 3.1, 3.18),)) == ON
    assert (
        told(rows, 4.0, disturbance_spans=(Span("a push", 3.2, 3.3),)) == "undecided: a push acted 0.7 s before the end"
    )


def test_before_two_cycles_nothing_is_told_of_who_is_in_a_swing():
    """At 1.3 s it has landed three times."""
    assert told(GAITS["marks time"], 1.38).startswith("undecided: outside of its base of support, but only")


@pytest.mark.parametrize(("acting", "goes_on"), [((0.3, 0.9), True), ((0.3, 1.5), False)])
def test_a_run_goes_on_only_where_nothing_acts_at_its_end(acting, goes_on):
    run = cut(GAITS["marks time"], 1.38, disturbance_spans=(Span("a push", *acting),))
    assert run.value("verdict") == "undecided"
    assert is_open(run) == goes_on


def pushed(**members):
    push = Push("trunk", direction=(-1.0, 0.0, 0.0), impulse=2.0, start=0.3, duration=0.1)
    return Scene(human(), WorkspaceController(), disturbances=[push], fall=Fall(), step=1e-3, **members)


def test_an_undecided_run_goes_on_by_half_seconds_and_is_that_of_a_longer_duration():
    short, longer = pushed(duration=0.5, extend=2.0), pushed(duration=1.0)
    assert replace(short, extend=0.0).run().verdict_line == "undecided: a push acted 0.1 s before the end"
    run, whole = short.run(), longer.run()
    assert run.summary["verdict"] == "recovered"
    assert run.frame.equals(whole.frame)
    log_holds_run = Session(short, log_holds_run=True).run()
    np.testing.assert_array_equal(log_holds_run.rows, Session(longer, log_holds_run=True).run().rows)


def test_a_run_goes_on_no_longer_than_its_bound():
    assert pushed(duration=0.5, extend=0.1).run().summary["simulated_time"] == 0.6
    with pytest.raises(ValueError, match="extend = -1"):
        pushed(duration=0.5, extend=-1.0)
