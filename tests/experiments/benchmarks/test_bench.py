"""The benchmark: it runs, its files say what it measured, and MuJoCo's human is ours."""

import json
import os
import threading

import numpy as np
import pytest

from biped import chain, human
from biped.model import random_tree
from experiments.benchmarks import measure
from experiments.benchmarks.section import JSON
from experiments.commands import bench
from experiments.timing import UnitOfWork, interleaved, one_core
from tests.conftest import random_configuration


def run(arguments):
    return bench.main(bench.parser().parse_args(arguments))


@pytest.mark.slow
def test_bench_measures_and_writes(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(measure, "budget", lambda quick: measure.Budget(1, 0.02, 50, quick))
    assert run(["--quick", "--out", str(tmp_path)]) == 0
    written = json.loads((tmp_path / JSON).read_text(encoding="utf-8"))
    assert {"processor", "cores", "system", "python", "numba", "numpy", "date", "commit"} <= set(written["stamp"])
    sections = written["sections"]
    stance = sections["closed_loop"]["rows"]["workspace stance, 0.5 ms"]
    assert 0.0 < stance["least"] <= stance["median"] <= stance["most"] < 1000.0
    assert sections["closed_loop"]["units"]["least"] == "µs"
    assert len(sections["closed_loop"]["rows"]) == 9
    assert list(sections["studies"]["rows"]) == ["steps of 2 ms", "steps of 0.5 ms"]
    assert set(sections["experiments"]["rows"]) == {"stand-tilted", "thrown-block"}
    assert sections["startup"]["rows"]["import biped"]["least"] < 5.0
    assert "workspace stance" in capsys.readouterr().out


def test_the_unit_of_work_is_that_of_the_time_meanwhile(monkeypatch):
    begun, taken = threading.Event(), iter((1.0, 3.0))
    monkeypatch.setattr(UnitOfWork, "_once", lambda _: next(taken, None) or (begun.set(), 5.0)[1])
    with UnitOfWork(every=0.001) as unit:
        assert begun.wait(60.0)
    kept = unit.seconds
    assert 3.0 <= kept < 5.0  # 1, 3, 5, …: the mean of all until the end
    assert unit.seconds == kept


def test_without_mujoco_one_line_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr(measure.importlib.util, "find_spec", lambda _: None)
    found = dict(measure.sections(measure.budget(quick=True), with_mujoco=True))
    assert found["MuJoCo"]().notes == [measure.MISSING]
    assert "MuJoCo" not in dict(measure.sections(measure.budget(quick=True), with_mujoco=False))


def test_what_is_measured_is_saved_if_interrupted(monkeypatch, tmp_path):
    def sections(*_):
        yield "a step", lambda: measure.Section("step", "A step", (), notes=["done"])
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "sections", sections)
    assert run(["--out", str(tmp_path)]) == 130
    written = json.loads((tmp_path / JSON).read_text(encoding="utf-8"))["sections"]
    assert {name: section["notes"] for name, section in written.items()} == {"step": ["done"]}


def test_cases_are_taken_in_turn():
    calls = []
    results = interleaved({name: lambda name=name: calls.append(name) for name in "ab"}, 2)
    assert calls == ["a", "b"] * 3
    assert {name: len(values) for name, values in results.items()} == {"a": 2, "b": 2}


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not tell its cores apart")
def test_the_process_gets_its_cores_back():
    before = os.sched_getaffinity(0)
    with one_core() as core:
        assert os.sched_getaffinity(0) == {core}
    assert os.sched_getaffinity(0) == before


def mujoco_models():
    rng = np.random.default_rng(1)
    return [human(), chain(7), random_tree(rng, 9, contacts=2), random_tree(rng, 9, floating=False)]


@pytest.mark.parametrize("model", mujoco_models(), ids=lambda model: f"{model.name}-{model.nv}")
def test_mujocos_model_is_ours(model):
    mujoco = pytest.importorskip("mujoco")
    from experiments.benchmarks.mujoco_race import mass_matrix_difference
    from experiments.engines.mujoco.mjcf import mjcf

    assert mass_matrix_difference(model, random_configuration(model, np.random.default_rng(2))) < 1e-12
    engine = mujoco.MjModel.from_xml_string(mjcf(model))
    assert engine.body_mass.sum() == pytest.approx(model.total_mass, rel=1e-14)
    assert engine.nq == model.nq


def test_mujoco_moves_as_ours_does():
    """The same body velocities from the same q and v: the conventions of velocities, and of qpos, agree."""
    mujoco = pytest.importorskip("mujoco")
    from biped.kernels.tree.dynamics import new_tree_data, set_tree_data
    from experiments.engines.mujoco.mjcf import mjcf, mujoco_velocity

    rng = np.random.default_rng(3)
    model = random_tree(rng, 9)
    q, v = random_configuration(model, rng), rng.normal(size=model.nv)
    engine = mujoco.MjModel.from_xml_string(mjcf(model))
    data = mujoco.MjData(engine)
    data.qpos[:], data.qvel[:] = q, mujoco_velocity(model, q, v)
    mujoco.mj_forward(engine, data)
    motion = new_tree_data(model.n, model.nv, model.nc)
    set_tree_data(model.tree, q, v, motion)
    np.testing.assert_allclose(data.xipos[1:], q[:3] + motion.poses.com, atol=1e-12)
    theirs = np.zeros(6)
    for i in range(model.n):
        mujoco.mj_objectVelocity(engine, data, mujoco.mjtObj.mjOBJ_BODY, i + 1, theirs, 0)
        np.testing.assert_allclose(theirs[:3], motion.velocity[i, 3:], atol=1e-12)


def test_the_human_stands_in_mujoco_on_its_eight_points():
    pytest.importorskip("mujoco")
    from experiments.benchmarks.mujoco_race import Stander
    from experiments.engines.mujoco.mjcf import MujocoOptions

    for soles in ("points", "boxes"):
        stander = Stander(MujocoOptions(soles=soles))
        assert stander.stands
        assert stander.data.ncon == 8
