import time
from dataclasses import replace

import matplotlib.image
import pytest

from biped import Fall, Push, chain, human, simulate
from controllers import JointPD
from experiments.catalogue.figure_names import KINDS, remove_figures
from experiments.catalogue.registry import MODULES, experiment_named
from experiments.visualization.figures.sheets import SHEETS, draw_figures
from experiments.visualization.figures.subject import subject_of

PUBLISHED = {
    "stand-tilted": [f"fig-4.{number:02d}-" for number in range(3, 11)],
    "thrown-block": [f"fig-4.{number:02d}-" for number in range(12, 20)],
    "box-drop": [f"fig-5.{number:02d}-" for number in range(3, 7)],
    "tumble": [],
}


def ink(path):
    """The part of a picture that is not white."""
    return float((matplotlib.image.imread(path)[..., :3].min(axis=2) < 0.98).mean())


@pytest.mark.parametrize("name", MODULES)
def test_there_is_a_picture_for_every_published_figure(runs, tmp_path, name):
    experiment = experiment_named(name)
    began = time.perf_counter()
    files = draw_figures(runs[name], tmp_path, experiment.build().set_point, experiment.figures, name)
    assert time.perf_counter() - began < 10.0
    names = [file.name for file in files]
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())
    for begin in PUBLISHED.get(name, ()):
        assert sum(n.startswith(begin) for n in names) == 1, begin
    touching = {"contact-modes.png"} if runs[name].state.model.nc else {"momentum.png"}
    assert {"overview.png", "ledger.png"} | touching <= set(names)
    for file in files:
        assert 0.01 < ink(file) < 0.7, file.name  # points that stick throughout fill most of theirs
    remove_figures(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_runs_of_ones_own_have_the_figures_that_apply(tmp_path):
    run = simulate(human(), JointPD(), duration=0.2, fall=Fall(), disturbances=[Push("trunk", (1.0, 0.0, 0.0), 3.0)])
    names = {file.name for file in draw_figures(run, tmp_path)}
    assert names == {
        "overview.png", "joint-angles.png", "joint-torques.png", "body-position.png", "body-orientation.png",
        "contact-modes.png", "ledger.png",
    }  # fmt: skip


def test_a_model_that_neither_floats_nor_touches(tmp_path):
    run = simulate(chain(10).without_contacts(), duration=0.1)
    names = {file.name for file in draw_figures(run, tmp_path)}
    assert names == {"joint-angles.png", "joint-torques.png", "ledger.png"}


def test_a_run_without_a_motion_has_no_figures(tmp_path):
    run = simulate(human(), duration=1e-3)
    assert draw_figures(replace(run, frame=run.frame.head(1)), tmp_path) == []


def test_the_moments_that_are_marked(runs):
    marks = [mark.label for mark in subject_of(runs["thrown-block"]).marks]
    assert marks[:2] == ["hit", "heels up"]
    assert {"L heel down", "R heel down"} <= set(marks)
    assert [mark.label for mark in subject_of(runs["box-drop"]).marks] == ["first touch"]
    fallen = experiment_named("thrown-block").run({"block.velocity": (-9.0, 0.0, 0.2)})
    assert subject_of(fallen).marks[-1].label == "fell"


def test_the_kinds_are_known_without_drawing():
    assert tuple(sheet.kind for sheet in SHEETS) == KINDS
