"""``biped robot``: what it finds of a robot that was made up, and that its file is taken by all that takes robots."""

import json
import re

import numpy as np
import pytest

from biped import human, load_robot, standing
from biped.model import urdf_text
from biped.model.legs import straight_knees
from experiments.cli.main import main

pytestmark = pytest.mark.filterwarnings("ignore::biped.model.errors.ModelWarning")

#: The human under other names, as another program would write it: without what only ours reads.
URDF = re.sub(r"<biped.*</biped>", "", urdf_text(human()), flags=re.DOTALL).replace("_shank", "_shin")

LEG = """<body name="{side}_thigh" pos="{across} -0.1"><joint name="{side}_hip" axis="{axis}" range="{hip}"/>
 <geom type="capsule" size="0.05 0.15" pos="0 0 -0.2" mass="4"/>
 <body name="{side}_shank" pos="0 0 -0.4"><joint name="{side}_knee" axis="{axis}" range="{knee}"/>
  <geom type="capsule" size="0.04 0.15" pos="0 0 -0.2" mass="3"/>
  <body name="{side}_foot" pos="0 0 -0.4"><joint name="{side}_ankle" axis="{axis}" range="-60 60"/>
   <geom type="box" size="{box} 0.02" pos="{ahead} -0.05" mass="1"/>
  </body></body></body>"""


def mjcf(across, axis, box, ahead, hip="-90 90", knee="-10 150"):
    """A biped of two legs with hips, knees and ankles."""
    sides = {"left": across, "right": " ".join(str(-float(number)) for number in across.split())}
    legs = "".join(
        LEG.format(side=side, across=place, axis=axis, box=box, ahead=ahead, hip=hip, knee=knee)
        for side, place in sides.items()
    )
    return (
        '<mujoco model="walker"><compiler angle="degree"/><default><joint limited="true"/></default><worldbody>'
        f'<body name="pelvis" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="20"/>{legs}</body>'
        "</worldbody></mujoco>"
    )


def written(tmp_path, name, text, capsys):
    """The model of the TOML file that the command writes, and its reply."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    out = tmp_path / "robots" / "mine.toml"
    assert main(["robot", str(tmp_path / name), "--out", str(out), "--json"]) == 0
    return load_robot(out), json.loads(capsys.readouterr().out), out


def test_feet_and_soles_are_those_that_the_file_was_made_with(tmp_path, capsys):
    model, found, out = written(tmp_path, "someone.urdf", URDF, capsys)
    assert sorted(found["feet"]) == sorted(human().feet) == sorted(model.feet)
    assert found["mass"] == pytest.approx(human().total_mass)
    assert found["contacts"] == list(model.contact_names)
    boxes = {box.body: box for box in human().shapes}
    for point in model.contact_points:
        box = boxes[point.body]
        corner = np.abs((np.array(point.position) - box.center) @ np.array(box.rotation))
        np.testing.assert_allclose(corner, 0.5 * np.array(box.size), atol=1e-9)
    assert model.facing == human().facing
    assert 'urdf = "../someone.urdf"' in out.read_text()


@pytest.mark.parametrize(
    ("robot", "facing"),
    [
        ({"across": "0 0.1", "axis": "0 1 0", "box": "0.1 0.05", "ahead": "0.04 0"}, (1, 0, 0)),
        ({"across": "0 0.1", "axis": "0 1 0", "box": "0.1 0.05", "ahead": "-0.04 0"}, (-1, 0, 0)),
        ({"across": "0.1 0", "axis": "1 0 0", "box": "0.05 0.1", "ahead": "0 0.04"}, (0, 1, 0)),
        ({"across": "0.1 0", "axis": "-1 0 0", "box": "0.05 0.1", "ahead": "0 -0.04"}, (0, -1, 0)),
        ({"across": "0 0.1", "axis": "0 1 0", "box": "0.1 0.05", "ahead": "0.04 0", "knee": "-150 10"}, (1, 0, 0)),
    ],
)
def test_it_stands_on_level_soles_with_bent_knees(robot, facing, tmp_path, capsys):
    model, found, _ = written(tmp_path, "walker.xml", mjcf(**robot), capsys)
    assert found["feet"] == ["left_foot", "right_foot"]
    np.testing.assert_allclose(model.facing, facing, atol=0.0)
    posture = dict(model.posture)
    assert {abs(posture[knee]) for knee in straight_knees(model)} == {0.6}
    for side in ("left", "right"):
        assert posture[f"{side}_hip"] + posture[f"{side}_knee"] + posture[f"{side}_ankle"] == pytest.approx(0.0)
    ours = standing(model)
    assert ours.model.nc == 8
    joints = {body.joint.name: body.joint for body in model.bodies}
    assert all(joints[name].lower <= at <= joints[name].upper for name, at in posture.items())


def test_feet_without_collision_geometry_are_told(tmp_path, capsys):
    bare = re.sub(r"<collision>.*?</collision>", "", URDF, flags=re.DOTALL)
    bare = re.sub(r"<visual>.*?</visual>", "", bare, flags=re.DOTALL)
    model, found, out = written(tmp_path, "bare.urdf", bare, capsys)
    assert found["contacts"] == []
    assert sorted(model.feet) == sorted(human().feet)
    assert "# None were found: foot 'left_foot' has no collision geometry" in out.read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["robot", "r.xml", "--out", "mine.toml"], "mine.toml exists already"),
        (["robot", "r.xacro"], "convert .xacro by `xacro FILE > robot.urdf`"),
        (
            ["run", "balance", "--robot", "r.xml"],
            'add feet = ["LEFT", "RIGHT"], contacts = "collision" to its TOML file',
        ),
    ],
)
def test_what_is_refused(in_tmp, refusal, words, told):
    (in_tmp / "r.xml").write_text(mjcf("0 0.1", "0 1 0", "0.1 0.05", "0.04 0"), encoding="utf-8")
    (in_tmp / "mine.toml").write_text("mine")
    assert told in refusal(*words)
    assert (in_tmp / "mine.toml").read_text() == "mine"
