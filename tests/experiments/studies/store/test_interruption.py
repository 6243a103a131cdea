"""A sweep that is killed, stopped, or out of room: the same command goes on, and ends as if nothing had been."""

import os
import resource
import signal
import time
from pathlib import Path

import pyarrow.parquet
import pytest

from experiments.cli import main
from experiments.studies import Study, open_study
from experiments.studies.config import read_config
from experiments.studies.sweep.sweep import sweep_from

TRIALS = 120
SWEEP = f"""
experiment = "thrown-block"
replicas = {TRIALS // 4}
[set]
run.duration = 1.5
[vary]
floor.mu_s = [0.6, 0.7, 0.8, 0.9]
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "cut.toml"
    path.write_text(SWEEP, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    (folder / "cut.toml").write_text(SWEEP, encoding="utf-8")
    assert main(["sweep", str(folder / "cut.toml"), "--out", str(folder), "--no-figures"]) == 0
    return pyarrow.parquet.read_table(folder / "trials.parquet")


def wait_for(process, folder, count):
    for _ in range(6000):
        assert process.poll() is None, process.communicate()
        if (folder / "study.json").exists() and len(Study.read(folder).finished) >= count:
            return
        time.sleep(0.01)
    raise AssertionError("the sweep does not get on")


def goes_on(start, file, folder, whole):
    """The same command: it finishes, and the table is that of the whole sweep, byte for byte."""
    process = start("sweep", file, "--out", folder, "--no-figures")
    printed, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    table = pyarrow.parquet.read_table(folder / "trials.parquet")
    assert table.column("trial").to_pylist() == list(range(TRIALS))
    assert table.equals(whole, check_metadata=True)
    assert f"{TRIALS} trials" in printed
    return told


def test_a_killed_sweep_loses_nothing_and_runs_nothing_twice(start, file, tmp_path, whole):
    folder = tmp_path / "out"
    finished = 0
    for count in (10, 40):  # killed twice
        process = start("sweep", file, "--out", folder, "--no-figures")
        wait_for(process, folder, count)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed = Study.read(folder)
        assert finished < len(killed.finished) < TRIALS
        finished = len(killed.finished)
        assert killed.frame()["trial"].is_unique
    told = goes_on(start, file, folder, whole)
    assert f"{finished} of {TRIALS} trials are in" in told


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["threads", "loky"])
def test_a_stopped_sweep_says_how_to_go_on(start, file, tmp_path, whole, backend):
    folder = tmp_path / "out"
    process = start("sweep", file, "--out", folder, "--workers", 2, "--backend", backend, start_new_session=True)
    wait_for(process, folder, 20)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: its workers hear it too
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    finished = len(Study.read(folder).finished)
    last = told.strip().splitlines()[-1]
    assert (
        last
        == f"biped: interrupted; {finished} of {TRIALS} trials are in {folder}; the same command continues the study"
    )
    assert "Traceback" not in told
    assert pyarrow.parquet.read_table(folder / "trials.parquet").num_rows == finished
    goes_on(start, file, folder, whole)


@pytest.mark.slow
def test_a_sweep_out_of_room_says_so_and_can_go_on(start, file, tmp_path, whole):
    folder = tmp_path / "out"

    def cramped():
        """No file larger than this: the log comes to its end between two trials, or within one."""
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))

    process = start("sweep", file, "--out", folder, "--no-figures", preexec_fn=cramped)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 2
    (line,) = told.strip().splitlines()
    finished = len(Study.read(folder).finished)
    assert 0 < finished < TRIALS
    assert line.startswith(f"biped: error: {folder}/")
    assert f"disk I/O error; {finished} of {TRIALS} trials are in {folder}; the same command continues" in line
    assert {path.name for path in Path(folder).iterdir()} <= {
        "study.json", "study.lock", "trials.sqlite", "trials.sqlite-shm", "trials.sqlite-wal", "trials.parquet"
    }  # fmt: skip
    goes_on(start, file, folder, whole)


def test_a_second_sweep_of_the_same_study_is_refused(start, file, tmp_path):
    folder = tmp_path / "out"
    with open_study(sweep_from(read_config(file)), folder):
        second = start("sweep", file, "--out", folder)
        _, told = second.communicate(timeout=60)
    assert second.returncode == 2
    assert told == f"biped: error: {folder}: another program is writing to this study; wait until it is done\n"
