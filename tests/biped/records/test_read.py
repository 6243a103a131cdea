"""Records from files, written by the formats' own tools or according to their descriptions."""

import re

import numpy as np
import pytest

from biped.errors import InputError
from biped.records import read_record
from biped.records.units import factor_between, unit_of
from tests.refusals import refuses

TIME = np.arange(40) / 100.0
SWAY = 0.01 * np.sin(7.0 * TIME)


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(("text", "factor", "name"), [
    ("mm", 1e-3, "m"), ("ms", 1e-3, "s"), ("N*mm", 1e-3, "N·m"), ("Nmm", 1e-3, "N·m"), ("deg/s", 1.0, "deg/s"),
    ("°", 1.0, "deg"), ("cm/s^2", 1e-2, "m/s²"), ("cm²", 1e-4, "m²"), ("cm**2", 1e-4, "m²"), ("kN", 1e3, "N"),
    ("g", 1e-3, "kg"), ("lbf", 4.4482216152605, "N"), ("inches", 0.0254, "m"), ("N.mm", 1e-3, "N·m"),
    ("Newton-meters", 1.0, "N·m"), ("microvolts", 1e-6, "V"), ("bpm", 1.0 / 60.0, "Hz"), ("gn", 9.80665, "m/s²"),
    ("m s^-2", 1.0, "m/s²"), ("Degrees/sec", 1.0, "deg/s"), ("%", 1.0, "%"), ("-", 1.0, ""),
])  # fmt: skip
def test_units(text, factor, name):
    unit = unit_of(text)
    assert unit.factor == pytest.approx(factor, rel=1e-15)
    assert unit.name == name


def test_between_units():
    assert factor_between("deg/s", "rad/s") == pytest.approx(np.pi / 180.0, rel=1e-15)
    assert factor_between("m", "mm") == pytest.approx(1e3, rel=1e-15)
    with pytest.raises(InputError, match="its unit is N: it must be m"):
        factor_between("N", "m")


def test_a_spreadsheets_record(tmp_path):
    text = "\ufefft [ms];com_ap [mm];tilt (deg);Fz (N);event\n0;1,5;0,1;700;go\n10;;0,2;701,5;\n20;2,5;0,3;702;\n\n"
    record = read_record(written(tmp_path / "a.csv", text))
    assert record.time == pytest.approx([0.0, 0.01, 0.02])
    assert record["com_ap"] == pytest.approx([1.5e-3, np.nan, 2.5e-3], nan_ok=True)
    assert record.units == {"com_ap": "m", "tilt": "deg", "Fz": "N"}
    assert record.converted("tilt", "rad") == pytest.approx(np.radians([0.1, 0.2, 0.3]))
    assert record.rate == pytest.approx(100.0)


def test_a_rate_instead_of_times(tmp_path):
    path = written(tmp_path / "a.csv", "x\n1\n2\n3\n")
    record = read_record(path, rate=50.0, units={"x": "mm"})
    assert record.time == pytest.approx([0.0, 0.02, 0.04])
    assert record["x"] == pytest.approx([1e-3, 2e-3, 3e-3])


