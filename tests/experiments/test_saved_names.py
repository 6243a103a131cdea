"""Opening what was saved does not run code that it names, unless the user names it too."""

import json
import sys

import pytest

from biped import human
from biped.inputs import modules
from biped.inputs.modules import SavedNameError, check_may_import, file_of, saved_names, trusting
from biped.model.archive import model_to_json
from biped.runs.run import MODEL
from experiments.cli import main
from experiments.commands import linearize
from experiments.studies.store.folder import Study
from experiments.visualization.report.run_source import run_source
from experiments.visualization.viewer.loaded_runs import load_runs

THEIRS = """\
from pathlib import Path

Path(__file__).with_name("ran").touch()

from controllers import JointPD
from biped import human as make


class Law(JointPD):
    pass
"""
SWEEP = 'experiment = "balance"\n[set]\nrun.duration = 0.02\n[vary]\n"floor.mu_s" = [0.4, 0.5]\n'
SHORT = ["--set", "run.duration=0.02", "--no-figures"]


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """Code of others, as a file and as a module; whether it was run."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    (folder / "theirs.py").write_text(THEIRS)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(modules, "_named", set())
    yield lambda: (folder / "ran").exists()
    sys.modules.pop("theirs", None)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert main(["run", "balance", *SHORT, "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    file = folder / "sweep.toml"
    file.write_text(SWEEP)
    assert main(["sweep", str(file), "--out", str(folder / "out"), "--no-figures", "--workers", "1"]) == 0
    return folder / "out"


def changed(file, change):
    """A saved file with something changed; what it was is given back to be restored."""
    before = file.read_text(encoding="utf-8")
    data = json.loads(before)
    change(data)
    file.write_text(json.dumps(data), encoding="utf-8")
    return before


@pytest.fixture
def forged():
    """Let a run or a study name something; it is as before afterwards."""
    undo = []

    def forge(file, change):
        undo.append((file, changed(file, change)))

    yield forge
    for file, before in reversed(undo):
        file.write_text(before, encoding="utf-8")


PLACES = ("theirs.py:{}", "theirs:{}")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("key", "name"), [("robot.name", "make"), ("controller.name", "Law"), ("experiment", "Law"), ("sources", "Law")]
)
def test_a_run_is_looked_at_without_running_what_it_names(run, forged, theirs, key, name, place, tmp_path):
    named = place.format(name)
    value = {named: "0123456789abcdef"} if key == "sources" else named
    forged(run / "summary.json", lambda data: data["parameters"].update({key: value}))
    assert main(["report", str(run), "--out", str(tmp_path / "page.html")]) == 0
    assert main(["export", str(run), "--csv", "--out", str(tmp_path)]) == 0
    (loaded,) = load_runs([run])
    assert loaded.run.state.model.name == "human"
    known = run_source(run).experiment
    assert (known is None) == (key in ("controller.name", "experiment"))
    if key == "robot.name":
        assert linearize._scene(linearize.parser().parse_args([str(run), "--at", "0"]))[1].model.name == "human"
    assert not theirs()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("key", "name"), [("robot", "make"), ("controller", "Law"), ("experiment", "Law"), ("metric_files", "Law")]
)
def test_a_study_is_looked_at_without_running_what_it_names(study, forged, theirs, key, name, place, capsys, tmp_path):
    """Of a robot it has the model, with which a trial can be run again, too."""
    named = place.format(name)

    def forge(data):
        data[key] = [named] if key == "metric_files" else named
        data["configuration"][key] = data[key]
        data["sources"] = {named: "0123456789abcdef"}

    forged(study / "study.json", forge)
    (study / MODEL).write_text(model_to_json(human()))
    assert main(["report", str(study), "--out", str(tmp_path / "page.html")]) == 0
    capsys.readouterr()
    assert main(["rerun", str(study), "--list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    again = ["rerun", str(study), "0", "--no-figures", "--out", str(tmp_path / "again")]
    if key == "robot":
        assert main(again) in (0, 1)
    else:
        assert main(again) == 2
        (told,) = capsys.readouterr().err.strip().splitlines()
        assert named in told
        assert "--trust" in told
    assert not theirs()
    main([*again, "--trust"])
    assert theirs()


def test_changes_of_trials_name_no_code_either(study, theirs):
    with Study.open(study) as opened:
        (before,) = opened._database.execute("SELECT changes FROM trials WHERE trial = 1").fetchone()
        named = json.dumps(json.loads(before) | {"controller.name": "theirs.py:Law"})
        opened._database.execute("UPDATE trials SET changes = ? WHERE trial = 1", (named,))
        try:
            assert main(["rerun", str(study), "1", "--no-figures"]) == 2
            assert not theirs()
        finally:
            opened._database.execute("UPDATE trials SET changes = ? WHERE trial = 1", (before,))


@pytest.fixture
def own(tmp_path, theirs):
    """A study of a law in a file, which another process opens."""
    assert not theirs()
    (tmp_path / "sweep.toml").write_text(SWEEP.replace("[set]", 'controller = "theirs.py"\n[set]', 1))
    command = ["sweep", str(tmp_path / "sweep.toml"), "--out", str(tmp_path / "own"), "--no-figures", "--workers", "1"]
    assert main(command) == 0
    modules._named.clear()
    return tmp_path / "own", command


def test_a_law_is_run_again_where_the_user_names_it(own, capsys):
    study, command = own
    law = f"{study.parent / 'theirs' / 'theirs.py'}:Law"
    again = ["rerun", str(study), "1", "--no-figures"]
    capsys.readouterr()
    assert main(again) == 2
    assert law in capsys.readouterr().err
    for named in (["--trust"], ["--controller", "theirs.py"]):
        modules._named.clear()
        assert main([*again, *named]) == 0
    modules._named.clear()
    assert main(command) == 0  # it goes on, or has all trials already
    with Study.read(study) as read:
        assert read.experiment.controller == law  # named by this process
        modules._named.clear()
    with Study.read(study) as read, pytest.raises(SavedNameError):
        _ = read.experiment
    with Study.read(study) as read, trusting():
        assert read.experiment.controller == law


def test_a_report_has_the_parameters_of_a_law_that_is_trusted(own, tmp_path):
    pages = []
    for more in ([], ["--trust"]):
        modules._named.clear()
        assert main(["report", str(own[0]), "--out", str(tmp_path / "page.html"), *more]) == 0
        pages.append((tmp_path / "page.html").read_text())
    assert ["controller.kp" in page for page in pages] == [False, True]


@pytest.mark.usefixtures("theirs")
def test_a_run_says_that_its_law_was_edited(tmp_path):
    law, out = tmp_path / "theirs" / "theirs.py", tmp_path / "own"
    assert main(["run", "balance", "--controller", "theirs.py", *SHORT, "--out", str(out)]) == 0
    assert run_source(out).experiment.controller == f"{law}:Law"
    law.write_text(THEIRS.replace("pass", "more: float = 1.0"))
    modules._named.clear()
    assert run_source(out).experiment is None
    assert any("has been edited since" in version for version in run_source(out).versions.values())


def test_of_a_file_only_what_was_named_is_taken(theirs):
    check_may_import("theirs.py:Law")
    with saved_names():
        check_may_import("theirs.py:Law")
        with pytest.raises(SavedNameError):
            check_may_import("theirs.py:make")
    assert not theirs()


def test_the_file_of_a_module_is_found_without_importing_it(tmp_path, theirs):
    package = tmp_path / "theirs" / "theirs_too"
    package.mkdir()
    (package / "__init__.py").write_text(THEIRS)
    (package / "law.py").write_text(THEIRS)
    assert file_of("theirs_too.law") == package / "law.py"
    assert file_of("theirs_too") == package / "__init__.py"
    assert [file_of(where) for where in ("theirs_too.no", "no.such", "sys", "theirs_too.law.no", "")] == [None] * 5
    assert not theirs()
    assert not (package / "ran").exists()
    assert "theirs_too" not in sys.modules
