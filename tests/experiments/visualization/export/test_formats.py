"""C3D, Motion-BIDS and MATLAB files of runs, read by the formats' own readers."""

import json
import re
from dataclasses import replace

import ezc3d
import numpy as np
import pandas as pd
import pytest
from scipy.io import loadmat
from scipy.spatial.transform import Rotation

from biped.dynamics import forward_kinematics, joint_place
from biped.errors import InputError
from biped.metrics import series
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.visualization import export_bids, export_c3d, export_matlab
from experiments.visualization.export.c3d import MARGIN
from experiments.visualization.export.points import points_of
from experiments.visualization.export.tables import foot_wrenches, to_isb

#: Half a unit in the last place of a float32, relative.
HALF_ULP = 2.0**-24
TILTING = {"platform.motion": "step", "platform.axis": "pitch", "platform.size": 0.1, "platform.start": 0.0}
TILTING |= {"platform.rise": 0.2, "run.duration": 0.4}


@pytest.fixture(scope="module")
def hit():
    return experiment_named("thrown-block").run({"run.duration": 0.3})


@pytest.fixture(scope="module")
def tilted():
    return experiment_named("balance").run(TILTING)


@pytest.fixture(params=["hit", "tilted"])
def run(request):
    return request.getfixturevalue(request.param)


def opened(run, folder):
    return ezc3d.c3d(str(export_c3d(run, folder)[0]), extract_forceplat_data=True)


def test_plates_have_the_runs_forces_and_centre_of_pressure(run, tmp_path):
    """In the floor's frame, to the precision of float32 channels."""
    file = opened(run, tmp_path)
    plates = file["data"]["platform"]
    assert file["parameters"]["FORCE_PLATFORM"]["TYPE"]["value"].tolist() == [2, 2]
    assert {(plate["unit_force"], plate["unit_position"], plate["unit_moment"]) for plate in plates} == {
        ("N", "mm", "Nmm")
    }
    table, loads = series(run), np.array([plate["force"][2] for plate in plates])
    bears = loads.sum(axis=0) > 1.0
    assert bears.any()
    middles = [plate["corners"].mean(axis=1) for plate in plates]
    places = np.array([np.nan_to_num(plate["center_of_pressure"]) for plate in plates])
    found = (loads[:, np.newaxis] * places).sum(axis=0)[:, bears] / loads.sum(axis=0)[bears]
    # M is rounded by half a unit of itself, F too, and so are corners: each moves the centre by that part of its lever.
    reach = max(np.abs(plate["corners"]).max() for plate in plates) + max(np.abs(middle).max() for middle in middles)
    for k, axis in enumerate("xy"):
        expected = 1000.0 * table[f"cop_{axis}"].to_numpy()[bears]
        assert np.abs(found[k] - expected).max() < 4.0 * HALF_ULP * reach
    rotation, _ = floor_of(run)
    total = rotation.inv().apply(table[["grf_x", "grf_y", "grf_z"]].to_numpy(copy=True))
    for k in range(3):
        together = sum(plate["force"][k] for plate in plates)
        assert np.abs(together - total[:, k]).max() <= 3.0 * HALF_ULP * np.abs(total).max()


def floor_of(run):
    if "platform_x" not in run.frame:
        return Rotation.identity(), np.zeros(3)
    frame = run.frame
    turns = frame[["platform_qw", "platform_qx", "platform_qy", "platform_qz"]].to_numpy()
    return Rotation.from_quat(turns, scalar_first=True), frame[["platform_x", "platform_y", "platform_z"]].to_numpy()


def test_free_moments_are_those_of_the_feet(run, tmp_path):
    plates, rotation = opened(run, tmp_path)["data"]["platform"], floor_of(run)[0]
    for plate, (name, (_, _, moment)) in zip(plates, ((n, w) for n, w in foot_wrenches(run).items() if n), strict=True):
        bears = plate["force"][2] > 1.0
        expected = 1000.0 * rotation.inv().apply(moment)[:, 2]
        # It is the difference of moments of the size of the force by its lever, in float32.
        rounded = 8.0 * HALF_ULP * 1000.0 * np.linalg.norm(plate["force"], axis=0).max()
        assert np.abs(plate["Tz"][2] - expected)[bears].max() < rounded, name
        assert np.abs(plate["Tz"][:2, bears]).max() < rounded


