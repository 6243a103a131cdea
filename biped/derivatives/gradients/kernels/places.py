"""Bases of support and margins of stability, row by row."""

import math

from biped.metrics.kernels.polygon import convex_hull, inside_by
from kernelcache import kernel, routine


@kernel
def belongs(foot, down, c):
    """Whether a point bears: that of a foot of which any point is down, or one of no foot that is down itself."""
    if foot[c] < 0:
        return down[c] == 1
    for other in range(foot.shape[0]):
        if foot[other] == foot[c] and down[other] == 1:
            return True
    return False


@routine
def base_of(contact, foot, down, points, hull):
    """The base of support of one row into ``hull``: how many corners it has (``biped.metrics.kernels.support``)."""
    n = 0
    for c in range(foot.shape[0]):
        if belongs(foot, down, c):
            points[n, 0], points[n, 1] = contact[c, 0], contact[c, 1]
            n += 1
    return convex_hull(points, n, hull)


@routine
def fill_margins(contact, foot, down, at, points, hull, margin):
    """(rows,) [m] how far inside of the base of support the points ``at`` (rows, 2) are; NaN in the air."""
    for row in range(at.shape[0]):
        corners = base_of(contact[row], foot, down[row], points, hull)
        margin[row] = inside_by(hull, corners, at[row, 0], at[row, 1]) if corners > 0 else math.nan
