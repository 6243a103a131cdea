"""Runs as they are saved; those that other versions saved are refused."""

import json

import numpy as np
import pytest

from biped import Run, State
from biped.errors import InputError
from biped.metrics import METRICS
from biped.model import ModelError
from biped.runs.summary import Summary
from experiments.catalogue.registry import experiment_named


@pytest.fixture(scope="module")
def run():
    return experiment_named("thrown-block").run({"run.duration": 0.2})


@pytest.fixture
def folder(run, tmp_path):
    return run.save(tmp_path)


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def write_summary(folder, summary):
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


def test_what_is_saved_is_read(run, folder):
    read = Run.load(folder, run.state.model)
    assert read.frame.equals(run.frame)
    assert read.summary == run.summary
    assert isinstance(read.summary, Summary)
    assert read.summary["steps"] == run.metrics["steps"]


def test_a_run_brings_its_model(run, folder):
    read = Run.load(folder)
    assert read.state.model == run.state.model
    assert read.frame.equals(run.frame)
    assert read.root == run.root


def test_a_run_brings_the_load_that_its_model_carried(tmp_path):
    changes = {"load.mass": 8.0, "run.duration": 0.05}
    carried = experiment_named("balance").run(changes)
    carried.save(tmp_path)
    read = Run.load(tmp_path)
    assert read.state.model.total_mass == carried.state.model.total_mass
    assert read.state.model == carried.state.model


def test_a_run_without_its_model_is_refused_in_a_sentence(folder):
    (folder / "model.json").write_text("{}")
    with pytest.raises(ModelError, match=r"model.json: not a model that was saved"):
        Run.load(folder)
    (folder / "model.json").unlink()
    with pytest.raises(InputError, match=r"no run there \(model.json missing\)"):
        Run.load(folder)


def test_numbers_are_saved_once(folder):
    summary = summary_of(folder)
    assert set(summary) & set(METRICS) == {"verdict", "reason"}
    assert not set(summary["metrics"]) & set(summary)
    assert summary["format"] == 3


@pytest.mark.parametrize("version", [1, 2, 4])
def test_a_run_of_another_format_is_refused_in_a_sentence(run, folder, version):
    write_summary(folder, summary_of(folder) | {"format": version})
    with pytest.raises(InputError, match=rf"saved by another version \(format {version}, here 3\); run it again"):
        Run.load(folder, run.state.model)


def test_a_state_of_an_older_version_is_refused(run, tmp_path):
    run.state.save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header"))) | {"format": 3}
    np.savez(tmp_path / "state.npz", header=json.dumps(header), **arrays)
    with pytest.raises(InputError, match="saved by another version"):
        State.load(tmp_path / "state.npz", run.state.model)


def test_an_error_names_the_place_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").touch()
    for place, reason in ((tmp_path / "file", "File exists"), (tmp_path / "file" / "below", "Not a directory")):
        with pytest.raises(OSError, match=reason) as raised:
            run.save(place)
        assert raised.value.filename == str(place)
