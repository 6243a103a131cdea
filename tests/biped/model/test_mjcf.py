"""MJCF files with all supported features, against MuJoCo's own compiled model of the same file."""

import math
import struct
import sys

import numpy as np
import pytest

from biped.model import Actuator, ModelError, load_mjcf, load_robot
from biped.model.archive import model_from_json, model_to_json
from biped.model.description import spelt_out
from tests.mjcf_twin import Twin

mujoco = pytest.importorskip("mujoco")
pytestmark = pytest.mark.filterwarnings("ignore::biped.model.errors.ModelWarning")

#: Relative: of sums of a few numbers in double precision.
ROUNDING = 1e-10

LIMB = '<geom type="capsule" fromto="0 0 0 .05 .02 -.4" size=".05" mass="3"/>'
TREE = """<body name="trunk" pos="0 0 1" quat=".9 .1 .2 .3"><freejoint name="root"/>
  <geom type="box" size=".1 .15 .2" mass="20"/>
  <body name="thigh" pos="0 .1 -.1" euler="10 20 30"><joint name="hip" axis="1 1 0" pos="0 .01 .02"/>{limb}
    <body name="foot" pos="0 0 -.4"><joint name="ankle" axis="0 1 0" pos="0 0 .03"/>
      <geom name="sole" type="box" size=".12 .05 .02" pos=".04 0 -.05" mass="1"/></body></body></body>"""


def tree(limb=LIMB, **attributes):
    text = TREE.format(limb=limb)
    for joint, more in attributes.items():
        text = text.replace(f'name="{joint}"', f'name="{joint}" {more}')
    return text


def body(inside, name="c"):
    return f'<body name="{name}" pos=".1 .2 .3" quat="1 2 3 4">{inside}{LIMB}</body>'


def document(bodies, before="", after=""):
    return f'<mujoco model="made up">{before}<worldbody>{bodies}</worldbody>{after}</mujoco>'


def cube(path):
    corners = 0.2 * np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = [[corners[i] for i in (a, *pair)] for a, *bcd in faces for pair in (bcd[:2], bcd[1:])]
    rows = [struct.pack("<12fH", *np.zeros(3), *np.ravel(triangle), 0) for triangle in triangles]
    path.write_bytes(bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows))


