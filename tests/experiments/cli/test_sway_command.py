"""``biped sway`` measures files as the functions measure arrays, and its table is one for ``biped statistics``."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biped.metrics import diffusion_curve, diffusion_measures, mean_power_frequency, sway_density, sway_measures
from biped.signals.filters import low_passed
from experiments.cli import main

RATE = 50
TIMES = np.arange(1, 1251) / RATE


def sway_of(seed):
    """AP and ML [cm] of a made-up person, 8 cm behind the plate's centre."""
    rng, points = np.random.default_rng(seed), np.zeros((2, len(TIMES)))
    for k in range(1, len(TIMES)):
        points[:, k] = 0.97 * points[:, k - 1] + rng.normal(0.0, 0.04, 2)
    return points + np.array([[-8.0], [1.0]])


def write(name, seed, **columns):
    """A file as laboratories publish them: tabs, units behind the headings, a first time that is not zero."""
    ap, ml = sway_of(seed)
    fx = -1.7 + 0.5 * np.sin(TIMES)  # of a plate that was not zeroed: it never passes zero
    columns = {"Time[s]": TIMES, "Fx[N]": fx, "COPx[cm]": ap, "COPy[cm]": ml} | columns
    pd.DataFrame(columns).to_csv(name, sep="\t", index=False, float_format="%.6f")
    return 0.01 * np.round([ap, ml], 6)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


AXES = ["--ap", "COPx", "--ml", "COPy"]


def test_a_row_has_the_measures_of_its_file(capsys):
    written = [write(f"T{k}.txt", k) for k in range(2)]
    assert main(["sway", "T0.txt", "T1.txt", *AXES, "--json", "--out", "found/sway.parquet"]) == 0
    rows = json.loads(capsys.readouterr().out)["trials"]
    table = pd.read_parquet("found/sway.parquet")
    for k, places in enumerate(written):
        expected = sway_measures(TIMES, *places) | mean_power_frequency(TIMES, *places)
        expected |= sway_density(TIMES, *places) | diffusion_measures(diffusion_curve(TIMES, *places))
        assert {*expected, "file", "duration", "rate"} == set(rows[k])
        for name, value in expected.items():
            assert rows[k][name] == pytest.approx(value, rel=1e-6), name
        assert (rows[k]["file"], rows[k]["rate"]) == (f"T{k}.txt", pytest.approx(RATE))
    assert table["mean_velocity"].tolist() == pytest.approx([row["mean_velocity"] for row in rows])


