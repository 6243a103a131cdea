"""URDF: saved models are restored, other files mean the same as to Pinocchio, and errors are reported."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biped import model as bm

# Files of others have limits, and are told to be without.
pytestmark = pytest.mark.filterwarnings("ignore::biped.model.errors.ModelWarning")

EXAMPLE = Path(__file__).parents[3] / "examples" / "human.urdf"


def assert_same(found, expected, tolerance=1e-12):
    assert found.name == expected.name
    assert found.body_names == expected.body_names
    assert found.coordinate_names == expected.coordinate_names
    assert found.contact_names == expected.contact_names
    assert found.feet == expected.feet
    for name in expected.tree._fields:
        ours, theirs = getattr(found.tree, name), getattr(expected.tree, name)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance, err_msg=name)
    np.testing.assert_allclose(found.neutral(), expected.neutral(), rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    "model", [bm.human(), bm.chain(5), bm.rigid_box(70, (0.3, 0.4, 0.2))], ids=lambda model: model.name
)
def test_round_trip(model, tmp_path):
    bm.save_urdf(model, tmp_path / "model.urdf")
    found = bm.load_urdf(tmp_path / "model.urdf")
    assert_same(found, model)
    assert found.shapes == model.shapes


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 15), floats=st.booleans())
@settings(max_examples=50)
def test_round_trip_of_random_trees(seed, n, floats):
    model = bm.random_tree(np.random.default_rng(seed), n, floating=floats, kinds=("revolute", "prismatic"), contacts=3)
    model = model.with_gravity((0.1, -0.2, -9.7))
    assert_same(bm.load_urdf(bm.urdf_text(model)), model)


@given(axis=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1), angle=st.floats(-3, 3))
def test_round_trip_of_turned_boxes(axis, angle):
    turned = bm.Box("box", (0.1, 0.2, 0.3), (1, 2, 3), bm.rotation_about(axis, angle))
    (found,) = bm.load_urdf(bm.urdf_text(replace(bm.rigid_box(1, (1, 1, 1)), shapes=(turned,)))).shapes
    np.testing.assert_allclose(found.rotation, turned.rotation, atol=1e-7)
    np.testing.assert_allclose(found.center, turned.center, atol=1e-15)


def test_box_turned_where_roll_and_yaw_coincide():
    turned = bm.Box("box", (0.1, 0.2, 0.3), rotation=[[0, -0.6, 0.8], [0, 0.8, 0.6], [-1, 0, 0]])
    (found,) = bm.load_urdf(bm.urdf_text(replace(bm.rigid_box(1, (1, 1, 1)), shapes=(turned,)))).shapes
    np.testing.assert_allclose(found.rotation, turned.rotation, atol=1e-14)


def test_the_example_is_a_fresh_export_of_the_human():
    """Texts are equal; numbers are to 1e-15, since the last bit of the rotated foot depends on the processor."""
    found, expected = (
        re.split(r'[\s"]+', text) for text in (EXAMPLE.read_text(encoding="utf-8"), bm.urdf_text(bm.human()))
    )
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == theirs or float(ours) == pytest.approx(float(theirs), abs=1e-15)
    assert_same(bm.load_urdf(EXAMPLE), bm.human())


def test_spherical_joints_cannot_be_saved(tmp_path):
    first, second = bm.chain(2).bodies
    model = replace(bm.chain(2), bodies=(first, replace(second, joint=bm.spherical("ball"))))
    with pytest.raises(bm.ModelError, match="joint 'ball' is spherical, which URDF does not support"):
        bm.save_urdf(model, tmp_path / "model.urdf")
    assert not (tmp_path / "model.urdf").exists()


def test_round_trip_of_a_long_chain():
    model = bm.chain(400)
    assert_same(bm.load_urdf(bm.urdf_text(model)), model)


def test_a_body_may_be_called_world():
    model = bm.chain(2)
    first, second = model.bodies
    first = replace(first, name="world")
    model = replace(model, bodies=(first, replace(second, parent="world")))
    assert_same(bm.load_urdf(bm.urdf_text(model)), model)


def test_gravity_and_name_can_be_chosen():
    moon = bm.load_urdf(EXAMPLE, gravity=(0, 0, -1.62), name="astronaut")
    assert (moon.name, moon.gravity) == ("astronaut", (0, 0, -1.62))
    assert bm.load_urdf(EXAMPLE).gravity == (0, 0, -9.81)


INERTIAL = """
<inertial>
  <origin xyz="{xyz}" rpy="{rpy}"/>
  <mass value="{mass}"/>
  <inertia ixx="0.03" ixy="0.001" ixz="-0.002" iyy="0.025" iyz="0.003" izz="0.02"/>
