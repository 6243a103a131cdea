"""The six-state machine of a contact point: forces, their derivative, every transition, energy."""

import math
import re
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contact import NEXT, RUBBER, ContactState, Floor, FloorError, HuntCrossley
from contact.modes import NONE, PULLING, SLIDING, SLIDING_TO_STICKING, STICKING, STICKING_TO_SLIDING
from contact.point_law import (
    FloorParameters,
    SpringDamper,
    anchor_at_end,
    is_clipped,
    mode_of,
    state_at_end,
    stored_energy,
)
from contact.regimes import point_force, point_force_derivative
from tests.differences import jacobian

pytestmark = pytest.mark.jit_off

FLOOR = Floor(mu_s=0.4, mu_d=0.3).parameters
STILL = (0.0, 0.0, 0.0)
Vector = tuple[float, ...]
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
    ("sliding sideways", SLIDING, (0, 0, -1e-3), (0, 0.1, 0), -1e-3, SLIDING),
    ("sliding, sinking without moving along", SLIDING, (0, 0, -1e-3), (0, 0, -0.1), -1e-3, SLIDING_TO_STICKING),
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


@example(STICKING, (0.0, 0.0, -5e-324), (0.5, 0.0, 0.0), (0.00390625, 0.0), -0.00390625)
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
        assert math.hypot(v[0], v[1]) <= FLOOR.stiction_velocity
    if found in (STICKING, STICKING_TO_SLIDING):
        assert mode == STICKING
        clipped = math.hypot(fx, fy) >= FLOOR.mu_s * fn * (1 - 1e-12) - sys.float_info.min
        assert (clipped and math.hypot(v[0], v[1]) > FLOOR.stiction_velocity) or found == STICKING


@dataclass(frozen=True)
class Case:
    """A point well inside of one regime of the law, with how far it is from the regime's end in each direction."""

    floor: FloorParameters
    mode: int
    p: Vector
    v: Vector
    anchor: Vector
    h: float
    load: float  # [N] −(k_n p_n + b_n ṗ_n)
    buffers: float  # [m] a displacement of P_{k+1} over which the regime stays the same, with a hundredfold margin

    @property
    def force(self):
        return np.array(point_force(self.floor, self.mode, self.p, self.v, self.anchor))

    @property
    def derivative(self):
        entries = point_force_derivative(self.floor, self.mode, self.p, self.v, self.anchor, self.h)
        return np.reshape(entries, (3, 3))

    @property
    def trial(self):
        """[N] What spring and damper ask for along the floor."""
        f = self.floor
        return -(f.k_t * np.subtract(self.p[:2], self.anchor) + f.b_t * np.array(self.v[:2]))


REGIMES = ("viscous", "sliding", "sticking", "yielding")


@st.composite
def cases(draw, regime):
    """Every number of its own: what is taken for another shows."""
    k_n, k_t = draw(st.floats(5e4, 9e4)), draw(st.floats(1e4, 4e4))
    b_n, b_t = draw(st.floats(100.0, 200.0)), draw(st.floats(20.0, 60.0))
    mu_s, mu_d, stiction_velocity = draw(st.floats(0.6, 0.9)), draw(st.floats(0.2, 0.5)), draw(st.floats(1e-3, 1e-2))
    floor = FloorParameters(SpringDamper(k_n, b_n), k_t, b_t, mu_s, mu_d, stiction_velocity)
    h, load = draw(st.floats(2e-4, 4e-3)), draw(st.floats(5.0, 500.0))
    climb = draw(st.floats(-0.3, 0.3))
    anchor = (draw(lengths), draw(lengths))
    # Away from the axes, so that no entry of the derivative is zero by chance.
    angle = draw(st.sampled_from([0.0, 0.5, 1.0, 1.5])) * math.pi + draw(st.floats(0.2, 1.3))
    along = np.array([math.cos(angle), math.sin(angle)])
    dn, dt = 0.5 * k_n + b_n / h, 0.5 * k_t + b_t / h
    buffers = 1e-2 * load / dn
    if regime in ("viscous", "sliding"):
        speed = stiction_velocity * draw(st.floats(0.1, 0.8) if regime == "viscous" else st.floats(1.2, 300.0))
        velocity, place = speed * along, np.array([draw(lengths), draw(lengths)])
        buffers = min(buffers, 1e-2 * h * speed)
    else:
        asked = mu_s * load * draw(st.floats(0.1, 0.8) if regime == "sticking" else st.floats(1.2, 30.0))
        velocity = np.array([draw(speeds), draw(speeds)])
        place = np.array(anchor) - (asked * along + b_t * velocity) / k_t
        buffers = min(buffers, 1e-2 * asked / dt)
    p = (float(place[0]), float(place[1]), -(load + b_n * climb) / k_n)
    v = (float(velocity[0]), float(velocity[1]), climb)
    mode = SLIDING if regime in ("viscous", "sliding") else STICKING
    return Case(floor, mode, p, v, anchor, h, load, buffers)


