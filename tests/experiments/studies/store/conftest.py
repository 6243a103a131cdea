"""Short real trials, and studies of them."""

import os
import signal
import subprocess
import sys

import pytest

from experiments.studies import Study, Trial

EXPERIMENT = "thrown-block"
#: [s] that a trial simulates: enough for the block to hit.
DURATION = 0.1
BIPED = "import sys; from experiments.cli import main; sys.exit(main())"


@pytest.fixture
def make_trials():
    def make(count, **changes):
        fixed = {"run.duration": DURATION, **changes}
        return [Trial(k, fixed | {"floor.mu_s": 0.6 + k / 1000}, {"replica": k}) for k in range(count)]

    return make


@pytest.fixture
def make_study(tmp_path):
    def make(name="study", **configuration):
        return Study.create(tmp_path / name, "test", EXPERIMENT, configuration, varied=["floor.mu_s"])

    return make


def hear_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def start(tmp_path):
    started = []

    def begin(*words, **options):
        command = [sys.executable, "-c", BIPED, *map(str, words)]
        process = subprocess.Popen(
            command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **{"preexec_fn": hear_interrupts} | options,
        )  # fmt: skip
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()