@pytest.fixture
def written(tmp_path):
    (tmp_path / "parts" / "meshes").mkdir(parents=True)
    cube(tmp_path / "parts" / "meshes" / "cube.stl")
    (tmp_path / "parts" / "limb.xml").write_text(f"<mujoco><worldbody>{tree()}</worldbody></mujoco>")
    (tmp_path / "defaults.xml").write_text('<mujoco><default><joint damping="2" armature=".1"/></default></mujoco>')

    def write(text, name="robot.xml"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


RADIANS = '<compiler angle="radian"/>'
MESH = '<asset><mesh name="cube" file="cube.stl" scale="1 2 .5"/></asset>'
BY_MESH = '<geom type="mesh" mesh="cube" mass="3" pos=".1 .2 .3" euler="10 20 30"/>'
FULL = '<inertial pos=".01 .02 .03" mass="3" fullinertia=".02 .03 .04 .001 .002 .003"/>'
TURNED = '<inertial pos=".01 .02 .03" quat="1 .2 .3 .4" mass="3" diaginertia=".02 .03 .04"/>'
SLIDE, BALL = '<joint name="s" type="slide" axis="0 1 1"/>', '<joint name="ball" type="ball" pos=".1 0 0"/>'
THREE = f'<joint name="a" axis="1 0 0" pos="0 0 .1"/>{SLIDE}<joint name="b" axis="0 1 0" pos=".1 0 0"/>'
HINGE, NAMELESS = '<joint name="h" axis="0 1 0"/>', '<joint axis="1 0 0"/><joint axis="0 1 0"/>'
KINDS = {
    "masses given": document(tree()),
    "masses by density": document(tree(LIMB.replace('mass="3"', 'density="800"'))),
    "masses of what does not collide": document(tree(f'{LIMB}<geom size=".1" mass="8" contype="0" conaffinity="0"/>')),
    "masses of some groups": document(
        tree(f'{LIMB}<geom size=".1" mass="8" group="3"/>'), '<compiler inertiagrouprange="0 2"/>'
    ),
    "masses of shells": document(tree(LIMB.replace("<geom", '<geom shellinertia="true"'))),
    "a total mass": document(tree(), '<compiler settotalmass="70"/>'),
    "a full inertia": document(tree(FULL)),
    "an inertia in axes of its own": document(tree(TURNED)),
    "inertias from geoms all the same": document(tree(FULL + LIMB), '<compiler inertiafromgeom="true"/>'),
    "inertias balanced": document(
        tree('<inertial pos="0 0 0" mass="3" diaginertia=".01 .01 .5"/>'), '<compiler balanceinertia="true"/>'
    ),
    "least masses": document(tree('<geom size=".001"/>'), '<compiler boundmass=".5" boundinertia=".01"/>'),
    "a mesh's mass": document(tree(BY_MESH), f'<compiler meshdir="parts/meshes"/>{MESH}'),
    "radians": document(tree(hip='range="-.5 1"'), RADIANS),
    "degrees": document(tree(hip='range="-30 60"')),
    "another sequence of angles": document(tree(), '<compiler eulerseq="ZYX"/>'),
    "limits without autolimits": document(
        tree(hip='range="-30 60" limited="true"', ankle='range="-1 1" limited="false"'),
        '<compiler autolimits="false"/>',
    ),
    "limits that are none": document(tree(hip='range="-30 60" limited="false"', ankle='range="-1 1" limited="true"')),
    "references": document(tree(hip='ref="30" range="10 90"', ankle='type="slide" ref=".1" range="-.2 .5"')),
    "bearings": document(tree(hip='armature=".2" damping="3" frictionloss=".4"', ankle='damping=".5"')),
    "bearings of actuators": document(
        tree(), after='<actuator><position joint="hip" kp="9" gear="3" armature=".01" damping=".2"/></actuator>'
    ),
    "defaults": document(
        tree().replace('<body name="thigh"', '<body name="thigh" childclass="leg"'),
        '<default><joint damping="1"/><default class="leg"><joint armature=".3"/></default></default>',
    ),
    "a part included": '<mujoco><include file="parts/limb.xml"/></mujoco>',
    "defaults included": document(tree(), '<include file="defaults.xml"/>'),
    "frames": document(tree(f'<frame pos=".1 0 0" euler="0 30 0">{LIMB}</frame>')),
    "a limb thrice": document(
        tree(f'{LIMB}<replicate count="3" euler="0 0 120">{body(HINGE, "toe")}</replicate>')
    ),
    "parts attached": document(
        tree(f'{LIMB}<frame pos="0 .2 0"><attach model="limb" body="arm" prefix="left_"/></frame>'),
        '<asset><model name="limb" file="limb_alone.xml"/></asset>',
    ),
    "several joints on a body": document(tree(body(THREE) + LIMB)),
    "a ball joint": document(tree(body(BALL) + LIMB)),
    "a slide and a ball on a body": document(tree(body(SLIDE + BALL) + LIMB)),
    "bodies without joints": document(tree(LIMB + body(body("", "d")))),
    "nothing that floats": document(body(body(SLIDE, "cart"), "rail")),
    "two trees on the ground": document(body(SLIDE, "a") + body(HINGE, "b")),
    "bodies and joints of one name, or without": document(
        tree(body(NAMELESS, "ankle") + body(NAMELESS + '<joint name="ankle_joint_1" axis="0 0 1"/>', "") + LIMB)
    ),
    "no gravity": document(tree(), '<option><flag gravity="disable"/></option>'),
    "gravity aslant": document(tree(), '<option gravity="1 2 -1.62"/>'),
    "a floor and a box of the world": document(
        f'<geom type="plane" size="1 1 1"/><geom type="box" size="1 1 1" pos="3 0 0"/>{tree()}'
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*settotalmass")
@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_what_mujoco_compiles(written, kind):
    written(
        f'<mujoco><worldbody><body name="arm"><joint name="j"/>{LIMB}</body></worldbody></mujoco>', "limb_alone.xml"
    )
    path = written(KINDS[kind])
    model = load_mjcf(path)
    errors = Twin(path, model).errors(np.random.default_rng(0))
    assert max(errors.values()) < ROUNDING, errors
    assert model.total_mass > 1.0


def test_gravity_and_masses_by_hand(written):
    """Values from the file: 20, 3 and 1 kg, scaled to 70 kg, on the moon."""
    model = load_mjcf(written(document(tree(), '<compiler settotalmass="70"/><option gravity="0 0 -1.62"/>')))
    assert [body.mass for body in model.bodies] == pytest.approx([70 * 20 / 24, 70 * 3 / 24, 70 * 1 / 24], rel=1e-12)
    assert model.gravity == (0.0, 0.0, -1.62)
    assert load_mjcf(written(document(tree(), '<option><flag gravity="disable"/></option>'))).gravity == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(("attributes", "lower", "upper"), [
    ('range="-30 60"', math.radians(-30), math.radians(60)),
    ('range="-30 60" limited="false"', -math.inf, math.inf),
    ('range="10 90" ref="30"', math.radians(-20), math.radians(60)),
    ('type="slide" range="-1 1"', -1.0, 1.0),
    ('type="slide" range="-1 1" ref=".25"', -1.25, 0.75),
    ("", -math.inf, math.inf),
])  # fmt: skip
def test_limits_are_counted_from_where_the_file_draws_the_joint(written, attributes, lower, upper):
    joint = load_mjcf(written(document(tree(hip=attributes)))).bodies[1].joint
    assert (joint.lower, joint.upper) == pytest.approx((lower, upper), rel=1e-12)


@pytest.mark.parametrize(("flags", "damping"), [
    ('limit="disable" frictionloss="disable" damper="disable"', 0.0), ('constraint="disable"', 2.0),
])  # fmt: skip
def test_flags_turn_limits_and_bearings_off(written, flags, damping):
    joints = tree(hip='range="-1 1" frictionloss="1" damping="2" armature=".1"')
    joint = load_mjcf(written(document(joints, f"<option><flag {flags}/></option>"))).bodies[1].joint
    assert (joint.upper, joint.friction, joint.damping, joint.armature) == (math.inf, 0.0, damping, 0.1)


@pytest.mark.parametrize("flag", ['actuatorgroupdisable="2"/>', '><flag actuation="disable"/></option>'])
def test_actuators_that_are_turned_off_are_told_of(written, flag):
    motor = '<actuator><motor name="m" joint="hip" group="2" ctrlrange="-1 1"/></actuator>'
    model = load_mjcf(written(document(tree(), f"<option {flag}", motor)))
    assert model.actuators == ()
    assert "not read: <actuator>: m (disabled by <option>)" in model.notes


def test_between_several_joints_of_a_body_stand_links_without_mass(written):
    model = load_mjcf(written(KINDS["several joints on a body"]))
    assert model.joint_names == ("hip", "a", "s", "b", "ankle")
    assert [model.bodies[model.joint_index(name)].mass for name in "asb"] == [0.0, 0.0, 3.0]


@pytest.mark.parametrize("floating", [True, False])
def test_the_root_floats_or_is_held_as_asked(written, floating):
    fixed = written(document(tree().replace('<freejoint name="root"/>', "")))
    assert load_mjcf(fixed, floating=floating).is_floating == floating
    assert load_mjcf(written(document(tree())), floating=floating).is_floating == floating
    model = load_mjcf(fixed, floating=True)
    assert model.total_mass == pytest.approx(24.0)
    assert model.root.joint.position == (0.0, 0.0, 1.0)
    assert model.root.com == pytest.approx((0.0, 0.0, 0.0))


def test_what_moves_beside_a_floating_root_is_locked_or_refused(written):
    loose = f'<body name="spare" pos="0 0 20"><joint name="unused"/>{LIMB}</body>'
    file = written(document(loose + tree()))
    with pytest.raises(
        ModelError, match=r"not in the tree of the free joint 'root': unused; lock them: locked=\{'unused': 0.0\}"
    ):
        load_mjcf(file)
    model = load_mjcf(file, locked={"un*": 0.0})
    assert model.joint_names == ("hip", "ankle")
    assert model.total_mass == pytest.approx(24.0)
    ball = '<body name="ball"><freejoint name="ball"/><geom size=".1"/></body>'
    with pytest.raises(ModelError, match="the free joint 'root': ball; remove their bodies from a copy of the file"):
        load_mjcf(written(document(tree() + ball)))


ACTUATORS = """<actuator>
  <position name="servo" joint="hip" kp="40" kv="3" gear="2" ctrlrange="-.5 .9" forcerange="-30 20"/>
  <velocity name="drive" joint="ankle" kv="5" ctrlrange="-2 2"/>
  <motor name="motor" joint="knee" gear="-50" ctrlrange="-1 1"/>
  <general name="any" joint="toe" gainprm="7" biastype="affine" biasprm="1 -2 -.5" gear="3" forcerange="-9 9"/>
  <position name="inherited" joint="heel" kp="10" inheritrange="1"/>
  <motor name="free" joint="slide" ctrllimited="false" forcelimited="false" ctrlrange="-1 1" forcerange="-1 1"/>
</actuator>"""
ACTUATED = document(
    '<body name="base"><joint name="hip" ref="20"/>' + LIMB + "".join(
        f'<body pos="{k}e-1 0 0"><joint name="{name}" axis="0 1 0" {more}/>{LIMB}</body>'
        for k, (name, more) in enumerate({
            "ankle": "", "knee": 'actuatorfrcrange="-30 30"', "toe": 'ref="-40"', "heel": 'range="-50 70" ref="10"',
            "slide": 'type="slide"', "idle": "",
        }.items())
    ) + "</body>", after=ACTUATORS,
)  # fmt: skip


def test_actuators_exert_what_mujocos_do(written):
    path = written(ACTUATED)
    model, engine = load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(engine), np.random.default_rng(1)
    for _ in range(50):
        q, v, u = rng.uniform(-2, 2, engine.nq), rng.uniform(-3, 3, engine.nv), rng.uniform(-3, 3, engine.nu)
        data.qpos[:], data.qvel[:], data.ctrl[:] = engine.qpos0 + q, v, u
        mujoco.mj_forward(engine, data)
        for k, one in enumerate(model.actuators):
            joint = engine.joint(one.joint).id
            control = u[k] - (one.gear * engine.qpos0[joint] if one.name in ("servo", "inherited") else 0.0)
            dof = engine.jnt_dofadr[joint]
            force = float(np.clip(one.effort(control, q[joint], v[dof]), *joint_range(engine, joint)))
            assert force == pytest.approx(data.qfrc_actuator[dof], rel=1e-10, abs=1e-10), one.name


def joint_range(engine, joint):
    return engine.jnt_actfrcrange[joint] if engine.jnt_actfrclimited[joint] else (-np.inf, np.inf)


def test_what_bounds_actuators_bounds_efforts(written):
    """The greatest force of the actuator times its gear; of the knee, actuatorfrcrange is less than 50 N·m."""
    model = load_mjcf(written(ACTUATED))
    efforts = {body.joint.name: body.joint.max_effort for body in model.bodies}
    assert efforts == {
        "hip": 60.0, "ankle": math.inf, "knee": 30.0, "toe": 27.0, "heel": math.inf, "slide": math.inf,
        "idle": math.inf,
    }  # fmt: skip
    assert model.actuators[4].ctrl_range == pytest.approx((math.radians(-60), math.radians(60)))
    assert "joints without an <actuator>, which a controller may nevertheless drive: idle" in model.notes
    assert "forces whose bounds differ by direction: the greater bound is used for both: hip" in model.notes
    assert load_mjcf(written(ACTUATED), locked={"hip": 0.0}).actuators == model.actuators[1:]


def test_of_several_actuators_efforts_add_up_unless_one_is_not_read(written):
    motors = '<motor joint="hip" ctrlrange="-2 2"/><motor joint="hip" gear="3" ctrlrange="-1 1"/>'
    both = load_mjcf(written(document(tree(), after=f"<actuator>{motors}</actuator>")))
    with_damper = f'<actuator>{motors}<damper joint="hip" kv="1" ctrlrange="0 1"/></actuator>'
    assert both.bodies[1].joint.max_effort == 5.0
    pull = document(tree(), after='<actuator><motor joint="hip" ctrlrange="0 2"/></actuator>')
    assert (
        "forces whose bounds differ by direction: the greater bound is used for both: hip"
        in load_mjcf(written(pull)).notes
    )
    assert load_mjcf(written(document(tree(), after=with_damper))).bodies[1].joint.max_effort == math.inf


def test_actuators_are_saved_and_belong_to_the_digest(written):
    model = load_mjcf(written(ACTUATED))
    assert model_from_json(model_to_json(model)) == model
    assert "servo" in spelt_out(model)
    assert "servo" not in spelt_out(load_mjcf(written(document(tree()))))


def test_controls_beyond_their_range_are_counted():
    servo = Actuator("servo", "knee", gain=10.0, bias=(0.0, -10.0, 0.0), ctrl_range=(-0.5, 0.5))
    assert servo.effort([0.2, 2.0, -2.0], 0.1).tolist() == pytest.approx([1.0, 4.0, -6.0])
    assert servo.share_beyond([0.1, 0.6, -0.7, 0.5]) == 0.5


FEET = {"feet": ["foot"], "contacts": "collision"}
FLOOR = '<geom name="floor" type="plane" size="5 5 1" friction="{mu} .1 .1"/>'
UPRIGHT = tree().replace(' quat=".9 .1 .2 .3"', "").replace(' euler="10 20 30"', "")
IDLE = UPRIGHT.replace('name="sole"', 'name="sole" contype="0" conaffinity="0"')
PAIR = '<contact><pair geom1="sole" geom2="floor" friction=".45 .45 .1 .1 .1"/></contact>'


@pytest.mark.parametrize(
    ("bodies", "after", "mu"),
    [
        (FLOOR.format(mu=0.6) + UPRIGHT, "", 1.0),  # the greater of both: geoms have 1 by default
        (FLOOR.format(mu=1.3) + UPRIGHT, "", 1.3),
        (FLOOR.format(mu=0.6).replace("<geom", '<geom priority="1"') + UPRIGHT, "", 0.6),
        (FLOOR.format(mu=0.6) + IDLE, PAIR, 0.45),
        (FLOOR.format(mu=0.6) + IDLE, PAIR.replace(".45 .45", ".45 .35"), 0.35),  # the lesser of two directions
        (FLOOR.format(mu=0.6) + IDLE, PAIR.replace("<pair", '<pair condim="1"'), 0.0),
        (FLOOR.format(mu=0.6).replace("<geom", '<geom condim="1" priority="1"') + UPRIGHT, "", 0.0),
        (FLOOR.format(mu=0.6) + UPRIGHT, '<option o_friction=".2 .2 0 0 0"><flag override="enable"/></option>', 0.2),
        (UPRIGHT, "", None),
    ],
)
def test_soles_and_the_floors_friction_are_found(written, bodies, after, mu):
    """The corners of the box of the foot: 4 cm ahead of it ± 12 cm, 7 cm below."""
    model = load_mjcf(written(document(bodies, after=after)), **FEET)
    assert sorted(tuple(np.round(point.position, 12)) for point in model.contact_points) == [
        (-0.08, -0.05, -0.1), (-0.08, 0.05, -0.1), (0.16, -0.05, -0.1), (0.16, 0.05, -0.1),
    ]  # fmt: skip
    assert model.floor_friction == mu


def test_a_foot_that_touches_nothing_is_told_of(written):
    with pytest.raises(
        ModelError, match="foot 'foot' has no collision geometry .*load the scene whose <contact><pair>"
    ):
        load_mjcf(written(document(IDLE)), **FEET)


def test_a_floor_elsewhere_and_walls_are_told_of(written):
    low = '<geom name="low" type="plane" size="1 1 1" pos="0 0 -.5"/>'
    wall = '<geom name="wall" type="plane" size="1 1 1" euler="0 90 0"/>'
    notes = load_mjcf(written(document(low + wall + UPRIGHT))).notes
    assert "<geom> plane low is not level at height 0, as the used floor is" in notes
    assert "not simulated: collision geometry of the world other than a floor, <geom>: wall" in notes


def test_a_robots_file_may_name_a_scene_or_a_floor(written, tmp_path):
    written(document(UPRIGHT))
    scene = FLOOR.format(mu=1.6)
    (tmp_path / "scene.xml").write_text(f'<mujoco><include file="robot.xml"/><worldbody>{scene}</worldbody></mujoco>')
    (tmp_path / "robot.toml").write_text('mjcf = "scene.xml"\nfeet = ["foot"]\n')
    assert load_robot(tmp_path / "robot.toml").floor_friction == 1.6
    (tmp_path / "robot.toml").write_text('mjcf = "scene.xml"\nfloor = { mu = 0.25 }\n')
    assert load_robot(tmp_path / "robot.toml").floor_friction == 0.25


def test_what_is_not_simulated_is_told_by_tag_and_name(written):
    bodies = tree(hip='stiffness="20" springref="10"').replace('name="foot"', 'name="foot" gravcomp="1"').replace(
        '<freejoint name="root"/>', '<joint name="root" type="free" damping="1"/>'
    ) + '<body name="target" mocap="true"><geom name="aim" size=".1"/></body>'  # fmt: skip
    after = """<tendon><fixed name="cable"><joint joint="hip" coef="1"/></fixed></tendon>
      <equality><joint name="coupled" joint1="hip" joint2="ankle"/></equality>
      <actuator><motor name="winch" tendon="cable"/>
        <position name="slow" joint="hip" kp="1" timeconst=".1"/></actuator>"""
    notes = load_mjcf(written(document(bodies, '<option density="1000" wind="0 2 0"/>', after))).notes
    told = "\n".join(notes)
    for words in (
        "<joint stiffness> (a controller's Impedance can be one): hip (20 about 0.174533)", "<body gravcomp>: foot",
        "damping and frictionloss of free and ball joints: root", "<body mocap>, which stays where it is: target",
        "<tendon>: cable", "<equality>: joint coupled", "<option>: density 1000, wind 2", "<geom>: aim",
        "<actuator>: winch (acts on a tendon), slow (dyntype filterexact)",
    ):  # fmt: skip
        assert words in told
    assert len(notes) == len(set(notes)) == 10  # with the ankle, which has no actuator


def test_a_plain_file_tells_nothing(written):
    assert load_mjcf(written(document(tree()))).notes == ()


def test_what_an_mjcf_looks_like(written, tmp_path):
    shapes = """<geom type="capsule" size="0.05 0.1" pos="0 0 0.2" rgba="1 0 0 1"/><geom type="ellipsoid" size="1 2 3"/>
      <geom type="box" size="0.1 0.2 0.3" quat="0.8 0.6 0 0"/><geom size=".3" group="3"/>
      <geom type="mesh" mesh="cube" pos="0.1 0 0" material="blue"/>"""
    assets = f'{MESH}<asset><material name="blue" rgba="0 0 1 1"/></asset>'
    body = f'<body name="trunk"><freejoint/>{FULL}{shapes}</body>'
    visuals = load_mjcf(written(document(body, f'<compiler meshdir="parts/meshes"/>{assets}'))).visuals
    capsule, ball, box, mesh = sorted(visuals, key=lambda v: "csbm".index(v.form[0]))
    assert (capsule.form, capsule.size, capsule.color) == ("capsule", pytest.approx((0.1, 0.1, 0.3)), (1.0, 0.0, 0.0))
    assert (capsule.body, capsule.center) == ("trunk", pytest.approx((0.0, 0.0, 0.2)))
    assert (ball.form, ball.size, ball.color) == ("sphere", (2.0, 4.0, 6.0), None)
    assert np.array(box.rotation) == pytest.approx(np.array([[1, 0, 0], [0, 0.28, -0.96], [0, 0.96, 0.28]]))
    assert (mesh.file, mesh.size) == (str(tmp_path / "parts" / "meshes" / "cube.stl"), (1.0, 2.0, 0.5))
    assert (mesh.color, mesh.center) == ((0.0, 0.0, 1.0), pytest.approx((0.1, 0.0, 0.0)))
    assert np.array(mesh.rotation) == pytest.approx(np.eye(3), abs=1e-6)  # MuJoCo's meshes are in single precision


def test_meshes_that_are_moved_are_told_of_and_those_that_are_not_there_are_refused(written):
    gone = '<asset><mesh name="gone" file="no.stl"/></asset>'
    drawn = '<geom type="mesh" mesh="gone" mass="1"/>'
    cube = f'<compiler meshdir="parts/meshes"/>{MESH}'.replace("scale", 'refpos=".1 0 0" scale')
    notes = load_mjcf(written(document(tree(BY_MESH), cube))).notes
    assert notes == ("<mesh refpos> and <mesh refquat> are ignored in drawings: cube",)
    with pytest.raises(ModelError, match="Error opening file '.*no.stl'; put that file at the path in the MJCF"):
        load_mjcf(written(document(tree(drawn), gone)))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<mujoco>", "MuJoCo refuses the MJCF .*XML parse error.* is not well-formed XML in UTF-8"),
        (document(tree().replace('"hip"', '"universe"')), "joint 'universe': Pinocchio .*; rename the joint"),
        ("<mujoco/>", r"nor its included files have a <body>; load the robot's file"),
        ("", "MuJoCo refuses the MJCF"),
        ('<robot name="r"/>', "is a URDF, not an MJCF: rename it to end in .urdf"),
        (document(tree(hip='type="odd"')), "MuJoCo refuses the MJCF .*invalid"),
        (document(tree(hip='class="none"')), "MuJoCo refuses the MJCF .*unknown default class"),
        (document(tree(hip='foo="1"')), "unrecognized attribute: 'foo'"),
        (document('<body><freejoint/></body>'), "mass and inertia of moving bodies"),
        (document('<body name="rock"><geom size="1"/></body>'), "no body has a joint; load with floating=True"),
        (document(tree(), after=PAIR), "'floor' not found .*; if it is in a scene that includes this file, load"),
        ('<mujoco><include file="absent.xml"/></mujoco>', "absent.xml.*; put that file at the path in the MJCF"),
    ],
)  # fmt: skip
def test_what_is_no_model_is_refused_in_a_sentence(written, text, why):
    with pytest.raises(ModelError, match=why) as caught:
        load_mjcf(written(text))
    assert "\n" not in str(caught.value)
    assert ".cc" not in str(caught.value)


def test_names_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "old.xml"
    path.write_bytes(document(tree().replace('"hip"', '"hüfte"')).encode("latin-1"))
    with pytest.raises(ModelError, match="can't decode byte.* is not well-formed XML in UTF-8"):
        load_mjcf(path)


def test_without_mujoco_the_extra_is_named(written, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"MJCF files need MuJoCo: pip install 'biped-balance\[mujoco\]'"):
        load_mjcf(written(document(tree())))


def test_a_file_that_is_not_there_and_an_option_that_is_none_are_refused(written, tmp_path):
    with pytest.raises(ModelError, match="there is no MJCF file"):
        load_mjcf(tmp_path / "absent.xml")
    with pytest.raises(ModelError, match="unknown option 'foots'"):
        load_mjcf(written(document(tree())), foots=[])
