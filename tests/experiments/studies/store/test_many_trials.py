"""A study of many trials keeps them in its folder, not in memory."""

import tracemalloc

from experiments.studies import Config, Trial, open_study, run_trials
from experiments.studies.store.folder import MOST_KEPT, Study
from experiments.studies.sweep.sweep import sweep_from

#: A result of the usual length.
RESULT = {"verdict": "recovered", "reason": "", "failure": "", "message": ""} | {f"m{k}": k / 7.0 for k in range(150)}


def plan_of(count):
    vary = {"block.mass": {"from": 1.0, "to": 2.0, "count": count}}
    return sweep_from(Config({"experiment": "thrown-block", "set": {"run.duration": 0.01}, "vary": vary}))


def test_results_are_read_as_they_are_asked_for(tmp_path):
    count = MOST_KEPT + 3
    plan = plan_of(count)
    with open_study(plan, tmp_path) as study:
        for trial in plan.trials():
            study.add(trial, RESULT | {"number": trial.number})
        results = run_trials(study, plan.trials()[::-1])
    assert list(results) == list(range(count))[::-1]
    assert [result["number"] for result in results.values()] == list(results)
    assert results == Study.read(tmp_path).results()


def test_what_a_study_keeps_of_a_trial_is_little(tmp_path, monkeypatch):
    """A result is 14 kB in memory; all of them are in the folder."""
    monkeypatch.setattr("experiments.studies.execution.runner.run_trial", lambda *_: dict(RESULT))
    plan = plan_of(3 * MOST_KEPT)
    trials = plan.trials()
    with open_study(plan, tmp_path) as study:
        run_trials(study, trials[:MOST_KEPT])
        tracemalloc.start()
        run_trials(study, trials)
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert isinstance(trials[0], Trial)
    assert kept < 2000 * 2 * MOST_KEPT
