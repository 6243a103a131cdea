"""What commands print for programs, shells and other encodings, and what they say of what was there before."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from biped.integrators import INTEGRATORS
from biped.runs.verdict import VERDICTS
from experiments.catalogue.registry import MODULES, experiment_named
from experiments.cli import main
from experiments.cli.main import COMMANDS
from experiments.commands.example import FOLDER, examples

from ...conftest import ROOT

SHORT = ["run", "balance", "--set", "push.impulse=3", "--duration", "0.6"]
SWEEP = """
    experiment = "balance"
    set."push.impulse" = 3.0
    set."run.duration" = 0.7
    vary."push.azimuth" = ["0deg", "180deg"]
"""


def json_of(capsys, *arguments):
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def biped(*arguments, **environment):
    command = [sys.executable, "-m", "biped", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, env={**os.environ, **environment})


class TestJson:
    @pytest.mark.usefixtures("in_tmp")
    def test_a_run_replies_with_its_summary(self, capsys):
        found = json_of(capsys, *SHORT, "--no-figures", "--out", "here")
        assert found["verdict"] in VERDICTS
        assert found["metrics"].keys() >= {"com_excursion", "margin_of_stability_min", "peak_torque_left_knee_pitch"}
        assert found["parameters"]["push.impulse"] == 3.0
        assert {"here/" + name for name in found["files"]} == {str(path) for path in Path("here").iterdir()}
        saved = json.loads(Path("here/summary.json").read_text(encoding="utf-8"))
        assert {key: found[key] for key in saved} == saved

    def test_lists_reply_with_what_they_list(self, capsys):
        assert [one["name"] for one in json_of(capsys, "list")["experiments"]] == list(MODULES)
        shown = {one["name"]: one for one in json_of(capsys, "show", "balance")}
        assert set(shown) == {parameter.name for parameter in experiment_named("balance").parameters}
        assert shown["actuators.limit"]["value"] == "inf"
        assert shown["push.azimuth"]["unit"] == "rad"
        assert {one["name"] for one in json_of(capsys, "integrators")} >= set(INTEGRATORS)

    @pytest.mark.usefixtures("in_tmp")
    def test_a_study_replies_with_its_verdicts_and_findings(self, capsys):
        Path("sweep.toml").write_text(SWEEP, encoding="utf-8")
        found = json_of(capsys, "sweep", "sweep.toml", "--no-figures")
        assert sum(found["verdicts"].values()) == found["trials"] == len(found["findings"]) == 2
        assert {one["parameter"] for one in found["findings"]} == {"push.azimuth"}

    def test_an_error_leaves_the_output_empty(self, capsys):
        assert main(["show", "walk", "--json"]) == 2
        assert capsys.readouterr().out == ""
        assert main(["show", "balance", "--json", "--quiet"]) == 2


@pytest.mark.usefixtures("in_tmp")
def test_quiet_is_quiet(capsys):
    assert main([*SHORT, "--no-figures", "--quiet"]) == 0
    assert main(["list", "-q"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["list"]) == 0
    assert capsys.readouterr().out


def test_show_can_be_filtered(capsys):
    assert {one["name"].partition(".")[0] for one in json_of(capsys, "show", "balance", "push", "load")} == {
        "push", "load",
    }  # fmt: skip
    frictions = {one["name"] for one in json_of(capsys, "show", "balance", "friction")}
    assert {"floor.mu_s", "patch.mu_d", "block.friction"} <= frictions
    assert "floor.k_n" not in frictions


def test_any_encoding_will_do(tmp_path):
    arguments = ["run", "balance", "--set", "push.impulse=8", "--no-figures", "--out", str(tmp_path)]
    done = biped(*arguments, PYTHONIOENCODING="ascii", MPLBACKEND="nonsense")
    assert done.returncode == 0, done.stderr
    assert b"a push of 8 N?s forwards at 0.5 s, for 0.1 s" in done.stdout
    done = biped("show", "balance", "controller", PYTHONIOENCODING="latin-1")
    assert "50,50,200 1/s²" in done.stdout.decode("latin-1")


def test_nobody_reads_to_the_end():
    command = [sys.executable, "-m", "biped", "show", "balance"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        error = process.stderr.read()
    assert process.returncode == 141
    assert error == b""


@pytest.mark.usefixtures("in_tmp")
def test_ctrl_c_while_figures_are_drawn_says_where_the_run_is(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.visualization.figures.sheets.draw_figures", interrupt)
    assert main([*SHORT, "--out", "out"]) == 130
    printed = capsys.readouterr()
    assert printed.err == "biped: interrupted while figures were drawn; the run is in out\n"
    assert "out/  run.parquet" in printed.out
    assert Path("out/summary.json").is_file()


def completed(shell_script, *words):
    """What bash offers for the last of these words."""
    quoted = " ".join(f"'{word}'" for word in words)
    ask = f'COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _biped 2> /dev/null; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", f"{shell_script}\n{ask}"], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_shell_completes_commands_experiments_parameters_and_options(capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert completed(script, "biped", "") == list(COMMANDS)
    assert completed(script, "biped", "run", "th") == ["thrown-block"]
    assert "push.azimuth=" in completed(script, "biped", "run", "balance", "--set", "push.")
    assert completed(script, "biped", "push-map", "--repl") == ["--replicas"]
    assert completed(script, "biped", "run", "balance", "--engine", "muj") == ["mujoco"]
    assert main(["completion", "zsh"]) == 0
    assert capsys.readouterr().out.endswith(script)


def test_every_example_can_be_had(capsys):
    assert main(["example"]) == 0
    listed = capsys.readouterr().out
    assert {"tune-push.toml", "sweep.toml", "posture_law.py", "nudge.py"} <= set(examples())
    for name in examples():
        assert f"{name} " in listed
        assert main(["example", name]) == 0
        assert capsys.readouterr().out == (FOLDER / name).read_text(encoding="utf-8")
    assert main(["example", "tune.tml"]) == 2
    assert "the nearest are tune.toml" in capsys.readouterr().err