</inertial>"""


def link(name, mass, xyz="0 0 0", rpy="0 0 0", more=""):
    return f'<link name="{name}">{INERTIAL.format(mass=mass, xyz=xyz, rpy=rpy)}{more}</link>'


def joint(name, kind, parent, child, xyz="0 0 0", rpy="0 0 0", axis="1 0 0"):
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>' if kind in ("revolute", "prismatic") else ""
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{xyz}" rpy="{rpy}"/>'
        f'<parent link="{parent}"/><child link="{child}"/><axis xyz="{axis}"/>{limit}</joint>'
    )


BOX = '<collision><origin xyz="0.1 0 0" rpy="0 0 0.5"/><geometry><box size="1 2 3"/></geometry></collision>'

# Rotated frames, welds in the middle and at the end, siblings not in alphabetical order.
FOREIGN = f"""<?xml version="1.0"?>
<robot name="foreign">
  {link("pelvis", 3.0, "0.1 0.2 0.3", "0.3 0.2 0.1")}
  {link("plate", 0.5, "0 0.1 0")}
  {link("z_leg", 2.0, "0 0 -0.2", "0 1 0")}
  {link("shin", 1.5, "0.05 0 -0.2")}
  {link("foot", 0.7, "0.1 0 0", "0.5 0 0", BOX)}
  {link("a_arm", 1.0, "0 0.3 0", "1 1 1")}
  {link("rail", 0.4, "0 0 0.1")}
  <link name="camera"/>
  {joint("weld_plate", "fixed", "pelvis", "plate", "0.3 0 0.1", "0.4 0.5 0.6")}
  {joint("z_hip", "revolute", "plate", "z_leg", "0 0.1 -0.1", "1.0 -0.5 0.2", "0 1 1")}
  {joint("knee", "continuous", "z_leg", "shin", "0 0 -0.4", "0 0.7 0", "0 1 0")}
  {joint("weld_foot", "fixed", "shin", "foot", "0 0 -0.4", "0 0 1.5707963")}
  {joint("a_shoulder", "continuous", "pelvis", "a_arm", "0 0.2 0.4", "0.1 0.2 3.0", "2 -1 0.5")}
  {joint("slide", "prismatic", "a_arm", "rail", "0 0.5 0", "-0.6 0 0.3", "0 0.6 0.8")}
  {joint("weld_camera", "fixed", "rail", "camera", "0 0 0.1", "0.1 0.1 0.1")}
