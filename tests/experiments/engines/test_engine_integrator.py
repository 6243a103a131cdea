"""A run in another engine is like all others: its columns, its file, its report; and what cannot be is told at once."""

import gc

import numpy as np
import pytest

from biped import Controller, Impedance, InputError, IntegrationError, State, Throw, human, simulate
from contact import Floor
from experiments import experiment_named, rollout
from experiments.engines import Case, Engine, Simulation, VendorDefaults, new_arrival
from experiments.engines import engine as engines
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.engines.mujoco.adapter import Mujoco
from experiments.engines.pybullet.adapter import Pybullet
from experiments.engines.registry import ENGINES, engine_named
from experiments.visualization.report.run_source import run_source
from tests.refusals import refuses

from .conftest import installed

SHORT = {"run.duration": 0.1}


@pytest.fixture
def block():
    return experiment_named("thrown-block")


def test_columns_and_units_are_those_of_ours(engine, block):
    theirs, ours = (rollout(block, SHORT, name).run for name in (engine.name, "recursive"))
    assert list(theirs.frame.columns) == list(ours.frame.columns)
    assert theirs.units == ours.units
    assert list(theirs.events.columns) == list(ours.events.columns)
    np.testing.assert_array_equal(theirs.frame.time, ours.frame.time)
    assert np.isfinite(theirs.frame.to_numpy()).all()
    assert set(theirs.summary["metrics"]) == set(ours.summary["metrics"])


def test_two_rollouts_are_the_same_bit_for_bit(engine, block):
    first, second = (rollout(block, SHORT, engine).run for _ in range(2))
    np.testing.assert_array_equal(first.frame.to_numpy(), second.frame.to_numpy())
    np.testing.assert_array_equal(first.events.time, second.events.time)


def test_a_saved_run_is_loaded_with_its_engine(engine, block, tmp_path):
    run = rollout(block, SHORT | {"block.mass": 1.5}, engine).run
    run.save(tmp_path / "run")
    found = run_source(tmp_path / "run")
    np.testing.assert_array_equal(found.run.frame.to_numpy(), run.frame.to_numpy())
    assert found.run.summary["engine"]["name"] == engine.name
    assert found.run.summary["engine"]["settings"] == engine.settings
    assert dict(found.changes) == {"run.duration": 0.1, "block.mass": 1.5}


def test_a_saved_run_is_reported(engine, block, tmp_path):
    from experiments.cli import main

    rollout(block, SHORT, engine).run.save(tmp_path / "run")
    assert main(["report", str(tmp_path / "run"), "--out", str(tmp_path / "page.html")]) == 0
    assert (tmp_path / "page.html").stat().st_size > 10_000


@pytest.mark.parametrize("name", ENGINES)
def test_a_missing_engine_is_told_with_how_to_install_it(name, block, monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"is not installed here; to install it: pip install") as error:
        rollout(block, SHORT, name)
    assert engine_named(name).title in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("settings", [
    Pybullet(contact="soft"), Pybullet(soles="balls"), Mujoco(contact="soft"), Mujoco(soles="balls"), Mujoco(cone="x"),
], ids=str)  # fmt: skip
def test_settings_are_checked(settings):
    installed(settings.name)
    with pytest.raises(InputError, match="it must be|rejects the model") as error:
        settings.start(Case(human(), Floor(), 5e-4, Impedance(), None))
    assert "\n" not in str(error.value)


def test_what_an_engine_cannot_do_is_refused():
    throw = Throw(1.0, (0.1,) * 3, (1.0, 0.0, 1.0), (-1.0, 0.0, 0.0), target="left_foot")
    with pytest.raises(InputError, match="name another body"):
        installed("pybullet").start(Case(human(), Floor(), 5e-4, Impedance(), throw))
    with pytest.raises(TypeError, match="start"):
        type("Idle", (Engine,), {"name": "idle"})()


@pytest.mark.parametrize(("default", "period", "step"), [
    (1 / 240, 2e-3, 2e-3), (1 / 240, 1 / 240, 1 / 240), (7e-4, 2e-3, 2e-3 / 3), (2e-3, 2e-3, 2e-3), (1e-4, 2e-3, 1e-4),
])  # fmt: skip
def test_a_default_step_is_shortened_to_divide_the_period(default, period, step):
    assert VendorDefaults(Mujoco(), default, "").step_within(period) == pytest.approx(step, rel=1e-12)


def test_engines_stand_with_vendor_defaults_at_the_experiments_control_rate(engine, block):
    default = engine.vendor_defaults
    run = rollout(block, {"run.step": default.step_within(2e-3)}, default.engine).run
    assert run.summary["verdict"] == "recovered"


def test_differences_are_sentences_with_the_figures_of_the_settings(engine):
    throw = Throw(1.0, (0.1,) * 3, (1.0, 0.0, 1.0), (-1.0, 0.0, 0.0))
    case = Case(human(), Floor(mu_s=0.45), 5e-4, Impedance({"left_knee_pitch": 1.0}), throw)
    for settings in (engine, engine.vendor_defaults.engine):
        found = settings.differences(case)
        assert found
        assert any("0.45" in sentence for sentence in found)


def test_what_explodes_ends_the_run(engine, tmp_path, monkeypatch):
    """Bullet clamps velocities, MuJoCo starts anew: neither is taken for a result, and no file is left behind."""
    monkeypatch.chdir(tmp_path)
    model = human().without_contacts()

    class Mad(Controller):
        period = 2e-3

        def torques(self, observation):
            return np.full(12, 1e12)

    with pytest.raises(IntegrationError, match="no solution of the time step") as error:
        simulate(model, Mad(), state=State.at(model), duration=0.5, integrator=EngineIntegrator(engine))
    assert np.isfinite(error.value.run.frame.to_numpy()).all()
    assert list(tmp_path.iterdir()) == []


def test_placed_again_it_starts_anew(engine):
    model = human()
    simulated = engine.start(Case(model, Floor(), 5e-4, Impedance(), None))
    found, ends = new_arrival(model.nq, model.nv, model.nc), []
    for _ in range(2):
        simulated.place(model.neutral(), np.zeros(model.nv), np.zeros(13))
        for _ in range(40):
            simulated.step(np.zeros(model.nv), [])
        simulated.read(found)
        ends.append((found.q.copy(), found.v.copy(), found.force.copy()))
    for first, second in zip(*ends, strict=True):
        np.testing.assert_array_equal(first, second)


def test_a_pybullet_simulation_takes_its_client_with_it():
    settings = installed("pybullet")
    import pybullet

    simulated = settings.start(Case(human(), Floor(), 5e-4, Impedance(), None))
    client = simulated.client.number
    assert pybullet.isConnected(client)
    del simulated
    gc.collect()
    assert not pybullet.isConnected(client)


@refuses(
    (Engine, "velocity_ofset", 0.5, "velocity_offset"),
    (Engine, "vendor_default", 0.5, "vendor_defaults"),
    (Engine, "smoth", 0.5, "smooth"),
    (Simulation, "passive_rolout", print, "passive_rollout"),
    (Engine, "takes_patch", True, "takes_patches"),
    (Simulation, "failures", 0.5, "failure"),
    (Simulation, "set_flor", print, "set_floor"),
)
def test_a_misspelt_member_is_refused_with_what_is_meant(base, member, value):
    type("Misspelt", (base,), {member: value})


def test_settings_of_their_own_are_not():
    assert type("Own", (Engine,), {"iterations": 50, "soles": "points", "contact": "matched"})
