"""Tables in text files: what divides columns, where their names and units are, and what is in the way."""

import numpy as np
import pytest

from biped.errors import InputError
from biped.records import read_record
from biped.records.read import Reading
from biped.records.units import factor_between, is_unit


@pytest.fixture
def file(tmp_path):
    def write(text, end=".txt"):
        (tmp_path / f"a{end}").write_text(text, encoding="utf-8")
        return tmp_path / f"a{end}"

    return write


@pytest.mark.parametrize(
    "text",
    [
        "Time[s]\tcom[mm]\n0\t1\n0.5\t2\n",
        "made by a plate\nsampled at, 2\n\nt (ms);com [mm]\n0;1\n500;2\n",
        "# a comment\n# time com[mm]\n0 1\n0.5 2\n",
        "% time, com [mm]\n0, 1\n0.5, 2\n",
        "time [s]   com [mm]\n  0,0     1,0\n  0,5     2,0\n",
        "Patient: A B\n  time   com\n   s      mm\n  0.0    1.0\n  0.5    2.0\n",
        "time;com;force\n[s];[mm];[%BW]\n0;1;9\n0,5;2;9\n",
        "TIME_ms,com [millimeters],word\n0,1,go\n500,2,\n",
        '"time","com (mm)",\n"0","1",\n"0.5","2",\n',
    ],
)
def test_tables(file, text):
    record = read_record(file(text))
    assert record.time.tolist() == [0.0, 0.5]
    assert record["com"] == pytest.approx([1e-3, 2e-3])


@pytest.mark.parametrize(
    ("text", "options", "column"),
    [
        ("0 1\n0.5 2\n", {"time": "column1", "units": {"column2": "mm"}}, "column2"),
        ("1\n2\n", {"rate": 2.0, "units": {"column1": "mm"}}, "column1"),
        ("right knee [mm]\n1\n2\n", {"rate": 2.0}, "right knee"),
        ("Frame,com [mm]\n1,1\n2,2\n", {"rate": 2.0}, "com"),
        (
            "a,b\n1,2\n\ncom [mm],clock [ms]\n3,4\n1,0\n2,500\n".replace("3,4\n", ""),
            {"heading": 4, "time": "clock"},
            "com",
        ),
        ("1,2\n0,1\n0.5,2\n", {"heading": 1, "time": "1", "units": {"2": "mm"}}, "2"),
        ("0,1\n0.5,2\n", {"heading": 0, "time": "column1", "units": {"column2": "mm"}}, "column2"),
        ("time,com [mm]\n10:00,1\n10:01,2\n", {"rate": 2.0}, "com"),
    ],
)
def test_what_the_options_say(file, text, options, column):
    record = read_record(file(text), **options)
    assert record.time.tolist() == [0.0, 0.5]
    assert record[column] == pytest.approx([1e-3, 2e-3])


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("time,x,y\n0,1,5\n1,2\n2,3,4\n", {}, "line 3: 2 cells, the heading has 3: write what is missing"),
        ("time,x\n0,1,5\n1,2\n2,3\n", {}, "line 2: 3 cells, the heading has 2"),
        ("time,x\n0,1\n1,2\nend\n", {}, "line 4: 1 cells"),
        ("0 1\n1 2\n", {}, "no column 'time'; columns are column1, column2; name the column of times"),
        ("time,x\n10:00,1\n10:01,2\n", {}, "line 2, column time: '10:00' is no number.*or say the rate"),
        ("a,x\n0,1\n1,2\n", {"time": "b", "rate": 1.0}, "no column 'b'"),
        ("time,x\n0,1\n1,2\n", {"heading": 9}, "heading = 9: it must be a line of the file"),
    ],
)
def test_what_is_in_the_way(file, text, options, words):
    with pytest.raises(InputError, match=words):
        read_record(file(text), **options)


def test_one_column_never_blocks_another(file):
    record = read_record(file("time,x [mm],acc [G],load [%BW],word,y,y\n0,1,1,1,a,1,2\n1,2,1,1,3,1,2\n", ".csv"))
    assert record["x"] == pytest.approx([1e-3, 2e-3])
    assert record["y#2"].tolist() == [2.0, 2.0]
    reasons = {
        "acc": "G may be gauss or gravity",
        "load": "no unit '%BW'",
        "word": "'a' is no number",
        "y": "two columns",
    }
    for name, why in reasons.items():
        with pytest.raises(InputError, match=f"column {name}: .*{why}"):
            record[name]
    told = " ".join(record.notes)
    assert all(
        word in told for word in ("x: converted from mm to m", "acc: not read", "y#1, y#2", "seconds are assumed")
    )


def test_notes_are_logged_once(file, caplog):
    for _ in range(2):
        read_record(file("t,x [mm]\n0,1\n0.5,2\n"))
    assert [record.getMessage().rpartition(": ")[2] for record in caplog.records] == [
        "t is taken for the time", "converted from mm to m",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("units", "time"), [("mm", "time"), ("x=mm", "time"), ("x = mm, time=ms", "time"), ("file", "x")]
)
def test_options_as_parameters(file, units, time):
    record = Reading(time=time, units=units).read(file("time,x\n0,1\n0.5,2\n", ".csv"), "x" if time == "time" else "")
    assert record.time[1] == pytest.approx({"file": 2.0, "x = mm, time=ms": 0.5e-3}.get(units, 0.5))
    assert units == "file" or record["x"] == pytest.approx([1e-3, 2e-3])
    with pytest.raises(InputError, match="units = 'x='"):
        Reading(units="x=").read(file("time,x\n0,1\n1,2\n", ".csv"), "x")


@pytest.mark.parametrize(
    ("unit", "number", "of"),
    [
        ("lbf", 4.4482216152605, "N"), ("in", 0.0254, "m"), ("N.mm", 1e-3, "N*m"), ("Newton-meters", 1.0, "N m"),
        ("Volts", 1e3, "mV"), ("bpm", 1.0 / 60.0, "Hz"), ("µT", 1e-6, "T"), ("gn", 9.80665, "m s^-2"),
        ("rpm", np.pi / 30.0, "rad/s"), ("Degrees/sec", np.pi / 180.0, "rad/s"), ("km/h", 1.0 / 3.6, "m/s"),
    ],
)  # fmt: skip
def test_units_of_laboratories(unit, number, of):
    assert factor_between(unit, of) == pytest.approx(number, rel=1e-14)


def test_no_units():
    assert not any(map(is_unit, ("G", "%BW", "NM", "°C", "x", "Fx", "time")))
    with pytest.raises(InputError, match="it is in %, and has to be in m"):
        factor_between("%", "m")
