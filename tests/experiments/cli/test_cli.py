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
from experiments.catalogue.registry import MODULES, experiment_named
from experiments.cli import compilation, main
from experiments.cli.progress import ProgressBar
from experiments.cli.termination import interrupt_on_sigterm

from ...conftest import said_by

SUMMARY_KEYS = {
    "verdict", "reason", "trust", "fell_at", "settling_time", "position_error", "orientation_error", "peak_torque",
    "foot_slip", "foot_creep", "events", "ledger_residual", "momentum_defect", "newton_mean", "newton_max",
    "retried_steps", "steps", "wall_time", "real_time_factor", "parameters", "versions",
}  # fmt: skip


def run(*arguments):
    return main(["run", *arguments, "--no-figures"])


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_a_run_leaves_its_files_in_the_default_folder(in_tmp, capsys):
    assert main(["run", "thrown-block", "--duration", "0.5"]) == 0
    folder = in_tmp / "results" / "thrown-block"
    names = {path.name for path in folder.iterdir()}
    assert {"run.parquet", "summary.json", "state.npz", "overview.png", "fig-4.12-joint-angles.png"} <= names
    printed = capsys.readouterr().out
    assert "results/thrown-block/" in printed
    assert "11 figures" in printed


def test_the_summary_has_all_keys_and_all_parameters(in_tmp):
    assert run("stand-tilted", "--duration", "0.1", "--set", "floor.k_n=80000", "--out", "here") == 0
    summary = summary_of(in_tmp / "here")
    assert set(summary) | set(summary["metrics"]) >= SUMMARY_KEYS
    experiment = experiment_named("stand-tilted")
    assert set(summary["parameters"]) == {"experiment", *(parameter.name for parameter in experiment.parameters)}
    assert summary["parameters"]["experiment"] == "stand-tilted"
    assert summary["parameters"]["floor.k_n"] == 80000.0
    assert summary["parameters"]["run.duration"] == 0.1


def test_what_is_saved_is_what_was_run(in_tmp):
    assert run("thrown-block", "--duration", "0.2", "--out", str(in_tmp)) == 0
    direct = experiment_named("thrown-block").run({"run.duration": 0.2})
    loaded = Run.load(in_tmp, human())
    assert np.array_equal(loaded.frame.to_numpy(dtype=float), direct.frame.to_numpy(dtype=float))
    assert loaded.parameters == json.loads(json.dumps(direct.parameters))
    schema = pyarrow.parquet.read_schema(in_tmp / "run.parquet")
    assert schema.field("torque_left_knee_pitch").metadata[b"unit"] == b"N*m"


def test_the_options_are_short_for_parameters(in_tmp):
    options = ["--duration", "0.05", "--step", "0.001", "--integrator", "recursive", "--seed", "4"]
    assert run("stand-tilted", *options, "--out", "options") == 0
    sets = ["run.duration=0.05", "run.step=0.001", "integrator.name=recursive", "initial.seed=4"]
    assert run("stand-tilted", *(word for text in sets for word in ("--set", text)), "--out", "sets") == 0
    one, two = (summary_of(in_tmp / name) for name in ("options", "sets"))
    assert one["parameters"] == two["parameters"]
    assert one["parameters"]["initial.seed"] == 4
    assert one["parameters"]["initial.jitter"] == 0.01
    assert one["metrics"]["steps"] == 50


def test_set_overrides_the_file_of_gains(in_tmp):
    (in_tmp / "gains.toml").write_text("[controller]\nkp_position = 30\nkd_position = 9\n", encoding="utf-8")
    arguments = ["--gains", "gains.toml", "--set", "controller.kd_position=8,8,9", "--duration", "0.01", "--out", "out"]
    assert run("stand-tilted", *arguments) == 0
    parameters = summary_of(in_tmp / "out")["parameters"]
    assert parameters["controller.kp_position"] == [30.0, 30.0, 30.0]
    assert parameters["controller.kd_position"] == [8.0, 8.0, 9.0]
    assert parameters["controller.kp_orientation"] == [50.0, 50.0, 50.0]


