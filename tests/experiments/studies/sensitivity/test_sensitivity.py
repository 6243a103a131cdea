import copy
import math
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from experiments.cli import main
from experiments.studies import Config, Study, executor_named, sensitivity_from
from experiments.studies.run import open_study, recall, run_study
from experiments.visualization.studies.toml import as_toml
from tests.refusals import refuses

NAMES = ("a", "b", "c")
TOY = {
    "experiment": "stand-tilted",
    "seed": 1,
    "sensitivity": {"method": "sobol", "samples": 1024},
    "parameter": [
        {"name": name, "sets": f"controller.target_position[{place}]", "from": -math.pi, "to": math.pi}
        for place, name in enumerate(NAMES)
    ],
    "metric": [{"name": "peak_torque", "fell": 0.0}],
}


def of(**changes):
    return sensitivity_from(Config(copy.deepcopy(TOY) | changes))


def answer(function, verdict=lambda _: "recovered"):
    def evaluate(trials):
        results = {}
        for trial in trials:
            at = trial.labels
            results[trial.number] = {"verdict": verdict(at), "failure": "", "message": "", "peak_torque": function(at)}
        return results

    return evaluate


def ishigami(at):
    """Ishigami and Homma 1990, with 7 and 0.1."""
    return math.sin(at["a"]) + 7.0 * math.sin(at["b"]) ** 2 + 0.1 * at["c"] ** 4 * math.sin(at["a"])


# The variances of its parts in closed form: v1 = (1 + 0.1 π⁴/5)²/2, v2 = 49/8, v13 = 0.01 π⁸ (1/18 - 1/50).
_V1, _V2, _V13 = (1.0 + 0.1 * math.pi**4 / 5.0) ** 2 / 2.0, 49.0 / 8.0, 0.01 * math.pi**8 * (1 / 18 - 1 / 50)
_V = _V1 + _V2 + _V13
FIRST = np.array([_V1, _V2, 0.0]) / _V
TOTAL = np.array([_V1 + _V13, _V2, _V13]) / _V


def test_sobol_indices_of_ishigami_are_those_of_its_closed_form():
    (found,) = of(sensitivity={"method": "sobol", "samples": 2048, "second_order": True}).find(answer(ishigami))
    table = found.table
    assert np.abs(table["S1"] - FIRST).max() < 0.03
    assert np.abs(table["ST"] - TOTAL).max() < 0.03
    assert (np.abs(table["S1"] - FIRST) < 1.5 * table["S1_conf"]).all()
    assert (np.abs(table["ST"] - TOTAL) < 1.5 * table["ST_conf"]).all()
    pairs = found.pairs.set_index(["parameter", "with"])["S2"]
    assert pairs["a", "c"] == pytest.approx(_V13 / _V, abs=0.05)
    assert abs(pairs["a", "b"]) < 0.05


def test_intervals_shrink_with_the_root_of_the_samples():
    widths = []
    for samples in (128, 2048):
        (found,) = of(sensitivity={"method": "sobol", "samples": samples}).find(answer(ishigami))
        widths.append(found.table["ST_conf"].sum())
    assert widths[1] / widths[0] == pytest.approx(0.25, rel=0.35)


def test_without_interactions_the_indices_add_up_to_one_and_too_few_samples_are_told():
    (found,) = of().find(answer(lambda at: 3.0 * at["a"] + 2.0 * at["b"] + at["c"]))
    assert found.table["S1"].to_numpy() == pytest.approx(np.array([9.0, 4.0, 1.0]) / 14.0, abs=0.01)
    assert found.table["ST"].sum() == pytest.approx(1.0, abs=0.01)
    (few,) = of(sensitivity={"method": "sobol", "samples": 8}).find(answer(ishigami))
    assert any("more samples" in remark for remark in few.remarks)


def morris(**more):
    return of(sensitivity={"method": "morris", "samples": 20}, **more)


def test_elementary_effects_of_a_plane_are_its_slopes_over_the_range():
    (found,) = morris().find(answer(lambda at: 3.0 * at["a"] - 2.0 * at["b"]))
    table = found.table
    assert table["mu"].to_numpy() == pytest.approx(np.array([3.0, -2.0, 0.0]) * 2.0 * math.pi)
    assert table["mu_star"].to_numpy() == pytest.approx(np.array([3.0, 2.0, 0.0]) * 2.0 * math.pi)
    assert table[["sigma", "mu_star_conf"]].to_numpy() == pytest.approx(0.0, abs=1e-9)


def test_interactions_show_in_the_spread_of_effects():
    (found,) = morris().find(answer(lambda at: at["a"] * at["b"] + at["c"]))
    a, b, c = found.table["sigma"]
    assert min(a, b) > 1.0
    assert c == pytest.approx(0.0, abs=1e-9)


def test_of_results_an_analysis_keeps_what_it_reads():
    """A result has 150 numbers, 14 kB; one is read here."""
    rest = {f"m{k}": k / 7.0 for k in range(150)}

    class Stored(dict):
        def __getitem__(self, number):
            return {**super().__getitem__(number), **{name: 2.0 * value for name, value in rest.items()}}

    analysis, some = of(sensitivity={"method": "sobol", "samples": 128}), answer(ishigami)
    stored = Stored(some(analysis.trials()))

    def peak(evaluate):
        tracemalloc.start()
        analysis.find(evaluate)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(some)  # what is imported is there
    assert peak(lambda _: stored) - peak(some) < 1000 * len(stored)


