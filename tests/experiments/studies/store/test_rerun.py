"""``biped rerun``: a trial from its study alone is the same, bit for bit, or it is said what differs."""

import json

import pytest

from biped import Run, human
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.studies import Study, run_trials


@pytest.fixture
def study(make_study, make_trials):
    with make_study() as found:
        run_trials(found, make_trials(4, **{"initial.seed": 7, "block.velocity[0]": -5.0}))
    return found.folder


def test_a_trial_is_the_same_again_and_its_run_is_saved(study, capsys):
    assert main(["rerun", str(study), "2", "--no-figures"]) == 0
    assert "equal the study's, bit for bit" in capsys.readouterr().out
    run = Run.load(study / "traces" / "2", human())
    trial = Study.read(study).trial(2)
    assert run.frame.equals(experiment_named("thrown-block").run(trial.changes).frame)
    assert run.summary["position_error"] == Study.read(study).results([2])[2]["position_error"]
    assert run.parameters["block.velocity"] == [-5.0, 0.0, 0.2]


def test_a_trial_of_a_study_that_is_being_written(make_study, make_trials, tmp_path):
    with make_study() as found:
        run_trials(found, make_trials(2))
        assert main(["rerun", str(found.folder), "1", "--out", str(tmp_path / "run"), "--no-figures"]) == 0
    assert (tmp_path / "run" / "run.parquet").is_file()


def test_what_differs_is_said_with_what_changed_since(make_study, make_trials, capsys):
    with make_study() as study:
        (trial,) = make_trials(1)
        result = run_trials(study, [trial])[0]
    (study.folder / "trials.sqlite").unlink()
    header = json.loads((study.folder / "study.json").read_text(encoding="utf-8"))
    header["sessions"][0]["numba"] = "0.1"
    (study.folder / "study.json").write_text(json.dumps(header), encoding="utf-8")
    changed = result["position_error"] * (1.0 + 2.0**-52)
    with make_study() as study:
        study.add(trial, result | {"position_error": changed})
    assert main(["rerun", str(study.folder), "0", "--no-figures"]) == 1
    caught = capsys.readouterr()
    assert f"position_error: {changed!r} before, {result['position_error']!r} now" in caught.out
    assert "1 of " in caught.err
    assert "numba: 0.1 and" in caught.err


def test_a_trial_that_could_not_be_computed_cannot_be_now_either(make_study, make_trials, capsys):
    hard = {"integrator.max_iterations": 1, "integrator.max_halvings": 0}
    with make_study() as study:
        run_trials(study, [*make_trials(1, **hard), *make_trials(2, **{"floor.mu_d": -1.0})[1:]])
    for number in ("0", "1"):
        assert main(["rerun", str(study.folder), number, "--no-figures"]) == 0
        assert "failed" in capsys.readouterr().out
    assert (study.folder / "traces" / "0" / "run.parquet").is_file()


def test_finished_trials_are_listed_by_their_verdict(study, capsys):
    assert main(["rerun", str(study), "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [int(line.split()[0]) for line in lines] == [0, 1, 2, 3]
    verdict = lines[0].split("  ")[-2].strip()
    assert main(["rerun", str(study), "--list", verdict]) == 0
    chosen = capsys.readouterr().out.splitlines()
    assert chosen == [line for line in lines if f"  {verdict}  " in line]
    assert main(["rerun", str(study), "--list", "flew"]) == 2
    assert f"there are {verdict}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("trial", "told"),
    [("9", "no finished trial 9: the nearest of 4 are 3; `biped rerun"), ("x", "it must be the number of a trial")],
)
def test_a_trial_that_is_not_there_is_told(study, refusal, trial, told):
    assert told in refusal("rerun", study, trial)
