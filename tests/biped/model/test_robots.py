"""Robots as others describe them: what is locked, repaired, found on their soles, and kept; against Pinocchio.

The robot below has what the files of Talos, iCub, Romeo and Unitree's robots have: a joint that mimics another, a link
without mass in a chain of joints, soles on fixed joints, limits, damping and friction.
"""

import math
import re
import struct
import sys
import warnings

import numpy as np
import pinocchio as pin
import pytest

from biped import InputError, dynamics, simulate, standing
from biped.inputs.robot_names import ENDINGS
from biped.model import ModelError, ModelWarning, from_pinocchio, human, load_robot, load_urdf, urdf_text
from biped.model.description import spelt_out
from biped.model.importing.soles import corners
from biped.model.robot import _BY_ENDING
from contact import RUBBER
from controllers import JointImpedance

pytestmark = pytest.mark.filterwarnings("ignore::biped.model.errors.ModelWarning")

INERTIAL = """<inertial><origin xyz="{com}" rpy="0.1 0.2 0.3"/><mass value="{mass}"/>
<inertia ixx="0.03" ixy="0.001" ixz="-0.002" iyy="0.025" iyz="0.003" izz="0.02"/></inertial>"""
BOX = '<collision><origin xyz="0.05 0 0.01"/><geometry><box size="0.2 0.1 0.06"/></geometry></collision>'


def link(name, mass=1.0, com="0 0 -0.1", more=""):
    return f'<link name="{name}">{INERTIAL.format(mass=mass, com=com) if mass else ""}{more}</link>'


def joint(name, kind, parent, child, xyz, axis="0 1 0", more='<limit effort="50" velocity="7"/>'):
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{xyz}"/><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{more}</joint>'
    )


def leg(side, y):
    knee = '<limit lower="-0.1" upper="2.5" effort="90" velocity="12"/><dynamics damping="0.3" friction="0.2"/>'
    return f"""
      {link(f"{side}_thigh", 4.0, "0.01 0 -0.2")}
      {link(f"{side}_shin", 3.0, "0 0.01 -0.2")}
      {link(f"{side}_foot", 0.8, "0.03 0 -0.02", BOX)}
      <link name="{side}_sole"/>
      {joint(f"{side}_hip", "continuous", "pelvis", f"{side}_thigh", f"0 {y} -0.1", more="")}
      {joint(f"{side}_knee", "revolute", f"{side}_thigh", f"{side}_shin", "0 0 -0.4", more=knee)}
      {joint(f"{side}_ankle", "continuous", f"{side}_shin", f"{side}_foot", "0 0 -0.4")}
      {joint(f"{side}_sole_joint", "fixed", f"{side}_foot", f"{side}_sole", "0.04 0 -0.02", more="")}"""


ROBOT = f"""<robot name="walker">
  {link("pelvis", 12.0, "0 0 0.1")}
  {leg("left", 0.1)} {leg("right", -0.1)}
  {link("hand", 0.7)} {link("finger", 0.2)} {link("thumb", 0.1)}
  {joint("wrist", "continuous", "pelvis", "hand", "0 0.3 0.3", "1 0 0")}
  {joint("grasp", "continuous", "hand", "finger", "0 0 -0.1", "1 0 0")}
  {
    joint(
        "follow",
        "revolute",
        "hand",
        "thumb",
        "0 0.05 -0.1",
        "1 0 0",
        '<limit effort="5" velocity="1" lower="-1" upper="1"/><mimic joint="grasp" multiplier="-0.5" offset="0.2"/>',
    )
}
</robot>"""
SHOULDER = (
    '<link name="shoulder"/>'
    + link("arm", 2.0)
    + joint("shoulder_pitch", "continuous", "pelvis", "shoulder", "0 -0.3 0.3")
    + joint("shoulder_roll", "continuous", "shoulder", "arm", "0 0 0", "1 0 0")
    + "</robot>"
)
MASSLESS = ROBOT.replace("</robot>", SHOULDER)
FEET = ("left_sole", "right_sole")


