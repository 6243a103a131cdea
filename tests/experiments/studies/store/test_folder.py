"""The folder of a study: what is in it, whatever happened before."""

import errno
import json
import math
import os
import shutil

import pyarrow.parquet
import pytest

from biped.errors import InputError
from experiments.studies import Study
from experiments.studies.store import folder
from experiments.studies.trial import Trial

RESULT = {"verdict": "recovered", "failure": "", "message": "", "peak_torque": 0.1 + 0.2, "zero": -0.0, "least": 5e-324,
          "count": 3, "absent": None}  # fmt: skip
FAILED = {"verdict": "failed", "failure": "IntegrationError", "message": 'no solution: µ, "quoted"\n'}


def trial(number, **labels):
    return Trial(number, {"floor.mu_s": 0.1 * number, "integrator.landing_depth": math.inf,
                          "controller.kp_position": (1.0, 2.0, 0.1 + 0.2)}, labels)  # fmt: skip


def same(result, other):
    """Bit for bit, and nothing that is not there counts as None."""
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


@pytest.mark.parametrize("folded", [1, 2, 3])
def test_a_reader_sees_all_that_is_finished_at_any_time(make_study, folded):
    with make_study() as study:
        for number in range(4):
            study.add(trial(number), RESULT)
            if number == folded:
                study.fold()
            reading = Study.read(study.folder)
            assert set(reading.finished) == set(range(number + 1))
            assert len(reading.frame()) == number + 1
            with pytest.raises(ValueError, match="read only"):
                reading.add(trial(9), RESULT)


def test_a_program_killed_between_table_and_journal_leaves_each_trial_once(make_study):
    with make_study() as study:
        for number in range(3):
            study.add(trial(number), RESULT)
        journal = study.folder / "journal.jsonl"
        kept = journal.read_bytes()
        study.fold()
        journal.write_bytes(kept)  # as if it had been killed before the journal was emptied
        assert Study.read(study.folder).frame()["trial"].tolist() == [0, 1, 2]
    with Study.open(study.folder) as study:
        assert study.frame()["trial"].tolist() == [0, 1, 2]


def test_a_ctrl_c_after_the_journal_got_a_trial_does_not_lose_it(make_study, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    study = make_study()
    study.add(trial(1), RESULT)
    with monkeypatch.context() as patch:
        patch.setattr(type(study._rows), "add", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.add(trial(2), RESULT)
    study.close()
    found = Study.read(study.folder)
    assert set(found.finished) == {1, 2}
    assert same(found.results()[2], RESULT)


def test_a_torn_last_line_is_dropped_and_its_trial_can_be_added_again(make_study, tmp_path):
    study = make_study()
    for number in range(3):
        study.add(trial(number), RESULT)
    killed = tmp_path / "killed"
    shutil.copytree(study.folder, killed)  # a program that dies closes nothing
    study.close()
    journal = killed / "journal.jsonl"
    data = journal.read_bytes()
    for length in (len(data) - 1, len(data) - 40, data.index(b"\n") + 1):
        journal.write_bytes(data[:length])
        whole = data[:length].count(b"\n")
        with Study.open(killed) as study:
            assert set(study.finished) == set(range(whole))
            for number in range(whole, 3):
                study.add(trial(number), RESULT)
        assert Study.read(killed).frame()["trial"].tolist() == [0, 1, 2]
        (killed / "trials.parquet").unlink()


def test_a_damaged_line_before_the_last_is_told(make_study):
    with make_study() as study:
        study.add(trial(0), RESULT)
        journal = study.folder / "journal.jsonl"
        journal.write_bytes(b'{"trial":\n' + journal.read_bytes())
        with pytest.raises(InputError, match="line 1 of its journal is damaged"):
            Study.read(study.folder)


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
        ({"vary": {"floor.mu_s": [0.5, 0.6]}}, "replicas = 3 is not asked for now"),
        ({"vary": {"floor.mu_s": [0.5, 0.6]}, "replicas": 3, "new": 1}, "new = 1 is new"),
    ]:
        with pytest.raises(InputError, match="holds another study") as caught:
            make_study(**changed)
        assert told in str(caught.value)
    make_study(vary={"floor.mu_s": [0.5, 0.6]}, replicas=3).close()


def test_a_full_disk_leaves_the_study_as_it_was(make_study, monkeypatch):
    study = make_study()
    study.add(trial(0), RESULT)
    write, left = os.write, [50]

    def full(file, data):
        """A disk with 50 bytes left: a short write first, and then none."""
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        part = bytes(data)[: left[0]]
        left[0] -= len(part)
        return write(file, part)

    monkeypatch.setattr(folder.os, "write", full)
    with pytest.raises(OSError, match="No space left") as caught:
        study.add(trial(1), RESULT)
    assert caught.value.filename.endswith("journal.jsonl")
    monkeypatch.undo()
    assert set(Study.read(study.folder).finished) == {0}
    study.add(trial(1), RESULT)  # room was made
    study.close()
    assert Study.read(study.folder).frame()["trial"].tolist() == [0, 1]


def test_a_table_that_cannot_be_written_loses_nothing(make_study, monkeypatch):
    study = make_study()
    study.add(trial(0), RESULT)
    study.fold()
    study.add(trial(1), RESULT)

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(folder.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"), study:
        study.fold()
    monkeypatch.undo()
    assert not list(study.folder.glob("*.part"))
    with Study.open(study.folder) as study:
        assert study.frame()["trial"].tolist() == [0, 1]


def test_what_is_no_study_is_told(tmp_path):
    with pytest.raises(InputError, match=r"no study there \(study.json missing\)"):
        Study.read(tmp_path)
    (tmp_path / "study.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="damaged, or not a study's"):
        Study.read(tmp_path)