@refuses(
    ("x\n1\n2\n", {}, "no column 'time'; columns are x; name the column of times with 'time'"),
    ("time,x\n0,1\n1,2\n", {"rate": 100.0}, "has a column 'time': leave out 'rate'"),
    ("x\n1\n2\n", {"rate": -1.0}, "it must be above zero"),
    ("time,x [furlong]\n0,1\n1,2\n", {}, "column x: unknown unit 'furlong': use a unit such as mm"),
    (
        "time,x\n0,1\n1,2\n",
        {"units": {"y": "mm"}},
        "a unit is given for 'y', but there is no such column; columns are time, x",
    ),
    ("time [mm],x\n0,1\n1,2\n", {}, "time is in mm: it must be in s, ms or min"),
    ("time,x\n0,0,1\n", {}, "line 2: 3 cells, but the heading has 2: with decimal commas"),
    ("time,x\n0,1\n1,a\n", {}, "line 3, column x: 'a' is not a number"),
    ("time;x\n0;1.234,5\n1;2\n", {}, "line 2, column x: '1.234,5' is not a number.*no separators of thousands"),
    ("time,x\n0,1\n1,inf\n", {}, "line 3, column x: 'inf' is not a number"),
    ("time,x\n0,1\n,2\n", {}, "time is missing in row 2"),
    ("time,x\n0,1\n0,2\n", {}, "time must ascend"),
    ("time,x\n0,1\n", {}, "two rows or more"),
    ("time,x,x\n0,1,2\n", {}, "two columns are named 'x'"),
    ("", {}, "the file is empty"),
    ("time,x,y\n0,1,5\n1,2\n2,3,4\n", {}, "line 3: 2 cells, but the heading has 3: write missing values"),
    ("time,x\n0,1,5\n1,2\n2,3\n", {}, "line 2: 3 cells, but the heading has 2"),
    ("0 1\n1 2\n", {}, "no column 'time'; columns are column1, column2; name the column of times with 'time'"),
    ("time,x\n10:00,1\n10:01,2\n", {}, "line 2, column time: '10:00' is not a number.*or give the rate"),
    ("a,x\n0,1\n1,2\n", {"time": "b", "rate": 1.0}, "no column 'b'"),
    ("time,x\n0,1\n1,2\n", {"heading": 9}, "heading = 9: it must be a non-empty line of the file"),
)
def test_what_is_wrong_is_told_with_its_remedy(tmp_path, text, options):
    read_record(written(tmp_path / "a.csv", text), **options)


def test_a_gap_and_a_wrong_unit_are_told_where_a_signal_is_asked_for(tmp_path):
    record = read_record(written(tmp_path / "a.csv", "time,x [N]\n0,1\n1,\n2,2\n3,1\n"))
    with pytest.raises(InputError, match=r"column x: a gap of 2 s after 0 s"):
        record.signal("x")
    with pytest.raises(InputError, match="its unit is N: it must be m: give a column"):
        record.signal("x", unit="m")


def test_a_format_that_is_not_known(tmp_path):
    with pytest.raises(InputError, match=re.escape("must be one of .csv, .tsv")):
        read_record(written(tmp_path / "a.xyz", ""))
    with pytest.raises(OSError, match="nowhere"):
        read_record(tmp_path / "nowhere.mat")


def test_matlab(tmp_path):
    from scipy.io import savemat

    savemat(tmp_path / "a.mat", {"data": {"time": TIME, "com": np.outer(SWAY, [1.0, 2.0, 3.0]), "units": {"com": "m"}}})
    record = read_record(tmp_path / "a.mat")
    assert record["com_y"] == pytest.approx(2.0 * SWAY)
    savemat(tmp_path / "b.mat", {"fs": 100.0, "cop_ap": 1e3 * SWAY, "who": "S7", "units": {"cop_ap": "mm"}})
    record = read_record(tmp_path / "b.mat")
    assert "not read: who" in record.notes[0]
    assert record.time == pytest.approx(TIME)
    assert record["cop_ap"] == pytest.approx(SWAY)
    savemat(tmp_path / "c.mat", {"time": TIME, "force": np.ones(400)})
    with pytest.raises(InputError, match="differ in length .time 40, force 400"):
        read_record(tmp_path / "c.mat")


#: What a Kaiser window of β = 5 leaves of a stop band and takes from a pass band: A = β / 0.1102 + 8.7 dB, less one
#: decibel, for the formula is fitted (Oppenheim and Schafer, Discrete-Time Signal Processing, 7.6).
RIPPLE = 10.0 ** (-(5.0 / 0.1102 + 8.7 - 1.0) / 20.0)
SINGLE = 2.0**-24  # the format's floats, of the greatest numbers that go into a column