def mass_matrices(model, text, locked, rng):
    whole = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    rest = pin.neutral(whole)
    for name, position in locked.items():
        at = whole.joints[whole.getJointId(name)]
        rest[at.idx_q : at.idx_q + at.nq] = position if at.nq == 1 else (math.cos(position), math.sin(position))
    theirs = pin.buildReducedModel(whole, [whole.getJointId(name) for name in locked], rest)
    q, ours = pin.neutral(theirs), model.neutral()
    for name in model.joint_names:
        angle, at = rng.uniform(-1, 1), theirs.joints[theirs.getJointId(name)]
        q[at.idx_q : at.idx_q + at.nq] = angle if at.nq == 1 else (math.cos(angle), math.sin(angle))
        ours[model.coordinate(name)] = angle
    columns = [theirs.joints[theirs.getJointId(name)].idx_v for name in model.joint_names]
    dofs = [model.dof(name) for name in model.joint_names]
    M = pin.crba(theirs, theirs.createData(), q)
    M = np.triu(M) + np.triu(M, 1).T
    return dynamics.mass_matrix(model, ours)[np.ix_(dofs, dofs)], M[np.ix_(columns, columns)]


CHAINED = ROBOT.replace('<mimic joint="grasp"', '<mimic joint="wrist"').replace(
    '"0 0 -0.1"/><parent link="hand"/><child link="finger"/><axis xyz="1 0 0"/>',
    '"0 0 -0.1"/><parent link="hand"/><child link="finger"/><axis xyz="1 0 0"/><mimic joint="follow" offset="1"/>',
)
LOCKED = {"left_knee": 0.7, "wrist": -0.4, "follow": 0.1}


@pytest.mark.parametrize(
    ("text", "options", "locked"),
    [
        (ROBOT, {"posture": {"grasp": 0.0}}, {"follow": 0.2}),  # a mimic, where its driver's rest puts it
        (ROBOT, {"posture": {"grasp": 0.6}}, {"follow": -0.1}),
        (ROBOT, {"locked": LOCKED}, LOCKED),
        (ROBOT, {"locked": {"grasp": 0.8}}, {"grasp": 0.8, "follow": -0.2}),  # the mimic of a locked joint
        (CHAINED, {"posture": {"wrist": 0.4}}, {"follow": 0.0, "grasp": 1.0}),  # mimics of mimics
        (MASSLESS, {}, {"follow": 0.2}),  # a shoulder of two axes, as most files have it
        (MASSLESS, {"repair": "merge"}, {"shoulder_pitch": 0.0, "follow": 0.2}),
    ],
)
def test_locked_joints_are_as_in_pinocchios_reduced_model(text, options, locked):
    model = load_urdf(text, **options)
    whole = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    assert {*model.joint_names, *locked} == set(whole.names[2:])
    assert not {*model.joint_names} & {*locked}
    ours, theirs = mass_matrices(model, text, locked, np.random.default_rng(0))
    np.testing.assert_allclose(ours, theirs, atol=1e-13)


def test_a_mimic_is_told_of():
    with pytest.warns(ModelWarning, match="joints that mimic others are locked .* do not follow grasp: follow"):
        model = load_urdf(ROBOT)
    assert any("follow grasp: follow" in note for note in model.notes)


def test_joints_are_locked_by_pattern():
    model = load_urdf(ROBOT, locked={"*_knee": 0.5, "wrist": 0, "grasp": 0})
    assert model.joint_names == ("left_hip", "left_ankle", "right_hip", "right_ankle")


#: A link without mass at the end of a chain, where nothing resists its joint.
FLAG = '<link name="flag"/>' + joint("mast", "continuous", "pelvis", "flag", "0 0 1")
ENDING = ROBOT.replace("</robot>", f"{FLAG}</robot>")


