"""The command ``biped``: what it runs, saves and refuses, and how it ends."""

import json
import re
import resource
import signal

import numba
import numpy as np
import pyarrow.parquet
import pytest
from numba.core.event import install_listener

from biped import Run, human
from biped.errors import IntegrationError
from experiments.catalogue.registry import experiment_named
from experiments.cli import compilation, main
from experiments.cli.progress import ProgressBar
from experiments.cli.termination import interrupt_on_sigterm

from ...conftest import said_by


def run(*arguments):
    return main(["run", *arguments, "--no-figures"])


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


def test_a_run_is_saved_with_its_figures_and_all_its_parameters(in_tmp):
    assert main(["run", "thrown-block", "--duration", "0.5", "--set", "floor.k_n=80000"]) == 0
    folder = in_tmp / "results" / "thrown-block"
    names = {path.name for path in folder.iterdir()}
    assert {"run.parquet", "summary.json", "state.npz", "overview.png", "fig-4.12-joint-angles.png"} <= names
    saved, experiment = summary_of(folder)["parameters"], experiment_named("thrown-block")
    assert set(saved) == {"experiment", *(parameter.name for parameter in experiment.parameters)}
    assert (saved["experiment"], saved["floor.k_n"], saved["run.duration"]) == ("thrown-block", 80000.0, 0.5)


def test_what_is_saved_is_what_was_run(in_tmp):
    assert run("thrown-block", "--duration", "0.2", "--out", str(in_tmp)) == 0
    direct = experiment_named("thrown-block").run({"run.duration": 0.2})
    loaded = Run.load(in_tmp, human())
    assert np.array_equal(loaded.frame.to_numpy(dtype=float), direct.frame.to_numpy(dtype=float))
    assert loaded.parameters == json.loads(json.dumps(direct.parameters))
    schema = pyarrow.parquet.read_schema(in_tmp / "run.parquet")
    assert schema.field("torque_left_knee_pitch").metadata[b"unit"] == b"N*m"


def test_options_gains_and_assignments_set_parameters(in_tmp):
    (in_tmp / "gains.toml").write_text("[controller]\nkp_position = 30\nkd_position = 9\n", encoding="utf-8")
    options = ["--duration", "0.05", "--step", "0.001", "--integrator", "recursive", "--seed", "4"]
    sets = ["--gains", "gains.toml", "--set", "controller.kd_position=8,8,9"]
    assert run("stand-tilted", *options, *sets, "--out", "here") == 0
    found = summary_of(in_tmp / "here")["parameters"]
    expected = {"run.duration": 0.05, "run.step": 0.001, "integrator.name": "recursive", "initial.seed": 4}
    expected |= {
        "initial.jitter": 0.01,
        "controller.kp_position": [30.0] * 3,
        "controller.kd_position": [8.0, 8.0, 9.0],
    }
    assert expected.items() <= found.items()
    assert found["controller.kp_orientation"] == [50.0] * 3


def test_a_run_that_is_replaced_loses_only_its_figures(in_tmp, capsys):
    assert main(["run", "stand-tilted", "--duration", "0.02", "--out", "out"]) == 0
    (in_tmp / "out" / "mine.png").write_text("mine", encoding="utf-8")
    assert list((in_tmp / "out").glob("fig-4.*.png"))
    assert run("balance", "--duration", "0.02", "--out", "out") == 0
    assert "replaced the run of 20" in capsys.readouterr().out
    assert [path.name for path in (in_tmp / "out").glob("*.png")] == ["mine.png"]


def test_a_fall_is_a_result(in_tmp):
    assert run("thrown-block", "--set", "block.velocity=-9,0,0.2", "--out", "out") == 0
    summary = summary_of(in_tmp / "out")
    assert summary["verdict"] == "lost control"
    assert summary["metrics"]["fell_at"] > 0.0


