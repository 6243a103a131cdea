"""Fits of a closed loop to what itself did, what is compared, and what is refused."""

import numpy as np
import pytest

from biped.errors import InputError
from biped.metrics import series
from biped.records import Record
from experiments import experiment_named
from experiments.studies import Config, Study, fit_from, open_study, run_study
from experiments.studies.fitting.measured import Column, measured_of
from experiments.studies.fitting.runs import _multiples
from experiments.studies.run import recall
from experiments.studies.tuning.design_variable import DesignVariable
from tests.refusals import refuses

SET = {
    "initial.stance": "upright", "initial.jitter": 0.0, "run.duration": 0.6, "run.step": 2e-3,
    "platform.motion": "step", "platform.size": 0.02, "platform.start": 0.02, "platform.rise": 0.2,
}  # fmt: skip
TRUE = {"controller.damping": 0.45, "sensors.delay": 0.08}


def data(file="subject.csv", **changes):
    columns = [{"model": "com_ap", "deviation": 1e-3}, {"model": "cop_ap", "deviation": 2e-3}]
    damping = {"sets": "controller.damping", "from": 0.2, "to": 0.8, "scale": "log", "start": 0.35}
    delay = {"sets": "sensors.delay", "from": 0.04, "to": 0.12, "by": 0.002, "start": 0.1}
    return {
        "experiment": "balance", "controller": "postural", "set": SET, "parameter": [damping, delay],
        "record": [{"file": str(file), "column": columns}], **changes,
    }  # fmt: skip


@pytest.fixture(scope="module")
def subject(tmp_path_factory):
    found = series(experiment_named("balance").driven_by("postural").run(SET | TRUE)).iloc[::5]
    path = tmp_path_factory.mktemp("record") / "subject.csv"
    names = {"time": "time", "com_ap": "com_ap [m]", "cop_ap": "cop_ap [m]"}
    found[list(names)].rename(columns=names).to_csv(path, index=False)
    return path


def test_what_made_a_record_is_found_again(subject, tmp_path):
    """Without noise to what the record's text holds; killed on the way and gone on with, the same bit for bit."""
    plan = fit_from(Config(data(subject)))
    with open_study(plan, tmp_path / "whole") as study:
        found = run_study(plan, study)
    values = found.table.set_index("parameter")["value"]
    # Least squares ends where the sum falls by less than 1e-9 of itself, or a step by less of its length.
    np.testing.assert_allclose(values["controller.damping"], 0.45, rtol=1e-4)
    np.testing.assert_allclose(values["sensors.delay"], 0.08, rtol=1e-4)
    assert list(found.table["unit"]) == ["m g h s", "s"]
    assert recall(Study.read(tmp_path / "whole"))[1].table.equals(found.table)

    def stop(done):
        if done >= 7:
            raise KeyboardInterrupt

    with open_study(plan, tmp_path / "stopped") as study, pytest.raises(KeyboardInterrupt):
        run_study(plan, study, progress=stop)
    with pytest.raises(InputError, match="not finished yet"):
        recall(Study.read(tmp_path / "stopped"))
    with open_study(plan, tmp_path / "stopped") as study:
        assert run_study(plan, study).table.equals(found.table)


def test_a_value_that_cannot_be_run_is_told(subject):
    """A delay is a multiple of the step: without ``by``, no search can move it."""
    broken = data(subject)
    del broken["parameter"][1]["by"]
    broken["parameter"][1]["start"] = 0.0801
    plan = fit_from(Config(broken))
    experiment = plan.experiment

    def evaluate(trials):
        from experiments.studies import run_trial

        return {trial.number: run_trial(experiment, trial) for trial in trials}

    with pytest.raises(InputError, match=r"all runs of the search failed; reason in the last one: .*0\.0801"):
        plan.find(evaluate)


def test_a_constant_has_no_deviation_of_its_own():
    """0.1 is no binary number: the standard deviation of its repetitions is one of rounding."""
    time, columns = np.arange(150) / 100.0, (Column("com_ap"),)
    record = Record(time, {"com_ap": np.full(150, 0.1)}, {"com_ap": "m"})
    with pytest.raises(InputError, match="is constant: set its deviation"):
        measured_of(record, columns, {"com_ap": "m"}, 0.0, 0.02, 1.0)


def of(*columns):
    return {"record": [{"file": "nothere.csv", "column": list(columns)}]}


def parameter(**given):
    damping, delay = data()["parameter"]
    return {"parameter": [damping | given, delay]}