@pytest.mark.parametrize(("text", "why"), [
    (ROBOT.replace('ixx="0.03"', 'ixx="0.3"', 1), "body 'pelvis' cannot be a rigid body"),
    (ENDING, "joint 'mast' of body 'flag' moves no inertia: the body has no mass"),
])  # fmt: skip
def test_an_unphysical_link_is_refused_with_the_ways_out(text, why):
    with pytest.raises(ModelError, match=f"{why}.*load with repair='merge' .* or with repair='inertia'"):
        load_urdf(text)


def test_a_link_without_mass_between_joints_stays_or_is_merged():
    model, merged = load_urdf(MASSLESS), load_urdf(MASSLESS, repair="merge")
    assert model.bodies[model.body_index("shoulder")].mass == 0.0
    assert [body.mass for body in load_urdf(urdf_text(model)).bodies if body.mass == 0.0] == [0.0]
    assert any("welded to their parents" in note and "shoulder has no mass" in note for note in merged.notes)


def test_a_link_given_an_inertia_hardly_changes_the_dynamics():
    model = load_urdf(MASSLESS, repair="inertia")
    assert model.bodies[model.body_index("shoulder")].mass == 1e-3
    ours, theirs = mass_matrices(model, MASSLESS, {"follow": 0.2}, np.random.default_rng(5))
    np.testing.assert_allclose(ours, theirs, atol=1e-3 * 0.5)  # 1 g within half a metre of every joint
    assert any("least inertia" in note and "shoulder has no mass" in note for note in model.notes)


def test_the_nearest_inertia_keeps_what_is_possible():
    flat = re.sub(r"<inertia [^>]*>", '<inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3.5"/>', ROBOT, count=1)
    flat = flat.replace('rpy="0.1 0.2 0.3"', 'rpy="0 0 0"')
    found = np.array(load_urdf(flat, repair="inertia").root.inertia)
    np.testing.assert_allclose(found, np.diag([1.25, 2.25, 3.5]), atol=0.02)
    smallest, middle, largest = np.linalg.eigvalsh(found)
    assert largest <= smallest + middle


def test_a_negative_mass_is_not_repaired():
    with pytest.raises(ModelError, match="body 'pelvis': mass must not be below zero"):
        load_urdf(ROBOT.replace('value="12.0"', 'value="-12.0"'), repair="inertia")


def place_of(model, body):
    """Return the position [m] of a body's link frame at home, relative to the root's."""
    i, root = model.body_index(body), model.home_positions[0] - model.root.com
    return model.home_positions[i] - model.bodies[i].com - root


def test_contact_points_on_links_that_fixed_joints_merged():
    contacts = {"left_sole": [[0.1, 0, 0], [-0.1, 0, 0]], "hand": {"palm": [0, 0, 0]}}
    model = load_urdf(ROBOT, feet=FEET, contacts=contacts)
    assert model.feet == ("left_foot", "right_foot")
    assert model.contact_names == ("left_sole_1", "left_sole_2", "palm")
    first = model.contact_points[0]
    assert first.body == "left_foot"
    np.testing.assert_allclose(place_of(model, "left_foot") + first.position, [0.14, 0.1, -0.92], atol=1e-15)


def test_the_corners_of_a_box_are_its_sole():
    model = load_urdf(ROBOT, feet=FEET, contacts="collision")
    assert model.contact_names == tuple(f"{side}_{i}" for side in ("left", "right") for i in range(1, 5))
    places = [place_of(model, point.body) + point.position for point in model.contact_points]
    corners_of_left = [[0.15, 0.15, -0.92], [0.15, 0.05, -0.92], [-0.05, 0.05, -0.92], [-0.05, 0.15, -0.92]]
    np.testing.assert_allclose(places[:4], corners_of_left, atol=1e-14)
    np.testing.assert_allclose(places[4:], np.multiply(corners_of_left, [1, -1, 1]), atol=1e-14)


