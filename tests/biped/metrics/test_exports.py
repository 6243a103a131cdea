"""Exports for EUROBENCH and OpenSim are readable, with equal meaning and the right axes and signs."""

import io
import math
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.spatial.transform import Rotation

from biped import Run, State, simulate
from biped.metrics import measure_run, metric_named, sway_measures
from experiments.catalogue.registry import experiment_named
from experiments.cli import main
from experiments.visualization import export_eurobench
from experiments.visualization.export.anatomy import anatomical_joints
from experiments.visualization.export.eurobench import joint_angles, performance_indicators
from experiments.visualization.export.opensim import coordinates
from experiments.visualization.export.tables import cardan_yxz, quaternions_to_isb, to_isb

from .rows import block

G = 9.81
CROUCH = {"hip_pitch": 40.0, "knee_pitch": -77.4595, "ankle_pitch": 42.4595}


@pytest.fixture(scope="module")
def hit():
    return experiment_named("thrown-block").run({"run.duration": 0.6})


@pytest.fixture(scope="module")
def exported(hit, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    hit.save(folder)
    assert main(["export", str(folder), "--eurobench", "--sto"]) == 0
    return folder


def csv(path):
    return pd.read_csv(path, sep=";")


def sto(path):
    header, _, body = path.read_text(encoding="utf-8").partition("endheader\n")
    return header.splitlines(), pd.read_csv(io.StringIO(body), sep="\t")


def posed(person, **angles):
    q = person.configuration(angles={joint: math.radians(angle) for joint, angle in angles.items()})
    return simulate(person, state=State.at(person, q), duration=5e-4)


def test_the_axes_of_biomechanics_are_a_right_handed_frame():
    assert np.linalg.det(to_isb(np.eye(3))) == pytest.approx(1.0)
    forward, left, up = (-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0)
    assert to_isb([forward, left, up]).tolist() == [[1, 0, 0], [0, 0, -1], [0, 1, 0]]


@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0, -1.6])
def test_forward_is_where_a_model_looks(angle):
    facing = (math.cos(angle), math.sin(angle), 0.0)
    left = (-facing[1], facing[0], 0.0)
    assert to_isb([facing, left, (0.0, 0.0, 1.0)], facing) == pytest.approx(to_isb([(-1, 0, 0), (0, -1, 0), (0, 0, 1)]))


def test_turns_are_the_same_turns_in_other_axes():
    rng = np.random.default_rng(0)
    q = rng.normal(size=(5, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    axes = to_isb(np.eye(3)).T
    expected = axes @ Rotation.from_quat(q, scalar_first=True).as_matrix() @ axes.T
    assert np.allclose(Rotation.from_quat(quaternions_to_isb(q), scalar_first=True).as_matrix(), expected)


def test_cardan_angles_put_together_are_the_rotation():
    rng = np.random.default_rng(1)
    angles = rng.uniform(-1.2, 1.2, size=(50, 3))
    y, x, z = (
        Rotation.from_rotvec(angle[:, None] * axis)
        for angle, axis in zip(angles.T, ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]), strict=True)
    )
    rotation = y * x * z
    rotation_steps = np.array([cardan_yxz(rotation[k : k + 1])[0] for k in range(len(angles))])
    assert np.allclose(rotation_steps, angles)


def test_the_humans_joints_are_hips_knees_and_ankles(person):
    found = [(joint.side, joint.name, joint.hinges) for joint in anatomical_joints(person)]
    assert found == [
        (side, name, hinges)
        for side in ("left", "right")
        for name, hinges in (("hip", ("roll", "pitch", "yaw")), ("knee", ("pitch",)), ("ankle", ("roll", "pitch")))
    ]
    assert anatomical_joints(block()) == []


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_crouch_is_flexion_of_hip_and_knee_and_dorsiflexion(person, side):
    angles = joint_angles(posed(person, **{f"{side}_{joint}": angle for joint, angle in CROUCH.items()}))
    letter = side[0]
    assert angles[f"{letter}_hip_y"][0] == pytest.approx(40.0)
    assert angles[f"{letter}_knee_y"][0] == pytest.approx(77.4595)
    assert angles[f"{letter}_ankle_y"][0] == pytest.approx(42.4595)
    assert f"{letter}_knee_x" not in angles


