"""Identifications of records: what is found in a record is what is found in the run that it is of."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.signal import butter, lfilter

from biped.errors import InputError
from biped.identification import DoublePendulum, IndependentChannels
from biped.metrics import series
from experiments.cli.main import main
from experiments.studies.identification.identification import Identification
from experiments.studies.run import open_study, recall, run_study
from experiments.studies.store.folder import Study
from experiments.visualization.report.study_page import study_page

PERIOD, RATE, CYCLES = 4.0, 50.0, 4
FREQUENCIES = np.array([0.25, 0.75, 1.25])
SUBJECT = IndependentChannels(70.6, 634.0, stiffness=1.5, damping=0.45, weight=0.5, delay=0.14)


def record(seed=0, noise=0.0, rate=RATE, cycles=CYCLES):
    """Tilt [deg], turned round, and sway [rad] of the subject, after transients have died away."""
    random, time = np.random.default_rng(seed), np.arange(round(cycles * PERIOD * rate)) / rate
    turned = 0.01 * np.exp(1j * (2.0 * np.pi * np.outer(time, FREQUENCIES) + random.uniform(0.0, 6.0, 3)))
    sway = (turned @ SUBJECT.response(FREQUENCIES)).real + noise * random.normal(size=len(time))
    columns = {"time [s]": time, "tilt [deg]": np.rad2deg(-turned.sum(axis=1).real), "sway [rad]": sway}
    return pd.DataFrame(columns)


DATA = {
    "identify": {
        "period": PERIOD, "frequencies": FREQUENCIES.tolist(), "stimulus": "-tilt", "responses": {"sway": "sway"}
    },
    "model": {
        "name": "independent-channels", "error": "relative", "about": "ankles",
        "set": {"inertia": 70.6, "toppling": 634.0},
        "parameter": [
            {"name": "stiffness", "from": 0.8, "to": 2.5}, {"name": "damping", "from": 0.1, "to": 0.9},
            {"name": "weight", "from": 0.0, "to": 1.0}, {"name": "delay", "from": 0.02, "to": 0.3},
        ],
    },
}  # fmt: skip


def of_files(files, **tables):
    names = {"record": {"files": files}}
    data = DATA | names
    return data | {name: data.get(name, {}) | table for name, table in tables.items()}


def found_in(data, folder):
    plan = Identification.from_configuration(data)
    with open_study(plan, folder) as study:
        return run_study(plan, study)


def test_a_subject_is_found_in_records_in_other_units(tmp_path):
    """To the digits that a text has of the numbers: 1 in 10^10."""
    for k in range(2):
        record(k).to_csv(tmp_path / f"trial-{k}.csv", index=False, float_format="%.10g")
    found = found_in(of_files(str(tmp_path / "trial-*.csv")), tmp_path / "study")
    assert found.trials == 2
    assert found.response.cycles == 2 * (CYCLES - 1)
    assert found.response.values["sway"] == pytest.approx(SUBJECT.response(FREQUENCIES), rel=1e-8)
    assert found.response.frame.attrs["units"]["gain"] == "1"
    values = found.fit.estimate.values
    assert values == pytest.approx({"stiffness": 1.5, "damping": 0.45, "weight": 0.5, "delay": 0.14}, rel=1e-5)


def test_a_run_and_its_record_have_the_same_responses(tmp_path):
    fixed = {
        "platform.motion": "sum-of-sines", "platform.axis": "pitch", "platform.frequencies": "0.25 0.75",
        "platform.size": 0.004, "platform.rise": 1.0, "run.step": 0.004, "controller.period": 0.004,
        "initial.stance": "upright", "controller.stiffness": 1.2, "controller.passive_stiffness": 0.15,
    }  # fmt: skip
    model = {"name": "independent-channels", "error": "relative", "set": {"passive_stiffness": 0.15, "delay": 0.0},
             "parameter": [{"name": "weight", "from": 0.0, "to": 1.0}]}  # fmt: skip
    cycles = {"cycles": 2, "responses": {"sway": "sway_y", "ankle": "-angle_left_ankle_pitch"}}
    simulated = Identification.from_configuration(
        {"experiment": "balance", "controller": "postural", "set": fixed, "identify": cycles, "model": model}
    )
    with open_study(simulated, tmp_path / "simulated") as study:
        wanted = run_study(simulated, study)
    run = simulated.experiment.run(simulated.trials()[0].changes)
    table = pd.concat([series(run), run.frame["angle_left_ankle_pitch"]], axis=1)
    names = ["floor_tilt_y", "sway_y", "angle_left_ankle_pitch"]
    table[["time", *names]].rename(columns={name: f"{name} [rad]" for name in names}).to_csv(
        tmp_path / "run.csv", index=False, float_format="%.12g"
    )
    data = {
        "experiment": "balance", "controller": "postural", "model": model,
        "identify": cycles | {"period": 4.0, "frequencies": [0.25, 0.75], "stimulus": "floor_tilt_y"},
        "record": {"files": str(tmp_path / "run.csv"), "begin": simulated.cycles.begin},
    }  # fmt: skip
    found = found_in(data, tmp_path / "recorded")
    for name in wanted.response.values:
        assert found.response.values[name] == pytest.approx(wanted.response.values[name], rel=1e-8)
    assert found.response.units == wanted.response.units
    assert found.fit.estimate.values == pytest.approx(wanted.fit.estimate.values, rel=1e-6)


BODY = {
    "leg_mass": 26.0, "leg_length": 0.9, "leg_com": 0.5, "leg_inertia": 2.0, "trunk_mass": 46.0, "trunk_com": 0.27,
    "trunk_inertia": 1.6,
}  # fmt: skip
HIPS = {"ankle_damping": 300.0, "hip_stiffness": 500.0, "hip_damping": 60.0}
PUSHED = DoublePendulum(**BODY, ankle_stiffness=900.0, **HIPS).response(FREQUENCIES, "push_trunk", 0.3)["sway"]


@pytest.mark.parametrize(
    ("unit", "response", "model", "parameter", "truth"),
    [
        ("Nm", SUBJECT.response(FREQUENCIES, "torque"), {"set": {"inertia": 70.6, "toppling": 634.0}}, "delay", 0.14),
        (
            "kN", 1e3 * PUSHED,
            {"name": "double-pendulum", "set": BODY | HIPS, "height": 0.3}, "ankle_stiffness", 900.0,
        ),
        (
            "N", 0.6 * SUBJECT.response(FREQUENCIES, "torque"),
            {"set": {"inertia": 70.6, "toppling": 634.0}, "height": 0.6}, "delay", 0.14,
        ),
        (
            "mm", 1e-3 * SUBJECT.response(FREQUENCIES, "translation"),
            {"set": {"inertia": 70.6, "toppling": 634.0, "damping": 0.45, "stiffness": 1.5}}, "delay", 0.14,
        ),
    ],
)  # fmt: skip
def test_the_unit_says_what_moves(unit, response, model, parameter, truth, tmp_path):
    time = np.arange(round(CYCLES * PERIOD * RATE)) / RATE
    moved = np.exp(2j * np.pi * np.outer(time, FREQUENCIES))
    columns = {"time": time, f"push [{unit}]": moved.sum(axis=1).real, "sway [rad]": (moved @ response).real}
    pd.DataFrame(columns).to_csv(tmp_path / "subject.csv", index=False)
    known = {"stiffness": 1.5, "damping": 0.45} if "name" not in model else {}
    fitted = {"parameter": [{"name": parameter, "from": 0.5 * truth, "to": 2.0 * truth}], "set": model["set"] | known}
    data = of_files(str(tmp_path / "subject.csv"), identify={"stimulus": "push"}, model=model | fitted)
    found = found_in(data, tmp_path / "study")
    assert found.fit.estimate.values[parameter] == pytest.approx(truth, rel=1e-5)


def test_from_the_command_to_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    record(noise=1e-4).to_csv("subject.csv", index=False)
    (tmp_path / "identify.toml").write_text(
        '[identify]\nperiod = 4.0\nfrequencies = "odd"\nhighest = 1.25\nstimulus = "-tilt"\n'
        'responses = { sway = "sway" }\n[record]\nfiles = "*.csv"\n'
    )
    assert main(["identify", "identify.toml", "--out", "found", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["findings"]["cycles"] == CYCLES - 1
    assert told["trials"] == 0
    assert {"response.csv", "remnant.csv", "response.png"} <= set(told["files"])
    record(noise=1e-4).to_csv("other.csv", index=False)
    plan, _ = recall(Study.read("found"))  # of the files that it was of, wherever it is read
    assert plan.recorded.files == (str(tmp_path / "subject.csv"),)
    page = study_page(Study.read("found"), "biped report found")
    assert page.title == "Identification of records"
    assert [section.name for section in page.sections] == ["response", "rerun"]
    assert "subject.csv" in page.lead[0].text
    assert len(page.lead) == 1


def at_random(hip=0.0):
    """Tilt and push at random, and what they make the subject sway: gains of 2 and 0.001 rad/N times a low-pass."""
    random, time = np.random.default_rng(0), np.arange(round(120.0 * RATE)) / RATE
    tilt, push = lfilter(*butter(1, 0.2), random.normal(size=(2, len(time))))
    sway = lfilter([0.1], [1.0, -0.9], 2.0 * tilt + hip * push) + 0.02 * random.normal(size=len(time))
    return pd.DataFrame({"time [s]": time, "tilt [rad]": tilt, "push [N]": push, "sway [rad]": sway})


def test_what_does_not_repeat_is_cut_into_windows(tmp_path, monkeypatch):
    """The pole's response is z/(z − 0.9) times 0.1 at z = exp(iω/rate); within twice the interval of 95 %."""
    monkeypatch.chdir(tmp_path)
    at_random(hip=1.0).to_csv("subject.csv", index=False)
    (tmp_path / "two.toml").write_text(
        '[identify]\nwindow = 10.0\nhighest = 1.0\nstimulus = { floor = "tilt", push = "push" }\n'
        'responses = { sway = "sway" }\n[record]\nfiles = "*.csv"\n'
    )
    assert main(["identify", "two.toml", "--out", "found", "--no-figures"]) == 0
    _, found = recall(Study.read("found"))
    z = np.exp(2j * np.pi * found.response.frequencies / RATE)
    assert found.response.cycles == 23
    for name, gain in {"sway / floor": 2.0, "sway / push": 1.0}.items():
        low, high = found.response.intervals[name].gain
        true = gain * 0.1 * z / (z - 0.9)
        assert (abs(found.response.values[name] - true) < 2.0 * (high - low) + 0.02 * abs(true)).all()


