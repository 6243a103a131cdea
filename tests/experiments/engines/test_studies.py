"""Other engines in studies: by name wherever an integrator goes by one, in processes, on the same replicas."""

import pandas as pd
import pytest

from biped.errors import InputError
from experiments.cli import main
from experiments.engines.engine_integrator import EngineIntegrator
from experiments.studies import Condition, Study, Trial, run_trial
from experiments.studies.execution.executors import Processes, Threads, executor_for
from experiments.studies.threshold.presets import in_engines
from tests.refusals import refuses

ENGINE = "integrator.name"


def test_an_experiment_runs_in_an_engine_by_name(balance, engine):
    run = balance.run({ENGINE: engine.name, "run.duration": 0.1})
    assert run.summary["verdict"] == "recovered"
    assert run.summary["engine"]["name"] == engine.name
    assert run.parameters[ENGINE] == engine.name


def test_each_run_has_an_engine_of_its_own(balance, engine):
    first, second = (balance.build({ENGINE: engine.name}).integrator for _ in range(2))
    assert isinstance(first, EngineIntegrator)
    assert first is not second


def test_settings_of_ours_are_none_of_an_engines(balance, engine):
    with pytest.raises(InputError, match="integrator.tolerance is only for biped's integrators: leave it out"):
        balance.build({ENGINE: engine.name, "integrator.tolerance": 1e-9})


def test_trials_in_engines_run_in_processes(balance, engine):
    assert isinstance(executor_for(balance, workers=2), Threads)
    assert isinstance(executor_for(balance, workers=2, samples=[{}, {ENGINE: engine.name}]), Processes)


def test_a_trial_is_measured_as_ours_are(balance, engine):
    ours, theirs = (
        run_trial(balance, Trial(0, {ENGINE: name, "run.duration": 0.1})) for name in ("recursive", engine.name)
    )
    assert theirs["verdict"] == ours["verdict"] == "recovered"
    assert ours.keys() == theirs.keys()


@pytest.mark.parametrize("engine", [pytest.param("pybullet", marks=pytest.mark.slow), "mujoco"], indirect=True)
def test_maps_of_several_engines_have_the_same_replicas(tmp_path, monkeypatch, engine, capsys):
    monkeypatch.chdir(tmp_path)
    few = ["--directions", "3", "--replicas", "6", "--from", "0", "--to", "8", "--by", "8", "--tolerance", "4"]
    command = ["push-map", "--engines", f"recursive,{engine.name}", *few, "--duration", "0.2", "--confidence", "0.5"]
    assert main([*command, "--set", "push.start=0.02", "--set", "push.duration=0.02", "--out", "map"]) == 0
    table = pd.read_csv(tmp_path / "map" / "push-map.csv")
    assert table.groupby("engine").size().to_dict() == {"recursive": 3, engine.name: 3}
    trials = Study.read(tmp_path / "map").frame()
    starts = {
        name: sorted(set(zip(own["replica"], own["floor.mu_s"], own["push.start"], strict=True)))
        for name, own in trials.groupby("engine")
    }
    assert starts["recursive"] == starts[engine.name]
    assert (tmp_path / "map" / "push-map.png").is_file()
    assert f"{engine.name} against recursive, replica by replica" in capsys.readouterr().out


@refuses(
    (["recursive", "recursive"], {}, "different names"),
    (["recursive", ""], {}, "different names"),
    (["recursive"], {ENGINE: "mujoco"}, "both choose the engine"),
)
def test_bad_names_are_refused(names, changes):
    in_engines(names, [Condition()], changes)
