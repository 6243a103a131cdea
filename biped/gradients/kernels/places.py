"""Centres of mass, contact points and margins of stability of many configurations."""

import math

from biped.kernels.tree.dynamics import centre_of_mass
from biped.kernels.tree.kinematics import place_bodies
from biped.kernels.variational.equations import reference_point
from biped.metrics.kernels.polygon import convex_hull, inside_by
from contact.jit import kernel, routine
from contact.vectors import add, load3, store3


@routine
def fill_places(tree, q, poses, com, contact):
    """(rows, 3) [m] the centre of mass, and (rows, nc, 3) contact points, of configurations (rows, nq)."""
    for row in range(q.shape[0]):
        place_bodies(tree, q[row], poses)
        origin = reference_point(tree, q[row])
        store3(com, row, add(origin, centre_of_mass(tree, poses)))
        for c in range(contact.shape[1]):
            store3(contact[row], c, add(origin, load3(poses.contact, c)))


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
