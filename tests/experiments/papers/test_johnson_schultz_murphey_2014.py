"""The short versions of what is recomputed of Johnson, Schultz and Murphey 2014, but for times of the marionette."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from experiments.papers.johnson_murphey_2009.links import moving_tree
from experiments.papers.johnson_murphey_2009.motions import (
    INERTIA,
    LENGTH,
    MASS,
    SLIDER,
    START,
    G,
    OneDegreeLift,
    printed_inertia,
)
from experiments.papers.johnson_murphey_2009.recursions import newton_matrix
from experiments.papers.johnson_schultz_murphey_2014 import (
    PAPER,  # noqa: F401 # of the outcomes
    convergence,
    puppet,
)
from experiments.papers.johnson_schultz_murphey_2014.convergence import slopes
from experiments.papers.johnson_schultz_murphey_2014.feedback import back_after
from experiments.papers.johnson_schultz_murphey_2014.pendulum import (
    last_digit,
    pendulum,
    same_digits,
    second_differences,
)
from experiments.papers.johnson_schultz_murphey_2014.run_times import differences

from .conftest import check_items, check_kinds, check_statements

#: Of this machine's times, or of a process of its own: not asked for here.
APART = ("run-times",)
#: How statements begin that a machine decides …
OF_TIMES = ("time of",)
#: … and those that differ on any, by item; why is in their notes.
MAY_DIFFER = {"singularities": ("det M where θ + θ' = π",)}
#: Items that are lists, or tables, alone.
LISTS, WITHOUT_FIGURE = ("misprints",), ("pendulum",)


def test_every_item_has_statements_tables_and_a_figure(outcomes):
    check_items(outcomes, LISTS, WITHOUT_FIGURE)


def test_only_these_statements_differ_and_say_why(outcomes):
    check_statements(outcomes, MAY_DIFFER, OF_TIMES)


def test_what_is_not_in_the_paper_is_ours(outcomes):
    check_kinds(outcomes)


def test_second_derivatives_of_the_discrete_lagrangian_are_those_by_hand():
    """L_d = (θ' − θ)²/2Δt + Δt g cos((θ + θ')/2), of unit mass and length."""
    now, then, step, g = 0.2, 0.5, 0.1, 9.8
    bend = 0.25 * step * g * np.cos(0.5 * (now + then))
    expected = np.array([[1.0, -1.0], [-1.0, 1.0]]) / step - bend
    assert second_differences(pendulum().mechanism, now, then) == pytest.approx(expected, abs=1e-6)


def test_forward_differences_are_of_the_same_linearization():
    system = pendulum()
    x, u = np.array([0.2, 0.5]), np.array([0.8])
    exact = system.linearize(x, u)
    assert differences(system, x, u) == pytest.approx(np.hstack([exact.A, exact.B]), abs=1e-6)


def test_digits_that_are_printed():
    assert last_digit("0.2471") == pytest.approx(1e-4)
    assert last_digit("-1.01e-2") == pytest.approx(1e-4)
    assert same_digits("0.2471", 0.24706)
    assert same_digits("0.0976", 0.097667)  # cut off
    assert same_digits("-10.2389", -10.23890)
    assert not same_digits("0.2471", 0.24721)
    assert not same_digits("0.2471", 0.24704)
    assert not same_digits("0.2471", -0.2471)


def test_back_is_when_an_error_stays_small():
    time = np.arange(5.0)
    assert back_after(time, np.array([1.0, 0.01, 0.5, 0.01, 0.01]), 0.1) == 3.0
    assert back_after(time, np.array([1.0, 0.01, 0.5, 0.01, 0.2]), 0.1) == np.inf


def test_slopes_of_a_search_end_below_its_tolerance():
    found = convergence.search(pendulum(), "newton")
    assert len(slopes(found)) == len(found.history) + 1
    assert slopes(found)[-1] < convergence.TOLERANCE < slopes(found)[-2]


def test_strings_are_let_out_and_pulled_in_as_printed():
    system = puppet.puppet()
    names = system.mechanism.kinematic_coordinates
    u = puppet.inputs(system, 84)  # ¼ of a period is at 0.83 s
    moved = u - puppet.start(system)[22:40]
    for k, name in enumerate(names):
        string = name.removesuffix("_length")
        expected = 0.1 * puppet.MOVED[string] if string in puppet.MOVED else 0.0
        assert moved[82, k] == pytest.approx(expected, abs=1e-4)


SIZES = (1, 2, 5)


def bodies(segments, angle):
    """Of each body: mass, moment, centre in x and z, and how it is turned; longhand from figure 10."""
    found = [(SLIDER, 0.0, LENGTH * math.cos(angle), 0.0, 0.0)]
    for n in range(1, segments + 1):
        x, z = 0.5 * LENGTH * math.cos(angle), -(n - 0.5) * LENGTH * math.sin(angle)
        found += [(MASS, INERTIA, x, z, angle), (MASS, INERTIA, x, z, math.pi - angle)]
    return np.array(found)


@pytest.mark.parametrize("segments", SIZES)
@pytest.mark.parametrize("angle", [0.2, 1.0, 2.5])
def test_its_energy_is_that_of_all_bodies(segments, angle):
    rate, d = 1.3, 1e-6
    now = bodies(segments, angle)
    velocity = rate * (bodies(segments, angle + d) - bodies(segments, angle - d))[:, 2:] / (2.0 * d)
    mass, moment, _, height, _ = now.T
    kinetic = 0.5 * (mass @ (velocity[:, 0] ** 2 + velocity[:, 1] ** 2) + moment @ velocity[:, 2] ** 2)
    lift = OneDegreeLift(segments)
    assert lift.energy(angle, rate) == pytest.approx(kinetic + G * mass @ height, rel=1e-9)
    assert lift.energy(angle, 0.0) == pytest.approx(G * mass @ height, rel=1e-12)
    assert printed_inertia(segments, angle) > 1.02 * lift.inertia(angle)


def test_the_acceleration_is_lagranges():
    """From the energy: dE/dt = 0 gives θ'' wherever θ' is not zero."""
    lift, d = OneDegreeLift(3), 1e-5
    for angle, rate in ((0.3, 0.7), (1.2, -2.0), (2.6, 0.4)):
        by_angle = (lift.energy(angle + d, rate) - lift.energy(angle - d, rate)) / (2.0 * d)
        by_rate = (lift.energy(angle, rate + d) - lift.energy(angle, rate - d)) / (2.0 * d)
        assert lift.acceleration(angle, rate) == pytest.approx(-by_angle * rate / by_rate, rel=1e-7)