@pytest.mark.parametrize(("side", "middle"), [("left", 1.0), ("right", -1.0)])
def test_adduction_brings_the_foot_to_the_middle_and_internal_rotation_the_toes(person, side, middle):
    """``middle`` is the direction from the leg to the body's middle along y; the toes are ahead of the heels, to −x."""

    def feet(run):
        return {name: run.frame[[f"contact_{side}_{name}_{a}" for a in "xyz"]].to_numpy()[0] for name in (1, 2, 3, 4)}

    straight = feet(posed(person))
    for roll in (10.0, -10.0):
        run = posed(person, **{f"{side}_hip_roll": roll})
        angle = joint_angles(run)[f"{side[0]}_hip_x"][0]
        assert abs(angle) == pytest.approx(10.0)
        assert np.sign(angle) == np.sign(middle * (feet(run)[1] - straight[1])[1])
    for yaw in (10.0, -10.0):
        run = posed(person, **{f"{side}_hip_yaw": yaw})
        angle = joint_angles(run)[f"{side[0]}_hip_z"][0]
        toes = (feet(run)[1] + feet(run)[2]) / 2 - (feet(run)[3] + feet(run)[4]) / 2
        assert abs(angle) == pytest.approx(10.0)
        assert np.sign(angle) == np.sign(middle * toes[1])


@pytest.mark.parametrize("side", ["left", "right"])
def test_inversion_lifts_the_inner_edge_of_the_sole(person, side):
    run = posed(person, **{f"{side}_ankle_roll": 5.0})
    inner, outer = (run.frame[f"contact_{side}_{name}_z"].iloc[0] for name in (2, 1))
    angle = joint_angles(run)[f"{side[0]}_ankle_x"][0]
    assert abs(angle) == pytest.approx(5.0)
    assert (angle > 0.0) == (inner > outer)
    assert coordinates(run)[f"subtalar_angle_{side[0]}"][0] == pytest.approx(math.radians(angle))


def test_the_pelvis_is_between_the_hips_and_tilts_backwards_above_zero(person):
    half = math.radians(10.0) / 2  # about +Y: the trunk's top goes to +X, backwards
    q = person.configuration((0.2, 0.1, 1.23), (math.cos(half), 0.0, math.sin(half), 0.0))
    found = coordinates(simulate(person, state=State.at(person, q), duration=5e-4))
    assert found["pelvis_tilt"][0] == pytest.approx(2 * half)
    assert found["pelvis_list"][0] == found["pelvis_rotation"][0] == pytest.approx(0.0, abs=1e-12)
    below = 1.23 - 0.96  # the hips below the trunk's centre of mass
    assert found["pelvis_tx"][0] == pytest.approx(-(0.2 - below * math.sin(2 * half)))
    assert found["pelvis_ty"][0] == pytest.approx(1.23 - below * math.cos(2 * half))
    assert found["pelvis_tz"][0] == pytest.approx(0.1)


def test_eurobenchs_data_are_the_runs(exported, hit, person):
    folder = exported / "eurobench"
    angles = csv(folder / "jointAngles.csv")
    assert list(angles.columns[:5]) == ["time", "l_hip_y", "l_hip_x", "l_hip_z", "l_knee_y"]
    assert np.allclose(angles["time"], hit.frame["time"])
    assert np.allclose(angles["r_knee_y"], -np.degrees(hit.frame["angle_right_knee_pitch"]))
    torques = csv(folder / "jointTorques.csv")
    assert np.allclose(torques["l_knee_y"], -hit.frame["torque_left_knee_pitch"])
    com = csv(folder / "com.csv")
    assert np.allclose(com[["x", "y", "z"]], np.stack([-hit.frame.com_x, hit.frame.com_z, hit.frame.com_y], axis=1))
    assert np.allclose(com["vel_y"] * person.total_mass, hit.frame["momentum_pz"])
    spin = csv(folder / "angularMomentum.csv")
    assert np.allclose(spin["z"], hit.frame["momentum_ly"])
    assert not (folder / "platformData.csv").exists()


def test_eurobenchs_ground_reactions_have_the_moment_of_the_points(exported, hit):
    points = hit.state.model.contact_names
    forces = {p: to_isb(hit.frame[[f"contact_{p}_f{a}" for a in "xyz"]].to_numpy()) for p in points}
    places = {p: to_isb(hit.frame[[f"contact_{p}_{a}" for a in "xyz"]].to_numpy()) for p in points}
    for name, mine in (("grf", points), ("grf_left_foot", points[:4]), ("grf_right_foot", points[4:])):
        table = csv(exported / "eurobench" / f"{name}.csv")
        force, place, moment = (table[[f"{k}_{a}" for a in "xyz"]].to_numpy() for k in "fpt")
        assert np.allclose(force, sum(forces[p] for p in mine))
        expected = sum(np.cross(places[p], forces[p]) for p in mine)
        assert np.allclose(np.cross(place, force) + moment, expected, atol=1e-6)
        assert (place[:, 1] < 0.01).all()  # on the floor, which is at y = 0


