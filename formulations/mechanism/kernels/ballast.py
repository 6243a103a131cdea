"""Coordinates that move no mass, and that only constraints hold.

Along them the tree's matrix is singular, and with the constraints it is not. So each gets an inertia b in the
elimination, which the border takes away again, exactly: T δ = e is (T + b e_j e_jᵀ) δ − b e_j μ = e with δ_j − μ = 0.
"""

from typing import NamedTuple

from contact.arrays import Floats, Integers
from kernelcache import kernel


class Ballast(NamedTuple):
    """k such coordinates."""

    coordinate: Integers  # (k,)
    inertia: Floats  # (k,) [kg or kg m²] b, of any size that is not too far from that of other masses
    first: Integers  # (1,) where in a step's border they begin; at a node that is after the constraints


@kernel
def add_ballast(ballast, duration, diagonal):
    """To Newton's matrix of a step of this length."""
    for k in range(ballast.coordinate.shape[0]):
        diagonal[ballast.coordinate[k]] += ballast.inertia[k] / duration


@kernel
def set_ballast_border(ballast, duration, first, border):
    """Take it away again, in the rows from ``first`` on."""
    for k in range(ballast.coordinate.shape[0]):
        place, j = first + k, ballast.coordinate[k]
        for i in range(border.rows.shape[1]):
            border.rows[place, i] = border.columns[place, i] = 0.0
        border.rows[place, j] = 1.0
        border.columns[place, j] = -ballast.inertia[k] / duration
        border.corner[place, place] = -1.0
        border.load[place] = 0.0
