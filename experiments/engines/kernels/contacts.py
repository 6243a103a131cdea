"""Sum of an engine's contact forces at the contact points of a model."""

import math

from contact import vectors as vec
from kernelcache import kernel, routine


@routine
def add_floor_forces(contacts, floors, bodies, points, force):
    """Add the forces of contacts with the floor to the nearest contact points of their bodies.

    If soles are boxes, an engine has contacts anywhere on them; on a flat floor they are at the corners, which are the
    model's contact points. Forces on bodies without contact points are left out.

    Args:
        contacts: arrays of n contacts: geometries (n, 2), axes (n, 9) with the normal first, positions (n, 3) [m], and
            forces (n, 6) [N] of the first geometry on the second, in these axes.
        floors: (g,) True for the geometries of the floor.
        bodies: arrays: the body (g,) of each geometry, positions (b, 3) [m] and axes (b, 9) of the bodies.
        points: arrays of the contact points: their bodies (nc,), and positions (nc, 3) [m] on them, in their axes.
        force: (nc, 3) [N] forces on the contact points, world axes; is added to.
    """
    geometries, axes, positions, local = contacts
    body_of, origins, turns = bodies
    for k in range(geometries.shape[0]):
        first, second = geometries[k, 0], geometries[k, 1]
        if floors[first] != floors[second]:
            sign, body = (1.0, body_of[second]) if floors[first] else (-1.0, body_of[first])
            offset = vec.sub(vec.load3(positions, k), vec.load3(origins, body))
            c = nearest(points, body, vec.mat_t_vec(vec.load9(turns, body), offset))
            if c >= 0:
                added = vec.mat_t_vec(vec.load9(axes, k), vec.load3(local, k))
                for axis in range(3):
                    force[c, axis] += sign * added[axis]


@kernel
def nearest(points, body, place):
    """Return the contact point of a body that is nearest to a position in its axes; −1 for none."""
    point_body, point_place = points
    best, chosen = math.inf, -1
    for c in range(point_body.shape[0]):
        if point_body[c] == body:
            left = vec.sub(vec.load3(point_place, c), place)
            distance = vec.dot(left, left)
            if distance < best:
                best, chosen = distance, c
    return chosen
