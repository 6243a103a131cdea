"""A user's robot in every command, whose own files are used wherever a run is opened.

The robot is the human rotated by half a turn, with other names, so that actions in its own directions have the effects
of the same actions on the human.
"""

import shutil

import numpy as np
import pandas as pd
import pytest

from biped import human
from biped.model.legs import legs_of
from experiments.catalogue.parameters.random_disturbances import Case, random_disturbances
from experiments.catalogue.parameters.robots import _loaded
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.visualization.live.loop import Loop
from experiments.visualization.live.page import Page
from experiments.visualization.report.run_source import load_run
from experiments.visualization.viewer.camera import CAMERAS, camera_at
from experiments.visualization.viewer.loaded_runs import load_runs
from experiments.visualization.viewer.serve import serving
from experiments.visualization.viewer.shapes import shapes_of
from experiments.visualization.viewer.surfaces import CELL

from .twin import CENTER, RADIUS, as_the_human, renamed, twin, write_twin

pytestmark = pytest.mark.filterwarnings("ignore::biped.model.errors.ModelWarning")
PUSH = {"push.impulse": 3.0, "push.start": 0.02, "push.azimuth": 0.4, "run.duration": 0.15, "initial.tilt": 0.01}


def option(value):
    return ",".join(map(repr, value)) if isinstance(value, tuple) else repr(value)


@pytest.fixture(scope="module")
def lost(tmp_path_factory):
    """Return the folders of a run and of a study of the twin, whose files have been removed."""
    folder = tmp_path_factory.mktemp("robots")
    robot = write_twin(folder / "robot")
    sets = [f"--set={name}={option(value)}" for name, value in (PUSH | as_the_human() | {"run.extend": 0.0}).items()]
    assert main(["run", "balance", "--robot", str(robot), *sets, "--out", str(folder / "run"), "--no-figures"]) == 0
    (folder / "sweep.toml").write_text(
        f'experiment = "balance"\nrobot = "{robot}"\n[set]\nrun.duration = 0.05\n[vary]\nrandom.seed = [3, 4]\n'
    )
    sweep = ["sweep", str(folder / "sweep.toml"), "--out", str(folder / "study"), "--no-figures", "--workers", "1"]
    assert main(sweep) == 0
    shutil.rmtree(folder / "robot")
    _loaded.cache_clear()  # like another process
    return folder


@pytest.fixture(scope="module")
def pushed():
    """Run the human under equal disturbances."""
    return experiment_named("balance").run(PUSH)


def test_directions_are_its_own(lost, pushed):
    """The robot moves as the human does, rotated."""
    frame = load_run(lost / "run").frame
    for column, part in (("body_x", -1.0), ("body_y", -1.0), ("body_z", 1.0), ("body_qx", -1.0), ("body_qy", -1.0)):
        assert frame[column].to_numpy() == pytest.approx(part * pushed.frame[column].to_numpy(), abs=1e-6), column
    for joint in human().joint_names:
        torques = pushed.frame[f"torque_{joint}"].to_numpy()
        assert frame[f"torque_{renamed(joint)}"].to_numpy() == pytest.approx(torques, abs=1e-3, rel=1e-4), joint


def test_exports_are_in_its_own_directions(lost, pushed, tmp_path):
    assert main(["export", str(lost / "run"), "--eurobench", "--sto", "--out", str(tmp_path / "twin")]) == 0
    pushed.save(tmp_path / "human")
    assert main(["export", str(tmp_path / "human"), "--eurobench", "--sto"]) == 0
    for name in ("com.csv", "angularMomentum.csv", "grf.csv"):
        found, expected = (pd.read_csv(tmp_path / who / "eurobench" / name, sep=";") for who in ("twin", "human"))
        assert list(found) == list(expected)
        assert found.to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-3, abs=1e-3), name
    tilts = []
    for robot, column in (("twin", "body_tilt"), ("human", "pelvis_tilt")):
        table = pd.read_csv(tmp_path / robot / "opensim" / "coordinates.sto", sep="\t", skiprows=6)
        tilts.append(table[column].to_numpy())
    assert tilts[0] == pytest.approx(tilts[1], abs=1e-6)