def test_a_run_that_is_replaced_is_told_and_only_its_figures_go(in_tmp, capsys):
    assert main(["run", "stand-tilted", "--duration", "0.02", "--out", "out"]) == 0
    assert "replaced" not in capsys.readouterr().out
    (in_tmp / "out" / "mine.png").write_text("mine", encoding="utf-8")
    assert list((in_tmp / "out").glob("fig-4.*.png"))
    assert run("balance", "--duration", "0.02", "--out", "out") == 0
    assert "replaced the run of 20" in capsys.readouterr().out
    assert [path.name for path in (in_tmp / "out").glob("*.png")] == ["mine.png"]


def test_a_fall_is_a_result(in_tmp, capsys):
    assert run("thrown-block", "--set", "block.velocity=-9,0,0.2", "--out", "out") == 0
    assert capsys.readouterr().out.startswith(("fell: ", "lost control: "))
    summary = summary_of(in_tmp / "out")
    assert summary["verdict"] == "lost control"
    assert summary["metrics"]["fell_at"] > 0.0


BAD = [
    (["run", "walk"], "unknown experiment 'walk'; experiments are stand-tilted, thrown-block, balance, box-drop, "),
    (["run"], "the following arguments are required: EXPERIMENT"),
    (["jump"], "unknown command 'jump'; commands are run, list, show, "),
    (["runn"], "unknown command 'runn'; did you mean 'run'?"),
    (["run", "stand-tilted", "--no-figure"], "unrecognized arguments: --no-figure; did you mean '--no-figures'?"),
    (["run", "stand-tilted", "--out", ""], "argument --out: it must be the name of a folder"),
    (["show", "balance", "pusch"], "balance has no parameters of 'pusch'; did you mean 'push'? groups are robot, "),
    (["run", "stand-tilted", "--bogus"], "unrecognized arguments: --bogus"),
    (["run", "balance", "push.impulse=8"], "push.impulse=8; a parameter is set by --set push.impulse=8; see"),
    (["show", "walk"], "unknown experiment 'walk'"),
    (["run", "balance", "--set", "push.body=head"], "unknown body 'head'; bodies are trunk, "),
    (["run", "stand-tilted", "--set", "floor.mu=1"], "unknown parameter 'floor.mu'; did you mean 'floor.mu_"),
    (["run", "box-drop", "--set", "controller.kp_position=1"], "unknown parameter 'controller.kp_position'"),
    (["run", "stand-tilted", "--set", "floor.mu_s"], "--set floor.mu_s: it must be NAME=VALUE"),
    (["run", "stand-tilted", "--set", "floor.mu_s=much"], "floor.mu_s = much: it must be a number"),
    (["run", "stand-tilted", "--set", "floor.mu_s=nan"], "floor.mu_s = nan"),
    (["run", "stand-tilted", "--set", "floor.mu_s=-1"], "floor.mu_s = -1"),
    (["run", "stand-tilted", "--set", "floor.mu_s=0.1"], "floor.mu_d = 0.3 exceeds floor.mu_s = 0.1"),
    (["run", "stand-tilted", "--set", "floor.k_n=0"], "floor.k_n = 0"),
    (["run", "stand-tilted", "--set", "controller.kp_position=-1"], "kp_position"),
    (["run", "stand-tilted", "--set", "controller.kp_position=nan"], "controller.kp_position"),
    (["run", "stand-tilted", "--set", "controller.target_orientation=1,1,0,0"], "it must be a unit quaternion"),
    (["run", "stand-tilted", "--set", "controller.period=0"], "controller.period"),
    (["run", "stand-tilted", "--set", "initial.body_z=inf"], "initial.body_z = inf"),
    (["run", "stand-tilted", "--set", "fall.tilt=0"], "fall.tilt = 0"),
    (["run", "stand-tilted", "--set", "fall.joint_rate=-1"], "fall.joint_rate = -1"),
    (["run", "stand-tilted", "--set", "integrator.tolerance=0"], "integrator.tolerance"),
    (["run", "stand-tilted", "--set", "integrator.max_iterations=2.5"], "integrator.max_iterations = 2.5"),
    (["run", "stand-tilted", "--set", "run.record_every=-1"], "run.record_every = -1"),
    (["run", "stand-tilted", "--set", "run.record_every=0.0007"], "does not divide record_every"),
    (["run", "stand-tilted", "--step", "0.0003"], "does not divide the controller's period of 0.002 s; the nearest"),
    (["run", "stand-tilted", "--step", "0"], "step = 0"),
    (["run", "stand-tilted", "--duration", "-1"], "duration = -1"),
    (["run", "stand-tilted", "--duration", "long"], "run.duration = long"),
    (["run", "stand-tilted", "--integrator", "euler"], "unknown integrator 'euler'; integrators are recursive"),
    (["run", "stand-tilted", "--seed", "x"], "initial.seed = x"),
    (["run", "stand-tilted", "--seed", "-1"], "initial.seed = -1"),
    (["run", "stand-tilted", "--seed", "1", "--set", "initial.jitter=0"], "initial.seed does nothing"),
    (["run", "stand-tilted", "--gains", "nowhere.toml"], "nowhere.toml: No such file"),
    (["run", "stand-tilted", "--gains", "broken.toml"], "broken.toml: not TOML"),
    (["run", "stand-tilted", "--gains", "negative.toml"], "negative.toml, line 2: gain kp_position = -1"),
    (["run", "box-drop", "--gains", "broken.toml"], "box-drop has no controller"),
    (["run", "thrown-block", "--set", "block.mass=0"], "block.mass = 0"),
    (["run", "thrown-block", "--set", "block.restitution=2"], "block.restitution = 2"),
    (["run", "box-drop", "--set", "box.mass=-70"], "mass"),
    (["run", "box-drop", "--set", "initial.orientation=0,0,0,0"], "orientation"),
    (["run", "stand-tilted", "--out", "a-file"], "cannot write into the folder a-file: a-file is a file"),
    (["run", "stand-tilted", "--out", "a-file/below"], "a-file/below: a-file is a file"),
    (["run", "stand-tilted", "--duration", "0"], "run.duration = 0 s: it must be at least a step"),
    (["run", "thrown-block", "--set", "push.impulse=3"], "unknown parameter 'push.impulse'"),
    (["run", "thrown-block", "--set", "push.impulse=3"], "; it is one of balance"),
    (["run", "balance", "--set", "push.azimuth=90"], "it must be within a turn, 2π; 90 degrees are 90deg"),
    (["run", "balance", "--set", "sensors.delay=100"], "sensors.delay = 100 s is as long as the run"),
    (["sweep", "."], ".: it is a folder; a TOML file is needed"),
    (["threshold", "sweep.toml"], "it has a table [vary], which `biped sweep` reads; `biped threshold` needs [swept]"),
    (["sweep", "sweep.toml", "--workers", "99999999999999999999"], "it must be from 1 to 4096"),
    (["run", "balance", "--duration", "9" * 400], "it must be one number"),
    (["run", "balance", "--duration", "9" * 5000], "it must be a number"),
    (["run", "balance", "--set", f"controller.kp_position={'9' * 400}"], "it must be one number or 3"),
    (["search-friction", "--from", "2", "--to", "1"], "friction from 2 to 1"),
    (["search-friction", "--by", "x"], "argument --by: invalid float value: 'x'"),
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


@pytest.fixture
def no_simulation(monkeypatch):
    def simulate(*_, **__):
        raise AssertionError("this must be found out before anything is simulated")

    monkeypatch.setattr("biped.simulation.scene.Scene.run", simulate)


@pytest.mark.usefixtures("no_simulation")
def test_a_folder_that_cannot_be_written_is_found_before_simulating(in_tmp, capsys, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("experiments.cli.output.tempfile.TemporaryFile", refuse)
    assert run("stand-tilted", "--out", str(in_tmp)) == 2
    assert "cannot write into the folder" in capsys.readouterr().err


def test_a_full_disk_loses_no_report(in_tmp, capsys, monkeypatch):
    def fill(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("biped.runs.run.Run.save", fill)
    assert run("stand-tilted", "--duration", "0.02", "--out", str(in_tmp)) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("recovered")
    assert printed.err.splitlines()[-1] == "biped: error: No space left on device"


def test_a_disk_that_is_full_while_a_run_is_written_names_the_file(in_tmp, capsys, monkeypatch):
    def fill(*_, **__):
        raise OSError(28, "Error writing bytes to file. Detail: [errno 28] No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", fill)
    assert run("stand-tilted", "--duration", "0.02", "--out", str(in_tmp)) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert told == f"biped: error: {in_tmp / 'run.parquet'}: No space left on device"


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


def test_ctrl_c_before_there_is_a_run(capsys, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.cli.settings.experiment_named", interrupt)
    assert run("thrown-block") == 130
    assert capsys.readouterr().err.count("\n") == 1


def test_a_step_without_a_solution_saves_what_was_computed(in_tmp, capsys):
    hard = ["integrator.max_iterations=2", "integrator.max_halvings=0", "integrator.tolerance=1e-15"]
    assert run("stand-tilted", *(word for text in hard for word in ("--set", text)), "--out", str(in_tmp)) == 1
    printed = capsys.readouterr()
    assert printed.err.startswith("biped: error: no solution of the step at ")
    assert printed.err.count("\n") == 1
    assert summary_of(in_tmp)["verdict"] == "failed"
    assert Run.load(in_tmp, human()).parameters["integrator.max_halvings"] == 0


def test_an_error_without_a_run_is_still_one_line(capsys, monkeypatch):
    def fail(*_, **__):
        raise IntegrationError("no solution")

    monkeypatch.setattr("biped.simulation.scene.Scene.run", fail)
    assert run("stand-tilted", "--duration", "0.01") == 2
    assert capsys.readouterr().err == "biped: error: no solution\n"


def test_defects_of_the_program_are_not_hidden(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("biped.simulation.scene.Scene.run", fail)
    with pytest.raises(ZeroDivisionError):
        run("stand-tilted")


def test_list_names_all_experiments(capsys):
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    for name in MODULES:
        assert name in printed


@pytest.mark.parametrize("name", MODULES)
def test_show_has_every_parameter_with_unit_and_source(capsys, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "400")
    assert main(["show", name, "--sources"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for parameter in experiment_named(name).parameters:
        line = next(line for line in lines if line.startswith(f"{parameter.name} "))
        assert parameter.unit.partition(",")[0] in line
        assert parameter.source.split()[0] in line


def test_words_may_stand_between_and_behind_options(capsys):
    assert main(["show", "balance", "push", "--sources", "load"]) == 0
    said = capsys.readouterr().out
    assert "push.impulse" in said
    assert "load.mass" in said


@pytest.mark.parametrize("arguments", [[], ["--help"], ["run", "--help"], ["search-friction", "--help"]])
def test_help_teaches_by_examples(capsys, arguments):
    assert main(arguments) == 0
    assert "examples:\n  biped " in capsys.readouterr().out


@pytest.mark.parametrize("word", ["--version", "version"])
def test_version(capsys, word):
    assert main([word]) == 0
    assert capsys.readouterr().out.startswith("biped ")


def test_help_is_quick_and_imports_nothing_heavy():
    """Of all commands: their help names defaults, experiments and papers without what computes."""
    code = (
        "import sys; from experiments.cli import main; from experiments.cli.main import COMMANDS;"
        "[main([*words, '--help']) for words in [[], *([name] for name in COMMANDS)]]; print(sorted(sys.modules))"
    )
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = said_by(code).splitlines()[-1]
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert ended.ru_utime - began.ru_utime < 2.0  # of the processor: not a matter of what else the machine does
    for heavy in ("numpy", "numba", "pandas", "matplotlib", "scipy"):
        assert f"'{heavy}'" not in said


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
        add_twice = numba.njit(lambda x: add(add(x)))
        with install_listener("numba:compile", compilation.CompilationLine()):
            assert add_twice(1.0) == 3.0
        assert "compiling: 1 kernels" in re.sub(r"\x1b\[[^a-zA-Z]*[a-zA-Z]", "", capsys.readouterr().err)
