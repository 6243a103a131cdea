"""Separation and contact points of boxes: against convex hulls, quadratic programs and cases done by hand."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear
from scipy.spatial import ConvexHull, HalfspaceIntersection

from contact.boxes import FLAT, PARALLEL, SCRATCH_SHAPE, contact_point, separation

pytestmark = pytest.mark.jit_off

IDENTITY = np.eye(3)
TRUNK = np.array([0.128, 0.1495, 0.2985])
CUBE = np.array([0.06, 0.06, 0.06])
SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
many = settings(max_examples=200, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)


def box(center, rotation, half):
    return tuple(tuple(map(float, np.ravel(part))) for part in (center, rotation, half))


def turn(axis, degrees):
    """The rotation about x, y or z."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    R = np.eye(3)
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


def random_rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q * np.linalg.det(q)


def random_pair(seed, spread=0.6):
    rng = np.random.default_rng(seed)
    return (
        box(rng.normal(size=3), random_rotation(rng), rng.uniform(0.05, 0.5, 3)),
        box(rng.normal(size=3) * spread, random_rotation(rng), rng.uniform(0.05, 0.5, 3)),
    )


def vertices(b):
    return np.array(b[0]) + SIGNS * b[2] @ np.reshape(b[1], (3, 3)).T


def outside(b, point):
    """How far ``point`` is outside the box, along the worst of its axes."""
    return (np.abs((point - np.array(b[0])) @ np.reshape(b[1], (3, 3))) - b[2]).max()


def shifted(b, by):
    return (tuple(np.array(b[0]) + by), b[1], b[2])


def moved(b, R, by):
    return box(R @ b[0] + by, R @ np.reshape(b[1], (3, 3)), b[2])


def point_of(a, b, normal):
    return np.array(contact_point(a, b, tuple(map(float, normal)), np.full(SCRATCH_SHAPE, np.nan)))


def true_distance(a, b):
    """The distance of two boxes, from a least-squares problem with bounds."""
    axes = np.hstack([np.reshape(a[1], (3, 3)) * a[2], -np.reshape(b[1], (3, 3)) * b[2]])
    result = lsq_linear(axes, np.subtract(b[0], a[0]), (-1.0, 1.0), method="bvls", tol=1e-14)
    return np.linalg.norm(result.fun)


# --- separation ------------------------------------------------------------------------------------------


@many
@given(seeds, st.floats(0.0, 2.0))
def test_separation_against_the_hull_of_the_difference(seed, spread):
    a, b = random_pair(seed, spread)
    distance, normal = separation(a, b)
    # The boxes overlap if b - a contains the origin; the nearest facet is the way out.
    hull = ConvexHull((vertices(b)[:, None] - vertices(a)).reshape(-1, 3))
    facets = hull.equations[:, 3].max()
    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
    if facets <= 0:
        assert distance == pytest.approx(facets, abs=1e-9)
    else:
        # A pair of edges that are not nearest may see more of the gap than any facet does, never all of it.
        assert facets - 1e-9 <= distance <= true_distance(a, b) + 1e-9
    # The distance is the gap along the normal, from a to b.
    gap = (vertices(b) @ normal).min() - (vertices(a) @ normal).max()
    assert gap == pytest.approx(distance, abs=1e-12)


