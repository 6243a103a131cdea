"""Centre of mass and angles of a recorded person: markers against sums of segments, OpenSim against the run."""

import numpy as np
import pytest

from biped.errors import InputError
from biped.metrics import series
from biped.model.anthropometry import TABLE
from biped.records import Record, read_record, with_person
from experiments import experiment_named
from experiments.visualization import export_opensim

TIME = np.linspace(0.0, 1.0, 5)
#: [m] of a person who faces -y, its right to -x: right = forward x up.
LEAN = np.radians(np.linspace(-3.0, 8.0, 5))
ANKLE, SHANK, TRUNK = np.array([0.1, 0.2, 0.08]), 0.4, 0.9
SEGMENTS = """
forward = "-y"
up = "z"
people = "female"

[segments.shank]
from = ["KNE_in", "KNE_out"]
to = ["ANK"]
mass = 0.2
com = 0.4

[segments.trunk]
from = ["C7"]
to = ["KNE_in", "KNE_out"]
like = "trunk"
mass = 0.8

[joints.knee]
upper = "trunk"
lower = "shank"
"""


def sine(angle):
    """Return a unit vector (n, 3) that leans forward, to -y, and up."""
    return np.stack([0.0 * angle, -np.sin(angle), np.cos(angle)], axis=1)


def places():
    knee = ANKLE + SHANK * sine(LEAN)
    aside = np.array([0.05, 0.0, 0.0])
    return {
        "ANK": ANKLE + 0.0 * knee, "KNE_in": knee + aside, "KNE_out": knee - aside, "C7": knee + TRUNK * sine(-LEAN),
    }  # fmt: skip


def recorded(**changed):
    columns = {f"{name}_{axis}": at[:, k] for name, at in places().items() for k, axis in enumerate("xyz")} | changed
    return Record(TIME, columns, dict.fromkeys(columns, "m"))


def table(tmp_path, text=SEGMENTS):
    file = tmp_path / "segments.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_centre_of_mass_is_the_sum_over_segments(tmp_path):
    at = places()
    knee = (at["KNE_in"] + at["KNE_out"]) / 2.0
    com = 0.2 * (knee + 0.4 * (at["ANK"] - knee)) + 0.8 * (at["C7"] + TABLE["female"].trunk.com * (knee - at["C7"]))
    found = with_person(recorded(), table(tmp_path))
    for name, expected in {"com_ap": -com[:, 1], "com_ml": -com[:, 0], "com_z": com[:, 2]}.items():
        np.testing.assert_allclose(found[name], expected, rtol=0.0, atol=1e-14)
        assert found.units[name] == "m"


def test_inclinations_and_flexion_are_those_of_the_segments(tmp_path):
    found = with_person(recorded(), table(tmp_path))
    np.testing.assert_allclose(found["shank_pitch"], np.degrees(LEAN), atol=1e-12)
    np.testing.assert_allclose(found["trunk_pitch"], -np.degrees(LEAN), atol=1e-12)
    np.testing.assert_allclose(found["knee_flexion"], -2.0 * np.degrees(LEAN), atol=1e-12)
    np.testing.assert_allclose(found["trunk_roll"], 0.0, atol=1e-12)
    assert found.units["knee_flexion"] == "deg"
    assert any("segments.toml" in note for note in found.notes)


def test_a_lean_to_the_right_is_a_positive_roll(tmp_path):
    leaning = recorded(C7_x=places()["C7"][:, 0] - 0.1)
    assert (with_person(leaning, table(tmp_path))["trunk_roll"] > 5.0).all()


def test_a_gap_of_a_marker_is_a_gap_of_what_depends_on_it(tmp_path):
    height = places()["ANK"][:, 2].copy()
    height[2] = np.nan
    found = with_person(recorded(ANK_z=height), table(tmp_path))
    assert np.isnan(found["com_z"][2])
    assert np.isnan(found["shank_pitch"][2])
    assert np.isfinite(np.delete(found["com_z"], 2)).all()
    assert np.isfinite(found["trunk_pitch"]).all()


def test_a_part_of_the_body_is_reported(tmp_path):
    found = with_person(recorded(), table(tmp_path, SEGMENTS.replace("mass = 0.8", "mass = 0.6")))
    assert "80.0%" in found.notes[-1]


