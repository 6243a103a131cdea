"""Contact manifolds of convex shapes against independent distances."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.model import box_inertia
from biped.model.geometry import quaternion_matrix
from contact.boxes import separation
from formulations.assembly import Shape, block, capsule, cast, sphere
from formulations.assembly.collision import Collider, collide
from formulations.assembly.shapes import box_corners
from tests.refusals import refuses

from .random_assemblies import random_unit

SIZES = (1.0, 0.8, 0.5), (0.6, 0.7, 0.9)
LEVEL = np.eye(3)
ORIGIN = np.zeros(3)


def collided(one, two, place, turn=LEVEL, other_turn=LEVEL):
    return collide(Collider(one), Collider(two), (ORIGIN, np.asarray(place, dtype=float)), (turn, other_turn))


def as_box(place, R, size):
    return tuple(map(float, place)), tuple(map(float, R.reshape(-1))), tuple(0.5 * edge for edge in size)


def in_shape(shape, points, place, R):
    local = (points - place) @ R
    return max(((local - shape.array[face.corners[0]]) @ face.normal).max() for face in shape.faces)


def test_boxes_in_one_another_are_as_deep_as_the_separating_axis_theorem_says():
    """Also for almost touching boxes, with distances of rounding; the points are on both boxes."""
    rng, one, two, compared = np.random.default_rng(1), block(SIZES[0]), block(SIZES[1]), 0
    for _ in range(600):
        R, S = quaternion_matrix(random_unit(rng, 4)), quaternion_matrix(random_unit(rng, 4))
        place = np.array(random_unit(rng)) * rng.uniform(0.6, 1.0)
        depth, normal = separation(as_box(ORIGIN, R, SIZES[0]), as_box(place, S, SIZES[1]))
        if not -0.1 < depth < 0.0:
            continue
        place = place - (depth - float(rng.choice([0.0, 1e-13, -1e-12, -1e-6, -1e-3]))) * np.array(normal)
        depth, _ = separation(as_box(ORIGIN, R, SIZES[0]), as_box(place, S, SIZES[1]))
        gap, found = collided(one, two, place, R, S)
        assert_allclose(gap, depth, atol=1e-14)
        assert in_shape(one, found.first, ORIGIN, R) < 1e-12
        assert in_shape(two, found.second, place, S) < 1e-12
        compared += 1
    assert compared > 50


@pytest.mark.parametrize("gap", [0.0, 1e-12, -1e-12, 1e-6, 1e-2])
def test_a_box_lies_on_four_points_however_it_is_turned(gap):
    turn = quaternion_matrix((math.cos(0.2), 0.0, 0.0, math.sin(0.2)))
    found, manifold = collided(block((1.0, 1.0, 0.2)), block((0.3, 0.4, 0.2)), (0.1, 0.2, 0.2 + gap), LEVEL, turn)
    assert_allclose(found, gap, atol=1e-15)
    assert_allclose(manifold.normal, (0.0, 0.0, 1.0), atol=1e-15)
    assert_allclose(manifold.gaps, gap, atol=1e-15)
    assert len(manifold.first) == 4
    eighth = quaternion_matrix((math.cos(math.pi / 8.0), 0.0, 0.0, math.sin(math.pi / 8.0)))
    _, octagon = collided(block((1.0, 1.0, 0.2)), block((1.0, 1.0, 0.2)), (0.0, 0.0, 0.2 + gap), LEVEL, eighth)
    assert len(octagon.first) == 8


def test_spheres_are_as_far_apart_as_their_centres_less_radii():
    gap, found = collided(sphere(0.3), sphere(0.2, (0.0, 0.0, 0.1)), (0.3, 0.4, -0.1))
    assert_allclose(gap, 0.0, atol=1e-15)
    assert_allclose(found.normal, (0.6, 0.8, 0.0), atol=1e-15)


def test_a_sphere_off_an_edge_and_off_a_corner_is_apart_along_the_way_between():
    for center in ((0.7, 0.1, 0.6), (0.7, 0.6, 0.8)):
        nearest = np.clip(center, -0.5, 0.5)
        gap, found = collided(block((1.0, 1.0, 1.0)), sphere(0.1), center)
        assert_allclose(gap, np.linalg.norm(center - nearest) - 0.1, atol=1e-14)
        assert_allclose(found.normal, (center - nearest) / np.linalg.norm(center - nearest), atol=1e-12)


def test_a_capsule_lies_on_a_box_and_along_another_on_two_points():
    lying = capsule((-0.3, 0.0, 0.0), (0.4, 0.0, 0.0), 0.1)
    gap, found = collided(block((1.0, 1.0, 1.0)), lying, (0.3, 0.0, 0.6))
    assert_allclose(gap, 0.0, atol=1e-15)
    assert_allclose(np.sort(found.second[:, 0]), (0.0, 0.5), atol=1e-12)
    gap, found = collided(lying, lying, (0.2, 0.0, 0.2))
    assert_allclose(gap, 0.0, atol=1e-15)
    assert_allclose(np.sort(found.second[:, 0]), (-0.1, 0.4), atol=1e-12)
    gap, found = collided(lying, lying, (1.0, 0.0, 0.0))
    assert_allclose(gap, 0.1, atol=1e-14)
    assert len(found.first) == 1


def test_the_other_way_round_is_the_same_turned_over():
    rng = np.random.default_rng(7)
    shapes = [block(SIZES[0]), capsule((0.0, 0.0, -0.3), (0.1, 0.0, 0.4), 0.15), sphere(0.2, (0.1, 0.0, 0.0)),
              Shape(tuple(map(tuple, rng.normal(size=(4, 3)))), 0.05)]  # fmt: skip
    for one in shapes:
        for two in shapes:
            R, S = quaternion_matrix(random_unit(rng, 4)), quaternion_matrix(random_unit(rng, 4))
            place = 3.0 * np.array(random_unit(rng))
            gap, found = collide(Collider(one), Collider(two), (ORIGIN, place), (R, S))
            back, turned = collide(Collider(two), Collider(one), (place, ORIGIN), (S, R))
            assert_allclose(gap, back, atol=1e-9)
            assert_allclose(found.normal, -turned.normal, atol=1e-6)


TETRAHEDRON = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SIDES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def test_faces_of_a_box_are_its_six_sides():
    shape = block((1.0, 2.0, 3.0), (0.1, 0.2, 0.3))
    assert len(shape.faces) == 6
    assert len(shape.edges) == 3
    for face in shape.faces:
        corners = shape.array[face.corners]
        assert len(corners) == 4
        assert_allclose(corners @ face.normal, (corners @ face.normal)[0])
        assert (shape.array @ face.normal).max() < (corners @ face.normal)[0] + 1e-12
    assert [len(there) for there in shape.faces_at] == [3] * 8


def test_corners_go_around_faces_and_sides_look_inwards():
    points = np.random.default_rng(3).normal(size=(14, 3))
    shape = Shape(tuple(map(tuple, 0.3 * points / np.linalg.norm(points, axis=1)[:, None])))
    edges = {
        frozenset((face.corners[k - 1], face.corners[k])) for face in shape.faces for k in range(len(face.corners))
    }
    assert len(shape.points) - len(edges) + len(shape.faces) == 2
    for face in shape.faces:
        corners = shape.array[face.corners]
        heights = np.einsum("kj,ikj->ik", face.sides, corners[:, None] - corners[None])
        assert heights.min() > -1e-12


def test_a_sphere_and_a_capsule_have_no_faces():
    for shape in (sphere(0.2), capsule((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), 0.1)):
        assert shape.faces == ()
    assert_allclose(capsule((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), 0.1).size, 1.1)


@refuses(
    (lambda: Shape(()), "no points"),
    (lambda: Shape(TETRAHEDRON[:3], 0.1), "do not span a volume"),
    (lambda: Shape((*TETRAHEDRON, (0.1, 0.1, 0.1))), "point 5 of a shape is not a corner"),
    (lambda: capsule((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 0.1), "use a sphere"),
    (lambda: block((1.0, 1.0)), "three numbers"),
    (lambda: cast("ball", TETRAHEDRON[:1], 1.0), "radius of a shape"),
)
def test_what_is_no_shape_is_told(make):
    make()


def test_a_cast_box_has_a_box_s_inertia_about_its_centre():
    size, center = (0.3, 0.4, 0.5), np.array([1.0, 2.0, 3.0])
    body, place = cast("box", np.array(box_corners(size)) + center, 100.0)
    assert_allclose(body.mass, 100.0 * np.prod(size))
    assert_allclose(place, center)
    assert_allclose(body.inertia, box_inertia(body.mass, size), atol=1e-12)


def test_a_cast_tetrahedron_has_its_centre_and_inertia():
    """For the corner of a cube: ∫x² = 1/60, ∫xy = 1/120, centre at ¼."""
    body, place = cast("corner", TETRAHEDRON, 6.0)
    assert_allclose(place, 0.25)
    square, mixed = 6.0 / 60.0 - 1.0 / 16.0, 6.0 / 120.0 - 1.0 / 16.0
    assert_allclose(body.inertia, 2.0 * square * np.eye(3) - mixed * (1.0 - np.eye(3)), atol=1e-12)