@many
@given(seeds, st.floats(0.0, 2.0))
def test_swapping_the_boxes_turns_the_normal(seed, spread):
    a, b = random_pair(seed, spread)
    forward, backward = separation(a, b), separation(b, a)
    assert forward[0] == pytest.approx(backward[0], abs=1e-13)
    assert np.allclose(forward[1], np.negative(backward[1]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("gap", [0.03, 0.0, -0.01])
def test_parallel_boxes(gap):
    a = box((0, 0, 0), IDENTITY, TRUNK)
    b = box((TRUNK[0] + CUBE[0] + gap, 0.05, -0.1), IDENTITY, CUBE)
    distance, normal = separation(a, b)
    assert distance == pytest.approx(gap, abs=1e-15)
    assert normal == (1.0, 0.0, 0.0)


def test_two_crossing_edges():
    # The upper edge of a lies along y at x = 0; 5 mm above it the lower edge of b, along x at y = 0.02.
    top = 0.06 * np.sqrt(2)
    a = box((0, 0, 0), turn("y", 45), CUBE)
    b = box((0.01, 0.02, 2 * top + 0.005), turn("x", 45), CUBE)
    distance, normal = separation(a, b)
    assert distance == pytest.approx(0.005, abs=1e-15)
    assert np.allclose(normal, (0, 0, 1), rtol=0, atol=1e-15)
    assert np.allclose(point_of(a, b, normal), (0.0, 0.02, top + 0.0025), rtol=0, atol=1e-15)
    # Where they miss one another, the ends count.
    beyond = shifted(b, (0.09, 0.08, 0.0))
    assert np.allclose(point_of(a, beyond, normal), (0.02, 0.08, top + 0.0025), rtol=0, atol=1e-15)


def test_separation_is_continuous_where_edges_become_parallel():
    # Corner to corner: two parallel edges are nearest. Tilted ever so little, their common normal is anywhere.
    a = box((0, 0, 0), IDENTITY, CUBE)
    upright = turn("z", 1.0)
    straight, _ = separation(a, box((0.2, 0.3, 0.0), upright, CUBE))
    assert straight > 0.1
    for direction in np.linspace(0.0, 360.0, 37):
        about = turn("z", direction)
        for tilt in (1e-3, 1e-5, 1e-7):
            R = about @ turn("x", np.degrees(tilt * PARALLEL)) @ about.T @ upright
            distance, _ = separation(a, box((0.2, 0.3, 0.0), R, CUBE))
            assert abs(distance - straight) < tilt


@many
@given(seeds)
def test_separation_is_lipschitz_away_from_parallel_edges(seed):
    a, b = random_pair(seed)
    rng = np.random.default_rng(seed)
    step = 1e-7 * rng.normal(size=3)
    # A gap along a direction changes no faster than the box moves.
    assert abs(separation(a, shifted(b, step))[0] - separation(a, b)[0]) <= np.linalg.norm(step) * (1 + 1e-6)


# --- contact points --------------------------------------------------------------------------------------


def tilted_trunk_and_cube(y, height, yaw=0.0):
    """The trunk leaning back by 5 degrees, and a cube flying along -X that just touches it.

    ``height`` is that of the cube's centre; ``y`` its offset to the side.
    """
    trunk = box((0.0, 0.0, 1.2), turn("y", -5), TRUNK)
    far = box((1.0, y, height), turn("z", yaw), CUBE)
    normal = turn("y", -5)[:, 0]
    gap = (vertices(far) @ normal).min() - (np.array(trunk[0]) @ normal + TRUNK[0])
    return trunk, shifted(far, (-gap / normal[0], 0, 0)), normal


@pytest.mark.parametrize("y", [0.0, 0.05, 0.13, -0.18])
def test_the_cube_meets_the_tilted_trunk_with_the_part_of_its_edge_in_front_of_it(y):
    trunk, cube, normal = tilted_trunk_and_cube(y, 1.2)
    distance, found = separation(trunk, cube)
    assert distance == pytest.approx(0.0, abs=1e-15)
    assert np.allclose(found, normal, rtol=0, atol=1e-15)
    # Leaning back raises the normal of the trunk's face: it meets the lower edge of the cube's.
    low, high = max(y - 0.06, -TRUNK[1]), min(y + 0.06, TRUNK[1])
    expected = np.add(cube[0], (-0.06, 0.5 * (low + high) - y, -0.06))
    assert np.allclose(point_of(trunk, cube, found), expected, rtol=0, atol=1e-14)
    assert np.allclose(point_of(cube, trunk, np.negative(found)), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("yaw", [10.0, 45.0, 80.0])
def test_a_turned_cube_meets_the_tilted_trunk_with_a_vertex(yaw):
    trunk, cube, normal = tilted_trunk_and_cube(0.02, 1.2, yaw)
    nearest = vertices(cube)[(vertices(cube) @ normal).argmin()]
    assert np.allclose(point_of(trunk, cube, normal), nearest, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("y", "z", "expected"),
    [
        (0.0, 0.0, (0.0, 0.0)),
        (0.14, 0.0, (0.5 * (0.08 + 0.1495), 0.0)),
        (-0.14, 0.3, (-0.5 * (0.08 + 0.1495), 0.5 * (0.24 + 0.2985))),
    ],
)
def test_a_face_on_a_face_over_its_side(y, z, expected):
    trunk = box((0, 0, 0), IDENTITY, TRUNK)
    cube = box((TRUNK[0] + 0.06, y, z), IDENTITY, CUBE)
    for R, by in ((IDENTITY, np.zeros(3)), (turn("z", 30) @ turn("x", 70) @ turn("y", 20), np.array([1.0, -2.0, 3.0]))):
        a, b = moved(trunk, R, by), moved(cube, R, by)
        point = R.T @ (point_of(a, b, R[:, 0]) - by)
        assert np.allclose(point, (TRUNK[0], *expected), rtol=0, atol=1e-14)


def test_a_small_box_inside_a_face_and_the_other_way_round():
    a = box((0, 0, 0), IDENTITY, (1, 1, 1))
    b = box((1.1, 0.3, 0.4), turn("x", 20), (0.1, 0.2, 0.3))
    assert np.allclose(point_of(a, b, (1, 0, 0)), (1, 0.3, 0.4), rtol=0, atol=1e-15)
    assert np.allclose(point_of(b, a, (-1, 0, 0)), (1, 0.3, 0.4), rtol=0, atol=1e-15)


@many
@given(seeds)
def test_the_centroid_of_turned_faces(seed):
    rng = np.random.default_rng(seed)
    half_a, half_b = rng.uniform(0.1, 1.0, 3), rng.uniform(0.1, 1.0, 3)
    y, z = half_a[1:] * rng.uniform(-1, 1, 2)  # b's centre is above a's face: a point within both
    angle = rng.uniform(0, 360)
    a, b = box((0, 0, 0), IDENTITY, half_a), box((half_a[0] + half_b[0], y, z), turn("x", angle), half_b)
    R2 = turn("x", angle)[1:, 1:]
    sides = [np.array([*(s * e), -h]) for e, h in zip(np.eye(2), half_a[1:], strict=True) for s in (1, -1)]
    sides += [np.array([*(s * e), -h - s * e @ (y, z)]) for e, h in zip(R2.T, half_b[1:], strict=True) for s in (1, -1)]
    inside = np.array([y, z]) * (1 - 1e-9)
    corners = HalfspaceIntersection(np.array(sides), inside).intersections
    hull = ConvexHull(corners - inside)
    ring = (corners - inside)[hull.vertices]
    after = np.roll(ring, -1, axis=0)
    doubled = ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]
    centroid = inside + ((ring + after) * doubled[:, None]).sum(0) / (3 * doubled.sum())
    assert np.allclose(point_of(a, b, (1, 0, 0)), (half_a[0], *centroid), rtol=0, atol=1e-8)
    assert np.allclose(point_of(b, a, (-1, 0, 0)), (half_a[0], *centroid), rtol=0, atol=1e-8)


def test_equal_cubes_on_top_of_each_other():
    # All sides coincide: a cut along a side must neither lose nor double it.
    for shift in (0.0, 1e-17, 1e-12):
        b = box((0.12, shift, -shift), IDENTITY, CUBE)
        assert np.allclose(point_of(box((0, 0, 0), IDENTITY, CUBE), b, (1, 0, 0)), (0.06, 0, 0), rtol=0, atol=1e-12)


def test_faces_that_share_only_a_side_or_nothing():
    a = box((0, 0, 0), IDENTITY, CUBE)
    on_side = box((0.12, 0.12, 0.0), IDENTITY, CUBE)
    assert np.allclose(point_of(a, on_side, (1, 0, 0)), (0.06, 0.06, 0), rtol=0, atol=1e-15)
    beside = box((0.12, 0.2, 0.0), IDENTITY, CUBE)
    assert np.allclose(point_of(a, beside, (1, 0, 0)), (0.06, 0.06, 0), rtol=0, atol=1e-15)


@pytest.mark.parametrize("y", [0.0, 0.03, -0.1])
def test_parallel_edges_meet_in_the_middle_of_their_overlap(y):
    # Two cubes on edge, one above the other, both edges along y.
    a = box((0, 0, 0), turn("y", 45), CUBE)
    b = box((0, y, 2 * 0.06 * np.sqrt(2)), turn("y", 45), CUBE)
    assert np.allclose(point_of(a, b, (0, 0, 1)), (0, 0.5 * y, 0.06 * np.sqrt(2)), rtol=0, atol=1e-15)
    flipped = box(b[0], turn("x", 180) @ np.reshape(b[1], (3, 3)), CUBE)
    assert np.allclose(point_of(a, flipped, (0, 0, 1)), (0, 0.5 * y, 0.06 * np.sqrt(2)), rtol=0, atol=1e-15)


def test_two_vertices_meet_half_way():
    # The third row is the diagonal of the cube, turned to z.
    R = np.array([[1, -1, 0] / np.sqrt(2), [1, 1, -2] / np.sqrt(6), [1, 1, 1] / np.sqrt(3)])
    top = 0.06 * np.sqrt(3)
    a, b = box((1, 2, 0), R, CUBE), box((1.02, 2.04, 2 * top + 0.01), R, CUBE)
    assert np.allclose(point_of(a, b, (0, 0, 1)), (1.01, 2.02, top + 0.005), rtol=0, atol=1e-15)


@many
@given(seeds, st.sampled_from([0.0, 0.2, 0.6]))
def test_where_boxes_just_touch_the_point_is_on_both(seed, spread):
    a, b = random_pair(seed, spread)
    distance, normal = separation(a, b)
    if distance > 0:
        return
    b = shifted(b, -distance * np.array(normal))
    point = point_of(a, b, normal)
    # Near-flat features count as flat: that is how far the point may be off.
    off = FLAT * max(*a[2], *b[2])
    assert -off <= outside(a, point) <= off
    assert -off <= outside(b, point) <= off
    assert np.allclose(point_of(b, a, np.negative(normal)), point, rtol=0, atol=1e-12)