def test_a_range_on_a_log_scale_is_even_in_decades():
    parameters = copy.deepcopy(TOY["parameter"])
    parameters[0] |= {"from": 0.01, "to": 100.0, "scale": "log"}
    (found,) = morris(parameter=parameters).find(answer(lambda at: math.log10(at["a"]) + at["b"]))
    assert found.table["mu"].to_numpy()[0] == pytest.approx(4.0)


def test_trajectories_with_a_fall_are_left_out_whole_and_that_is_told():
    def verdict(at):
        return "fell" if at["a"] > 3.0 and at["b"] > 3.0 else "recovered"

    def plane(at):
        return 1e6 if verdict(at) == "fell" else 3.0 * at["a"]

    analysis = morris(metric=[{"name": "peak_torque", "fell": "dropped"}])
    (found,) = analysis.find(answer(plane, verdict))
    assert found.table["mu"].to_numpy() == pytest.approx([6.0 * math.pi, 0.0, 0.0])
    fell = sum(verdict(trial.labels) == "fell" for trial in analysis.trials())
    assert fell > 0
    assert f"of 80 trials {fell} fell" in found.counted
    assert "trajectories are left out" in found.counted
    (none,) = analysis.find(answer(plane, lambda _: "fell"))
    assert none.table is None
    assert "fewer than 4" in none.remarks[0]


def test_a_fall_counts_as_is_said_and_is_counted():
    analysis = of(metric=[{"name": "peak_torque", "fell": 5.0}, {"name": "recovered"}])
    (y, recovered) = analysis.find(answer(lambda at: at["b"], lambda at: "fell" if at["a"] > 0.0 else "recovered"))
    assert y.counted.endswith("fell (as 5)")
    assert recovered.counted.endswith("fell (0)")
    assert recovered.table["S1"].to_numpy() == pytest.approx([1.0, 0.0, 0.0], abs=0.02)


def test_a_metric_that_does_not_vary_has_no_indices():
    (found,) = of().find(answer(lambda _: 2.5))
    assert found.table is None
    assert "it is 2.5 at all points" in found.remarks[0]


@refuses(
    ({"metric": [{"name": "peak_torque"}]}, "set the value for a fall"),
    ({"metric": [{"name": "peak_torque", "fell": "dropped"}]}, "needs method = 'morris'"),
    ({"metric": [{"name": "peak_torque", "fell": "measured"}]}, "without a result"),
    ({"metric": []}, "metric"),
    ({"sensitivity": {"method": "sobol", "samples": 100}}, "power of two"),
    ({"sensitivity": {"method": "morris", "levels": 3}}, "even"),
    ({"sensitivity": {"method": "fast"}}, "morris, sobol"),
    ids=lambda value: str(value)[:30],
)
def test_a_configuration_that_makes_no_sense_is_refused(changes):
    of(**changes)


REAL = {
    "experiment": "stand-tilted", "seed": 2, "set": {"run.step": 2e-3, "run.duration": 0.2},
    "sensitivity": {"method": "morris", "samples": 5},
    "parameter": [{"name": "vertical stiffness", "sets": "controller.kp_position[2]", "from": 100.0, "to": 300.0},
        {"name": "yaw stiffness", "sets": "controller.kp_orientation[2]", "from": 25.0, "to": 75.0},
        {"name": "friction", "sets": "floor.mu_s", "from": 0.8, "to": 1.2}],
    "metric": [{"name": "peak_torque_left_knee_pitch", "fell": "dropped"}],
}  # fmt: skip


def test_a_rise_from_a_crouch_takes_knee_torque_from_the_vertical_gain_and_none_from_friction_that_holds(tmp_path):
    """Wendlandt 1997, experiment 1: the vertical error is 6 cm, there is no yaw, and the feet stick."""
    analysis = sensitivity_from(Config(REAL))
    with open_study(analysis, tmp_path) as study:
        (found,) = run_study(analysis, study, executor_named())
    vertical, yaw, friction = found.table["mu_star"]
    assert vertical > 10.0  # N·m, over the range
    assert found.table["mu"][0] == vertical  # a stiffer gain takes more
    assert vertical > 20.0 * yaw
    assert friction == 0.0
    _, (again,) = recall(Study.read(tmp_path))
    assert again.table.equals(found.table)


def test_the_command_prints_writes_and_draws(tmp_path, capsys):
    (tmp_path / "real.toml").write_text(as_toml(REAL), encoding="utf-8")
    assert main(["sensitivity", str(tmp_path / "real.toml"), "--out", str(tmp_path / "out")]) == 0
    assert "Of 20 trials none fell or failed." in capsys.readouterr().out
    frame = pd.read_csv(tmp_path / "out" / "indices.csv")
    assert list(frame.columns) == ["metric", "parameter", "mu", "mu_star", "mu_star_conf", "sigma"]
    assert len(frame) == 3
    assert (tmp_path / "out" / "sensitivity.png").exists()
