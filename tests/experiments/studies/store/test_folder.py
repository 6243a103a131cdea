"""The folder of a study: what is in it, whatever happened before."""

import errno
import json
import math
import os
import shutil
import sqlite3
from contextlib import closing

import pyarrow.parquet
import pytest

from biped.errors import InputError
from biped.inputs import files
from experiments.studies import Study, Trial

from ....conftest import said_by

RESULT = {"verdict": "recovered", "reason": "in place", "failure": "", "message": "", "peak_torque": 0.1 + 0.2,
          "zero": -0.0, "least": 5e-324, "count": 3, "absent": None}  # fmt: skip
FAILED = {"verdict": "failed", "reason": "", "failure": "IntegrationError", "message": 'no solution: µ, "quoted"\n'}


def trial(number, **labels):
    return Trial(number, {"floor.mu_s": 0.1 * number, "integrator.landing_depth": math.inf,
                          "controller.kp_position": (1.0, 2.0, 0.1 + 0.2)}, labels)  # fmt: skip


def same(result, other):
    names = result.keys() | other.keys()
    return all(repr(result.get(name)) == repr(other.get(name)) for name in names)


def test_what_is_added_is_there_exactly(make_study):
    with make_study() as study:
        study.add(trial(2, scenario="push"), RESULT)
        study.add(trial(1), FAILED)
        path = study.folder
    for found in (Study.read(path), Study.open(path)):
        with found:
            assert set(found.finished) == {1, 2}
            assert same(found.results()[2], RESULT)
            assert same(found.results()[1], FAILED)
            assert found.trial(2) == trial(2, scenario="push")
            assert found.trial(1) == trial(1)
            assert found.frame()["trial"].tolist() == [1, 2]
            assert found.frame()["floor.mu_s"].tolist() == [0.1, 0.2]
    schema = pyarrow.parquet.read_schema(path / "trials.parquet")
    units = {"peak_torque": "N*m", "zero": "", "floor.mu_s": "", "scenario": ""}
    assert all(schema.field(name).metadata == {b"unit": unit.encode()} for name, unit in units.items())
    assert json.loads(schema.metadata[b"units"]).items() >= units.items()


@pytest.mark.parametrize("exported", [1, 2, 3])
def test_a_reader_sees_all_that_is_finished_at_any_time(make_study, exported):
    with make_study() as study:
        for number in range(4):
            study.add(trial(number), RESULT)
            if number == exported:
                study.export()
            reading = Study.read(study.folder)
            assert set(reading.finished) == set(range(number + 1))
            assert len(reading.frame()) == number + 1
            with pytest.raises(ValueError, match="reading only"):
                reading.add(trial(9), RESULT)


def test_a_table_that_is_behind_the_trials_is_brought_up_to_date(make_study):
    with make_study() as study:
        study.add(trial(0), RESULT)
        study.export()
        for number in (1, 2):
            study.add(trial(number), RESULT)  # as if it had been killed before the next export
        assert pyarrow.parquet.read_table(study.folder / "trials.parquet").num_rows == 1
        assert Study.read(study.folder).frame()["trial"].tolist() == [0, 1, 2]
    with Study.open(study.folder) as study:
        assert study.frame()["trial"].tolist() == [0, 1, 2]
    assert pyarrow.parquet.read_table(study.folder / "trials.parquet")["trial"].to_pylist() == [0, 1, 2]


class Interrupted:
    def __init__(self, database):
        self.database = database

    def execute(self, *arguments):
        self.database.execute(*arguments)
        raise KeyboardInterrupt


def test_a_ctrl_c_after_the_database_got_a_trial_does_not_lose_it(make_study, monkeypatch):
    study = make_study()
    study.add(trial(1), RESULT)
    with monkeypatch.context() as patch:
        patch.setattr(study, "_database", Interrupted(study._database))
        with pytest.raises(KeyboardInterrupt):
            study.add(trial(2), RESULT)
    study.close()
    found = Study.read(study.folder)
    assert set(found.finished) == {1, 2}
    assert same(found.results()[2], RESULT)


def test_a_torn_end_is_dropped_and_its_trial_can_be_added_again(make_study, tmp_path):
    study = make_study()
    log = study.folder / "trials.sqlite-wal"
    sizes = []
    for number in range(3):
        study.add(trial(number), RESULT)
        sizes.append(log.stat().st_size)
    assert sizes == sorted(set(sizes))
    killed = tmp_path / "killed"
    shutil.copytree(study.folder, killed)  # a program that dies closes nothing
    study.close()
    whole_log = (killed / log.name).read_bytes()
    kept = (killed / "trials.sqlite").read_bytes()
    for length, whole in ((sizes[2] - 1, 2), (sizes[2] - 40, 2), (sizes[0], 1), (sizes[0] - 1, 0)):
        (killed / "trials.sqlite").write_bytes(kept)
        (killed / "trials.sqlite-shm").unlink(missing_ok=True)
        (killed / log.name).write_bytes(whole_log[:length])
        with Study.open(killed) as study:
            assert set(study.finished) == set(range(whole))
            for number in range(whole, 3):
                study.add(trial(number), RESULT)
        assert Study.read(killed).frame()["trial"].tolist() == [0, 1, 2]


def test_damaged_trials_are_told(make_study):
    with make_study() as study:
        study.add(trial(0), RESULT)
    (study.folder / "trials.sqlite").write_bytes(b'{"trial":\n' * 1000)
    for opened in (Study.read, Study.open):
        with pytest.raises(InputError, match=r"trials.sqlite: damaged, or not the database of a study"):
            opened(study.folder)