def test_two_methods_and_the_quadrature_tell_the_same_motion():
    lift = OneDegreeLift(2)
    explicit, implicit = (lift.solve(1.2 * lift.period, method) for method in ("DOP853", "Radau"))
    time = np.linspace(0.0, 1.2 * lift.period, 50)
    assert np.abs(explicit.sol(time)[0] - implicit.sol(time)[0]).max() < 1e-9
    assert np.abs(explicit.sol(time)[0] - lift.angle(time)).max() < 1e-9
    assert np.ptp(lift.energy(*explicit.y)) < 1e-9 * abs(lift.energy(START, 0.0))
    back = brentq(lambda t: explicit.sol(t)[1], 0.9 * lift.period, 1.1 * lift.period, xtol=1e-14)
    assert back == pytest.approx(lift.period, rel=1e-11)


def test_it_swings_from_one_side_to_the_other_and_back():
    lift = OneDegreeLift(5)
    half = lift.period / 2.0
    assert lift.angle([0.0, half, 2.0 * half, 101.0 * half]) == pytest.approx(
        [START, math.pi - START, START, math.pi - START], abs=1e-9
    )
    assert lift.angle(half / 2.0) == pytest.approx(math.pi / 2.0, abs=1e-10)


GRAVITY, STEP = (0.0, 0.0, -9.81), 0.01


def matrix(links, cached):
    tree = moving_tree(links, cached=cached)
    return newton_matrix(tree, GRAVITY, STEP), tree.evaluations


@pytest.mark.parametrize("links", [1, 2, 4])
def test_the_matrix_is_the_same(links):
    (without, more), (with_it, fewer) = (matrix(links, cached) for cached in (False, True))
    assert np.array_equal(without, with_it)
    assert more > 2 * fewer


def test_with_a_cache_each_value_is_evaluated_once():
    """Of one link, two frames: v, ∂v/∂q, ∂²v/∂q∂q, ∂v/∂q̇, ∂²v/∂q̇∂q and ∂²g/∂q∂q of both, v and g of the world."""
    assert matrix(1, True)[1] == 6 * 2 + 2
    tree = moving_tree(3, cached=True)
    newton_matrix(tree, GRAVITY, STEP)
    before = tree.evaluations
    newton_matrix(tree, GRAVITY, STEP)
    assert tree.evaluations == before
    tree.set(tree.q, tree.v)
    newton_matrix(tree, GRAVITY, STEP)
    assert tree.evaluations == 2 * before


def test_the_mass_matrix_of_two_links():
    """Longhand: m (l₁² + l₂² + 2 l₁ l₂ cos q₂) + I₁ + I₂ and so on, of unit lengths and masses at their ends."""
    tree = moving_tree(2, cached=True)
    c, inertia = np.cos(tree.q[1]), 0.1
    expected = [[3.0 + 2.0 * c + 2.0 * inertia, 1.0 + c + inertia], [1.0 + c + inertia, 1.0 + inertia]]
    assert tree.kinetic_vv() == pytest.approx(np.array(expected), rel=1e-12)
