"""Contact points of a foot: the corners of its sole, from its collision shapes.

The sole is the part of the foot within 5 mm of its lowest point, in the robot's standing posture. Its corners are those
of its convex hull in the horizontal plane. Of more than four corners, those whose removal costs the least area are
removed, so that a scanned sole is quick to simulate, until four are left or the next costs 5 % of the sole's area.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from contact.arrays import Floats

#: [m] Height of the sole above the lowest point of a foot.
SOLE = 0.005
CORNERS = 4  # at least
#: Share of a sole's area from which on a fifth corner, such as the tip of a pointed toe, is kept.
SHARE = 0.05
#: Number of points around the rim of a cylinder.
_AROUND = 8


def surface_points(shape: Any) -> Floats | None:
    """Return points (k, 3) [m] with the convex hull of a coal shape, in its own frame; None for other shapes.

    For spheres and capsules, the hull is extended by ``radius_of``; for cylinders, points lie on the rims.
    """
    import coal

    if isinstance(shape, coal.Box):
        return _box(np.asarray(shape.halfSide))
    if isinstance(shape, coal.Sphere):
        return np.zeros((1, 3))
    if isinstance(shape, coal.Capsule):
        return np.array([[0.0, 0.0, shape.halfLength], [0.0, 0.0, -shape.halfLength]])
    if isinstance(shape, coal.Cylinder):
        return _cylinder(shape.radius, shape.halfLength)
    if isinstance(shape, coal.BVHModelBase):
        return np.array([shape.vertex(i) for i in range(shape.num_vertices)])
    if isinstance(shape, coal.ConvexBase):
        return np.array([shape.point(i) for i in range(shape.num_points)])
    return None


def radius_of(shape: Any) -> float:
    """Return the radius [m] around the points of ``surface_points`` of a sphere or a capsule, else zero."""
    import coal

    return float(shape.radius) if isinstance(shape, (coal.Sphere, coal.Capsule)) else 0.0


def _box(half: Floats) -> Floats:
    return half * np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def _cylinder(radius: float, half: float) -> Floats:
    turns = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    rim = np.column_stack([radius * np.cos(turns), radius * np.sin(turns), np.full(_AROUND, half)])
    return np.vstack([rim, rim * [1.0, 1.0, -1.0]])


def corners(points: Floats, facing: Sequence[float], clockwise: bool) -> Floats:
    """Return the corners (k, 3) of the sole among ``points`` (m, 3) [m], z up, in order around it from the front.

    Args:
        points: points of the whole foot.
        facing: horizontal direction to the front.
        clockwise: direction seen from above; True starts at the front's left corner, False at its right.
    """
    low = points[points[:, 2] <= points[:, 2].min() + SOLE]
    hull = low[_hull(low[:, :2])]
    n, kept, total = len(hull), [*range(len(hull))], sum(_area(hull[0], *edge) for edge in pairwise(hull))
    while len(kept) > CORNERS and min(ears := _ears(hull[kept])) < SHARE * total:
        kept.pop(int(np.argmin(ears)))
    for k in range(len(kept) if n > CORNERS else 0):  # of the corners between its neighbours, the one with most area
        before, after = kept[k - 1], kept[(k + 1) % len(kept)]
        between = [i % n for i in range(before + 1, after + n * (after <= before))]
        kept[k] = max((_area(hull[before], hull[i], hull[after]), i) for i in between)[1]
    return _from_the_front(hull[kept[::-1] if clockwise else kept], np.asarray(facing[:2]), clockwise)


def _hull(points: Floats) -> list[int]:
    """Return the indices of the convex hull of points (m, 2), counterclockwise (Andrew's monotone chain)."""
    order = np.lexsort((points[:, 1], points[:, 0])).tolist()
    chains = []
    for sequence in (order, order[::-1]):
        chain: list[int] = []
        for i in sequence:
            while len(chain) > 1 and _area(points[chain[-2]], points[chain[-1]], points[i]) <= 1e-12:
                chain.pop()
            chain.append(i)
        chains.append(chain[:-1])
    return chains[0] + chains[1] or order[:1]


def _area(a: Floats, b: Floats, c: Floats) -> float:
    """Return twice the area [m²] of a triangle, positive if counterclockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _ears(polygon: Floats) -> list[float]:
    """Return the area lost by removing each corner."""
    after = np.roll(polygon, -1, axis=0)
    return [abs(_area(polygon[i - 1], polygon[i], after[i])) for i in range(len(polygon))]


def _from_the_front(polygon: Floats, facing: Floats, clockwise: bool) -> Floats:
    """Return the polygon's corners in the same order, starting at the first corner of the front."""
    side = np.array([-facing[1], facing[0]]) * (1.0 if clockwise else -1.0)
    first = int(np.argmax(polygon[:, :2] @ (facing + 0.999 * side)))
    return np.roll(polygon, -first, axis=0)
