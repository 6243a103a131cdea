"""Kinds of studies: what each declares is there, and a new kind is a folder and a line."""

import json

import pytest

from experiments.cli.main import commands, main
from experiments.studies import registry
from experiments.studies.study_kind import StudyKind

DECLARED = """
from experiments.studies.registry import Kind

KINDS = {
    "repeat": Kind("repeating.study:Repeat", "repeating.findings", "repeating.study:repeat_from", "the same again",
                   table="repeat"),
}
"""
STUDY = """
from dataclasses import dataclass

from experiments.catalogue.experiment import Experiment
from experiments.studies.config import Config
from experiments.studies.study_kind import StudyKind
from experiments.studies.trial import Trial


@dataclass(frozen=True)
class Repeat(StudyKind):
    experiment: Experiment
    times: int
    data: dict
    kind, seed, varied = "repeat", 0, ("initial.seed",)
    configuration = property(lambda self: self.data)

    @classmethod
    def from_configuration(cls, configuration):
        return repeat_from(Config(configuration))

    @property
    def likely_trials(self):
        return self.times

    def find(self, evaluate):
        fixed = {"run.duration": 0.02, "initial.jitter": 0.01}
        trials = [Trial(k, fixed | {"initial.seed": k}) for k in range(self.times)]
        return [result["verdict"] for result in evaluate(trials).values()]


def repeat_from(config):
    experiment, times = config.experiment(), config.table("repeat").integer("times")
    config.finish()
    return Repeat(experiment, times, config.data)
"""
FINDINGS = """
from experiments.visualization.document import Document
from experiments.visualization.pages import Prose


def document(plan, findings, folder):
    return Document([Prose(f"{plan.times} times: {findings}")], data=findings)
"""


@pytest.fixture
def _repeating(in_tmp, monkeypatch):
    """A folder with a kind of study, and its line in the registry."""
    folder = in_tmp / "repeating"
    folder.mkdir()
    for name, text in {"__init__": DECLARED, "study": STUDY, "findings": FINDINGS}.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    (in_tmp / "mine.toml").write_text('experiment = "stand-tilted"\n[repeat]\ntimes = 2\n', encoding="utf-8")
    monkeypatch.syspath_prepend(in_tmp)
    monkeypatch.setattr(registry, "FOLDERS", (*registry.FOLDERS, "repeating"))
    registry.kinds.cache_clear()
    yield
    registry.kinds.cache_clear()


@pytest.mark.usefixtures("_repeating")
def test_a_new_kind_has_a_command_a_page_and_reruns(in_tmp, capsys):
    assert commands()["repeat"] == "the same again"
    assert main(["repeat", "mine.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["trials"], found["findings"]) == ("repeat", 2, ["recovered"] * 2)
    assert main(["report", "results/repeat/mine"]) == 0
    assert "2 times: [&#39;recovered" in (in_tmp / "results/repeat/mine/report.html").read_text(encoding="utf-8")
    assert main(["rerun", "results/repeat/mine", "1", "--no-figures"]) == 0
    assert main(["sweep", "mine.toml"]) == 2
    assert "it has a table [repeat], which `biped repeat` reads" in capsys.readouterr().err


@pytest.mark.parametrize("name", registry.kinds())
def test_what_a_kind_declares_is_there(name):
    kind = registry.kind_named(name)
    assert issubclass(registry.imported(kind.study), StudyKind)
    assert callable(registry.imported(f"{kind.findings}:document"))
    assert all(callable(registry.imported(place)) for place in (kind.plan, kind.options, kind.compared_with) if place)
    assert (name in commands()) == bool(kind.title)
