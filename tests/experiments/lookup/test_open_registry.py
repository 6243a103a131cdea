"""What is named is found, wherever it stands; what is not is told in one sentence."""

import importlib
import json
import os
import re
import sys
from pathlib import Path

import pytest

from biped import Controller, InputError
from biped.inputs.modules import digest_of
from controllers import JointPD, WorkspaceController
from experiments.catalogue.parameters.controllers import CONTROLLERS
from experiments.catalogue.registry import experiment_named, experiment_registry
from experiments.cli import main
from experiments.lookup.metric_files import METRIC_FILES
from experiments.lookup.open_registry import OpenRegistry
from experiments.studies.trial import Trial, run_trial

LAW = """\
from dataclasses import dataclass
from biped import Controller
import neighbour

@dataclass(frozen=True)
class Law(Controller):
    gain: float = neighbour.GAIN

    def torques(self, observation):
        return [0.0] * len(observation.model.joint_names)
"""


@pytest.fixture
def laws(tmp_path, monkeypatch):
    (tmp_path / "neighbour.py").write_text("GAIN = 3.5\n")
    (tmp_path / "law.py").write_text(LAW)
    (tmp_path / "two.py").write_text(LAW + "\nclass Other(Law):\n    pass\n\nREADY = Law(2.0)\n")
    (tmp_path / "broken.py").write_text("import numpy\n\nnumpy.no_such_thing\n")
    (tmp_path / "unfinished.py").write_text("def f(:\n")
    (tmp_path / "empty.py").write_text("")
    package = tmp_path / "my_laws"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "stiff.py").write_text(LAW)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith(("law_", "two_", "my_laws", "neighbour")):
            del sys.modules[name]


@pytest.mark.parametrize("name", ["law.py", "law.py:Law", "./law.py:Law"])
def test_a_law_of_a_file_is_found_and_known_by_its_whole_path(laws, name, monkeypatch):
    entry = CONTROLLERS.find(name)
    assert entry.name == f"{laws / 'law.py'}:Law"
    assert entry.digest == digest_of(laws / "law.py")
    monkeypatch.chdir(os.sep)
    assert CONTROLLERS.find(entry.name).thing is entry.thing


def test_a_law_of_a_module_in_the_current_folder_is_found(laws):
    entry = CONTROLLERS.find("my_laws.stiff:Law")
    assert entry.thing().gain == 3.5
    assert (entry.name, entry.file) == ("my_laws.stiff:Law", laws / "my_laws" / "stiff.py")


@pytest.mark.usefixtures("laws")
def test_an_object_is_a_controller_as_well_as_its_class():
    experiment = experiment_named("balance", "two.py:READY")
    assert experiment.values()["controller.gain"] == 2.0
    assert experiment.build({"controller.gain": 4.0}).controller.gain == 4.0


def test_a_file_that_is_edited_is_loaded_anew(laws):
    first = CONTROLLERS.find("law.py")
    (laws / "law.py").write_text(LAW.replace("neighbour.GAIN", "7.0"))
    second = CONTROLLERS.find("law.py")
    assert (first.thing().gain, second.thing().gain) == (3.5, 7.0)
    assert first.digest != second.digest


def test_our_own_laws_go_through_the_same_door():
    assert CONTROLLERS.find("workspace").thing is WorkspaceController
    assert CONTROLLERS.find("controllers.joint_pd:JointPD").thing is JointPD
    assert not CONTROLLERS.find("controllers.joint_pd:JointPD").digest


@pytest.mark.parametrize(("name", "told"), [
    ("workspce", "unknown controller 'workspce'; did you mean 'workspace'?"),
    ("lwa.py:Law", "there is no file lwa.py; did you mean 'law.py'?"),
    ("elsewhere/x.py", "there is no file elsewhere/x.py\n"),
    ("law.py:Lwa", "it has no 'Lwa'; did you mean 'Law'? there is Law"),
    ("law.py:neighbour", "neighbour is no controller; there is Law; a controller is a class that derives from"),
    ("two.py", "it has Law, Other, READY: name one, as in two.py:Law"),
    ("empty.py", "no controller in it"),
    ("broken.py:Law", "broken.py, line 3: it cannot be imported: AttributeError: module 'numpy' has no attribute"),
    ("unfinished.py:Law", "unfinished.py, line 1: it cannot be imported: SyntaxError"),
    ("my_lows.stiff:Law", "there is no module my_lows: it is neither installed nor in"),
    ("my_laws.stif:Law", "there is no module my_laws.stif"),
    ("my_laws.stiff:Lwa", "did you mean 'Law'?"),
])  # fmt: skip
def test_what_is_not_there_is_told_in_one_sentence(laws, refusal, name, told):
    with pytest.raises(InputError) as caught:
        CONTROLLERS.find(name)
    assert told.strip() in str(caught.value)
    assert told in refusal("run", "balance", "--controller", name)
    assert not (laws / "results").exists()


@pytest.mark.usefixtures("laws")
@pytest.mark.parametrize(("arguments", "told"), [
    (["run", "nudeg.py"], "experiment 'nudeg.py': there is no file nudeg.py"),
    (["run", "law.py"], "no experiment in it; an experiment is an object of experiments.Experiment"),
    (["run", "box-drop", "--controller", "law.py"], "experiment box-drop has no controller"),
    (["run", "balance", "--controller", "law.py", "--set", "controller.gian=3"], "did you mean 'controller.gain' or"),
    (["run", "balance", "--controller", "law.py", "--set", "controller.gain=x"], "controller.gain = x: it must be"),
    (["run", "balance", "--controller", "law.py", "--set", "controller.kp_position=3"], "unknown parameter"),
    (["run", "balance", "--metric-file", "law.py"], "metric 'law.py': no metric in it"),
    (["show", "balance", "--controller", "lwa.py"], "there is no file lwa.py"),
    (["push-map", "--controller", "lwa.py"], "there is no file lwa.py"),
    (["rerun", "nowhere", "1", "--controller", "law.py"], "nowhere is not the folder of a study"),
])  # fmt: skip
def test_mistakes_on_the_command_line_are_told_in_one_sentence(refusal, arguments, told):
    assert told in refusal(*arguments)


