"""Metrics of simulated runs agree with the run's energy balance, with statics, and with one another."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from biped import Fall, Push, Run, State, simulate
from biped.errors import UnknownNameError
from biped.metrics import JUDGED, METRICS, measure, measure_run, metric_named, series
from controllers import JointImpedance
from experiments.catalogue.registry import experiment_named

from .rows import on_sole

G = 9.81
FORCE, DIRECTION = 30.0, (-0.6, 0.8, 0.0)


@pytest.fixture(scope="module")
def runs():
    block = experiment_named("thrown-block")
    return {
        "stood": experiment_named("stand-tilted").run(),
        "hit": block.run(),
        "fell": block.run({"block.velocity": (-7.0, 0.0, 0.2)}),
        "box": experiment_named("box-drop").run(),
        "tumble": experiment_named("tumble").run({"run.duration": 0.5}),
    }


@pytest.fixture(scope="module")
def leaning(person):
    push = Push("trunk", DIRECTION, FORCE * 30.0, start=0.0, duration=30.0)
    start = State.at(person)
    return simulate(
        person, JointImpedance(damping=200.0), state=start, duration=10.0, step=2e-3, disturbances=[push], fall=Fall(),
        record_every=0.01,
    )  # fmt: skip


def numbers_in(value, path=()):
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from numbers_in(inner, (*path, name))
    elif not isinstance(value, list):
        yield path, value


@pytest.mark.parametrize("impulse", [14.0, 60.0])
def test_a_summary_has_one_number_for_one_name_and_one_meaning(impulse):
    run = experiment_named("balance").run({"push.impulse": impulse, "run.duration": 2.5})
    found = dict(
        numbers_in(run.to_json() | dict.fromkeys(("parameters", "disturbances", "events", "limit", "integrator")))
    )
    names = [path[-1] for path in found]
    assert len(names) == len(set(names))
    assert set(run.summary) & set(METRICS) == {"verdict", "reason"}
    for name in METRICS:
        if not METRICS[name].per and name not in JUDGED:
            assert run.summary[name] == run.metrics[name] == run.summary["metrics"][name]
    measured = measure_run(run)
    assert {name: measured.pop(name) for name in ("verdict", "reason")}.items() <= run.summary.items()
    del measured["limit_hit"]
    assert run.metrics == measured
    judged = measure_run(run)
    assert all(run.metrics[name] == judged[name] for name in JUDGED)
    for name, meant in (("setling_time", "settling_time"), ("verdikt", "verdict")):
        with pytest.raises(UnknownNameError, match=f"^no metric '{name}'; did you mean '{meant}'") as raised:
            run.metrics[name]
        assert isinstance(raised.value, KeyError)
    if impulse == 14.0:
        since_the_start = measure_run(run, start_time=0.0)["settling_time"]
        assert run.metrics["settling_time"] == pytest.approx(since_the_start - run.disturbances[0]["start"], rel=1e-12)
    definitions = [(metric.definition, metric.formula) for metric in METRICS.values()]
    assert len(definitions) == len(set(definitions))


@pytest.mark.parametrize("name", ["stood", "hit", "fell", "box", "tumble"])
def test_a_metric_is_a_finite_number_or_none(runs, name):
    measured = measure_run(runs[name])
    for metric, value in measured.items():
        assert value is None or isinstance(value, str) or math.isfinite(value), metric
        assert metric_named(metric).name in METRICS


def test_verdicts(runs):
    verdicts = {name: measure_run(run)["verdict"] for name, run in runs.items()}
    assert {name: verdicts[name] for name in ("stood", "hit", "fell")} == {
        "stood": "recovered",
        "hit": "recovered",
        "fell": "lost control",
    }


def test_the_works_of_the_joints_are_those_of_the_ledger(runs):
    """Torques are constant between rows, so that the works between rows are exact."""
    for name in ("stood", "hit", "fell"):
        measured = measure_run(runs[name])
        total = measured["positive_work"] + measured["negative_work"]
        assert total == pytest.approx(runs[name].frame["ledger_actuators"].iloc[-1], rel=1e-9), name
        parts = [value for metric, value in measured.items() if metric.startswith(("positive_work_", "negative_work_"))]
        assert sum(parts) == pytest.approx(total)


def test_at_rest_the_floor_bears_the_weight_below_the_centre_of_mass(leaning, person):
    last = series(leaning).iloc[-2]  # of the last row there is a one-sided rate only
    weight = person.total_mass * G
    assert last["grf_normal"] == pytest.approx(weight, rel=1e-6)
    assert last["grf_normal_left_foot"] + last["grf_normal_right_foot"] == pytest.approx(weight, rel=1e-6)
    assert (last["grf_x"], last["grf_y"]) == pytest.approx((FORCE * 0.6, FORCE * -0.8), rel=1e-4)
    assert (last["zmp_x"], last["zmp_y"]) == pytest.approx((last["com_x"], last["com_y"]), abs=1e-6)
    height = leaning.frame["body_z"].iloc[-2]
    # Points are 2 mm below the floor's plane, where their forces have a lever of their own: 2 mm · 30 / 731.
    assert last["zmp_x"] - last["cop_x"] == pytest.approx(0.6 * height * FORCE / weight, abs=1.2e-4)
    assert last["zmp_y"] - last["cop_y"] == pytest.approx(-0.8 * height * FORCE / weight, abs=1.2e-4)
    assert measure_run(leaning)["verdict"] == "recovered"


def test_where_only_the_floor_pushes_both_centres_are_the_same(runs):
    """While the trunk is accelerated by up to a third of g; forces are those of the last step, rates of 4 ms."""
    table = series(runs["stood"])
    moving = table[(table["time"] > 0.1) & (table["time"] < 1.0)]
    assert np.abs(moving["grf_normal"] / (74.548 * G) - 1.0).max() > 0.2
    assert (moving["zmp_x"] - moving["cop_x"]).abs().max() < 5e-4
    assert (moving["zmp_y"] - moving["cop_y"]).abs().max() < 5e-4


def test_a_centre_of_pressure_is_within_the_points_that_bear_it(runs):
    for name in ("stood", "hit", "fell"):
        assert measure_run(runs[name])["cop_margin_min"] >= -1e-12


def test_a_saved_run_measures_the_same(runs, person, tmp_path):
    runs["hit"].save(tmp_path)
    assert measure_run(Run.load(tmp_path, person)) == measure_run(runs["hit"])


def test_the_series_has_units_and_the_runs_times(runs):
    table = series(runs["hit"])
    assert set(table.attrs["units"]) == set(table.columns)
    assert (table["time"] == runs["hit"].frame["time"]).all()


def test_runs_can_be_measured_from_threads(runs):
    expected = measure_run(runs["hit"])
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: measure_run(runs["hit"]), range(8)))
    assert all(result == expected for result in results)


def test_a_magnitude_beyond_the_range_of_numbers_is_absent_without_a_warning():
    rows = on_sole([0.0, 1.0])
    rows["momentum_defect_px"] = 1e174  # its square is not finite
    assert measure(rows.layout, rows.array)["momentum_defect"] is None
