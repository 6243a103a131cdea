"""Workers of a study that was killed end with it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

_STUDY = """
import os, sys, time
from experiments.studies.execution.executors import Processes
from experiments.studies.trial import Trial

def work(trial):
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(60.0)

if __name__ == "__main__":
    executors = {"loky": lambda: Processes(2), "limited": lambda: Processes(1, 60.0)}
    list(executors[sys.argv[2]]().run(work, [Trial(0, {}, {})]))
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def children_of(pid):
    return {int(word) for task in Path(f"/proc/{pid}/task").glob("*/children") for word in task.read_text().split()}


def wait_until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no list of a process's children")
@pytest.mark.parametrize("kind", ["loky", "limited"])
def test_a_killed_study_leaves_no_workers(tmp_path, kind):
    script, told = tmp_path / "study.py", tmp_path / "pid"
    script.write_text(_STUDY)
    with subprocess.Popen([sys.executable, str(script), str(told), kind], stderr=subprocess.DEVNULL) as study:
        assert wait_until(lambda: told.exists() and told.read_text())
        workers = children_of(study.pid)  # of two workers one has no trial
        assert int(told.read_text()) in workers
        study.kill()
    assert wait_until(lambda: not any(map(is_alive, workers)), 10.0), workers


@pytest.mark.skipif(sys.platform == "win32", reason="processes have other parents there")
def test_a_worker_that_begins_after_its_study_was_killed_ends():
    with subprocess.Popen([sys.executable, "-c", ""]) as study:
        pass
    worker = f"from experiments.studies.execution.executors import begin_worker; begin_worker({study.pid}); "
    code = f"import time; {worker} time.sleep(60.0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=50.0)
    assert (done.returncode, done.stderr) == (1, b"")
