"""C3D files of ``ezc3d``: kinds of points, units of plates, unreadable files; values by plate type's formula."""

import numpy as np
import pytest

from biped.errors import InputError
from biped.records import read_record

ezc3d = pytest.importorskip("ezc3d")
FRAMES = 20
#: m: where a force of 700 N presses, and the origin of the plate's channels below its middle.
PLACE, DEPTH = np.array([1.05, 0.53]), 0.041
FORCE = np.array([-20.0, 10.0, -700.0])  # N on a plate whose z axis points down
SINGLE = 2.0**-23


def saved(path, points=("C7",), channels=(), units=(), plate=None, **parameters):
    file = ezc3d.c3d()
    point, analog = file["parameters"]["POINT"], file["parameters"]["ANALOG"]
    for name, value in {"UNITS": ["mm"], "LABELS": points, "RATE": [50.0]}.items():
        point[name]["value"] = value
    file["data"]["points"] = np.ones((4, len(points), FRAMES)) * np.array([1.0, 2.0, 3.0, 1.0])[:, None, None]
    for name, value in parameters.items():
        file.add_parameter("POINT", name, value)
    if len(channels):
        file["data"]["analogs"] = np.repeat(np.asarray(channels, dtype=float)[None, :, None], 4 * FRAMES, axis=2)
        labels = [f"ch{k}" for k in range(len(channels))]
        for name, value in {"LABELS": labels, "UNITS": units, "RATE": [200.0]}.items():
            analog[name]["value"] = value
    for name, value in (plate or {}).items():
        file["parameters"]["FORCE_PLATFORM"][name]["value"] = value
    file.write(str(path))
    return path


def plate(path, place="mm", force="N", other="Nmm", kind=2, load=1.0, **parameters):
    """Return a plate from 0.7 to 1.3 m and 0.3 to 0.7 m, turned by half a turn about x, in these units."""
    size = {"mm": 1e3, "m": 1.0}[place]
    to = {"N": 1.0, "kN": 1e-3, "Nm": 1.0, "Nmm": 1e3, "m": 1.0, "mm": 1e3, "": size, "V": size}
    x, y = PLACE - [1.0, 0.5]  # in the plate's axes y is turned
    moment = np.cross([x, -y, -DEPTH], FORCE)  # about the origin, to which the middle is above in these axes
    second = [x, -y, 0.0] if kind == 1 else moment
    channels = load * np.array([*(FORCE * to[force]), *(np.array(second) * to[other] / (load if kind == 1 else 1.0))])
    corners = size * np.array([[1.3, 0.3, 0.0], [0.7, 0.3, 0.0], [0.7, 0.7, 0.0], [1.3, 0.7, 0.0]]).T[:, :, None]
    group = {
        "USED": [1], "TYPE": [kind], "CORNERS": corners, "ORIGIN": np.array([0.0, 0.0, -size * DEPTH])[:, None],
        "CHANNEL": np.arange(1, 7)[:, None], "CAL_MATRIX": np.eye(6)[:, :, None] if kind == 4 else [],
    }  # fmt: skip
    return saved(path, channels=channels, units=[force] * 3 + [other] * 3, plate=group, UNITS=[place], **parameters)


@pytest.mark.parametrize(
    ("place", "force", "other", "kind"),
    [
        ("mm", "N", "Nmm", 2), ("mm", "N", "Nm", 2), ("m", "N", "Nmm", 2), ("m", "N", "Nm", 2), ("mm", "kN", "Nm", 2),
        ("m", "N", "Nmm", 4), ("mm", "N", "m", 1), ("m", "N", "mm", 1), ("mm", "N", "", 2), ("m", "N", "V", 2),
    ],
)  # fmt: skip
def test_a_plate_in_any_units(tmp_path, place, force, other, kind):
    record = read_record(plate(tmp_path / "a.c3d", place, force, other, kind))
    assert record["plate1_fz"] == pytest.approx(700.0, rel=8.0 * SINGLE)
    near = 64.0 * SINGLE  # of places of about 1 m that are differences of some numbers
    assert [record["cop_x"][5], record["cop_y"][5]] == pytest.approx(PLACE, abs=near)
    assert any("as by ezc3d" in note for note in record.notes) == (other in ("", "V"))


