"""The model: order and merging of bodies, names and indices, the kernels' arrays, configurations."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from biped import Observation
from biped import model as bm
from biped.model.geometry import quaternion_matrix

from ...conftest import said_by

INERTIA = np.eye(3)
Y = (0, 1, 0)


def body(name, parent=None, joint=None, com=(0, 0, 0), mass=1.0):
    default = bm.floating(f"{name}_joint") if parent is None else bm.revolute(f"{name}_joint", Y)
    return bm.Body(name, mass, INERTIA, com, joint or default, parent)


def says(*parts):
    return pytest.raises(bm.ModelError, match="^(?!(?s:.*\n))" + "".join(f"(?=.*{part})" for part in parts))


def test_bodies_are_sorted_depth_first_and_siblings_keep_their_order():
    given_order = [
        body("b2", "b"), body("b", "root"), body("a1", "a"), body("root"), body("a", "root"), body("b1", "b"),
    ]  # fmt: skip
    model = bm.Model("m", given_order)
    assert model.body_names == ("root", "b", "b2", "b1", "a", "a1")
    assert list(model.tree.parent) == [-1, 0, 1, 1, 0, 4]


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 30))
@settings(max_examples=50)
def test_any_order_of_the_bodies_gives_parents_first(seed, n):
    rng = np.random.default_rng(seed)
    original = bm.random_tree(rng, n)
    shuffled = replace(original, bodies=tuple(original.bodies[i] for i in rng.permutation(n)))
    assert np.all(shuffled.tree.parent < np.arange(n))
    assert set(shuffled.bodies) == set(original.bodies)
    assert replace(shuffled) == shuffled  # sorting what is sorted changes nothing


@pytest.mark.parametrize(("bodies", "parts"), [
    ([], ("a model needs a root", "parent is None")),
    ([body("a"), body("b", None, bm.revolute("r", Y))], ("'a_joint' of body 'a' floats", "no body may float if")),
    ([body("a", "b"), body("b", "a")], ("a model needs a root", "parent is None")),
    ([body("r"), body("a", "b"), body("b", "a")], ("bodies 'a', 'b' are not connected to the root", "circle")),
    ([body("r"), body("a", "a")], ("bodies 'a' are not connected to the root",)),
    ([body("r"), body("r", "r")], ("two bodies are named 'r'",)),
    ([body("r"), body("a", "r", bm.revolute("r_joint", Y))], ("two joints are named 'r_joint'",)),
    ([body("thigh"), body("shank", "thig")], ("body 'shank': parent: unknown body 'thig'", "did you mean 'thigh'")),
    ([body("r"), body("a", "r", bm.floating("f"))], ("joint 'f' of body 'a' floats; only the root may float",)),
    ([body("g", None, bm.fixed("g"))], ("root 'g' and all other bodies are fixed to the ground", "moving joint")),
])  # fmt: skip
def test_bodies_that_are_no_tree(bodies, parts):
    with says(*parts):
        bm.Model("m", bodies)


@pytest.mark.parametrize(("changes", "parts"), [
    ({"name": ""}, ("a model needs a name",)),
    ({"gravity": (0, 0)}, ("model 'human': gravity must be 3 finite numbers",)),
    ({"feet": ("left_hand",)}, ("feet: unknown body 'left_hand'", "bodies are trunk")),
    ({"feet": ("left_foot", "left_foot")}, ("two feet are named 'left_foot'",)),
    ({"shapes": (bm.Box("tail", (1, 1, 1)),)}, ("box on 'tail': unknown body 'tail'",)),
    ({"contact_points": (bm.ContactPoint("p", "foot", (0, 0, 0)),)}, ("contact point 'p': unknown body 'foot'",)),
    ({"contact_points": (bm.ContactPoint("p", "trunk", (0, 0, 0)),) * 2}, ("two contact points are named 'p'",)),
])  # fmt: skip
def test_wrong_model(changes, parts):
    with says(*parts):
        replace(bm.human(), **changes)


def test_weld_moves_what_hangs_on_it():
    model = bm.Model(
        "m",
        [body("root", mass=2.0), body("sensor", "root", bm.fixed("weld", (1, 0, 0)), com=(0, 0, 3), mass=1.0),
         body("arm", "sensor", bm.revolute("shoulder", Y, (0, 1, 0)))],
        contact_points=[bm.ContactPoint("p", "sensor", (0, 0, 1))], shapes=[bm.Box("sensor", (1, 1, 1), (0, 2, 0))],
        visuals=[bm.Visual("sensor", "sphere", center=(0, 0, 4))],
        lines=[bm.Line(None, "sensor", (1, 2, 3), (0, 0, 5))], feet=["sensor"],
    )  # fmt: skip
    assert model.body_names == ("root", "arm")
    assert model.root.mass == 3.0
    np.testing.assert_allclose(model.root.com, (1 / 3, 0, 1), atol=1e-15)
    assert model.bodies[1].joint.position == (1, 1, 0)
    assert model.bodies[1].parent == "root"
    assert model.contact_points == (bm.ContactPoint("p", "root", (1, 0, 1)),)
    assert model.shapes == (bm.Box("root", (1, 1, 1), (1, 2, 0)),)
    assert model.visuals == (bm.Visual("root", "sphere", center=(1, 0, 4)),)
    assert model.lines == (bm.Line(None, "root", (1, 2, 3), (1, 0, 5)),)
    assert model.feet == ("root",)


def test_two_halves_of_a_box_welded_together_are_the_box():
    half = bm.box_inertia(1.0, (1, 1, 1))
    left = bm.Body("left", 1.0, half, (0, 0, 0), bm.floating("free", (-0.5, 0, 0)))
    right = bm.Body("right", 1.0, half, (0, 0, 0), bm.fixed("weld", (1, 0, 0)), "left")
    (whole,) = bm.Model("m", [right, left]).bodies
    np.testing.assert_allclose(whole.inertia, bm.box_inertia(2.0, (2, 1, 1)), atol=1e-15)
    np.testing.assert_allclose(whole.com, (0.5, 0, 0), atol=1e-15)


def test_what_is_welded_to_the_ground_vanishes():
    ground = body("ground", None, bm.fixed("bolts", (0, 0, 1)))
    model = bm.Model("m", [ground, body("arm", "ground", bm.revolute("shoulder", Y, (0, 0, 2)))])
    assert model.body_names == ("arm",)
    assert model.root.joint == bm.revolute("shoulder", Y, (0, 0, 3))
    with says("feet: body 'ground' is fixed to the ground"):
        bm.Model("m", [ground, body("arm", "ground")], feet=["ground"])


@given(seed=st.integers(0, 2**32 - 1), floats=st.booleans())
@settings(max_examples=40)
def test_merged_welds_are_pinocchios_locked_joints(seed, floats):
    """Joints made fixed in the model against joints locked in Pinocchio: the same mass matrix and gravity."""
    rng = np.random.default_rng(seed)
    moving = bm.random_tree(rng, 10, floating=floats)
    locked = [i for i in range(1, 10) if rng.random() < 0.4]
    bodies = [
        replace(b, joint=bm.fixed(b.joint.name, b.joint.position)) if i in locked else b
        for i, b in enumerate(moving.bodies)
    ]
    model = bm.Model("welded", bodies)
    assert model.n == 10 - len(locked)
    full = bm.to_pinocchio(moving)
    reduced = pin.buildReducedModel(full, [i + 1 for i in locked], pin.neutral(full))
    if floats:  # Pinocchio leaves the frame of the floating joint where the root's own centre of mass is
        shift = np.array(model.root.com) - np.array(moving.root.com)
        reduced = _with_frame_at_com(reduced, shift)
    merged = bm.to_pinocchio(model)
    for _ in range(3):
        q = pin.randomConfiguration(merged, -np.ones(merged.nq), np.ones(merged.nq))
        M, expected = pin.crba(merged, merged.createData(), q), pin.crba(reduced, reduced.createData(), q)
        np.testing.assert_allclose(M, expected, atol=1e-11)
        gravity = pin.computeGeneralizedGravity(merged, merged.createData(), q)
        np.testing.assert_allclose(gravity, pin.computeGeneralizedGravity(reduced, reduced.createData(), q), atol=1e-10)


def _with_frame_at_com(reduced, shift):
    moved = reduced.copy()
    back = pin.SE3(np.eye(3), -shift)
    moved.inertias[1] = back.act(reduced.inertias[1])
    for joint in range(2, moved.njoints):
        if moved.parents[joint] == 1:
            moved.jointPlacements[joint] = back * reduced.jointPlacements[joint]
    return moved


def test_names_and_indices():
    model = bm.Model("m", [
        body("root", None, bm.floating("base")),
        body("upper", "root", bm.spherical("ball")),
        body("lower", "upper", bm.prismatic("slide", Y)),
        body("end", "lower", bm.revolute("hinge", Y)),
    ])  # fmt: skip
    assert (model.n, model.nq, model.nv) == (4, 13, 11)
    assert model.joint_names == ("slide", "hinge")
    assert (model.coordinate("hinge"), model.dof("hinge")) == (12, 10)
    assert model.coordinates("ball") == slice(7, 11)
    assert model.dofs("ball") == slice(6, 9)
    assert model.dofs("base") == slice(0, 6)
    assert (model.body_index("lower"), model.joint_index("slide")) == (2, 2)
    assert model.coordinate_names == (
        *("base_x", "base_y", "base_z", "base_qw", "base_qx", "base_qy", "base_qz"),
        *("ball_qw", "ball_qx", "ball_qy", "ball_qz", "position_slide", "angle_hinge"),
    )
    assert model.velocity_names == (
        *("base_vx", "base_vy", "base_vz", "base_wx", "base_wy", "base_wz"),
        *("ball_wx", "ball_wy", "ball_wz", "rate_slide", "rate_hinge"),
    )


@pytest.mark.parametrize(("ask", "parts"), [
    (lambda m: m.dof("knee"), ("unknown joint 'knee'", "did you mean 'left_knee_pitch'", "joints are left_hip")),
    (lambda m: m.dof("body"), ("unknown joint 'body'",)),
    (lambda m: m.coordinate("left_hip_rol"), ("did you mean 'left_hip_roll'",)),
    (lambda m: m.body_index("lft_foot"), ("unknown body 'lft_foot'", "'left_foot'", "bodies are trunk, ")),
    (lambda m: m.joint_index("x"), ("unknown joint 'x'", "joints are body, left_hip_roll")),
    (lambda m: m.contact_index("left_5"), ("unknown contact point 'left_5'", "contact points are left_1")),
    (lambda m: m.without_contacts().contact_index("left_1"), ("there are no contact points",)),
])  # fmt: skip
def test_unknown_names(ask, parts):
    with says(*parts):
        ask(bm.human())


def test_arrays_are_contiguous_and_of_the_kernels_types():
    model = bm.random_tree(np.random.default_rng(1), 7, contacts=3)
    for model_ in (model, model.without_contacts(), bm.chain(1)):
        integers = {"parent", "kind", "first_q", "first_v", "dofs", "contact_body"}
        for name, array in model_.tree._asdict().items():
            assert array.flags.c_contiguous, name
            assert array.dtype == (np.int64 if name in integers else np.float64), name
        assert model_.tree.contact_offset.shape == (model_.nc, 3)
        assert model_.tree.inertia.shape == (model_.n, 9)
    assert model.tree is model.tree


def test_offsets_lead_to_the_home_positions():
    thigh = body("thigh", "trunk", bm.revolute("hip", Y, (0, 0, -1)), com=(0, 0, -0.25))
    foot = body("foot", "thigh", bm.revolute("ankle", Y, (0, 0, -0.5)), com=(0.1, 0, 0))
    trunk = body("trunk", None, bm.floating("base", (0, 0, 2)), com=(0.5, 0, 0))
    model = bm.Model("m", [trunk, thigh, foot], [bm.ContactPoint("toe", "foot", (0.3, 0, 0))])
    np.testing.assert_allclose(model.home_positions, [(0.5, 0, 2), (0, 0, 0.75), (0.1, 0, 0.5)], atol=1e-15)
    np.testing.assert_allclose(model.tree.joint_offset[1], (-0.5, 0, -1), atol=1e-15)
    np.testing.assert_allclose(model.tree.com_offset, [(0, 0, 0), (0, 0, -0.25), (0.1, 0, 0)], atol=1e-15)
    np.testing.assert_allclose(model.tree.contact_offset, [(0.2, 0, 0)], atol=1e-15)
    np.testing.assert_allclose(model.neutral(), [0.5, 0, 2, 1, 0, 0, 0, 0, 0], atol=1e-15)


@given(seed=st.integers(0, 2**32 - 1), floats=st.booleans())
@settings(max_examples=30)
def test_home_positions_are_pinocchios(seed, floats):
    model = bm.random_tree(np.random.default_rng(seed), 9, floating=floats)
    twin = bm.to_pinocchio(model)
    data = twin.createData()
    pin.forwardKinematics(twin, data, bm.configuration_to_pinocchio(model, model.neutral()))
    found = [data.oMi[i].act(twin.inertias[i].lever) for i in range(1, twin.njoints)]
    np.testing.assert_allclose(found, model.home_positions, atol=1e-13)


def test_configuration():
    model = bm.human()
    q = model.configuration((1, 2, 3), (0, 0, 0, -1), {"right_knee_pitch": -0.5})
    np.testing.assert_array_equal(q[:7], [1, 2, 3, 0, 0, 0, -1])
    assert q[model.coordinate("right_knee_pitch")] == -0.5
    assert np.count_nonzero(q[7:]) == 1
    np.testing.assert_array_equal(model.configuration(), model.neutral())


def test_printed_quaternions_are_made_unit():
    q = bm.human().configuration(orientation=(0.99905, 0, -0.04362, 0))
    assert abs(np.linalg.norm(q[3:7]) - 1) < 1e-15


def test_spherical_joints_take_quaternions():
    model = bm.Model("m", [body("a", None, bm.spherical("ball"))])
    np.testing.assert_array_equal(model.configuration(angles={"ball": (0, 1, 0, 0)}), (0, 1, 0, 0))


@pytest.mark.parametrize(("ask", "parts"), [
    (lambda: bm.human().configuration(angles={"left_knee": 1}), ("unknown joint 'left_knee'", "'left_knee_pitch'")),
    (lambda: bm.human().configuration(angles={"body": 1}), ("unknown joint 'body'",)),
    (lambda: bm.human().configuration(angles={"left_hip_roll": None}), ("left_hip_roll", "finite number")),
    (lambda: bm.human().configuration(position=(0, 0)), ("position must be 3 finite numbers",)),
    (lambda: bm.human().configuration(orientation=(1, 1, 0, 0)), ("unit quaternion", "norm 1.41421")),
    (lambda: bm.chain(2).configuration(position=(0, 0, 1)), ("position", "'joint_1' is revolute")),
    (lambda: bm.chain(2).configuration(orientation=(1, 0, 0, 0)), ("orientation must be left out", "not floating")),
])  # fmt: skip
def test_wrong_configuration(ask, parts):
    with says(*parts):
        ask()


def test_variations_leave_the_original_alone():
    model = bm.human()
    weightless = model.with_gravity((0, 0, 0))
    assert weightless.gravity == (0, 0, 0)
    assert model.gravity == (0, 0, -9.81)
    assert weightless.without_contacts().nc == 0
    (point,) = model.with_contact_points([bm.ContactPoint("nose", "trunk", (-0.1, 0, 0.5))]).contact_points
    assert point.name == "nose"
    assert model == bm.human()
    assert hash(model) == hash(bm.human())


def test_models_can_be_sent_to_another_process():
    model = bm.human()
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model
    np.testing.assert_array_equal(copy.tree.inertia, model.tree.inertia)


def test_description():
    table = bm.human().describe()
    assert list(table.index) == list(bm.human().body_names)
    shank = table.loc["left_shank"]
    assert shank[["parent", "joint", "kind", "axis"]].tolist() == ["left_thigh", "left_knee_pitch", "revolute", "Y"]
    assert shank["mass"] == 4.79
    assert shank["home_z"] == pytest.approx(0.28, abs=1e-15)


def test_importing_the_package_imports_no_large_library():
    script = "import sys, biped.model; biped.model.human().tree; print(*sorted(sys.modules))"
    assert not {"pinocchio", "pandas", "matplotlib", "scipy"} & set(said_by(script).split())


def test_angles_in_degrees_and_turns_by_roll_pitch_and_yaw(person):
    q = person.configuration(orientation=(10.0, -20.0, 30.0), angles={"left_knee_pitch": -77.0}, degrees=True)
    same = person.configuration(
        orientation=np.radians((10.0, -20.0, 30.0)), angles={"left_knee_pitch": np.radians(-77.0)}
    )
    assert np.array_equal(q, same)
    turned = Rotation.from_euler("xyz", (10.0, -20.0, 30.0), degrees=True)
    np.testing.assert_allclose(quaternion_matrix(q[3:7]), turned.as_matrix(), atol=1e-15)
    seen = Observation(person, 0.0, q, np.zeros(person.nv))
    np.testing.assert_allclose(np.degrees(seen.rpy), (10.0, -20.0, 30.0), atol=1e-12)


@pytest.mark.parametrize("wrong", [(0.1, 0.2), (1.0,), "upright"])
def test_an_orientation_is_three_or_four_numbers(person, wrong):
    with pytest.raises(bm.ModelError, match=r"quaternion .* or \(roll, pitch, yaw\)"):
        person.configuration(orientation=wrong)


def test_angles_that_were_meant_in_degrees_are_refused():
    with pytest.raises(
        bm.ModelError, match=r"'left_knee_pitch'\] = -77 rad is more than a full turn, 2π; .* pass degrees=True"
    ):
        bm.human().configuration(angles={"left_knee_pitch": -77.0})
    degrees = bm.human().configuration(angles={"left_knee_pitch": -77.0}, degrees=True)
    assert degrees[bm.human().coordinate("left_knee_pitch")] == math.radians(-77.0)
