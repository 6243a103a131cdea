"""Runs as they are saved, and those that older versions saved."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

from biped import Run, State
from biped.errors import BipedError, InputError
from biped.kernels.state.simulation_state import GIVEN, JOINTS, TICKS
from biped.metrics import METRICS, measure_run
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


def as_format_2(summary, outcome="stood", verdict="recovered"):
    """A summary that had an outcome, and a verdict of its own among the metrics."""
    kept = {
        name: summary[name] for name in summary if name not in ("verdict", "reason", "limit", "trust", "integrator")
    }
    metrics = kept["metrics"] | {"verdict": verdict, "falling_at_end": int(verdict == "fell")}
    return kept | {"outcome": outcome, "metrics": metrics, "format": 2}


def made_old(run, folder):
    """The folder as format 1 had it: other names of columns, metrics and numbers of its own side by side."""
    table = pyarrow.parquet.read_table(folder / "run.parquet")
    names = [name.replace("projectile_", "thrown_") for name in table.column_names]
    units = {name.replace("projectile_", "thrown_"): unit for name, unit in run.units.items()}
    old = table.rename_columns(names).replace_schema_metadata({b"units": json.dumps(units).encode()})
    pyarrow.parquet.write_table(old, folder / "run.parquet")
    summary = as_format_2(summary_of(folder))
    del summary["format"]
    own = {name: summary["metrics"][name] for name in ("foot_slip", "steps", "newton_max", "fell_at")}
    summary |= own | {"settling_time": 99.0, "peak_torque": run.by_joint("peak_torque"), "saturation": {}}
    summary["metrics"]["newton_max"] = 1  # of the recorded rows
    write_summary(folder, summary)
    return summary


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
    with pytest.raises(InputError, match=r"there is no model.json, as in runs of earlier versions; give the model"):
        Run.load(folder)


def test_numbers_are_saved_once(folder):
    summary = summary_of(folder)
    assert set(summary) & set(METRICS) == {"verdict", "reason"}
    assert not set(summary["metrics"]) & set(summary)
    assert summary["format"] == 3


def test_a_run_of_format_1_is_read_with_todays_names_and_definitions(run, folder):
    made_old(run, folder)
    read = Run.load(folder, run.state.model)
    assert read.frame.equals(run.frame)
    assert read.units == run.units
    assert read.verdict_line == "recovered"
    assert (read.trust, read.summary["limit"]) == ([], None)
    assert read.metrics == run.metrics
    assert read.summary["settling_time"] != 99.0
    assert run.metrics.items() <= measure_run(read).items()


@pytest.mark.parametrize(
    ("outcome", "verdict", "word"),
    [
        ("stood", "recovered", "recovered"), ("stood", "stepped", "stepped"), ("stood", "fell", "fell"),
        ("fell", "fell", "fell"), ("completed", None, "completed"), ("failed", "failed", "failed"),
        ("interrupted", None, "interrupted"),
    ],
)  # fmt: skip
def test_the_outcome_of_a_run_of_format_2_and_its_verdict_are_one(run, folder, outcome, verdict, word):
    write_summary(folder, as_format_2(summary_of(folder), outcome, verdict))
    read = Run.load(folder)
    assert (read.summary["verdict"], read.summary["reason"], read.trust) == (word, "", [])
    assert "outcome" not in read.summary
    assert read.metrics == run.metrics


@pytest.mark.parametrize("version", [1, 4])
def test_a_run_of_format_1_without_metrics_or_of_a_later_one_is_refused_in_a_sentence(run, folder, version):
    summary = made_old(run, folder) if version == 1 else summary_of(folder) | {"format": version}
    if version == 1:
        del summary["metrics"]
    write_summary(folder, summary)
    with pytest.raises(InputError, match=rf"saved by another version \(format {version}, here 3\); run it again"):
        Run.load(folder, run.state.model)


def test_a_state_whose_arrays_were_not_apart_is_read(run, tmp_path):
    """Format 4 had them side by side, as ``plant_kept_u`` or ``plant_ledger``."""
    run.state.save(tmp_path / "new.npz")
    with np.load(tmp_path / "new.npz") as archive:
        arrays = dict(archive)
    header, own = json.loads(str(arrays.pop("header"))), {name: arrays.pop(name) for name in ("thrown",)}
    arrays["ledger.works"] = arrays["ledger.works"][:JOINTS]  # nor did it have these
    arrays["counts"] = arrays["counts"][:GIVEN]
    old = {f"plant_{'ledger' if name == 'ledger.works' else name.split('.')[-1]}": a for name, a in arrays.items()}
    np.savez(tmp_path / "old.npz", header=json.dumps(header | {"format": 4}), **own, **old)
    read = State.load(tmp_path / "old.npz", run.state.model)
    assert np.array_equal(read.arrays.ledger.works, run.state.arrays.ledger.works)
    counts = run.state.arrays.counts.tolist()
    assert read.arrays.counts.tolist() == [*counts[:GIVEN], counts[TICKS]]  # actuators may have given all the time
    assert np.array_equal(read.arrays.cache.kept_u, run.state.arrays.cache.kept_u)
    assert np.array_equal(read.q, run.state.q)
    assert read.time == run.state.time


def test_a_state_of_an_older_version_is_refused(run, tmp_path):
    run.state.save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header"))) | {"format": 3}
    np.savez(tmp_path / "state.npz", header=json.dumps(header), **arrays)
    with pytest.raises(InputError, match="saved by another version"):
        State.load(tmp_path / "state.npz", run.state.model)


def test_a_place_that_cannot_be_written_is_told_in_a_sentence(run, tmp_path):
    """It is an OSError as others are, with the sentence that commands say."""
    (tmp_path / "file").touch()
    for place, reason in ((tmp_path / "file", "File exists"), (tmp_path / "file" / "below", "Not a directory")):
        with pytest.raises(OSError, match=f"^cannot write {place}: {reason}$") as raised:
            run.save(place)
        assert isinstance(raised.value, BipedError)