def test_what_a_killed_writer_had_begun_is_undone_by_whoever_reads(make_study):
    with make_study() as study:
        for number in range(40):
            study.add(trial(number), RESULT)
    path = study.folder / "trials.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN")
        database.execute("UPDATE trials SET labels = labels || 'x', result = result || 'x'")
        left = {name: name.read_bytes() for name in (path, path.with_name("trials.sqlite-journal"))}
        database.execute("ROLLBACK")
    for name, data in left.items():
        name.write_bytes(data)
    assert Study.read(study.folder).frame()["trial"].tolist() == list(range(40))


def test_a_finished_study_is_read_where_nothing_can_be_written(make_study):
    with make_study() as study:
        study.add(trial(0), RESULT)
    assert {path.name for path in study.folder.iterdir()} == {"study.json", "study.lock", "trials.parquet",
                                                              "trials.sqlite"}  # fmt: skip


def test_no_trial_is_there_twice(make_study):
    with make_study() as study:
        study.add(trial(0), RESULT)
        with pytest.raises(ValueError, match="already"):
            study.add(trial(0), RESULT)
        assert len(study.frame()) == 1


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_no_result(make_study, number):
    with make_study() as study:
        with pytest.raises(ValueError, match="not JSON compliant"):
            study.add(trial(0), RESULT | {"peak_torque": number})
        assert not study.finished


def test_one_writer_at_a_time(make_study):
    with make_study() as study:
        with pytest.raises(InputError, match="another program is writing"):
            make_study()
        with pytest.raises(InputError, match="another program is writing"):
            Study.open(study.folder)
    make_study().close()


def test_another_study_is_not_gone_on_with(make_study):
    make_study(vary={"floor.mu_s": [0.5, 0.6]}, replicas=3).close()
    make_study(vary={"floor.mu_s": (0.5, 0.6)}, replicas=3).close()
    for changed, told in [
        ({"vary": {"floor.mu_s": [0.5, 0.7]}, "replicas": 3}, "its vary.floor.mu_s is"),
        ({"vary": {"floor.mu_s": [0.5, 0.6]}, "replicas": 4}, "its replicas is 3, not 4"),
        ({"vary": {"floor.mu_s": [0.5, 0.6]}}, "it has replicas = 3, which is not set now"),
        ({"vary": {"floor.mu_s": [0.5, 0.6]}, "replicas": 3, "new": 1}, "new = 1 is new"),
    ]:
        with pytest.raises(InputError, match="holds another study") as caught:
            make_study(**changed)
        assert told in str(caught.value)
    make_study(vary={"floor.mu_s": [0.5, 0.6]}, replicas=3).close()


def test_a_full_disk_leaves_the_study_as_it_was(make_study):
    study = make_study()
    study.add(trial(0), RESULT)
    (pages,) = study._database.execute("PRAGMA page_count").fetchone()
    study._database.execute(f"PRAGMA max_page_count={pages}")

    def fill():
        for number in range(1, 100):
            study.add(trial(number), RESULT)

    with pytest.raises(OSError, match="No space left") as caught:
        fill()
    stored = len(study.finished)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename.endswith("trials.sqlite")
    assert set(Study.read(study.folder).finished) == set(range(stored))
    study._database.execute("PRAGMA max_page_count=10000")  # room was made
    study.add(trial(stored), RESULT)
    study.close()
    assert Study.read(study.folder).frame()["trial"].tolist() == list(range(stored + 1))


@pytest.mark.parametrize("left", [b"", None])
def test_a_study_that_was_cut_as_it_began_begins_anew(make_study, monkeypatch, tmp_path, left):
    """The database is made before the header; ``left`` of it: nothing at all, or all but trials."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            make_study()
    database = tmp_path / "study" / "trials.sqlite"
    assert database.exists()
    assert not database.with_name("study.json").exists()
    if left is not None:
        database.write_bytes(left)
    with make_study() as study:
        study.add(trial(0), RESULT)
    assert set(Study.read(study.folder).finished) == {0}


def test_trials_without_a_header_are_not_taken_for_nothing(make_study):
    with make_study() as study:
        study.add(trial(0), RESULT)
    for name in ("study.json", "trials.parquet"):
        (study.folder / name).unlink()
    with pytest.raises(InputError, match="has trials, but no study.json"):
        make_study()


def test_too_many_open_files_are_not_damage(make_study):
    with make_study() as study:
        study.add(trial(0), RESULT)
    told = said_by(
        "import resource, sys; from experiments.studies import Study\n"
        "study = Study.read(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (3, 64))\n"
        "try: study.results()\n"
        "except OSError as error: print(error)\n",
        str(study.folder),
    )
    assert "trials.sqlite" in told
    assert "too many files are open" in told


def test_a_table_that_cannot_be_written_loses_nothing(make_study, monkeypatch):
    study = make_study()
    study.add(trial(0), RESULT)
    study.export()
    study.add(trial(1), RESULT)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), study:
        study.export()
    monkeypatch.undo()
    assert not list(study.folder.glob("*.part"))
    with Study.open(study.folder) as study:
        assert study.frame()["trial"].tolist() == [0, 1]


def test_what_is_no_study_is_told(tmp_path):
    with pytest.raises(InputError, match=r"is not the folder of a study \(study.json is missing\)"):
        Study.read(tmp_path)
    (tmp_path / "study.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="damaged, or not the header of a study"):
        Study.read(tmp_path)