</robot>"""
JOINTS = ("z_hip", "knee", "a_shoulder", "slide")


def foreign_state(urdf, model, rng):
    """The same random state in the coordinates of Pinocchio's reading of the file and in ours.

    Returns:
        q, v of Pinocchio's reading; q, v of ours. ``root``: whether there is a floating one.
    """
    q, v = pin.neutral(urdf), rng.standard_normal(urdf.nv)
    ours_q, ours_v = model.neutral(), np.zeros(model.nv)
    if model.is_floating:
        turn = rng.standard_normal(4)
        turn /= np.linalg.norm(turn)
        q[:3], q[3:7] = rng.standard_normal(3), turn[[1, 2, 3, 0]]
        R, lever = pin.Quaternion(q[3:7]).matrix(), urdf.inertias[1].lever
        ours_q[:7] = [*(q[:3] + R @ lever), *turn]
        ours_v[:6] = [*(R @ (v[:3] + np.cross(v[3:6], lever))), *(R @ v[3:6])]
    for name in JOINTS:
        angle, theirs = rng.uniform(-1, 1), urdf.joints[urdf.getJointId(name)]
        q[theirs.idx_q : theirs.idx_q + theirs.nq] = angle if theirs.nq == 1 else (np.cos(angle), np.sin(angle))
        ours_q[model.coordinate(name)] = angle
        ours_v[model.dof(name)] = v[theirs.idx_v]
    return q, v, ours_q, ours_v


FIXED_BASE = FOREIGN.replace(
    "</robot>", link("base", 9.0) + joint("mount", "continuous", "base", "pelvis") + "</robot>"
)


@pytest.mark.parametrize("seed", range(5))
def test_a_floating_file_of_others_is_the_system_that_pinocchio_reads(seed):
    rng = np.random.default_rng(seed)
    model = bm.load_urdf(FOREIGN)
    urdf, twin = pin.buildModelFromXML(FOREIGN, pin.JointModelFreeFlyer()), bm.to_pinocchio(model)
    q, v, ours_q, ours_v = foreign_state(urdf, model, rng)
    q_twin, v_twin = bm.configuration_to_pinocchio(model, ours_q), bm.velocity_to_pinocchio(model, ours_q, ours_v)
    theirs, ours = urdf.createData(), twin.createData()
    kinetic = pin.computeKineticEnergy(urdf, theirs, q, v)
    potential = pin.computePotentialEnergy(urdf, theirs, q)
    assert pin.computeKineticEnergy(twin, ours, q_twin, v_twin) == pytest.approx(kinetic, abs=1e-11)
    assert pin.computePotentialEnergy(twin, ours, q_twin) == pytest.approx(potential, abs=1e-11)
    np.testing.assert_allclose(
        pin.centerOfMass(twin, ours, q_twin, v_twin), pin.centerOfMass(urdf, theirs, q, v), atol=1e-12
    )
    np.testing.assert_allclose(ours.vcom[0], theirs.vcom[0], atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_file_of_others_on_the_ground_has_pinocchios_mass_matrix(seed):
    rng = np.random.default_rng(seed)
    model = bm.load_urdf(FIXED_BASE, floating=False)
    urdf, twin = pin.buildModelFromXML(FIXED_BASE), bm.to_pinocchio(model)
    names = model.joint_names
    assert names == ("mount", *JOINTS)
    q, v, ours_q, ours_v = foreign_state(urdf, model, rng)
    columns = [urdf.joints[urdf.getJointId(name)].idx_v for name in names]
    M = pin.crba(urdf, urdf.createData(), q)[np.ix_(columns, columns)]
    np.testing.assert_allclose(pin.crba(twin, twin.createData(), ours_q), M, atol=1e-13)
    ours_v[0] = v[columns[0]]
    bias = pin.nonLinearEffects(urdf, urdf.createData(), q, v)[columns]
    np.testing.assert_allclose(pin.nonLinearEffects(twin, twin.createData(), ours_q, ours_v), bias, atol=1e-12)


def test_masses_inertias_and_placements_are_pinocchios():
    model = bm.load_urdf(FOREIGN)
    urdf = pin.buildModelFromXML(FOREIGN, pin.JointModelFreeFlyer())
    data = urdf.createData()
    pin.forwardKinematics(urdf, data, pin.neutral(urdf))
    assert model.total_mass == pytest.approx(pin.computeTotalMass(urdf), rel=1e-15)
    for name in JOINTS:
        i, row = urdf.getJointId(name), model.joint_index(name)
        R = data.oMi[i].rotation
        np.testing.assert_allclose(model.bodies[row].inertia, R @ urdf.inertias[i].inertia @ R.T, atol=1e-15)
        np.testing.assert_allclose(model.home_positions[row], data.oMi[i].act(urdf.inertias[i].lever), atol=1e-15)


def test_bodies_of_a_file_are_in_document_order_and_welds_are_merged():
    assert bm.load_urdf(FOREIGN).body_names == ("pelvis", "z_leg", "shin", "a_arm", "rail")
    assert bm.load_urdf(FOREIGN).joint_names == JOINTS


def test_boxes_and_contacts_of_welded_links_follow_their_body():
    extension = '<biped><contact name="tip" link="foot" xyz="0.1 0 0"/><foot link="foot"/></biped></robot>'
    model = bm.load_urdf(FOREIGN.replace("</robot>", extension))
    urdf = pin.buildModelFromXML(FOREIGN, pin.JointModelFreeFlyer())
    data = urdf.createData()
    pin.framesForwardKinematics(urdf, data, pin.neutral(urdf))
    foot = data.oMf[urdf.getFrameId("foot")]
    (box,) = model.shapes
    shin = model.home_positions[model.body_index("shin")] - model.bodies[model.body_index("shin")].com
    assert box.body == "shin"
    np.testing.assert_allclose(
        shin + box.center + model.home_positions[0] - model.neutral()[:3], foot.act(np.array([0.1, 0, 0])), atol=1e-14
    )
    np.testing.assert_allclose(box.rotation, foot.rotation @ pin.rpy.rpyToMatrix(0, 0, 0.5), atol=1e-14)
    assert model.contact_points == (bm.ContactPoint("tip", "shin", box.center),)
    assert model.feet == ("shin",)


def test_a_root_called_world_is_the_ground():
    text = FOREIGN.replace(
        "</robot>", '<link name="world"/>' + joint("mount", "{}", "world", "pelvis", "0 0 2") + "</robot>"
    )
    assert bm.load_urdf(text.replace("{}", "continuous")).root.joint.position == (0, 0, 2)
    floating = bm.load_urdf(text.replace("{}", "floating"))
    assert floating.is_floating
    np.testing.assert_allclose(floating.neutral()[2], 2 + floating.root.com[2])
    with pytest.raises(bm.ModelError, match="root link 'world' cannot float without mass; load with floating=False"):
        bm.load_urdf(text.replace("{}", "continuous"), floating=True)


def test_a_floating_model_can_be_bolted_down():
    text = bm.urdf_text(bm.random_tree(np.random.default_rng(0), 2, kinds=("revolute",)))
    bolted = bm.load_urdf(text, floating=False)
    assert bolted.body_names == ("body_1",)
    legs = bm.load_urdf(bm.urdf_text(replace(bm.human(), contact_points=(), feet=())), floating=False)
    assert [body.name for body in legs.bodies if body.parent is None] == ["left_hip_1", "right_hip_1"]
    with pytest.raises(bm.ModelError, match="no link of the URDF of .* moves"):
        bm.load_urdf(bm.urdf_text(bm.rigid_box(1, (1, 1, 1)).without_contacts()), floating=False)


#: On a fixed joint, whose link's mass is added to another's.
NEGATIVE = """<inertial><mass value="-0.1"/>
  <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial>"""
BROKEN = [
    ("<robot", "not well-formed XML: .* line 1"),
    ("<sdf/>", "outermost element of a URDF is <robot>, got <sdf>"),
    ('<robot name="r"/>', "no <link>"),
    (FOREIGN.replace(' name="foreign"', ""), "<robot> needs the attribute 'name'"),
    (FOREIGN.replace('<link name="camera"/>', "<link/>"), "a <link> needs the attribute 'name'"),
    (FOREIGN.replace('value="2.0"', 'value="two"'), "link 'z_leg': <mass> attribute 'value' .* 'two'"),
    (FOREIGN.replace('value="2.0"', 'value="nan"'), "link 'z_leg': <mass> attribute 'value' .* 'nan'"),
    (FOREIGN.replace('value="2.0"', 'value="-2"'), "body 'z_leg': mass must not be below zero"),
    (FOREIGN.replace('<mass value="2.0"/>', ""), "link 'z_leg': <inertial> needs a <mass"),
    (FOREIGN.replace('ixy="0.001"', ""), "link 'pelvis': <inertia> attribute 'ixy' must be a finite number, got None"),
    (FOREIGN.replace('ixx="0.03"', 'ixx="0.3"'), "principal moments"),
    (FOREIGN.replace('xyz="0 0 -0.2"', 'xyz="0 -0.2"'), "link 'z_leg': <origin> attribute 'xyz' must be 3 finite"),
    (FOREIGN.replace('rpy="0 0.7 0"', 'rpy="0 x 0"'), "joint 'knee': <origin> attribute 'rpy' must be 3 finite"),
    (FOREIGN.replace('axis xyz="0 1 0"', 'axis xyz="0 0 0"'), "joint 'knee': axis must not be zero"),
    (FOREIGN.replace('"prismatic"', '"sliding"'),
     "joint 'slide': unknown joint type 'sliding'; .* revolute, continuous"),
    (FOREIGN.replace('"prismatic"', '"planar"'), "joint 'slide': unknown joint type 'planar'"),
    (FOREIGN.replace('effort="1"', ""), "joint 'z_hip': <limit> attribute 'effort'"),
    (FOREIGN.replace('<limit lower="-1" upper="1" effort="1" velocity="1"/>', ""),
     "'z_hip' is revolute and needs a <limit"),
    (FOREIGN.replace('<parent link="z_leg"/>', '<parent link="zleg"/>'),
     "joint 'knee': parent: unknown link 'zleg'; did"),
    (FOREIGN.replace('<parent link="z_leg"/>', ""), "joint 'knee' needs a <parent link=...>"),
    (FOREIGN.replace('<parent link="z_leg"/>', '<parent link="foot"/>'),
     "links 'shin', 'foot' are not connected to 'pelvis'"),
    (FOREIGN.replace('<child link="shin"/>', '<child link="a_arm"/>'),
     "'a_arm' is the child of joints 'knee' and 'a_sh"),
    (FOREIGN.replace('<link name="camera"/>', '<link name="camera"/><link name="lost"/>'), "got 'pelvis', 'lost'"),
    (FOREIGN.replace('joint name="knee"', 'joint name="slide"'), "two joints are named 'slide'"),
    (FOREIGN.replace('link name="camera"', 'link name="foot"'), "two links are named 'foot'"),
    (FOREIGN.replace('<child link="shin"/>', '<child link="shin"/><mimic joint="slid"/>'),
     "joint 'knee': mimic: unknown joint 'slid'; did you mean 'slide'"),
    (FOREIGN.replace('<child link="shin"/>', '<child link="shin"/><mimic joint="knee"/>'),
     "joint 'knee' mimics itself"),
    (FOREIGN.replace('<child link="shin"/>', '<child link="shin"/><mimic joint="slide" multiplier="x"/>'),
     "joint 'knee': <mimic> attribute 'multiplier' must be a finite number, got 'x'"),
    (FOREIGN.replace('box size="1 2 3"', 'box size="1 2"'), "link 'foot': <collision>: <box> attribute 'size'"),
    (FOREIGN.replace('box size="1 2 3"', 'box size="1 2 0"'), "box on 'shin': each edge must be above zero"),
    (FOREIGN.replace('name="knee" type="continuous"', 'name="knee" type="floating"'), "'knee' of body 'shin' floats"),
    (FOREIGN.replace("</robot>", '<biped floating="yes"/></robot>'), "<biped>: floating must be 'true' or 'false'"),
    (FOREIGN.replace("</robot>", '<biped><contact link="foot"/></biped></robot>'),
     "<contact> needs the attribute 'name'"),
    (FOREIGN.replace("</robot>", '<biped><contact name="p" link="fot" xyz="0 0 0"/></biped></robot>'),
     "contact 'p': unknown link 'fot'; did you mean 'foot'"),
    (FOREIGN.replace("</robot>", '<biped><contact name="p" link="foot"/></biped></robot>'),
     "'p': <contact> attribute 'xyz'"),
    (FOREIGN.replace("</robot>", '<biped><foot link="toe"/></biped></robot>'), "feet: unknown link 'toe'"),
    (FOREIGN.replace('effort="1"', 'effort="-1"', 1), "joint 'z_hip': limit: effort must be zero or above, got -1"),
    (FOREIGN.replace('<child link="shin"/>', '<child link="shin"/><dynamics damping="little"/>'),
     "joint 'knee': <dynamics> attribute 'damping' must be a finite number, got 'little'"),
    (FOREIGN.replace('<mass value="2.0"/>', '<mass value="2.0"/><mass value="1"/>'),
     "link 'z_leg' has 2 different elements <mass>; delete all but the right one"),
    (FOREIGN.replace('<child link="shin"/>', '<child link="shin"/><parent link="foot"/>'),
     "joint 'knee' has 2 different elements <parent>"),
    (FOREIGN.replace('rpy="0 0.7 0"', 'quat_xyzw="0 0 0 1"'), "joint 'knee': <origin> has .*quat_xyzw"),
    (FOREIGN.replace('value="2.0"', 'value=" 2.0 "'), "'value' must be a finite .*; write plain digits without spaces"),
    (FOREIGN.replace('value="2.0"', 'value="2_0"'), "'value' must be a finite .*; write plain digits without spaces"),
    (FOREIGN.replace('<child link="shin"/>', '<child link="shin"/><dynamics friction="-1"/>'),
     "joint 'knee': friction must be zero or above, got -1"),
    (FOREIGN.replace('<link name="camera"/>', f'<link name="camera">{NEGATIVE}</link>'),
     "body 'camera': mass must not be below zero, got -0.1 kg"),
    (FOREIGN.replace('box size="1 2 3"', 'sphere radius="-1"'), "<sphere>: sizes must not be below zero"),
    (FOREIGN.replace('box size="1 2 3"', 'cylinder radius="1"'), "<cylinder> attribute 'length' must be a finite"),
    (FOREIGN.replace('rpy="0 0.7 0"', 'rpy="0 0.7 0" XYZ="1 2 3"').replace('xyz="0 0 -0.4" rpy', 'rpy'),
     "joint 'knee': <origin> has .*XYZ"),
    (FOREIGN.replace('joint name="knee"', 'joint name="universe"'), "joint 'universe': Pinocchio.* rename the joint"),
    (FOREIGN.replace('joint name="knee"', 'joint name="&lt;floating&gt;"'), "joint '<floating>': Pinocchio"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BROKEN, ids=[message[:40] for _, message in BROKEN])
def test_broken_file(text, message, capfd):
    with pytest.raises(bm.ModelError, match=message) as caught:
        bm.load_urdf(text)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")  # nothing of a parser's own complaints on the terminal


XACRO = {
    "an include": ('<link name="camera"/>',
        '<link name="camera"/><x:include filename="a" xmlns:x="http://ros.org/wiki/xacro"/>'),
    "a macro below": ("<mass", '<x:inertia m="1" xmlns:x="http://www.ros.org/xacro"/><mass'),
    "an unbound prefix": ('<link name="camera"/>', '<link name="camera"/><xacro:leg side="left"/>'),
    "an expression": ('value="2.0"', 'value="${2 * m}"'),
    "a name": ('joint name="knee"', 'joint name="$(arg side)_knee"'),
    "a file": ("<mass", '<visual><geometry><mesh filename="$(find robot)/a.stl"/></geometry></visual><mass'),
}  # fmt: skip


@pytest.mark.parametrize("what", XACRO)
def test_xacro_that_was_not_run_is_refused(what):
    with pytest.raises(bm.ModelError, match=r"is xacro, which must be expanded: run `xacro FILE > robot.urdf`"):
        bm.load_urdf(FOREIGN.replace(*XACRO[what]))


def test_xacro_and_contact_points_on_the_ground_are_refused():
    with pytest.raises(bm.ModelError, match=r"leg.urdf.xacro is xacro, .* run `xacro FILE > robot.urdf`"):
        bm.load_robot("leg.urdf.xacro")
    text = FIXED_BASE.replace("</robot>", '<biped><contact name="p" link="base" xyz="0 0 0"/></biped></robot>')
    with pytest.raises(bm.ModelError, match="contact 'p': link 'base' is fixed to the ground"):
        bm.load_urdf(text, floating=False)


@pytest.mark.parametrize(("more", "notes"), [
    ('<!-- ${m} <xacro:leg/> --><gazebo><plugin ns="$(arg ns)"/></gazebo><transmission name="t"/>', ()),
    ("<links/>", ("elements of the file are not read: <links> in <robot>",)),
    ('<s:camera xmlns:s="http://gazebo"/>', ("elements of the file are not read: <camera> in <robot>",)),
])  # fmt: skip
def test_what_is_not_read_is_told_unless_it_is_for_others(more, notes):
    plain, model = bm.load_urdf(FOREIGN), bm.load_urdf(FOREIGN.replace("</robot>", more + "</robot>"))
    assert_same(model, plain)
    assert model.notes == (*notes, *plain.notes)


def test_attributes_that_are_not_read_are_told():
    old = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    new = '<limit Lower="-1" upper="1" effort="1" velocity="1"/><dynamics Damping="3"/>'
    assert old in FOREIGN
    notes = bm.load_urdf(FOREIGN.replace(old, new, 1)).notes
    assert "attributes of the file are not read: <limit Lower>, <dynamics Damping>" in notes


def test_links_and_joints_may_share_names():
    """Each joint has the name of the link it carries, which Pinocchio cannot distinguish when joints are locked."""
    names = dict(re.findall(r'<joint name="(\w+)".*?<child link="(\w+)"', FOREIGN, re.DOTALL))
    renamed = re.sub(r'<joint name="(\w+)"', lambda found: f'<joint name="{names[found[1]]}"', FOREIGN)
    more = '<biped><contact name="p" link="foot" xyz="0.1 0 0"/><foot link="foot"/></biped></robot>'
    texts = [each.replace("</robot>", more) for each in (FOREIGN, renamed)]
    locked = [{name: 0.4} for name in ("knee", names["knee"])]
    expected, found = (bm.load_urdf(one, locked=at) for one, at in zip(texts, locked, strict=True))
    assert found.nv == expected.nv == bm.load_urdf(FOREIGN).nv - 1
    assert found.feet == expected.feet
    for name in expected.tree._fields:
        np.testing.assert_array_equal(getattr(found.tree, name), getattr(expected.tree, name), err_msg=name)
    assert [shape.body for shape in found.shapes] == [shape.body for shape in expected.shapes]


def test_the_floating_joint_gets_a_name_of_its_own():
    model = bm.load_urdf(FOREIGN.replace('joint name="knee"', 'joint name="floating_base"'))
    assert model.root.joint.name == "floating_base_"
    assert "floating_base" in model.joint_names


@pytest.mark.parametrize(("encoding", "newline"), [("utf-8-sig", "\r\n"), ("iso-8859-1", "\n"), ("utf-16", "\n")])
def test_encodings(encoding, newline, tmp_path):
    first = f'<?xml version="1.0" encoding="{encoding.removesuffix("-sig")}"?>'
    text = FOREIGN.replace('<?xml version="1.0"?>', first).replace("pelvis", "hüfte").replace("\n", newline)
    (tmp_path / "robot.urdf").write_bytes(text.encode(encoding))
    assert (
        bm.load_urdf(tmp_path / "robot.urdf").body_names == bm.load_urdf(FOREIGN.replace("pelvis", "hüfte")).body_names
    )


def in_units(length=1.0, mass=1.0):
    """Return the human's bodies with all lengths and masses times a factor."""
    bodies = tuple(
        replace(
            one, mass=mass * one.mass, inertia=mass * length**2 * np.array(one.inertia), com=length * np.array(one.com),
            joint=replace(one.joint, position=length * np.array(one.joint.position)),
        ) for one in bm.human().bodies
    )  # fmt: skip
    return bm.Model("human", bodies)


