"""Distance, normal and contact point of two oriented boxes.

A box is ``(center, rotation, half)``: its centre (3,) [m] in world axes, the rotation (9,) from box to world axes,
row by row, and half of the edge lengths (3,) [m]. Normals are unit vectors from box A to box B.
"""

import math

import numpy as np

from contact.vectors import add, cross, dot, mat_t_vec, mat_vec, norm, scale, sub
from kernelcache import kernel, routine

# Sine of the greatest angle at which an edge or a face counts as lying flat on the other box.
FLAT = 1e-3
# Sine of the angle between two edges below which their common normal is only numerical noise.
PARALLEL = 1e-4
# Shape of the work array of `contact_point`: a polygon before and after a cut. A cut of an n-sided polygon leaves
# at most 3n/2, even with rounding errors; four cuts of a rectangle leave at most 19.
SCRATCH_SHAPE = (2, 19, 2)


@kernel
def box_axis(box, i):
    """Return axis i of the box in world axes: column i of its rotation."""
    R = box[1]
    return R[i], R[3 + i], R[6 + i]


@kernel
def box_reach(box, direction):
    """Return the greatest extent [m] of the box from its centre along a unit ``direction``."""
    c = mat_t_vec(box[1], direction)
    return box[2][0] * abs(c[0]) + box[2][1] * abs(c[1]) + box[2][2] * abs(c[2])


@routine
def separation(box_a, box_b):
    """Return (distance [m], normal) of two boxes by the separating axis test (Gottschalk et al. 1996, section 5).

    A positive distance is the widest gap along one of 15 axes: a lower bound of the boxes' distance, exact if a
    face or two edges are nearest. A negative distance is minus the shortest translation that separates the boxes. The
    distance is continuous in the boxes' poses.
    """
    best = (-np.inf, (0.0, 0.0, 0.0))
    for i in range(3):
        best = _wider(best, box_a, box_b, box_axis(box_a, i), 1.0)
    for i in range(3):
        best = _wider(best, box_a, box_b, box_axis(box_b, i), 1.0)
    for i in range(3):
        for j in range(3):
            common = cross(box_axis(box_a, i), box_axis(box_b, j))
            sine = norm(common)
            if sine > 0.0:
                best = _wider(best, box_a, box_b, scale(1.0 / sine, common), min(1.0, sine / PARALLEL))
    return best


@kernel
def _wider(best, box_a, box_b, axis, trust):
    """Return the candidate (gap, normal) with the larger gap: ``best`` or that along ``axis``.

    ``trust`` fades out the common normal of two edges as they become parallel (a gap shrinks to zero, an
    overlap grows without bound): that normal becomes numerical noise, and the faces' normals suffice.
    """
    along = dot(sub(box_b[0], box_a[0]), axis)
    gap = abs(along) - (box_reach(box_a, axis) + box_reach(box_b, axis))
    gap = gap * trust if gap > 0.0 else gap / trust
    if gap > best[0]:
        return gap, scale(math.copysign(1.0, along), axis)
    return best


@routine
def contact_point(box_a, box_b, normal, scratch):
    """Return the centre (3,) [m] of the contact patch of two boxes, given their ``normal`` from `separation`.

    ``scratch`` is a work array of `SCRATCH_SHAPE`.

    The touching features are a vertex, an edge or a face of each box. The point is the vertex itself, the middle
    of the part of an edge above a face, the centroid of the common polygon of two faces, or the middle of the
    shortest line between two edges. If both features are of one kind, the point lies midway between the boxes,
    otherwise on the smaller feature.
    """
    feature_a = _support(box_a, normal)
    feature_b = _support(box_b, scale(-1.0, normal))
    rank_a, rank_b = _rank(feature_a), _rank(feature_b)
    if rank_a != rank_b:
        larger, smaller = ((box_a, feature_a), (box_b, feature_b))
        if rank_a < rank_b:
            larger, smaller = smaller, larger
        return _point_on_larger(larger[0], larger[1], smaller[0], smaller[1])
    if rank_a == 2:
        point = _face_on_face(box_a, feature_a, box_b, feature_b, scratch)
    elif rank_a == 1:
        point = _edge_on_edge(box_a, feature_a, box_b, feature_b)
    else:
        point = _feature_center(box_a, feature_a)
        point = scale(0.5, add(point, _feature_center(box_b, feature_b)))
    return _between(box_a, box_b, normal, point)


