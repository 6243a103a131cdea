"""Shapes of bodies: their faces, what is no shape, and bodies cast of them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biped.model import box_inertia
from formulations.assembly import AssemblyError, Shape, block, capsule, cast, convex_mesh, sphere
from formulations.assembly.shapes import box_corners
from tests.refusals import refuses

TETRAHEDRON = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SIDES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def random_hull(rng, count=14):
    points = rng.normal(size=(count, 3))
    return Shape(tuple(map(tuple, 0.3 * points / np.linalg.norm(points, axis=1)[:, None])))


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
    """Euler's formula, and all corners of a face on the inner side of each of its sides."""
    shape = random_hull(np.random.default_rng(3))
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
    (lambda: Shape((*TETRAHEDRON, (0.1, 0.1, 0.1))), "point 5 of a shape is no corner"),
    (lambda: capsule((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 0.1), "make it a sphere"),
    (lambda: block((1.0, 1.0)), "three edges"),
    (lambda: cast("ball", TETRAHEDRON[:1], 1.0), "radius of a shape"),
    (lambda: convex_mesh(TETRAHEDRON, ((0, 1, 4),)), "vertices 0 to 3"),
)
def test_what_is_no_shape_is_told(make):
    make()


def test_a_mesh_that_is_not_convex_is_told():
    """A tetrahedron with its last face pushed in to a fifth vertex."""
    dent = (0.2, 0.2, 0.2)
    sides = (*SIDES[:3], (1, 2, 4), (2, 3, 4), (3, 1, 4))
    with pytest.raises(AssemblyError, match="not convex"):
        convex_mesh((*TETRAHEDRON, dent), sides)
    assert len(convex_mesh(TETRAHEDRON, SIDES).faces) == 4


def test_a_cast_box_has_a_box_s_inertia_about_its_centre():
    size, center = (0.3, 0.4, 0.5), np.array([1.0, 2.0, 3.0])
    body, place = cast("box", np.array(box_corners(size)) + center, 100.0)
    assert_allclose(body.mass, 100.0 * np.prod(size))
    assert_allclose(place, center)
    assert_allclose(body.inertia, box_inertia(body.mass, size), atol=1e-12)


def test_a_cast_tetrahedron_has_its_centre_and_inertia():
    """Of the corner of a cube: ∫x² = 1/60, ∫xy = 1/120 and the centre at ¼."""
    body, place = cast("corner", TETRAHEDRON, 6.0)
    assert_allclose(place, 0.25)
    square, mixed = 6.0 / 60.0 - 1.0 / 16.0, 6.0 / 120.0 - 1.0 / 16.0
    assert_allclose(body.inertia, 2.0 * square * np.eye(3) - mixed * (1.0 - np.eye(3)), atol=1e-12)
