"""Tunings that are killed and go on; with real trials, short ones."""

import os
import signal
import subprocess
import sys
import time
import tomllib

import pytest

from biped.errors import InputError
from controllers.gains import load_gains
from experiments.studies import Study, executor_named
from experiments.studies import run as studies
from experiments.studies.run import open_study, recall, run_study
from experiments.studies.tuning import tuning as module
from experiments.studies.tuning.output import write_results
from experiments.visualization.studies.toml import as_toml


def complete(tuning, folder, workers=2):
    with open_study(tuning, folder) as study:
        outcome = run_study(tuning, study, executor_named(workers=workers))
        return outcome, study.frame()


def start(file, folder, *more):
    code = "import sys; from experiments.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "tune", str(file), "--out", str(folder), "--no-figures", *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ), text=True)


def kill_after(process, folder, trials):
    deadline = time.monotonic() + 300.0
    while time.monotonic() < deadline:
        assert process.poll() is None, process.stderr.read()
        if (folder / "study.json").exists() and len(Study.read(folder).finished) >= trials:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    return len(Study.read(folder).finished)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", ["optuna-tpe", "cma"])
def test_a_tuning_that_is_killed_ends_as_one_that_is_not(make, small, tmp_path, optimizer):
    small["tune"]["optimizer"] = optimizer
    small["set"]["run.duration"] = 0.6
    file = tmp_path / "small.toml"
    file.write_text(as_toml(small | {"name": "small"}))
    whole, expected = complete(make(small | {"name": "small"}), tmp_path / "whole")
    there = kill_after(start(file, tmp_path / "killed"), tmp_path / "killed", 20)
    assert 20 <= there < len(expected)
    counted = []
    original = studies.run_trials

    def counting(study, trials, *arguments):
        counted.append(len({t.number for t in trials} - study.finished))
        return original(study, trials, *arguments)

    studies.run_trials = counting
    try:
        outcome, frame = complete(make(tomllib.loads(file.read_text())), tmp_path / "killed")
    finally:
        studies.run_trials = original
    assert sum(counted) == len(expected) - there  # nothing was run again
    assert frame.equals(expected)
    assert outcome.winner == whole.winner
    assert outcome.confirmation == whole.confirmation


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(make, small, tmp_path):
    _, one = complete(make(small), tmp_path / "one", workers=1)
    _, three = complete(make(small), tmp_path / "three", workers=3)
    assert one.equals(three)
    assert len(one) == (1 + 24) * 4 + 2 * 2 * 4


def test_what_the_folder_holds_is_the_same_outcome(make, small, tmp_path):
    outcome, _ = complete(make(small), tmp_path)
    tuning, recalled = recall(Study.read(tmp_path))
    assert recalled == outcome
    assert tuning.space.variables == make(small).space.variables


def test_gains_that_are_written_are_those_of_the_winner(make, small, tmp_path):
    tuning = make(small)
    outcome, _ = complete(tuning, tmp_path)
    files = write_results(tuning, outcome, tmp_path)
    name = "best.toml" if outcome.is_confirmed else "best-unconfirmed.toml"
    assert tmp_path / name in files
    assert not (tmp_path / ({"best.toml", "best-unconfirmed.toml"} - {name}).pop()).exists()
    gains = load_gains(tmp_path / name)
    point = outcome.winner.candidate.point
    assert gains.kp_position == (point["stiffness"], point["stiffness"], 200.0)
    assert gains.kd_position[0] == pytest.approx(2.0 * point["damping"] * point["stiffness"] ** 0.5)


def test_a_folder_that_another_version_wrote_is_not_gone_on_with(make, small, tmp_path, monkeypatch):
    tuning = make(small)
    complete(tuning, tmp_path)
    original = module.make_optimizer
    monkeypatch.setattr(
        module, "make_optimizer", lambda name, variables, seed, *others: original(name, variables, seed + 1, *others),
    )  # fmt: skip
    with pytest.raises(InputError, match="another version"):
        complete(tuning, tmp_path)


def test_a_parameter_cannot_have_a_metrics_name(make, small, tmp_path):
    small["parameter"][0]["name"] = "position_error"
    with pytest.raises(InputError, match="a metric has this name"):
        complete(make(small), tmp_path)
