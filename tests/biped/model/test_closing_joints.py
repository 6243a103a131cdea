"""Joints that close loops: their constraints, files written and read, and refusals."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from biped import model as bm
from biped.dynamics.closing import loop_gaps
from biped.model.archive import model_from_json, model_to_json
from biped.model.description import spelt_out
from biped.runs.state import fingerprint
from tests.refusals import refuses

INERTIA = bm.box_inertia(1.0, (0.1, 0.2, 0.3))
TURN = (0.9, 0.1, -0.2, (1.0 - 0.81 - 0.05) ** 0.5)


def arms(**how):
    one = bm.Body("one", 1.0, INERTIA, (0.0, 0.1, 0.4), bm.revolute("first", (0.0, 1.0, 0.0)))
    two = bm.Body("two", 1.0, INERTIA, (0.0, 0.0, 0.4), bm.revolute("second", (1.0, 1.0, 0.0), (1.0, 0.0, 0.0)))
    plate = bm.Body("plate", 0.1, INERTIA, (0.0, 0.0, 0.0), bm.fixed("weld", (0.0, 0.0, 0.5)), "two")
    wall = bm.Body("wall", 1.0, INERTIA, (0.0, 0.0, 0.0), bm.fixed("bolt", (0.0, 2.0, 0.0)))
    return bm.Model("arms", (one, two, plate, wall), **how)


def joined(**how):
    how = {"name": "loop", "kind": "revolute", "parent": "one", "child": "two"} | how
    return arms(closing_joints=(bm.ClosingJoint(**how),))


def test_a_joint_on_welded_bodies_moves_to_what_carries_them():
    (one,) = joined(
        parent="wall", child="plate", position=(0.1, 0.0, 0.0), child_position=(0.0, 0.0, 0.2)
    ).closing_joints
    assert (one.parent, one.child) == (None, "two")
    assert_allclose(one.position, (0.1, 2.0, 0.0))
    assert_allclose(one.child_position, (0.0, 0.0, 0.7))


def test_the_gap_is_where_the_points_are():
    model = joined(kind="fixed", position=(0.0, 0.0, 0.5), child_position=(0.0, 0.0, 0.5))
    assert loop_gaps(model, model.neutral())["loop"] == pytest.approx(1.0, abs=1e-15)
    turned = joined(kind="fixed_orientation", alignment=TURN)
    assert loop_gaps(turned, turned.neutral())["loop"] == pytest.approx(2.0 * max(map(abs, TURN[1:])), abs=1e-15)


@pytest.mark.parametrize("parent", ["one", None])
@pytest.mark.parametrize("kind", [
    {"kind": "cylindrical"},
    {"kind": "universal", "second_axis": (0.2, 0.0, -0.1)},
    {"kind": "helical", "pitch": 0.1},
], ids=lambda kind: kind["kind"])  # fmt: skip
def test_files_keep_them(kind, parent):
    model = joined(
        parent=parent, axis=(0.1, 0.7, 0.2), position=(0.1, 0.2, 0.3), child_position=(0.3, 0.2, 0.1), alignment=TURN,
        **kind,
    )  # fmt: skip
    assert model_from_json(model_to_json(model)) == model
    (again,), (one,) = bm.load_urdf(bm.urdf_text(model)).closing_joints, model.closing_joints
    assert (again.name, again.kind, again.parent, again.child) == (one.name, one.kind, one.parent, one.child)
    for field in ("axis", "position", "child_position", "alignment", "pitch"):
        assert_allclose(getattr(again, field), getattr(one, field), rtol=0.0, atol=1e-15)
    if one.second_axis is None:
        assert again.second_axis is None
    else:
        assert_allclose(again.second_axis, one.second_axis, rtol=0.0, atol=1e-15)


def test_frames_of_a_file_from_elsewhere_are_turned_to_ours():
    """Links have rotated frames at home; both frames of the joint coincide there, so that the loop is closed."""
    model = bm.load_urdf("""
    <robot name="turned">
      <link name="world"/>
      <link name="a"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="b"><inertial><origin xyz="0 0 0.1"/><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="u" type="continuous"><origin xyz="0 0 0" rpy="0 0 1.5707963267948966"/>
        <parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>
      <joint name="v" type="continuous"><origin xyz="1 0 0" rpy="1.5707963267948966 0 0"/>
        <parent link="world"/><child link="b"/><axis xyz="1 0 0"/></joint>
      <biped><closing_joint name="loop" type="fixed">
        <parent link="a" xyz="0 -0.5 0.25"/>
        <child link="b" xyz="-0.5 0.25 0" rpy="0 1.5707963267948966 1.5707963267948966"/>
        <axis xyz="0 0 1"/></closing_joint></biped>
    </robot>""")
    assert model.closing_joints[0].position == pytest.approx((0.5, 0.0, 0.25))
    gaps = loop_gaps(model, model.neutral())
    point = np.subtract(model.closing_joints[0].child_position, (-0.5, 0.0, 0.25))
    assert np.abs(point).max() < 1e-12
    assert gaps["loop"] < 1e-12


@refuses(
    ({"kind": "hinge"}, "closing joint 'loop': unknown kind 'hinge'"),
    ({"child": "three"}, "closing joint 'loop': unknown body 'three'"),
    ({"parent": "thre"}, "closing joint 'loop': unknown body 'thre'"),
    ({"parent": "two"}, "parent and child are both 'two'"),
    ({"parent": "plate"}, "parent and child are both 'two'"),
    ({"child": "wall"}, "body 'wall' is fixed to the ground"),
    ({"name": "second"}, "two joints are named 'second'"),
    ({"axis": (0.0, 0.0, 0.0)}, "closing joint 'loop': axis"),
    ({"alignment": (1.0, 1.0, 0.0, 0.0)}, "closing joint 'loop': alignment must be a unit quaternion"),
    ({"kind": "universal"}, "closing joint 'loop': a cardan joint needs a second_axis"),
    ({"kind": "universal", "second_axis": (0.1, 0.0, 1.0)}, "must be at a right angle to axis"),
    ({"second_axis": (1.0, 0.0, 0.0)}, "only a cardan joint has a second axis"),
    ({"kind": "helical"}, "helical joints need a pitch, all others pitch = 0"),
    ({"pitch": 0.1}, "helical joints need a pitch, all others pitch = 0"),
    ({"kind": "helical", "pitch": float("nan")}, "closing joint 'loop': pitch"),
    error=bm.ModelError,
)
def test_what_is_no_closing_joint_is_refused(how):
    joined(**how)


def test_a_floating_model_is_not_held_to_the_ground():
    with pytest.raises(bm.ModelError, match="the root floats"):
        replace(bm.human(), closing_joints=(bm.ClosingJoint("rail", "spherical", None, "trunk"),))


@pytest.mark.parametrize(("element", "told"), [
    ('<closing_joint name="d" type="revolute"><parent link="one"/></closing_joint>', "needs an element <child"),
    ('<closing_joint name="d"><parent link="one"/><child link="two"/></closing_joint>', "'type', which is missing"),
    ('<closing_joint name="d" type="fixed"><parent link="one"/><child link="three"/></closing_joint>',
     "closing joint 'd': unknown link 'three'"),
    ('<closing_joint name="d" type="fixed"><parent link="one"/><child link="world"/></closing_joint>',
     "link 'world' is fixed to the ground: swap <child> and <parent>"),
])  # fmt: skip
def test_what_a_file_says_wrong_is_told(element, told):
    text = bm.urdf_text(joined()).replace("</biped>", f"{element}</biped>")
    assert element in text
    with pytest.raises(bm.ModelError, match=told):
        bm.load_urdf(text)


def test_loops_belong_to_what_a_model_is():
    assert spelt_out(joined()) != spelt_out(arms())
    assert joined().without_closing_joints() == arms()


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12), floats=st.booleans())
@settings(max_examples=50)
def test_random_trees_come_back_to_the_last_bit(seed, n, floats):
    kinds = ("revolute", "prismatic", "helical", "spherical")
    model = bm.random_tree(np.random.default_rng(seed), n, floating=floats, kinds=kinds, contacts=3, armature=0.1)
    again = model_from_json(model_to_json(model))
    assert again == model
    assert fingerprint(again) == fingerprint(model)
    for name in model.tree._fields:
        assert getattr(again.tree, name).tobytes() == getattr(model.tree, name).tobytes(), name


def test_all_that_a_model_has_comes_back():
    person = bm.human()
    knee = person.joint_index("left_knee_pitch")
    body = person.bodies[knee]
    joint = replace(body.joint, lower=-2.0, max_effort=90.0, damping=0.1, friction=0.2, armature=0.3)
    model = replace(
        person, bodies=(*person.bodies[:knee], replace(body, joint=joint), *person.bodies[knee + 1 :]),
        posture=(("left_knee_pitch", -0.3),), notes=("nothing of this is true",), gravity=(0.1, 0.0, -1.62),
        visuals=(bm.Visual("trunk", "mesh", (1, -1, 0.001), (0, 0, 1), file="a.stl"),
            bm.Visual("trunk", "sphere", color=(1, 0, 0))),
        lines=(bm.Line("trunk", None, (0, 0, 0.3), (0.1, 0, 2), (0, 0.5, 1)),),
    )  # fmt: skip
    assert model_from_json(model_to_json(model)) == model


def test_a_turned_box_comes_back():
    model = replace(
        bm.rigid_box(1, (1, 1, 1)), shapes=(bm.Box("box", (1, 2, 3), rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]]),)
    )
    assert model_from_json(model_to_json(model)) == model


def damaged(change):
    saved = json.loads(model_to_json(bm.human()))
    change(saved)
    return json.dumps(saved)


@refuses(
    ("{", "not a model that biped saved"),
    ("[]", "not a model that biped saved"),
    (damaged(lambda saved: saved.update(format=2)), "saved by another version"),
    (damaged(lambda saved: saved.pop("gravity")), "gravity: missing or unknown field"),
    (damaged(lambda saved: saved["bodies"][1].update(colour="red")), "colour: missing or unknown field"),
    (damaged(lambda saved: saved["bodies"][1].update(mass=-1.0)), "mass must not be below zero"),
    (damaged(lambda saved: saved["bodies"][1]["joint"].update(axle=1)), "axle"),
    error=bm.ModelError,
)  # fmt: skip
def test_what_is_no_model_is_refused(text):
    model_from_json(text)