@pytest.mark.parametrize("regime", REGIMES)
@settings(max_examples=40)
@given(data=st.data())
def test_force_in_each_regime(regime, data):
    """Along the floor: μ_d F_n against the motion, less below the threshold; spring and damper, up to μ_s F_n."""
    case = data.draw(cases(regime))
    velocity, size = np.array(case.v[:2]), np.linalg.norm(case.trial)
    if case.mode == SLIDING:
        expected = -case.floor.mu_d * case.load * velocity / max(np.linalg.norm(velocity), case.floor.stiction_velocity)
    else:
        expected = case.trial * min(1.0, case.floor.mu_s * case.load / size)
    assert case.force[:2] == pytest.approx(expected, rel=1e-9)
    assert case.force[2] == pytest.approx(case.load, rel=1e-9)
    assert is_clipped(case.floor, case.p, case.v, case.anchor) == (size > case.floor.mu_s * case.load)


@pytest.mark.parametrize("regime", REGIMES)
@settings(max_examples=40)
@given(data=st.data())
def test_derivative(regime, data):
    """Entry by entry."""
    case = data.draw(cases(regime))

    def force(way):
        place, velocity = tuple(case.p + 0.5 * way), tuple(case.v + way / case.h)
        return point_force(case.floor, case.mode, place, velocity, case.anchor)

    assert jacobian(force, np.zeros(3), 0.05 * case.buffers).departure(case.derivative, 1e-6) <= 1.0


def test_a_point_at_the_edge_of_its_cone_is_not_clipped():
    """In numbers that are exact: 4 N of 0.5 times 8 N."""
    floor = FloorParameters(
        SpringDamper(k_n=8.0, b_n=1.0), k_t=4.0, b_t=1.0, mu_s=0.5, mu_d=0.25, stiction_velocity=1.0
    )
    assert point_force(floor, STICKING, (1.0, 0.0, -1.0), STILL, HERE) == (-4.0, 0.0, 8.0)
    for x, clipped in ((1.0, False), (np.nextafter(1.0, 2.0), True)):
        assert is_clipped(floor, (x, 0.0, -1.0), STILL, HERE) == clipped


@settings(max_examples=40)
@given(st.sampled_from(REGIMES), st.data())
def test_a_point_that_is_free_or_would_be_pulled_feels_nothing(regime, data):
    case = data.draw(cases(regime))
    lifted = (*case.v[:2], case.v[2] + 1.001 * case.load / case.floor.normal.b_n)
    for feels in (replace(case, mode=NONE), replace(case, v=lifted)):
        assert not feels.force.any()
        assert not feels.derivative.any()


