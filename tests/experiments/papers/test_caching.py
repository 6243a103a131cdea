"""What a cache saves the paper's recursions: their work, and nothing of what they give."""

import numpy as np
import pytest

from experiments.papers.johnson_murphey_2009.links import moving_tree
from experiments.papers.johnson_murphey_2009.recursions import newton_matrix

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