def gap(table):
    table.loc[300:305, "sway [rad]"] = np.nan
    return table


@pytest.mark.parametrize(("change", "tables", "said"), [
    (None, {"record": {"files": "none-*.csv"}}, "there is no file 'none-*.csv'"),
    (None, {"record": {"units": {"tilt": "N"}}}, "height is missing: the height [m] above the ankles"),
    (None, {"identify": {"stimulus": "platform"}}, "no column 'platform'; columns are tilt, sway"),
    (None, {"record": {"units": {"tilt": "furlong"}}}, "unknown unit 'furlong': use a unit such as"),
    (None, {"record": {"units": {"sway": "mm"}}}, "sway is in m, but [model] needs angles of sway: name a"),
    (None, {"record": {"units": {"tilt": "V"}}}, "stimulus is in V, but models need rad"),
    (lambda table: table.rename(columns={"sway [rad]": "sway"}), {}, "the unit of the column sway is unknown"),
    (gap, {}, "column sway: a gap of 0.14 s after 5.98 s: set gaps to that length or more, or cut it off"),
    (gap, {"record": {"gaps": 0.13}}, "set gaps to that length or more, or cut it off with begin and cycles"),
    (lambda table: table.drop(index=range(300, 306)), {}, "column -tilt: a gap of 0.14 s after 5.98 s: set gaps"),
    (None, {"record": {"filter": 26.0}}, "filter = 26.0 Hz must be between 0 and 25 Hz"),
    (None, {"record": {"filter": 1.0}}, "filter = 1 Hz: the stimulus has up to 1.25 Hz: set filter"),
    (None, {"record": {"resample": 20.1, "filter": 5.0}}, "set [record] resample = 20 and filter = 10 or less, or"),
    (None, {"record": {"resample": 20.0}}, "frequencies above 10 Hz would alias"),
    (None, {"record": {"gaps": -1.0}}, "gaps = -1.0"),
    (lambda table: table.head(150), {}, "0 whole cycles of 4 s from 0 s on: there must be more than 1"),
    (None, {"identify": {"cycles": 9}}, "cycles = 9, but the record has 3 whole cycles of 4 s after skipping 1: set"),
    (lambda _: record(rate=50.1), {}, "at 50.1 Hz a cycle of 4 s has 200.4 samples, but it must have a whole"),
    (None, {"identify": {"frequencies": [0.3]}}, "multiple of 1/period, 0.25 Hz"),
    (None, {"identify": {"frequencies": "even"}}, "must be one of all, odd"),
    (None, {"identify": {"trials": 3}}, "unknown key 'identify.trials'"),
    (None, {"identify": {"window": 4.0}}, "leave one of them out"),
    (None, {"identify": {"stimulus": {"a": "tilt", "b": "sway"}}}, "[model] needs a single stimulus"),
    (None, {"identify": {"stimulus": {"a": "tilt", "sway": "sway"}}}, "a response cannot be called sway"),
])  # fmt: skip
def test_what_is_wrong_is_said_with_what_would_be_right(change, tables, said, tmp_path):
    table = record() if change is None else change(record())
    table.to_csv(tmp_path / "subject.csv", index=False)
    files = {"record": {"files": str(tmp_path / "subject.csv")} | tables.pop("record", {})}
    with pytest.raises(InputError) as raised:
        Identification.from_configuration(of_files("", **files, **tables))
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("lost", [gap, lambda table: table.drop(index=range(300, 306))])
def test_a_gap_is_bridged_before_the_cycles_are_cut(lost, tmp_path):
    """By straight lines, each within h²/8 times the greatest second derivative of what it bridges; of a cycle's samples
    seven are wrong by so much at most."""
    lost(record()).to_csv(tmp_path / "subject.csv", index=False)
    data = of_files(str(tmp_path / "subject.csv"), record={"gaps": 0.15})
    found = Identification.from_configuration(data).recorded.spectra[0]
    response, turns = np.abs(SUBJECT.response(FREQUENCIES)), (2.0 * np.pi * FREQUENCIES) ** 2
    for coefficients, sizes in ((found.stimulus, 0.01 * np.ones(3)), (found.responses["sway"], 0.01 * response)):
        off = 2.0 / (PERIOD * RATE) * 7 * 0.14**2 / 8.0 * (sizes * turns).sum()
        changes = np.abs(coefficients[:, found.excited] - coefficients[1:2, found.excited])
        assert changes.max() < off
    assert np.ptp(found.responses["sway"][:, found.excited], axis=0).max() > 1e-9


