"""Support polygons of zero to many points: hulls, signed distances and areas."""

import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from biped.metrics.kernels.polygon import area_of, convex_hull, inside_by

pytestmark = pytest.mark.jit_off

SQUARE = [(0, 0), (2, 0), (2, 2), (0, 2), (1, 1), (1, 0), (0.5, 0.25)]


def hull_of(points):
    points = np.array(points, dtype=float).reshape(-1, 2)
    hull = np.full((2 * len(points) + 2, 2), np.nan)
    return hull, convex_hull(points, len(points), hull)


def distance(points, x, y):
    hull, m = hull_of(points)
    return inside_by(hull, m, float(x), float(y))


def test_the_hull_of_a_square_has_four_corners_counterclockwise():
    hull, m = hull_of(SQUARE)
    assert hull[:m].tolist() == [[0, 0], [2, 0], [2, 2], [0, 2]]
    assert area_of(hull, m) == 4.0


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (1, 1, 1.0),
        (1, 0.25, 0.25),
        (1.9, 1, 0.1),
        (1, 0, 0.0),
        (2, 2, 0.0),
        (1, -0.5, -0.5),
        (5, 6, -5.0),  # from the corner: 3, 4, 5
        (-3, 1, -3.0),
    ],
)
def test_the_distance_is_that_to_the_nearest_edge_or_corner(x, y, expected):
    assert distance(SQUARE, x, y) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("points", [[(0, 0), (1, 0)], [(1, 0), (0.25, 0), (0, 0)], [(0, 0), (1, 0), (1, 0), (0, 0)]])
def test_of_a_line_every_point_is_outside_or_on_it(points):
    hull, m = hull_of(points)
    assert (m, area_of(hull, m)) == (2, 0.0)
    assert distance(points, 0.5, 0.0) == 0.0
    assert distance(points, 0.5, 0.1) == pytest.approx(-0.1)
    assert distance(points, 4.0, 4.0) == pytest.approx(-5.0)


@pytest.mark.parametrize("points", [[(1, 2)], [(1, 2), (1, 2)], [(1, 2)] * 4])
def test_of_a_point_every_other_is_outside(points):
    assert distance(points, 1, 2) == 0.0
    assert distance(points, 4, 6) == -5.0


def test_of_nothing_there_is_no_distance():
    assert math.isnan(distance([], 0, 0))


@pytest.mark.parametrize("seed", range(20))
def test_random_hulls_are_those_of_qhull(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(rng.integers(3, 12), 2))
    hull, m = hull_of(points)
    oracle = ConvexHull(points)
    assert m == len(oracle.vertices)
    assert area_of(hull, m) == pytest.approx(oracle.volume, rel=1e-12)
    for x, y in rng.normal(size=(20, 2)):
        beyond = (oracle.equations @ (x, y, 1.0)).max()  # of the lines; below zero inside
        found = distance(points, x, y)
        if beyond < 0.0:
            assert found == pytest.approx(-beyond, rel=1e-9)
        else:
            assert found <= -beyond + 1e-12