def test_points_go_round_from_the_front():
    model = load_urdf(ROBOT, feet=FEET, contacts="collision", facing=(-1, 0, 0))
    assert model.contact_points[0].name == "right_1"  # what is at +y is to its right
    place = place_of(model, "left_foot") + model.contact_points[0].position
    np.testing.assert_allclose(place, [-0.05, 0.15, -0.92], atol=1e-14)


def test_a_sole_is_what_is_down_in_the_posture():
    model = load_urdf(ROBOT, feet=FEET, contacts="collision", posture={"*_ankle": -math.pi / 2})
    assert {round(point.position[0], 12) for point in model.contact_points} == {-0.05}


def test_a_posture_on_an_edge_is_told_of():
    with pytest.warns(ModelWarning, match="the soles of left_foot, right_foot are edges, not faces"):
        model = load_urdf(ROBOT, feet=FEET, contacts="collision", posture={"*_knee": 0.4})
    assert model.nc == 4


def test_spheres_touch_with_their_lowest_points():
    spheres = "".join(
        f'<collision><origin xyz="{x} {y} -0.01"/><geometry><sphere radius="0.005"/></geometry></collision>'
        for x, y in ((0.1, 0.03), (0.1, -0.03), (-0.05, 0.0))
    )
    model = load_urdf(ROBOT.replace(BOX, spheres), feet=FEET, contacts="collision")
    left = [point.position for point in model.contact_points if point.name.startswith("left")]
    np.testing.assert_allclose(left, [(0.1, 0.03, -0.015), (0.1, -0.03, -0.015), (-0.05, 0.0, -0.015)], atol=1e-15)


def stl(path, triangles):
    """A binary STL of (m, 3, 3) corners."""
    rows = [struct.pack("<12fH", 0, 0, 0, *np.ravel(triangle), 0) for triangle in triangles]
    path.write_bytes(b"\0" * 80 + struct.pack("<I", len(rows)) + b"".join(rows))


def test_a_mesh_gives_a_few_corners(tmp_path):
    """A bowl-shaped foot on a sole of 24 corners: those that remain enclose more than any quadrangle in its ellipse."""
    turns = 2 * np.pi * np.arange(24) / 24
    rim = np.column_stack([0.12 * np.cos(turns), 0.05 * np.sin(turns), np.full(24, -0.03)])
    top = np.array([0.0, 0.0, 0.05])
    (tmp_path / "shoe_description" / "meshes").mkdir(parents=True)
    (tmp_path / "shoe_description" / "urdf").mkdir()
    stl(tmp_path / "shoe_description/meshes/foot.stl", [(rim[i - 1], rim[i], top) for i in range(24)])
    mesh = '<collision><geometry><mesh filename="package://shoe_description/meshes/foot.stl"/></geometry></collision>'
    file = tmp_path / "shoe_description/urdf/robot.urdf"
    file.write_text(ROBOT.replace(BOX, mesh))
    model = load_urdf(file, feet=FEET, contacts="collision")
    left = np.array([point.position for point in model.contact_points if point.name.startswith("left")])
    assert 4 < len(left) < 9
    np.testing.assert_allclose(left[:, 2], -0.03, atol=1e-7)
    area = 0.5 * abs(np.sum(left[:, 0] * np.roll(left[:, 1], 1) - left[:, 1] * np.roll(left[:, 0], 1)))
    assert area > 2 * 0.12 * 0.05
    file.write_text(ROBOT.replace(BOX, mesh.replace("foot.stl", "fot.stl")))
    with pytest.raises(ModelError, match=r"the mesh file 'package://.*fot.stl' is missing; .*; add its folder"):
        load_urdf(file, feet=FEET, contacts="collision")


