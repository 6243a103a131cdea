"""Robots by name in experiments and studies: what is theirs is theirs, and the human from a file is the human."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biped import human, load_robot, save_urdf
from biped.disturbances.disturbance import heading
from biped.errors import InputError
from biped.model import Body, Model, revolute
from biped.model.errors import ModelError
from biped.simulation.scene import Scene
from experiments.catalogue.parameters.robots import floor_text
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.studies.store.folder import Study
from experiments.studies.threshold.directions import soles
from experiments.visualization.report.run_facts import effects

HUMAN = str(Path(__file__).parents[3] / "examples" / "human.urdf")
PUSH = {"push.impulse": 3.0, "push.start": 0.05, "push.azimuth": 0.4, "run.duration": 0.3}


def armed() -> Model:
    """The human with one arm, which faces the other way."""
    person = human()
    light = ((0.01, 0.0, 0.0), (0.0, 0.01, 0.0), (0.0, 0.0, 0.002))
    arm = Body("arm", 2.0, light, (0.0, 0.0, -0.2), revolute("shoulder", (0, 1, 0), (0.0, 0.25, 0.25)), "trunk")
    return replace(person, name="armed", bodies=(*person.bodies, arm), facing=(1.0, 0.0, 0.0))


def test_the_human_from_a_file_is_the_human(balance):
    ours, theirs = balance.run(PUSH), balance.of_robot(HUMAN).run(PUSH | {"run.extend": 0.0})
    assert list(ours.frame.columns) == list(theirs.frame.columns)
    difference = np.abs(ours.frame.to_numpy() - theirs.frame.to_numpy()).max(axis=0)
    assert (difference <= 1e-6 * (1.0 + ours.frame.abs().max().to_numpy())).all()


def test_directions_are_the_robots_own():
    for azimuth in np.linspace(-3.0, 3.0, 13):
        assert heading(azimuth) == pytest.approx((-math.cos(azimuth), -math.sin(azimuth), 0.0), abs=1e-15)
        ahead, left = heading(azimuth, (0.0, 1.0, 0.0))[:2]
        assert (ahead, left) == pytest.approx((-math.sin(azimuth), math.cos(azimuth)), abs=1e-15)


def test_a_robot_has_its_own_parameters(balance, tmp_path):
    save_urdf(armed(), tmp_path / "armed.urdf")
    found = balance.of_robot(str(tmp_path / "armed.urdf"))
    assert found.title.startswith("armed stands")
    assert found.parameter("initial.shoulder").default == 0.0
    assert found.parameter("controller.held.by").choices == ("impedance", "servo")
    assert not any(parameter.name.startswith("controller.held") for parameter in balance.parameters)
    values = found.values({"push.impulse": 2.0})
    (push,) = found.build({"push.impulse": 2.0}).disturbances
    assert push.direction == pytest.approx((1.0, 0.0, 0.0))
    assert values["controller.target_position"] == pytest.approx(found.build().state.q[:3])
    stiff = found.build({"controller.held.frequency": 8.0})
    assert stiff.controller.held.frequency == 8.0
    again = experiment_named("balance").values({"robot.name": str(tmp_path / "armed.urdf")})
    assert again["initial.shoulder"] == 0.0


@pytest.mark.parametrize(
    ("line", "changes", "mu", "told"),
    [
        ("floor = { mu = 0.7 }", {}, 0.7, "floor: µ 0.7 (of the robot's file)"),
        ("floor = { mu = 0.7 }", {"floor.mu_d": 0.5}, 0.7, "floor: µ 0.7, sliding 0.5 (as set)"),
        ("", {}, 0.3, "floor: µ 0.3 (the default)"),
    ],
)
def test_a_robot_stands_on_its_files_floor(balance, tmp_path, line, changes, mu, told):
    (tmp_path / "robot.toml").write_text(f'urdf = "{HUMAN}"\n{line}\n')
    found = balance.of_robot(str(tmp_path / "robot.toml"))
    scene, model = found.build(changes), load_robot(tmp_path / "robot.toml")
    assert scene.floor.mu_s == mu == Scene.of(model, None, {}).floor.mu_s
    assert floor_text(found.values(changes), model) == told
    run = found.run(changes | {"run.duration": 0.05})
    assert ("floor", told.removeprefix("floor: ")) in effects(run)


def test_soles_are_seen_from_the_robot():
    """Turned about, left is right: outlines of one that faces the other way are the human's, turned by 180°."""
    about = soles(replace(human(), facing=(1.0, 0.0, 0.0)))
    for ours, theirs in zip(soles(human()), about, strict=True):
        corners = [
            {(round(r * math.cos(a + turn), 9), round(r * math.sin(a + turn), 9)) for a, r in zip(*of, strict=True)}
            for of, turn in ((ours, math.pi), (theirs, 0.0))
        ]
        assert corners[0] == corners[1]


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("nobody.urdf", ModelError, "nobody.urdf"),
        (
            "nobody",
            ModelError,
            "give a file .toml, .urdf, .xml, .mjcf or .json, FILE.py:FUNCTION, MODULE:FUNCTION or subject:",
        ),
        ("no_module:robot", ModelError, "there is no module no_module: it is neither"),
    ],
)
def test_what_is_no_robot_is_told_in_a_line(balance, name, error, message):
    for ask in (lambda: balance.of_robot(name), lambda: balance.values({"robot.name": name})):
        with pytest.raises(error) as told:
            ask()
        assert message in str(told.value)
        assert "\n" not in str(told.value)


def test_an_experiment_of_the_human_alone_says_so():
    with pytest.raises(InputError, match="the robot of tumble cannot be changed; use experiment balance"):
        experiment_named("tumble").of_robot(HUMAN)


def test_a_study_of_a_robot_goes_on_and_knows_its_robot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.toml").write_text(
        f'experiment = "balance"\nrobot = "{HUMAN}"\n[set]\nrun.duration = 0.05\n[vary]\n"floor.mu_s" = [0.4, 0.5]\n'
    )
    for _ in range(2):
        assert main(["sweep", "sweep.toml", "--out", "out", "--no-figures", "--workers", "1"]) == 0
    study = Study.read(tmp_path / "out")
    assert study.header.robot == HUMAN
    assert list(study.header.sources) == [HUMAN]
    assert study.experiment.robot == HUMAN
    assert {result["verdict"] for result in study.results().values()} == {"recovered"}
