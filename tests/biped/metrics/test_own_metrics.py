"""Metrics registered by a user."""

import re
from pathlib import Path

import numpy as np
import pytest

from biped import InputError, Push, simulate
from biped.metrics import METRICS, Metric, measure, metric_named, metric_names, register, series
from experiments.catalogue.registry import experiment_named
from experiments.studies.store.measured import metric_units
from experiments.studies.trial import Trial, run_trial

from .rows import Rows, arm

TIMES = np.linspace(0.0, 1.0, 101)
EXPERIMENT = experiment_named("balance")
CHANGES = {"push.impulse": 6.0, "run.duration": 0.8, "run.step": 1e-3}


def farthest(run):
    return run["com_x"][run.first :].max()


def test_it_is_measured_in_runs_and_in_trials_alike():
    register(Metric("com_x_max", "m", "farthest forward", farthest))
    run = EXPERIMENT.run(CHANGES)
    after = run.frame["time"] >= run.disturbances[0]["start"]
    assert run.metrics["com_x_max"] == run.frame["com_x"][after].max()
    assert run.summary["com_x_max"] == run.metrics["com_x_max"]
    assert run_trial(EXPERIMENT, Trial(0, CHANGES))["com_x_max"] == run.metrics["com_x_max"]
    assert metric_units(EXPERIMENT, CHANGES)["com_x_max"] == "m"
    assert list(run.metrics)[-1] == "com_x_max"


def test_simulate_reports_it(person):
    register(Metric("mass", "kg", "of what moves", lambda run: run.model.total_mass))
    run = simulate(person, duration=0.002, disturbances=[Push("trunk", (1.0, 0.0, 0.0), 1.0, 0.001, 0.001)])
    assert run.metrics["mass"] == person.total_mass


def test_it_has_margins_and_centres_by_the_names_of_the_series():
    found = {}

    def least(run):
        found["margin"] = run["cop_margin"].copy()
        with pytest.raises(InputError, match="no column 'cop_margn'; columns are time, .*cop_margin"):
            run["cop_margn"]
        return np.nanmin(run["cop_margin"])

    register(Metric("least", "m", "least margin", least))
    run = EXPERIMENT.run(CHANGES)
    np.testing.assert_array_equal(found["margin"], series(run)["cop_margin"])
    assert run.metrics["least"] == series(run)["cop_margin"].min()


def test_an_error_in_it_is_told_with_its_file_and_line():
    def wrong(run):
        return run.series["cop_margin"].min()

    register(Metric("own", "m", "a mistake", wrong))
    message = run_trial(EXPERIMENT, Trial(0, CHANGES))["message"]
    line = wrong.__code__.co_firstlineno + 1
    assert message.endswith(f"({Path(__file__).name}, line {line}, in wrong)")


def test_it_may_build_on_others_and_be_of_each_joint():
    calls = []

    def ranges(run):
        calls.append(1)
        return {"range_elbow": np.ptp(run["angle_elbow"]), "range": run.value("peak_torque")}

    register(Metric("range", "rad", "of any", ranges), Metric("range_JOINT", "rad", "of a joint", ranges))
    rows = Rows(arm(), TIMES)
    rows["angle_elbow"], rows["torque_elbow"] = TIMES, 2.0
    measured = rows.measure()
    assert (measured["range_elbow"], measured["range"]) == (1.0, 2.0)
    assert metric_named("range_elbow").name == "range_JOINT"
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("value", "measured"),
    [(np.float64(2.0), 2.0), (np.int64(3), 3), (True, 1), (np.nan, None), (np.inf, None), (None, None)],
)
def test_values_are_plain_numbers_or_none(value, measured):
    register(Metric("own", "1", "a value", lambda _: value))
    found = Rows(arm(), TIMES).measure()["own"]
    assert found == measured
    assert type(found) is type(measured)


def test_it_is_not_asked_where_the_run_had_ended_unless_it_is_of_the_whole_run():
    register(
        Metric("late", "m", "after the disturbance", farthest),
        Metric("rows", "1", "all", lambda run: len(run.rows), of_whole_run=True),
    )
    measured = Rows(arm(), TIMES).measure(start_time=2.0)
    assert measured["late"] is None
    assert measured["rows"] == len(TIMES)
    rows = Rows(arm(), TIMES)
    assert measure(rows.layout, rows.array[:0])["late"] is None


def test_what_cannot_be_a_metric_is_refused_in_a_sentence():
    with pytest.raises(InputError, match=r"metric 'peak_torque' already \(peak torque of any joint\): choose"):
        register(Metric("peak_torque", "N*m", "mine", farthest))
    with pytest.raises(InputError, match="'peak torque': it must be a word"):
        register(Metric("peak torque", "N*m", "mine", farthest))
    register(Metric("own", "1", "a list", lambda _: [1.0]))
    with pytest.raises(InputError, match=r"metric 'own' is \[1.0\]: its function must return a number, a text or None"):
        Rows(arm(), TIMES).measure()


def test_an_unknown_column_is_refused_with_those_that_there_are():
    register(Metric("own", "m", "a column", lambda run: run["com"][0]))
    with pytest.raises(InputError, match="no column 'com'; columns are time, body_x, .*, com_x"):
        Rows(arm(), TIMES).measure()


def test_a_cell_of_a_notebook_can_be_run_again():
    for _ in range(2):
        register(Metric("own", "m", "farthest forward", farthest))
    assert METRICS["own"].compute is farthest


PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"
ROW = re.compile(r"^\| `([\w]+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$")


def test_names_come_in_the_order_of_the_registry(person):
    names = metric_names(person.joint_names, person.feet, 1)
    assert len(names) == len(set(names))
    stems = [metric_named(name).name for name in names]
    assert list(dict.fromkeys(stems)) == list(METRICS)
    assert stems.count("peak_torque_JOINT") == 12
    assert stems.count("peak_grf_FOOT") == 2


@pytest.mark.parametrize(("name", "metric"), [
    ("peak_torque", "peak_torque"),
    ("peak_torque_left_knee_pitch", "peak_torque_JOINT"),
    ("saturation_time_left_knee_pitch", "saturation_time_JOINT"),
    ("sway_gain_1", "sway_gain_FREQUENCY"),
])  # fmt: skip
def test_a_column_of_results_leads_to_its_metric(name, metric):
    assert metric_named(name).name == metric


def test_an_unknown_metric_is_refused():
    with pytest.raises(InputError, match="unknown metric 'wobble'"):
        metric_named("wobble")


def test_the_page_tells_of_every_metric_what_the_registry_does():
    rows = [match.groups() for line in PAGE.read_text(encoding="utf-8").splitlines() if (match := ROW.match(line))]
    table = {name: tuple(cell.strip() for cell in cells) for name, *cells in rows}
    assert list(table) == list(METRICS)
    for name, metric in METRICS.items():
        assert table[name] == (
            metric.unit or "–",
            metric.definition,
            metric.formula.replace("|", "∣"),
            metric.source,
        ), name
