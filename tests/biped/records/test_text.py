"""Tables in text files: what divides columns, where their names and units are, and what is in the way."""

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
        "load": "no unit '%BW'",
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
    assert told == ["t is taken for the time", "converted from mm to m"]


def test_no_units():
    assert not any(map(is_unit, ("G", "%BW", "NM", "°C", "x", "Fx", "time")))
    with pytest.raises(InputError, match="it is in %, and has to be in m"):
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
