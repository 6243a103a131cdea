"""What commands print for readers, programs, shells and other encodings."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from biped.integrators import INTEGRATORS
from biped.runs.verdict import VERDICTS
from experiments.catalogue.registry import MODULES, experiment_named
from experiments.cli import main
from experiments.commands.example import FOLDER, examples

from ...conftest import ROOT

SHORT = ["run", "balance", "--set", "push.impulse=3", "--duration", "0.6"]


def json_of(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def biped(*arguments, **environment):
    command = [sys.executable, "-m", "biped", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, env={**os.environ, **environment})


@pytest.mark.usefixtures("in_tmp")
def test_a_run_replies_with_its_summary(capsys):
    found = json_of(capsys, *SHORT, "--no-figures", "--out", "here")
    assert found["verdict"] in VERDICTS
    assert found["metrics"].keys() >= {"com_excursion", "margin_of_stability_min", "peak_torque_left_knee_pitch"}
    assert {"here/" + name for name in found["files"]} == {str(path) for path in Path("here").iterdir()}
    saved = json.loads(Path("here/summary.json").read_text(encoding="utf-8"))
    assert {key: found[key] for key in saved} == saved


def test_lists_reply_with_what_they_list(capsys):
    assert [one["name"] for one in json_of(capsys, "list")["experiments"]] == list(MODULES)
    assert {one["name"] for one in json_of(capsys, "integrators")} >= set(INTEGRATORS)
    for name in MODULES:
        shown = {one["name"]: one for one in json_of(capsys, "show", name)}
        for parameter in experiment_named(name).parameters:
            assert (shown[parameter.name]["unit"], shown[parameter.name]["source"]) == (
                parameter.unit,
                parameter.source,
            )
    assert json_of(capsys, "show", "balance", "actuators.limit")[0]["value"] == "inf"


def test_show_can_be_filtered_by_words_between_and_behind_options(capsys):
    found = json_of(capsys, "show", "balance", "push", "--sources", "load")
    assert {one["name"].partition(".")[0] for one in found} == {"push", "load"}
    frictions = {one["name"] for one in json_of(capsys, "show", "balance", "friction")}
    assert {"floor.mu_s", "patch.mu_d", "block.friction"} <= frictions
    assert "floor.k_n" not in frictions


def test_an_error_leaves_the_output_empty(refusal):
    refusal("show", "walk", "--json")
    refusal("show", "balance", "--json", "--quiet")


@pytest.mark.usefixtures("in_tmp")
def test_quiet_is_quiet(capsys):
    assert main([*SHORT, "--no-figures", "--quiet"]) == 0
    assert main(["list", "-q"]) == 0
    assert capsys.readouterr() == ("", "")


def test_any_encoding_will_do(tmp_path):
    arguments = ["run", "balance", "--set", "push.impulse=8", "--no-figures", "--out", str(tmp_path)]
    done = biped(*arguments, PYTHONIOENCODING="ascii", MPLBACKEND="nonsense")
    assert done.returncode == 0, done.stderr
    assert b"8 N?s" in done.stdout


def test_nobody_reads_to_the_end():
    command = [sys.executable, "-m", "biped", "show", "balance"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert (process.returncode, error) == (141, b"")


@pytest.mark.usefixtures("in_tmp")
def test_ctrl_c_while_figures_are_drawn_says_where_the_run_is(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.visualization.figures.sheets.draw_figures", interrupt)
    assert main([*SHORT, "--out", "out"]) == 130
    assert capsys.readouterr().err == "biped: interrupted while figures were drawn; the run is in out\n"
    assert Path("out/summary.json").is_file()


def test_every_example_can_be_had(capsys):
    assert main(["example"]) == 0
    listed = capsys.readouterr().out
    for name in examples():
        assert f"{name} " in listed
        assert main(["example", name]) == 0
        assert capsys.readouterr().out == (FOLDER / name).read_text(encoding="utf-8")


def words_of(text):
    """All of them, whatever line and column they stand in."""
    return sorted(re.findall(r"[\w.-]+", text))


@pytest.mark.parametrize("command", [["show", "balance"], ["list"], ["integrators"]], ids=" ".join)
@pytest.mark.parametrize("width", [60, 80, 120])
def test_lists_keep_within_the_terminal_and_break_no_word(capsys, monkeypatch, command, width):
    printed = {}
    for columns in (width, 150):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(command) == 0
        printed[columns] = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in printed[width].splitlines()) <= width
    assert words_of(printed[width]) == words_of(printed[150])


def test_a_name_that_is_given_is_compiled_ahead(capsys):
    assert main(["warm", "joint-pd", "recursive", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compiled"] == ["joint-pd", "recursive"]


def test_what_was_not_compiled_is_an_error(monkeypatch, capsys):
    def compile_ahead(calls, progress):
        for call in calls:
            progress("" if call.arguments == ("recursive",) else f"{call.arguments} ValueError: no")

    monkeypatch.setattr("kernelcache.compile_ahead", compile_ahead)
    assert main(["warm", "joint-pd", "recursive"]) == 2
    assert "some kernels could not be compiled: ('joint-pd',) ValueError: no" in capsys.readouterr().err