def test_where_a_foot_bears_nothing_the_force_is_zero_and_the_place_stays(exported):
    table = csv(exported / "eurobench" / "grf_left_foot.csv")
    aloft = np.flatnonzero((table["f_y"] == 0.0) & (table["time"] > 0.0))
    assert len(aloft) > 0
    for k in aloft:
        assert (table.loc[k, ["p_x", "p_y", "p_z"]] == table.loc[k - 1, ["p_x", "p_y", "p_z"]]).all()
        assert (table.loc[k, ["t_x", "t_y", "t_z"]] == 0.0).all()


def test_gait_events_are_those_of_the_run(exported, hit):
    events = yaml.safe_load((exported / "eurobench" / "gaitEvents.yaml").read_text(encoding="utf-8"))
    assert set(events) == {"r_heel_strike", "l_heel_strike", "r_toe_off", "l_toe_off"}
    strikes = [e["time"] for e in hit.summary["events"]["edges"] if (e["edge"], e["change"]) == ("left_heel", "down")]
    assert events["l_heel_strike"] == strikes
    assert len(strikes) > 0


def test_each_metric_is_one_performance_indicator(exported, hit):
    measured = measure_run(hit)
    files = {path.stem: path for path in (exported / "eurobench" / "pi").glob("*.yaml")}
    content = {name: yaml.safe_load(path.read_text(encoding="utf-8")) for name, path in files.items()}
    assert content["verdict"] == {"type": "string", "value": measured["verdict"]}
    assert content["peak_torque"] == {"type": "scalar", "value": measured["peak_torque"], "unit": "N*m"}
    joints = content["peak_torque_joint"]
    assert joints["type"] == "vector"
    assert joints["unit"] == "N*m"
    assert joints["label"] == list(hit.state.model.joint_names)
    assert joints["value"] == [measured[f"peak_torque_{joint}"] for joint in joints["label"]]
    present = {metric_named(name) for name, value in measured.items() if value is not None}
    assert set(content) == {metric.name.lower() if metric.per else metric.name for metric in present}
    assert "sway_gain_frequency" not in content  # the floor is at rest


def test_indicators_leave_out_what_was_not_measured():
    found = performance_indicators({"peak_torque_knee": None, "peak_torque_hip": 2.0, "cop_area": None, "steps": 3})
    assert found == {
        "peak_torque_joint": {"type": "vector", "label": ["hip"], "value": [2.0], "unit": "N*m"},
        "steps": {"type": "scalar", "value": 3, "unit": "1"},
    }


def test_the_testbed_has_all_parameters(exported, hit):
    testbed = yaml.safe_load((exported / "eurobench" / "testbed.yaml").read_text(encoding="utf-8"))
    assert testbed["experiment"] == "thrown-block"
    assert testbed["floor_mu_s"] == hit.parameters["floor.mu_s"]
    assert testbed["block_velocity"] == list(hit.parameters["block.velocity"])


def test_a_storage_file_says_what_is_in_it(exported, hit):
    for name in ("coordinates", "torques", "grf"):
        header, table = sto(exported / "opensim" / f"{name}.sto")
        assert header[1:] == ["version=1", f"nRows={len(table)}", f"nColumns={len(table.columns)}", "inDegrees=no"]
        assert table.columns[0] == "time"
        assert np.allclose(table["time"], hit.frame["time"])
        assert np.isfinite(table.to_numpy()).all()


def test_opensims_coordinates_are_the_runs(exported, hit):
    _, table = sto(exported / "opensim" / "coordinates.sto")
    assert np.allclose(table["knee_angle_l"], -hit.frame["angle_left_knee_pitch"])
    assert {"pelvis_tilt", "pelvis_ty", "hip_flexion_r", "hip_adduction_l", "ankle_angle_r", "subtalar_angle_r"} <= set(
        table.columns
    )
    assert 0.5 < table["pelvis_ty"].iloc[0] < 0.96
    _, torques = sto(exported / "opensim" / "torques.sto")
    assert np.allclose(torques["left_knee_pitch"], hit.frame["torque_left_knee_pitch"])


def test_opensims_forces_bear_the_weight_upwards_under_each_foot(exported, hit):
    _, table = sto(exported / "opensim" / "grf.sto")
    upwards = table["ground_force_l_vy"] + table["ground_force_r_vy"]
    assert np.allclose(upwards, sum(hit.frame[f"contact_{p}_fz"] for p in hit.state.model.contact_names), atol=1e-6)
    assert (table["ground_force_l_pz"] < 0.0).all()  # the left foot is on the left, −z
    assert (table["ground_force_r_pz"] > 0.0).all()
    # Feet that stand flat turn the force about nothing but the vertical, up to the depth they sink in.
    last = table.iloc[-1]
    assert abs(last["ground_torque_l_x"]) < 0.01 * 74.5 * G


