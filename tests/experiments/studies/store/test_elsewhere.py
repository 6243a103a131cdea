"""Trials in other processes: the same results, and workers that are killed lose none."""

import os
import signal
import threading
import time
from concurrent.futures import wait
from functools import partial

import pytest

from biped.errors import InputError
from experiments.studies import Study, Trial, run_trials
from experiments.studies.execution import executors
from experiments.studies.execution.executors import Dask, Processes, Threads

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

pytestmark = [
    # A cluster's own logging and sockets, as it is taken down while workers are being killed.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def table_here(make_study):
    def run(trials):
        with make_study("here") as study:
            run_trials(study, trials, Threads(1))
            return study.table()

    return run


def fell_short(trial: Trial) -> dict[str, float | int | str | None]:
    if trial.number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"verdict": "recovered", "failure": "", "message": ""}


def test_processes_find_what_threads_find(make_study, make_trials, table_here):
    trials = make_trials(12)
    with make_study("loky") as study:
        run_trials(study, trials, Processes(2))
        assert study.table().equals(table_here(trials))


def dies_once(marker, _):
    try:
        marker.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)
    except FileExistsError:
        pass
    return {"verdict": "recovered", "failure": "", "message": ""}


def test_an_interrupt_within_a_wait_for_threads_is_one_and_what_runs_is_finished(monkeypatch):
    def interrupted(futures):
        wait(futures)
        condition = threading.Condition(threading.Lock())
        with condition:  # as in the wait for a result, before it has the lock again
            condition.release()
            raise KeyboardInterrupt
        yield

    monkeypatch.setattr(executors, "as_completed", interrupted)
    arriving = Threads(2).run(lambda _: {}, [Trial(k, {}) for k in range(3)])
    assert [next(arriving)[0].number for _ in range(3)] == [0, 1, 2]
    with pytest.raises(KeyboardInterrupt):
        next(arriving)


def test_one_process_that_is_killed_before_the_first_result_stops_nothing(tmp_path):
    work = partial(dies_once, tmp_path / "killed")
    found = [trial.number for trial, _ in Processes(2).run(work, [Trial(k, {}) for k in range(8)])]
    assert sorted(found) == list(range(8))
    assert (tmp_path / "killed").exists()


def test_processes_that_are_killed_again_and_again_end_it():
    trials = [Trial(k, {}) for k in range(8)]
    found = []
    with pytest.raises(ChildProcessError, match="worker processes in a row were killed"):
        found += (trial.number for trial, _ in Processes(2).run(fell_short, trials))


def cluster_of(workers):
    """A cluster on this machine whose workers have no trial waiting while another one runs."""
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "silence_logs": 50}
    with dask.config.set({"distributed.scheduler.worker-saturation": 1.0}):
        return distributed.LocalCluster(n_workers=workers, **options)


@pytest.mark.parametrize(
    ("count", "workers"), [pytest.param(40, 2, id="short"), pytest.param(400, 4, id="long", marks=pytest.mark.slow)]
)
def test_a_cluster_loses_a_worker_and_no_trial(make_study, make_trials, table_here, count, workers):
    trials = make_trials(count)
    with cluster_of(workers) as cluster, distributed.Client(cluster) as client, make_study("cluster") as study:
        killed = []

        def progress(done):
            assert done == len(study.finished)
            if done == count // 3:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
                killed.append(time.monotonic())

        run_trials(study, trials, Dask(client=client), progress)
        assert killed
        table = study.table()
    assert table.column("trial").to_pylist() == list(range(count))
    assert table.equals(table_here(trials))
    assert len(Study.read(study.folder).finished) == count


@pytest.mark.slow
def test_a_trial_that_kills_every_worker_is_told_and_the_others_run():
    found = []
    with cluster_of(2) as cluster, distributed.Client(cluster) as client:
        arriving = (trial.number for trial, _ in Dask(client=client).run(fell_short, [Trial(k, {}) for k in range(8)]))
        with pytest.raises(ChildProcessError, match="killed each worker that ran them: 3; all others"):
            found.extend(arriving)
    assert sorted(found) == [0, 1, 2, 4, 5, 6, 7]


def test_a_scheduler_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(Dask, "PATIENCE", 1.0)
    with pytest.raises(InputError, match=r"scheduler tcp://127\.0\.0\.1:9 cannot be reached"):
        next(Dask(scheduler="tcp://127.0.0.1:9").run(fell_short, [Trial(0, {})]))
