"""The six-state machine of a contact point: forces, their derivative, every transition, energy."""

import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contact import NEXT, RUBBER, ContactState, Floor, FloorError
from contact.modes import (
    NONE,
    PULLING,
    SLIDING,
    SLIDING_TO_STICKING,
    STICKING,
    STICKING_TO_SLIDING,
)
from contact.point_law import (
    anchor_at_end,
    is_clipped,
    mode_of,
    point_force,
    point_force_derivative,
    state_at_end,
    stored_energy,
)

pytestmark = pytest.mark.jit_off

FLOOR = Floor(mu_s=0.4, mu_d=0.3).parameters
STILL = (0.0, 0.0, 0.0)
HERE = (0.0, 0.0)

# mode, chord's middle, chord's velocity, end height -> the state found. The weight of 1 mm is 75 N.
TABLE = [
    ("free and above", NONE, (0, 0, 0.01), STILL, 0.01, NONE),
    ("free, on the floor exactly", NONE, (0, 0, 0), STILL, 0.0, NONE),
    ("free, came down", NONE, (0, 0, 0.0), (0, 0, -1), -1e-3, SLIDING),
    ("sliding fast", SLIDING, (0, 0, -1e-3), (0.1, 0, 0), -1e-3, SLIDING),
    ("sliding, just above the threshold", SLIDING, (0, 0, -1e-3), (1.0001e-3, 0, 0), -1e-3, SLIDING),
    ("sliding, at the threshold", SLIDING, (0, 0, -1e-3), (1e-3, 0, 0), -1e-3, SLIDING_TO_STICKING),
    ("sliding, at rest", SLIDING, (0, 0, -1e-3), STILL, -1e-3, SLIDING_TO_STICKING),
    ("sliding, left the floor", SLIDING, (0, 0, -1e-3), STILL, 1e-9, NONE),
    ("sliding, would pull", SLIDING, (0, 0, -1e-3), (0, 0, 0.1), -1e-4, PULLING),
    ("sliding, would pull, left the floor", SLIDING, (0, 0, -1e-3), (0, 0, 0.1), 1e-4, NONE),
    ("sticking, at rest", STICKING, (0, 0, -1e-3), STILL, -1e-3, STICKING),
    ("sticking, below the cone", STICKING, (3.99e-4, 0, -1e-3), STILL, -1e-3, STICKING),
    ("sticking, above the cone at rest: it yields", STICKING, (4.01e-4, 0, -1e-3), STILL, -1e-3, STICKING),
    ("sticking, above the cone, at the threshold", STICKING, (4.01e-4, 0, -1e-3), (1e-3, 0, 0), -1e-3, STICKING),
    ("sticking, above the cone, moving", STICKING, (4.01e-4, 0, -1e-3), (1.1e-3, 0, 0), -1e-3, STICKING_TO_SLIDING),
    ("sticking, below the cone, moving", STICKING, (0, 0, -1e-3), (5e-3, 0, 0), -1e-3, STICKING),
    ("sticking, would pull", STICKING, (1, 0, -1e-3), (0, 0, 0.1), -1e-4, PULLING),
    ("sticking, left the floor", STICKING, (1, 0, -1e-3), STILL, 0.0, NONE),
]


@pytest.mark.parametrize(("_name", "mode", "p", "v", "end", "found"), TABLE, ids=[row[0] for row in TABLE])
def test_transitions(_name, mode, p, v, end, found):
    assert state_at_end(FLOOR, mode, p, v, HERE, end) == found


def test_every_state_is_reached():
    assert {row[-1] for row in TABLE} == set(ContactState)


@pytest.mark.parametrize("state", list(ContactState))
def test_next_mode(state):
    assert mode_of(int(state)) == NEXT[state]
    assert NEXT[state] in (NONE, SLIDING, STICKING)


lengths = st.floats(-5e-3, 5e-3)
speeds = st.floats(-2.0, 2.0)
points = st.tuples(lengths, lengths, lengths)
velocities = st.tuples(speeds, speeds, speeds)
anchors = st.tuples(lengths, lengths)
modes = st.sampled_from([NONE, SLIDING, STICKING])


@given(modes, points, velocities, anchors)
def test_force_stays_in_the_cone_and_never_pulls(mode, p, v, anchor):
    fx, fy, fn = point_force(FLOOR, mode, p, v, anchor)
    mu = FLOOR.mu_s if mode == STICKING else FLOOR.mu_d
    assert fn >= 0.0
    assert math.hypot(fx, fy) <= mu * fn * (1 + 1e-12) + sys.float_info.min  # numbers below that have fewer digits
    if mode == NONE:
        assert (fx, fy, fn) == (0.0, 0.0, 0.0)


@given(points, velocities, anchors)
def test_sliding_friction_opposes_the_motion(p, v, anchor):
    fx, fy, _ = point_force(FLOOR, SLIDING, p, v, anchor)
    assert fx * v[0] + fy * v[1] <= 0.0


