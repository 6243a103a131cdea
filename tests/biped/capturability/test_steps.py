"""What steps add to a pendulum's bound, against pendulums whose equation of motion is integrated."""

import math

import numpy as np
import pytest
import scipy.optimize

from biped.capturability import Flywheel, Stance, heading
from biped.capturability.friction import NO_STATUS, Case, largest_impulse
from biped.capturability.steps import IN_PLACE, Footholds, Steps
from biped.errors import InputError
from tests.biped.capturability.conftest import is_lost
from tests.refusals import refuses

CORNERS = np.array([[0.12, 0.1], [0.12, -0.1], [-0.07, 0.16], [-0.07, -0.16]])
FAR = 30.0  # [m] with steps it goes some metres and yet comes to rest


@pytest.mark.parametrize("count", [1, 2, 3, math.inf])
@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_steps_recover_from_a_push_just_below_the_limit_and_not_from_one_just_above(pendulum, shape, count, delay):
    steps = Steps(count, 0.5, 0.4, 0.08)
    limit = Stance(pendulum, CORNERS).impulse(0.0, shape, delay=delay, steps=steps)
    landings = delay + steps.landings(pendulum)

    def ahead(time, _):
        return (0.12 if time >= delay else 0.0) + 0.5 * np.searchsorted(landings, time, side="right")

    assert not is_lost(pendulum, shape, 0.995 * limit, ahead, FAR)
    assert is_lost(pendulum, shape, 1.005 * limit, ahead, FAR)


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_the_reach_is_the_recursion_of_the_excess(pendulum, count):
    """δ_N = (δ_{N−1} + l) e^{−ωT}, whose first step in time, the last of the recursion, takes the reaction besides."""
    steps, excess = Steps(count, 0.7, 0.3, 0.12), 0.0
    for k in range(count):
        late = 0.12 if k == count - 1 else 0.0
        excess = (excess + 0.7) * math.exp(-pendulum.rate * (0.3 + late))
    assert steps.reach(pendulum) == pytest.approx(excess, rel=1e-12)


def test_no_step_adds_nothing_and_any_number_adds_the_geometric_series(pendulum):
    assert IN_PLACE.reach(pendulum) == 0.0
    one = math.exp(-0.35 * pendulum.rate)
    any_number = Steps(math.inf, 0.6, 0.35)
    assert any_number.reach(pendulum) == pytest.approx(0.6 * one / (1.0 - one), rel=1e-12)
    assert Steps(60, 0.6, 0.35).reach(pendulum) == pytest.approx(any_number.reach(pendulum), rel=1e-12)


@pytest.mark.parametrize("count", [1, 2, math.inf])
@pytest.mark.parametrize("azimuth", [0.0, 1.1])
def test_with_much_friction_the_linear_program_is_the_closed_form(pendulum, shape, count, azimuth):
    steps = Steps(count, 0.6, 0.35, 0.1)
    expected = Stance(pendulum, CORNERS).impulse(azimuth, shape, steps=steps)
    found = largest_impulse(Case(pendulum, CORNERS, (), 50.0, heading(azimuth), shape, 0.0, steps))
    assert 0.995 * expected <= found <= 1.0005 * expected


def carried(*places):
    found = [CORNERS]
    for place in places:
        found.append(np.concatenate([found[-1], CORNERS + place]))
    return tuple(found[1:])


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_footholds_one_by_one_bear_what_they_allow_and_no_more(pendulum, shape, delay):
    """The same with steps of which none is like another, the last of them short."""
    times, places = (0.3, 0.55, 1.2), (0.1, 0.6, 0.65)
    steps = Footholds(times, carried(*((place, 0.0) for place in places)))
    limit = Stance(pendulum, CORNERS).impulse(0.0, shape, delay=delay, steps=steps)

    def ahead(time, _):
        landed = np.searchsorted(np.add(times, delay), time, side="right")
        return (0.12 if time >= delay else 0.0) + (0.0, *places)[landed]

    assert not is_lost(pendulum, shape, 0.995 * limit, ahead, FAR)
    assert is_lost(pendulum, shape, 1.005 * limit, ahead, FAR)


@pytest.mark.parametrize("friction", [0.3, math.inf])
def test_footholds_of_one_length_and_time_along_the_push_are_such_steps(pendulum, shape, friction):
    steps, push = Steps(3, 0.6, 0.35, 0.1), heading(0.4)
    alike = Footholds(tuple(steps.landings(pendulum)), carried(*(0.6 * k * push for k in (1, 2, 3))))
    stance = Stance(pendulum, CORNERS)
    found = [stance.impulse(0.4, shape, delay=0.1, friction=friction, steps=each) for each in (steps, alike)]
    assert found[1] == pytest.approx(found[0], rel=1e-7)  # of the solver


@pytest.mark.parametrize("azimuth", [0.0, 0.5, -0.5, 1.3, 2.6])
def test_with_much_friction_footholds_that_lead_anywhere_have_one_limit_by_both_ways(pendulum, shape, azimuth):
    """By Minkowski's sum, and by the linear program; also where two feet land at once, and none where the push goes."""
    steps = Footholds((0.25, 0.5, 0.5), carried((0.2, 0.3), (0.5, -0.2), (-0.1, 0.6)))
    expected = Stance(pendulum, CORNERS).impulse(azimuth, shape, steps=steps)
    found = largest_impulse(Case(pendulum, CORNERS, (), 50.0, heading(azimuth), shape, 0.0, steps))
    assert 0.995 * expected <= found <= 1.0005 * expected
    assert expected > 1.05 * Stance(pendulum, CORNERS).impulse(azimuth, shape) or math.cos(azimuth) < 0.0


