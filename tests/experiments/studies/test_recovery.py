"""Optimal recovery of the human: what proves it, the other side, folders, the command."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from biped import InputError, Run
from biped.recovery import HeldTorques, Path, Settings, search
from experiments.cli.main import main
from experiments.studies.limits import push_of
from experiments.studies.recovery.human import FOOT_MOVED, FOOT_SLID, Horizon, HumanPush
from experiments.studies.recovery.study import Study, mirrored, run_study, table_of

HORIZON = Horizon(0.8, 4e-3, 2e-3)
AZIMUTH = 0.6


@pytest.fixture(scope="module")
def pushed(balance):
    problem = HumanPush(balance, {}, AZIMUTH, horizon=HORIZON)
    return problem, 28.0, problem.path_of_law(28.0)


def test_what_the_law_does_is_proved_in_two_steps(pushed):
    problem, impulse, path = pushed
    held = problem.held(impulse)
    proof = problem.judged(impulse, held, path)
    assert sorted(proof.runs) == [0.5e-3, 1e-3]
    for run in proof.runs.values():
        assert run.verdict_line == "recovered in place"
        assert run.disturbances[0]["impulse"] == impulse
        torques = run.frame[[f"torque_{joint}" for joint in problem.model.joint_names]].to_numpy()
        meanwhile = (run.frame["time"] >= problem.start.time) & (run.frame["time"] < proof.plan.ends)
        assert (np.abs(torques[meanwhile]) <= problem.high + 1e-9).all()
    assert proof.moved <= FOOT_MOVED
    assert proof.slid <= FOOT_SLID


def test_a_plan_that_falls_is_no_proof(pushed):
    problem, impulse, path = pushed
    held = problem.held(impulse)
    limp = held.follow(replace(path, u=np.zeros_like(path.u)))
    assert problem.judged(impulse, held, limp) is None


def test_iterations_make_it_cheaper(pushed):
    problem, impulse, path = pushed
    found = list(search(problem, impulse, path, Settings(iterations=3, cheap=0.0, budget=3)))
    assert found[0].iterations <= 3
    assert found[0].cost < 0.7 * problem.cost.value(path)
    assert (np.abs(found[0].path.u) <= problem.high).all()


def test_the_other_side_is_the_mirror_image(balance, pushed):
    problem, impulse, path = pushed
    proof = problem.judged(impulse, problem.held(impulse), path)
    other = HumanPush(balance, {}, -AZIMUTH, horizon=HORIZON)
    plan = mirrored(problem.model, proof.plan)
    open_loop = other.held(impulse).follow(replace(plan.path, anchor=path.anchor))
    # Sums in another order differ by rounding and the solver's tolerance, which the motion amplifies.
    np.testing.assert_allclose(open_loop.q[:100], plan.path.q[:100], atol=1e-7)
    assert np.abs(path.q[:, 1] - plan.path.q[:, 1]).max() > 0.01
    run = other.replayed(plan, 1e-3)
    assert run.verdict_line == "recovered in place"
    assert other.feet_moved(run) == pytest.approx(proof.moved, abs=1e-3)
    twice = mirrored(problem.model, plan)
    np.testing.assert_array_equal(twice.path.q, proof.plan.path.q)
    np.testing.assert_array_equal(twice.gains, proof.plan.gains)


def test_only_a_push_that_acts_alone(balance):
    for changes in ({"platform.motion": "step"}, {"sensors.delay": 0.02}):
        with pytest.raises(InputError, match="acts alone"):
            HumanPush(balance, changes, 0.0, horizon=HORIZON)


def test_a_folder_goes_on_and_knows_whose_it_is(balance, tmp_path):
    study = Study(balance, {}, 1, HORIZON, Settings(iterations=2, budget=2, cheap=100.0))
    told = []
    assert list(run_study(study, tmp_path, lambda *one: told.append(one))) == [0.0]
    assert told
    row = table_of(tmp_path).iloc[0]
    assert row["impulse"] >= 0.95 * row["law"] > 20.0
    assert row["share"] == row["impulse"] / row["limit"]
    assert table_of(tmp_path).attrs["units"]["impulse"] == "N·s"
    assert Run.load(tmp_path / "000" / "run").summary["verdict"] == "recovered"
    told.clear()
    assert list(run_study(study, tmp_path, lambda *one: told.append(one))) == [0.0]
    assert not told  # it was there
    with pytest.raises(InputError, match="another study"):
        list(run_study(replace(study, horizon=replace(HORIZON, duration=0.9)), tmp_path))
    with pytest.raises(InputError, match="no direction yet"):
        table_of(tmp_path / "000")


def test_the_command(tmp_path, capsys):
    arguments = ["recovery", "--directions", "1", "--budget", "2", "--horizon", "0.8", "--out", str(tmp_path / "found")]
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert json.dumps(rows).count("impulse") >= 1
    assert len(pd.read_csv(tmp_path / "found" / "recovery.csv")) == 1
    for picture in ("recovery.png", "000/strategy.png"):
        assert (tmp_path / "found" / picture).stat().st_size > 10_000
    assert main(["recovery", "--directions", "0"]) == 2
    assert main(["recovery", "--plan-step", "-1"]) == 2
    assert main(["recovery", "--plan-period", "0.003", "--out", str(tmp_path / "odd")]) == 2


@pytest.mark.slow
def test_it_withstands_more_than_the_law_to_the_front(balance):
    """Beyond the law, and beyond the pendulum's limit, which has no hips."""
    problem = HumanPush(balance, {}, 0.0, horizon=Horizon())
    law = problem.law_limit()
    first = 0.95 * law
    tried = list(search(problem, first, problem.path_of_law(first), Settings(budget=100)))
    best = max((one for one in tried if one.proof is not None), key=lambda one: one.impulse)
    assert best.impulse > max(law, push_of(problem.scene(best.impulse)).limit.pendulum)
    assert not problem.law_recovers(best.impulse)
    held = HeldTorques(problem.scene(best.impulse), problem.start, problem.horizon.period)
    again = held.follow(Path(best.path.q, best.path.p, best.path.anchor, best.path.u))
    np.testing.assert_array_equal(again.q, best.path.q)