@refuses(
    ({"fit": {"method": "newton"}}, "least-squares, cma"),
    ({"fit": {"intervals": "exact"}}, "linear, profile, bootstrap"),
    ({"record": [{"file": "nothere.csv", "column": [{"model": "com_ap"}]}]}, "nothere.csv: the file cannot be read"),
    (of({"model": "com_ap", "deviation": 0}), "deviation = 0: it must be above zero"),
    (of({"model": "com_ap", "scale": 0.0}), "scale = 0.0"),
    (of({"model": "com_ap"}, {"model": "com_ap", "measured": "com_ap"}), "twice"),
    ({"record": []}, r"\[\[record\]\]"),
    (parameter(prior=[1.0]), "mean and standard deviation"),
    (parameter(prior=[1.0, 0.0]), "above zero"),
    (parameter(prior=["x"]), "a list of finite numbers"),
    (parameter(start=2.0), "start = 2: it must be from 0.2 to 0.8"),
    (parameter(strat=0.5), "unknown key 'parameter.strat'"),
    ({"model": "com_ap", "measured": "com"}, "no column 'com'; columns are"),
    ({"model": "com_ap", "deviation": -1.0}, "deviation = -1.0"),
    ({"model": "com_ap", "offset": "mean"}, "it must be a number, or 'free'"),
    ({"model": "com_up", "measured": "com_ap"}, "runs have no column .com_up.; did you mean"),
)
def test_what_makes_no_sense_is_refused(subject, changes):
    if "model" in changes:  # a column of the record that is there
        changes = {"record": [{"file": str(subject), "column": [changes]}]}
    fit_from(Config(data(subject, **changes)))


TIME = np.arange(0.0, 1.0, 0.01)


def record_of(values):
    return Record(TIME, {"x": values}, {"x": "m"}, "record")


def test_gaps_are_not_compared_and_part_a_series():
    values = np.sin(TIME)
    values[30:40] = np.nan
    found = measured_of(record_of(values), (Column("x", deviation=0.5),), {}, begin=0.0, every=0.02, duration=2.0)
    assert found.size == 45
    assert found.series(100) == [slice(100, 115), slice(115, 145)]
    model = np.sin(TIME[::2])[None] - 1.0
    np.testing.assert_allclose(found.residuals(model), 2.0, rtol=1e-12)


def test_only_how_it_moves_counts_where_the_offset_is_free():
    found = measured_of(record_of(np.sin(TIME)), (Column("x", offset="free", deviation=1.0),), {}, 0.0, 0.01, 2.0)
    np.testing.assert_allclose(found.residuals(np.sin(TIME)[None] + 7.0), 0.0, atol=1e-14)


def test_axes_are_turned_and_moved():
    found = measured_of(record_of(TIME), (Column("x", scale=-2.0, offset=3.0, deviation=1.0),), {}, 0.0, 0.01, 2.0)
    np.testing.assert_allclose(found.values[0], 3.0 - 2.0 * TIME, rtol=1e-15)


def test_a_run_that_has_ended_stands_where_it_was():
    found = measured_of(record_of(TIME), (Column("x", deviation=1.0),), {}, 0.0, 0.01, 2.0)
    model = TIME.copy()
    model[50:] = np.nan
    np.testing.assert_allclose(found.residuals(model[None])[50:], TIME[50:] - TIME[49], rtol=1e-14)
    assert (found.residuals(np.full((1, len(TIME)), np.nan)) == 1e3).all()


def test_a_record_lies_where_its_time_zero_is():
    found = measured_of(record_of(TIME), (Column("x"),), {}, begin=-0.5, every=0.01, duration=0.2)
    np.testing.assert_allclose(found.trace.times, np.arange(0.0, 0.205, 0.01), atol=1e-12)
    np.testing.assert_allclose(found.values[0], found.trace.times + np.float64(0.5), atol=1e-12)
    with pytest.raises(InputError, match="has only 0 values from 5 to 6 s"):
        measured_of(record_of(TIME), (Column("x"),), {}, begin=-5.0, every=0.01, duration=1.0)
    with pytest.raises(InputError, match="is constant"):
        measured_of(record_of(np.ones_like(TIME)), (Column("x"),), {}, begin=0.0, every=0.01, duration=1.0)


@pytest.mark.parametrize("value", [0.0, 0.0004, 0.0031, 0.01, 0.0173, 0.02])
def test_between_multiples_lies_a_cubic(value):
    delay = DesignVariable("delay", 0.0, 0.02, targets=("sensors.delay",))
    at, weights = np.array(_multiples(delay, value, 0.002)).T
    assert at.min() >= 0.0
    assert at.max() <= 0.02
    np.testing.assert_allclose(weights.sum(), 1.0, rtol=1e-14)
    np.testing.assert_allclose(weights @ at, value, atol=1e-16)
    if 0.002 <= value <= 0.018:
        np.testing.assert_allclose(weights @ at**2, value**2, atol=1e-18)
