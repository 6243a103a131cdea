"""Convex hulls of a few points in the plane, and distances of points inside of them."""

import math

from kernelcache import kernel, routine


@kernel
def turn(a, b, c):
    """Return twice the area of the triangle (a, b, c); positive if it turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@kernel
def point_at(points, i):
    return points[i, 0], points[i, 1]


@kernel
def sort_points(points, n):
    """Sort the first ``n`` points by x, then by y."""
    for i in range(1, n):
        x, y = point_at(points, i)
        k = i - 1
        while k >= 0 and (points[k, 0] > x or (points[k, 0] == x and points[k, 1] > y)):
            points[k + 1, 0], points[k + 1, 1] = points[k, 0], points[k, 1]
            k -= 1
        points[k + 1, 0], points[k + 1, 1] = x, y


@kernel
def append_turning_left(hull, m, least, p):
    """Append ``p`` to a chain of ``m`` points, keeping at least ``least``; return the new length."""
    while m >= least and turn(point_at(hull, m - 2), point_at(hull, m - 1), p) <= 0.0:
        m -= 1
    hull[m, 0], hull[m, 1] = p
    return m + 1


@routine
def convex_hull(points, n, hull):
    """Compute the hull of the first ``n`` points, counter-clockwise; return its number of corners.

    Andrew's monotone chain (1979). ``points`` (n, 2) are sorted in place; ``hull`` needs space for 2 n + 2 corners.
    Points on a line yield its two ends, equal points at most two corners.
    """
    sort_points(points, n)
    if n < 2:
        for i in range(n):
            hull[i, 0], hull[i, 1] = points[i, 0], points[i, 1]
        return n
    m = 0
    for i in range(n):
        m = append_turning_left(hull, m, 2, point_at(points, i))
    least = m + 1
    for i in range(n - 2, -1, -1):
        m = append_turning_left(hull, m, least, point_at(points, i))
    return m - 1  # the last corner repeats the first


@kernel
def distance_to_segment(a, b, p):
    ex, ey = b[0] - a[0], b[1] - a[1]
    px, py = p[0] - a[0], p[1] - a[1]
    square = ex * ex + ey * ey
    along = 0.0
    if square > 0.0:
        along = min(max((px * ex + py * ey) / square, 0.0), 1.0)
    return math.sqrt((px - along * ex) ** 2 + (py - along * ey) ** 2)


@routine
def inside_by(hull, m, x, y):
    """Return the distance from a point to the boundary of a hull of ``m`` corners, negative outside; NaN if m = 0.

    If the hull is a line or a point, all points are outside or on it.
    """
    if m == 0:
        return math.nan
    least = math.inf
    inside = m > 2
    for i in range(m):
        a, b = point_at(hull, i), point_at(hull, (i + 1) % m)
        least = min(least, distance_to_segment(a, b, (x, y)))
        if turn(a, b, (x, y)) < 0.0:
            inside = False
    return least if inside else -least


@routine
def area_of(hull, m):
    """Return the area of a hull of ``m`` corners by the shoelace formula about its first corner."""
    twice = 0.0
    for i in range(1, m - 1):
        twice += turn(point_at(hull, 0), point_at(hull, i), point_at(hull, i + 1))
    return 0.5 * twice
