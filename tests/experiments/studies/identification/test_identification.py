"""Identifications: what is found in trials is what is found in their runs, kept in a folder, and shown."""

import json

import numpy as np
import pandas as pd
import pytest

from biped import Force, InputError, Stance, WholeBody, human
from biped.dynamics import forward_kinematics, joint_place
from biped.identification import DoublePendulum, frequency_response
from biped.identification.channels import GRAVITY
from biped.metrics import series
from experiments.studies.identification.identification import Identification
from experiments.studies.identification.subject import double_pendulum_of, height_of, heights_of, pendulum_of
from experiments.studies.run import open_study, run_study
from experiments.visualization.document import write_document
from experiments.visualization.studies import identification as shown
from tests.refusals import refuses

DATA = {
    "experiment": "balance", "controller": "postural", "seed": 1,
    "set": {
        "platform.motion": "sum-of-sines", "platform.axis": "pitch", "platform.frequencies": "0.25 0.75",
        "platform.size": 0.004, "platform.rise": 1.0, "run.step": 0.004, "controller.period": 0.004,
        "initial.stance": "upright", "controller.weight": 0.5, "controller.stiffness": 1.2,
        "controller.passive_stiffness": 0.15,
    },
    "identify": {"cycles": 2, "trials": 2, "responses": {"sway": "sway_y", "ankle": "-angle_left_ankle_pitch"}},
    "model": {
        "name": "independent-channels", "set": {"passive_stiffness": 0.15, "delay": 0.0},
        "parameter": [{"name": "weight", "from": 0.0, "to": 1.0}, {"name": "stiffness", "from": 0.6, "to": 2.5}],
    },
}  # fmt: skip


def with_(**tables):
    return {**DATA, **{name: {**DATA.get(name, {}), **table} for name, table in tables.items()}}


def run_in(folder, data):
    plan = Identification.from_configuration(data)
    with open_study(plan, folder) as study:
        return plan, run_study(plan, study)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("identify")
    return (folder, *run_in(folder, DATA))


def test_the_responses_are_those_of_the_trials_runs(study):
    _, plan, found = study
    tables = []
    for trial in plan.trials():
        run = plan.experiment.run(trial.changes)
        tables.append(pd.concat([series(run), run.frame["angle_left_ankle_pitch"]], axis=1))
    time = tables[0]["time"].to_numpy()
    columns = {
        "sway": np.stack([table["sway_y"] for table in tables]),
        "ankle": -np.stack([table["angle_left_ankle_pitch"] for table in tables]),
    }
    tilt = np.stack([table["floor_tilt_y"] for table in tables])
    wanted = frequency_response(time, tilt, columns, 4.0, [0.25, 0.75], begin=plan.cycles.begin, seed=plan.seed)
    assert wanted.cycles == found.response.cycles == 4
    for name in columns:
        assert found.response.values[name] == pytest.approx(wanted.values[name], rel=1e-9)
    pd.testing.assert_frame_equal(found.response.frame, wanted.frame, rtol=1e-6)
    assert time[-1] == pytest.approx(plan.cycles.begin + 12.0)
    assert set(found.response.frame.attrs["units"].values()) == {"Hz", "rad", "1"}


def test_tables_figure_and_fit_are_written(study, tmp_path):
    _, plan, found = study
    document = shown.document(plan, found, tmp_path)
    files = write_document(document, tmp_path, draw=True)
    assert {file.name for file in files} == {"response.csv", "remnant.csv", "fit.json", "response.png"}
    assert len(pd.read_csv(tmp_path / "response.csv")) == 4
    fit = json.loads((tmp_path / "fit.json").read_text())
    assert [row["parameter"] for row in fit["parameters"]] == ["weight", "stiffness"]
    assert {"inertia", "toppling"} <= set(fit["known"])
    assert document.data["fit"]["model"] == "independent-channels"
    unfitted = shown.document(plan, type(found)(found.response, None, 2), tmp_path)
    without = write_document(unfitted, tmp_path, draw=False)
    assert not (tmp_path / "fit.json").exists()
    assert {file.name for file in without} == {"response.csv", "remnant.csv"}


def test_the_curve_of_a_model_is_by_whole_turns_beside_the_points(study):
    _, _, found = study
    panels = shown.panels_of(found)
    points, curve = (item for item in panels[1].items if getattr(item, "label", "").startswith("sway"))
    assert abs(np.mean(points.y) - np.mean(np.interp(points.x, curve.x, curve.y))) < 180.0


def test_where_no_trial_stands_it_is_said(tmp_path):
    with pytest.raises(InputError, match="in none of 1 trials did the body stand in all cycles; first trial: "):
        run_in(tmp_path, with_(set={"platform.size": 0.3}, identify={"trials": 1}))


PUSHES = {"force.pattern": "ternary", "force.size": 3.0, "force.interval": 0.16, "force.stages": 3}
STILL = {"platform.motion": "none", "platform.axis": "x", "platform.frequencies": "1", "platform.rise": 0.5,
         "platform.size": 0.02}  # fmt: skip