@pytest.mark.parametrize(("load", "is_there"), [(15.0 / 700.0, False), (-1.0 / 700.0, False), (25.0 / 700.0, True)])
def test_a_plate_with_noise_and_an_offset_is_unloaded(tmp_path, load, is_there):
    record = read_record(plate(tmp_path / "a.c3d", load=load))
    assert np.isfinite(record["plate1_cop_x"]).all() == np.isfinite(record["cop_y"]).all() == is_there
    assert record["plate1_fz"] == pytest.approx(700.0 * load, rel=8.0 * SINGLE)


@pytest.mark.parametrize("kind", [5, 6, 7, 99])
def test_a_plate_that_ezc3d_does_not_know_blocks_itself_alone(tmp_path, kind):
    record = read_record(plate(tmp_path / "a.c3d", kind=kind))
    assert record["C7_z"] == pytest.approx(3e-3)
    assert record["ch2"] == pytest.approx(-700.0)
    for name in ("plate1_fz", "plate1_cop_x", "cop_y"):
        with pytest.raises(InputError, match=f"column {name}: ezc3d cannot compute"):
            record[name]


KINDS = {
    "ANGLES": ["RKnee"], "ANGLE_UNITS": ["deg"], "ANGLES2": ["S:LKnee"], "FORCES": ["GRF"], "FORCE_UNITS": ["N"],
    "MOMENTS": ["M"], "MOMENT_UNITS": ["Nmm"], "POWERS": ["P"], "POWERS_UNITS": ["mW"], "SCALARS": ["S"],
    "REACTIONS": ["R"], "TYPE_GROUPS": ["REACTIONS", "R_UNIT"], "R_UNIT": ["kN"],
}  # fmt: skip


def test_points_that_are_no_places(tmp_path):
    labels = ("C7", "RKnee", "S:LKnee", "GRF", "M", "P", "S", "R", "RHipAngles")
    record = read_record(saved(tmp_path / "a.c3d", labels, **KINDS))
    factors = {"C7": (1e-3, "m"), "RKnee": (1.0, "deg"), "S:LKnee": (1.0, "deg"), "GRF": (1.0, "N"), "M": (1e-3, "N·m")}
    for label, (factor, unit) in (factors | {"P": (1e-3, "W"), "R": (1e3, "N")}).items():
        assert [record[f"{label}_{axis}"][0] for axis in "xyz"] == pytest.approx(factor * np.arange(1.0, 4.0))
        assert record.units[f"{label}_y"] == unit
    for label in ("lkneeangle", "LGRF", "RKneeMoments"):  # nothing says that they are no places in mm
        assert f"{label}_x" in read_record(saved(tmp_path / "b.c3d", ("C7", label))).blocked
    for name in ("S_x", "RHipAngles_z"):  # nothing says the unit of the one, nor that the other is an angle
        with pytest.raises(InputError, match=f"column {name}: unknown unit"):
            record[name]
    assert read_record(tmp_path / "a.c3d", units={"RHipAngles_z": "deg"})["RHipAngles_z"][0] == pytest.approx(3.0)


def test_labels_that_occur_twice_or_not_at_all(tmp_path):
    record = read_record(saved(tmp_path / "a.c3d", ("KNE", "KNE", ""), [1.0, 2.0], ["T", "furlong"]))
    assert record["KNE_y#2"] == pytest.approx(2e-3)
    assert {"KNE_x#1", "point3_z", "ch0"} < set(record.columns)
    with pytest.raises(InputError, match="two columns are named 'KNE_x'"):
        record["KNE_x"]
    with pytest.raises(InputError, match="column ch1: unknown unit 'furlong'"):
        record["ch1"]
    assert read_record(saved(tmp_path / "b.c3d", (), [1.0], ["N"])).rate == pytest.approx(200.0)  # without points
    saved(tmp_path / "c.c3d", UNITS=[""])
    assert read_record(tmp_path / "c.c3d")["C7_y"] == pytest.approx(2e-3)
    assert "POINT:UNITS is missing" in read_record(tmp_path / "c.c3d").notes[0]


def test_corners_of_a_plate_in_another_unit_than_the_points(tmp_path):
    file = ezc3d.c3d(str(plate(tmp_path / "a.c3d", "m")))
    file["parameters"]["POINT"]["UNITS"]["value"] = ["mm"]
    file.write(str(tmp_path / "b.c3d"))
    with pytest.raises(InputError, match=r"edges of 0.0004 to 0.0006 m: fix FORCE_PLATFORM:CORNERS, POINT:UNITS"):
        read_record(tmp_path / "b.c3d")["cop_x"]