def test_a_plate_is_under_its_foot_and_its_axes_point_down(hit, tmp_path):
    file = opened(hit, tmp_path)
    points = dict(
        zip(file["parameters"]["POINT"]["LABELS"]["value"], file["data"]["points"].transpose(1, 2, 0), strict=True)
    )
    for side, plate in zip(("left", "right"), file["data"]["platform"], strict=True):
        first, second, _, fourth = plate["corners"].T
        down = np.cross(first - second, first - fourth)
        assert down / np.linalg.norm(down) == pytest.approx([0.0, 0.0, -1.0])
        for name, places in points.items():
            if name.startswith(f"contact_{side}"):
                for axis in range(2):
                    low, high = plate["corners"][axis].min(), plate["corners"][axis].max()
                    assert (
                        low + 999.0 * MARGIN <= places[:, axis].min() <= places[:, axis].max() <= high - 999.0 * MARGIN
                    )
    # z of the plate is down: the force on a standing foot is negative
    channels = dict(zip(file["parameters"]["ANALOG"]["LABELS"]["value"], file["data"]["analogs"][0], strict=True))
    assert channels["Fz1"].min() < -100.0
    assert channels["Fz1"] == pytest.approx(-file["data"]["platform"][0]["force"][2])


def test_whole_numbers_are_stored_as_such(hit, tmp_path):
    group = opened(hit, tmp_path)["parameters"]["FORCE_PLATFORM"]
    assert {name: group[name]["type"] for name in ("USED", "TYPE", "CHANNEL", "ZERO")} == dict.fromkeys(
        ("USED", "TYPE", "CHANNEL", "ZERO"), 2
    )  # INT in ezc3d
    assert group["CHANNEL"]["value"].T.tolist() == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]


def test_points_are_where_the_body_is(hit, tmp_path):
    file, model = opened(hit, tmp_path), hit.state.model
    labels = file["parameters"]["POINT"]["LABELS"]["value"]
    assert file["header"]["points"]["frame_rate"] == pytest.approx(500.0)
    assert file["data"]["points"].shape == (4, len(labels), len(hit.frame))
    assert {"com", "trunk", "left_hip", "right_knee", "left_ankle", "contact_right_4"} <= set(labels)
    places = dict(zip(labels, file["data"]["points"][:3].transpose(1, 2, 0) / 1000.0, strict=True))
    assert np.abs(places["com"] - hit.frame[["com_x", "com_y", "com_z"]].to_numpy()).max() < 2.0 * HALF_ULP * 2.0
    placed = forward_kinematics(model, hit.state.arrays.q)
    for label, joint in (("left_knee", "left_knee_pitch"), ("right_hip", "right_hip_roll")):
        body = next(k for k, body in enumerate(model.bodies) if body.joint.name == joint)
        assert np.abs(places[label][-1] - joint_place(model, placed, body)).max() < 2.0 * HALF_ULP * 2.0