def test_the_tip_of_a_pointed_sole_is_a_corner():
    """The ends of the capsules below a foot of Unitree's G1; the heel, 1 cm long, has 2 % of the area."""
    tip, sides, heels = (0.132, 0.0, 0.0), (0.1, 0.026, 0.0), (-0.044, 0.018, 0.0)
    left = [(0.13, 0.01, 0.0), (0.123, 0.018, 0.0), sides, (0.05, 0.026, 0.0), heels, (-0.052, 0.01, 0.0)]
    mirror = np.array([1.0, -1.0, 1.0])
    sole = np.array([tip, (-0.054, 0.0, 0.0), *left, *(mirror * left)])
    expected = np.array([tip, mirror * sides, mirror * heels, heels, sides])
    np.testing.assert_array_equal(corners(sole, (1, 0, 0), clockwise=True), expected)
    np.testing.assert_array_equal(corners(sole, (1, 0, 0), clockwise=False), mirror * expected)


@pytest.mark.parametrize("clockwise", [True, False])
def test_corners_of_one_point_and_of_a_line(clockwise):
    point = np.array([[0.1, 0.2, 0.3]])
    np.testing.assert_array_equal(corners(point, (1, 0, 0), clockwise), point)
    line = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.2, 0, 0], [0.2, 0, 1]])
    np.testing.assert_array_equal(corners(line, (1, 0, 0), clockwise), line[[2, 0]])


PAINTED = """<visual><origin xyz="0.1 -0.2 0.3" rpy="0.3 0.4 -1"/><geometry>{form}</geometry>{material}</visual>"""
DRAWN = ROBOT.replace(
    '<link name="left_sole"/>',
    '<link name="left_sole">'
    + PAINTED.format(form='<cylinder radius="0.1" length="0.5"/>', material='<material name="paint"/>')
    + PAINTED.format(form='<sphere radius="0.2"/>', material='<material name=""><color rgba="0 0 1 1"/></material>')
    + PAINTED.format(form='<mesh filename="package://nowhere/sole.stl" scale="1 -1 0.001"/>', material="")
    + "</link>",
).replace("</robot>", '<material name="paint"><color rgba="1 0.5 0 1"/></material></robot>')


def test_what_links_look_like_is_where_pinocchio_has_it():
    model = load_urdf(DRAWN)
    tube, ball, mesh = model.visuals
    assert (tube.form, tube.size, tube.color) == ("cylinder", (0.2, 0.2, 0.5), (1.0, 0.5, 0.0))
    assert (ball.form, ball.size, ball.color) == ("sphere", (0.4, 0.4, 0.4), (0.0, 0.0, 1.0))
    assert (mesh.size, mesh.color, mesh.file) == ((1.0, -1.0, 0.001), None, "package://nowhere/sole.stl")
    text = re.sub("<mesh[^>]*>", '<sphere radius="1"/>', DRAWN)
    theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    shapes = pin.buildGeomFromUrdfString(theirs, text, pin.GeometryType.VISUAL)
    place = shapes.createData()
    pin.updateGeometryPlacements(theirs, theirs.createData(), shapes, place, pin.neutral(theirs))
    assert len(place.oMg) == 3
    for visual, at in zip(model.visuals, place.oMg, strict=True):
        assert visual.body == "left_foot"
        i = model.body_index(visual.body)
        link = model.home_positions[i] - np.array(model.bodies[i].com)
        assert link + visual.center == pytest.approx(at.translation, abs=1e-12)
        assert np.array(visual.rotation) == pytest.approx(at.rotation, abs=1e-12)


def test_looks_survive_saving():
    model = load_urdf(DRAWN)
    again = [visual for visual in load_urdf(urdf_text(model)).visuals if visual.body == "left_foot"]
    for found, visual in zip(again, model.visuals, strict=True):
        assert (found.form, found.color, found.file) == (visual.form, visual.color, visual.file)
        for name in ("size", "center", "rotation"):
            assert np.array(getattr(found, name)) == pytest.approx(np.array(getattr(visual, name)), abs=1e-12), name


def test_where_files_are_is_no_part_of_what_a_robot_is():
    here, there = (load_urdf(DRAWN.replace("nowhere", name)) for name in ("here", "there"))
    assert here != there
    assert spelt_out(here) == spelt_out(there)


