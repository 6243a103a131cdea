"""Named points on the bodies of a mechanism, and generalized forces of forces at them."""

from typing import NamedTuple

from biped.kernels.tree.kinematics import point_of_body
from contact.arrays import Floats, Integers
from contact.vectors import cross, dot6, load3, load6, load9, mat_vec, store3
from kernelcache import kernel

# Body of fixed points.
WORLD = -1


class Points(NamedTuple):
    """Origins of the frames that components of a mechanism name."""

    body: Integers  # (np,) or WORLD
    offset: Floats  # (np, 3) [m] from the body's centre of mass, home axes; WORLD: from the world's origin


@kernel
def place_points(points, poses, arms):
    """Set the positions of the points relative to O."""
    for k in range(points.body.shape[0]):
        store3(arms, k, place_of(poses, points.body[k], load3(points.offset, k)))


@kernel
def place_of(poses, body, offset):
    """Return the position [m] of a point of a body, or of the world (−1), in world axes."""
    if body < 0:
        return offset
    return point_of_body(poses, body, offset)


@kernel
def turned(poses, body, direction):
    """Return a direction fixed to a body, given in home axes, in world axes."""
    if body < 0:
        return direction
    return mat_vec(load9(poses.rotation, body), direction)


@kernel
def add_pairings(tree, poses, body, force, moment, row):
    """Add s_j · (force, moment) of a wrench on a body to the entries of all coordinates that move the body."""
    j = body
    while j >= 0:
        row[j] += dot6(load6(poses.motion, j), force + moment)
        j = tree.parent[j]


@kernel
def add_point_pairings(tree, poses, body, arm, force, row):
    """Add the pairings of a force at a point: the derivative of the point's position along ``force``."""
    add_pairings(tree, poses, body, force, cross(arm, force), row)
