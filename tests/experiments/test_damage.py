"""Damaged runs and studies are read, or refused in a sentence: what a search has found, and a sample of it."""

import contextlib
import json
import random
import shutil
import sqlite3

import numpy as np
import pytest

from biped import InputError, Run
from experiments.cli.main import main
from experiments.studies.store.folder import DATABASE, Study

from ..damage import saved_run, saved_study, search, with_other


@pytest.fixture(scope="module")
def specimens(tmp_path_factory):
    return {make: make(tmp_path_factory.mktemp(make.__name__)) for make in (saved_run, saved_study)}


@pytest.fixture
def run(specimens, tmp_path):
    return shutil.copytree(specimens[saved_run].folder, tmp_path / "run")


@pytest.fixture
def study(specimens, tmp_path):
    return shutil.copytree(specimens[saved_study].folder, tmp_path / "study")


@pytest.mark.parametrize("make", [saved_run, saved_study])
def test_a_sample_of_the_search_finds_nothing(specimens, make):
    seed = random.Random(0).randrange(1000)
    assert search(specimens[make], seed, count=60, commands=False) == []
    assert search(specimens[make], seed + 1, count=2) == []


@pytest.mark.parametrize(("column", "text"), [("varied", "{}"), ("changes", "[" * 2000), ("changes", '"text"')])
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
    ("cache.history", np.zeros(2)),
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


@pytest.mark.parametrize(
    ("metric", "other", "status"), [("peak_torque_left_hip_yaw", "much", 2), ("orientation_error", None, 0)]
)
def test_a_report_of_other_metrics(run, tmp_path, capsys, metric, other, status):
    """A word where a number is, is damage; what was not measured is not told."""
    saved = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    (run / "summary.json").write_text(json.dumps(with_other(saved, ("metrics", metric), other)), encoding="utf-8")
    assert main(["report", str(run), "--out", str(tmp_path / "page.html")]) == status
    assert (f"damaged: metrics.{metric} is 'much': it must be a number" in capsys.readouterr().err) == (status == 2)


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
