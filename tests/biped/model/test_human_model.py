"""The human against the printed numbers of Wendlandt (1997), section 4.1, and the posture of section 4.3."""

import math

import numpy as np
import pinocchio as pin
import pytest

from biped import model as bm
from biped.kernels.tree.tree import FLOATING, REVOLUTE
from biped.model.joint import KINDS

# Section 4.1 with the slip settled: link -> (mass [kg], place of the centre of mass at home [cm], moments [kg m²]).
PRINTED = {
    1: (45.0, (0, 0, 123), (1.67, 1.58, 0.581)),
    2: (0.343, (0, -15, 96), (0.00028, 0.00028, 0.00028)),
    3: (0.343, (0, -15, 96), (0.00028, 0.00028, 0.00028)),
    4: (7.5, (0, -15, 73), (0.163, 0.171, 0.0198)),
    5: (4.79, (0, -15, 28), (0.0961, 0.0959, 0.00784)),
    6: (0.343, (0, -15, 6), (0.00028, 0.00028, 0.00028)),
    7: (1.455, (-5.325, -15, 3.473), (0.00189, 0.00608, 0.00662)),
    8: (0.343, (0, 15, 96), (0.00028, 0.00028, 0.00028)),
    9: (0.343, (0, 15, 96), (0.00028, 0.00028, 0.00028)),
    10: (7.5, (0, 15, 73), (0.163, 0.171, 0.0198)),
    11: (4.79, (0, 15, 28), (0.0961, 0.0959, 0.00784)),
    12: (0.343, (0, 15, 6), (0.00028, 0.00028, 0.00028)),
    13: (1.455, (-5.325, 15, 3.473), (0.00189, 0.00608, 0.00662)),
}
JOINT_HEIGHTS = [96, 96, 96, 50, 6, 6]  # [cm] joints 2..7
FEET = {7, 13}


@pytest.fixture(scope="module")
def model():
    return bm.human()


def test_sizes(model):
    assert (model.n, model.nq, model.nv, model.nc) == (13, 19, 18, 8)


def test_total_mass_is_the_sum_of_the_printed_masses(model):
    assert model.total_mass == 74.548


@pytest.mark.parametrize("link", PRINTED)
def test_link(model, link):
    mass, com, moments = PRINTED[link]
    body = model.bodies[link - 1]
    assert body.mass == mass
    np.testing.assert_allclose(model.home_positions[link - 1], np.array(com) / 100, atol=1e-15)
    tilt = math.radians(-8.547) if link in FEET else 0.0  # about +Y
    R = np.array(pin.rpy.rpyToMatrix(0.0, tilt, 0.0))
    np.testing.assert_allclose(body.inertia, R @ np.diag(moments) @ R.T, atol=1e-17, rtol=1e-14)


def test_the_toes_of_the_tilted_foot_are_lower(model):
    """Its long principal axis, seen from the heel, goes towards −X and down."""
    moments, axes = np.linalg.eigh(model.bodies[6].inertia)
    long = axes[:, np.argmin(moments)]
    long = long * -np.sign(long[0])
    np.testing.assert_allclose(long, (-math.cos(math.radians(8.547)), 0, -math.sin(math.radians(8.547))), atol=1e-12)


def test_joints(model):
    left = ["hip_roll", "hip_pitch", "hip_yaw", "knee_pitch", "ankle_roll", "ankle_pitch"]
    assert model.joint_names == tuple(f"{side}_{name}" for side in ("left", "right") for name in left)
    assert [model.dof(name) for name in model.joint_names] == list(range(6, 18))
    assert [model.coordinate(name) for name in model.joint_names] == list(range(7, 19))
    tree = model.tree
    assert list(tree.kind) == [FLOATING] + [REVOLUTE] * 12
    assert list(tree.parent) == [-1, 0, 1, 2, 3, 4, 5, 0, 7, 8, 9, 10, 11]
    np.testing.assert_array_equal(tree.axis[1:7], np.eye(3)[[0, 1, 2, 1, 0, 1]])
    np.testing.assert_array_equal(tree.axis[7:], tree.axis[1:7])
    joints = model.home_positions - tree.com_offset
    for first, y in ((1, -0.15), (7, 0.15)):
        np.testing.assert_allclose(joints[first : first + 6, 2], np.array(JOINT_HEIGHTS) / 100, atol=1e-15)
        np.testing.assert_array_equal(joints[first : first + 6, :2], [[0, y]] * 6)


def test_root(model):
    assert (model.root.name, model.root.joint.name) == ("trunk", "body")
    np.testing.assert_array_equal(model.neutral()[:7], [0, 0, 1.23, 1, 0, 0, 0])


def test_soles_at_home(model):
    """On the floor, 0.211 m by 0.10 m; toe before heel, outer before inner, the right foot a mirror image."""
    tree = model.tree
    points = model.home_positions[tree.contact_body] + tree.contact_offset
    left, right = points[:4], points[4:]
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-15)
    np.testing.assert_allclose(left[:, 0], [-0.159, -0.159, 0.052, 0.052], atol=1e-15)
    np.testing.assert_allclose(left[:, 1], [-0.20, -0.10, -0.10, -0.20], atol=1e-15)
    np.testing.assert_allclose(right, left * [1, -1, 1], atol=1e-15)
    assert model.contact_names == ("left_1", "left_2", "left_3", "left_4", "right_1", "right_2", "right_3", "right_4")
    assert model.feet == ("left_foot", "right_foot")


