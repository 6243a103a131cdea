"""Damaged runs and studies are refused in a sentence."""

import contextlib
import shutil
import sqlite3

import numpy as np
import pytest

from biped import InputError, Run
from experiments.catalogue.registry import experiment_named
from experiments.cli.main import main
from experiments.studies.store.folder import DATABASE, Study
from experiments.studies.sweep.sweep import sweep

EXPERIMENT, CHANGES = "thrown-block", {"run.duration": 0.02}


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A run, and a sweep of two trials."""
    folder = tmp_path_factory.mktemp("saved")
    experiment_named(EXPERIMENT).run(CHANGES).save(folder / "run")
    sweep(EXPERIMENT, {"floor.mu_s": [0.6, 0.7]}, CHANGES, out=folder / "study")
    return folder


@pytest.fixture
def run(saved, tmp_path):
    return shutil.copytree(saved / "run", tmp_path / "run")


@pytest.fixture
def study(saved, tmp_path):
    return shutil.copytree(saved / "study", tmp_path / "study")


@pytest.mark.parametrize(("column", "text"), [("varied", "{}"), ("changes", "["), ("changes", '"text"')])
def test_trials_that_are_all_damaged_alike_are_refused_by_a_report(study, tmp_path, capsys, column, text):
    with contextlib.closing(sqlite3.connect(study / DATABASE)) as database:
        database.execute(f"UPDATE trials SET {column} = ?", (text,))
        database.commit()
    assert main(["report", str(study), "--out", str(tmp_path / "page.html")]) == 2
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize("change", ["labels = '{}'", "result = json_set(result, '$.steps', 'many')"])
def test_a_study_whose_trials_are_all_damaged_alike_is_refused_where_it_goes_on(study, change):
    with contextlib.closing(sqlite3.connect(study / DATABASE)) as database:
        database.execute(f"UPDATE trials SET {change}")
        database.commit()
    with pytest.raises(InputError, match="damaged"):
        Study.read(study).frame(("point", "replica"))


@pytest.mark.parametrize(("name", "other"), [
    ("q", np.zeros(3)),
    ("momentum", np.zeros(18, dtype=np.float32)),
    ("past", np.zeros(2)),
    ("mode", np.zeros(8)),
])  # fmt: skip
def test_a_state_with_an_array_of_another_kind_reaches_no_kernel(run, name, other):
    with np.load(run / "state.npz") as archive:
        saved = dict(archive)
    np.savez(run / "state.npz", **saved | {name: other})
    with pytest.raises(InputError, match=f"state.npz: damaged: its {name} is {other.dtype} of shape"):
        Run.load(run)


def test_a_state_in_a_foreign_archive_is_refused(run):
    """The method of compression of the first array is one that nobody has."""
    data = bytearray((run / "state.npz").read_bytes())
    directory = data.index(b"PK\x01\x02")
    data[8], data[directory + 10] = 99, 99
    (run / "state.npz").write_bytes(data)
    with pytest.raises(InputError, match="not a state saved by State.save"):
        Run.load(run)


@pytest.mark.parametrize(("column", "text"), [
    ("result", '{"verdict": "recovered", "steps": []}'),
    ("result", '{"verdict": "recovered", "peak_torque": "much"}'),
    ("labels", f'{{"replica": 1{"0" * 30}}}'),
    ("varied", '{"floor.mu_s": "text"}'),
    ("changes", b"\xff\xfe"),
])  # fmt: skip
def test_a_trial_of_other_types_is_refused(study, column, text):
    with contextlib.closing(sqlite3.connect(study / DATABASE)) as database:
        kind = "CAST(? AS TEXT)" if isinstance(text, bytes) else "?"
        database.execute(f"UPDATE trials SET {column} = {kind} WHERE trial = 1", (text,))
        database.commit()
    with pytest.raises(InputError, match="damaged"):
        Study.read(study).frame()
