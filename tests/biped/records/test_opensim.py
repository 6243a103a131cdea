"""OpenSim's headers, columns and rows, read as by its ``Storage`` and ``TRCFileAdapter``; values by formula."""

import numpy as np
import pytest

from biped.errors import InputError
from biped.records import read_record

ROWS = "time\tknee_angle_r\tpelvis_tx\n0\t10\t1\n0.1\t20\t2\n"
TRC = (
    "PathFileType\t4\t(X/Y/Z)\ta.trc\n"
    "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
    "100\t100\t{frames}\t{markers}\t{unit}\t100\t1\t2\nFrame#\tTime\tR ASIS\t\t\tSACR\t\t\n"
    "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n1\t0\t1\t2\t3\t4\t5\t6\n2\t0.01\t\t\t\t7\t8\t9\n"
)


@pytest.fixture
def read(tmp_path):
    def read_text(text, end=".sto", **options):
        (tmp_path / f"a{end}").write_text(text, encoding="utf-8")
        return read_record(tmp_path / f"a{end}", **options)

    return read_text


@pytest.mark.parametrize(
    "line", ["inDegrees=yes", "inDegrees = Yes", "inDegrees\tY", "inDegrees y", "Angles are in degrees."]
)
def test_degrees(read, line):
    record = read(f"Coordinates\nversion=1\n{line}\nendheader\n{ROWS}", ".mot")
    assert record.converted("knee_angle_r", "rad") == pytest.approx(np.radians([10.0, 20.0]))
    assert record.units["pelvis_tx"] == "m"


@pytest.mark.parametrize(
    ("line", "word"), [("inDegrees = no", ""), ("Angles are in radians.", ""), ("", "radians, as in OpenSim")]
)
def test_radians(read, line, word):
    record = read(f"Coordinates\n{line}\nendheader\n{ROWS}", ".mot")
    assert record.units["knee_angle_r"] == "rad"
    assert word in " ".join(record.notes)
    assert bool(word) == bool(record.notes)


def test_a_header_that_is_neither_yes_nor_no_blocks_angles_alone(read):
    text = f"Coordinates\ninDegrees = perhaps\nendheader\n{ROWS}"
    record = read(text)
    assert record["pelvis_tx"].tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="column knee_angle_r: unknown unit 'inDegrees = perhaps'.*give a unit with"):
        record["knee_angle_r"]
    assert read(text, units={"knee_angle_r": "deg"}).units["knee_angle_r"] == "deg"


@pytest.mark.parametrize(
    ("title", "column", "unit"),
    [
        ("Speeds", "knee_angle_r", "deg/s"), ("Speeds", "pelvis_tx", "m/s"), ("Accelerations", "knee_r", "deg/s²"),
        ("Positions", "pelvis_X", "m"), ("Positions", "pelvis_Ox", "deg"), ("states", "/jointset/k/k/speed", "deg/s"),
        ("states", "/jointset/g/pelvis_tx/speed", "m/s"), ("states", "/forceset/sol/activation", ""),
        ("grf", "1_ground_force_vx", "N"), ("grf", "ground_moment_mx", "N·m"), ("grf", "ground_force_l_px", "m"),
        ("id", "pelvis_tx_force", "N"), ("id", "knee_angle_r_moment", "N·m"),
        ("JointReaction", "ankle_r_on_talus_r_in_ground_fx", "N"),
    ],
)  # fmt: skip
def test_units_of_columns(read, title, column, unit):
    assert read(f"{title}\ninDegrees=yes\nendheader\ntime\t{column}\n0\t1\n0.1\t2\n").units == {column: unit}


@pytest.mark.parametrize(("heading", "rows"), [
    ("      time\t   ground_force_vx\t   ground_force_vy", "  0.0\t  1.0\t 700.0\n  0.1\t  2.0\t 700.0"),
    ("time ground_force_vx   ground_force_vy", "0 1 700\n0.1 2 700"),
    ("time\tground_force_vx\tground_force_vy", "0 1 700\n0.1 2 700"),
    ("time  ground_force_vx ground_force_vy", "0\t1\t700\t\n0.1\t2\t700\t"),
])  # fmt: skip
def test_heading_and_rows_are_divided_alike(read, heading, rows):
    record = read(f"name a\ndatacolumns 3\ndatarows 2\nendheader\n\n{heading}\n{rows}\n", ".mot")
    assert record["ground_force_vx"].tolist() == [1.0, 2.0]
    assert record["ground_force_vy"].tolist() == [700.0, 700.0]
    assert not record.notes


@pytest.mark.parametrize("row", ["0.2\t3", "0.2\t3\t4\t5"])
def test_a_row_of_another_length_is_refused(read, row):
    with pytest.raises(InputError, match=rf"line 7: {len(row.split())} cells, but the heading has 3"):
        read(f"a\ninDegrees=no\nendheader\n{ROWS}{row}\n")
    with pytest.raises(InputError, match="no line endheader"):
        read(ROWS)


def test_counts_of_the_header(read):
    for count in ("nRows=500", "nRows = 500", "nr 500"):
        with pytest.raises(InputError, match="= 500, and there are 2 rows: the copy is incomplete"):
            read(f"a\n{count}\nendheader\n{ROWS}")
    for count in ("datarows 246", "datacolumns 19", "nRows=1"):
        (note,) = (note for note in read(f"a\n{count}\nendheader\n{ROWS}").notes if "header" in note)
        assert count.replace("=", " ").split()[1] in note
    assert not read(f"Coordinates\nnRows=2\nnColumns=3\ninDegrees=no\nendheader\n{ROWS}").notes


def test_markers(read):
    record = read(TRC.format(frames=2, markers=2, unit="mm"), ".trc")
    assert record["R ASIS_z"] == pytest.approx([3e-3, np.nan], nan_ok=True)
    assert read(TRC.format(frames=2, markers=2, unit="m"), ".trc")["SACR_x"] == pytest.approx([4.0, 7.0])
    assert "NumMarkers = 3, and there are 2" in read(TRC.format(frames=2, markers=3, unit="mm"), ".trc").notes[0]
    with pytest.raises(InputError, match="NumFrames = 9, and there are 2 rows"):
        read(TRC.format(frames=9, markers=2, unit="mm"), ".trc")
    with pytest.raises(InputError, match="line 9: 3 cells, but the heading has 8"):
        read(TRC.format(frames=3, markers=2, unit="mm") + "3\t0.02\t1\n", ".trc")