@kernel
def _between(box_a, box_b, normal, point):
    """Return ``point`` moved along the normal to midway between the two boxes."""
    top_a = dot(box_a[0], normal) + box_reach(box_a, normal)
    bottom_b = dot(box_b[0], normal) - box_reach(box_b, normal)
    return add(point, scale(0.5 * (top_a + bottom_b) - dot(point, normal), normal))


# A feature of a box is three numbers, one for each axis: the side on which it lies, +1 or -1, or 0 where it
# extends over the whole box. (1, 0, 0) is the face at +x, (1, 0, -1) an edge along y.


@kernel
def _side(c):
    if abs(c) <= FLAT:
        return 0.0
    return math.copysign(1.0, c)


@kernel
def _support(box, direction):
    """Return the vertex, edge or face of the box that is farthest along ``direction``, flat to within `FLAT`."""
    c = mat_t_vec(box[1], direction)
    return _side(c[0]), _side(c[1]), _side(c[2])


@kernel
def _rank(feature):
    """Return 0 for a vertex, 1 for an edge, 2 for a face."""
    return (feature[0] == 0.0) + (feature[1] == 0.0) + (feature[2] == 0.0)


@kernel
def _free_axis(feature):
    """Return the first axis along which the feature extends."""
    if feature[0] == 0.0:
        return 0
    if feature[1] == 0.0:
        return 1
    return 2


@kernel
def _last_free_axis(feature):
    """Return the last axis along which the feature extends."""
    if feature[2] == 0.0:
        return 2
    if feature[1] == 0.0:
        return 1
    return 0


@kernel
def _local_center(box, feature):
    half = box[2]
    return feature[0] * half[0], feature[1] * half[1], feature[2] * half[2]


@kernel
def _feature_center(box, feature):
    """Return the middle of the vertex, edge or face in world axes."""
    return add(box[0], mat_vec(box[1], _local_center(box, feature)))


@kernel
def _in_box(box, point):
    """Return a point in world axes as a point relative to the box's centre, in box axes."""
    return mat_t_vec(box[1], sub(point, box[0]))


@kernel
def _point_on_larger(larger, feature, smaller, small_feature):
    """Return a vertex that touches an edge or a face, or the middle of that part of an edge that is above a face."""
    center = _feature_center(smaller, small_feature)
    if _rank(small_feature) == 0:
        return center
    i = _free_axis(small_feature)
    axis = box_axis(smaller, i)
    low, high = _cut_edge(larger, feature, center, axis, smaller[2][i])
    return add(center, scale(0.5 * (low + high), axis))


@kernel
def _cut_edge(box, face, center, axis, half):
    """Return the interval of ``center + t axis``, |t| <= half, above the face (Liang & Barsky 1984).

    For an edge outside the face, both ends are the point nearest to the face's sides.
    """
    low, high = -half, half
    start, slope = _in_box(box, center), mat_t_vec(box[1], axis)
    for k in range(3):
        if face[k] == 0.0 and slope[k] != 0.0:
            end_a = (-box[2][k] - start[k]) / slope[k]
            end_b = (box[2][k] - start[k]) / slope[k]
            low = min(max(low, min(end_a, end_b)), half)
            high = max(min(high, max(end_a, end_b)), -half)
    return low, high


@kernel
def _edge_on_edge(box_a, feature_a, box_b, feature_b):
    """Return the middle of the shortest line between two edges, or of their overlap if they are parallel."""
    i, j = _free_axis(feature_a), _free_axis(feature_b)
    a, b = box_axis(box_a, i), box_axis(box_b, j)
    half_a, half_b = box_a[2][i], box_b[2][j]
    center_a, center_b = _feature_center(box_a, feature_a), _feature_center(box_b, feature_b)
    offset = sub(center_b, center_a)
    cosine, along_a, along_b = dot(a, b), dot(a, offset), dot(b, offset)
    sine2 = 1.0 - cosine * cosine
    if sine2 <= FLAT * FLAT:
        s = 0.5 * (max(-half_a, along_a - half_b) + min(half_a, along_a + half_b))
        t = cosine * (s - along_a)
    else:
        # s a - t b - offset is perpendicular to both edges (Ericson 2005, Real-Time Collision Detection, 5.1.8).
        s = (along_a - cosine * along_b) / sine2
        t = (cosine * along_a - along_b) / sine2
    s, t = min(max(s, -half_a), half_a), min(max(t, -half_b), half_b)
    return scale(0.5, add(add(center_a, scale(s, a)), add(center_b, scale(t, b))))


