"""The made-up subject of docs/records.md: a raw record is played, fitted, put beside a run, exported and opened again.

The subject and the file of the fit are those of the page, word for word.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import image

from biped.metrics import series
from biped.records import read_record
from experiments import experiment_named
from experiments.cli import main
from experiments.studies.config import read_config
from experiments.visualization.report import load_run
from experiments.visualization.report.record_comparison import (
    RecordComparison,
    compare_columns,
    compare_sway,
    paired_columns,
)
from experiments.visualization.viewer.loaded_runs import load_runs
from tests.refusals import refuses

PAGE = Path(__file__).parents[4] / "docs" / "records.md"


def block(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)[1]


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    """A folder with the record, the file of the fit, the fit and a run; and the damping that was found, and its sd."""
    folder = tmp_path_factory.mktemp("laboratory")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(block("python"), str(PAGE), "exec"), {})
        Path("subject.toml").write_text(block("toml"), encoding="utf-8")
        assert main(["fit", "subject.toml", "--no-figures"]) == 0
        assert main(["rerun", "results/fit/subject", "1", "--out", "run", "--no-figures"]) == 0
    return folder


@pytest.fixture
def at_hand(laboratory, monkeypatch):
    monkeypatch.chdir(laboratory)
    return laboratory


@pytest.mark.usefixtures("at_hand")
def test_its_damping_is_found():
    found = pd.read_csv("results/fit/subject/parameters.csv").set_index("parameter").loc["controller.damping"]
    assert abs(found["value"] - 0.45) < 4.0 * found["sd"]
    assert found["sd"] < 0.01


@pytest.mark.usefixtures("at_hand")
def test_its_run_is_beside_the_record():
    run = load_run("run")
    (pairs,) = paired_columns(run, "subject.toml")
    table = compare_columns(pairs).set_index("column")
    noise = 0.3e-3
    # of the run with the first damping, not with the subject's: the noise, and what that difference makes
    assert (
        noise * (1.0 - 4.0 / 1600**0.5)
        < table.loc["com_ap", "rms_difference"]
        < 0.2 * table.loc["com_ap", "sd_measured"]
    )
    assert table.loc["com_ap", "correlation"] > 0.9
    assert np.isnan(table.loc["com_ap", "mean_difference"])  # its offset is free
    assert main(["report", "run", "--record", "subject.toml", "--out", "page.html"]) == 0
    assert "Comparison with the record" in Path("page.html").read_text(encoding="utf-8")
    written = pd.read_csv("page-record.csv").set_index("column")
    np.testing.assert_allclose(written["rms_difference"], table["rms_difference"], rtol=1e-12)
    high, wide = image.imread("page-record.png").shape[:2]
    assert high > 0.4 * wide


SHORT = {"initial.stance": "upright", "initial.jitter": 0.0, "run.duration": 1.0, "run.step": 2e-3, "push.impulse": 2.0}


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = experiment_named("balance").driven_by("postural").run(SHORT)
    table = series(run)[["time", "com_ap", "com_ml", "trunk_pitch"]].iloc[::5]
    table = table.assign(com_ap=1e3 * table["com_ap"], trunk_pitch=np.radians(table["trunk_pitch"]))
    names = {"com_ap": "com_ap [mm]", "trunk_pitch": "trunk_pitch [rad]"}
    table.rename(columns=names).to_csv("own.csv", index=False)
    return run


def test_a_run_beside_its_own_record_does_not_differ(own):
    """In other units, to the round-off of converting; the measures of sway are those of the same numbers."""
    (pairs,) = paired_columns(own, "own.csv")
    columns = compare_columns(pairs)
    assert dict(zip(columns["column"], columns["unit"], strict=True)) == {
        "com_ap": "m", "com_ml": "m", "trunk_pitch": "deg"
    }  # fmt: skip
    assert (columns["rms_difference"] <= 1e-14 * 180.0).all()
    moving = columns["sd_measured"] > 1e-6  # what stands still has round-off for its variance
    np.testing.assert_allclose(columns.loc[moving, "r_squared"], 1.0, atol=1e-9)
    sway = compare_sway(pairs)
    assert set(sway["of"]) == {"com"}
    assert len(sway) > 10
    np.testing.assert_allclose(sway["model"].to_numpy(float), sway["measured"].to_numpy(float), rtol=1e-9)


def test_the_viewers_plots_have_what_was_measured(own):
    own.save("saved")
    table = pd.read_csv("own.csv")
    table[table["time"] <= 0.5].to_csv("half.csv", index=False)
    (loaded,) = load_runs(["saved"], record="half.csv")
    first, *_ = loaded.plots
    assert first.endswith(", model and measured [m]")
    model, measured = loaded.plots[first].curves
    there = loaded.times <= 0.5
    assert (model.label, measured.label) == ("model", "measured")
    assert np.isnan(measured.y[~there]).all()
    assert np.abs(model.y - measured.y)[there].max() < 1e-12  # both straight from row to row of the record
    assert len(load_runs(["saved"])[0].plots) == len(loaded.plots) - 3


def test_two_records_of_a_column_are_kept_apart_and_gaps_are_open(own):
    own.save("saved")
    table = pd.read_csv("own.csv")
    table[(table["time"] < 0.3) | (table["time"] > 0.6)].to_csv("gap.csv", index=False)
    columns = '{ model = "com_ap" }, { model = "com_ml", offset = "free" }'
    tables = [f'[[record]]\nfile = "{name}.csv"\ncolumn = [{columns}]\n' for name in ("own", "gap")]
    Path("two.toml").write_text("".join(tables), encoding="utf-8")
    (loaded,) = load_runs(["saved"], record="two.toml")
    titles = list(loaded.plots)[:4]
    remarks = [f"{free}, record {number}" for number in (1, 2) for free in ("", ", relative to their means")]
    assert [title.partition(", model and measured")[2] for title in titles] == [f"{remark} [m]" for remark in remarks]
    whole, lost = (loaded.plots[title].curves[1].y for title in titles[::2])
    within = (loaded.times > 0.31) & (loaded.times < 0.59)
    assert np.isfinite(whole[within]).all()
    assert np.isnan(lost[within]).all()
    assert np.isfinite(lost[(loaded.times < 0.29) | np.isin(loaded.times, table["time"][table["time"] > 0.6])]).all()
    assert main(["report", "saved", "--record", "two.toml", "--out", "page.html"]) == 0
    assert pd.read_csv("page-record.csv")["record"].tolist() == [1, 1, 2, 2]
    (_, sway, *charts) = RecordComparison.of(own, "two.toml").section().blocks
    assert {row[sway.headings.index("record")] for row in sway.rows} == {"1", "2"}
    for chart, title, remark in zip(charts, titles, remarks, strict=True):
        assert chart.caption == f"Measured and modelled: {title.partition(', model and measured')[0]}{remark}."


@refuses(
    ("a.csv", "time,height\n0,1\n1,2\n", r"none of its columns \(height\) has the name of a run's column"),
    ("a.csv", "time,com_ap [N]\n0,1\n0.5,2\n", "com_ap: its unit is N: it must be m: give a column"),
    ("a.csv", "time,com_ap\n7,1\n8,2\n", "com_ap has only 0 values from"),
    ("a.toml", "x = 1\n", "record"),
    ("a.docx", "", "a record must be one of .csv"),
)
def test_what_cannot_stand_beside_it_is_told(own, file, text):
    Path(file).write_text(text, encoding="utf-8")
    paired_columns(own, file)


def test_what_was_measured_is_not_written_over(own, refusal):
    own.save("saved")
    Path("own.csv").rename("page-record.csv")
    kept = Path("page-record.csv").read_bytes()
    told = refusal("report", "saved", "--record", "page-record.csv", "--out", "page.html")
    assert "would be overwritten" in told
    assert Path("page-record.csv").read_bytes() == kept


@pytest.mark.usefixtures("at_hand")
def test_what_was_made_of_it_is_opened_again():
    ezc3d = pytest.importorskip("ezc3d")
    assert main(["export", "run", "--c3d", "--bids", "--mat"]) == 0
    (file,) = Path("run").glob("*.c3d")
    opened = ezc3d.c3d(str(file), extract_forceplat_data=True)
    rate = opened["parameters"]["POINT"]["RATE"]["value"][0]
    again, run = read_record(file), load_run("run")
    assert again.rate == pytest.approx(rate)
    assert len(again.time) == opened["data"]["points"].shape[2]
    assert again.time[-1] == pytest.approx(run.frame["time"].iloc[-1], abs=1.0 / rate)
    assert list(Path("run/bids").rglob("*_motion.tsv"))


@pytest.mark.usefixtures("at_hand")
def test_the_same_record_as_c3d_moves_the_floor_alike():
    """Markers in millimetres: what a C3D file holds is a float of 32 bits, 2⁻²⁴ of the greatest number."""
    ezc3d = pytest.importorskip("ezc3d")
    record, file = read_record("subject.csv"), ezc3d.c3d()
    for name, value in {"UNITS": ["mm"], "RATE": [100.0], "LABELS": ("platform",)}.items():
        file["parameters"]["POINT"][name]["value"] = value
    points = np.zeros((4, 1, len(record.time)))
    points[0, 0] = 1e3 * record["platform"]
    points[3, 0] = 1.0
    file["data"]["points"] = points
    file.write("subject.c3d")
    given = read_config("subject.toml").table("set").changes(experiment_named("balance").driven_by("postural"))
    moved = {}
    for name, column in {"subject.csv": "platform", "subject.c3d": "platform_x"}.items():
        changes = given | {"platform.file": name, "platform.column": column}
        (floor,) = experiment_named("balance").driven_by("postural").build(changes).disturbances
        moved[name] = np.array([floor.at(time)[0] for time in record.time])
    # ‖h‖₁² < 2 for Butterworth's second order, there and back; and as much again for the baseline
    np.testing.assert_allclose(moved["subject.c3d"], moved["subject.csv"], atol=4.0 * 0.6 * 2.0**-24)
