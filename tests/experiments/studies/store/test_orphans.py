"""Workers of a study that was killed end with it."""

import os
import subprocess
import sys
import time

import pytest

_STUDY = """
import os, sys, time
from experiments.studies.execution.executors import Processes, Separate
from experiments.studies.trial import Trial

def work(trial):
    open(sys.argv[1], "w").write(str(os.getpid()))
    time.sleep(60.0)

if __name__ == "__main__":
    executor = Processes(1) if sys.argv[2] == "loky" else Separate(1, 60.0)
    list(executor.run(work, [Trial(0, {}, {})]))
"""


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(holds, seconds=60.0):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return holds()


@pytest.mark.skipif(sys.platform == "win32", reason="processes have other parents there")
@pytest.mark.parametrize("kind", ["loky", "separate"])
def test_a_killed_study_leaves_no_workers(tmp_path, kind):
    script, told = tmp_path / "study.py", tmp_path / "pid"
    script.write_text(_STUDY)
    with subprocess.Popen([sys.executable, str(script), str(told), kind], stderr=subprocess.DEVNULL) as study:
        assert wait_until(lambda: told.exists() and told.read_text())
        worker = int(told.read_text())
        assert is_alive(worker)
        study.kill()
    assert wait_until(lambda: not is_alive(worker), 10.0)