@pytest.mark.filterwarnings("ignore::biped.ModelWarning")
def test_limits_damping_and_friction_are_those_of_the_file():
    model = load_urdf(ROBOT)
    knee = model.bodies[model.joint_index("left_knee")].joint
    assert (knee.lower, knee.upper, knee.max_velocity, knee.max_effort) == (-0.1, 2.5, 12.0, 90.0)
    assert (knee.damping, knee.friction, knee.armature) == (0.3, 0.2, 0.0)
    hip = model.bodies[model.joint_index("left_hip")].joint
    assert (hip.lower, hip.upper, hip.max_velocity, hip.max_effort) == (-math.inf, math.inf, math.inf, math.inf)


@pytest.mark.filterwarnings("ignore::biped.ModelWarning")
def test_limits_are_left_out_and_bearings_given_where_asked_for():
    model = load_urdf(ROBOT, limits=False, damping=0, friction={"*_knee": 0.5})
    knee, hip = (model.bodies[model.joint_index(name)].joint for name in ("left_knee", "left_hip"))
    assert not knee.is_limited
    assert (knee.damping, knee.friction, hip.friction) == (0.0, 0.5, 0.0)
    assert model.tree.passive.shape[0] == model.n
    assert load_urdf(ROBOT, limits=False, damping=0, friction=0).tree.passive.shape[0] == 0


@pytest.mark.parametrize(("old", "new", "told"), [
    ('velocity="12"', 'velocity="0"', "velocity or effort limits of zero are ignored: left_knee"),
    ('lower="-0.1" upper="2.5"', 'lower="2.5" upper="-0.1"', "position limits with lower > upper are ignored: left_k"),
])  # fmt: skip
def test_limits_that_are_none_are_left_out_and_told_of(old, new, told):
    with pytest.warns(ModelWarning, match=told):
        model = load_urdf(ROBOT.replace(old, new, 1))
    knee = model.bodies[model.joint_index("left_knee")].joint
    assert {knee.max_velocity, knee.upper, -knee.lower} >= {math.inf}
    assert (knee.max_velocity == math.inf) == ("velocity" in new)
    assert (knee.lower, knee.upper) == ((-0.1, 2.5) if "velocity" in new else (-math.inf, math.inf))


def test_what_joints_have_survives_saving():
    model = load_urdf(
        ROBOT, feet=FEET, contacts="collision", armature={"*_knee": 0.02}, facing=(0, 1, 0), posture={"*_hip": 0.1}
    )
    again = load_urdf(urdf_text(model))
    assert [body.joint.kind for body in again.bodies] == [body.joint.kind for body in model.bodies]
    for found, expected in zip(again.bodies, model.bodies, strict=True):
        for name in ("lower", "upper", "max_velocity", "max_effort", "damping", "friction", "armature"):
            assert getattr(found.joint, name) == getattr(expected.joint, name), (found.name, name)
    assert (again.facing, again.left, again.posture, again.feet) == (
        model.facing, (-1.0, 0.0, 0.0), model.posture, model.feet,
    )  # fmt: skip


def test_a_model_without_them_tells_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_urdf(urdf_text(human())).notes == ()


def test_a_robot_stands_in_its_posture():
    posture = {"*_hip": -0.2, "*_knee": 0.4, "*_ankle": -0.2}
    model = load_urdf(ROBOT, feet=FEET, contacts="collision", posture=posture, armature=0.05, locked={"wrist": 0})
    state = standing(model)
    start, weight = state.q.copy(), 9.81 * model.total_mass
    depths = -dynamics.forward_kinematics(model, start).contact[:, 2]
    assert RUBBER.k_n * depths[depths > 0.0].sum() == pytest.approx(weight, rel=1e-12)
    run = simulate(model, JointImpedance(rest=dict(model.posture)), state=state, duration=0.5, step=1e-3)
    state = run.state
    forces = sum(run.frame[f"contact_{point}_fz"] for point in model.contact_names)
    assert forces.iloc[-1] == pytest.approx(weight, rel=0.1)
    np.testing.assert_allclose(state.q[:3], start[:3], atol=0.01)


