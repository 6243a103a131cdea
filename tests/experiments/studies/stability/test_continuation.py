"""Curves that are known: circles, lines that meet in a corner, a field with a hole."""

import numpy as np
import pytest

from experiments.studies.stability.continuation import ON_CURVE, branch_through, components, grid_places, seeds

SIZE = 0.04


class Known:
    def __init__(self, formula, hole=None):
        self.formula, self.hole = formula, hole

    def value(self, u):
        return np.nan if self.hole is not None and self.hole(u) else float(self.formula(*u))

    def slope(self, u):
        h = 1e-7
        return np.array([(self.formula(*(u + h * e)) - self.formula(*(u - h * e))) / (2 * h) for e in np.eye(2)])

    def reason(self, u):
        return "" if np.isfinite(self.value(u)) else "a hole"


def circle(x, y, centre, radius):
    return np.hypot(x - centre[0], y - centre[1]) - radius


def found_in(field, count=9):
    places = grid_places(count)
    values = np.array([[field.value(u) for u in row] for row in places])
    return components(field, seeds(field, places, values), SIZE, 400)


def test_two_circles_are_two_closed_components():
    centres, radii = ((0.3, 0.35), (0.75, 0.7)), (0.22, 0.15)
    field = Known(lambda x, y: min(circle(x, y, c, r) for c, r in zip(centres, radii, strict=True)))
    found = found_in(field)
    assert len(found) == 2
    for branch, centre, radius in zip(found, centres, radii, strict=True):
        assert branch.closed
        assert branch.corners == []
        off = np.linalg.norm(np.array(branch.places) - centre, axis=1) - radius
        assert np.abs(off).max() <= ON_CURVE
        around = np.unwrap(np.arctan2(*(np.array(branch.places) - centre).T[::-1]))
        assert abs(around[-1] - around[0]) == pytest.approx(2.0 * np.pi, abs=1.5 * SIZE / radius)
        assert np.all(np.diff(around) * np.sign(around[-1] - around[0]) > 0.0)


def test_greater_values_are_to_the_left():
    branch = branch_through(Known(lambda x, y: y - 0.4 + 0.0 * x), np.array([0.5, 0.4]), SIZE, 100)
    along = np.array(branch.places)[-1] - np.array(branch.places)[0]
    assert along == pytest.approx([1.0, 0.0], abs=1e-9)


def test_a_curve_that_leaves_ends_on_the_border():
    field = Known(lambda x, y: y - 0.2 - 0.5 * x * x)
    (branch,) = found_in(field)
    assert not branch.closed
    assert branch.ends == ("leaves the range", "leaves the range")
    assert sorted(u[0] for u in (branch.places[0], branch.places[-1])) == pytest.approx([0.0, 1.0], abs=1e-8)
    assert max(abs(field.value(u)) for u in branch.places) <= ON_CURVE


@pytest.mark.parametrize("sharp", [0.5, 3.0])
def test_a_corner_is_passed_and_told(sharp):
    """Two lines that meet in the middle: of the greatest of two functions, the boundary turns there."""
    field = Known(lambda x, y: max(y - 0.5 - sharp * (x - 0.5), y - 0.5 + sharp * (x - 0.5)))
    (branch,) = found_in(field, 8)
    assert branch.ends == ("leaves the range", "leaves the range")
    assert len(branch.corners) == 1
    near = np.array(branch.places)[branch.corners[0] : branch.corners[0] + 2]
    assert np.linalg.norm(near - 0.5, axis=1).max() < SIZE
    xs = np.array(branch.places)[:, 0]
    assert (xs.min() < 0.4) & (xs.max() > 0.6)


def test_where_the_field_ends_the_curve_does_and_says_why():
    field = Known(lambda x, y: y - 0.45 + 0.0 * x, hole=lambda u: u[0] > 0.63)
    (branch,) = found_in(field)
    assert sorted(branch.ends) == ["a hole", "leaves the range"]
    assert max(u[0] for u in branch.places) == pytest.approx(0.63, abs=SIZE / 16)


def test_a_jump_is_no_root():
    field = Known(lambda x, y: np.sign(x - 0.53) + 0.0 * y)
    assert found_in(field) == []
