"""Trials with random disturbances end with a verdict."""

import math
from pathlib import Path

import numpy as np
import pytest

from biped import Force, InputError, Kick, Platform, Push, Signal, Throw, simulate
from biped.runs.verdict import FELL, LOST_CONTROL, RECOVERED, STEPPED, UNDECIDED, UNRELIABLE
from controllers import JointPD
from experiments.catalogue.parameters.random_disturbances import SHARE, random_disturbances
from experiments.catalogue.registry import experiment_named
from experiments.studies.config import read_config
from experiments.studies.execution.runner import run_trials
from experiments.studies.run import open_study, run_study
from experiments.studies.store.folder import Study
from experiments.studies.sweep.sweep import sweep_from
from experiments.studies.trial import Trial, run_trial

EXAMPLE = Path(__file__).parents[3] / "examples/sweep-random.toml"


#: Step sizes that are small enough.
JUDGED = (RECOVERED, STEPPED, FELL, LOST_CONTROL, UNDECIDED)


def ends_well(result):
    """A run has a verdict, a known failure or none, and finite numbers."""
    if result["verdict"] == "failed":
        return result["failure"] == "IntegrationError" and bool(result["message"])
    finite = all(math.isfinite(value) for value in result.values() if isinstance(value, float))
    return finite and not result["failure"] and result["verdict"] in JUDGED


@pytest.mark.parametrize(("law", "step"), [("workspace", 5e-4), ("workspace", 2e-3), ("whole-body", 1e-3)])
def test_some_random_disturbances(tmp_path, law, step):
    common = {"controller.name": law, "run.step": step, "run.duration": 2.0}
    trials = [Trial(seed, {"random.seed": seed, **common}) for seed in range(3001, 3031)]
    with Study.create(tmp_path / "study", "sweep", "balance", {}) as study:
        results = run_trials(study, trials)
    assert all(map(ends_well, results.values())), [n for n, result in results.items() if not ends_well(result)]
    assert {result["verdict"] for result in results.values()} >= {"recovered", "lost control", "undecided"}


@pytest.mark.slow
@pytest.mark.parametrize("law", ["workspace", "cone-workspace", "whole-body"])
def test_two_thousand_random_disturbances(tmp_path, law):
    """The documentation's example: runs with feet flung within a step report an energy residual; quarter steps do not.

    With steps of a quarter they do.
    """
    plan = sweep_from(read_config(EXAMPLE).but(controller=law))
    with open_study(plan, tmp_path / "study") as study:
        frame = run_study(plan, study)
    assert len(frame) == 2000
    assert set(frame["verdict"]) <= {*JUDGED, "failed", UNRELIABLE}
    balance = experiment_named("balance").driven_by(law)
    for _, trial in frame[frame["verdict"] == UNRELIABLE].iterrows():
        changes = {name: trial[name] for name in ("random.seed", "actuators.strength")}
        assert balance.run({**changes, "run.step": 2.5e-4}).summary["verdict"] in JUDGED
    failed = frame[frame["verdict"] == "failed"]
    assert set(failed["failure"]) <= {"IntegrationError"}
    numbers = frame.select_dtypes("number").to_numpy(dtype=float)
    assert not np.isinf(numbers).any()
    if law != "workspace":  # the others know what actuators can give, and ask for no more
        assert not (frame["saturation_time"] > 0.0).any()


def test_a_seed_decides_and_all_kinds_occur():
    assert repr(random_disturbances(5)) == repr(random_disturbances(5))
    kinds: dict[str, int] = {}
    for seed in range(1, 301):
        for kind in {type(disturbance).__name__ for disturbance in random_disturbances(seed)}:
            kinds[kind] = kinds.get(kind, 0) + 1
    assert set(kinds) == {"Push", "Force", "Platform", "Patch", "Load", "Throw", "Sensors", "Actuators"}
    assert kinds["Patch"] == pytest.approx(300 * SHARE, rel=0.25)


@pytest.mark.parametrize(
    "changes", [{"controller.period": 3e-3}, {"sensors.proprioceptive.joint_noise": 1e-4, "block.speed": 3.0}]
)
def test_they_fit_any_control_period_and_leave_room_for_what_is_set(changes):
    for seed in range(1, 30):
        experiment_named("balance").build({"random.seed": seed} | changes).prepare()


@pytest.mark.parametrize(
    "changes",
    [
        {"random.seed": -1},
        {"random.seed": 1, "run.duration": 0.0},
        {"force.noise": -3.0},
        {"force.noise": 3.0, "force.seed": -1},
        {"platform.motion": "sum-of-sines", "platform.seed": -1},
        {"platform.motion": "ternary", "platform.stages": 1000},
        {"platform.motion": "ternary", "platform.duration": 1e12},
        {"platform.motion": "recorded", "platform.file": "there-is-no-such-file.csv"},
        {"platform.motion": "step", "platform.start": -1.0},
        {"patch.present": 1, "patch.mu_d": 0.5},
        {"sensors.proprioceptive.joint_noise": 1e-3, "sensors.seed": 2**63},
        {"sensors.delay": 1e9},
        {"actuators.noise": 1.0, "actuators.seed": 2**70},
    ],
)
def test_impossible_values_fail_a_trial_in_words_that_name_them(changes):
    result = run_trial(experiment_named("balance"), Trial(0, {"run.duration": 0.02} | changes))
    assert (result["verdict"], result["failure"]) == ("failed", "InputError")
    group = next(iter(changes)).partition(".")[0]
    assert group in result["message"] or "Platform" in result["message"] or "pieces" in result["message"]


def test_blocks_are_thrown_from_above_the_floor():
    experiment = experiment_named("balance")
    for seed in range(1, 60):
        for disturbance in experiment.build({"random.seed": seed, "run.duration": 1.0}).disturbances:
            if isinstance(disturbance, Throw):
                assert disturbance.position[2] > disturbance.size[2] / 2.0
    (block,) = experiment.build({"block.speed": 3.0}).disturbances
    assert block.position[2] > block.size[2] / 2.0


@pytest.mark.parametrize(
    "late",
    [
        Push("trunk", (1.0, 0.0, 0.0), 1e3, start=0.4),
        Force("trunk", (1.0, 0.0, 0.0), Signal.rectangle(9.0, 0.4, 1.0)),
        Platform(x=Signal.step(0.05, 0.4, 0.4)),
        Kick(0.1, start=0.4),
    ],
)
def test_a_disturbance_after_the_end_is_refused_from_python(person, posture, late):
    """A push that never comes would be withstood at any size. The end counts from the start of a continued run."""
    first = simulate(person, JointPD(), state=posture(person), duration=0.2)
    for state, duration in ((None, 0.3), (first.state, 0.1)):
        with pytest.raises(InputError, match=r"\w+.start = 0.4 s is not before the end of the run, at 0.3 s"):
            simulate(person, JointPD(), state=state, duration=duration, disturbances=[late])