def test_the_record_is_prepared_as_said(capsys):
    filtered = low_passed(TIMES, write("T.txt", 1).T, 5.0)
    assert main(["sway", "T.txt", *AXES, "--filter", "5", "--begin", "2", "--end", "24", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["trials"][0]
    within = (TIMES >= 2.0) & (TIMES <= 24.0)
    assert found["duration"] == pytest.approx(22.0)
    for name, value in sway_measures(TIMES[within], *filtered[within].T).items():
        assert found[name] == pytest.approx(value, rel=1e-6), name


def test_forces_and_moments_of_a_plate_are_its_centre_of_pressure(capsys):
    """About an origin 4 cm below the surface; the moments of a force there are r × F."""
    ap, ml = 0.01 * sway_of(3)
    fx, fy, fz = -1.7 + 0.5 * np.sin(TIMES), 0.3 * np.cos(TIMES), 540.0 + np.sin(TIMES)
    moments = np.cross(np.column_stack([ap, ml, np.full_like(ap, 0.04)]), np.column_stack([fx, fy, fz])).T
    columns = {"Time[s]": TIMES, "fx[N]": fx, "fy[N]": fy, "fz": fz}
    columns |= {f"m{axis}[Nm]": moment for axis, moment in zip("xyz", moments, strict=True)}
    pd.DataFrame(columns).to_csv("plate.csv", index=False)
    words = ["sway", "plate.csv", "--plate", *["fx", "fy", "fz", "mx", "my", "mz"], "--ap", "cop_x", "--ml", "cop_y"]
    assert main([*words, "--surface", "0.04", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert "fz has no unit: SI units are assumed; give its unit with --units" in told["notes"]
    for name, value in sway_measures(TIMES, ap, ml).items():
        assert told["trials"][0][name] == pytest.approx(value, rel=1e-6), name


@pytest.mark.parametrize(("named", "key"), [("{}", []), ("data/{}.txt", ["--key", "Trial"])])
def test_metadata_stand_beside_and_groups_are_compared(named, key, capsys):
    for k in range(8):
        write(f"B{k}.txt", k)
    info = pd.DataFrame({"Age": 30, "Trial": [named.format(f"B{k}") for k in (*range(8), 99)]})
    info["Subject"], info["Vision"] = np.arange(9) // 2, np.where(np.arange(9) % 2, "Open", "Closed")
    info.to_csv("info.txt", sep="\t", index=False)
    files = [f"B{k}.txt" for k in range(8)]
    assert main(["sway", *files, *AXES, "--groups", "info.txt", *key, "--out", "sway.csv", "-q"]) == 0
    table = pd.read_csv("sway.csv")
    assert table["Vision"].tolist() == ["Closed", "Open"] * 4
    words = ["--metric", "mean_velocity", "--within", "Vision", "--subject", "Subject", "--no-mixed", "--json"]
    assert main(["statistics", "sway.csv", *words]) == 0
    found = json.loads(capsys.readouterr().out)["differences"][0]
    means = table.groupby("Vision")["mean_velocity"].mean()
    assert found["difference"] == pytest.approx(means["Open"] - means["Closed"])


def test_one_file_that_fails_leaves_the_others(capsys):
    write("good.txt", 1)
    Path("bad.txt").write_text("Time[s]\tCOPx[cm]\tCOPy[cm]\n0.0\t1.0\tx\n", encoding="utf-8")
    holed = sway_of(2)[0]
    holed[500:520] = np.nan
    write("holed.txt", 2, **{"COPx[cm]": holed})
    files = ["bad.txt", "good.txt", "gone.txt", "holed.txt"]
    assert main(["sway", *files, *AXES]) == 1
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert [next(name for name in files if name in line) for line in lines] == ["bad.txt", "gone.txt", "holed.txt"]
    assert "set gaps to that length or more" in lines[2]
    assert pd.read_csv("results/sway.csv")["file"].tolist() == ["good.txt"]
    assert "results/sway.csv: 1 files" in told.out
    assert main(["sway", "holed.txt", *AXES, "--gaps", "0.5"]) == 0
    assert main(["sway", "bad.txt", *AXES]) == 2


def test_what_is_assumed_and_what_is_missing_is_told(capsys):
    ap, ml = 0.01 * sway_of(4)[:, :500]
    pd.DataFrame({"x": ap, "y": ml}).to_csv("short.csv", index=False)
    assert main(["sway", "short.csv", "--ap", "x", "--ml", "y", "--rate", str(RATE)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    for words in ("x has no unit: SI units are assumed", "no measures of the spectrum", "no diffusion"):
        assert words in told
    line = pd.DataFrame({"cop_ap [mm]": TIMES, "cop_ml [mm]": 2.0 * TIMES})  # it never turns back: one line
    line.to_csv("line.csv", index=False)
    assert main(["sway", "line.csv", "--rate", "50", "--json"]) == 0
    converted, note = json.loads(capsys.readouterr().out)["notes"]
    assert "converted from mm to m" in converted
    assert note.startswith("no critical_time, critical_time_ap, critical_time_ml: there is no critical point between")
    line[:2].to_csv("two.csv", index=False)
    assert main(["sway", "two.csv", "--rate", "50"]) == 2
    assert "two.csv: the record has only 2 samples" in capsys.readouterr().err


def test_missing_rows_are_refused_until_they_are_filled(capsys):
    ap, ml = sway_of(5)
    whole = pd.DataFrame({"time": TIMES, "cop_ap [m]": 0.01 * ap, "cop_ml [m]": 0.01 * ml})
    whole.drop(index=range(100, 110)).to_csv("holed.csv", index=False)
    assert main(["sway", "holed.csv"]) == 2
    assert "holed.csv: rows are missing after" in capsys.readouterr().err
    fill = ["--gaps", "0.3", "--filter", "10", "--resample", str(RATE)]
    assert main(["sway", "holed.csv", *fill]) == 0
    assert main(["sway", "holed.csv", "--begin", str(TIMES[120])]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ap", "COPz", "--ml", "COPy"], "no column 'COPz'; columns are Fx, COPx, COPy: name the centre of pressure"),
        ([*AXES, "--units", "COPx"], "--units: 'COPx': it must list columns and units"),
        ([*AXES, "--plate", "fx", "fy", "fz"], "expected 6 arguments"),
        ([*AXES, "--out", "sway.xlsx"], "must end in .csv or .parquet"),
        ([*AXES, "--groups", "info.csv"], "info.csv: no column has file names, such as T"),
        ([*AXES, "--groups", "info.csv", "--key", "who"], "T.txt: 0 rows of the --groups table"),
        ([*AXES, "--groups", "info.csv", "--key", "whom"], "did you mean 'who'"),
        ([*AXES, "--groups", "twice.csv"], "T.txt: 2 rows of the --groups table"),
        ([*AXES, "--groups", "named.csv"], "rename the columns of --groups that have names of results: area"),
        (["--ap", "u", "--ml", "u", "--rate", "50"], "leave out 'rate'"),
        (["--ap", "u", "--ml", "u"], "column u: as metres, its values would range over"),
        (["--ap", "COPx", "--ml", "COPx"], "they must name two columns"),
    ],
)
def test_bad_input_is_told(words, said, refusal):
    write("T.txt", 1, **({"u": sway_of(1)[0]} if "u" in words else {}))
    Path("info.csv").write_text("who,age\nAnn,30\n", encoding="utf-8")
    Path("twice.csv").write_text("file,age\nT,30\nT.txt,30\n", encoding="utf-8")
    Path("named.csv").write_text("trial,area\nT,30\n", encoding="utf-8")
    assert said in refusal("sway", "T.txt", *words)
