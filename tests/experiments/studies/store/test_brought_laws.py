"""Studies under somebody's own law: its fields are varied, and whatever it does, the other trials are kept."""

import json

import pyarrow.parquet
import pytest

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.studies import Study, Trial, open_study, run_study, run_trial, run_trials
from experiments.studies.execution.executors import TIME_LIMIT, Processes, Threads, executor_for
from experiments.studies.sweep.sweep import Sweep

LAW = '''\
import os
import sys
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from biped import Controller
from controllers import JointPD


@dataclass(frozen=True)
class Odd(Controller):
    """Well behaved, or not."""

    mode: Literal["well", "raises", "hangs", "deaf", "nan", "short", "exits", "dies"] = "well"
    kp: float = field(default=1500.0, metadata={"unit": "N·m/rad", "title": "stiffness", "range": (0.0, 3000.0)})
    lean: tuple[float, float] = (0.0, 0.0)
    upright: bool = True
    period: float = 2e-3

    def torques(self, observation):
        return getattr(self, self.mode)(JointPD(kp=self.kp).torques(observation))

    def well(self, torques):
        return torques

    def raises(self, torques):
        return {}["no such key"]

    def hangs(self, torques):
        while True:
            pass

    def deaf(self, torques):
        while True:
            try:
                self.hangs(torques)
            except BaseException:
                pass

    def nan(self, torques):
        return torques * np.nan

    def short(self, torques):
        return torques[:3]

    def exits(self, torques):
        sys.exit(3)

    def dies(self, torques):
        os.abort()
'''

MODES = ("well", "raises", "hangs", "deaf", "nan", "short", "exits", "dies")


@pytest.fixture
def law(tmp_path):
    path = tmp_path / "odd.py"
    path.write_text(LAW)
    return path


@pytest.fixture
def make_plan(law):
    def make(**vary):
        changes = {"run.duration": 0.02}
        data = {"experiment": "balance", "controller": str(law), "set": changes, "vary": vary}
        return Sweep.from_configuration(data)

    return make


@pytest.fixture
def run_plan(tmp_path):
    def run(plan, executor=None, name="study"):
        metric_files, controller = (), plan.experiment.controller
        with Study.create(
            tmp_path / name, "sweep", plan.experiment.address, plan.configuration,
            varied=plan.varied, controller=controller, metric_files=metric_files,
        ) as study:  # fmt: skip
            return study, run_trials(study, plan.trials(), executor)

    return run


@pytest.mark.slow
def test_whatever_a_law_does_is_a_result_of_its_trial_alone(make_plan, run_plan, law, monkeypatch):
    monkeypatch.setattr(Processes, "GRACE", 1.0)
    monkeypatch.setattr(Processes, "START", 30.0)
    plan = make_plan(**{"controller.mode": list(MODES)})
    study, results = run_plan(plan, executor_for(plan.experiment, workers=2, limit=1.0))
    by_mode = dict(zip(MODES, results.values(), strict=True))
    failures = {mode: result["failure"] for mode, result in by_mode.items()}
    assert failures == {
        "well": "", "raises": "KeyError", "hangs": "OutOfTimeError", "deaf": "OutOfTimeError",
        "nan": "InputError", "short": "InputError", "exits": "SystemExit", "dies": "ProcessDied",
    }  # fmt: skip
    told = {mode: result["message"] for mode, result in by_mode.items()}
    assert "is not finite at 0 s" in told["nan"]
    assert "shape (3,); it must be (12,)" in told["short"]
    assert "not finished after 1 s" in told["hangs"]
    assert "killed" in told["deaf"]
    assert "SIGABRT" in told["dies"]
    line = LAW.splitlines().index('        return {}["no such key"]') + 1
    for mode, what in (
        ("raises", f'File "{law}", line {line}, in raises'),
        ("hangs", "in hangs"),
        ("exits", "in exits"),
    ):
        assert what in by_mode[mode]["traceback"]
    assert "executors.py" not in by_mode["hangs"]["traceback"]
    table = pyarrow.parquet.read_table(study.folder / "trials.parquet")
    assert sum(trace is not None for trace in table.column("traceback").to_pylist()) == 3
    assert main(["report", str(study.folder)]) == 0
    page = next(study.folder.glob("*.html")).read_text(encoding="utf-8")
    assert f"line {line}, in raises" in page


@pytest.mark.parametrize(("mode", "failure", "told"), [
    ("raises", "KeyError", "no such key"),
    ("nan", "InputError", "is not finite at 0 s"),
    ("short", "InputError", r"shape (3,); it must be (12,)"),
    ("exits", "SystemExit", "3"),
    ("hangs", "OutOfTimeError", "not finished after 0.5 s"),
])  # fmt: skip
def test_what_a_law_does_wrong_is_a_result(make_plan, mode, failure, told):
    plan = make_plan(**{"controller.mode": [mode]})
    (trial,) = plan.trials()
    result = run_trial(plan.experiment, trial, limit=0.5)
    assert (result["verdict"], result["failure"]) == ("failed", failure)
    assert told in result["message"]
    assert (f", in {mode}" in result.get("traceback", "")) == (failure != "InputError")