def test_what_cannot_stand_is_refused():
    with pytest.raises(InputError, match="to stand it needs a floating root, feet and contact points"):
        standing(load_urdf(ROBOT))
    with pytest.raises(InputError, match="trunk applies only to human.*omit it"):
        standing(load_urdf(ROBOT, feet=FEET, contacts="collision"), trunk=(0, 0, 1))


def test_a_model_of_pinocchio_is_that_of_its_file():
    theirs = pin.buildModelFromXML(ROBOT, pin.JointModelFreeFlyer())
    geometry = pin.buildGeomFromUrdfString(theirs, ROBOT, pin.GeometryType.COLLISION)
    options = {"feet": FEET, "contacts": "collision", "locked": {"wrist": 0.3, "follow": 0.0, "grasp": 0.0}}
    found, expected = from_pinocchio(theirs, geometry, **options), load_urdf(ROBOT, **options)
    assert set(found.joint_names) == set(expected.joint_names)
    for body in expected.bodies:
        twin = found.bodies[found.body_index(body.name)]
        assert (twin.parent, twin.mass) == (body.parent, body.mass)
        np.testing.assert_allclose(twin.inertia, body.inertia, atol=1e-15)
        if body.joint.has_axis:
            assert twin.joint == body.joint
    assert found.contact_points == expected.contact_points


def test_rotor_inertia_of_pinocchio_is_armature():
    theirs = pin.buildModelFromXML(ROBOT, pin.JointModelFreeFlyer())
    v = theirs.joints[theirs.getJointId("left_knee")].idx_v
    theirs.rotorInertia[v], theirs.rotorGearRatio[v] = 1e-5, 100.0
    model = from_pinocchio(theirs)
    assert model.bodies[model.joint_index("left_knee")].joint.armature == pytest.approx(0.1)
    assert model.bodies[model.joint_index("right_knee")].joint.armature == 0.0


def test_joints_that_a_model_does_not_have_are_refused():
    theirs = pin.Model()
    theirs.addJoint(0, pin.JointModelPlanar(), pin.SE3.Identity(), "sled")
    theirs.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    with pytest.raises(
        ModelError, match="joint 'sled' is a Planar; .* replace it by joints with one degree of freedom"
    ):
        from_pinocchio(theirs)


@pytest.fixture
def described(tmp_path):
    (tmp_path / "walker.urdf").write_text(ROBOT)
    file = tmp_path / "walker.toml"

    def write(text):
        file.write_text(text)
        return file

    return write


def test_a_robots_file(described):
    model = load_robot(
        described("""
            urdf = "walker.urdf"
            name = "wally"
            feet = ["left_sole", "right_sole"]
            contacts = "collision"
            armature = 0.01
            locked = { wrist = 0.0, grasp = 0.3 }
            posture = { "*_knee" = 0.4, "*_ankle" = -0.4 }
        """)
    )
    assert (model.name, model.nv, model.nc) == ("wally", 12, 8)
    assert dict(model.posture) == {"left_knee": 0.4, "left_ankle": -0.4, "right_knee": 0.4, "right_ankle": -0.4}
    assert {body.joint.armature for body in model.bodies[1:]} == {0.01}


