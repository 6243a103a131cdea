"""The examples run, and say what their text promises."""

import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from biped import Run, human
from biped.metrics import series, sway_measures
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.studies import Study, footholds_of, push_of
from experiments.studies.threshold.findings import read_findings

EXAMPLES = Path(__file__).parents[2] / "examples"

SAYS = {
    "joint_impedance.py": ["h = 0.5 ms: recovered", "h = 1.0 ms: recovered", "h = 2.0 ms: recovered"],
    "own_controller.py": ["recovered"],
    "push_the_human.py": ["5 N·s: recovered", "40 N·s: lost control"],
    "vary_an_experiment.py": ["4.5 m/s: recovered", "7.0 m/s: lost control"],
}
LAWS = {"posture_law.py", "compiled_posture_law.py"}
#: What measures for minutes, with what makes it short, and what it then says.
MEASURES = {
    "gradient_cost.py": ([], ["gradient / trial", "0.5 |", "2 |"]),
    "compare_optimizers.py": (
        [str(EXAMPLES / "tune-gradient.toml"), "--seeds", "1", "--candidates", "12", "--optimizers", "sobol"],
        ["sobol"],
    ),
}
BROUGHT = {
    *LAWS, "arch.py", "crossing_legs.py", "nudge.py", "lean.py", "force_plate.py", "exoskeleton.py",
    "estimate.py", "actual_steps.py", "steps_over_push.py", "stiffening_floor.py", "foam.py", "train_policy.py",
    *MEASURES,
}  # fmt: skip


def test_all_examples_are_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS) | BROUGHT


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys):
    runpy.run_path(str(EXAMPLES / name))
    printed = capsys.readouterr().out
    for words in SAYS[name]:
        assert words in printed


def test_a_trained_policy_is_written_and_stands_better_than_servos_alone(tmp_path, monkeypatch, capsys):
    for package in ("onnx", "onnxruntime", "stable_baselines3"):
        pytest.importorskip(package)
    monkeypatch.setattr("sys.argv", ["train_policy.py", str(tmp_path), "--steps", "300000"])
    runpy.run_path(str(EXAMPLES / "train_policy.py"), run_name="__main__")
    shares = [re.findall(r"(\d+)%", line) for line in capsys.readouterr().out.splitlines()[-2:]]
    assert float(shares[0][0]) > float(shares[1][0])
    assert (
        main(["run", "balance", "--policy", str(tmp_path / "policy.toml"), "--quiet", "--out", str(tmp_path / "run")])
        == 0
    )


def test_springs_go_over_into_the_rigid_floor_as_they_stiffen(tmp_path, monkeypatch, capsys):
    figure = tmp_path / "stiffening.png"
    monkeypatch.setattr("sys.argv", ["stiffening_floor.py", str(figure)])
    runpy.run_path(str(EXAMPLES / "stiffening_floor.py"), run_name="__main__")
    rows = np.array([re.findall(r"[\d.]+", line) for line in capsys.readouterr().out.splitlines()[1:]], dtype=float)
    assert len(rows) == 5
    for distances in rows[:, 1:3].T:
        assert np.polyfit(np.log(rows[:, 0]), np.log(distances), 1)[0] == pytest.approx(-1.0, abs=0.05)
    assert figure.stat().st_size > 1000


def test_an_arch_stands_and_a_thinner_one_falls(tmp_path, monkeypatch, capsys):
    figure = tmp_path / "arch.png"
    monkeypatch.setattr("sys.argv", ["arch.py", str(figure)])
    runpy.run_path(str(EXAMPLES / "arch.py"), run_name="__main__")
    stands, falls = capsys.readouterr().out.splitlines()
    assert stands.endswith("stands")
    assert falls.endswith("falls")
    assert figure.stat().st_size > 1000


