"""Studies of thresholds through the engine: any number of workers, killed and gone on with, read back, run again."""

from dataclasses import replace

import pandas as pd
import pytest

from biped.errors import InputError
from experiments.catalogue.registry import experiment_named
from experiments.studies import Grid, Randomization, Study, executor_named, open_study, run_study, run_trial
from experiments.studies.threshold.findings import compare, read_findings
from experiments.studies.threshold.threshold import Condition, SweptParameter, Threshold

PLAN = Threshold(
    experiment=experiment_named("thrown-block"), swept=SweptParameter("block.velocity[0]", -1.0, "speed", "m/s"),
    grid=Grid(4.0, 6.0, 1.0, tolerance=0.5),
    conditions=(Condition(labels={"block": "light"}), Condition({"block.mass": 2.6}, {"block": "heavy"})),
    changes={"initial.jitter": 0.003, "run.duration": 1.0}, randomizations=(Randomization(("initial.seed",), "seed"),),
    replicas=3,
)  # fmt: skip


def run(folder, plan=PLAN, workers=1):
    with open_study(plan, folder) as study:
        return run_study(plan, study, executor_named(workers=workers)), study.frame()


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("thresholds") / "one"
    return folder, *run(folder)


def test_more_workers_find_the_same(done, tmp_path):
    _, findings, frame = done
    other, rows = run(tmp_path / "two", workers=2)
    pd.testing.assert_frame_equal(other.frame(), findings.frame())
    pd.testing.assert_frame_equal(rows, frame)


def test_a_heavier_block_is_stood_up_to_at_less_speed(done):
    _, findings, _ = done
    light, heavy = (finding.estimate.median for finding in findings.conditions)
    assert heavy.value < light.value
    assert all(finding.failed == 0 for finding in findings.conditions)


def test_conditions_may_be_people_each_with_limits_of_his_or_her_own(tmp_path):
    """Of one sex and similar: limits are impulses, which go by m √(g L)."""
    small, large = (1.60, 55.0), (1.85, 95.0)
    people = tuple(Condition({"robot.name": f"subject:{L},{m},male"}, {"who": L}) for L, m in (small, large))
    swept, grid = SweptParameter("push.impulse"), Grid(2.0, 6.0, 4.0, tolerance=4.0)
    plan = replace(PLAN, experiment=experiment_named("balance"), swept=swept, grid=grid, conditions=people)
    findings, _ = run(tmp_path / "people", plan)
    limits = findings.frame()["limit"]
    as_they_scale = large[1] / small[1] * (large[0] / small[0]) ** 0.5
    assert limits[1] / limits[0] == pytest.approx(as_they_scale, rel=0.02)  # but for (duration/time constant)² / 8


def test_brackets_are_what_the_trials_say(done):
    _, findings, frame = done
    for number, finding in enumerate(findings.conditions):
        for replica, bracket in enumerate(finding.brackets):
            rows = frame[(frame["condition"] == number) & (frame["replica"] == replica)]
            fell = rows.loc[rows["verdict"] != "recovered", "value"]
            assert bracket.high == (fell.min() if len(fell) else float("inf"))
            below = rows.loc[rows["value"] < bracket.high, "value"]
            assert bracket.low == (below.max() if len(below) else -float("inf"))
            assert (rows["block.velocity[0]"] == -rows["value"]).all()


def test_a_finished_study_is_read_back_and_asks_nothing_more(done):
    folder, findings, frame = done
    pd.testing.assert_frame_equal(read_findings(folder).frame(), findings.frame())
    again, rows = run(folder)
    pd.testing.assert_frame_equal(again.frame(), findings.frame())
    assert len(rows) == len(frame)


def test_each_trial_can_be_run_again_from_the_study_alone(done):
    folder, _, frame = done
    study = Study.read(folder)
    for number in frame["trial"].iloc[:: max(1, len(frame) // 4)]:
        stored = study.results([int(number)])[int(number)]
        result = run_trial(study.experiment, study.trial(int(number)))
        assert {name: stored[name] for name in result} == result


def test_another_plan_in_the_same_folder_is_refused(done):
    with pytest.raises(InputError, match="replicas"):
        open_study(replace(PLAN, replicas=4), done[0])


def test_an_unfinished_study_says_so(done, tmp_path):
    _, _, frame = done

    class Impatient:
        workers, is_local = 1, True

        def run(self, work, trials):
            for trial in list(trials)[: len(frame) // 2]:
                yield trial, work(trial)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), open_study(PLAN, tmp_path / "half") as study:
        run_study(PLAN, study, Impatient())
    with pytest.raises(InputError, match="not finished"):
        read_findings(tmp_path / "half")
    findings, rows = run(tmp_path / "half")
    pd.testing.assert_frame_equal(findings.frame(), done[1].frame())
    assert rows["trial"].is_unique


def test_maps_with_the_same_replicas_are_compared_pair_by_pair(done, tmp_path):
    _, before, _ = done
    after, _ = run(tmp_path / "stiffer", replace(PLAN, changes={**PLAN.changes, "controller.kp_position": (60.0,) * 3}))
    changes = compare(before, after)
    assert [change.ours.condition.labels["block"] for change in changes] == ["light", "heavy"]
    same = compare(before, before)
    assert all(change.change.value == 0.0 and not change.change.excludes_zero for change in same)
    other = replace(before, plan=replace(PLAN, seed=1))
    with pytest.raises(InputError, match="seeds"):
        compare(other, before)