@pytest.mark.parametrize(("line", "told"), [
    ('controller = "lwa.py"', "line 2: controller 'lwa.py': there is no file lwa.py; did you mean 'law.py'?"),
    ('contoller = "law.py"', "line 2: unknown key 'contoller'; did you mean 'controller'?"),
    ("controller = 3", "line 2: controller = 3: it must be a text"),
    ('metric_files = ["law.py"]', "line 2: metric 'law.py': no metric in it"),
    ('metric_file = ["law.py"]', "line 2: unknown key 'metric_file'; did you mean 'metric_files'?"),
])  # fmt: skip
def test_mistakes_in_a_file_are_told_with_their_line(laws, refusal, line, told):
    Path("study.toml").write_text(f'experiment = "balance"\n{line}\n[vary]\nrun.duration = [0.01, 0.02]\n')
    assert f"study.toml, {told}" in refusal("sweep", "study.toml")
    assert not (laws / "results").exists()


def install(folder, name, version, text, monkeypatch):
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(text)
    monkeypatch.syspath_prepend(str(folder))
    importlib.invalidate_caches()


def test_installed_packages_register_by_entry_points(laws, capsys, monkeypatch):
    points = "[biped.controllers]\nlimp = my_laws.stiff:Law\nworkspace = my_laws.stiff:Law\n"
    install(laws, "some-laws", "1.2", points, monkeypatch)
    registry = OpenRegistry("controller", CONTROLLERS.builtin, CONTROLLERS.fits, CONTROLLERS.requirement)
    assert registry.origins()["limp"] == "some-laws 1.2"
    assert registry.origins()["workspace"] == "this project"
    assert issubclass(registry.find("limp").thing, Controller)
    CONTROLLERS.__dict__.pop("installed", None)
    try:
        assert main(["list"]) == 0
        assert "some-laws 1.2" in capsys.readouterr().out
    finally:
        CONTROLLERS.__dict__.pop("installed", None)


def test_installed_experiments_and_metrics_are_run_by_their_names(laws, capsys, monkeypatch):
    examples = Path(__file__).parents[3] / "examples"
    for name in ("nudge", "lean"):
        (laws / "my_laws" / f"{name}.py").write_text((examples / f"{name}.py").read_text(encoding="utf-8"))
    points = "[biped.experiments]\nsmall-push = my_laws.nudge:NUDGE\n[biped.metrics]\nlean = my_laws.lean:LEAN\n"
    install(laws, "some-things", "2.0", points, monkeypatch)
    for registry in (experiment_registry(), METRIC_FILES):
        registry.__dict__.pop("installed", None)
    try:
        assert main(["list"]) == 0
        assert "some-things 2.0" in capsys.readouterr().out
        wanted = ["--metric-file", "lean", "--set", "run.duration=0.2", "--no-figures", "--out", "run"]
        assert main(["run", "small-push", *wanted]) == 0
        assert json.loads(Path("run/summary.json").read_text())["metrics"]["lean_forward"] >= 0.0
    finally:
        for registry in (experiment_registry(), METRIC_FILES):
            registry.__dict__.pop("installed", None)


LAWS = """\
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from biped import Controller
from controllers import control

class UnluckyLaw(NamedTuple):
    after: float

@control.register(UnluckyLaw)
def unlucky(law, measurement, torque, recorded):
    if measurement.time[0] > law.after:
        raise ValueError("no more")

@dataclass(frozen=True)
class Unlucky(Controller):
    after: float = 0.01

    def law(self, model):
        return UnluckyLaw(self.after)

class MisspeltLaw(NamedTuple):
    gain: float

@control.register(MisspeltLaw)
def misspelt(law, measurement, torque, recorded):
    torque[6] = law.gian

class Misspelt(Controller):
    def law(self, model):
        return MisspeltLaw(1.0)
"""


@pytest.fixture
def named(tmp_path):
    (tmp_path / "laws.py").write_text(LAWS)
    return lambda name: experiment_named("balance", f"{tmp_path / 'laws.py'}:{name}")


def test_what_a_kernel_raises_is_a_result_of_its_trial(named):
    unlucky = named("Unlucky")
    failed = run_trial(unlucky, Trial(0, {"run.duration": 0.03}))
    assert (failed["verdict"], failed["failure"]) == ("failed", "ValueError")
    assert re.fullmatch(r"no more \(\w+\.py, line \d+, in unlucky\)", failed["message"])
    assert 'laws.py", line 14, in unlucky' in failed["traceback"]
    assert run_trial(unlucky, Trial(1, {"run.duration": 0.03, "controller.after": 1.0}))["failure"] == ""
    assert run_trial(experiment_named("balance"), Trial(2, {"run.duration": 0.03}))["failure"] == ""


def test_a_run_under_it_ends_in_its_error(named):
    with pytest.raises(ValueError, match="^no more$"):
        named("Unlucky").run({"run.duration": 0.03})


def test_a_kernel_that_cannot_be_compiled_is_told_with_its_line(named):
    line = LAWS.splitlines().index("    torque[6] = law.gian") + 1
    told = rf"the kernel of Misspelt cannot be compiled: Unknown attribute 'gian' .*laws\.py, line {line}\)$"
    with pytest.raises(InputError, match=told):
        named("Misspelt").run({"run.duration": 0.03})