@pytest.mark.parametrize("mode", [SLIDING, STICKING])
def test_stored_energy_is_the_work_against_the_springs(mode):
    floor = FLOOR._replace(k_t=2e4)
    p, anchor = (3e-4, -1e-4, -2e-3), (1e-4, 7e-4)
    expected = 0.5 * floor.normal.k_n * p[2] ** 2 + 0.5 * floor.k_t * (2e-4**2 + 8e-4**2)
    assert stored_energy(floor, mode, p, anchor) == pytest.approx(expected, rel=1e-14)
    assert stored_energy(floor, NONE, p, anchor) == 0.0
    assert stored_energy(floor, mode, (*p[:2], 0.0), anchor) == 0.0
    assert stored_energy(floor, mode, (*p[:2], 2e-3), anchor) == 0.0


@given(points, velocities)
def test_a_point_that_stops_goes_on_carrying_its_load(p, v):
    """Slid for a while and then standing still, it feels the same friction as in its last moving step."""
    speed = math.hypot(v[0], v[1])
    if speed == 0.0:
        return
    behind = (p[0] - 0.1 * v[0] / speed, p[1] - 0.1 * v[1] / speed)
    force = point_force(FLOOR, SLIDING, p, v, behind)
    anchor = anchor_at_end(FLOOR, SLIDING, p, v, behind, p, force)
    held = point_force(FLOOR, STICKING, (p[0], p[1], -force[2] / FLOOR.normal.k_n), STILL, anchor)
    assert held == pytest.approx(force, rel=1e-9, abs=1e-9)


@given(modes, points, velocities, anchors)
def test_the_anchor_moves_only_when_the_point_slides_or_yields(mode, p, v, anchor):
    force = point_force(FLOOR, mode, p, v, anchor)
    new = anchor_at_end(FLOOR, mode, p, v, anchor, p, force)
    before, after = (math.hypot(p[0] - a[0], p[1] - a[1]) for a in (anchor, new))
    assert after <= before * (1 + 1e-12)
    if mode == STICKING and not is_clipped(FLOOR, p, v, anchor):
        assert new == anchor


@settings(max_examples=40)
@given(st.sampled_from(["viscous", "sliding", "yielding"]), st.data())
def test_a_dragged_anchor_stretches_the_spring_by_the_friction_and_no_more(regime, data):
    """Shortened from where it is held towards the end of the step, if at all."""
    case = data.draw(cases(regime))
    end = tuple(np.add(case.p, 0.5 * case.h * np.array(case.v)))
    new = anchor_at_end(case.floor, case.mode, case.p, case.v, case.anchor, end, tuple(case.force))
    before, after = np.subtract(end[:2], case.anchor), np.subtract(end[:2], new)
    length = min(np.linalg.norm(before), np.hypot(*case.force[:2]) / case.floor.k_t)
    assert after == pytest.approx(before * length / np.linalg.norm(before), rel=1e-9, abs=1e-15)
    without = case.floor._replace(k_t=0.0)
    assert anchor_at_end(without, case.mode, case.p, case.v, case.anchor, end, (1.0, 1.0, 1.0)) == case.anchor


@pytest.mark.parametrize(
    ("floor", "change", "message"),
    [
        (RUBBER, {"k_n": -1.0}, "floor.k_n = -1.0: it must be a finite number, zero or above"),
        (RUBBER, {"k_n": 0.0}, "floor.k_n = 0: it must be above zero"),
        (RUBBER, {"stiction_velocity": 0.0}, "floor.stiction_velocity = 0: it must be above zero"),
        (RUBBER, {"b_t": math.nan}, "floor.b_t = nan"),
        (RUBBER, {"mu_s": "much"}, "floor.mu_s = 'much'"),
        (RUBBER, {"mu_d": 0.5}, "dynamic friction is at most static friction"),
        (RUBBER, {"friction": "coulomb"}, "friction = 'coulomb': it must be one of yielding, printed"),
        (HuntCrossley(), {"exponent": 0.5}, "floor.exponent = 0.5: it must be at least 1"),
        (HuntCrossley(), {"dissipation": -1.0}, "floor.dissipation = -1.0: it must be a finite number, zero or above"),
    ],
)
def test_impossible_floors(floor, change, message):
    with pytest.raises(FloorError, match=re.escape(message)) as caught:
        floor.with_(**change)
    assert "\n" not in str(caught.value)