@kernel
def _face_on_face(box_a, face_a, box_b, face_b, scratch):
    """Return the centroid of the part of B's face above A's face, on A's face."""
    i, j = _free_axis(face_a), _last_free_axis(face_a)
    x, y = _common_centroid(box_a, i, j, box_b, face_b, scratch)
    point = add(_feature_center(box_a, face_a), scale(x, box_axis(box_a, i)))
    return add(point, scale(y, box_axis(box_a, j)))


@kernel
def _common_centroid(box_a, i, j, box_b, face_b, scratch):
    """Return coordinates i and j in box A of the centroid of the part of B's face within its sides."""
    count = _write_face(scratch, box_a, i, j, box_b, face_b)
    for cut in range(4):
        axis, side = cut % 2, 1.0 if cut < 2 else -1.0
        limit = box_a[2][i] if axis == 0 else box_a[2][j]
        count = _cut_polygon(scratch, cut % 2, count, axis, side, limit)
    if count == 0:
        return _nearest_on_face(box_a, i, j, _feature_center(box_b, face_b))
    return _centroid(scratch, count)


@kernel
def _nearest_on_face(box, i, j, point):
    """Return coordinates i and j of the point of the box nearest to ``point``."""
    local = _in_box(box, point)
    return min(max(local[i], -box[2][i]), box[2][i]), min(max(local[j], -box[2][j]), box[2][j])


@kernel
def _write_face(scratch, box_a, i, j, box_b, face):
    """Write the vertices of B's face as coordinates i and j of box A to ``scratch[0]``; return their number."""
    k, m = _free_axis(face), _last_free_axis(face)
    center = _in_box(box_a, _feature_center(box_b, face))
    e = scale(box_b[2][k], mat_t_vec(box_a[1], box_axis(box_b, k)))
    f = scale(box_b[2][m], mat_t_vec(box_a[1], box_axis(box_b, m)))
    count = 0
    for s, t in ((1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)):
        scratch[0, count, 0] = center[i] + s * e[i] + t * f[i]
        scratch[0, count, 1] = center[j] + s * e[j] + t * f[j]
        count += 1
    return count


@kernel
def _cut_polygon(scratch, source, count, axis, side, limit):
    """Clip a polygon to ``side * coordinate <= limit`` (Sutherland & Hodgman 1974).

    It is read from ``scratch[source]`` and written to the other half; return the number of remaining vertices.
    """
    target, kept = 1 - source, 0
    for n in range(count):
        last = count - 1 if n == 0 else n - 1
        here = side * scratch[source, n, axis] - limit
        before = side * scratch[source, last, axis] - limit
        if (here <= 0.0) != (before <= 0.0):
            t = before / (before - here)
            for c in range(2):
                start = scratch[source, last, c]
                scratch[target, kept, c] = start + t * (scratch[source, n, c] - start)
            kept += 1
        if here <= 0.0:
            scratch[target, kept, 0], scratch[target, kept, 1] = scratch[source, n, 0], scratch[source, n, 1]
            kept += 1
    return kept


@kernel
def _centroid(scratch, count):
    """Return the centroid of the convex polygon in ``scratch[0]``, by triangles; for a sliver, of its vertices."""
    x0, y0 = scratch[0, 0, 0], scratch[0, 0, 1]
    area, x, y = 0.0, 0.0, 0.0
    mean_x, mean_y, extent = 0.0, 0.0, 0.0
    ax, ay = 0.0, 0.0
    for n in range(1, count):
        bx, by = scratch[0, n, 0] - x0, scratch[0, n, 1] - y0
        triangle = ax * by - ay * bx
        area, x, y = area + triangle, x + triangle * (ax + bx) / 3.0, y + triangle * (ay + by) / 3.0
        mean_x, mean_y, extent = mean_x + bx / count, mean_y + by / count, max(extent, bx * bx + by * by)
        ax, ay = bx, by
    if abs(area) <= 1e-12 * extent:
        return x0 + mean_x, y0 + mean_y
    return x0 + x / area, y0 + y / area