def c3d_with_a_plate(path, force, place):
    """Return a point at 100 Hz, missing in frame 5, and a type 2 plate at 1 kHz, loaded at ``place`` [mm] along x."""
    import ezc3d

    file = ezc3d.c3d()
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file["parameters"]["POINT"]["RATE"]["value"] = [100.0]
    file["parameters"]["POINT"]["LABELS"]["value"] = ("C7",)
    points = np.ones((4, 1, len(TIME)))
    points[0, 0] = 1e3 * SWAY
    points[0:3, 0, 5] = np.nan
    file["data"]["points"] = points
    channels = np.zeros((1, 6, len(force)))
    channels[0, 2], channels[0, 4] = force, -force * place  # of a plate: CoP_x = −M_y / F_z
    file["data"]["analogs"] = channels
    analog = file["parameters"]["ANALOG"]
    analog["RATE"]["value"] = [1000.0]
    analog["LABELS"]["value"] = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")
    analog["UNITS"]["value"] = ("N", "N", "N", "Nmm", "Nmm", "Nmm")
    for name, value in {
        "TYPE": [2],
        "CORNERS": np.array([[500.0, 500, 0], [0, 500, 0], [0, 0, 0], [500, 0, 0]]).T[:, :, None],
        "ORIGIN": np.zeros((3, 1)),
        "CHANNEL": np.arange(1, 7)[:, None],
    }.items():
        file["parameters"]["FORCE_PLATFORM"][name]["value"] = value
    file["parameters"]["FORCE_PLATFORM"]["USED"]["value"] = [1]
    file.write(str(path))
    return path


LATE = np.arange(10 * len(TIME)) / 1000.0


def test_c3d_with_a_force_plate(tmp_path):
    pytest.importorskip("ezc3d")
    force = 700.0 + LATE
    record = read_record(c3d_with_a_plate(tmp_path / "a.c3d", force, 2000.0 / force))
    assert record.time == pytest.approx(TIME)
    seen = np.arange(len(TIME)) != 5
    assert record["C7_x"][seen] == pytest.approx(SWAY[seen], abs=0.01 * SINGLE)
    assert np.isnan(record["C7_x"][5])
    assert record["Fz"] == pytest.approx(force[::10], rel=4.0 * SINGLE)
    assert record["My"] == pytest.approx(-2.0, rel=4.0 * SINGLE)
    assert record["plate1_cop_x"] == pytest.approx(0.25 + 2.0 / force[::10], abs=8.0 * SINGLE)
    assert record["cop_x"] == pytest.approx(record["plate1_cop_x"], abs=1e-12)
    assert record.units["plate1_fz"] == "N"


@pytest.mark.parametrize(("frequency", "passes"), [(10.0, True), (40.0, True), (60.0, False), (93.0, False)])
def test_what_is_faster_than_half_the_points_rate_does_not_alias(tmp_path, frequency, passes):
    """A tone on a force with a moving position: sampled at the frames alone, 93 Hz would appear as 7 Hz."""
    pytest.importorskip("ezc3d")
    tone = np.cos(2.0 * np.pi * frequency * LATE)
    record = read_record(c3d_with_a_plate(tmp_path / "a.c3d", 700.0 + 100.0 * tone, 20.0 * tone / (7.0 + tone)))
    whole = slice(10, -10)  # where the window, of ten frames to each side, ends within the record
    expected = tone[::10][whole] if passes else 0.0
    near = RIPPLE + 8.0 * SINGLE * 800.0 / 100.0
    assert (record["plate1_fz"][whole] - 700.0) / 100.0 == pytest.approx(expected, abs=near)
    assert (record["Fz"][whole] - 700.0) / 100.0 == pytest.approx(expected, abs=near)
    assert record["My"][whole] / -2.0 == pytest.approx(expected, abs=near)
    pressure = 0.25 + 0.02 * expected / (7.0 + expected)
    assert record["cop_x"][whole] == pytest.approx(pressure, abs=2.0 * 0.02 / 6.0 * near + 8.0 * SINGLE)


def test_a_plate_that_bears_nothing_has_no_centre_of_pressure(tmp_path):
    pytest.importorskip("ezc3d")
    force = np.where(LATE < 0.2, 0.0, 700.0)
    record = read_record(c3d_with_a_plate(tmp_path / "a.c3d", force, np.full(len(LATE), 100.0)))
    assert np.isnan(record["cop_x"]).tolist() == (TIME < 0.195).tolist()
    assert record["cop_x"][20:] == pytest.approx(0.35, abs=8.0 * SINGLE)