def test_external_loads_find_their_columns(exported):
    _, table = sto(exported / "opensim" / "grf.sto")
    root = ElementTree.parse(exported / "opensim" / "external_loads.xml").getroot()
    assert root.findtext("ExternalLoads/datafile") == "grf.sto"
    forces = root.findall("ExternalLoads/objects/ExternalForce")
    assert {force.findtext("applied_to_body") for force in forces} == {"calcn_l", "calcn_r"}
    for force in forces:
        for key in ("force_identifier", "point_identifier", "torque_identifier"):
            assert {f"{force.findtext(key)}{axis}" for axis in "xyz"} <= set(table.columns)


def test_a_box_has_no_gait_and_keeps_its_own_names(tmp_path):
    run = experiment_named("box-drop").run({"run.duration": 0.2})
    run.save(tmp_path / "box")
    assert main(["export", str(tmp_path / "box"), "--eurobench", "--sto", "--out", str(tmp_path / "out")]) == 0
    assert not (tmp_path / "out" / "eurobench" / "gaitEvents.yaml").exists()
    assert {path.name for path in (tmp_path / "out" / "opensim").iterdir()} == {
        "coordinates.sto",
        "skeleton.osim",
        "skeleton.sto",
    }
    _, table = sto(tmp_path / "out" / "opensim" / "coordinates.sto")
    assert np.allclose(table["body_ty"], run.frame["body_z"])


def test_the_command_says_what_was_written(exported, capsys):
    assert main(["export", str(exported), "--sto"]) == 0
    assert "opensim/: 6 files" in capsys.readouterr().out


def test_metrics_can_count_from_a_time_on(exported, hit, tmp_path):
    assert main(["export", str(exported), "--eurobench", "--since", "0.071", "--out", str(tmp_path)]) == 0
    content = yaml.safe_load((tmp_path / "eurobench" / "pi" / "cop_path_length.yaml").read_text(encoding="utf-8"))
    assert content["value"] == measure_run(hit, start_time=0.071)["cop_path_length"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere", "--sto"], "no run in it"), ([], "RUN"), (["nowhere"], "--mat, --csv"),
        (["HIT", "--eurobench", "--since", "0.7"], "it must be a time within the run, which ends at 0.6 s"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_one_line(exported, arguments, words, capsys):
    assert main(["export", *(str(exported) if word == "HIT" else word for word in arguments)]) == 2
    printed = capsys.readouterr().err
    assert words in printed
    assert len(printed.splitlines()) == 1


def test_a_run_outside_of_experiments_is_the_humans_unless_told(person, tmp_path):
    run = simulate(person, duration=0.01)
    run.save(tmp_path)
    assert main(["export", str(tmp_path), "--sto"]) == 0
    assert isinstance(Run.load(tmp_path, person), Run)


#: Of ``eurobench/grf.csv``, by BEAT's program; the README beside that file has the commands.
BEAT = {
    "path_length": 0.105133449385667, "path_length_ap": 0.0516687384896, "path_length_ml": 0.0911862224549128,
    "area": 9.7687287293962e-05,
}  # fmt: skip
#: The centres of pressure, of 0.1 m, go there in mm and back: 2⁻⁵² of each, 300 times, over paths of 0.05 m.
ROUNDING = 1e-12


def sway_of(path):
    """Return the measures of the centre of pressure in a file of ground reactions, where the floor carries load."""
    rows = pd.read_csv(path, sep=";")
    borne = rows["f_y"] > 0.0
    return sway_measures(rows["time"], *(rows[name].where(borne) for name in ("p_x", "p_z")))


def test_beats_program_finds_the_same_path_and_area_of_the_centre_of_pressure():
    found = sway_of(Path(__file__).parent / "eurobench" / "grf.csv")
    assert {name: found[name] for name in BEAT} == pytest.approx(BEAT, rel=ROUNDING)


def test_exported_indicators_are_those_of_the_exported_ground_reactions(tmp_path):
    """The results of EUROBENCH's program for ``grf.csv`` are also in ``pi``."""
    changes = {"run.duration": 0.2, "push.impulse": 4.0, "push.azimuth": 1.0, "push.start": 0.0}
    run = experiment_named("balance").run(changes)
    export_eurobench(run, tmp_path, run.metrics)
    found = sway_of(tmp_path / "grf.csv")
    path, area = (
        yaml.safe_load((tmp_path / "pi" / f"cop_{name}.yaml").read_text(encoding="utf-8"))["value"]
        for name in ("path_length", "area")
    )
    digits = 1e-12 * len(run.frame)  # the file has twelve digits of each centre of pressure, here 0.1 m at most
    assert path == pytest.approx(found["path_length"], abs=digits)
    assert np.sqrt(area) == pytest.approx(np.sqrt(found["area"]), abs=digits)