def test_the_estimate_of_a_push_is_drawn(tmp_path, monkeypatch, capsys):
    figure = tmp_path / "estimate.png"
    monkeypatch.setattr("sys.argv", ["estimate.py", str(figure)])
    runpy.run_path(str(EXAMPLES / "estimate.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith("recovered")
    assert figure.stat().st_size > 1000


def test_legs_touch_where_all_of_the_body_does(tmp_path, monkeypatch, capsys):
    figure = tmp_path / "legs.png"
    monkeypatch.setattr("sys.argv", ["crossing_legs.py", str(figure)])
    runpy.run_path(str(EXAMPLES / "crossing_legs.py"), run_name="__main__")
    through, touch = capsys.readouterr().out.splitlines()
    assert "pass through one another" in through
    assert "the legs touch" in touch
    assert figure.stat().st_size > 1000


def test_what_a_law_that_steps_withstands_is_a_share_of_what_its_steps_allow(in_tmp, monkeypatch, capsys):
    """From 60 N·s on it steps; one who keeps his feet in place is in none of the rows."""
    search = ["--from", "60", "--to", "64", "--by", "4", "--tolerance", "4", "--step", "0.001", "--no-figures", "-q"]
    search += ["--set", "initial.stance=upright"]
    study = ["push-map", "--controller", "stepping", "--steps", "0,any", "--directions", "3", "--replicas", "5"]
    assert main([*study, *search, "--out", str(in_tmp / "map")]) == 0
    monkeypatch.setattr("sys.argv", ["actual_steps.py", str(in_tmp / "map")])
    capsys.readouterr()
    runpy.run_path(str(EXAMPLES / "actual_steps.py"), run_name="__main__")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[:2] for row in rows] == [["any number of steps", f"{direction}.0"] for direction in (0, 120, 240)]
    study, wanted = Study.read(in_tmp / "map"), rows[0]
    found = []
    for replica in range(5):
        low = read_findings(in_tmp / "map").conditions[3].brackets[replica].low
        trials = study.frame().query(f"feet == 'any number of steps' and direction == 0 and replica == {replica}")
        changes = study.trial(int(trials.set_index("value")["trial"][low])).changes
        scene = study.experiment.build(changes)
        push, steps = push_of(scene), footholds_of(scene, study.experiment.run(changes))
        found.append((low, push.impulse(push.azimuth, hips=False, steps=steps)))
    withstood, own = np.transpose(found)
    assert [int(wanted[2]), float(wanted[3])] == [5, np.median(withstood)]
    limit, share = (float(word) for word in wanted[-1].rstrip(" %").split("; "))
    assert limit == pytest.approx(np.median(own), abs=0.5)
    assert share == pytest.approx(100.0 * np.median(withstood / own), abs=0.5)


def test_first_steps_over_the_push_are_told_and_drawn(in_tmp, monkeypatch, capsys):
    short = (EXAMPLES / "steps-over-push.toml").read_text()
    for long, here in [
        ("replicas = 20", "replicas = 1"),
        ("duration = 4.0", "duration = 1.5"),
        ("examples/", f"{EXAMPLES}/"),
    ]:
        assert long in short
        short = short.replace(long, here)
    Path("short.toml").write_text(short)
    assert main(["sweep", "short.toml", "--no-figures", "-q", "--out", "study"]) == 0
    study, figure = Study.read(in_tmp / "study"), in_tmp / "steps.png"
    found = study.frame()
    assert (found["plate_peak_grf"] < found["peak_grf"]).all()  # what lasts for milliseconds is not seen
    monkeypatch.setattr("sys.argv", ["steps_over_push.py", "study", str(figure)])
    capsys.readouterr()
    runpy.run_path(str(EXAMPLES / "steps_over_push.py"), run_name="__main__")
    header, _, *rows = capsys.readouterr().out.splitlines()
    assert "landing speed [m/s]" in header
    assert len(rows) == found["first_step_length_ap"].count()
    length = np.hypot(found["first_step_length_ap"], found["first_step_length_ml"])
    lengths = [float(row.split()[-3]) for row in rows]
    assert sorted(lengths) == pytest.approx(sorted(length.dropna()), abs=1e-3)
    assert figure.stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.usefixtures("in_tmp")
@pytest.mark.parametrize("name", MEASURES)
def test_example_that_measures(name, monkeypatch, capsys):
    arguments, said = MEASURES[name]
    monkeypatch.setattr("sys.argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    printed = capsys.readouterr().out
    for words in said:
        assert words in printed


def test_a_force_plate_does_not_show_how_feet_tremble(in_tmp):
    metric = ["--metric-file", f"{EXAMPLES / 'force_plate.py'}:VELOCITY"]
    set_ = ["initial.stance=upright", "initial.settle=0", "sensors.preset=old", "run.duration=3", "run.step=0.002"]
    run = ["run", "balance", "--controller", "postural", "--no-figures", "--out", str(in_tmp)]
    assert main([*run, *metric, *(word for one in set_ for word in ("--set", one))]) == 0
    found = json.loads((in_tmp / "summary.json").read_text(encoding="utf-8"))["metrics"]
    rows = series(Run.load(in_tmp, human())).dropna(subset="cop_ap").iloc[::5]
    plate = sway_measures(rows["time"], rows["cop_ap"], rows["cop_ml"], low_pass=5.0)
    assert found["plate_mean_velocity_ap"] == pytest.approx(plate["mean_velocity_ap"], rel=1e-9)
    assert found["plate_mean_velocity_ap"] < found["cop_mean_velocity_ap"]


def test_the_example_gains_keep_the_balance(in_tmp, capsys):
    arguments = ["run", "thrown-block", "--gains", str(EXAMPLES / "gains.toml"), "--no-figures", "--out", str(in_tmp)]
    assert main(arguments) == 0
    assert "recovered" in capsys.readouterr().out


def test_the_compiled_law_is_the_one_in_python():
    changes = {"push.impulse": 6.0, "run.duration": 1.0, "controller.kp": 2000.0}
    one, other = (
        experiment_named("balance", str(EXAMPLES / name)).run(changes).frame for name in sorted(LAWS, reverse=True)
    )
    assert one["body_x"].max() - one["body_x"].min() > 0.01
    np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_an_experiment_of_a_file_is_run_with_a_metric_of_another(in_tmp, capsys):
    lean = ["--metric-file", str(EXAMPLES / "lean.py")]
    nudge = ["run", str(EXAMPLES / "nudge.py"), "--set", "push.impulse=4", "--no-figures", "--out", str(in_tmp)]
    assert main([*nudge, *lean]) == 0
    assert "recovered" in capsys.readouterr().out
    lean = json.loads((in_tmp / "summary.json").read_text(encoding="utf-8"))["metrics"]["lean_forward"]
    path = Run.load(in_tmp, human()).frame["com_x"]
    assert 0.003 < lean == path[0] - path.min()
    assert main([*nudge, "--controller", str(EXAMPLES / "posture_law.py")]) == 0
    assert "recovered" in capsys.readouterr().out


@pytest.mark.slow
def test_an_exoskeleton_takes_load_off_the_knees_in_a_squat():
    experiment = experiment_named("squat", "workspace", (), f"{EXAMPLES / 'exoskeleton.py'}:exoskeleton")
    peaks = []
    for frequency in (1.0, 5.0, 10.0):
        run = experiment.run({"run.step": 0.002, "controller.held.frequency": frequency})
        depth = run.frame["body_z"].iloc[0] - run.frame["body_z"].min()
        assert run.summary["verdict"] == "recovered"
        assert 0.23 < depth < 0.26
        assert run.frame["loop_gap_position"].max() < 1e-9
        peaks.append(run.metrics["peak_torque_left_knee_pitch"])
    assert peaks[0] > 1.1 * peaks[1] > 1.3 * peaks[2]
    scattered = experiment.run({"run.duration": 0.1, "initial.seed": 1}).frame
    assert scattered["loop_gap_position"].max() < 1e-9
    assert abs(scattered["angle_left_brace_bend"].iloc[0] - scattered["angle_right_brace_bend"].iloc[0]) > 1e-4
