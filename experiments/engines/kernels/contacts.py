"""The contact point of a model for a contact of an engine."""

import math

from contact import vectors as vec
from kernelcache import kernel


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
