"""The equation of one degree of freedom that the scissor lift is held against: energies, motion, period."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from experiments.papers.johnson_murphey_2009.lift import (
    INERTIA,
    LENGTH,
    MASS,
    SLIDER,
    START,
    G,
    OneDegreeLift,
    printed_inertia,
)
from experiments.papers.johnson_murphey_2009.links import moving_tree
from experiments.papers.johnson_murphey_2009.recursions import newton_matrix

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