@pytest.mark.parametrize(("old", "new", "words"), [
    ('"C7"', '"C8"', "no marker 'C8'; markers are ANK, KNE_in"),
    ('up = "z"', 'up = "w"', "one of x, y, z"),
    ('up = "z"', 'up = "y"', "different axes"),
    ('"female"', '"ladies"', "male, female"),
    ('like = "trunk"', 'like = "torso"', "upper_arm"),
    ("mass = 0.8", "mass = 0.9", "up to 1.1 of the body's"),
    ("mass = 0.8", "mass = 0.1", "up to 0.3 of the body's"),
    ("com = 0.4", "", "needs 'like', or 'mass'"),
    ("com = 0.4", "com = 40.0", "shares"),
    ("com = 0.4", "centre = 0.4", "unknown key segments.shank.centre"),
    ('to = ["ANK"]', "to = []", "at least one marker"),
    ('to = ["ANK"]', 'to = "ANK"', "lists of markers"),
    ('lower = "shank"', 'lower = "shin"', "no segment 'shin'"),
    ('lower = "shank"', 'lower = "trunk"', "'upper' and 'lower' must differ"),
    ('lower = "shank"', 'lower = "shank"\nsign = 0', "sign = 0 must be 1 or -1"),
    ('to = ["ANK"]', 'to = ["KNE_out", "KNE_in"]', "same markers"),
    ('forward = "-y"', "forward = ", "cannot be read as TOML"),
])  # fmt: skip
def test_a_table_that_does_not_fit_is_refused(tmp_path, old, new, words):
    assert old in SEGMENTS
    with pytest.raises(InputError, match=words):
        with_person(recorded(), table(tmp_path, SEGMENTS.replace(old, new, 1)))


def test_columns_that_are_there_and_other_files_are_refused(tmp_path):
    with pytest.raises(InputError, match="com_ap"):
        with_person(recorded(com_ap=TIME), table(tmp_path))
    with pytest.raises(InputError, match="no file"):
        with_person(recorded(), tmp_path / "missing.toml")
    with pytest.raises(InputError, match=r"\.osim"):
        with_person(recorded(), tmp_path / "subject.xml")


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    pytest.importorskip("opensim")
    folder = tmp_path_factory.mktemp("opensim")
    run = experiment_named("thrown-block").run({"run.duration": 0.1})
    export_opensim(run, folder)
    return run, folder


class TestOpenSim:
    def test_the_centre_of_mass_is_that_of_the_run(self, exported):
        run, folder = exported
        found, own = read_record(folder / "skeleton.sto", body=folder / "skeleton.osim"), series(run)
        sway = own["com_ap"] - own["com_ap"][0], own["com_ml"] - own["com_ml"][0], own["com_z"]
        digits = 8 * 2.0 * 1e-12  # [m] of the files, of a chain of 8 and some 2 m
        for name, expected in zip(("com_ap", "com_ml", "com_z"), sway, strict=True):
            values = found[name] if name == "com_z" else found[name] - found[name][0]
            np.testing.assert_allclose(values, expected, rtol=0.0, atol=2.0 * digits)

    def test_coordinates_that_are_not_recorded_are_reported(self, exported):
        _, folder = exported
        record = read_record(folder / "skeleton.sto")
        less = {name: values for name, values in record.columns.items() if name != "left_knee_pitch"}
        found = with_person(Record(record.time, less, record.units), folder / "skeleton.osim")
        assert "left_knee_pitch" in found.notes[-1]

    def test_what_is_no_model_is_refused(self, exported, tmp_path):
        file = tmp_path / "empty.osim"
        file.write_text("<OpenSimDocument/>", encoding="utf-8")
        with pytest.raises(InputError, match="empty.osim"):
            with_person(recorded(), file)
        with pytest.raises(InputError, match="no coordinate of the model"):
            with_person(recorded(), exported[1] / "skeleton.osim")


def test_a_fit_compares_with_the_person_that_a_table_describes(tmp_path, monkeypatch):
    from experiments.studies.config import Config
    from experiments.studies.fitting.measured import measured_from

    monkeypatch.chdir(tmp_path)
    table(tmp_path)
    lines = [",".join(["time", *recorded().columns])]
    lines += [",".join(map(repr, map(float, row))) for row in zip(TIME, *recorded().columns.values(), strict=True)]
    (tmp_path / "markers.csv").write_text("\n".join(lines), encoding="utf-8")
    data = {"file": "markers.csv", "body": "segments.toml", "units": dict.fromkeys(recorded().columns, "m")}
    config = Config(data | {"column": [{"model": "com_ap"}, {"model": "trunk_pitch"}]})
    found = measured_from(config, 0.0, 1.0, {"com_ap": "m", "trunk_pitch": "deg"})
    expected = with_person(recorded(), tmp_path / "segments.toml")
    np.testing.assert_allclose(found.values, [expected["com_ap"], expected["trunk_pitch"]], rtol=1e-12)
