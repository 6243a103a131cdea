"""Valid and invalid joints, bodies, contact points and boxes, with the messages."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biped import model as bm
from biped.kernels.tree import tree

NAN = float("nan")
UNIT_INERTIA = np.eye(3)


def says(*parts):
    """Return a context in which a `ModelError` with a single line that contains all ``parts`` must be raised."""
    return pytest.raises(bm.ModelError, match="^(?!(?s:.*\n))" + "".join(f"(?=.*{part})" for part in parts))


def body(name="a", mass=1.0, inertia=UNIT_INERTIA, com=(0, 0, 0), joint=None):
    return bm.Body(name, mass, inertia, com, joint or bm.floating("free"))


def test_axis_is_made_unit():
    np.testing.assert_allclose(bm.revolute("hinge", (3, 0, 4)).axis, (0.6, 0, 0.8), rtol=1e-15)


def test_unit_axis_keeps_its_bits():
    axis = bm.revolute("hinge", (1, 2, 3)).axis
    assert bm.revolute("hinge", axis).axis == axis


def test_numbers_are_kept_as_plain_floats():
    joint = bm.prismatic("slide", np.array([0, 0, 2]), np.array([1, 2, 3]))
    assert joint == bm.Joint("slide", "prismatic", (0.0, 0.0, 1.0), (1.0, 2.0, 3.0))
    assert all(type(value) is float for value in (*joint.axis, *joint.position))
    assert hash(joint) == hash(bm.prismatic("slide", (0.0, 0.0, 1.0), (1.0, 2.0, 3.0)))


@pytest.mark.parametrize(("joint", "nq", "nv"), [
    (bm.revolute("j", (1, 0, 0)), 1, 1),
    (bm.prismatic("j", (1, 0, 0)), 1, 1),
    (bm.spherical("j"), 4, 3),
    (bm.floating("j"), 7, 6),
    (bm.fixed("j"), 0, 0),
])  # fmt: skip
def test_coordinates_of_each_kind(joint, nq, nv):
    assert (joint.nq, joint.nv) == (nq, nv)
    assert joint.has_axis == (nv == 1)


def test_codes_are_those_of_the_kernels():
    axis = (1, 0, 0)
    joints = [bm.revolute("j", axis), bm.prismatic("j", axis), bm.spherical("j"), bm.floating("j")]
    assert [joint.code for joint in joints] == [tree.REVOLUTE, tree.PRISMATIC, tree.SPHERICAL, tree.FLOATING]


def test_flat_and_thin_bodies_are_bodies():
    body(inertia=np.diag([1, 2, 3]))  # a lamina: the limit of the triangle inequality
    body(inertia=np.diag([1e-12, 1, 1]))  # nearly a line


def test_bodies_cannot_be_changed():
    with pytest.raises(AttributeError):
        body().mass = 2.0


edges = st.tuples(*[st.floats(0.01, 10.0)] * 3)
angles = st.floats(-math.pi, math.pi)
directions = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda axis: np.linalg.norm(axis) > 0.1)


def test_inertia_of_a_box():
    assert bm.box_inertia(12.0, (1, 2, 3)) == ((13.0, 0.0, 0.0), (0.0, 10.0, 0.0), (0.0, 0.0, 5.0))


@given(mass=st.floats(0.1, 100.0), size=edges)
def test_box_size_is_the_inverse_of_box_inertia(mass, size):
    moments = np.diag(bm.box_inertia(mass, size))
    np.testing.assert_allclose(np.square(bm.box_size_of(mass, moments)), np.square(size), atol=1e-13 * max(size) ** 2)


@given(size=edges, axis=directions, angle=angles)
def test_turning_the_principal_axes_keeps_the_moments(size, axis, angle):
    moments = np.diag(bm.box_inertia(1.0, size))
    R = np.array(bm.rotation_about(axis, angle))
    turned = np.array(bm.principal_inertia(moments, R))
    np.testing.assert_allclose(turned @ R, R * moments, atol=1e-13 * max(moments))
    body(inertia=turned)


def test_rotation_follows_the_right_hand():
    np.testing.assert_allclose(np.array(bm.rotation_about((0, 0, 5), math.pi / 2)) @ (1, 0, 0), (0, 1, 0), atol=1e-15)


@pytest.mark.parametrize(("make", "parts"), [
    (lambda: bm.revolute("knee", (0, 0, 0)), ("joint 'knee': axis must not be zero",)),
    (lambda: bm.Joint("knee", "revolute"), ("joint 'knee': axis must not be zero",)),
    (lambda: bm.revolute("knee", (0, NAN, 0)), ("joint 'knee': axis must be 3 finite numbers", "nan")),
    (lambda: bm.revolute("knee", (0, 1)), ("joint 'knee': axis must be 3 finite numbers",)),
    (lambda: bm.revolute("knee", "up"), ("joint 'knee': axis must be 3 finite numbers", "'up'")),
    (lambda: bm.revolute("knee", (0, 1, 0), (0, 0, math.inf)), ("joint 'knee': position", "inf")),
    (lambda: bm.Joint("hip", "spherical", (1, 0, 0)), ("joint 'hip'", "spherical joint has no axis")),
    (lambda: bm.Joint("hip", "revolut", (1, 0, 0)), ("unknown joint kind 'revolut'", "did you mean 'revolute'")),
    (lambda: bm.revolute("", (0, 1, 0)), ("a joint needs a name",)),
    (lambda: bm.revolute(7, (0, 1, 0)), ("a joint needs a name", "7")),
    (lambda: body(mass=0), ("body 'a': mass = 0 kg, but the inertia is not zero",)),
    (lambda: body(mass=-2), ("body 'a': mass must not be below zero, got -2.0 kg",)),
    (lambda: body(mass=NAN), ("body 'a': mass must be a finite number, got nan",)),
    (lambda: body(mass=None), ("body 'a': mass must be a finite number, got None",)),
    (lambda: body(mass="heavy"), ("body 'a': mass must be a finite number, got 'heavy'",)),
    (lambda: body(inertia=(1, 1, 1)), ("body 'a': inertia must be 3 x 3 finite numbers",)),
    (lambda: body(inertia=np.diag([1, 1, NAN])), ("body 'a': inertia must be 3 x 3 finite numbers",)),
    (lambda: body(inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]), ("body 'a': inertia must be symmetric", "0.1")),
    (lambda: body(inertia=np.diag([1, 1, -1])), (r"\(-1, 1, 1\) kg m²", "none may be below zero")),
    (lambda: body(inertia=np.diag([1, 2, 3.1])), (r"\(1, 2, 3.1\) kg m²", "sum of the other two")),
    (lambda: body(com=(0, 0)), ("body 'a': com must be 3 finite numbers",)),
    (lambda: body(joint="hip"), ("body 'a': joint must be a Joint", "got 'hip'")),
    (lambda: body(name=" "), ("a body needs a name",)),
    (lambda: bm.Body("a", 1, UNIT_INERTIA, (0, 0, 0), bm.fixed("j"), 3), ("body 'a': the parent", "3")),
    (lambda: bm.ContactPoint("p", "foot", (0, 0, NAN)), ("contact point 'p': position must be 3 finite numbers",)),
    (lambda: bm.ContactPoint("", "foot", (0, 0, 0)), ("a contact point needs a name",)),
    (lambda: bm.ContactPoint("p", "", (0, 0, 0)), ("contact point 'p': the body needs a name",)),
    (lambda: bm.Box("foot", (1, 0, 1)), ("box on 'foot': each edge must be above zero, got 0.0 m",)),
    (lambda: bm.Box("foot", (1, 1, 1), (NAN, 0, 0)), ("box on 'foot': center must be 3 finite numbers",)),
    (lambda: bm.Box("foot", (1, 1, 1), rotation=2 * np.eye(3)), ("box on 'foot': rotation must be a rotation",)),
    (lambda: bm.Box("foot", (1, 1, 1), rotation=-np.eye(3)), ("box on 'foot': rotation must be a rotation",)),
    (lambda: bm.Visual("foot", "cone"), ("visual on 'foot': unknown form 'cone'",)),
    (lambda: bm.Visual("foot", "mesh"), ("visual on 'foot': form = 'mesh', file = '': a mesh has a file",)),
    (lambda: bm.Visual("foot", "box", (1, 0, 1)), ("visual on 'foot': size = .*: edges must be above zero",)),
    (lambda: bm.Line("", None), ("a line: the body needs a name",)),
    (lambda: bm.Line("foot", None, (0, NAN, 0)), ("line from 'foot' to None: begin must be 3 finite numbers",)),
    (lambda: bm.Line("foot", None, color=(0, 0, 255)), ("line from 'foot' to None: color", "from 0 to 1")),
    (lambda: bm.box_size_of(1.0, (1, 1, 2)), (r"no box has principal moments \(1.0, 1.0, 2.0\)",)),
    (lambda: bm.box_inertia(0.0, (1, 1, 1)), ("mass of the box must be above zero",)),
    (lambda: bm.box_inertia(1.0, (1, -1, 1)), ("edge of the box must be above zero, got -1.0 m",)),
    (lambda: bm.principal_inertia((1, 1, 1), np.ones((3, 3))), ("rotation of the principal axes",)),
    (lambda: bm.rotation_about((0, 0, 0), 1.0), ("axis of rotation must not be zero",)),
])  # fmt: skip
def test_what_cannot_be_is_refused(make, parts):
    with says(*parts):
        make()
