"""Saved runs; those saved by other versions are refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from biped import InputError, Platform, Run, Signal, State, Throw, simulate
from biped.kernels.loop.log import ABSENT, RowLayout
from biped.metrics import METRICS, Layout
from biped.model import Body, ContactPoint, Model, ModelError, floating, human, prismatic, spherical
from biped.runs.row_layout import columns_of, places_of, pose_names, sections_of, torque_names
from biped.runs.summary import Summary
from experiments.catalogue.registry import experiment_named


@pytest.fixture(scope="module")
def run():
    return experiment_named("thrown-block").run({"run.duration": 0.2})


@pytest.fixture
def folder(run, tmp_path):
    return run.save(tmp_path)


def summary_of(folder):
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_what_is_saved_is_read(run, folder):
    read = Run.load(folder, run.state.model)
    assert read.frame.equals(run.frame)
    assert read.summary == run.summary
    assert isinstance(read.summary, Summary)
    assert read.summary["steps"] == run.metrics["steps"]


def test_a_run_brings_its_model(run, folder):
    read = Run.load(folder)
    assert read.state.model == run.state.model
    assert read.frame.equals(run.frame)
    assert read.root == run.root


def test_a_run_brings_the_load_that_its_model_carried(tmp_path):
    changes = {"load.mass": 8.0, "run.duration": 0.05}
    carried = experiment_named("balance").run(changes)
    carried.save(tmp_path)
    read = Run.load(tmp_path)
    assert read.state.model.total_mass == carried.state.model.total_mass
    assert read.state.model == carried.state.model


def test_a_run_without_its_model_is_refused_in_a_sentence(folder):
    (folder / "model.json").write_text("{}")
    with pytest.raises(ModelError, match=r"model.json: not a model that biped saved"):
        Run.load(folder)
    (folder / "model.json").unlink()
    with pytest.raises(InputError, match=r"there is no run \(model.json missing\)"):
        Run.load(folder)


def test_numbers_are_saved_once(folder):
    summary = summary_of(folder)
    assert set(summary) & set(METRICS) == {"verdict", "reason"}
    assert not set(summary["metrics"]) & set(summary)
    assert summary["format"] == 3


@pytest.mark.parametrize("version", [1, 2, 4])
def test_a_run_of_another_format_is_refused_in_a_sentence(run, folder, version):
    (folder / "summary.json").write_text(json.dumps(summary_of(folder) | {"format": version}), encoding="utf-8")
    with pytest.raises(InputError, match=rf"saved by another version \(format {version}, here 3\); run it again"):
        Run.load(folder, run.state.model)


def test_a_state_of_an_older_version_is_refused(run, tmp_path):
    run.state.save(tmp_path / "state.npz")
    with np.load(tmp_path / "state.npz") as archive:
        arrays = dict(archive)
    header = json.loads(str(arrays.pop("header"))) | {"format": 3}
    np.savez(tmp_path / "state.npz", header=json.dumps(header), **arrays)
    with pytest.raises(InputError, match="saved by another version"):
        State.load(tmp_path / "state.npz", run.state.model)


def test_an_error_names_the_place_that_cannot_be_written(run, tmp_path):
    (tmp_path / "file").touch()
    for place, reason in ((tmp_path / "file", "File exists"), (tmp_path / "file" / "below", "Not a directory")):
        with pytest.raises(OSError, match=reason) as raised:
            run.save(place)
        assert raised.value.filename == str(place)


EYE = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))


SLIDE = prismatic("slide", (0.0, 0.0, 1.0))


def limbs(root="angle", slide=SLIDE):
    trunk = Body("trunk", 1.0, EYE, (0.0, 0.0, 0.0), floating(root))
    ball = Body("ball", 1.0, EYE, (0.0, 0.0, -0.5), spherical("ledger"), "trunk")
    slide = Body("slide", 1.0, EYE, (0.0, 0.0, -0.5), slide, "ball")
    return Model("limbs", (trunk, ball, slide), (ContactPoint("tip", "slide", (0.0, 0.0, -0.5)),))


def test_sections_are_those_of_the_kernels_and_fill_a_row():
    model = limbs(slide=replace(prismatic("slide", (0.0, 0.0, 1.0)), damping=1.0))
    columns = columns_of(model, ("desired_fx",), {"gap_position": "m"}, True, True, estimate=True)
    assert tuple(columns.sections) == RowLayout._fields
    ends = [begin + len(section) for begin, section in zip(columns.layout, columns.sections.values(), strict=True)]
    assert list(columns.layout) == [0, *ends[:-1]]
    assert ends[-1] == len(columns.names) == len(set(columns.names))
    assert all(columns.units[name] for name in columns.names)


def test_what_a_run_does_not_have_is_absent():
    layout = columns_of(human()).layout
    optional = (layout.integrator, layout.platform, layout.projectile, layout.estimate, layout.joints)
    assert (layout.controller, *optional) == (ABSENT,) * 6


def test_units_are_those_of_the_joint_whatever_it_is_called():
    units = columns_of(limbs()).units
    assert (units["angle_x"], units["angle_qw"], units["angle_vx"], units["angle_wz"]) == ("m", "1", "m/s", "rad/s")
    assert (units["ledger_qx"], units["ledger_wx"], units["torque_ledger_wx"]) == ("1", "rad/s", "N*m")
    assert (units["position_slide"], units["rate_slide"], units["torque_slide"]) == ("m", "m/s", "N")
    assert (units["momentum_px"], units["momentum_lx"], units["com_x"]) == ("N*s", "N*m*s", "m")
    assert (units["momentum_defect_pz"], units["momentum_defect_lz"], units["ledger_kinetic"]) == ("N*s", "N*m*s", "J")


def test_nothing_drives_a_floating_root_and_nobody_sees_that():
    columns = columns_of(limbs())
    assert columns.hidden == set(torque_names(limbs())[:6])
    assert [columns.names[i] for i in columns.shown] == [name for name in columns.names if name not in columns.hidden]


def test_every_column_of_a_run_is_written():
    setup = experiment_named("thrown-block").build()
    throw = next(d for d in setup.disturbances if isinstance(d, Throw))
    sway = Platform(x=Signal.sine(0.01, 1.0))
    run = simulate(
        setup.model, setup.controller, state=setup.state, floor=setup.floor, disturbances=[throw, sway], duration=0.02
    )
    assert np.isfinite(run.frame.to_numpy(dtype=float)).all()
    assert run.frame["projectile_qw"].iloc[0] == throw.orientation[0]
    assert run.frame[pose_names("projectile")[:3]].iloc[0].tolist() == list(throw.position)
    assert run.frame["platform_qw"].iloc[0] == pytest.approx(1.0)
    assert run.frame["com_z"].iloc[0] == pytest.approx(run.frame["body_z"].iloc[0], abs=0.5)
    last = run.frame.iloc[-1]
    energies = last["ledger_kinetic"] + last["ledger_potential"]
    first = run.frame.iloc[0]
    works = sum(last[f"ledger_{name}"] for name in ("actuators", "contacts", "pushes", "impacts"))
    began = first["ledger_kinetic"] + first["ledger_potential"] - first["ledger_residual"]
    assert last["ledger_residual"] == pytest.approx(energies - began - works, abs=1e-9)


def test_metrics_find_the_columns_wherever_they_stand():
    model = human()
    names = list(columns_of(model).names)
    middle = names.index("ledger_kinetic")
    moved = [*names[middle:], *names[:middle]]
    usual, other = Layout.of(model, names).places, Layout.of(model, moved).places
    assert moved[other.time] == names[usual.time] == "time"
    assert moved[other.root] == names[usual.root] == "body_x"
    assert [moved[k] for k in other.torque] == [f"torque_{joint}" for joint in model.joint_names]
    assert moved[other.residual] == "ledger_residual"
    assert [moved[k] for k in other.contact] == [f"contact_{point}_mode" for point in model.contact_names]


def test_columns_that_are_missing_or_apart_are_refused():
    model = human()
    names = list(columns_of(model).names)
    with pytest.raises(InputError, match="no column 'com_y': these are not the rows of a run of this model"):
        Layout.of(model, [name for name in names if name != "com_y"])
    apart = [*(name for name in names if name != "com_y"), "com_y"]
    with pytest.raises(InputError, match="the columns com_x to com_z must be adjacent"):
        places_of(sections_of(model), apart)