def test_a_data_set_has_what_the_specification_requires(hit, tmp_path):
    """Required files, fields and columns, and restricted words (BIDS, Motion)."""
    files = {file.relative_to(tmp_path).as_posix() for file in export_bids(hit, tmp_path, "thrown-block")}
    stem = "sub-01/motion/sub-01_task-thrownblock_tracksys-model"
    wanted = {f"{stem}_{name}" for name in ("motion.tsv", "motion.json", "channels.tsv", "channels.json")}
    assert files == wanted | {"dataset_description.json", "README", "participants.tsv"}
    dataset = json.loads((tmp_path / "dataset_description.json").read_text(encoding="utf-8"))
    assert {"Name", "BIDSVersion"} <= set(dataset)
    assert re.fullmatch(r"\d+\.\d+\.\d+", dataset["BIDSVersion"])
    channels = pd.read_csv(tmp_path / f"{stem}_channels.tsv", sep="\t", keep_default_na=False)
    assert list(channels.columns[:5]) == ["name", "component", "type", "tracked_point", "units"]
    assert channels["name"].is_unique
    assert set(channels["component"]) <= {"x", "y", "z", "quat_w", "quat_x", "quat_y", "quat_z", "n/a"}
    assert set(channels["type"]) <= {"LATENCY", "POS", "ORNT", "JNTANG"}
    sidecar = json.loads((tmp_path / f"{stem}_motion.json").read_text(encoding="utf-8"))
    assert (sidecar["TaskName"], sidecar["SamplingFrequency"]) == ("thrownblock", pytest.approx(500.0))
    assert sidecar["MotionChannelCount"] == len(channels)
    counts = {key.removesuffix("ChannelCount"): count for key, count in sidecar.items() if key.endswith("ChannelCount")}
    del counts["Motion"]
    assert {kind: count for kind, count in counts.items() if count} == channels["type"].value_counts().to_dict()
    assert len(counts) == 10  # all kinds of the specification, absent ones too, as it recommends
    frames = json.loads((tmp_path / f"{stem}_channels.json").read_text(encoding="utf-8"))["reference_frame"]["Levels"]
    assert set(channels["reference_frame"]) - {"n/a"} == set(frames)
    assert re.fullmatch("[APLRSI_]{3}", frames["global"]["SpatialAxes"])
    # The table has no column names: its columns are the channels, in order.
    table = pd.read_csv(tmp_path / f"{stem}_motion.tsv", sep="\t", header=None)
    assert table.shape == (len(hit.frame), len(channels))
    motion = table.set_axis(list(channels["name"]), axis=1)
    com = to_isb(points_of(hit)["com"])
    assert np.abs(motion[["com_x", "com_y", "com_z"]].to_numpy() - com).max() < 1e-11
    knee = np.degrees(hit.frame["angle_left_knee_pitch"])
    assert np.abs(motion["left_knee_pitch_angle"] - knee).max() < 1e-9


def test_matlab_has_all_columns_with_their_units(hit, tmp_path):
    (path,) = export_matlab(hit, tmp_path)
    found = loadmat(path, simplify_cells=True)["run"]
    assert set(found) == {*hit.frame.columns, "units"}
    for column in hit.frame:
        assert np.array_equal(found[column], hit.frame[column].to_numpy()), column
    assert found["units"] == {name: unit for name, unit in hit.units.items() if name in hit.frame}
    assert loadmat(path)["run"]["time"][0, 0].shape == (len(hit.frame), 1)  # a column


def test_names_that_matlab_does_not_take(hit, tmp_path):
    odd = replace(hit, frame=hit.frame[["time"]].assign(**{"θ 1": 1.0}))
    assert "x__1" in loadmat(export_matlab(odd, tmp_path)[0], simplify_cells=True)["run"]
    twice = replace(hit, frame=hit.frame[["time"]].assign(**{"a b": 1.0, "a_b": 2.0}))
    with pytest.raises(InputError, match="--csv"):
        export_matlab(twice, tmp_path)


def test_rows_that_are_not_even_have_no_rate(hit, tmp_path):
    uneven = replace(hit, frame=hit.frame.drop(index=[3]))
    for export in (export_c3d, export_bids):
        with pytest.raises(InputError, match="evenly"):
            export(uneven, tmp_path)


def test_the_command_writes_them(hit, tmp_path, capsys):
    folder = tmp_path / "thrown"
    hit.save(folder)
    assert main(["export", str(folder), "--c3d", "--bids", "--mat"]) == 0
    assert {"run.c3d", "run.mat", "bids"} <= {path.name for path in folder.iterdir()}
    assert (folder / "bids/sub-01/motion/sub-01_task-thrown_tracksys-model_motion.tsv").exists()
    assert main(["export", str(folder)]) == 2
    assert "--bids, --mat, --csv" in capsys.readouterr().err