def test_a_filter_and_another_rate_of_both_leave_their_ratio(tmp_path):
    record(rate=60.0).to_csv(tmp_path / "subject.csv", index=False)
    cycles = {"identify": {"cycles": 2}}
    data = of_files(str(tmp_path / "subject.csv"), record={"filter": 6.0, "resample": 50.0}, **cycles)
    found = found_in(data, tmp_path / "study")
    raw = found_in(of_files(str(tmp_path / "subject.csv"), **cycles), tmp_path / "raw")
    # Straight lines between 60 samples a second: each sine less by (ω h)²/12 at most, and other ones by as much.
    share = (2.0 * np.pi * FREQUENCIES.max() / 60.0) ** 2 / 12.0
    wanted = raw.response.values["sway"]
    assert np.abs(found.response.values["sway"] / wanted - 1.0).max() < 2.0 * share


def spectra_of(table, tmp_path, **tables):
    """Fourier coefficients of a record, and the ratio of its response to its stimulus at the excited frequencies."""
    table.to_csv(tmp_path / "subject.csv", index=False)
    found = Identification.from_configuration(of_files(str(tmp_path / "subject.csv"), **tables)).recorded.spectra[0]
    return found, found.responses["sway"][:, found.excited] / found.stimulus[:, found.excited]