REFUSED = [
    ('urdf = "walker.urdf"\nfoot = []', "unknown key 'foot'; did you mean 'floor' or 'floating' or 'feet'"),
    ("feet = []", "one key, urdf or mjcf, must name the robot's file; got none"),
    ('urdf = "walker.urd"', "there is no URDF file '.*walker.urd'"),
    ("urdf = 3", "urdf must be the name of a file, got 3"),
    ("urdf = ", "not TOML"),
    ('urdf = "walker.urdf"\nfeet = "left_sole"', "feet must be a list of names, got 'left_sole'"),
    ('urdf = "walker.urdf"\nfeet = ["left_soul"]', "feet: unknown link 'left_soul'; did you mean 'left_sole'"),
    ('urdf = "walker.urdf"\ncontacts = "collisions"', "contacts must be 'collision' or a table of lists"),
    ('urdf = "walker.urdf"\ncontacts = "collision"', "needs the option 'feet'"),
    ('urdf = "walker.urdf"\ncontacts = 3', "contacts must be 'collision' or a table of lists of points by link, got 3"),
    ('urdf = "walker.urdf"\ncontacts = {left_sol = [[0, 0, 0]]}', "unknown link 'left_sol'"),
    ('urdf = "walker.urdf"\ncontacts = {left_sole = [[0, 0]]}', "contact 'left_sole_1' must be 3 finite numbers"),
    ('urdf = "walker.urdf"\ncontacts = {left_sole = 3}', "the value of 'left_sole' must be a list of points"),
    ('urdf = "walker.urdf"\nlocked = {rist = 0}', "locked: unknown joint 'rist'; did you mean 'wrist'"),
    ('urdf = "walker.urdf"\nlocked = {wrist = nan}', "locked: joint 'wrist' must be a finite number"),
    ('urdf = "walker.urdf"\nlocked = ["wrist"]', "locked must be a table of joint positions"),
    ('urdf = "walker.urdf"\nposture = {"*_nee" = 0}', r"posture: unknown joint '\*_nee'"),
    ('urdf = "walker.urdf"\nrepair = "marge"', "repair: unknown method 'marge'; did you mean 'merge'"),
    ('urdf = "walker.urdf"\nfacing = [0, 0, 1]', "facing must be horizontal"),
    ('urdf = "walker.urdf"\narmature = -1', "armature must be a finite number, zero or above"),
    ('urdf = "walker.urdf"\narmature = "much"', "armature: .* must be a finite number, got 'much'"),
    ('urdf = "walker.urdf"\nlimits = "no"', "limits must be true or false, got 'no'"),
    ('urdf = "walker.urdf"\nfriction = {knee = 1}', "friction: unknown joint 'knee'; did you mean"),
    ('urdf = "walker.urdf"\nfloor = 0.6', "floor must be a table with a coefficient of friction, like {'mu': 0.6}"),
    ('urdf = "walker.urdf"\nfloor = {mu = -1}', "floor: mu must not be below zero, got -1.0"),
    ('urdf = "walker.urdf"\nfloating = "yes"', "floating must be true or false, got 'yes'"),
    ('urdf = "walker.urdf"\nfeet = ["hand", "finger"]\ncontacts = "collision"', "foot 'hand' has no collision"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[message[:30] for _, message in REFUSED])
def test_a_robots_file_is_refused_in_a_sentence(described, text, message):
    file = described(text)
    with pytest.raises(ModelError, match=message) as caught:
        load_robot(file)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(file))


def test_a_robot_by_the_function_that_makes_it(tmp_path, monkeypatch):
    (tmp_path / "my_robots.py").write_text("from biped import human\ndef person(): return human()\ndef none(): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_robot("my_robots:person") is human()
    with pytest.raises(ModelError, match="unknown function 'persn'; did you mean 'person'"):
        load_robot("my_robots:persn")
    with pytest.raises(ModelError, match="returned None; it must return a biped.Model"):
        load_robot("my_robots:none")
    with pytest.raises(ModelError, match="there is no module my_robotz: it is neither installed nor in"):
        load_robot("my_robotz:person")
    sys.modules.pop("my_robots")


def test_what_is_told_of_files_are_those_that_are_read():
    assert set(ENDINGS) == {".toml", *_BY_ENDING}


def test_what_names_no_robot_is_refused(tmp_path):
    with pytest.raises(ModelError, match="give a file .toml, .urdf, .xml, .mjcf or .json, FILE.py:FUNCTION"):
        load_robot("g1")
    with pytest.raises(ModelError, match="there is no file '.*g1.toml'"):
        load_robot(tmp_path / "g1.toml")