STAND, SET = ["run", "stand-tilted"], ["run", "stand-tilted", "--set"]
BAD = [
    (["run", "walk"], "unknown experiment 'walk'; experiments are stand-tilted, thrown-block, balance, box-drop, "),
    (["run"], "the following arguments are required: EXPERIMENT"),
    (["jump"], "unknown command 'jump'; commands are run, list, show, "),
    (["runn"], "unknown command 'runn'; did you mean 'run'?"),
    (["swep"], "unknown command 'swep'; did you mean 'sweep'?"),
    ([*STAND, "--no-figure"], "unrecognized arguments: --no-figure; did you mean '--no-figures'?"),
    ([*STAND, "--out", ""], "argument --out: the name of a folder must not be empty"),
    (["show", "balance", "pusch"], "no parameter of balance matches 'pusch'; did you mean 'push'? groups of"),
    (["run", "balance", "push.impulse=8"], "push.impulse=8; a parameter is set by --set push.impulse=8; see"),
    (["run", "balance", "--set", "push.body=head"], "unknown body 'head'; bodies are trunk, "),
    ([*SET, "floor.mu=1"], "unknown parameter 'floor.mu'; did you mean 'floor.mu_"),
    ([*SET, "floor.mu_s"], "--set floor.mu_s: it must be NAME=VALUE"),
    ([*SET, "floor.mu_s=much"], "floor.mu_s = much: it must be a number"),
    ([*SET, "floor.mu_s=nan"], "floor.mu_s = nan"),
    ([*SET, "floor.mu_s=0.1"], "floor.mu_d = 0.3 exceeds floor.mu_s = 0.1"),
    ([*SET, "controller.target_orientation=1,1,0,0"], "it must be a unit quaternion"),
    ([*SET, "integrator.max_iterations=2.5"], "integrator.max_iterations = 2.5"),
    ([*SET, "run.record_every=0.0007"], "does not divide record_every"),
    ([*STAND, "--step", "0.0003"], "does not divide the controller's period of 0.002 s; the nearest"),
    ([*STAND, "--duration", "0"], "run.duration = 0 s: it must be at least one time step"),
    ([*STAND, "--integrator", "euler"], "unknown integrator 'euler'; integrators are recursive"),
    ([*STAND, "--seed", "1", "--set", "initial.jitter=0"], "initial.seed has no effect"),
    ([*STAND, "--gains", "nowhere.toml"], "nowhere.toml: No such file"),
    ([*STAND, "--gains", "broken.toml"], "broken.toml: not TOML"),
    ([*STAND, "--gains", "negative.toml"], "negative.toml, line 2: gain kp_position = -1"),
    (["run", "box-drop", "--gains", "broken.toml"], "box-drop has no controller"),
    (["run", "box-drop", "--set", "initial.orientation=0,0,0,0"], "orientation"),
    ([*STAND, "--out", "a-file"], "cannot write into the folder a-file: a-file is a file"),
    ([*STAND, "--out", "a-file/below"], "a-file/below: a-file is a file"),
    (["run", "thrown-block", "--set", "push.impulse=3"], "unknown parameter 'push.impulse'; groups of parameters are "),
    (["run", "balance", "--set", "push.azimuth=90"], "it must be from −2π to 2π; write degrees as 90deg"),
    (["run", "balance", "--set", "sensors.delay=100"], "sensors.delay = 100 s: it must be below run.duration"),
    (["sweep", "."], ". is a folder, not a TOML file"),
    (["threshold", "sweep.toml"], "it has a table [vary], which `biped sweep` reads; `biped threshold` needs [swept]"),
    (["warm", "whole-bod"], "unknown name 'whole-bod'; did you mean 'whole-body'?"),
    (["example", "tune.tml"], "the nearest are tune.toml"),
    (["block-speed", "--by", "x"], "argument --by: invalid float value: 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[" ".join(arguments)[:100] for arguments, _ in BAD])
def test_bad_input_is_one_line_and_exit_status_2(in_tmp, refusal, arguments, message):
    (in_tmp / "a-file").write_text("", encoding="utf-8")
    (in_tmp / "broken.toml").write_text("[controller\n", encoding="utf-8")
    sweep = 'experiment = "balance"\n[vary]\n"push.impulse" = [1.0, 2.0]\n'
    (in_tmp / "sweep.toml").write_text(sweep, encoding="utf-8")
    (in_tmp / "negative.toml").write_text("[controller]\nkp_position = -1\n", encoding="utf-8")
    line = refusal(*arguments)
    assert line.startswith("biped: error: ")
    assert message in line


def test_a_folder_that_cannot_be_written_is_found_before_simulating(in_tmp, refusal, monkeypatch):
    monkeypatch.setattr("biped.simulation.scene.Scene.run", raising(AssertionError))
    monkeypatch.setattr(
        "experiments.cli.output.tempfile.TemporaryFile", raising(PermissionError(13, "Permission denied"))
    )
    assert "cannot write into the folder" in refusal("run", "stand-tilted", "--out", str(in_tmp))


def test_a_full_disk_loses_no_report_and_is_one_sentence(in_tmp, capsys, monkeypatch):
    full = OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")
    monkeypatch.setattr("pyarrow.parquet.write_table", raising(full))
    assert run("stand-tilted", "--duration", "0.02", "--out", str(in_tmp)) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("recovered")
    assert printed.err.splitlines()[-1] == f"biped: error: {in_tmp / 'run.parquet'}: No space left on device"


def interrupt_after(simulated):
    def interrupt(_bar, now):
        if now >= simulated:
            raise KeyboardInterrupt

    return interrupt


def test_ctrl_c_saves_what_was_computed(in_tmp, capsys, monkeypatch):
    monkeypatch.setattr(ProgressBar, "__call__", interrupt_after(0.7))
    assert run("thrown-block", "--out", str(in_tmp)) == 130
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("biped: interrupted; what was computed up to 1 s is in")
    assert printed.err.count("\n") == 1
    loaded = Run.load(in_tmp, human())
    assert loaded.summary["verdict"] == "interrupted"
    assert loaded.frame["time"].iloc[-1] == pytest.approx(1.0, abs=0.01)
    assert loaded.state.time == pytest.approx(1.0)
    assert loaded.parameters["experiment"] == "thrown-block"


def test_sigterm_is_heard_as_ctrl_c_is(in_tmp, capsys, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(ProgressBar, "__call__", lambda *_: signal.raise_signal(signal.SIGTERM))
    assert run("thrown-block", "--duration", "0.5", "--out", str(in_tmp)) == 143
    assert capsys.readouterr().err.startswith("biped: interrupted; what was computed up to")
    assert Run.load(in_tmp, human()).summary["verdict"] == "interrupted"
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_second_sigterm_does_not_interrupt_what_the_first_has_begun_to_end():
    with interrupt_on_sigterm() as heard:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    assert len(heard) == 2


def test_a_step_without_a_solution_saves_what_was_computed(in_tmp, capsys):
    hard = ["integrator.max_iterations=2", "integrator.max_halvings=0", "integrator.tolerance=1e-15"]
    assert run("stand-tilted", *(word for text in hard for word in ("--set", text)), "--out", str(in_tmp)) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("biped: error: no solution of the time step at ")
    assert printed.err.count("\n") == 1
    assert summary_of(in_tmp)["verdict"] == "failed"
    assert Run.load(in_tmp, human()).parameters["integrator.max_halvings"] == 0


@pytest.mark.usefixtures("in_tmp")
@pytest.mark.parametrize(
    ("error", "status", "told"),
    [
        (IntegrationError("no solution"), 2, "error: no solution"),
        (MemoryError("Unable to allocate 1 TiB"), 2, "error: there is not enough memory: Unable to allocate 1 TiB"),
        (KeyboardInterrupt(), 130, "interrupted, before there was anything to save"),
    ],
)
def test_an_error_without_a_run_is_one_line(capsys, monkeypatch, error, status, told):
    monkeypatch.setattr("biped.simulation.scene.Scene.run", raising(error))
    assert run("stand-tilted", "--duration", "0.01") == status
    assert capsys.readouterr().err == f"biped: {told}\n"


@pytest.mark.usefixtures("in_tmp")
def test_defects_of_the_program_are_not_hidden(monkeypatch):
    monkeypatch.setattr("biped.simulation.scene.Scene.run", raising(ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        run("stand-tilted")


@pytest.mark.parametrize("word", ["--version", "version"])
def test_version(capsys, word):
    assert main([word]) == 0
    assert capsys.readouterr().out.startswith("biped ")


def test_help_teaches_by_examples_is_quick_and_imports_nothing_heavy():
    """Of all commands: their help names defaults, experiments and papers without what computes."""
    code = (
        "import sys; from experiments.cli import main; from experiments.cli.main import commands;"
        "[main([*words, '--help']) for words in [[], *([name] for name in commands())]]; print(sorted(sys.modules))"
    )
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    *said, loaded = said_by(code).splitlines()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime - began.ru_utime < 2.0  # of the processor: not a matter of what else the machine does
    assert not {"numpy", "numba", "pandas", "matplotlib", "scipy"} & set(loaded.split("'"))
    assert said.count("examples:") > 30


class TestProgressBar:
    @pytest.mark.parametrize("options", [{}, {"patience": 0.0}])
    def test_nothing_is_shown_for_short_work_and_off_a_terminal(self, capsys, options):
        with ProgressBar(3.0, **options) as bar:
            bar(1.0)
            bar(3.0)
        assert capsys.readouterr().err.strip() == ""

    def test_a_bar_is_shown_on_a_terminal(self, capsys, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        with ProgressBar(3.0, "simulating", "s", patience=0.0) as bar:
            bar(1.0)
        assert "simulating" in capsys.readouterr().err

    def test_what_is_left_is_told_however_long_a_part_takes(self, monkeypatch):
        now = [0.0]
        monkeypatch.setattr("rich.console.monotonic", lambda: now[0])
        with ProgressBar(1.0, patience=0.0) as bar:
            for part in (0.1, 0.2, 0.3):
                now[0] = 600.0 * part
                bar(part)
            assert bar._bar.tasks[0].time_remaining == pytest.approx(420.0, abs=1.0)

    def test_compiling_is_shown_on_a_terminal(self, capsys, monkeypatch):
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TTY_COMPATIBLE", "1")
        monkeypatch.setattr(compilation, "PATIENCE", 0.0)
        add = numba.njit(lambda x: x + 1.0)
        with install_listener("numba:compile", compilation.CompilationLine()):
            assert numba.njit(lambda x: add(add(x)))(1.0) == 3.0
        assert "compiling: 1 kernels" in re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", capsys.readouterr().err)
