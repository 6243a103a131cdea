"""Tables in text files: separators of columns, names and units, and invalid contents."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from biped.errors import InputError
from biped.records import read_record
from biped.records.units import factor_between, is_unit
from tests.refusals import refuses


@pytest.fixture
def file(tmp_path):
    def write(text, end=".txt"):
        (tmp_path / f"a{end}").write_text(text, encoding="utf-8")
        return tmp_path / f"a{end}"

    return write


@pytest.mark.parametrize("text", [
    "Time[s]\tcom[mm]\n0\t1\n0.5\t2\n", "# made up\ntime\tcom\ns\tmm\n0\t1\n0.5\t2\n",
    "made by a plate\nsampled at, 2\n\nt (ms);com [mm]\n0;1\n500;2\n", "# a comment\n# time com[mm]\n0 1\n0.5 2\n",
    "% time, com [mm]\n0, 1\n0.5, 2\n", "time [s]   com [mm]\n  0,0     1,0\n  0,5     2,0\n",
    "Patient: A B\n  time   com\n   s      mm\n  0.0    1.0\n  0.5    2.0\n",
    "time;com;force\n[s];[mm];[%BW]\n0;1;9\n0,5;2;9\n", "TIME_ms,com [millimeters],word\n0,1,go\n500,2,\n",
    '"time","com (mm)",\n"0","1",\n"0.5","2",\n',
])  # fmt: skip
def test_tables(file, text):
    record = read_record(file(text))
    assert record.time.tolist() == [0.0, 0.5]
    assert record["com"] == pytest.approx([1e-3, 2e-3])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("0 1\n0.5 2\n", {"time": "column1", "units": {"column2": "mm"}}), ("right knee [mm]\n1\n2\n", {"rate": 2.0}),
        ("1\n2\n", {"rate": 2.0, "units": {"column1": "mm"}}), ("a,com [mm]\nx,1\ny,2\n", {"rate": 2.0}),
        ("a,b\n1,2\n\ncom [mm],clock [ms]\n1,0\n2,500\n", {"heading": 4, "time": "clock"}),
        ("1,2\n0,1\n0.5,2\n", {"heading": 1, "time": "1", "units": {"2": "mm"}}),
    ],
)  # fmt: skip
def test_what_the_options_say(file, text, options):
    record = read_record(file(text), **options)
    assert record.time.tolist() == [0.0, 0.5]
    assert list(record.columns.values())[-1] == pytest.approx([1e-3, 2e-3])


def test_one_column_never_blocks_another(file):
    record = read_record(file("time,x [mm],acc [G],load [%BW],word,y,y\n0,1,1,1,a,1,2\n1,2,1,1,3,1,2\n", ".csv"))
    assert record["x"] == pytest.approx([1e-3, 2e-3])
    assert record["y#2"].tolist() == [2.0, 2.0]
    for name, why in {
        "acc": "G may be gauss",
        "load": "unknown unit '%BW'",
        "word": "'a' is no",
        "y": "two columns",
    }.items():
        with pytest.raises(InputError, match=f"column {name}: .*{why}"):
            record[name]
    told = " ".join(record.notes)
    assert all(word in told for word in ("x: converted from mm to m", "acc: not read", "y#1", "seconds are assumed"))


def test_notes_are_logged_once(file, caplog):
    for _ in range(2):
        read_record(file("t,x [mm]\n0,1\n0.5,2\n"))
    told = [record.getMessage().rpartition(": ")[2] for record in caplog.records]
    assert told == ["t is used as the time", "converted from mm to m"]


def test_no_units():
    assert not any(map(is_unit, ("G", "%BW", "NM", "°C", "x", "Fx", "time")))
    with pytest.raises(InputError, match="its unit is %: it must be m"):
        factor_between("%", "m")


@refuses(
    ("time;x\n0.0;1,250\n0.5;2,500\n", "'1,250' may be thousands or a fraction"),
    ("time;x\n0,0;250\n0,5;2.500\n", "'2.500' may be thousands or a fraction"),
    ("time,x\n0,1\n0.5,2\n1,-999.00\n1.5,2\n", "line 4, column x: '-999.00' is far from all others"),
    ("time,x\n0,1\n0.5,2\n1,9.999999E+06\n1.5,2\n", "'9.999999E\\+06' is far from all others"),
)
def test_numbers_that_may_mean_something_else(file, text):
    read_record(file(text))["x"]


@pytest.mark.parametrize("cells", ["-999,-998,-500,3", "9999,9999,9999,0", "0.999,0.1,0.2,0.3", "1.250,2.5,1.0,0.0"])
def test_numbers_that_are_what_they_are(file, cells):
    rows = "".join(f"{k},{cell}\n" for k, cell in enumerate(cells.split(",")))
    assert read_record(file("time,x\n" + rows))["x"].tolist() == [float(cell) for cell in cells.split(",")]


def test_a_time_by_another_name_with_its_unit(file):
    assert read_record(file("clock_ms,x\n0,1\n500,2\n"), time="clock_ms").time.tolist() == [0.0, 0.5]


def test_units_in_other_spellings():
    assert factor_between("Mm", "m") == pytest.approx(1e-3)
    assert factor_between("Kg", "kg") == pytest.approx(1.0)
    assert not any(map(is_unit, ("kgm2", "mmN", "degm")))  # no factor of them is dropped


FILES = Path(__file__).parent / "files"
TIME = np.arange(21) / 100.0
#: Of sums and products of two numbers or three, each rounded once.
ROUNDING = 4.0 * np.finfo(float).eps


@pytest.mark.parametrize(
    ("name", "columns", "units"),
    [
        ("opensim.mot", {"knee_angle_r": 10.0 + 20.0 * TIME, "pelvis_tx": 0.1 * TIME}, ["deg", "m"]),
        (
            "opensim.sto",
            {"ground_force_1_vy": 700.0 + TIME, "ground_force_1_px": 0.1 * TIME, "ground_torque_1_y": 2.0 * TIME},
            ["N", "m", "N·m"],
        ),
        (
            "opensim.trc",
            {
                **{f"C7_{axis}": np.where(np.arange(21) == 5, np.nan, place)
                   for axis, place in zip("xyz", (TIME, 2e-3, 3e-3), strict=True)},
                "SACR_x": np.full(21, 4e-3), "SACR_y": 1.5 + 0.1 * TIME, "SACR_z": np.full(21, 6e-3),
            },
            ["m"] * 6,
        ),
        ("octave.mat", {"com_x": 0.01 * TIME, "com_y": 2e-3 * TIME, "com_z": 0.95 + 1e-3 * TIME}, ["m"] * 3),
    ],
)  # fmt: skip
def test_what_was_written_is_read_in_si_units(name, columns, units):
    record = read_record(FILES / name)
    assert record.time == pytest.approx(TIME, abs=ROUNDING)
    assert record.rate == pytest.approx(100.0)
    assert record.units == dict(zip(columns, units, strict=True))
    for column, values in columns.items():
        assert record[column] == pytest.approx(values, rel=ROUNDING, abs=ROUNDING, nan_ok=True), column


def test_orientations_of_inertial_sensors():
    record = read_record(FILES / "orientations.sto")
    assert list(record.columns) == [f"pelvis_imu_{part}" for part in "wxyz"]
    for column, values in zip("wxyz", (np.cos(TIME / 2.0), np.sin(TIME / 2.0), 0.0, 0.0), strict=True):
        assert record[f"pelvis_imu_{column}"] == pytest.approx(values, abs=ROUNDING)
    assert set(record.units.values()) == {""}


def test_a_vector_of_matlab():
    record = read_record(FILES / "matlab.mat", rate=4.0, units={"testdouble": "rad"})
    assert record["testdouble"] == pytest.approx(np.arange(9) * np.pi / 4.0, rel=ROUNDING)
    assert record.units == {"testdouble": "rad"}


def test_a_column_of_a_matrix_may_have_a_unit_of_its_own(tmp_path):
    from scipy.io import savemat

    units = {"com": "mm", "com_z": "cm"}
    savemat(tmp_path / "a.mat", {"fs": 100.0, "com": np.ones((4, 3)), "units": units})
    record = read_record(tmp_path / "a.mat")
    assert [record[f"com_{axis}"][0] for axis in "xyz"] == pytest.approx([1e-3, 1e-3, 1e-2], rel=ROUNDING)


def test_a_table_of_pandas_as_a_german_spreadsheet_has_it(tmp_path):
    table = pd.DataFrame({"time": TIME, "cop_ap [mm]": 10.0 * TIME, "Fz [N]": 700.0 + TIME})
    table.loc[5, "cop_ap [mm]"] = np.nan
    table.to_csv(tmp_path / "a.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    record = read_record(tmp_path / "a.csv")
    assert record.time == pytest.approx(TIME, abs=ROUNDING)
    assert record["Fz"] == pytest.approx(700.0 + TIME, rel=ROUNDING)
    assert np.flatnonzero(np.isnan(record["cop_ap"])).tolist() == [5]
    assert record["cop_ap"][6] == pytest.approx(6e-4, rel=ROUNDING)
    assert record.units == {"cop_ap": "m", "Fz": "N"}


def test_of_rows_at_one_time_which_opensims_tools_write_at_the_end_the_last_one_stands(tmp_path):
    path = tmp_path / "a.sto"
    path.write_text("a\ninDegrees=no\nendheader\ntime\tx\n2.498\t1\n2.499\t2\n2.499\t3\n", encoding="utf-8")
    record = read_record(path)
    assert record.time == pytest.approx([2.498, 2.499])
    assert record["x"].tolist() == [1.0, 3.0]


def test_columns_without_a_name_which_spreadsheets_leave_at_the_end_are_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("time,x,,\n0,1,,\n1,2,,\n", encoding="utf-8")
    assert list(read_record(path).columns) == ["x"]


def test_what_stands_above_the_names_of_columns_is_skipped_and_told(tmp_path):
    """As written by Vicon Nexus: subject, rate and devices, followed by the names and their units."""
    path = tmp_path / "a.csv"
    text = "Devices,,,\n1000,,,\n,,Plate,\nFrame,Sub Frame,Fx,Fy\n,,N,kN\n1,0,1,2\n1,1,1,2\n"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="no column 'time'; columns are Frame, Sub Frame, Fx, Fy; name .* with 'rate'"):
        read_record(path)
    record = read_record(path, rate=1000.0)
    assert record["Fy"].tolist() == [2000.0, 2000.0]
    assert "the heading is line 4: lines above it are skipped" in record.notes
    path.write_text(f"{text}\nTrajectories\n100\n,,C7\nFrame,Sub Frame,X\n1,0,1\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 9: 1 cells, but the heading has 4.*set 'heading' to the number"):
        read_record(path, rate=1000.0)
