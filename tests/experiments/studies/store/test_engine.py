"""The engine: results depend on the trials, and on nothing else."""

import sys

import numpy as np
import pytest

from biped.errors import InputError
from biped.metrics.runs import measurement_of
from experiments.studies import Study, Threads, executor_named, run_trial, run_trials, seed_of, trial
from experiments.studies.execution import runner
from tests.refusals import refuses


@pytest.fixture
def table_of(make_study):
    def run(name, trials, workers):
        with make_study(name) as study:
            run_trials(study, trials, Threads(workers))
            return study.table()

    return run


def test_results_depend_neither_on_workers_nor_on_order(table_of, make_trials):
    trials = make_trials(16)
    one = table_of("one", trials, 1)
    shuffled = [trials[k] for k in np.random.default_rng(0).permutation(len(trials))]
    assert table_of("two", trials, 2).equals(one)
    assert table_of("four", shuffled, 4).equals(one)
    assert len(set(one.column("position_error").to_pylist())) == len(trials)  # they do differ


def test_a_trial_that_cannot_be_computed_is_a_result(make_study, make_trials):
    trials = [
        *make_trials(1),
        *make_trials(2, **{"floor.mu_d": -1.0})[1:],
        *make_trials(3, **{"integrator.max_iterations": 1, "integrator.max_halvings": 0})[2:],
    ]
    with make_study() as study:
        results = run_trials(study, trials, Threads(2))
    assert [results[k]["verdict"] for k in range(3)] == ["recovered", "failed", "failed"]
    assert [results[k]["failure"] for k in range(3)] == ["", "FloorError", "IntegrationError"]
    assert "no solution of the time step" in results[2]["message"]


def test_finished_trials_are_not_run_again(make_study, make_trials, monkeypatch):
    ran = []
    monkeypatch.setattr(runner, "run_trial", lambda *a: ran.append(a[1].number) or run_trial(*a))
    trials = make_trials(6)
    with make_study() as study:
        first = run_trials(study, trials[:4], Threads(2))
    with make_study() as study:
        seen = []
        results = run_trials(study, trials, Threads(2), seen.append)
    assert sorted(ran) == list(range(6))
    assert seen == [4, 5, 6]
    assert list(results) == list(range(6))
    assert all(results[k].get(name) == value for k in first for name, value in first[k].items())


def test_a_defect_ends_it_and_keeps_what_is_finished(make_study, make_trials, monkeypatch):
    def defective(experiment, trial, announce=None):
        if trial.number == 3:
            raise ZeroDivisionError("a defect")
        return run_trial(experiment, trial, announce)

    monkeypatch.setattr(runner, "run_trial", defective)
    with pytest.raises(ZeroDivisionError, match="a defect"), make_study() as study:
        run_trials(study, make_trials(6), Threads(1))
    monkeypatch.undo()
    assert set(Study.read(study.folder).finished) == {0, 1, 2}
    with make_study() as study:
        assert len(run_trials(study, make_trials(6), Threads(1))) == 6


@pytest.fixture
def break_third(monkeypatch):
    """``break_third(error)``: measuring the third trial raises it."""

    def do(error):
        measured = []

        def measure(recording):
            measured.append(recording)
            if len(measured) == 3:
                raise error
            return measurement_of(recording)

        monkeypatch.setattr(trial, "measurement_of", measure)

    return do


def test_a_defect_within_a_trial_is_its_result_alone(make_study, make_trials, break_third):
    break_third(ZeroDivisionError("a defect"))
    with make_study() as study:
        results = run_trials(study, make_trials(5), Threads(1))
    assert [result["failure"] for result in results.values()] == ["", "", "ZeroDivisionError", "", ""]
    assert (results[2]["verdict"], results[2]["message"]) == ("failed", "a defect")
    for place in ("in _measured", "in measure\n", "ZeroDivisionError: a defect"):
        assert place in results[2]["traceback"]


@pytest.mark.parametrize("error", [MemoryError(), OSError(28, "No space left on device")])
def test_what_the_machine_lacks_is_no_result(make_study, make_trials, break_third, error):
    break_third(error)
    with pytest.raises(type(error)), make_study() as study:
        run_trials(study, make_trials(5), Threads(1))
    assert set(Study.read(study.folder).finished) == {0, 1}


def test_a_finished_trial_cannot_mean_something_else(make_study, make_trials):
    with make_study() as study:
        run_trials(study, make_trials(1))
        with pytest.raises(InputError, match=r"trial 0 was run with .*0\.1.* and would now have .*0\.2"):
            run_trials(study, make_trials(1, **{"run.duration": 0.2}))
        with pytest.raises(InputError, match="have the same number"):
            run_trials(study, make_trials(1) * 2)


def test_seeds_belong_to_words():
    seeds = {seed_of(study, word, k) for study in range(3) for word in ("replica", "sample") for k in range(500)}
    assert len(seeds) == 3000
    assert all(0 <= seed < 2**53 for seed in seeds)
    assert seed_of(7, "replica", 3) == seed_of(7, "replica", 3)
    bits = np.array([[seed >> k & 1 for k in range(53)] for seed in seeds])
    assert np.all(abs(bits.mean(axis=0) - 0.5) < 5 * 0.5 / np.sqrt(len(seeds)))  # five standard deviations of a coin


@refuses(({"backend": "spark"}, "must be one of threads, loky$"), ({"workers": 0}, "workers = 0"))
def test_impossible_executors_are_told(arguments):
    executor_named(**arguments)


def test_dask_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"a Dask scheduler needs distributed: pip install 'biped-balance\[cluster\]'"):
        executor_named(scheduler="tcp://x:1")
