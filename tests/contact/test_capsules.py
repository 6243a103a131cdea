"""Distances of capsules and boxes against ``coal``, and where they are nearest."""

import coal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contact.capsules import capsule_gap, capsule_to_box, point_on_axis
from kernelcache import routine


@routine
def gap_of_two(a, b):
    return capsule_gap(a, b)


def drawn(rng, spread):
    """A center, a turn and a half length."""
    return rng.normal(scale=spread, size=3), Rotation.random(random_state=rng), rng.uniform(0.0, 0.5)


def capsule(center, turn, half, radius):
    axis = turn.apply([0.0, 0.0, half])
    return tuple(map(float, center)), tuple(map(float, axis)), radius


def by_coal(first, second):
    """[m] between two pairs of a shape and (center, turn)."""
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance = 1e-12
    shapes = [(shape, coal.Transform3s(turn.as_matrix(), center)) for shape, (center, turn) in (first, second)]
    return coal.distance(*shapes[0], *shapes[1], request, result)


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=200)
def test_two_capsules_are_as_far_apart_as_coal_says(seed):
    rng = np.random.default_rng(seed)
    (p, P, s), (q, Q, t), a, b = drawn(rng, 0.6), drawn(rng, 0.6), *rng.uniform(0.02, 0.1, 2)
    one, other = capsule(p, P, s, a), capsule(q, Q, t, b)
    gap, normal, u, v = gap_of_two(one, other)
    if gap > 1e-6:
        theirs = by_coal((coal.Capsule(a, 2 * s), (p, P)), (coal.Capsule(b, 2 * t), (q, Q)))
        assert gap == pytest.approx(theirs, abs=1e-7)
    between = np.subtract(point_on_axis(other, v), point_on_axis(one, u))
    assert np.allclose(between, (gap + a + b) * np.array(normal), atol=1e-12)
    assert max(abs(u), abs(v)) <= 1.0


@pytest.mark.parametrize("shift", [-0.9, -0.3, 0.0, 0.5])
def test_parallel_ones_touch_in_the_middle_of_what_faces(shift):
    one = (0.0, 0.0, 0.0), (0.0, 0.0, 0.5), 0.1
    other = (0.3, 0.0, shift), (0.0, 0.0, -0.4), 0.1
    gap, normal, u, v = gap_of_two(one, other)
    assert gap == pytest.approx(0.1, abs=1e-15)
    assert normal == pytest.approx((1.0, 0.0, 0.0), abs=1e-15)
    low, high = max(-0.5, shift - 0.4), min(0.5, shift + 0.4)
    assert 0.5 * u == pytest.approx(0.5 * (low + high), abs=1e-12)
    assert shift - 0.4 * v == pytest.approx(0.5 * (low + high), abs=1e-12)


def test_spheres_that_have_no_axis():
    gap, normal, _, _ = gap_of_two(((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 1.0), ((0.0, 3.0, 4.0), (0.0, 0.0, 0.0), 2.0))
    assert gap == pytest.approx(2.0)
    assert normal == pytest.approx((0.0, 0.6, 0.8))


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=200)
def test_a_box_is_as_far_from_a_capsule_as_coal_says(seed):
    rng = np.random.default_rng(seed)
    (p, P, s), (q, Q, _), radius = drawn(rng, 0.6), drawn(rng, 0.6), rng.uniform(0.02, 0.1)
    half = rng.uniform(0.05, 0.3, 3)
    box = tuple(map(float, q)), tuple(map(float, Q.as_matrix().ravel())), tuple(map(float, half))
    gap, normal, point = capsule_to_box(capsule(p, P, s, radius), box)
    if gap > 1e-6:
        theirs = by_coal((coal.Capsule(radius, 2 * s), (p, P)), (coal.Box(*(2 * half)), (q, Q)))
        assert gap == pytest.approx(theirs, abs=1e-7)
        on_box = Q.inv().apply(np.add(point, 0.5 * gap * np.array(normal)) - q)
        assert np.abs(on_box / half).max() == pytest.approx(1.0, abs=1e-9)
    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
