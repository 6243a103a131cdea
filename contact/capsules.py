"""Distances and nearest points of capsules, spheres included, and of capsules and boxes.

A capsule is ``(center, half, radius)``: the middle (3,) [m] of its axis in world axes, the vector from there to one end
of the axis (3,) [m], which is zero for a sphere, and the radius [m]. Normals are unit vectors from capsule A to the
other body B.
"""

from contact.boxes import box_axis
from contact.vectors import add, dot, mat_t_vec, mat_vec, norm, scale, sub
from kernelcache import kernel, routine

# Squared sine of the angle below which two axes count as parallel; the nearest point is the middle of their overlap.
PARALLEL = 1e-12
# Greatest number of Newton steps or bisections to find the root of a slope that is linear in seven pieces.
STEPS = 60


@kernel
def clamped(value, least, most):
    """Return ``value`` clipped to the range from ``least`` to ``most``."""
    return min(max(value, least), most)


@kernel
def nearest_on_axes(a, b):
    """Return s and t (−1 to 1) for which points center + s half on the axes are nearest (Ericson 2005, 5.1.9)."""
    offset = sub(b[0], a[0])
    aa, bb, ab = dot(a[1], a[1]), dot(b[1], b[1]), dot(a[1], b[1])
    along_a, along_b = dot(a[1], offset), dot(b[1], offset)
    if aa == 0.0:
        return 0.0, clamped(-along_b / bb, -1.0, 1.0) if bb > 0.0 else 0.0
    if bb == 0.0:
        return clamped(along_a / aa, -1.0, 1.0), 0.0
    area = aa * bb - ab * ab
    if area > PARALLEL * aa * bb:
        s = clamped((along_a * bb - along_b * ab) / area, -1.0, 1.0)
    else:  # the middle of the part of A's axis that B's axis faces
        reach = abs(ab) / aa
        s = 0.5 * (clamped(along_a / aa - reach, -1.0, 1.0) + clamped(along_a / aa + reach, -1.0, 1.0))
    t = clamped((s * ab - along_b) / bb, -1.0, 1.0)
    return clamped((t * ab + along_a) / aa, -1.0, 1.0), t


@kernel
def point_on_axis(capsule, s):
    """Return the point center + s half (3,) [m] on a capsule's axis."""
    return add(capsule[0], scale(s, capsule[1]))


@kernel
def capsule_gap(a, b):
    """Return (gap [m], normal, s, t) of two capsules; the gap is negative if they overlap.

    s and t are those of ``nearest_on_axes``. If the axes intersect, the normal is zero.
    """
    s, t = nearest_on_axes(a, b)
    between = sub(point_on_axis(b, t), point_on_axis(a, s))
    distance = norm(between)
    normal = scale(1.0 / distance, between) if distance > 0.0 else (0.0, 0.0, 0.0)
    return distance - a[2] - b[2], normal, s, t


@kernel
def box_slopes(start, way, half, t):
    """Return half of the first and second derivative by t of the squared distance of ``start + t way`` from a box."""
    slope = curvature = 0.0
    for k in range(3):
        at = start[k] + t * way[k]
        beyond = at - clamped(at, -half[k], half[k])
        if beyond != 0.0:
            slope += beyond * way[k]
            curvature += way[k] * way[k]
    return slope, curvature


@kernel
def nearest_to_box(box, capsule):
    """Return t for which center + t half on a capsule's axis is nearest to a box; if many are, near their middle.

    The squared distance is convex, and its slope is piecewise linear; bracketed Newton steps converge to the root.
    """
    start, way = mat_t_vec(box[1], sub(capsule[0], box[0])), mat_t_vec(box[1], capsule[1])
    square = dot(way, way)
    if square == 0.0:
        return 0.0
    low, high = -1.0, 1.0
    t = clamped(-dot(start, way) / square, low, high)
    for _ in range(STEPS):
        slope, curvature = box_slopes(start, way, box[2], t)
        if slope == 0.0:
            break
        if slope > 0.0:
            high = t
        else:
            low = t
        proposal = t - slope / curvature
        if proposal <= low or proposal >= high:  # an end of the axis, or another piece of the slope
            end = low if slope > 0.0 else high
            end_slope, _ = box_slopes(start, way, box[2], end)
            if end_slope * slope > 0.0:
                return end
            proposal = 0.5 * (low + high)
        if proposal == t:
            break
        t = proposal
    return t


@routine
def capsule_to_box(capsule, box):
    """Return (gap [m], normal, point) of a capsule and a box; the point lies midway between their surfaces.

    If the axis is in the box, the normal points from the capsule's nearest point to the box's centre.
    """
    at = point_on_axis(capsule, nearest_to_box(box, capsule))
    local = mat_t_vec(box[1], sub(at, box[0]))
    half = box[2]
    on_box = (
        clamped(local[0], -half[0], half[0]),
        clamped(local[1], -half[1], half[1]),
        clamped(local[2], -half[2], half[2]),
    )
    between = mat_vec(box[1], sub(on_box, local))
    distance = norm(between)
    if distance == 0.0:
        between = sub(box[0], at)
    size = norm(between)
    normal = scale(1.0 / size, between) if size > 0.0 else box_axis(box, 2)
    gap = distance - capsule[2]
    return gap, normal, add(at, scale(capsule[2] + 0.5 * gap, normal))
