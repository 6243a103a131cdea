"""Ballast: an inertia for coordinates that move no mass and are held only by constraints.

Without constraints, the tree's matrix is singular along such coordinates. So each gets an inertia b in the elimination,
which the border subtracts exactly: T δ = e is (T + b e_j e_jᵀ) δ − b e_j μ = e with δ_j − μ = 0.
"""

from typing import NamedTuple

from contact.arrays import Floats, Integers
from kernelcache import kernel


class Ballast(NamedTuple):
    """Inertia of the k coordinates that move no mass."""

    coordinate: Integers  # (k,)
    inertia: Floats  # (k,) [kg or kg m²] b, of the order of magnitude of the masses
    first: Integers  # (1,) their first row in a step's border; at a node, they follow the constraints


@kernel
def add_ballast(ballast, duration, diagonal):
    """Add the ballast to the diagonal of Newton's matrix of a time step of ``duration`` [s]."""
    for k in range(ballast.coordinate.shape[0]):
        diagonal[ballast.coordinate[k]] += ballast.inertia[k] / duration


@kernel
def set_ballast_border(ballast, duration, first, border):
    """Set the rows of the border, from ``first`` on, that subtract the ballast."""
    for k in range(ballast.coordinate.shape[0]):
        place, j = first + k, ballast.coordinate[k]
        for i in range(border.rows.shape[1]):
            border.rows[place, i] = border.columns[place, i] = 0.0
        border.rows[place, j] = 1.0
        border.columns[place, j] = -ballast.inertia[k] / duration
        border.corner[place, place] = -1.0
        border.load[place] = 0.0