@given(modes, points, velocities, anchors, lengths)
def test_states_found_are_consistent(mode, p, v, anchor, end):
    """Whatever happens, the state found names a force law that the step's own force does not contradict."""
    found = state_at_end(FLOOR, mode, p, v, anchor, end)
    fx, fy, fn = point_force(FLOOR, mode, p, v, anchor)
    assert (found == NONE) == (end >= 0.0)
    if found == PULLING:
        assert (fx, fy, fn) == (0.0, 0.0, 0.0)
        assert mode != NONE
    if found == SLIDING_TO_STICKING:
        assert mode == SLIDING
        assert math.hypot(v[0], v[1]) <= FLOOR.zvt
    if found in (STICKING, STICKING_TO_SLIDING):
        assert mode == STICKING
        clipped = math.hypot(fx, fy) >= FLOOR.mu_s * fn * (1 - 1e-12)
        assert (clipped and math.hypot(v[0], v[1]) > FLOOR.zvt) or found == STICKING


@given(modes, points, velocities, anchors)
def test_derivative(mode, p, v, anchor):
    """Against central differences, away from the law's kinks."""
    h = 1e-3
    eps = 1e-8
    if near_a_kink(mode, p, v, anchor):
        return
    exact = np.reshape(point_force_derivative(FLOOR, mode, p, v, anchor, h), (3, 3))
    difference = np.zeros((3, 3))
    for k in range(3):
        ahead, behind = (
            np.array(point_force(FLOOR, mode, moved(p, 0.5 * s, k), moved(v, s / h, k), anchor)) for s in (eps, -eps)
        )
        difference[:, k] = (ahead - behind) / (2 * eps)
    scale = max(1.0, float(np.abs(exact).max()))
    assert np.abs(exact - difference).max() <= 1e-4 * scale


def moved(x, by, k):
    return tuple(value + by if i == k else value for i, value in enumerate(x))


def near_a_kink(mode, p, v, anchor):
    raw = -(FLOOR.k_n * p[2] + FLOOR.b_n * v[2])
    speed = math.hypot(v[0], v[1])
    trial = math.hypot(
        FLOOR.k_t * (p[0] - anchor[0]) + FLOOR.b_t * v[0], FLOOR.k_t * (p[1] - anchor[1]) + FLOOR.b_t * v[1]
    )
    slipping = mode == STICKING and abs(trial - FLOOR.mu_s * raw) < 1.0
    turning = mode == SLIDING and (abs(speed - FLOOR.zvt) < 1e-2)
    return abs(raw) < 1.0 or slipping or turning


def test_stored_energy_is_the_work_against_the_springs():
    p = (3e-4, -1e-4, -2e-3)
    expected = 0.5 * FLOOR.k_n * p[2] ** 2 + 0.5 * FLOOR.k_t * (p[0] ** 2 + p[1] ** 2)
    assert stored_energy(FLOOR, STICKING, p, HERE) == pytest.approx(expected, rel=1e-14)
    assert stored_energy(FLOOR, NONE, p, HERE) == 0.0


@given(points, velocities)
def test_a_point_that_stops_goes_on_carrying_its_load(p, v):
    """Slid for a while and then standing still, it feels the same friction as in its last moving step."""
    speed = math.hypot(v[0], v[1])
    if speed == 0.0:
        return
    behind = (p[0] - 0.1 * v[0] / speed, p[1] - 0.1 * v[1] / speed)
    force = point_force(FLOOR, SLIDING, p, v, behind)
    anchor = anchor_at_end(FLOOR, SLIDING, p, v, behind, p, force)
    held = point_force(FLOOR, STICKING, (p[0], p[1], -force[2] / FLOOR.k_n), STILL, anchor)
    assert held == pytest.approx(force, rel=1e-9, abs=1e-9)


@given(modes, points, velocities, anchors)
def test_the_anchor_moves_only_when_the_point_slides_or_yields(mode, p, v, anchor):
    force = point_force(FLOOR, mode, p, v, anchor)
    new = anchor_at_end(FLOOR, mode, p, v, anchor, p, force)
    before, after = (math.hypot(p[0] - a[0], p[1] - a[1]) for a in (anchor, new))
    assert after <= before * (1 + 1e-12)
    if mode == STICKING and not is_clipped(FLOOR, p, v, anchor):
        assert new == anchor


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k_n": -1.0}, "floor.k_n = -1.0: it must be a finite number, zero or above"),
        ({"k_n": 0.0}, "floor.k_n = 0: it must be above zero"),
        ({"zvt": 0.0}, "floor.zvt = 0: it must be above zero"),
        ({"b_t": math.nan}, "floor.b_t = nan"),
        ({"mu_s": "much"}, "floor.mu_s = 'much'"),
        ({"mu_d": 0.5}, "dynamic friction is at most static friction"),
    ],
)
def test_impossible_floors(change, message):
    with pytest.raises(FloorError, match="(?s).*") as caught:
        RUBBER.with_(**change)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