def test_a_law_that_is_well_gives_what_it_gives_here(make_plan, run_plan):
    plan = make_plan(**{"controller.kp": [1000.0, 1500.0, 2000.0], "controller.upright": ["true", "false"]})
    _, elsewhere = run_plan(plan)
    assert len({result["peak_torque"] for result in elsewhere.values()}) == 3
    for trial in plan.trials():
        assert elsewhere[trial.number] == json.loads(json.dumps(run_trial(plan.experiment, trial)))


def test_python_laws_run_in_processes_and_compiled_ones_in_threads(law):
    assert executor_for(experiment_named("balance", str(law))).limit == TIME_LIMIT
    assert isinstance(executor_for(experiment_named("balance", "joint-pd")), Threads)
    assert executor_for(experiment_named("balance"), "loky").limit is None
    with pytest.raises(InputError, match="time limit of a trial"):
        executor_for(experiment_named("balance"), limit=0.0)


def test_a_law_that_is_edited_does_not_go_on_with_the_study(make_plan, run_plan, law):
    plan = make_plan(**{"controller.kp": [1000.0, 1500.0]})
    study, _ = run_plan(plan, Threads(1))
    law.write_text(LAW + "# edited\n")
    with pytest.raises(InputError, match=r"odd\.py:Odd has been edited since"):
        run_plan(make_plan(**{"controller.kp": [1000.0, 1500.0]}), Threads(1))
    assert len(Study.read(study.folder).finished) == 2


def test_a_trial_is_run_again_and_a_file_that_moved_or_changed_is_told(make_plan, run_plan, law, capsys):
    study, _ = run_plan(make_plan(**{"controller.kp": [1000.0, 1500.0]}), Threads(1))
    again = ["rerun", str(study.folder), "1", "--no-figures"]
    assert main(again) == 0
    moved = law.rename(law.with_name("moved.py"))
    capsys.readouterr()
    assert main(again) == 2
    assert "odd.py: it has" not in (told := capsys.readouterr().err)
    assert "there is no file" in told
    assert main([*again, "--controller", str(moved)]) == 0
    assert "edited" not in capsys.readouterr().err
    moved.write_text(LAW.replace("JointPD(kp=self.kp)", "JointPD(kp=0.5 * self.kp)"))
    assert main([*again, "--controller", str(moved)]) == 1
    assert "odd.py:Odd has been edited" in capsys.readouterr().err


def test_controllers_can_be_what_is_varied(law, tmp_path):
    plan = Sweep.from_configuration(
        {"experiment": "balance", "set": {"run.duration": 0.02}, "vary": {"controller.name": ["workspace", str(law)]}}
    )
    experiment = plan.experiment
    ours, theirs = (run_trial(experiment, trial) for trial in plan.trials())
    assert ours == run_trial(experiment, Trial(0, {"run.duration": 0.02}))
    assert theirs == run_trial(experiment_named("balance", str(law)), Trial(0, {"run.duration": 0.02}))
    assert ours != theirs
    assert isinstance(executor_for(plan.experiment, samples=plan.samples), Processes)
    with open_study(plan, tmp_path / "both") as study:
        assert list(study.header.sources) == [f"{law}:Odd"]
        assert set(run_study(plan, study)["controller.name"]) == {"workspace", f"{law}:Odd"}
    assert main(["rerun", str(study.folder), "1", "--no-figures"]) == 0
    law.write_text(LAW + "# edited\n")
    with pytest.raises(InputError, match=r"odd\.py:Odd has been edited since"):
        open_study(plan, tmp_path / "both")


def test_a_run_says_what_it_was_driven_by(tmp_path, law, capsys):
    out = tmp_path / "run"
    words = ["--controller", str(law), "--set", "controller.kp=1234", "--duration", "0.02", "--no-figures"]
    assert main(["run", "balance", *words, "--out", str(out)]) == 0
    saved = json.loads((out / "summary.json").read_text(encoding="utf-8"))["parameters"]
    assert saved["controller.name"] == f"{law}:Odd"
    assert saved["controller.kp"] == 1234.0
    assert list(saved["sources"]) == [f"{law}:Odd"]
    assert main(["report", str(out)]) == 0
    page = next(out.glob("*.html")).read_text(encoding="utf-8")
    assert f"--controller {law}:Odd" in page
    assert "has been edited" not in page
    law.unlink()
    assert main(["report", str(out)]) == 0
    assert "the file is missing now" in next(out.glob("*.html")).read_text(encoding="utf-8")
    capsys.readouterr()
