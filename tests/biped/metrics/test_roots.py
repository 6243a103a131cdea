"""A model whose root joint is not called ``body`` is measured, drawn and told of like any other."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from biped import Model, Push, Run, load_urdf, simulate
from biped.metrics import measure_run
from biped.metrics.timeseries import error_quaternions, orientation_errors, position_errors
from experiments.catalogue.registry import experiment_named
from experiments.cli.run_report import report
from experiments.visualization import draw_figures, run_figures

URDF = Path(__file__).parents[3] / "examples" / "human.urdf"


def renamed(model, name="floating_base"):
    root = replace(model.root, joint=replace(model.root.joint, name=name))
    return Model(
        model.name, (root, *model.bodies[1:]), model.contact_points, gravity=model.gravity, shapes=model.shapes,
        feet=model.feet, facing=model.facing,
    )  # fmt: skip


@pytest.fixture(scope="module")
def setup():
    return experiment_named("balance").build({"push.impulse": 6.0})


def pushed(setup, model):
    state = type(setup.state).at(model, setup.state.q.copy())
    push = Push("trunk", direction=(-1.0, 0.0, 0.0), impulse=6.0, start=0.2, duration=0.1)
    return simulate(
        model, setup.controller, state=state, floor=setup.floor, disturbances=[push], fall=setup.fall, duration=0.6,
        step=1e-3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def runs(setup):
    return pushed(setup, setup.model), pushed(setup, renamed(setup.model))


def test_metrics_and_errors_are_the_same(runs):
    usual, other = runs
    assert other.metrics == usual.metrics
    for errors in (position_errors, orientation_errors, error_quaternions):
        assert (errors(other, other.set_point) == errors(usual, usual.set_point)).all()


def test_it_is_saved_and_read(runs, setup, tmp_path):
    other = runs[1]
    other.save(tmp_path)
    assert measure_run(Run.load(tmp_path, renamed(setup.model))).items() >= other.metrics.items()


def test_it_is_drawn_and_told_of(runs, tmp_path):
    other = runs[1]
    assert report(other, "renamed")
    assert {"root", "errors", "top-view"} <= set(run_figures(other))
    assert len(draw_figures(other, tmp_path)) == len(draw_figures(runs[0], tmp_path)) > 3


def test_a_robot_of_a_urdf_file_from_elsewhere_is_measured(setup):
    person = setup.model
    text = re.sub(r"<biped.*</biped>", "", URDF.read_text(encoding="utf-8"), flags=re.DOTALL)
    robot = replace(load_urdf(text), contact_points=person.contact_points, feet=person.feet)
    run = pushed(setup, robot)
    assert run.root not in ("body", "trunk")
    assert f"{run.root}_qw" in run.frame
    assert run.verdict_line == "undecided: a push acted 0.3 s before the end"
    usual = pushed(setup, person)
    for name in ("settling_time", "peak_position_error", "margin_of_stability_min", "peak_torque_left_knee_pitch"):
        assert run.metrics[name] == pytest.approx(usual.metrics[name], rel=1e-6), name