@pytest.mark.parametrize(("change", "words"), [
    ({}, None),
    ({"length": 1000.0, "mass": 1.0}, "extent is 1.*e.03 m.*are lengths in m"),
    ({"mass": 200.0}, "mass is 1.49e.04 kg.*are masses in kg"),
    ({"mass": 1e-3}, "mass is 0.0745 kg.*are masses in kg"),
])  # fmt: skip
def test_other_units_than_the_formats_are_noticed(change, words):
    notes = bm.load_urdf(bm.urdf_text(in_units(**change))).notes
    assert len(notes) == (words is not None)
    assert words is None or re.search(words, notes[0])


@pytest.mark.parametrize(("factor", "told"), [(1e-3, True), (1.0, False), (1e3, True)])
def test_inertias_out_of_proportion_to_masses_are_noticed(factor, told):
    own = bm.human()
    bodies = tuple(replace(one, inertia=(factor * np.array(one.inertia)).tolist()) for one in own.bodies)
    notes = bm.load_urdf(bm.urdf_text(replace(own, bodies=bodies))).notes
    assert any("inertias are out of proportion to masses, for trunk" in note for note in notes) == told


def test_missing_and_unreadable_files(tmp_path):
    with pytest.raises(bm.ModelError, match="there is no URDF file '.*absent.urdf'"):
        bm.load_urdf(tmp_path / "absent.urdf")
    with pytest.raises(bm.ModelError, match="cannot be read"):
        bm.load_urdf(tmp_path)
    (tmp_path / "binary.urdf").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(bm.ModelError, match="cannot be read"):
        bm.load_urdf(tmp_path / "binary.urdf")
    (tmp_path / "pointer.urdf").write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(bm.ModelError, match="pointer of Git LFS: run `git lfs pull`"):
        bm.load_urdf(tmp_path / "pointer.urdf")