def test_left_and_right_mirror_each_other(model):
    mirror = np.diag([1.0, -1.0, 1.0])
    for left, right in zip(model.bodies[1:7], model.bodies[7:], strict=True):
        assert left.mass == right.mass
        np.testing.assert_allclose(mirror @ left.inertia @ mirror, right.inertia, atol=1e-18)
        np.testing.assert_array_equal(mirror @ left.com, right.com)
        np.testing.assert_array_equal(mirror @ left.joint.position, right.joint.position)


def test_boxes_have_the_printed_moments(model):
    trunk, left, right = model.shapes
    np.testing.assert_allclose(trunk.size, bm.box_size_of(45.0, PRINTED[1][2]), atol=0.0005)
    for foot in (left, right):
        np.testing.assert_allclose(foot.size, bm.box_size_of(1.455, PRINTED[7][2]), atol=0.0005)
    assert [shape.body for shape in model.shapes] == ["trunk", "left_foot", "right_foot"]


def test_sole_boxes_end_at_the_contact_points(model):
    for shape in model.shapes[1:]:
        corners = np.array([p.position for p in model.contact_points if p.body == shape.body])
        np.testing.assert_allclose(corners.min(axis=0)[:2], np.subtract(shape.center, np.divide(shape.size, 2))[:2])
        np.testing.assert_allclose(corners.max(axis=0)[:2], np.add(shape.center, np.divide(shape.size, 2))[:2])
        assert corners[0, 2] == pytest.approx(shape.center[2] - shape.size[2] / 2, abs=1e-15)


def test_the_initial_posture_has_flat_feet_just_above_the_floor(model):
    """Section 4.3: 5° about −Y, hip 40°, knee −77.4595°, ankle 42.4595°, the trunk at 103.5 cm: soles at 0.46 cm."""
    half = math.radians(2.5)
    angles = {"hip_pitch": 40.0, "knee_pitch": -77.4595, "ankle_pitch": 42.4595}
    q = model.configuration(
        position=(0, 0, 1.035),
        orientation=(math.cos(half), 0, -math.sin(half), 0),
        angles={f"{side}_{joint}": math.radians(a) for side in ("left", "right") for joint, a in angles.items()},
    )
    twin = bm.to_pinocchio(model)
    data = twin.createData()
    pin.framesForwardKinematics(twin, data, bm.configuration_to_pinocchio(model, q))
    heights = [data.oMf[twin.getFrameId(name)].translation[2] for name in model.contact_names]
    assert np.ptp(heights) < 1e-12
    assert heights[0] == pytest.approx(0.0046, abs=5e-5)


VERTICES = [  # as printed [m]
    (0.15, -0.2, -0.1), (0.15, 0.2, -0.1), (-0.15, 0.2, -0.1), (-0.15, -0.2, -0.1),
    (0.15, -0.2, 0.1), (0.15, 0.2, 0.1), (-0.15, 0.2, 0.1), (-0.15, -0.2, 0.1),
]  # fmt: skip


def test_box_of_the_thesis():
    box = bm.rigid_box(70.0, (0.30, 0.40, 0.20))
    assert (box.n, box.nq, box.nv) == (1, 7, 6)
    assert box.total_mass == 70.0
    assert box.root.inertia == bm.box_inertia(70.0, (0.30, 0.40, 0.20))
    np.testing.assert_allclose(box.tree.contact_offset, VERTICES, atol=1e-15)
    assert box.contact_names == tuple(f"box_{i}" for i in range(1, 9))
    assert box.shapes[0].size == (0.30, 0.40, 0.20)


def test_a_block_has_its_own_name():
    block = bm.rigid_box(1.8, (0.1, 0.1, 0.1), name="block")
    assert block.body_names == ("block",)
    assert block.contact_names[0] == "block_1"


@pytest.mark.parametrize(("mass", "size"), [(0.0, (1, 1, 1)), (1.0, (1, 0, 1)), (1.0, (1, 1))])
def test_wrong_box(mass, size):
    with pytest.raises(bm.ModelError, match="of the box"):
        bm.rigid_box(mass, size)


def test_chain_hangs_straight_down():
    model = bm.chain(3, length=0.5, mass=2.0)
    np.testing.assert_allclose(model.home_positions, [(0, 0, -0.25), (0, 0, -0.75), (0, 0, -1.25)], atol=1e-15)
    np.testing.assert_array_equal(model.tree.axis, [(0, 1, 0), (1, 0, 0), (0, 1, 0)])
    assert model.total_mass == 6.0
    assert (model.n, model.nq, model.nv) == (3, 3, 3)


@pytest.mark.parametrize("make", [lambda: bm.chain(0), lambda: bm.chain(2, mass=0.0), lambda: bm.chain(2, length=-1.0)])
def test_wrong_chain(make):
    with pytest.raises(bm.ModelError):
        make()


def test_random_trees_depend_on_the_generator_only():
    first, again, other = (bm.random_tree(np.random.default_rng(seed), 8, contacts=3) for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_random_trees_have_every_kind_of_joint():
    model = bm.random_tree(np.random.default_rng(0), 30, kinds=("revolute", "prismatic", "helical", "spherical"))
    assert {body.joint.kind for body in model.bodies} == set(KINDS) - {"fixed"}
    assert not bm.random_tree(np.random.default_rng(0), 30, floating=False).is_floating


def test_wrong_random_tree():
    with pytest.raises(bm.ModelError, match="at least one"):
        bm.random_tree(np.random.default_rng(0), 0)