def test_where_the_solver_tells_nothing_it_is_asked_without_presolve(pendulum, shape, monkeypatch):
    asked, solve = [], scipy.optimize.linprog

    def giving_up(*args, options, **more):
        asked.append(options["presolve"])
        found = solve(*args, options=options, **more)
        if options["presolve"]:
            found.status, found.success = NO_STATUS, False
        return found

    case = Case(pendulum, CORNERS, (), 0.3, heading(0.0), shape, 0.0, Steps(1, 0.6, 0.35, 0.1))
    expected = largest_impulse(case)
    monkeypatch.setattr(scipy.optimize, "linprog", giving_up)
    assert largest_impulse(case) == pytest.approx(expected, rel=1e-6)
    assert asked == [True, False]


@refuses(
    ((0.3, 0.2), 2, "in ascending order"),
    ((-0.1,), 1, "zero or above"),
    ((0.3, math.nan), 2, "in ascending order"),
    ((0.3,), 0, "0 supports"),
)
def test_impossible_footholds_are_refused(times, count):
    Footholds(times, carried(*[(0.1, 0.0)] * count))


def test_footholds_without_hips_and_no_friction_are_refused(pendulum, shape, rectangle):
    wheel = Flywheel(4.0, (100.0, 100.0), (0.5, 0.5))
    with pytest.raises(InputError, match="hip strategy is not supported"):
        Stance(pendulum, CORNERS, (wheel, wheel)).impulse(0.0, shape, hips=True, steps=Footholds((), ()))
    with pytest.raises(InputError, match="friction = 0"):
        Stance(pendulum, CORNERS).impulse(0.0, rectangle, friction=0.0)


@pytest.mark.parametrize("count", [1, 2])
def test_friction_binds_where_a_step_is_long(pendulum, shape, count):
    steps, most = Steps(count, 0.6, 0.35, 0.1), 0.3 * pendulum.height
    landings = steps.landings(pendulum)

    def greedy(time, place):
        point = min(0.12 + steps.length * np.searchsorted(landings, time, side="right"), place + most)
        return point if place - point <= most else place - FAR

    stance = Stance(pendulum, CORNERS)
    found = stance.impulse(0.0, shape, friction=0.3, steps=steps)
    assert found < 0.99 * stance.impulse(0.0, shape, steps=steps)
    assert not is_lost(pendulum, shape, 0.995 * found, greedy, FAR)
    assert is_lost(pendulum, shape, 1.005 * found, greedy, FAR)


@refuses(
    ({"count": -1}, "count = -1"),
    ({"count": 1.5}, r"0, 1, 2, … or inf"),
    ({"count": 1, "length": 0.0}, "length"),
    ({"count": 1, "time": math.nan}, "time"),
    ({"count": 1, "reaction": -0.1}, "reaction = -0.1"),
)
def test_impossible_steps_are_refused(given):
    Steps(**{"length": 0.6, "time": 0.35} | given)


WHEELS = (Flywheel(5.0, (300.0, 200.0), (1.2, 0.4)), Flywheel(4.0, (150.0, 250.0), (0.5, 0.5)))
#: By how much the program may be below the truth, for its controls are constant over intervals.
LESS = 0.005


@pytest.mark.parametrize("wheels", [(), WHEELS], ids=["feet", "hips"])
@pytest.mark.parametrize("azimuth", [0.0, 0.7, 2.0, math.pi])
@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_with_much_friction_it_is_the_closed_form(pendulum, shape, wheels, azimuth, delay):
    stance = Stance(pendulum, CORNERS, wheels)
    expected = stance.impulse(azimuth, shape, delay=delay, hips=bool(wheels))
    found = largest_impulse(Case(pendulum, CORNERS, wheels, 50.0, heading(azimuth), shape, delay))
    assert (1.0 - LESS) * expected <= found <= 1.0005 * expected


@pytest.mark.parametrize("friction", [0.12, 0.08, 0.04])
def test_with_little_friction_the_best_is_to_pull_as_much_as_it_gives(pendulum, shape, friction):
    most, distance = friction * pendulum.height, 0.12

    def greedy(_, place):
        return min(distance, place + most)

    found = Stance(pendulum, CORNERS).impulse(0.0, shape, friction=friction)
    assert not is_lost(pendulum, shape, (1.0 - LESS) * found, greedy)
    assert is_lost(pendulum, shape, (1.0 + LESS) * found, greedy)


def test_friction_that_does_not_bind_changes_nothing(pendulum, shape):
    stance = Stance(pendulum, CORNERS)
    assert stance.impulse(0.0, shape, friction=0.14) == stance.impulse(0.0, shape)
    assert stance.impulse(0.0, shape, friction=0.13) < stance.impulse(0.0, shape)


def test_less_friction_is_a_lower_limit(pendulum, rectangle):
    stance = Stance(pendulum, CORNERS, WHEELS)
    found = [stance.impulse(0.4, rectangle, friction=mu, hips=True) for mu in (0.1, 0.2, 0.4, 0.8, math.inf)]
    assert np.all(np.diff(found) > 0.0)