@pytest.mark.parametrize(("rate", "prepared"), [
    (100.1, {"resample": 100.0}),  # by the last cycle more than a sample off, though each step is within a thousandth
    (100.0, {"resample": 50.0, "begin": 0.1234}),  # off the record's own samples
])  # fmt: skip
def test_resampled_records_have_their_cycles(rate, prepared, tmp_path):
    """But for straight lines between samples."""
    prepared = {"filter": 20.0} | prepared
    _, ratio = spectra_of(record(rate=rate), tmp_path, record=prepared, identify={"cycles": 2})
    share = (2.0 * np.pi * FREQUENCIES.max() / 100.0) ** 2 / 12.0
    assert np.abs(ratio / SUBJECT.response(FREQUENCIES) - 1.0).max() < 2.0 * share


@pytest.mark.parametrize("rate", [60.0, 120.0])
@pytest.mark.parametrize("prepared", [{}, {"filter": 6.0}, {"filter": 6.0, "resample": 1.0}])
@pytest.mark.parametrize("cycles", [1, 2, 3])
def test_times_in_whole_milliseconds_have_all_their_cycles(rate, prepared, cycles, tmp_path):
    """Each off by δ ≤ 0.5 ms, by which no coefficient is off by more than ωδ times all sines, twice."""
    table = record(rate=rate)
    table["time [s]"] = table["time [s]"].round(3)
    told = {name: value * rate if name == "resample" else value for name, value in prepared.items()}
    found, ratio = spectra_of(table, tmp_path, record=told, identify={"cycles": cycles})
    assert len(found.trial) == cycles
    size = np.abs(SUBJECT.response(FREQUENCIES))
    off = 2.0 * 2.0 * np.pi * FREQUENCIES.max() * 0.5e-3 * (len(size) + size.sum() / size.min())
    assert np.abs(ratio / SUBJECT.response(FREQUENCIES) - 1.0).max() < off


def test_a_row_that_is_left_out_of_rounded_times_is_one_row(tmp_path):
    """60 rows at 120 Hz, half a second, in steps of 8 and 9 ms."""
    table = record(rate=120.0).drop(index=range(700, 760))
    table["time [s]"] = table["time [s]"].round(3)
    assert len(spectra_of(table, tmp_path, record={"gaps": 0.6}, identify={"cycles": 2})[0].trial) == 2


def test_no_cycle_is_lost_that_begins_between_two_samples(tmp_path):
    """Of 16 s, after 0.1234 s and one that is skipped, two are whole."""
    found, ratio = spectra_of(record(rate=100.0), tmp_path, record={"begin": 0.1234})
    assert len(found.trial) == 2
    np.testing.assert_allclose(ratio, np.tile(SUBJECT.response(FREQUENCIES), (2, 1)), rtol=1e-12)


def test_records_of_unlike_units_are_not_averaged(tmp_path):
    record().to_csv(tmp_path / "a.csv", index=False)
    record().rename(columns={"sway [rad]": "sway [mm]"}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(InputError, match=r"sway is in m in .*b\.csv, but in rad in .*a\.csv: correct one"):
        Identification.from_configuration(of_files([str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]))