def test_its_mesh_is_drawn_wherever_it_is_opened(lost):
    """The mesh has its scale and position, is simplified, closed and outward-facing, and has its material's colour."""
    (loaded,) = load_runs([lost / "run"])
    model = loaded.trajectory.model
    (ball,) = [shape for shape in shapes_of(model) if shape.body == 0]
    assert ball.color == (255, 0, 51)
    place = np.asarray(ball.mesh.vertices) + model.root.com - CENTER
    assert np.abs(np.linalg.norm(place, axis=1) - RADIUS).max() < CELL
    assert ball.mesh.volume == pytest.approx(4.0 / 3.0 * np.pi * RADIUS**3, rel=0.03)
    assert 500 < len(ball.mesh.faces) < 10_000  # of 20480 in the file


@pytest.mark.parametrize("folder", ["run", "study"])
def test_pages_are_of_the_robot(lost, folder, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(lost / folder), "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "Twin" in text
    assert "The human" not in text
    assert "the file is missing now" not in text


# --- what is its own ---


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.5, -1.3, np.pi])
def test_cameras_stand_where_it_looks(angle):
    facing = (float(np.cos(angle)), float(np.sin(angle)), 0.0)
    left = np.array([-facing[1], facing[0], 0.0])
    away = {name: camera_at(name, np.zeros(3), 1.0, facing=facing).position for name in CAMERAS}
    assert away["front"][:2] @ facing[:2] == pytest.approx(np.linalg.norm(away["front"][:2]))
    assert away["side"] @ left == pytest.approx(np.linalg.norm(away["side"][:2]))
    assert away["back"] @ facing < 0.0 < away["three-quarter"] @ facing
    assert np.array_equal(
        camera_at("1,2,3", np.zeros(3), 1.0, facing=facing).position, camera_at("1,2,3", np.zeros(3), 1.0).position
    )


def test_legs_are_found_by_their_feet():
    for model, name in ((human(), str), (twin(), renamed)):
        left, right = legs_of(model)
        assert (left.side, left.foot, right.foot) == ("left", name("left_foot"), name("right_foot"))
        assert left.sagittal == tuple(map(name, ("left_hip_pitch", "left_knee_pitch", "left_ankle_pitch")))
        assert right.frontal == tuple(map(name, ("right_hip_roll", "right_ankle_roll")))
        assert left.knee == name("left_knee_pitch")


def test_random_disturbances_act_on_its_own_bodies():
    case = Case(human(), 1.1, 3.0, 2e-3)
    ours = ("trunk", "left_thigh", "right_thigh", "left_shank", "right_shank", "left_foot", "right_foot")
    assert case.bodies == list(ours)
    acting = [one for seed in range(1, 60) for one in random_disturbances(seed, model=twin())]
    bodies = {getattr(one, name) for one in acting for name in ("body", "target") if hasattr(one, name)}
    assert bodies == set(map(renamed, ours))


@pytest.mark.parametrize("button", ["push", "throw"])
def test_live_its_buttons_act_forwards(lost, monkeypatch, button):
    changes = {}
    monkeypatch.setattr(Page, "_asker", lambda _, change: changes.setdefault(change.__name__, change))
    loop = Loop(experiment_named("balance", robot=str(lost / "run" / "model.json")).build())
    with serving(port=0) as server:
        page = Page(server, loop, "Twin")
        assert page._azimuth == "0: forward; 90: to the left"
        changes[button](loop)
    acting = loop.disturbances[-1]
    motion = acting.direction if button == "push" else acting.velocity
    assert np.array(motion)[:2] / np.linalg.norm(motion[:2]) == pytest.approx(np.array([1.0, 0.0]), abs=1e-9)


def test_a_block_is_thrown_at_its_root(tmp_path):
    robot = write_twin(tmp_path / "robot")
    changes = {"block.speed": 4.0, "block.flight": 0.1, "run.duration": 0.2}
    run = experiment_named("balance", robot=str(robot)).run(changes)
    assert run.summary["events"]["impacts"]
    assert set(run.events.query("kind == 'impact'")["subject"]) == {"pelvis"}