def test_pushes_are_as_exact_as_the_steps_that_they_are(tmp_path):
    """The stimulus against Fourier's integrals of its steps: of 64 parts of a row each middle is off by (ω h)²/24."""
    data = with_(set=STILL | PUSHES | {"force.azimuth": np.pi}, identify={"highest": 2.0})
    plan, found = run_in(tmp_path, data)
    period = 26 * 0.16
    assert (plan.cycles.period, plan.cycles.begin) == (pytest.approx(period), 0.5)
    assert found.response.units == {"stimulus": "N", "sway": "rad", "ankle": "rad"}
    seeds = {trial.changes["force.seed"] for trial in plan.trials()}
    assert len(seeds) == 2  # each trial begins elsewhere in the sequence
    coefficients, sways = [], []
    for trial in plan.trials():
        (force,) = (one for one in plan.experiment.build(trial.changes).disturbances if isinstance(one, Force))
        turns = -2j * np.pi * np.array(plan.cycles.frequencies)
        knots, values = force.signal.knots[:27] - 0.5, force.signal.coefficients[:26, 0]
        parts = (np.exp(np.outer(turns, knots[1:])) - np.exp(np.outer(turns, knots[:-1]))) / turns[:, None]
        coefficients.append(2.0 / period * parts @ values * force.unit[0])
        table = series(plan.experiment.run(trial.changes))
        rows = table[(table["time"] > 0.5 + period - 1e-9) & (table["time"] < 0.5 + 3.0 * period - 1e-9)]
        turned = np.exp(np.outer(rows["time"] - 0.5 - period, turns))
        sways.append(turned.T @ rows["sway_y"] / len(rows) * 2.0)
    u, y = np.array(coefficients), np.array(sways)
    wanted = (u.conj() * y).sum(axis=0) / (u.conj() * u).sum(axis=0)
    off = (2.0 * np.pi * 2.0 / 50.0 / 64.0) ** 2 / 24.0
    assert found.response.values["sway"] == pytest.approx(wanted, rel=2.0 * off)
    assert abs(np.angle(found.response.values["sway"][0])) < np.pi / 2.0  # it gives way to them


def test_a_push_moves_the_closed_forms_at_its_height():
    model = human()
    q = Stance().configuration(model)
    chest = WholeBody(model, q).position("trunk", (0.0, 0.0, 0.1))[2]
    placed = forward_kinematics(model, q)
    ankles, hips = (joint_place(model, placed, model.body_index(f"left_{name}"))[2] for name in ("foot", "thigh"))
    assert height_of(model, q, "trunk", (0.0, 0.0, 0.1), above_hips=False) == (True, pytest.approx(chest - ankles))
    assert height_of(model, q, "trunk", (0.0, 0.0, 0.1), above_hips=True) == (True, pytest.approx(chest - hips))
    on_trunk, height = height_of(model, q, "left_thigh", (0.0, 0.0, 0.0), above_hips=True)
    assert not on_trunk
    assert 0.0 < height < hips - ankles


@refuses(
    (with_(set=STILL), "there is no periodic disturbance: set platform.motion"),
    (with_(set=PUSHES), "both the force and the floor are periodic disturbances"),
    (with_(set=STILL | PUSHES | {"force.azimuth": 0.5}), "drives sway in two directions: set force.azimuth to 0"),
    (with_(set=STILL | PUSHES | {"force.azimuth": np.pi / 2}), "the force acts sideways"),
    (with_(set=STILL | PUSHES | {"force.pattern": "ternery"}), "must be one of constant, sine, sum-of-sines, tern"),
    (with_(identify={"highest": 0.1}), "at least 0.25 Hz, the lowest frequency of the floor"),
    (with_(identify={"responses": {"sway": "swai_y"}}), "no column 'swai_y'"),
    (with_(identify={"cycels": 3}), "unknown key"),
    (with_(identify={"cycles": 0}), "1 or above"),
    (with_(identify={"rate": 0.0}), "rate"),
    (with_(identify={"over": "people"}), "cycles or trials"),
    (with_(identify={"period": 3.0}), "multiple of 1/period, 0.333333 Hz"),
    (with_(model={"name": "channels"}), "models are"),
    (with_(model={"set": {"wieght": 1.0}}), "did you mean 'weight'"),
    (with_(model={"parameter": [{"name": "gain", "from": 0.0, "to": 1.0}]}), "has no parameter 'gain'"),
    (with_(model={"responses": {"trunk": "sway"}}), "no response 'trunk'"),
    (with_(set={"platform.axis": "roll"}, identify={"responses": {"sway": "sway_x"}}), "but the floor acts sideways"),
)
def test_what_makes_no_sense_is_said_before_anything_is_run(data):
    Identification.from_configuration(data)


def test_the_double_pendulum_of_a_body_is_its_single_one_where_it_does_not_bend():
    """But for the lean by which hips and centres of mass are off one line: its square."""
    model = human()
    q = Stance().configuration(model)
    single, double = pendulum_of(model, q), double_pendulum_of(model, q)
    of_two = DoublePendulum(**double, ankle_stiffness=1.0, ankle_damping=0.0, hip_stiffness=1.0, hip_damping=0.0)
    assert of_two.mass_matrix.sum() == pytest.approx(single["inertia"], rel=5e-3)
    assert GRAVITY * of_two.moments.sum() == pytest.approx(single["toppling"], rel=5e-3)
    feet = sum(body.mass for body in model.bodies if body.name in model.feet)
    assert double["leg_mass"] + double["trunk_mass"] == pytest.approx(model.total_mass - feet)
    ankles, lever = heights_of(model, q)
    assert lever == pytest.approx(single["toppling"] / GRAVITY / model.total_mass)
    assert 0.03 < ankles < 0.12
